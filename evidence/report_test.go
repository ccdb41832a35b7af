package evidence

import (
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"
)

func TestFooter(t *testing.T) {
	// The cases of VECTORS.md, part B, and the exact form of part A.
	tests := []struct {
		read, modified []string
		want           string
	}{
		{nil, nil, ""},
		{[]string{"a"}, nil, "\n\n<read-files>\na\n</read-files>"},
		{nil, []string{"b"}, "\n\n<modified-files>\nb\n</modified-files>"},
		{[]string{"a", "b"}, []string{"b", "c"}, "\n\n<read-files>\na\n</read-files>\n\n<modified-files>\nb\nc\n</modified-files>"},
		{[]string{"b"}, []string{"b"}, "\n\n<modified-files>\nb\n</modified-files>"},
	}
	for _, tt := range tests {
		if got := FileFooter(tt.read, tt.modified); got != tt.want {
			t.Errorf("FileFooter(%v, %v) = %q, want %q", tt.read, tt.modified, got, tt.want)
		}
	}
	e := extract(conversation(
		step("1", "read", `{"path":"b"}`, "x"), step("2", "read", `{"path":"a"}`, "x"), step("3", "edit", `{"path":"b"}`, "x"),
		step("4", "write", `{"path":"c"}`, "x"), step("5", "bash", `{"command":"rm d"}`, ""),
	))
	if got, want := e.Footer(), "\n\n<read-files>\na\n</read-files>\n\n<modified-files>\nb\nc\nd\n</modified-files>"; got != want {
		t.Errorf("Footer() = %q, want %q", got, want)
	}
}

// long is a conversation with plenty of everything.
func long(n int) *Evidence {
	var parts []any
	for i := range n {
		parts = append(parts, fmt.Sprintf("Request %d: change moduleNumber%d. You must never drop case %d. %s", i, i, i, strings.Repeat("Some more words. ", i%7)))
		id := fmt.Sprint(i)
		parts = append(parts, step("r"+id, "read", `{"path":"/home/me/project/pkg/dir`+id+`/file.go","offset":10,"limit":20}`, "package x"))
		parts = append(parts, step("e"+id, "edit", `{"path":"/home/me/project/pkg/dir`+id+`/other.go"}`, "ok"))
		parts = append(parts, step("b"+id, "bash", `{"command":"make target`+id+`"}`, "Exit code 1\nerror: target "+id+" is broken"))
	}
	return extract(conversation(parts...))
}

func TestRenderBudget(t *testing.T) {
	e := long(60)
	before := 0
	for _, max := range []int{1, 5, 20, 100, 300, 1000, 4000, 100000} {
		for name, count := range counters {
			out := e.Render(max, count)
			if n := count.of(out); n > max && out != "" {
				t.Errorf("%s: %d tokens, at most %d are allowed", name, n, max)
			}
			if !utf8.ValidString(out) {
				t.Errorf("%s: not valid UTF-8", name)
			}
			if again := e.Render(max, count); again != out {
				t.Errorf("%s: not deterministic", name)
			}
		}
		out := e.Render(max, nil)
		if len(out) < before {
			t.Errorf("with %d tokens there is less than with fewer", max)
		}
		before = len(out)
		if max >= 1000 && (!strings.Contains(out, "Request 0:") || !strings.Contains(out, "Request 59:")) {
			t.Errorf("max %d: the first or the last request is missing", max)
		}
		if used := len(out) / 3; max >= 1000 && max <= 4000 && used < max*8/10 {
			t.Errorf("max %d: only about %d tokens are used though there is more to say", max, used)
		}
	}
	for c, s := range e.Survives(e.Render(1<<20, nil)) {
		if s.Found != s.Total {
			t.Errorf("%v: %d of %d survive without a limit", c, s.Found, s.Total)
		}
	}
}

func TestRenderShortensTheOldest(t *testing.T) {
	e := extract(conversation("First "+strings.Repeat("a ", 600)+"end.", "Second "+strings.Repeat("b ", 600)+"end.", "Third "+strings.Repeat("c ", 100)+"end."))
	out := e.RenderClass(Requests, 400, nil)
	if !strings.Contains(out, "Third "+strings.TrimSpace(strings.Repeat("c ", 100))+" end.") {
		t.Errorf("the newest request is not whole:\n%s", out)
	}
	if !strings.Contains(out, "First a a") || !strings.Contains(out, "[…]") {
		t.Errorf("the first request is not shortened in the middle:\n%s", out)
	}
}

func TestSurvives(t *testing.T) {
	e := extract(conversation(
		"Never push to the main branch without a review. Use port 8443.",
		step("1", "edit", `{"path":"/w/internal/plan/apply.go"}`, "ok"),
		step("2", "bash", `{"command":"go test ./plan"}`, "Exit code 1\nplan/apply.go:88:2: undefined: foldAll"),
	))
	full := "never push to the main branch without review! apply: internal/plan/apply.go and plan/apply.go:88 broke: go test ./plan said undefined: foldAll, 88:2; port 8443"
	s := e.Survives(full)
	for _, c := range []Class{Constraints, Files, Commands, Places, Symbols, Values} {
		if s[c].Found != s[c].Total || s[c].Total == 0 {
			t.Errorf("%v: %+v in a text that has it", c, s[c])
		}
	}
	if s[Requests].Found != 0 {
		t.Errorf("requests: %+v in a text that paraphrases", s[Requests])
	}
	for c, share := range e.Survives("nothing of that") {
		if share.Found != 0 {
			t.Errorf("%v: %+v in a text that has nothing", c, share)
		}
	}
	if (Share{}).Of() != 1 || (Share{1, 4}).Of() != 0.25 {
		t.Error("Share.Of")
	}
}

// Five rounds of compaction: evidence is drawn from each stretch and merged.
func TestFiveRounds(t *testing.T) {
	var e *Evidence
	for round := range 5 {
		msgs := conversation(
			fmt.Sprintf("Round %d. Set retries to %d00.", round, round+1),
			step("1", "read", fmt.Sprintf(`{"path":"/w/a/b.go","offset":%d,"limit":10}`, 1+round*10), "x"),
			step("2", "bash", `{"command":"make"}`, fmt.Sprintf("Exit code %d\nerror: round %d", round%2, round)),
		)
		if round == 0 {
			msgs[0].Parts[0].Text += " The API must stay stable."
		}
		next := extract(msgs)
		if e == nil {
			e = next
		} else {
			for i := range next.Requests {
				next.Requests[i].At += round * len(msgs)
			}
			e.Merge(next)
		}
	}
	if len(e.Requests) != 5 || len(e.Constraints) != 1 {
		t.Errorf("%d requests, %d constraints", len(e.Requests), len(e.Constraints))
	}
	if len(e.Files) != 1 || fileText(&e.Files[0]) != "/w/a/b.go read 1-50" {
		t.Errorf("files %+v", e.Files)
	}
	if len(e.Commands) != 1 || e.Commands[0].Exit != 0 || e.Commands[0].Times != 5 {
		t.Errorf("commands %+v", e.Commands)
	}
	values := 0
	for _, v := range e.Values {
		if v.Key == "retries" {
			values++
			if v.Text != "500" {
				t.Errorf("retries is %s after round five", v.Text)
			}
		}
	}
	if values != 1 {
		t.Errorf("%d values for retries", values)
	}
	if out := e.Render(300, nil); !strings.Contains(out, "The API must stay stable.") {
		t.Errorf("the constraint of the first message is gone:\n%s", out)
	}
}
