package control

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"path/filepath"

	"github.com/winnow-llm/winnow/chat"
	"github.com/winnow-llm/winnow/internal/text"
	"github.com/winnow-llm/winnow/plan"
	"github.com/winnow-llm/winnow/recall"
)

// Steering is the part of a [Source] that tools for models need.
type Steering interface {
	recall.Source
	Conversations(ctx context.Context, q List) ([]Conversation, error)
	Conversation(ctx context.Context, id string) (*Detail, error)

	// Locate says what a handle stands for. The error wraps [ErrUnknown].
	Locate(ctx context.Context, handle string) (*Place, error)

	Compact(ctx context.Context, id string, a Compact) (*Done, error)
	Pin(ctx context.Context, id string, a Mark) (*Done, error)
	Unpin(ctx context.Context, id string, a Mark) (*Done, error)
}

// Place is what a handle stands for.
type Place struct {
	Conversation string `json:"conversation"`

	// From and To are the messages From to To-1; Part is the part of a mask,
	// else -1.
	From int `json:"from"`
	To   int `json:"to"`
	Part int `json:"part"`
}

// Whose says which conversation a tool is about. An MCP server is not told which
// one it serves: so it is the one of a handle, then the newest with this label,
// then the newest of this folder, then the newest of all. What it was is said in
// the answer.
type Whose struct{ Label, Folder string }

// The names of the tools.
const (
	ToolStatus  = "context_status"
	ToolPin     = "pin"
	ToolUnpin   = "unpin"
	ToolCompact = "compact_now"
)

const (
	noArguments   = `{"type":"object","properties":{},"additionalProperties":false}`
	markArguments = `{"type":"object","properties":{"handle":{"type":"string"},"message":{"type":"integer","minimum":0,"description":"number from ` + recall.ToolSearch + `"}},"additionalProperties":false}`
	focusArgument = `{"type":"object","properties":{"focus":{"type":"string","description":"what to keep in detail"}},"additionalProperties":false}`
)

// Tools returns the tools context_status, pin, unpin and compact_now, to be
// declared beside those of [recall.Tools] from the first request on.
func Tools(s Steering, w Whose) []recall.Tool {
	t := tools{s, w}
	return []recall.Tool{
		{Def: chat.ToolDef{Name: ToolStatus, Schema: noArguments, Description: "Show how full the context is and when it will be compacted."}, Call: t.status},
		{Def: chat.ToolDef{Name: ToolPin, Schema: markArguments, Description: "Keep a message from being shortened or left out: by handle, or by its number."}, Call: t.pin(true)},
		{Def: chat.ToolDef{Name: ToolUnpin, Schema: markArguments, Description: "Take a pin off."}, Call: t.pin(false)},
		{Def: chat.ToolDef{Name: ToolCompact, Schema: focusArgument, Description: "Shorten the conversation now, before a new task."}, Call: t.compact},
	}
}

type tools struct {
	s Steering
	w Whose
}

// which returns the conversation that is meant where none is named, with all that
// is known of it: a list may know less.
func (t *tools) which(ctx context.Context) (d *Detail, how string, err error) {
	c, how, err := t.newest(ctx)
	if err != nil {
		return nil, "", err
	}
	d, err = t.s.Conversation(ctx, c.ID)
	return d, how, err
}

func (t *tools) newest(ctx context.Context) (c Conversation, how string, err error) {
	all, err := t.s.Conversations(ctx, List{Limit: MaxListed})
	if err != nil {
		return c, "", err
	}
	if len(all) == 0 {
		return c, "", fmt.Errorf("%w: nothing has been sent through the gateway yet, and there is no session", ErrUnknown)
	}
	for i := range all {
		if t.w.Label != "" && all[i].Label == t.w.Label {
			return all[i], "this one", nil
		}
	}
	for i := range all {
		if t.w.Folder != "" && all[i].Folder != "" && filepath.Clean(all[i].Folder) == filepath.Clean(t.w.Folder) {
			return all[i], "the newest of this folder", nil
		}
	}
	return all[0], "the newest; no client says which one it serves", nil
}

