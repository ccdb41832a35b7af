package winnow_test

import (
	"context"
	"encoding/json"
	"errors"
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/winnow-llm/winnow"
	"github.com/winnow-llm/winnow/chat"
	"github.com/winnow-llm/winnow/plan"
)

// The defaults are promised: a change of one is a change for everybody who sets nothing.
func TestSettingsDefaults(t *testing.T) {
	want := winnow.Settings{
		Threshold: 0.90, Target: 0.45, // of the room
		Economy: winnow.EconomyOff, CommitFloor: 64000,
		Systems: winnow.Systems{
			Stages:    []string{"limit", "ladder"},
			ItemBytes: 51200, ItemLines: 2000, ItemKeep: "both", // S4.12
			FileShare:    0.60,                                                      // S4.18
			PruneProtect: 40000, PruneMin: 20000, ProtectedTools: []string{"skill"}, // S4.3
			Tail:      3,                             // S0.1
			Estimator: "winnow", SummaryRole: "user", // S4.23, S4.22
		},
	}
	for name, got := range map[string]winnow.Settings{
		"WithDefaults": winnow.Settings{}.WithDefaults(),
		"New":          newWinnow(t, winnow.Settings{}).Settings(),
	} {
		if !reflect.DeepEqual(got, want) {
			t.Errorf("%s: %+v\nwant %+v", name, got, want)
		}
	}
	w, err := winnow.New(nil)
	if err != nil || !reflect.DeepEqual(w.Settings(), want) {
		t.Errorf("no options: %v", err)
	}
}

// Every value that makes no sense is refused with the name of its field.
func TestSettingsRefused(t *testing.T) {
	for field, s := range map[string][]winnow.Settings{
		"threshold":          {{Threshold: 1.5}, {Threshold: math.NaN()}, {Threshold: math.Inf(1)}, {Threshold: -1}, {Threshold: -1, Systems: winnow.Systems{Reserve: -1}}},
		"target":             {{Target: 1.1}, {Target: -0.5}, {Target: 0.9}, {Target: 0.5, Threshold: 0.4}, {Target: math.NaN()}},
		"window":             {{Window: -1}},
		"output_reserve":     {{OutputReserve: -1}},
		"max_bytes":          {{MaxBytes: -2}},
		"systems.tail":       {{Systems: winnow.Systems{Tail: -3}}},
		"systems.file_share": {{Systems: winnow.Systems{FileShare: -0.5}}, {Systems: winnow.Systems{FileShare: 1.2}}},
		"systems.stages":     {{Systems: winnow.Systems{Stages: []string{"limit", "shrink"}}}},
	} {
		for _, s := range s {
			_, err := winnow.New(&winnow.Options{Settings: s})
			var bad *winnow.SettingsError
			if !errors.As(err, &bad) || bad.Field != field {
				t.Errorf("%s: %+v gives %v", field, s, err)
				continue
			}
			if !strings.Contains(err.Error(), field) || bad.Problem == "" {
				t.Errorf("%s: the message says %q", field, err)
			}
		}
	}
}

// Fields are named in errors as they are in files.
func TestSettingsJSON(t *testing.T) {
	in := `{"disabled":true,"model":"gpt-4o","window":9000,"threshold":0.7,"systems":{"tail":-1,"stages":["prune","half"],"protected_tools":[]},"focus":"the API"}`
	var s winnow.Settings
	if err := json.Unmarshal([]byte(in), &s); err != nil {
		t.Fatal(err)
	}
	out, err := json.Marshal(s)
	if err != nil || !strings.Contains(string(out), `"systems":{"stages":["prune","half"],"tail":-1}`) {
		t.Errorf("%s, %v", out, err)
	}
}

