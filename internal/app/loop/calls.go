package loop

import (
	"context"
	"sync"

	"github.com/winnow-llm/winnow/chat"
	"github.com/winnow-llm/winnow/internal/app/loop/tools"
)

// atOnce is how many calls that need no consent run at the same time.
const atOnce = 4

// runCalls runs the calls of one answer and returns a result for every one of
// them, in their order. Calls that only read run side by side; one that needs
// consent runs alone, after those before it. When ctx ends, what has not run
// is answered as cancelled.
func (a *Agent) runCalls(ctx context.Context, calls []chat.Part) []chat.Message {
	results := make([]chat.Message, len(calls))
	slots := make(chan struct{}, atOnce)
	var wg sync.WaitGroup
	for i, c := range calls {
		action, err := a.box.Look(c.Name, c.Args)
		if err != nil {
			a.emit(Event{Kind: Returned, Tool: c.Name, Call: c.ID, Title: c.Name, Text: err.Error(), Failed: true})
			results[i] = callResult(c, err.Error(), true)
			continue
		}
		if action.Need == tools.None {
			wg.Go(func() {
				slots <- struct{}{}
				defer func() { <-slots }()
				results[i] = a.runCall(ctx, c, action)
			})
			continue
		}
		wg.Wait()
		if ok, why := a.askPermission(ctx, action); !ok {
			a.emit(Event{Kind: Returned, Tool: c.Name, Call: c.ID, Title: action.Title, Text: why, Failed: true, Refused: true})
			results[i] = callResult(c, why, true)
			continue
		}
		results[i] = a.runCall(ctx, c, action)
	}
	wg.Wait()
	return results
}

// What a model reads where a call did not run.
const (
	notAllowed = "Not run: the user does not allow this call. Do without it, or ask the user what to do instead."
	notRun     = "Not run: the user interrupted."
)

// askPermission asks the person, unless that was settled before.
func (a *Agent) askPermission(ctx context.Context, action tools.Action) (bool, string) {
	if ctx.Err() != nil {
		return false, notRun
	}
	key := action.Tool + " " + string(action.Need)
	a.mu.Lock()
	settled := a.o.Trust || a.always[key]
	a.mu.Unlock()
	if settled {
		return true, ""
	}
	reply, err := a.ui.Confirm(ctx, action)
	switch {
	case ctx.Err() != nil:
		return false, notRun
	case err != nil:
		return false, "Not run: " + err.Error()
	case reply == Always:
		a.mu.Lock()
		a.always[key] = true
		a.mu.Unlock()
	case reply != Yes:
		return false, notAllowed
	}
	return true, ""
}

// runCall runs one call.
func (a *Agent) runCall(ctx context.Context, c chat.Part, action tools.Action) chat.Message {
	if ctx.Err() != nil {
		return callResult(c, notRun, true)
	}
	a.emit(Event{Kind: Called, Tool: c.Name, Call: c.ID, Title: action.Title})
	text, failed := a.box.Do(ctx, action)
	a.emit(Event{Kind: Returned, Tool: c.Name, Call: c.ID, Title: action.Title, Text: text, Failed: failed})
	return callResult(c, text, failed)
}
