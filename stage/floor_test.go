package stage_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/winnow-llm/winnow/chat"
	"github.com/winnow-llm/winnow/internal/work"
	"github.com/winnow-llm/winnow/stage"
)

// What is live shrinks item by item, each kind of part in its own way.
func TestFloorShrinksEveryKind(t *testing.T) {
	args := fmt.Sprintf(`{"path":"a.go","content":%q}`, lines("code", 400))
	live := chat.Message{Role: chat.Assistant, Parts: []chat.Part{
		{Kind: chat.Text, Text: lines("prose", 200)},
		{Kind: chat.Thinking, Text: lines("thought", 200)},
		chat.Call("1", "write_file", args), chat.Call("2", "shoot", "{}"),
	}}
	shot := chat.ResultMessage("2", lines("result", 200))
	shot.Parts[0].Content = []chat.Part{image("a")}
	h := of(user("go"), live, chat.ResultMessage("1", "written"), shot)
	out := job{available: 500, target: 300}.run(t, h)
	if got := out.After.Tokens + counter.Conversation(); got > 500 {
		t.Errorf("%d tokens of 500", got)
	}
	view := text(out.View)
	contains(t, "the view", view, "go", "prose line 0 ", "result line 0 ", "written", "a.go")
	lacks(t, "the view", view, "thought line 0 ")
	for i := range out.View.Len() {
		for _, p := range out.View.At(i).Parts {
			if p.Kind == chat.ToolCall && !json.Valid([]byte(p.Args)) {
				t.Errorf("arguments are no JSON: %s", p.Args)
			}
		}
	}
	if out.After.Images != 0 {
		t.Error("an image that costs a thousand tokens is still there")
	}
}

// Media after the last request, and what else a user handed over there.
func TestFloorShrinksMedia(t *testing.T) {
	late := chat.Message{Role: chat.User, Synthetic: true, Parts: []chat.Part{
		image("a"), {Kind: chat.Document, Name: "notes.txt", Text: lines("note", 300)},
	}}
	out := job{available: 400, target: 300}.run(t, of(user("go"), late))
	contains(t, "the view", text(out.View), "go", "note line 0 ", "shortened; original: w")
	if out.After.Images != 0 || out.After.Tokens > 400 {
		t.Errorf("%d images, %d tokens", out.After.Images, out.After.Tokens)
	}
}

// System messages in the middle stay as long as they can, but they are not
// part of what must.
func TestFloorGivesUpSystemMessages(t *testing.T) {
	h := of(user("start"), chat.TextMessage(chat.System, lines("rule", 60)), said("ok"), user("go"))
	out := job{available: 200, target: 150}.run(t, h)
	lacks(t, "the view", text(out.View), "rule line 30 ")
	contains(t, "the view", text(out.View), "go")

	var cannot *stage.CannotFitError
	_, err := job{available: 200, target: 150, pins: []stage.Pin{{Message: 1, Part: -1}}}.try(h)
	if !errors.As(err, &cannot) || !strings.Contains(err.Error(), "pinned message 1") {
		t.Errorf("%v", err)
	}
}

// Bytes are mostly media: the oldest go, and the words stay.
func TestBytesTakeMediaFirst(t *testing.T) {
	h := of()
	for i := range 5 {
		h = h.Append(chat.Message{Role: chat.User, Parts: []chat.Part{
			{Kind: chat.Text, Text: fmt.Sprint("see file ", i)},
			{Kind: chat.Document, Name: "f.pdf", Media: "application/pdf", Data: strings.Repeat("JVBERi0x", 1000)},
		}}, said("read"))
	}
	h = h.Append(user("and now?"))
	out := job{bytes: 20000, target: 1 << 30}.run(t, h)
	if out.After.Bytes > 20000 || out.View.Len() != h.Len() {
		t.Errorf("%d bytes, %d of %d messages", out.After.Bytes, out.View.Len(), h.Len())
	}
	contains(t, "the view", text(out.View), "see file 0", "file left out; original: w", "see file 4")
	if !out.View.At(8).Has(chat.Document) {
		t.Error("the newest document is gone")
	}
}

// The table of tool kinds is the user's to extend.
func TestKindsOfTheUser(t *testing.T) {
	h := of(user("go"), did("1", "peek_at", `{"path":"a.go"}`, lines("old", 60)), did("2", "peek_at", `{"path":"a.go"}`, lines("new", 60)), said("ok"), user("next"))
	j := onlySupersede
	j.config = with(func(c *stage.Config) {
		c.Kinds = work.DefaultKinds().With(map[string]work.Tool{"peek_at": work.ToolOther})
	})
	if out := j.run(t, h); out.Plan != nil {
		t.Errorf("a tool that reads nothing was superseded: %v", out.Plan)
	}
	j.config = with(func(c *stage.Config) {
		c.Kinds = work.DefaultKinds().With(map[string]work.Tool{"peek_at": work.ToolRead})
	})
	if out := j.run(t, h); out.Plan == nil {
		t.Error("a tool that reads was not superseded")
	}
}
