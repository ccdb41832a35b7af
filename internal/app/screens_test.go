package app

import (
	"math/rand/v2"
	"os"
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"
	"github.com/winnow-llm/winnow"
	"github.com/winnow-llm/winnow/chat"
	"github.com/winnow-llm/winnow/internal/app/demo"
	"github.com/winnow-llm/winnow/internal/app/show"
	"github.com/winnow-llm/winnow/plan"
	"github.com/winnow-llm/winnow/wire"
)

// TestMeterAddsUp compares the meter with the engine's own count: the kinds of
// any request add up to it, attachments are the engine's, and the bar has the
// cells that it should.
func TestMeterAddsUp(t *testing.T) {
	t.Parallel()
	body, err := wire.Parse(wire.OpenAI, demo.Session())
	if err != nil {
		t.Fatal(err)
	}
	r := rand.New(rand.NewPCG(1, 2))
	requests := []chat.Request{body.Request(), {}}
	for range 200 {
		requests = append(requests, randomRequest(r))
	}
	for i := range requests {
		req := &requests[i]
		w, err := winnow.New(&winnow.Options{Settings: winnow.Settings{Window: 1000 + r.IntN(200_000), Exact: i%50 == 1}})
		if err != nil {
			t.Fatal(err)
		}
		status, err := w.Check(*req, winnow.State{})
		if err != nil {
			t.Fatal(err)
		}
		s, top := show.Spend(w.Meter(), show.Whole(req.History), &status, 10)
		if s.Sum() != status.Tokens.Total {
			t.Errorf("request %d: the kinds add up to %d, the engine counts %d: %+v", i, s.Sum(), status.Tokens.Total, s)
		}
		if s.Attachments != status.Tokens.Attachments {
			t.Errorf("request %d: %d tokens of attachments, the engine counts %d", i, s.Attachments, status.Tokens.Attachments)
		}
		if got := s.Sum() + s.Free + s.Reserve; status.Fits && got != status.Limits.Context {
			t.Errorf("request %d: used, free and reserve are %d of a window of %d", i, got, status.Limits.Context)
		}
		for k := 1; k < len(top); k++ {
			if top[k].Tokens > top[k-1].Tokens {
				t.Errorf("request %d: the largest items are not in order: %+v", i, top)
			}
		}
		for _, st := range []style{{}, {Color: true, Width: 120}} {
			if n := ansi.StringWidth(st.Fill(s, max(status.Limits.Context, s.Sum()+s.Reserve, 1), st.Cells())); n != st.Cells() {
				t.Errorf("request %d: a bar of %d cells, want %d", i, n, st.Cells())
			}
		}
	}
}

// randomRequest makes messages of every role and kind of part.
func randomRequest(r *rand.Rand) chat.Request {
	text := func() string { return strings.Repeat("a few words ", r.IntN(60)) }
	req := chat.Request{System: []chat.Part{{Kind: chat.Text, Text: text()}}, Tools: []chat.ToolDef{{Name: "t", Description: text()}}}
	roles := []chat.Role{chat.User, chat.Assistant, chat.Tool, chat.System}
	var messages []chat.Message
	for range r.IntN(12) {
		m := chat.Message{Role: roles[r.IntN(len(roles))]}
		for range r.IntN(4) {
			p := chat.Part{Kind: chat.Kind(r.IntN(7)), Text: text(), Name: "n", Args: `{"a":"b"}`, Data: "AAAA", Media: "image/png"}
			if p.Kind == chat.ToolResult && r.IntN(2) == 0 {
				p.Content = []chat.Part{{Kind: chat.Image, Data: "AAAA"}, {Kind: chat.Text, Text: text()}, {Kind: chat.Document, Name: "d", Text: text()}}
			}
			m.Parts = append(m.Parts, p)
		}
		messages = append(messages, m)
	}
	req.History = chat.NewHistory(messages...)
	return req
}

