package winnow_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/winnow-llm/winnow"
	"github.com/winnow-llm/winnow/chat"
	"github.com/winnow-llm/winnow/plan"
	"github.com/winnow-llm/winnow/token"
)

// systems are the presets that are named after documented systems.
var systems = winnow.PresetNames()[2:]

// The presets of the documented systems have the values of their documents.
func TestSystemValues(t *testing.T) {
	for name, want := range map[string]winnow.Settings{
		"umbra":        {Threshold: 1, Systems: winnow.Systems{Tail: 3, Estimator: "umbra", Stages: []string{"split-turn", "truncate"}}}, // S0
		"pi":           {KeepRecent: 16384, Systems: winnow.Systems{Reserve: 16384, Estimator: "pi", Stages: []string{"fold"}}},          // S1.1, S1.3
		"picoclaw":     {Threshold: 1, Systems: winnow.Systems{Estimator: "picoclaw", Stages: []string{"half"}}},                         // S2.2, S2.5
		"operator-use": {KeepRecent: 16384, Systems: winnow.Systems{Reserve: 8192, Estimator: "operator-use", Stages: []string{"fold"}}}, // S3.8
		"neurolink": {
			Threshold: 0.80,
			Systems:   winnow.Systems{Estimator: "neurolink", Stages: []string{"supersede", "prune", "fold", "truncate"}, PruneProtect: 40000, PruneMin: 20000, ProtectedTools: []string{"skill"}},
		},
	} {
		got := newWinnow(t, winnow.Settings{Preset: name}).Settings()
		if (want.Threshold > 0) != (got.Threshold > 0) || (want.Reserve > 0) != (got.Reserve > 0) {
			t.Errorf("%s starts at a share of %v and a reserve of %d", name, got.Threshold, got.Reserve)
		}
		if filled := want.Or(got); fmt.Sprint(filled) != fmt.Sprint(got) {
			t.Errorf("%s: %+v\nwant %+v", name, got, filled)
		}
	}
}

// A field that is set wins over the preset's, and what nobody sets has its default.
func TestSetFieldWins(t *testing.T) {
	got := newWinnow(t, winnow.Settings{Preset: "pi", KeepRecent: 5000, Threshold: 0.5, Target: 0.4}).Settings()
	if got.Preset != "pi" || got.KeepRecent != 5000 || got.Threshold != 0.5 || got.Reserve != 16384 || !slices.Equal(got.Stages, []string{"fold"}) {
		t.Errorf("%+v", got)
	}
	if _, err := winnow.New(&winnow.Options{Settings: winnow.Settings{Preset: "boldest"}}); err == nil || !strings.Contains(err.Error(), "preset") || !strings.Contains(err.Error(), "thrifty, umbra") {
		t.Errorf("an unknown preset: %v", err)
	}
}

// A1.6 and its like: where each system starts to compact, to the token.
func TestSystemsStart(t *testing.T) {
	for name, want := range map[string]int{
		"umbra": 199_000, "picoclaw": 199_000, // what does not fit (C5)
		"pi": 200_000 - 16_384, "operator-use": 200_000 - 8192,
		"neurolink": 199_000 * 8 / 10,
	} {
		w := newWinnow(t, winnow.Settings{Preset: name, Model: "gpt-4o", Window: 200_000, OutputReserve: 1000})
		st, err := w.Check(chat.Request{History: chat.NewHistory(user("hello"))}, winnow.State{})
		if err != nil || st.Trigger.At(st.Limits) != want {
			t.Errorf("%s starts at %d tokens, want %d, %v", name, st.Trigger.At(st.Limits), want, err)
		}
	}
}

