package evidence

import (
	"fmt"
	"slices"
	"testing"
)

func TestFooter(t *testing.T) {
	// The cases of Operator-Use's tests, and the exact form that pi writes.
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
	if got, want := FileFooter(e.ReadFiles(), e.ModifiedFiles()), "\n\n<read-files>\na\n</read-files>\n\n<modified-files>\nb\nc\nd\n</modified-files>"; got != want {
		t.Errorf("the footer is %q, want %q", got, want)
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
	for _, c := range []string{"constraints", "files", "commands", places, symbols, values} {
		if s[c].Found != s[c].Total || s[c].Total == 0 {
			t.Errorf("%v: %+v in a text that has it", c, s[c])
		}
	}
	if s["requests"].Found != 0 {
		t.Errorf("requests: %+v in a text that paraphrases", s["requests"])
	}
	for c, share := range e.Survives("nothing of that") {
		if share.Found != 0 {
			t.Errorf("%v: %+v in a text that has nothing", c, share)
		}
	}
}

// What is said and done again and again is one piece of evidence, as it stands
// at the end; what was said once stays.
func TestFiveRounds(t *testing.T) {
	var parts []any
	for round := range 5 {
		said := fmt.Sprintf("Round %d. Set retries to %d00.", round, round+1)
		if round == 0 {
			said += " The API must stay stable."
		}
		parts = append(parts, said,
			step(fmt.Sprint("r", round), "read", fmt.Sprintf(`{"path":"/w/a/b.go","offset":%d,"limit":10}`, 1+round*10), "x"),
			step(fmt.Sprint("b", round), "bash", `{"command":"make"}`, fmt.Sprintf("Exit code %d\nerror: round %d", round%2, round)),
		)
	}
	e := extract(conversation(parts...))
	if len(e.Requests) != 5 || !slices.Equal(e.Constraints, []string{"The API must stay stable."}) {
		t.Errorf("%d requests, constraints %q", len(e.Requests), e.Constraints)
	}
	if !slices.Equal(e.Files, []File{{Path: "/w/a/b.go", Read: true}}) || !slices.Equal(e.Commands, []string{"make"}) || len(e.Errors) != 0 {
		t.Errorf("files %+v, commands %q, errors %q", e.Files, e.Commands, e.Errors)
	}
}
