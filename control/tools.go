package control

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/winnow-llm/winnow/chat"
	"github.com/winnow-llm/winnow/internal/text"
	"github.com/winnow-llm/winnow/internal/toolcall"
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
	Note(ctx context.Context, id string, a Write) (*Done, error)
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

// Tools returns the tools context_status, pin, unpin, compact_now and note, to be
// declared beside those of [recall.Tools] from the first request on.
func Tools(s Steering, w Whose) []recall.Tool {
	t := tools{s, w}
	return []recall.Tool{
		{Def: chat.ToolDef{Name: ToolStatus, Schema: noArguments, Description: "Show how full the context is and when it will be compacted."}, Call: toolcall.Typed(t.status)},
		{Def: chat.ToolDef{Name: ToolPin, Schema: markArguments, Description: "Keep a message from being shortened or left out: by handle, or by its number."}, Call: toolcall.Typed(t.marking(Steering.Pin))},
		{Def: chat.ToolDef{Name: ToolUnpin, Schema: markArguments, Description: "Take a pin off."}, Call: toolcall.Typed(t.marking(Steering.Unpin))},
		{Def: chat.ToolDef{Name: ToolCompact, Schema: focusArgument, Description: "Shorten the conversation now, before a new task."}, Call: toolcall.Typed(t.compact)},
		recall.NoteTool(t.note),
	}
}

type tools struct {
	s Steering
	w Whose
}

// Which returns the conversation that is meant where none is named, with all that
// is known of it, and why it is that one.
func Which(ctx context.Context, s Steering, w Whose) (d *Detail, how string, err error) {
	all, err := s.Conversations(ctx, List{Limit: MaxListed})
	if err != nil {
		return nil, "", err
	}
	if len(all) == 0 {
		return nil, "", fmt.Errorf("%w: nothing has been sent through the gateway yet, and there is no session", ErrUnknown)
	}
	how = "this one"
	at := slices.IndexFunc(all, func(c Conversation) bool { return w.Label != "" && c.Label == w.Label })
	if at < 0 {
		how = "the newest of this folder"
		at = slices.IndexFunc(all, func(c Conversation) bool {
			return w.Folder != "" && c.Folder != "" && filepath.Clean(c.Folder) == filepath.Clean(w.Folder)
		})
	}
	if at < 0 {
		at, how = 0, "the newest; no client says which one it serves"
	}
	d, err = s.Conversation(ctx, all[at].ID) // a list may know less
	return d, how, err
}

// aboutConversation says which conversation an answer is about.
func aboutConversation(c *Conversation, how string) string {
	title := cmp.Or(c.Name, c.Title)
	if title != "" {
		title = fmt.Sprintf(" %q", text.Brief(title, 60))
	}
	return fmt.Sprintf("[conversation %s%s: %s]\n", text.Runes(c.ID, 13), title, how)
}

func (t *tools) status(ctx context.Context, _ struct{}) (string, error) {
	d, how, err := Which(ctx, t.s, t.w)
	if err != nil {
		return "", err
	}
	out := aboutConversation(&d.Conversation, how)
	if r := d.Last; r != nil {
		out += fmt.Sprintf("%s of %s available tokens; compaction starts at %s. ", text.Number(r.Tokens), text.Number(r.Available), text.Number(r.CompactAt))
	}
	out += d.Next.Say
	out += fmt.Sprintf(" %s so far, %s pinned.\n", text.Plural(d.Totals.Compactions, "compaction"), text.Plural(len(d.Pinned), "message"))
	return out, nil
}

// marked is the message that a model names.
type marked struct {
	Handle  string `json:"handle"`
	Message *int   `json:"message"`
}

// marking returns what a tool does that sets pins or takes them off.
func (t *tools) marking(act func(Steering, context.Context, string, Mark) (*Done, error)) func(context.Context, marked) (string, error) {
	return func(ctx context.Context, a marked) (string, error) { return t.mark(ctx, a, act) }
}

