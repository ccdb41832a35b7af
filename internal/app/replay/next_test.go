package replay

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"github.com/winnow-llm/winnow/chat"
	"github.com/winnow-llm/winnow/internal/kit/replaygen"
	"github.com/winnow-llm/winnow/transcript"
)

// A session whose answer is known: two files are read, one of them is changed,
// and after the cut both are edited.
const (
	oldStart = "func start() {\n\topen()\n}"
	oldStop  = "func stop() {\n\tclose()\n}"
	newStop  = "func stop() {\n\tflush()\n\tclose()\n}"
)

func edit(id, path, old, now string) chat.Part {
	return chat.Call(id, "edit", `{"path":`+quoted(path)+`,"old_string":`+quoted(old)+`,"new_string":`+quoted(now)+`}`)
}

func quoted(s string) string {
	return `"` + strings.NewReplacer("\n", `\n`, "\t", `\t`, `"`, `\"`).Replace(s) + `"`
}

func small() (*Session, int) {
	before := []chat.Message{
		chat.TextMessage(chat.User, "Make it better."),
		chat.CallMessage("", chat.Call("1", "read", `{"path":"/repo/a.go"}`)),
		chat.ResultMessage("1", "     1\tfunc start() {\n     2\t\topen()\n     3\t}\n"),
		chat.CallMessage("", chat.Call("2", "read", `{"path":"/repo/b.go"}`)),
		chat.ResultMessage("2", oldStop+"\n"),
		chat.CallMessage("", edit("3", "/repo/b.go", oldStop, newStop)),
		chat.ResultMessage("3", "done"),
	}
	after := []chat.Message{
		chat.CallMessage("", edit("4", "/repo/a.go", oldStart, "func start() {}")),
		chat.ResultMessage("4", "done"),
		chat.CallMessage("", edit("5", "/repo/b.go", newStop, "func stop() {}")),
		chat.ResultMessage("5", "done"),
		chat.CallMessage("", edit("6", "/repo/b.go", "func stop() {}", "func stop() { close() }")), // seen since
		chat.CallMessage("", edit("7", "/repo/c.go", "never shown anywhere", "x")),
		chat.CallMessage("", edit("8", "/repo/a.go", "short", "x")),
	}
	s := &Session{Session: transcript.Session{History: chat.NewHistory(append(before, after...)...)}, File: "small"}
	return s, len(before)
}

func TestNextDemand(t *testing.T) {
	s, at := small()
	x := newNextIndex(s)
	c := NextCut{At: at}
	x.findDemand(&c)
	if len(c.Edits) != 2 || c.Edits[0].Old != oldStart || c.Edits[0].Call != 1 || c.Edits[1].Path != "/repo/b.go" || c.Edits[1].Call != 2 {
		t.Fatalf("%+v", c.Edits)
	}
	if len(c.Later) != 0 || c.End != s.History.Len() {
		t.Errorf("later %+v, end %d", c.Later, c.End)
	}
}

// What makes an edit ready, and what does not.
func TestReady(t *testing.T) {
	s, at := small()
	x := newNextIndex(s)
	h := s.History
	pick := func(is ...int) []*chat.Message {
		var out []*chat.Message
		for _, i := range is {
			out = append(out, h.At(i))
		}
		return out
	}
	said := func(text string) []*chat.Message { return textView(text) }
	for _, c := range []struct {
		name        string
		view        []*chat.Message
		start, stop bool // whether the edits of a.go and of b.go are ready
	}{
		{"everything", pick(0, 1, 2, 3, 4, 5, 6), true, true},
		{"nothing", pick(0), false, false},
		{"one read", pick(1, 2), true, false},
		{"an old version", pick(3, 4), false, false},
		{"a block under its path", said("a.go:1-3\n```go\n" + oldStart + "\n```\n"), true, false},
		{"a numbered block", said("## /repo/a.go, lines 1-3\n1→func start() {\n2→\topen()\n3→}\n"), true, false},
		{"under another path", said("b.go\n```go\n" + oldStart + "\n```\n"), false, false},
		{"under no path", said("```go\n" + oldStart + "\n```\n"), false, false},
		{"a path inside the fence is no header", said("a.go\n```go\n// see b.go\n" + oldStart + "\n```\n"), true, false},
		{"another indentation", said("a.go\nfunc start() {\n  open()\n}\n"), false, false},
		{"lines apart", said("a.go\nfunc start() {\n\nopen()\n}\n"), false, false},
		{"a call that was left out", pick(2), true, false},
	} {
		v := x.readView(c.view)
		if got := v.isReady("/repo/a.go", oldStart); got != c.start {
			t.Errorf("%s: a.go ready %v", c.name, got)
		}
		if got := v.isReady("/repo/b.go", newStop); got != c.stop {
			t.Errorf("%s: b.go ready %v", c.name, got)
		}
	}
	// What the newest version no longer has is not ready, though it stands there.
	if x.readView(pick(3, 4, 5, 6)).isReady("/repo/b.go", oldStop) {
		t.Error("a text that an edit took away is ready")
	}
	cut := NextCut{At: at}
	x.findDemand(&cut)
	if got := cut.countReady(x.readView(pick(1, 2))).all(); got != (Tally{1, 2}) {
		t.Errorf("V is %+v", got)
	}
}