// A reserve that is set, or that a system's preset sets, holds at every size of
// the window; where the window cannot bear it, the cap is told: S1.1.
func TestReserveHolds(t *testing.T) {
	start := func(s winnow.Settings) (int, string) {
		w := newWinnow(t, s)
		st, err := w.Check(chat.Request{History: chat.NewHistory(user("hello"))}, winnow.State{})
		if err != nil {
			t.Fatal(err)
		}
		_, why := st.Due()
		return st.Trigger.At(st.Limits), why
	}
	for _, window := range []int{24_000, 32_000, 64_000, 128_000, 200_000, 1_000_000} {
		for name, reserve := range map[string]int{"pi": 16_384, "operator-use": 8192} {
			for _, output := range []int{0, 1000} { // said, and left unsaid
				if got, why := start(winnow.Settings{Preset: name, Window: window, OutputReserve: output}); got != window-reserve {
					t.Errorf("%s, window %d, output %d: starts at %d, want %d (%s)", name, window, output, got, window-reserve, why)
				}
			}
		}
		if got, why := start(winnow.Settings{Window: window, OutputReserve: 1000, Systems: winnow.Systems{Reserve: window / 2}}); got != window/2 {
			t.Errorf("a reserve of half of %d: starts at %d (%s)", window, got, why)
		}
	}
	if got, why := start(winnow.Settings{Preset: "pi", Window: 16_000, OutputReserve: 1000}); got != 4000 || !strings.Contains(why, "a reserve of 12,000; the 16,384 that are set are too much") {
		t.Errorf("a reserve of the whole window: starts at %d (%s)", got, why)
	}
	// The rewrite leaves less than what starts one.
	for _, s := range []winnow.Settings{
		{Preset: "pi", Window: 24_000, OutputReserve: 1000, KeepRecent: 2000},
		{Model: "gpt-4o", Window: 24_000, OutputReserve: 1000, Threshold: -1, Economy: winnow.EconomyOff, Systems: winnow.Systems{Reserve: 16_384}},
	} {
		w := newWinnow(t, s)
		h := chat.NewHistory()
		for i := 0; ; i++ {
			h = h.Append(coding(i, i+1)...)
			if st, err := w.Check(chat.Request{History: h}, winnow.State{}); err != nil || st.ShouldCompact {
				break
			}
		}
		r := fit(t, w, chat.Request{History: h}, winnow.State{})
		if !r.Changed || r.After.ShouldCompact {
			t.Errorf("preset %q: after the rewrite %d tokens are left, and another is due from %d on", s.Preset, r.After.Count.Tokens, r.After.Trigger.At(r.After.Limits))
		}
	}
}

// prune_protect and recent_messages say "at least", and mean it where somebody
// sets them: S4.3, S4.5.
func TestAtLeast(t *testing.T) {
	var m []chat.Message
	for i := range 12 {
		m = append(m, user(fmt.Sprintf("step %d", i)))
		m = append(m, did(fmt.Sprint("call-", i), "grep", `{"pattern":"x"}`, strings.Repeat(fmt.Sprintf("result %d of many\n", i), 250))...)
		m = append(m, said("done"))
	}
	h := chat.NewHistory(m...)
	count := token.New(token.O200K, nil)
	for _, protect := range []int{0, 3000, 9000, 12_000} {
		w := newWinnow(t, winnow.Settings{Model: "gpt-4o", Window: 16_000, OutputReserve: 500, Target: 0.2, Systems: winnow.Systems{PruneProtect: protect, PruneMin: 1, Stages: []string{"prune"}}})
		r, err := w.Fit(t.Context(), chat.Request{History: h}, winnow.State{Ask: winnow.Ask{Force: true, BestEffort: true}})
		if err != nil {
			t.Fatal(err)
		}
		if protect == 0 && !r.Changed {
			t.Error("what nobody set is not lowered in a small window")
		}
		whole := 0
		for i := h.Len() - 1; i >= 0 && protect > 0; i-- {
			p := h.At(i).Parts[0]
			if p.Kind != chat.ToolResult {
				continue
			}
			if slices.ContainsFunc(r.Plan.Edits, func(e plan.Edit) bool { return e.From == i && e.Stage == "prune" }) {
				break
			}
			whole += count.At(h, i)
		}
		if whole < protect {
			t.Errorf("of the newest %d tokens of tool output %d stand", protect, whole)
		}
	}
	w := newWinnow(t, winnow.Settings{Preset: "neurolink", Model: "gpt-4o", Window: 40_000, OutputReserve: 500, KeepRecent: 1, Systems: winnow.Systems{RecentRatio: 0.2, Stages: []string{"fold"}}})
	r, err := w.Fit(t.Context(), chat.Request{History: h}, winnow.State{Ask: winnow.Ask{Summarise: true, Focus: "x"}})
	if err != nil {
		t.Fatal(err)
	}
	if last := r.Plan.Edits[0].To; h.Len()-last < 10 { // S4.5
		t.Errorf("%d messages stay of at least 10, a fifth", h.Len()-last)
	}
}