func (t *tools) mark(ctx context.Context, a marked, act func(Steering, context.Context, string, Mark) (*Done, error)) (string, error) {
	var d *Detail
	m, how := Mark{Part: -1}, "the one of the handle"
	switch {
	case a.Handle != "":
		handle, _, err := recall.Parse(a.Handle)
		if err != nil {
			return "", err
		}
		p, err := t.s.Locate(ctx, handle)
		if err != nil {
			return "", err
		}
		if d, err = t.s.Conversation(ctx, p.Conversation); err != nil {
			return "", err
		}
		if m.Message, m.Part = p.From, p.Part; a.Message == nil && p.To-p.From > 1 {
			return "", fmt.Errorf("%s stands for messages %d to %d; name one of them with message, as %s shows it", handle, p.From, p.To-1, recall.ToolSearch)
		}
	case a.Message != nil:
		var err error
		if d, how, err = Which(ctx, t.s, t.w); err != nil {
			return "", err
		}
	default:
		return "", errors.New("name a message, by handle or by message")
	}
	if a.Message != nil {
		m.Message, m.Part = *a.Message, -1
	}
	return actAndSay(d, how, func(base plan.ID) (*Done, error) {
		m.Plan = base
		return act(t.s, ctx, d.ID, m)
	})
}

func (t *tools) compact(ctx context.Context, a struct {
	Focus string `json:"focus"`
},
) (string, error) {
	d, how, err := Which(ctx, t.s, t.w)
	if err != nil {
		return "", err
	}
	if used, room := d.tokensAndRoom(); room > 0 && used*100 < room*leastFilled {
		return "", fmt.Errorf("the conversation fills %d %% of its room (%s of %s tokens), and %s works from %d %% on: before that it would lose detail and the provider's cache for little room; go on working. A person can compact it at any size, on winnow's page",
			used*100/room, text.Number(used), text.Number(room), ToolCompact, leastFilled)
	}
	return actAndSay(d, how, func(base plan.ID) (*Done, error) {
		return t.s.Compact(ctx, d.ID, Compact{Base: Base{base}, Focus: a.Focus})
	})
}

// leastFilled is the share of the room, in percent, below which a model may not
// have its conversation compacted. People may, through the other actions.
const leastFilled = 60

// tokensAndRoom returns how many tokens the messages have as they would be sent, and how
// many they may have: what is available beside what every request carries. The room
// is 0 where it is not known.
func (d *Detail) tokensAndRoom() (used, room int) {
	r := d.Last
	if r == nil {
		return 0, 0
	}
	fixed := r.Kinds.System + r.Kinds.Tools + r.Kinds.Unseen
	used = r.Tokens
	if n := len(d.Plans); r.Plan != d.Plan && n > 0 { // another plan came into force since
		used = d.Plans[n-1].After
	}
	return max(0, used-fixed), max(0, r.Available-fixed)
}

// note writes something down.
func (t *tools) note(ctx context.Context, replaces, text string) (string, error) {
	d, how, err := Which(ctx, t.s, t.w)
	if err != nil {
		return "", err
	}
	say, err := actAndSay(d, how, func(base plan.ID) (*Done, error) {
		return t.s.Note(ctx, d.ID, Write{Base{base}, replaces, text})
	})
	return strings.TrimSuffix(say, "\n"), err
}

// actAndSay acts, and says what that did to which conversation. It acts once more
// where something else was done meanwhile: a model has nothing to decide about that.
func actAndSay(d *Detail, how string, act func(plan.ID) (*Done, error)) (string, error) {
	done, err := act(d.Plan)
	if conflict, ok := errors.AsType[*ConflictError](err); ok {
		done, err = act(conflict.InForce)
	}
	if err != nil {
		return "", err
	}
	return aboutConversation(&d.Conversation, how) + done.Say + "\n", nil
}