// Views of a given size: none is larger, and where all fits every edit is ready.
func TestRivals(t *testing.T) {
	s, at := small()
	x := newNextIndex(s)
	c := NextCut{At: at}
	x.findDemand(&c)
	all := x.chars[at]
	for _, r := range Rivals() {
		for _, chars := range []int{20, all / 2, all} {
			if got := viewSize(r.make(x, &c, chars)); got > chars/4+10 {
				t.Errorf("%s: %d tokens for %d characters", r.Name, got, chars)
			}
		}
	}
	for _, r := range Rivals() {
		if got := c.countReady(x.readView(r.make(x, &c, all))).all().Hit; got != 2 {
			t.Errorf("%s: %d of 2 ready", r.Name, got)
		}
	}
}

// The cuts of a session: where its context is full, then every 30,000 tokens,
// three at most, and none beside a compaction.
func TestNextCuts(t *testing.T) {
	var msgs []chat.Message
	for range 80 {
		msgs = append(msgs, chat.CallMessage("", chat.Call("1", "read", `{"path":"a.go"}`)), chat.ResultMessage("1", strings.Repeat("word ", 2000)))
	}
	s := &Session{Session: transcript.Session{History: chat.NewHistory(msgs...)}}
	x := newNextIndex(s)
	cuts := x.findCuts(64000)
	if len(cuts) != 3 {
		t.Fatalf("%d cuts", len(cuts))
	}
	for i, c := range cuts {
		if got, want := x.chars[c.At]/4, 51200+i*nextEvery; got < want || got > want+5*2500 || s.History.At(c.At).Role != chat.Assistant {
			t.Errorf("cut %d at %d tokens, message %d", i, got, c.At)
		}
	}
	s.Compactions = []transcript.Compaction{{At: cuts[0].At + 1}}
	for _, c := range newNextIndex(s).findCuts(64000) {
		if d := s.Compactions[0].At - c.At; -nextClear < d && d <= c.End-c.At {
			t.Errorf("a cut at %d beside a compaction at %d", c.At, s.Compactions[0].At)
		}
	}
}

// The same sessions give the same board, and the intervals hold the figures.
func TestNextBoardDeterministic(t *testing.T) {
	var list []fieldScore
	for i := range 12 {
		list = append(list, fieldScore{viewScore: viewScore{own: aged{{i % 4, 4}}, rivals: [2]aged{{{i % 3, 4}}, {{1, 4}}}}, cuts: 1, size: 1000 * i})
	}
	row := func() *FieldRow {
		var p FieldPlace
		p.addPolicy("x", 0, list)
		return &p.Rows[0]
	}
	a, b := row(), row()
	for i := range a.Rivals {
		if *a.Rivals[i].Range != *b.Rivals[i].Range {
			t.Errorf("%v, then %v", a.Rivals[i].Range, b.Rivals[i].Range)
		}
	}
	if *a.Between != *b.Between || a.V != 0.375 || a.Between[0] > a.V || a.Between[1] < a.V || a.Rivals[0].More != 0.125 {
		t.Errorf("%+v", a)
	}
	// A rival that is worse in every session is worse in every resampling.
	for i := range list {
		list[i].own, list[i].rivals[0] = aged{{3, 4}}, aged{{1, 4}}
	}
	if got := row().Rivals[0].Range; got[0] != 0.5 || got[1] != 0.5 {
		t.Errorf("%v", got)
	}
}

// The same sessions give the same board on any number of workers.
func TestRunNext(t *testing.T) {
	d := generated(3, replaygen.Options{Requests: 60, Growth: 700})
	var boards [2][]byte
	for i, workers := range []int{1, 3} {
		b, err := RunNext(t.Context(), d, 24000, &Crew{Workers: workers})
		if err != nil {
			t.Fatal(err)
		}
		if b.Cuts == 0 || len(b.Rows) != 3 {
			t.Fatalf("%d cuts, %d rows", b.Cuts, len(b.Rows))
		}
		for _, r := range b.Rows {
			if r.Tokens == 0 || r.Tokens > 24000 || len(r.Rivals) != len(Rivals()) {
				t.Errorf("%+v", r)
			}
		}
		if boards[i], err = json.Marshal(b); err != nil {
			t.Fatal(err)
		}
	}
	if !bytes.Equal(boards[0], boards[1]) {
		t.Error("one worker and three gave different boards")
	}
}
