package winnow_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/winnow-llm/winnow"
	"github.com/winnow-llm/winnow/chat"
	"github.com/winnow-llm/winnow/plan"
)

// The tests of this file hold rows of docs/rows.md that the others of this package
// only touch; scripts/mutate takes each row's feature out and runs them.

// Where a short turn stands behind old ones that do not fit, the oldest of them go
// behind the first exchange, whole and no more than needed, and the task stays: S0.4.
func TestOldTurnsGo(t *testing.T) {
	w := newWinnow(t, winnow.Settings{Preset: "umbra", Model: "gpt-4o", Window: 5000, OutputReserve: 500})
	var m []chat.Message
	for i := range 8 {
		m = append(m, user(fmt.Sprintf("old question %d", i)))
		m = append(m, did(fmt.Sprint("old-", i), "grep", fmt.Sprintf(`{"pattern":"p%d"}`, i), lines(fmt.Sprint("old", i), 60))...)
		m = append(m, said(fmt.Sprintf("old answer %d", i)))
	}
	task := len(m)
	m = append(m, toolTurn(2, 400)...)
	r := fit(t, w, chat.Request{History: chat.NewHistory(m...)}, winnow.State{})
	if len(r.Plan.Edits) != 1 {
		t.Fatalf("%d edits", len(r.Plan.Edits))
	}
	e := r.Plan.Edits[0]
	if e.Stage != "truncate" || e.Kind != plan.Drop || e.From != 3 || !m[e.To].StartsTurn() || e.To >= task {
		t.Errorf("messages %d to %d of %d go, by %s", e.From, e.To, task, e.Stage)
	}
	contains(t, "the view", text(r.View), "find it", "old question 7", "old answer 7", "query-1")
	lacks(t, "the view", text(r.View), "old question 1", "old answer 1")
}

// The check before a call counts the messages, the tools' definitions and the room
// for the answer: S2.5.
func TestCheckCountsTheWholeRequest(t *testing.T) {
	w := newWinnow(t, winnow.Settings{Model: "gpt-4o", Window: 8000, OutputReserve: 500})
	check := func(req chat.Request) (tokens int, fits bool) {
		t.Helper()
		st, err := w.Check(req, winnow.State{})
		if err != nil {
			t.Fatal(err)
		}
		return st.Count.Tokens, st.Fits
	}
	req := chat.Request{History: chat.NewHistory(user(lines("words", 640)))}
	bare, fits := check(req)
	if !fits {
		t.Fatalf("%d tokens do not fit into 7,500", bare)
	}
	req.System = []chat.Part{{Kind: chat.Text, Text: lines("rules", 100)}}
	system, _ := check(req)
	req.Tools = []chat.ToolDef{{Name: "search", Description: lines("searches", 100), Schema: `{"type":"object"}`}}
	tools, fits := check(req)
	if system-bare < 800 || tools-system < 800 || fits {
		t.Errorf("%d tokens, %d with a system prompt, %d with a tool, which fit: %v", bare, system, tools, fits)
	}
	set := small
	set.Preset = "neurolink" // S4.9
	if st, err := newWinnow(t, set).Check(chat.Request{History: req.History, Output: 5000}, winnow.State{}); err != nil || st.Fits {
		t.Errorf("%d tokens fit beside an answer of 5,000 in a window of 8,000: %v", bare, err)
	}
}

// A conversation that is one turn is reduced inside it, also where results come in
// messages of the user's role: these start no turn, and the request stays: S2.1.
func TestOneLongTurn(t *testing.T) {
	for _, role := range []chat.Role{chat.Tool, chat.User} {
		m := []chat.Message{user("Find out why the build fails on arm64, and mend it.")}
		for i := range 40 {
			pair := did(fmt.Sprint("c", i), "bash", fmt.Sprintf(`{"command":"go test ./pkg%d"}`, i), lines(fmt.Sprint("run", i), 24))
			pair[1].Role = role
			m = append(m, pair...)
		}
		r := fit(t, newWinnow(t, small), chat.Request{History: chat.NewHistory(m...)}, winnow.State{})
		if !r.Changed {
			t.Fatal("nothing was compacted")
		}
		asked := false
		for i := range r.View.Len() {
			o := r.View.Origin(i)
			asked = asked || o.Message == 0 && len(o.Edits) == 0
		}
		if !asked {
			t.Errorf("results as %s: the request does not stand as it was", role)
		}
		contains(t, "the view", text(r.View), lines("run39", 24))
	}
}

