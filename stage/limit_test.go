package stage_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/winnow-llm/winnow/chat"
	"github.com/winnow-llm/winnow/plan"
	"github.com/winnow-llm/winnow/stage"
)

var onlyLimit = job{stages: stage.Named("limit")}

func image(name string) chat.Part {
	return chat.Part{Kind: chat.Image, Media: "image/png", Data: name + strings.Repeat("iVBORw0KGgo", 200)}
}

// Limit keeps the head, the tail, the lines that report errors, and a handle.
func TestLimitKeepsHeadTailErrorsHandle(t *testing.T) {
	big := lines("start", 3000) + "ERROR: dial tcp 10.0.0.7:5432: connection refused\n" + lines("end", 3000)
	h := of(user("go"), did("1", "bash", `{"command":"make"}`, big), said("ok"), user("and now?"))
	out := onlyLimit.run(t, h)
	got := resultText(t, out.View, "1")
	contains(t, "the result", got, "start line 0 ", "end line 2999 ", "ERROR: dial tcp 10.0.0.7:5432: connection refused", "original: w", fmt.Sprint(len(big)))
	if len(got) > 51200+200 || strings.Count(got, "\n") > 2001 {
		t.Errorf("%d bytes, %d lines are left", len(got), strings.Count(got, "\n"))
	}
	e := edits(out.Plan, "limit")[0]
	o, err := plan.Recall(h, out.Plan, e.Handle)
	if err != nil || o.Messages[0].Parts[0].Text != big {
		t.Errorf("the handle %q does not give the original back: %v", e.Handle, err)
	}
	if e.Before.Tokens <= e.After.Tokens || e.Before.Bytes <= e.After.Bytes {
		t.Errorf("sizes: before %+v, after %+v", e.Before, e.After)
	}
}

func TestLimitTable(t *testing.T) {
	result := func(s string) chat.History { return of(user("go"), did("1", "x", "{}", s), said("ok"), user("next")) }
	for _, c := range []struct {
		name      string
		h         chat.History
		available int
		shortened bool
	}{
		{"small result", result(lines("a", 10)), 0, false},
		{"2,000 lines", result(strings.TrimSuffix(strings.Repeat("x\n", 2000), "\n")), 0, false},
		{"2,001 lines, where cutting one saves nothing", result(strings.Repeat("x\n", 2000) + "x"), 0, false},
		{"2,400 short lines", result(strings.Repeat("some words\n", 2400)), 0, true},
		{"51,200 bytes", result(strings.Repeat("0123456789abcde\n", 1600)[:25600]), 0, false},
		{"51,201 bytes", result(strings.Repeat("0123456789abcde ", 3201)[:51201]), 0, true},
		{"more lines than 2,000, more bytes too", result(lines("l", 3000)), 0, true},
		{"more than a quarter of a small window", result(lines("l", 300)), 8000, true},
		{"an assistant's long text", of(user("go"), said(lines("l", 3000)), user("next")), 0, true},
		{"a user's earlier long text", of(user(lines("l", 3000)), said("ok"), user("next")), 0, true},
		{"the user's last request", of(user("go"), said("ok"), user(lines("l", 3000))), 0, false},
		{"a live result", of(user("go"), did("1", "x", "{}", lines("l", 3000))), 0, false},
		{"thinking", of(user("go"), chat.Message{Role: chat.Assistant, Parts: []chat.Part{{Kind: chat.Thinking, Text: lines("l", 3000)}, {Kind: chat.Text, Text: "a"}}}, user("next")), 0, false},
		{"a signed part", of(user("go"), chat.Message{Role: chat.Assistant, Parts: []chat.Part{{Kind: chat.Text, Text: lines("l", 3000), Signature: "s"}}}, user("next")), 0, false},
		{"an opaque part", of(user("go"), chat.Message{Role: chat.Assistant, Parts: []chat.Part{{Kind: chat.Opaque, Data: strings.Repeat("A", 100000)}, {Kind: chat.Text, Text: "a"}}}, user("next")), 0, false},
	} {
		j := onlyLimit
		if c.available > 0 {
			j.available, j.target = c.available, 1
		}
		if got := len(edits(j.run(t, c.h).Plan, "limit")) > 0; got != c.shortened {
			t.Errorf("%s: shortened %v, want %v", c.name, got, c.shortened)
		}
	}
}

