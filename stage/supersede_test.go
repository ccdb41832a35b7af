package stage_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/winnow-llm/winnow/chat"
	"github.com/winnow-llm/winnow/plan"
	"github.com/winnow-llm/winnow/stage"
)

var onlySupersede = job{stages: stage.Named("supersede"), config: with(func(c *stage.Config) { c.Tail = 0 })}

func read(id, path string, from, to int, output string) []chat.Message {
	args := fmt.Sprintf(`{"path":%q}`, path)
	if from > 0 {
		args = fmt.Sprintf(`{"path":%q,"start_line":%d,"end_line":%d}`, path, from, to)
	}
	return did(id, "read_file", args, output)
}

func fails(id, tool, args, output string) []chat.Message {
	x := did(id, tool, args, output)
	x[1].Parts[0].Failed = true
	return x
}

func TestSupersede(t *testing.T) {
	const big = 60 // lines
	end := []chat.Message{said("ok"), user("next")}
	for _, c := range []struct {
		name string
		h    chat.History
		want []int // messages that are reduced
	}{
		{"read again whole", of(user("go"), read("1", "a.go", 0, 0, lines("old", big)), read("2", "a.go", 0, 0, lines("new", big)), end), []int{2}},
		{"read again in a larger range", of(user("go"), read("1", "a.go", 10, 20, lines("old", big)), read("2", "a.go", 1, 50, lines("new", big)), end), []int{2}},
		{"read again in a smaller range", of(user("go"), read("1", "a.go", 1, 50, lines("old", big)), read("2", "a.go", 10, 20, lines("new", big)), end), nil},
		{"a range, then the whole", of(user("go"), read("1", "a.go", 10, 20, lines("old", big)), read("2", "a.go", 0, 0, lines("new", big)), end), []int{2}},
		{"another file", of(user("go"), read("1", "a.go", 0, 0, lines("old", big)), read("2", "b.go", 0, 0, lines("new", big)), end), nil},
		{"written as a whole", of(user("go"), read("1", "a.go", 0, 0, lines("old", big)), did("2", "write_file", `{"path":"a.go","content":"package a"}`, "written"), end), []int{2}},
		{"three reads, the latest stays", of(user("go"), read("1", "a.go", 0, 0, lines("o", big)), read("2", "a.go", 0, 0, lines("p", big)), read("3", "a.go", 0, 0, lines("q", big)), end), []int{2, 4}},
		{"by a shell command", of(user("go"), did("1", "bash", `{"command":"cat a.go"}`, lines("old", big)), read("2", "a.go", 0, 0, lines("new", big)), end), []int{2}},
		{"a live read counts as later", of(user("go"), read("1", "a.go", 0, 0, lines("old", big)), read("2", "a.go", 0, 0, lines("new", big))), []int{2}},
		{"identical output", of(user("go"), did("1", "bash", `{"command":"make"}`, lines("same", big)), did("2", "bash", `{"command":"make all"}`, lines("same", big)), end), []int{2}},
		{"identical but short output", of(user("go"), did("1", "bash", `{"command":"make"}`, "ok"), did("2", "bash", `{"command":"make"}`, "ok"), end), nil},
		{"half the lines again", of(user("go"), did("1", "bash", `{"command":"make"}`, lines("own", 30)+lines("same", 30)), did("2", "bash", `{"command":"make all"}`, lines("same", 30)), end), []int{2}},
		{"a tenth of the lines again", of(user("go"), did("1", "bash", `{"command":"make"}`, lines("own", 90)+lines("same", 10)), did("2", "bash", `{"command":"make all"}`, lines("same", 10)), end), nil},
		{"a failed read supersedes nothing", of(user("go"), read("1", "a.go", 0, 0, lines("old", big)), fails("2", "read_file", `{"path":"a.go"}`, "permission denied"), end), nil},
		{"a failed write supersedes nothing", of(user("go"), read("1", "a.go", 0, 0, lines("old", big)), fails("2", "write_file", `{"path":"a.go","content":"x"}`, "disk full"), end), nil},
		{"nor does one that only says so", of(user("go"), read("1", "a.go", 0, 0, lines("old", big)), read("2", "a.go", 0, 0, "Error: ENOENT: no such file or directory, open 'a.go'"), end), nil},
		{"nor a long failure", of(user("go"), read("1", "a.go", 0, 0, lines("old", big)), fails("2", "read_file", `{"path":"a.go"}`, lines("trace", big)), end), nil},
		{"nor a live failure", of(user("go"), read("1", "a.go", 0, 0, lines("old", big)), fails("2", "read_file", `{"path":"a.go"}`, lines("trace", big))), nil},
		{"a failed result is not superseded", of(user("go"), fails("1", "bash", `{"command":"make"}`, lines("same", big)), did("2", "bash", `{"command":"make"}`, lines("same", big)), end), nil},
	} {
		out := onlySupersede.run(t, c.h)
		var got []int
		for _, e := range edits(out.Plan, "supersede") {
			got = append(got, e.From)
		}
		if fmt.Sprint(got) != fmt.Sprint(c.want) {
			t.Errorf("%s: reduced %v, want %v", c.name, got, c.want)
		}
	}
}