// toolTurn is what the tests of Umbra's split turn begin with: a request and pairs
// exchanges with results of that size.
func toolTurn(pairs, size int) []chat.Message {
	m := []chat.Message{user("find it")}
	for i := range pairs {
		m = append(m, did(fmt.Sprint("tc-", i+1), "grep", fmt.Sprintf(`{"pattern":"query-%d"}`, i+1), fmt.Sprintf(`{"status":"completed","output":%q}`, strings.Repeat("some words ", size/11)))...)
	}
	return m
}

// The tests of Umbra's split turn under the preset umbra: whole requests, through Fit.
func TestVectorDUmbra(t *testing.T) {
	w := newWinnow(t, winnow.Settings{Preset: "umbra", Model: "gpt-4o", Window: 5000, OutputReserve: 500})
	kept := func(v plan.View) (ids []string) {
		for i := range v.Len() {
			for _, p := range v.At(i).Parts {
				if p.Kind == chat.ToolResult {
					ids = append(ids, p.ID)
				}
			}
		}
		return ids
	}
	small := chat.NewHistory(toolTurn(6, 100)...)
	if r := fit(t, w, chat.Request{History: small}, winnow.State{}); r.Plan != nil {
		t.Errorf("D1: what fits is changed: %+v", r.Plan.Edits)
	}
	r := fit(t, w, chat.Request{History: chat.NewHistory(toolTurn(6, 5000)...)}, winnow.State{})
	if got := kept(r.View); !slices.Equal(got, []string{"tc-4", "tc-5", "tc-6"}) {
		t.Errorf("D4, D5: the results of %v stay", got)
	}
	if r.Plan.Edits[0].Stage != "split-turn" {
		t.Errorf("D4: %s made the first edit", r.Plan.Edits[0].Stage)
	}
	contains(t, "D6: the view", text(r.View), "find it", "grep", "query-1")
	turn := toolTurn(6, 5000)
	copy(turn[1:], did("tc-1", "grep", `{"pattern":"`+strings.Repeat("a", 50)+`","in":"`+strings.Repeat("b", 40)+`","third":"ccc"}`, "some words"))
	r = fit(t, w, chat.Request{History: chat.NewHistory(turn...)}, winnow.State{})
	contains(t, "two arguments, cut at 40", text(r.View), "grep(pattern="+strings.Repeat("a", 40)+"…, in="+strings.Repeat("b", 40)+")")

	var found strings.Builder
	for i := range 30 {
		fmt.Fprintf(&found, "src/part%d/handler.ts:%d:  return this.renamed(request) // see http://127.0.0.1:8080\n", i/3, 100+i)
	}
	turn = toolTurn(6, 5000)
	copy(turn[1:], did("tc-1", "grep", `{"pattern":"renamed"}`, found.String()))
	r = fit(t, w, chat.Request{History: chat.NewHistory(turn...)}, winnow.State{})
	contains(t, "every file:line of a result", text(r.View), "src/part4/handler.ts:112,113,114; ", "src/part8/handler.ts:124,125,126")
	copy(turn[1:], did("tc-1", "grep", `{"pattern":"renamed"}`, "src/a/handler.ts:1120: return\n"+strings.Repeat("more of it\n", 400)+"src/a/handler.ts:112: return\n"+strings.Repeat("more of it\n", 400)))
	r = fit(t, w, chat.Request{History: chat.NewHistory(turn...)}, winnow.State{})
	contains(t, "a place that is the start of one that is shown", text(r.View), "src/a/handler.ts:1120,112\n")
}

