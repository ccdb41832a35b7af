package loop

import (
	"context"

	"github.com/winnow-llm/winnow/chat"
	"github.com/winnow-llm/winnow/internal/app/loop/tools"
)

// runCalls runs the calls of one answer and returns a result for every one of
// them, in their order. When ctx ends, what has not run is answered as cancelled.
func (d *Driver) runCalls(ctx context.Context, calls []chat.Part) []chat.Message {
	results := make([]chat.Message, len(calls))
	for i, c := range calls {
		e := Event{Kind: Returned, Tool: c.Name, Call: c.ID, Title: c.Name, Failed: true}
		action, err := d.box.Look(c.Name, c.Args)
		if err != nil {
			e.Text = err.Error()
		} else {
			e.Title = action.Title
			e.Text, e.Refused = d.askPermission(ctx, action)
		}
		if e.Text == "" {
			e.Kind, e.Failed = Called, false
			d.ui.Event(e)
			e.Kind = Returned
			e.Text, e.Failed = d.box.Do(ctx, action)
		}
		d.ui.Event(e)
		results[i] = callResult(c, e.Text, e.Failed)
	}
	return results
}

// What a model reads where a call did not run.
const (
	notAllowed = "Not run: the user does not allow this call. Do without it, or ask the user what to do instead."
	notRun     = "Not run: the user interrupted."
)

// askPermission asks the person, unless the call needs no consent or that was settled
// before. It returns why the call does not run, "" where it does.
func (d *Driver) askPermission(ctx context.Context, action tools.Action) (why string, refused bool) {
	key := action.Tool + " " + string(action.Need)
	switch {
	case ctx.Err() != nil:
		return notRun, true
	case action.Need == tools.None || d.o.Trust || d.always[key]:
		return "", false
	}
	reply, err := d.ui.Confirm(ctx, action)
	switch {
	case ctx.Err() != nil:
		return notRun, true
	case err != nil:
		return "Not run: " + err.Error(), true
	case reply == Always:
		d.always[key] = true
	case reply != Yes:
		return notAllowed, true
	}
	return "", false
}