// The user's words stand word for word after a compaction, and the agent's actions
// by name, without any model: B3.
func TestUsersWordsStay(t *testing.T) {
	var m []chat.Message
	var asked []string
	for i := range 40 {
		asked = append(asked, fmt.Sprintf("Request %d: in module m%d the retry must give up after %d ms, never later, because the %d callers upstream of it block.", i, i, 137*i+11, i+3))
		m = append(m, user(asked[i]))
		m = append(m, did(fmt.Sprint("w", i), "write_file", fmt.Sprintf(`{"path":"mod/m%d/retry.go","content":"package m%d"}`, i, i), "written")...)
		m = append(m, did(fmt.Sprint("t", i), "bash", fmt.Sprintf(`{"command":"go test ./mod/m%d"}`, i), lines(fmt.Sprint("run", i), 40)+fmt.Sprintf("mod/m%d/retry.go:%d: undefined: leaseTimer%d\nexit status 1\n", i, 100+i, i))...)
		m = append(m, said(fmt.Sprintf("Done with m%d.", i)))
	}
	m[0] = user("<task>\n" + asked[0] + "\n</task>") // as Cline sends it
	w := newWinnow(t, winnow.Settings{Model: "gpt-4o", Window: 16_000, OutputReserve: 500, Economy: winnow.EconomyOff})
	r := fit(t, w, chat.Request{History: chat.NewHistory(m...)}, winnow.State{})
	view := text(r.View)
	contains(t, "the view", view, append(asked, "User: "+asked[0])...)
	files, runs, errs := 0, 0, 0
	for i := range 40 {
		if strings.Contains(view, fmt.Sprintf("m%d/retry.go", i)) {
			files++
		}
		if strings.Contains(view, fmt.Sprintf("ran `go test ./mod/m%d`", i)) {
			runs++
		}
		if strings.Contains(view, fmt.Sprintf("undefined: leaseTimer%d\n", i)) {
			errs++
		}
	}
	if files < 38 || runs < 8 || errs < 8 {
		t.Errorf("%d of 40 files that were written, %d of 40 runs and %d of 40 errors are named", files, runs, errs)
	}
}

// A result that is pinned stands whole beside others that are pruned: B8.
func TestPinnedResultStays(t *testing.T) {
	var m []chat.Message
	for i := range 20 {
		m = append(m, user(fmt.Sprintf("step %d", i)))
		m = append(m, did(fmt.Sprint("c", i), "bash", fmt.Sprintf(`{"command":"make %d"}`, i), lines(fmt.Sprint("out", i), 60))...)
	}
	w := newWinnow(t, winnow.Settings{Model: "gpt-4o", Window: 20_000, OutputReserve: 500, Target: 0.1, Systems: winnow.Systems{PruneProtect: 500, PruneMin: 1, Stages: []string{"prune"}}})
	r := fit(t, w, chat.Request{History: chat.NewHistory(m...)}, winnow.State{Pins: []winnow.Pin{{Message: 8, Part: 0}}, Ask: winnow.Ask{Force: true}})
	view := text(r.View)
	contains(t, "the view", view, lines("out2", 60))
	lacks(t, "the view", view, lines("out1", 60), lines("out3", 60))
}

