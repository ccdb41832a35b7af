package plan_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/winnow-llm/winnow/chat"
	"github.com/winnow-llm/winnow/plan"
)

var update = flag.Bool("update", false, "write the golden files anew")

// storyHistory and storyPlan have something of everything.
func storyHistory() chat.History { return hist("u th(A,B) t(A) a u th(C) t(C) a u tc(D) t(D) a u") }

func storyPlan(t testing.TB) *plan.Plan {
	h := storyHistory()
	rules := chat.Rules{Alternate: true, BoundThinking: true}
	m := mask(6, 0, `skeleton: <main.go:12> & "x"`)
	m.Handle, m.Why = plan.Handle(h, 6, 7, 0), "old output"
	m.Before, m.After = chat.Size{Tokens: 900, Bytes: 3600}, chat.Size{Tokens: 40, Bytes: 160}
	p := compose(t, nil, h.Head(8), rules, m, answer(1, 2, "B", "[no result]"), mask(3, 0, "short"))
	f := fold(0, 8, "what happened so far", 4)
	f.Prose, f.Handle, f.Why = "it went well", plan.Handle(h, 0, 8, -1), "older than the tail"
	f.Before, f.After = chat.Size{Tokens: 5000, Bytes: 20000, Images: 1}, chat.Size{Tokens: 300, Bytes: 1200}
	return compose(t, p, h, rules, f, mask(10, 0, "limited"))
}

func TestGoldenPlan(t *testing.T) {
	p := storyPlan(t)
	data, err := json.Marshal(p)
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	if err := json.Indent(&b, data, "", "\t"); err != nil {
		t.Fatal(err)
	}
	b.WriteByte('\n')
	name := filepath.Join("testdata", "plan.json")
	if *update {
		if err := os.WriteFile(name, b.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(b.Bytes(), want) {
		t.Errorf("the plan is written as\n%s\nand not as in %s; if the change is meant, raise plan.Version and run with -update", b.Bytes(), name)
	}
	q, err := plan.Decode(want)
	if err != nil {
		t.Fatal(err)
	}
	if q.ID() != p.ID() || q.Linked() {
		t.Errorf("%s was read as %s", p, q)
	}
	if a, b := show(apply(t, storyHistory(), p)), show(apply(t, storyHistory(), q)); a != b {
		t.Errorf("%s\nwas read as\n%s", a, b)
	}
	var r struct{ Plan *plan.Plan }
	if err := json.Unmarshal([]byte(`{"Plan":`+string(want)+`}`), &r); err != nil || r.Plan.ID() != p.ID() {
		t.Errorf("inside another document: %v", err)
	}
}

func TestDecodeRefuses(t *testing.T) {
	data, err := storyPlan(t).File()
	if err != nil {
		t.Fatal(err)
	}
	good := string(data)
	swap := func(old, new string) string {
		if !strings.Contains(good, old) {
			t.Fatalf("the plan has no %s", old)
		}
		return strings.Replace(good, old, new, 1)
	}
	prefix := storyPlan(t).Prefix.String()
	id := `"id":"` + string(storyPlan(t).ID()) + `",`
	for _, c := range []struct{ name, in, want string }{
		{"nothing", "", "not a plan file"},
		{"another kind of file", `{"messages":[]}`, "not a plan file"},
		{"an array", `[]`, "not a plan file"},
		{"null", `null`, "version 0"},
		{"cut off", good[:len(good)/2], "not a plan file"},
		{"something after it", good + "{}", "there is more after"},
		{"another version", swap(`"winnow_plan":2`, `"winnow_plan":3`), "version 3 of the plan format; this program reads version 2"},
		{"an unknown field", swap(`"len":13`, `"len":13,"colour":1`), "colour"},
		{"a changed text", swap("what happened so far", "what did not happen"), "the file was changed"},
		{"a changed place", swap(`"part":0,"text":"limited"`, `"part":1,"text":"limited"`), "the file was changed"},
		{"a hash that is none", swap(prefix, "zz"+prefix[2:]), "not a plan file"},
		{"another history's hash", swap(prefix, hist("u").Chain(1).String()), "the file was changed"},
		{"a changed length", swap(`"len":13`, `"len":14`), "the file was changed"},
		{"a run beyond the end", swap(`"from":0,"to":8`, `"from":0,"to":80`), "messages 0 to 80 of 13"},
		{"an edit twice", swap(`"edits":[`, `"edits":[{"kind":"fold","from":0,"to":8,"part":-1,"text":"x","stage":"s","before":{"tokens":0,"bytes":0},"after":{"tokens":0,"bytes":0}},`), "out of order or twice"},
		{"a kind that is none", swap(`"kind":"fold"`, `"kind":"melt"`), `unknown kind "melt"`},
		{"a join that is none", swap(`"join":"all"`, `"join":"some"`), `unknown join "some"`},
		{"results by nobody", swap(`"results":"tool"`, `"results":"system"`), `role "system"`},
		{"a strip beyond the end", swap(`"strip":[{"from":0`, `"strip":[{"from":99`), "strip 99"},
		{"a negative strip", swap(`"strip":[{"from":0`, `"strip":[{"from":-1`), "strip -1"},
		{"a seal beyond the end", strings.Replace(swap(id, ""), `"join":"all"`, `"join":"all","seals":[14]`, 1), "seal at 14"},
		{"a replaced edit beyond the end", strings.Replace(good, `"kind":"answer","from":1,"to":2`, `"kind":"answer","from":100,"to":101`, 1), "replaced edit 0: messages 100 to 101"},
	} {
		t.Run(c.name, func(t *testing.T) {
			p, err := plan.Decode([]byte(c.in))
			if err == nil {
				t.Fatalf("it was read as %s", p)
			}
			if !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "\n") {
				t.Errorf("error %q, want %q", err, c.want)
			}
		})
	}
	if _, err := plan.Decode([]byte(swap("what happened so far", "x"))); !errors.Is(err, plan.ErrInvalid) {
		t.Errorf("a changed file gives %v", err)
	}
	p := new(plan.Plan)
	if err := json.Unmarshal([]byte(`{"winnow_plan":7}`), p); err == nil {
		t.Error("UnmarshalJSON reads what Decode refuses")
	}
}

// A plan that someone wrote by hand has no id and no makers: both are found.
func TestDecodeByHand(t *testing.T) {
	h := hist("u a u")
	in := `{"winnow_plan":2,"prefix":"` + h.Chain(3).String() + `","len":3,
		"edits":[{"kind":"fold","from":0,"to":2,"part":-1,"text":"sum","stage":"hand"}]}`
	p, err := plan.Decode([]byte(in))
	if err != nil {
		t.Fatal(err)
	}
	if got := show(apply(t, h, p)); got != "y[sum] u[u 2]" || p.ID() == "" || p.Edits[0].Made != p.ID() {
		t.Errorf("%s: %s", p, got)
	}
	if _, err := plan.Undo(p, p.ID(), h, free); err != nil {
		t.Error(err)
	}
}

// Edits of a plan without an id are checked against the history as those of
// every other plan were when it was made.
func TestDecodeByHandChecks(t *testing.T) {
	h := hist("u tc(A) t(A) u")
	for edit, want := range map[string]string{
		`{"kind":"fold","from":0,"to":2,"part":-1,"text":"sum"}`: "splits an exchange",
		`{"kind":"mask","from":1,"to":2,"part":0,"text":"gone"}`: "only become a JSON object",
		`{"kind":"answer","from":0,"to":1,"part":0,"text":"x"}`:  "neither a call nor a result",
	} {
		p, err := plan.Decode([]byte(`{"winnow_plan":2,"prefix":"` + h.Chain(4).String() + `","len":4,"edits":[` + edit + `]}`))
		if err != nil {
			t.Fatal(err)
		}
		if v, err := plan.Apply(h, p); !errors.Is(err, plan.ErrInvalid) || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, %v", edit, v, err)
		}
	}
}