// As in NeuroLink, the newest 40,000 tokens of results stay, and those of protected
// tools; less than 20,000 saved is not worth it.
func TestNeuroLinkPrunes(t *testing.T) {
	pruned := func(s winnow.Settings, window, results int) (tools []string) {
		t.Helper()
		s.Preset, s.Model, s.Window, s.OutputReserve, s.Stages = "neurolink", "gpt-4o", window, 1000, []string{"prune"}
		m := []chat.Message{user("look at it")}
		for i := range results {
			m = append(m, did(fmt.Sprint("c", i), []string{"bash", "skill"}[i%2], fmt.Sprintf(`{"at":%d}`, i), strings.Repeat(fmt.Sprintf("word%d ", i), 2500))...)
		}
		h := chat.NewHistory(append(m, said("done"), user("and now?"))...)
		r := fit(t, newWinnow(t, s), chat.Request{History: h}, winnow.State{})
		if r.Plan == nil {
			return nil
		}
		for _, e := range r.Plan.Edits {
			if e.Stage == "prune" {
				tools = append(tools, h.At(e.From - 1).Parts[0].Name)
			}
		}
		slices.Sort(tools)
		return slices.Compact(tools)
	}
	for _, c := range []struct {
		name            string
		set             winnow.Settings
		window, results int
		want            []string
	}{
		{"skill is protected", winnow.Settings{}, 130_000, 24, []string{"bash"}},
		{"another one is", winnow.Settings{Systems: winnow.Systems{ProtectedTools: []string{"bash"}}}, 130_000, 24, []string{"skill"}},
		{"none is", winnow.Settings{Systems: winnow.Systems{ProtectedTools: []string{}}}, 130_000, 24, []string{"bash", "skill"}},
		{"too little would go", winnow.Settings{}, 78_500, 14, nil},
		{"a little may go", winnow.Settings{Systems: winnow.Systems{PruneMin: 2000}}, 78_500, 14, []string{"bash"}},
		{"the newest stay", winnow.Settings{Systems: winnow.Systems{PruneProtect: 100_000, PruneMin: 2000}}, 78_500, 14, nil},
	} {
		if got := pruned(c.set, c.window, c.results); !slices.Equal(got, c.want) {
			t.Errorf("%s: results of %v were pruned", c.name, got)
		}
	}
}

// As in PicoClaw, what does not fit loses the older half of its turns, and nothing
// happens before that.
func TestVectorCPicoclaw(t *testing.T) {
	w := newWinnow(t, winnow.Settings{Preset: "picoclaw", Model: "gpt-4o", Window: 12_000, OutputReserve: 500})
	var m []chat.Message
	for i := range 8 {
		m = append(m, user(fmt.Sprintf("question %d: %s", i, strings.Repeat("some words ", 200))), said(fmt.Sprintf("answer %d: %s", i, strings.Repeat("more words ", 200))))
	}
	if r := fit(t, w, chat.Request{History: chat.NewHistory(m[:12]...)}, winnow.State{}); r.Plan != nil {
		t.Errorf("what fits is changed: %d of %d tokens", r.Before.Count.Tokens, r.Before.Limits.Available)
	}
	r := fit(t, w, chat.Request{History: chat.NewHistory(m...)}, winnow.State{})
	if len(r.Plan.Edits) != 1 || r.Plan.Edits[0].Stage != "half" || r.Plan.Edits[0].To != 8 {
		t.Errorf("%+v", r.Plan.Edits)
	}
	// S2.4: the window is four times the output where nothing is known.
	if l := newWinnow(t, winnow.Settings{Preset: "picoclaw", OutputReserve: 8000}).Limits(0); l.Context != 32_000 || l.Available != 24_000 {
		t.Errorf("%+v", l)
	}
}