// A file that is read again stands once, where it was read last; the earlier reads
// point to it: S4.4.
func TestReadsThatWereReadAgain(t *testing.T) {
	file := func(read int) string { return lines(fmt.Sprint("source of read ", read), 120) } // somebody writes to it
	var m []chat.Message
	for i := range 4 {
		m = append(m, user(fmt.Sprintf("step %d", i)))
		m = append(m, did(fmt.Sprint("read-", i), "read_file", `{"path":"src/main.go"}`, file(i))...)
		m = append(m, said("seen"))
	}
	m = append(m, user("go on"))
	w := newWinnow(t, winnow.Settings{Model: "gpt-4o", Window: 8000, OutputReserve: 500, Target: 0.1, Systems: winnow.Systems{Stages: []string{"supersede"}, Tail: -1}})
	r := fit(t, w, chat.Request{History: chat.NewHistory(m...)}, winnow.State{Ask: winnow.Ask{Force: true}})
	contains(t, "the view", text(r.View), file(3))
	lacks(t, "the view", text(r.View), file(0), file(1), file(2))
}

// Everything that was reduced names a handle in the view, and the handle gives the
// original back: B9.
func TestHandlesInTheView(t *testing.T) {
	for _, stages := range [][]string{{"limit"}, {"prune"}, {"split-turn"}, {"fold"}, {"truncate"}} {
		window := 20_000
		if stages[0] == "truncate" { // the last resort, which waits for the trigger
			window = 10_000
		}
		w := newWinnow(t, winnow.Settings{Model: "gpt-4o", Window: window, OutputReserve: 500, Target: 0.3, Systems: winnow.Systems{ItemLines: 20, PruneProtect: 500, PruneMin: 1, Stages: stages}})
		var m []chat.Message
		for i := range 4 {
			m = append(m, user(fmt.Sprintf("step %d", i)))
			for k := range 5 {
				m = append(m, did(fmt.Sprintf("c-%d-%d", i, k), "bash", fmt.Sprintf(`{"command":"make %d"}`, k), lines(fmt.Sprintf("out%d%d", i, k), 60))...)
			}
		}
		h := chat.NewHistory(m...)
		r, err := w.Fit(t.Context(), chat.Request{History: h}, winnow.State{Ask: winnow.Ask{Force: true, BestEffort: true}})
		if err != nil || r.Plan == nil {
			t.Fatalf("%v: %v", stages, err)
		}
		view := text(r.View)
		for _, e := range r.Plan.Edits {
			if e.Stage != stages[0] {
				continue
			}
			if e.Handle == "" || !strings.Contains(view, e.Handle) {
				t.Errorf("%v: the view does not name the handle %q", stages, e.Handle)
			}
			back, err := plan.Recall(h, r.Plan, e.Handle)
			if err != nil || len(back.Messages) == 0 {
				t.Errorf("%v: %q gives nothing back: %v", stages, e.Handle, err)
			}
		}
	}
}

// A rule that stands among much else that the user wrote stays, one in a block of
// code is none, and a file is shown under the name that it was given last.
func TestRulesAndNamesStay(t *testing.T) {
	prose := func(name string) (s string) {
		for i := range 150 {
			s += fmt.Sprintf("The %s number %d was looked at on day %d by somebody else.\n\n", name, i, i*31%97)
		}
		return s
	}
	m := []chat.Message{user(prose("shelf") + "You must never touch the vendor folder.\n\n```\nyou must always run the old script\n```\n\n" + prose("drawer"))}
	m = append(m, did("r", "read_file", `{"path":"api/old.go"}`, lines("moved", 12))...)
	m = append(m, did("m", "bash", `{"command":"git mv api/old.go api/fresh.go"}`, "")...)
	m = append(m, said("It has its name."))
	m = append(m, coding(0, 30)...)
	w := newWinnow(t, winnow.Settings{Model: "gpt-4o", Window: 16_000, OutputReserve: 500})
	r := fit(t, w, chat.Request{History: chat.NewHistory(append(m, user("Go on with api/fresh.go."))...)}, winnow.State{})
	view := text(r.View)
	for _, want := range []string{"You must never touch the vendor folder.", "### api/fresh.go", "moved line 5 holds"} {
		if !strings.Contains(view, want) {
			t.Errorf("%q is not in the view", want)
		}
	}
	if strings.Contains(view, "always run the old script") || t.Failed() {
		t.Errorf("the view:\n%s", view)
	}
}