// -1 switches a thing off.
func TestSettingsNegativeIsOff(t *testing.T) {
	s := winnow.Settings{
		Threshold: -1, KeepRecent: -1,
		Systems: winnow.Systems{Reserve: 1000, ItemBytes: -1, ItemLines: -1, PruneProtect: -1, PruneMin: -1, Tail: -1},
	}
	got := newWinnow(t, s).Settings()
	v := reflect.ValueOf(got)
	for _, name := range []string{"Threshold", "ItemBytes", "ItemLines", "PruneProtect", "PruneMin", "Tail", "KeepRecent"} {
		if !v.FieldByName(name).IsZero() {
			t.Errorf("%s is %v", name, v.FieldByName(name))
		}
	}
	if got := newWinnow(t, winnow.Settings{Systems: winnow.Systems{Reserve: -1}}).Settings().Reserve; got != 0 {
		t.Errorf("reserve is %d", got)
	}
	// And it has an effect: with all of them off Fit still keeps its promise.
	s.Model, s.Window, s.OutputReserve = "gpt-4o", 8000, 500
	fit(t, newWinnow(t, s), chat.Request{History: chat.NewHistory(coding(0, 40)...)}, winnow.State{})
}

// Without the threshold the reserve alone decides, and the other way round.
func TestSettingsTriggers(t *testing.T) {
	all := chat.NewHistory(coding(0, 480)...)
	at := func(s winnow.Settings) int {
		s.Model, s.Window, s.OutputReserve, s.Economy, s.Exact = "gpt-4o", 200_000, 1000, winnow.EconomyOff, true
		w := newWinnow(t, s)
		lo, hi := 0, 480
		for lo < hi { // the first number of turns that asks for compaction
			mid := (lo + hi) / 2
			st, err := w.Check(chat.Request{History: all.Head(mid * turnLen)}, winnow.State{})
			if err != nil {
				t.Fatal(err)
			}
			if st.ShouldCompact {
				hi = mid
			} else {
				lo = mid + 1
			}
		}
		st, _ := w.Check(chat.Request{History: all.Head(lo * turnLen)}, winnow.State{})
		return st.Count.Tokens
	}
	for _, c := range []struct {
		name string
		s    winnow.Settings
		want int
	}{
		{"threshold alone", winnow.Settings{}, 179_100},
		{"reserve alone", winnow.Settings{Threshold: -1, Systems: winnow.Systems{Reserve: 16_384}}, 183_616},
		{"a lower threshold", winnow.Settings{Threshold: 0.5, Target: 0.3, Systems: winnow.Systems{Reserve: -1}}, 99_500},
	} {
		if got := at(c.s); got <= c.want || got > c.want+1000 {
			t.Errorf("%s: compaction from %d on, want just above %d", c.name, got, c.want)
		}
	}
}

// Stages that are not named do not run, also when none is named.
func TestSettingsStages(t *testing.T) {
	req := chat.Request{History: chat.NewHistory(coding(0, 40)...)}
	refused := 0
	for _, stages := range [][]string{{}, {"prune"}, {"fold"}, {"half"}, {"truncate"}, {"limit", "supersede", "prune", "split-turn"}} {
		s := small
		s.Stages = stages
		r, err := newWinnow(t, s).Fit(t.Context(), req, winnow.State{})
		if err != nil {
			var cannot *winnow.CannotFitError
			if slices.Contains(stages, "truncate") || !errors.As(err, &cannot) || cannot.Code() != "stage_off" || !slices.Contains(cannot.Off, "truncate") || !strings.Contains(err.Error(), "switched off: ") {
				t.Errorf("stages %v: %v", stages, err)
			}
			refused++
			continue
		}
		for _, e := range r.Plan.Edits {
			if e.Kind == plan.State && slices.Contains(stages, "fold") {
				continue // it stands after a fold
			}
			if !slices.Contains(stages, e.Stage) {
				t.Errorf("stages %v: an edit by %s", stages, e.Stage)
			}
		}
	}
	if refused == 0 {
		t.Error("without any stage it fits")
	}
	// Where it cannot fit with all stages either, no stage is to blame.
	s := small
	s.Stages = []string{"prune"}
	if e := cannotFit(t, newWinnow(t, s), chat.Request{History: chat.NewHistory(user(lines("huge", 4000)))}, winnow.State{}); e.Code() != "cannot_fit" {
		t.Errorf("%s: %v", e.Code(), e)
	}
	if got, want := winnow.StageNames(), []string{"limit", "ladder", "supersede", "prune", "split-turn", "fold", "truncate", "half"}; !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}