// As in pi's tests of its cut, through Fit: at least the recent tokens stay, from
// any message on but a tool result, and nothing else limits them.
func TestVectorAKeepsRecent(t *testing.T) {
	for _, name := range []string{"pi", "operator-use"} {
		w := newWinnow(t, winnow.Settings{Preset: name, Model: "gpt-4o", Window: 60_000, OutputReserve: 1000})
		req := chat.Request{History: chat.NewHistory(coding(0, 160)...)}
		r := fit(t, w, req, winnow.State{})
		e := r.Plan.Edits[0]
		if len(r.Plan.Edits) != 1 || e.Stage != "fold" {
			t.Fatalf("%s: %d edits, the first by %s", name, len(r.Plan.Edits), e.Stage)
		}
		count := func(from int) (n int) {
			for i := from; i < req.History.Len(); i++ {
				n += w.Meter().Counter().At(req.History, i)
			}
			return n
		}
		if req.History.At(e.To).Has(chat.ToolResult) || count(e.To) < 16_384 || count(e.To) > 16_384+2000 {
			t.Errorf("%s keeps %d tokens", name, count(e.To))
		}
	}
}

// Under every system's preset Fit keeps its promise, step by step.
func TestSystemsKeepThePromise(t *testing.T) {
	for _, name := range systems {
		c := newWinnow(t, winnow.Settings{Preset: name, Model: "gpt-4o", Window: 12_000, OutputReserve: 500}).Conversation(chat.Request{})
		changed := 0
		for i := range 60 {
			c.Append(coding(i, i+1)...)
			r, err := c.Fit(t.Context())
			if err != nil {
				t.Fatalf("%s, turn %d: %v", name, i, err)
			}
			checkResult(t, c.Request(), r)
			if r.Changed {
				changed++
			}
		}
		if changed == 0 {
			t.Errorf("%s: nothing was ever compacted", name)
		}
	}
}

// recent_ratio and truncate_fraction are settings, and the first exchange stays
// unless it does not fit, which is told: S4.6, S4.19.
func TestFractionAndRatio(t *testing.T) {
	var m []chat.Message
	for i := range 30 {
		m = append(m, user(fmt.Sprintf("question %d: %s", i, strings.Repeat("some words ", 60))), said(fmt.Sprintf("answer %d: %s", i, strings.Repeat("more words ", 60))))
	}
	req := chat.Request{History: chat.NewHistory(append(m, user("and now?"))...)}
	force := winnow.State{Ask: winnow.Ask{Summarise: true, Focus: "x"}}
	for _, ratio := range []float64{0.3, 0.6} {
		w := newWinnow(t, winnow.Settings{Preset: "neurolink", Model: "gpt-4o", Window: 100_000, OutputReserve: 500, KeepRecent: 1, Systems: winnow.Systems{RecentRatio: ratio}})
		r := fit(t, w, req, force)
		if stay := req.History.Len() - r.Plan.Edits[0].To; float64(stay) < ratio*61 || float64(stay) > ratio*61+3 {
			t.Errorf("ratio %v: %d messages of 61 stay", ratio, stay)
		}
	}
	for _, fraction := range []float64{0, 0.5, 0.8} {
		w := newWinnow(t, winnow.Settings{Model: "gpt-4o", Window: 9000, OutputReserve: 500, Target: 0.75, Systems: winnow.Systems{Stages: []string{"limit", "truncate"}, TruncateFraction: fraction}})
		r := fit(t, w, req, winnow.State{})
		e := r.Plan.Edits[0]
		if gone := float64(e.To-e.From) / 58; e.From != 2 || gone < fraction-0.04 || fraction > 0 && gone > fraction+0.04 || fraction == 0 && gone > 0.4 {
			t.Errorf("fraction %v: messages %d to %d go", fraction, e.From, e.To)
		}
		contains(t, "the view", text(r.View), "question 0:", "answer 0:", "and now?")
	}
	large := chat.NewHistory(append([]chat.Message{user(strings.Repeat("a long first request ", 2500)), said("yes")}, m...)...)
	w := newWinnow(t, winnow.Settings{Model: "gpt-4o", Window: 9000, OutputReserve: 500, Systems: winnow.Systems{Stages: []string{"truncate"}}})
	r := fit(t, w, chat.Request{History: large}, winnow.State{})
	if r.Plan.Edits[0].From != 0 || !strings.Contains(strings.Join(r.Notes, " "), "the first exchange goes too") {
		t.Errorf("%v, notes %q", r.Plan, r.Notes)
	}
}