// TestScreens runs what people look at on terminals of three widths: no line is
// longer than the terminal, none ends in blanks, and none has colours.
func TestScreens(t *testing.T) {
	t.Chdir(isolate(t))
	for name, data := range map[string]string{"s.json": string(demo.Session()), "wide.json": wideSession, "two.jsonl": hello + "\n"} {
		if err := os.WriteFile(name, []byte(data), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, columns := range []int{60, 80, 120} {
		t.Setenv("COLUMNS", number(columns))
		for _, line := range []string{
			"compact s.json --plan p.json", "compact s.json --window 60000 --plan q.json", "check s.json", "check s.json --window 900", "check wide.json",
			"check wide.json --window 400", "compact wide.json --force --target 0.01 --plan w.json --window 4000", "plan show w.json wide.json",
			"plan show p.json s.json", "plan show q.json s.json", "plan diff p.json q.json", "plan diff p.json p.json", "demo", "models claude-sonnet", "models gpt-5", "validate s.json", "repair s.json",
		} {
			code, stdout, stderr := command(t, "", strings.Fields(line)...)
			want := exitDone
			if line == "validate s.json" { // it ends with an interrupted call
				want = exitFailed
			}
			if code != want {
				t.Fatalf("winnow %s: exit %d: %s", line, code, stderr)
			}
			for out := range strings.Lines(stdout) {
				out = strings.TrimSuffix(out, "\n")
				if n := ansi.StringWidth(out); n > max(columns, 80) && !strings.Contains(out, "winnow ") {
					t.Errorf("winnow %s at %d columns: a line of %d: %s", line, columns, n, out)
				}
				if strings.TrimRight(out, " ") != out && !strings.HasPrefix(out, "-") && !strings.HasPrefix(out, "+") {
					t.Errorf("winnow %s at %d columns: blanks at the end of %q", line, columns, out)
				}
				if strings.Contains(out, "\x1b") {
					t.Errorf("winnow %s: colours where no terminal is: %q", line, out)
				}
			}
		}
	}
}

// wideSession has characters that take two columns, none, and a control
// sequence that must not reach the terminal.
var wideSession = `[{"role":"user","content":"` + strings.Repeat("日本語のとても長い文章", 40) + `"},{"role":"assistant","content":"` +
	strings.Repeat("e\u0301", 300) + ` \u001b[31mred"},{"role":"user","content":"` + strings.Repeat("🙂", 90) + `"},{"role":"assistant","content":"ok"},{"role":"user","content":"go on"}]`

// TestBrief cuts texts to columns.
func TestBrief(t *testing.T) {
	for _, c := range []struct {
		text string
		most int
		want string
	}{
		{"short", 10, "short"},
		{"exactly10!", 10, "exactly10!"},
		{"longer than ten", 10, "longer th…"},
		{"two  blanks\n and lines ", 40, "two blanks and lines"},
		{"日本語", 6, "日本語"},
		{"日本語文", 6, "日本…"},
		{"bell\aand\x1b[31m", 20, "bell\\u0007and"},
		{"", 5, ""},
		{"ends here \n\n", 9, "ends here"},
	} {
		if got := show.Brief(c.text, c.most); got != c.want {
			t.Errorf("brief(%q, %d) = %q, want %q", c.text, c.most, got, c.want)
		}
		if n := ansi.StringWidth(show.Brief(c.text, c.most)); n > c.most {
			t.Errorf("brief(%q, %d) takes %d columns", c.text, c.most, n)
		}
	}
}

// TestStagePairs sums two plans up by stage.
func TestStagePairs(t *testing.T) {
	edit := func(stage string, before, after int) plan.Edit {
		return plan.Edit{Stage: stage, Before: chat.Size{Tokens: before}, After: chat.Size{Tokens: after}}
	}
	p := &plan.Plan{Edits: []plan.Edit{edit("fold", 100, 10), edit("prune", 50, 5), edit("prune", 30, 5)}}
	q := &plan.Plan{Edits: []plan.Edit{edit("prune", 50, 5)}}
	got := stagePairs(p, q)
	want := []stagePair{{"prune", 2, 1, 70, 45}, {"fold", 1, 0, 90, 0}}
	if len(got) != len(want) || got[0] != want[0] || got[1] != want[1] {
		t.Errorf("got %+v, want %+v", got, want)
	}
}