// The order of the names in the settings does not matter.
func TestSettingsStageOrder(t *testing.T) {
	req := chat.Request{History: chat.NewHistory(coding(0, 40)...)}
	a, b := small, small
	a.Stages = []string{"prune", "fold", "truncate"}
	b.Stages = []string{"truncate", "fold", "prune"}
	if x, y := fit(t, newWinnow(t, a), req, winnow.State{}), fit(t, newWinnow(t, b), req, winnow.State{}); x.Plan.ID() != y.Plan.ID() {
		t.Errorf("plans %s and %s", x.Plan.ID(), y.Plan.ID())
	}
}

func TestDisabled(t *testing.T) {
	s := small
	s.Disabled = true
	w := newWinnow(t, s)
	req := chat.Request{History: chat.NewHistory(coding(0, 60)...)}
	r, err := w.Fit(context.Background(), req, winnow.State{})
	if err != nil || r.Plan != nil || r.Changed || !r.Before.ShouldCompact || r.View.Len() != req.History.Len() {
		t.Errorf("plan %v, measured %v, %v", r.Plan, r.Before.ShouldCompact, err)
	}
	// Repair is not compaction: a broken history is still mended, and only that.
	broken := req.History.Append(chat.CallMessage("", chat.Call("lost", "x", "{}")), user("and?"))
	r, err = w.Fit(context.Background(), chat.Request{History: broken}, winnow.State{})
	if err != nil || r.Plan == nil || len(r.Plan.Edits) != 1 || r.Plan.Edits[0].Stage != "repair" {
		t.Errorf("%v, %v", r.Plan, err)
	}
	// Who asks for it gets it.
	if r := fit(t, w, req, winnow.State{Ask: winnow.Ask{Force: true}}); r.Plan == nil {
		t.Error("a forced compaction did nothing")
	}
}

// A threshold in tokens starts compaction whatever the window is, and the
// target stays below it.
func TestSettingsThresholdTokens(t *testing.T) {
	h := chat.NewHistory()
	for range 40 {
		h = h.Append(chat.TextMessage(chat.User, strings.Repeat("some words of a question ", 60)), chat.TextMessage(chat.Assistant, strings.Repeat("some words of an answer ", 60)))
	}
	req := chat.Request{History: h}
	for _, c := range []struct {
		tokens int
		due    bool
	}{{0, false}, {1_000_000, false}, {10_000, true}} {
		w, err := winnow.New(&winnow.Options{Settings: winnow.Settings{Window: 1_000_000, ThresholdTokens: c.tokens, KeepRecent: 1000}})
		if err != nil {
			t.Fatal(err)
		}
		r, err := w.Fit(t.Context(), req, winnow.State{})
		if err != nil {
			t.Fatal(err)
		}
		if r.Before.ShouldCompact != c.due || c.due && r.After.Count.Upper() > c.tokens {
			t.Errorf("threshold of %d tokens: due %v, %d -> %d tokens", c.tokens, r.Before.ShouldCompact, r.Before.Count.Tokens, r.After.Count.Tokens)
		}
	}
}

func TestPresetsAreValid(t *testing.T) {
	for _, name := range winnow.PresetNames() {
		s, err := winnow.Preset(name)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := winnow.New(&winnow.Options{Settings: s}); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if len(s.Stages) == 0 {
			continue
		}
		s.Stages[0] = "changed"
		if again, _ := winnow.Preset(name); again.Stages[0] == "changed" {
			t.Errorf("%s: a caller changed the preset for everybody", name)
		}
	}
	_, err := winnow.Preset("boldest")
	var e *winnow.SettingsError
	if !errors.As(err, &e) || e.Field != "preset" {
		t.Errorf("an unknown preset: %v", err)
	}
}