// Both limits can be set and switched off one by one.
func TestLimitSettings(t *testing.T) {
	h := of(user("go"), did("1", "x", "{}", lines("l", 100)), said("ok"), user("next"))
	for _, c := range []struct {
		bytes, lines int
		shortened    bool
	}{{0, 0, false}, {1000, 0, true}, {0, 50, true}, {100000, 50, true}, {1000, 5000, true}, {100000, 5000, false}} {
		j := onlyLimit
		j.config = with(func(config *stage.Config) { config.ItemBytes, config.ItemLines = c.bytes, c.lines })
		out := j.run(t, h)
		if got := out.Plan != nil; got != c.shortened {
			t.Errorf("%d bytes, %d lines: shortened %v, want %v", c.bytes, c.lines, got, c.shortened)
		}
		if c.shortened {
			contains(t, "the result", resultText(t, out.View, "1"), "l line 0 ", "l line 99 ")
		}
	}
}

// Items that may not be touched stay: pins of a message and of a part.
func TestLimitLeavesPins(t *testing.T) {
	h := of(user("go"), did("1", "x", "{}", lines("l", 3000)), did("2", "x", "{}", lines("m", 3000)), said("ok"), user("next"))
	for _, part := range []int{-1, 0} {
		j := onlyLimit
		j.pins = []stage.Pin{{Message: 2, Part: part}}
		out := j.run(t, h)
		if out.View.At(2) != h.At(2) {
			t.Errorf("pin of part %d: the message was changed", part)
		}
		if len(edits(out.Plan, "limit")) != 1 {
			t.Errorf("pin of part %d: the other one should be shortened: %v", part, out.Plan)
		}
	}
}

// Arguments that are too long stay a JSON object in which keys and short values
// can still be read.
func TestLimitArguments(t *testing.T) {
	args, _ := json.Marshal(map[string]any{"path": "cmd/main.go", "content": lines("code", 4000), "mode": 0o644})
	h := of(user("go"), did("1", "write_file", string(args), "written"), did("2", "x", strings.Repeat("not json ", 9000), "ok"), said("ok"), user("next"))
	out := onlyLimit.run(t, h)
	for i, at := range []int{1, 3} {
		var got map[string]any
		if err := json.Unmarshal([]byte(out.View.At(at).Parts[0].Args), &got); err != nil {
			t.Fatalf("message %d: %v", at, err)
		}
		if i == 0 && (got["path"] != "cmd/main.go" || got["mode"] != float64(0o644)) {
			t.Errorf("short values are gone: %v", got)
		}
		if n := len(out.View.At(at).Parts[0].Args); n > 60000 {
			t.Errorf("message %d: %d bytes are left", at, n)
		}
	}
	contains(t, "the arguments", out.View.At(1).Parts[0].Args, "original: w", "code line 0 ")
}

// A10: texts of many bytes per character are never cut inside one.
func TestLimitIsUTF8Safe(t *testing.T) {
	for _, unit := range []string{"漢字仮名交じり文。", "👩‍🔧🚀", "é́"} {
		h := of(user("go"), did("1", "x", "{}", strings.Repeat(unit, 60000/len(unit)+1)), said("ok"), user("next"))
		got := resultText(t, onlyLimit.run(t, h).View, "1")
		if !utf8.ValidString(got) || strings.ContainsRune(got, utf8.RuneError) {
			t.Errorf("%q: the text was cut inside a character", unit)
		}
		if len(got) > 51400 {
			t.Errorf("%q: %d bytes are left", unit, len(got))
		}
	}
}

// The oldest images go first, results that carry images keep their words.
func TestLimitImages(t *testing.T) {
	shot := chat.ResultMessage("1", "screenshot taken")
	shot.Parts[0].Content = []chat.Part{image("one"), image("two")}
	h := of(user("go"), chat.CallMessage("", chat.Call("1", "shoot", "{}")), shot,
		chat.Message{Role: chat.User, Parts: []chat.Part{{Kind: chat.Text, Text: "see"}, image("three")}}, said("ok"), user("next"))
	j := job{stages: stage.Named("limit"), images: 1, target: 1 << 20}
	out := j.run(t, h)
	if out.After.Images != 1 {
		t.Errorf("%d images are left, want 1", out.After.Images)
	}
	contains(t, "the result", resultText(t, out.View, "1"), "screenshot taken", "2 image(s) left out")
	if !out.View.At(3).Has(chat.Image) {
		t.Error("the newest image is gone")
	}
}