// Whatever Decode accepts can be written again, applied, recalled from and
// taken back without a panic, even to a history it was not made for.
func FuzzDecode(f *testing.F) {
	data, err := json.Marshal(storyPlan(f))
	if err != nil {
		f.Fatal(err)
	}
	f.Add(data)
	empty, _ := json.Marshal(compose(f, nil, chat.History{}, free))
	f.Add(empty)
	f.Add([]byte(`{"winnow_plan":2,"len":4,"edits":[{"kind":"answer","from":1,"to":2,"part":0,"text":"x","call_id":"A"}]}`))
	f.Add([]byte(`{"winnow_plan":2,"len":4,"edits":[{"kind":"drop","from":4,"to":4,"part":-1,"text":"x"}],"replaced":[{"kind":"mask","from":0,"to":1,"part":7,"text":""}]}`))
	f.Add([]byte(`{"winnow_plan":2,"len":5,"join":"calls","seals":[1,3],"strip":[{"from":1,"to":2}],"edits":[{"kind":"fold","from":0,"to":5,"part":-1,"text":"x","keep":[1,3]}]}`))
	h := chat.NewHistory(append(storyHistory().Messages(), chat.Message{Role: chat.Tool}, chat.Message{Role: chat.Assistant})...)
	f.Fuzz(func(t *testing.T, data []byte) {
		p, err := plan.Decode(data)
		if err != nil {
			return
		}
		again, err := json.Marshal(p)
		if err != nil {
			t.Fatal(err)
		}
		q, err := plan.Decode(again)
		if err != nil || q.ID() != p.ID() {
			t.Fatalf("written and read again: %v", err)
		}
		if p.Len > h.Len() {
			return
		}
		p.Prefix = h.Chain(p.Len)
		v, err := plan.Apply(h, p)
		if err != nil {
			return
		}
		show(v)
		for i := range v.Len() {
			v.Origin(i)
		}
		for _, e := range append(p.Edits, p.Replaced...) {
			if _, err := plan.Recall(h, p, e.Handle); err != nil && e.Handle != "" {
				t.Fatal(err)
			}
		}
		for _, id := range p.Makers() {
			if u, err := plan.Undo(p, id, h, chat.AllDialects()); err == nil {
				if _, err := plan.Apply(h, u); err != nil {
					t.Fatal(err)
				}
			}
		}
		plan.NewReport(v, chat.Size{}, chat.Size{}, stageNames)
	})
}