// What points to a later copy says so and has a handle; lines that stand
// nowhere else stay.
func TestSupersedeTexts(t *testing.T) {
	h := of(user("go"),
		read("1", "a.go", 10, 40, lines("old", 40)),
		read("2", "a.go", 1, 80, lines("new", 80)),
		did("3", "bash", `{"command":"go test"}`, "--- unique to the first run: 17 of 20\n"+lines("same", 60)),
		did("4", "bash", `{"command":"go test"}`, lines("same", 60)),
		said("ok"), user("next"))
	out := onlySupersede.run(t, h)
	contains(t, "the first read", resultText(t, out.View, "1"), "a.go lines 10-40", "read again later", "original: w")
	contains(t, "the first run", resultText(t, out.View, "3"), "unique to the first run: 17 of 20", "60 lines that stand again later")
	lacks(t, "the first run", resultText(t, out.View, "3"), "same line 0 ")
	contains(t, "the second run", resultText(t, out.View, "4"), lines("same", 60))
	for _, e := range out.Plan.Edits {
		o, err := plan.Recall(h, out.Plan, e.Handle)
		if err != nil || o.Messages[0].Parts[0].Text != h.At(e.From).Parts[0].Text {
			t.Errorf("handle %q: %v", e.Handle, err)
		}
	}
}

// A pointer to a later copy points to one that is still there.
func TestSupersedePointsToWhatStays(t *testing.T) {
	var items []any
	items = append(items, user("go"))
	for i := range 5 {
		items = append(items, did(fmt.Sprint(i), "bash", `{"command":"make"}`, lines("same", 60)))
	}
	out := onlySupersede.run(t, of(append(items, said("ok"), user("next"))...))
	if n := strings.Count(text(out.View), lines("same", 60)); n != 1 {
		t.Errorf("the output stands %d times, want once", n)
	}
	if got := resultText(t, out.View, "4"); got != lines("same", 60) {
		t.Error("the latest is not the one that stays")
	}
}

// S4.4: at least 30 % must be saved.
func TestSupersedeMin(t *testing.T) {
	for same, want := range map[int]bool{20: false, 50: true} {
		h := of(user("go"), did("1", "bash", `{"command":"make"}`, lines("own", 100-same)+lines("same", same)),
			did("2", "bash", `{"command":"make all"}`, lines("same", same)), said("ok"), user("next"))
		if got := onlySupersede.run(t, h).Plan != nil; got != want {
			t.Errorf("%d lines of 100 repeated: reduced %v, want %v", same, got, want)
		}
	}
}

func TestSupersedeStopsAtNeed(t *testing.T) {
	h := of(user("go"))
	for i := range 6 {
		h = h.Append(read(fmt.Sprint(i), fmt.Sprintf("f%d.go", i/2), 0, 0, lines(fmt.Sprint("r", i), 60))...)
	}
	h = h.Append(said("ok"), user("next"))
	n := counter.Messages(h)
	out := job{stages: stage.Named("supersede"), target: n - 10}.run(t, h)
	if got := edits(out.Plan, "supersede"); len(got) != 1 || got[0].From != 2 {
		t.Errorf("want the oldest alone, got %v", out.Plan)
	}
}