// about says which conversation an answer is about.
func about(c *Conversation, how string) string {
	title := c.Name
	if title == "" {
		title = c.Title
	}
	if title != "" {
		title = fmt.Sprintf(" %q", text.Brief(title, 60))
	}
	return fmt.Sprintf("[conversation %s%s: %s]\n", text.Runes(c.ID, 13), title, how)
}

func (t *tools) status(ctx context.Context, args string) (string, bool) {
	if err := arguments(args, &struct{}{}); err != nil {
		return failure(err)
	}
	d, how, err := t.which(ctx)
	if err != nil {
		return failure(err)
	}
	out := about(&d.Conversation, how)
	if r := d.Last; r != nil {
		out += fmt.Sprintf("%s of %s available tokens; compaction starts at %s. ", text.Number(r.Tokens), text.Number(r.Available), text.Number(r.CompactAt))
	}
	out += d.Next.Say
	out += fmt.Sprintf(" %s so far, %s pinned.\n", text.Plural(d.Totals.Compactions, "compaction"), text.Plural(len(d.Pinned), "message"))
	return out, false
}

func (t *tools) pin(on bool) func(context.Context, string) (string, bool) {
	return func(ctx context.Context, args string) (string, bool) {
		var a struct {
			Handle  string `json:"handle"`
			Message *int   `json:"message"`
		}
		if err := arguments(args, &a); err != nil {
			return failure(err)
		}
		var c Conversation
		m := Mark{Part: -1}
		how := "the one of the handle"
		switch {
		case a.Handle != "":
			handle, _, err := recall.Parse(a.Handle)
			if err != nil {
				return failure(err)
			}
			p, err := t.s.Locate(ctx, handle)
			if err != nil {
				return failure(err)
			}
			d, err := t.s.Conversation(ctx, p.Conversation)
			if err != nil {
				return failure(err)
			}
			c, m.Message, m.Part = d.Conversation, p.From, p.Part
			switch {
			case a.Message != nil:
				m.Message, m.Part = *a.Message, -1
			case p.To-p.From > 1:
				return failure(fmt.Errorf("%s stands for messages %d to %d; name one of them with message, as %s shows it", handle, p.From, p.To-1, recall.ToolSearch))
			}
		case a.Message != nil:
			d, which, err := t.which(ctx)
			if err != nil {
				return failure(err)
			}
			c, how, m.Message = d.Conversation, which, *a.Message
		default:
			return failure(errors.New("name a message, by handle or by message"))
		}
		act := t.s.Pin
		if !on {
			act = t.s.Unpin
		}
		return t.done(&c, how, func(base plan.ID) (*Done, error) {
			m.Plan = base
			return act(ctx, c.ID, m)
		})
	}
}

func (t *tools) compact(ctx context.Context, args string) (string, bool) {
	var a struct {
		Focus string `json:"focus"`
	}
	if err := arguments(args, &a); err != nil {
		return failure(err)
	}
	d, how, err := t.which(ctx)
	if err != nil {
		return failure(err)
	}
	return t.done(&d.Conversation, how, func(base plan.ID) (*Done, error) {
		return t.s.Compact(ctx, d.ID, Compact{Base: Base{base}, Focus: a.Focus})
	})
}

// done acts, once more where something else was done meanwhile: a model has
// nothing to decide about that.
func (t *tools) done(c *Conversation, how string, act func(plan.ID) (*Done, error)) (string, bool) {
	done, err := act(c.Plan)
	var conflict *ConflictError
	if errors.As(err, &conflict) {
		done, err = act(conflict.InForce)
	}
	if err != nil {
		return failure(err)
	}
	return about(c, how) + done.Say + "\n", false
}

// arguments reads what a model wrote.
func arguments(args string, to any) error {
	d := json.NewDecoder(bytes.NewReader([]byte(args)))
	d.DisallowUnknownFields()
	if err := d.Decode(to); err != nil && !errors.Is(err, io.EOF) {
		return fmt.Errorf("the arguments cannot be read: %w; write a JSON object as the tool's schema says", err)
	}
	return nil
}

func failure(err error) (string, bool) { return "error: " + err.Error(), true }
