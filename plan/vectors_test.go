package plan_test

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"reflect"
	"testing"

	"github.com/winnow-llm/winnow/chat"
	"github.com/winnow-llm/winnow/plan"
)

// The files in testdata/vectors say in a neutral form what plans do, so that
// an implementation in another language can be held to them. A case has a
// history and steps; each step composes a plan over the history's first "len"
// messages on top of the step before, or takes back the plan of step "undo".
// The last plan, applied to the whole history, gives "view". "prefix" and "id"
// are the last plan's.
type vectorFile struct {
	About string       `json:"about"`
	Cases []vectorCase `json:"cases"`
}

type vectorCase struct {
	Name    string       `json:"name"`
	Rules   vectorRules  `json:"rules"`
	History []vectorMsg  `json:"history"`
	Steps   []vectorStep `json:"steps"`
	Prefix  chat.Hash    `json:"prefix"`
	ID      plan.ID      `json:"id"`
	View    []vectorMsg  `json:"view"`
}

type vectorRules struct {
	CallAfterInput bool `json:"call_after_input,omitempty"`
	Alternate      bool `json:"alternate,omitempty"`
	ResultsJoined  bool `json:"results_joined,omitempty"`
	BoundThinking  bool `json:"bound_thinking,omitempty"`
}

type vectorStep struct {
	Len     int          `json:"len"`
	Undo    *int         `json:"undo,omitempty"`
	Release []vectorRef  `json:"release,omitempty"`
	Edits   []vectorEdit `json:"edits,omitempty"`
}

type vectorRef struct {
	From int `json:"from"`
	Part int `json:"part"`
}

type vectorEdit struct {
	Kind   plan.Kind `json:"kind"`
	From   int       `json:"from"`
	To     int       `json:"to"`
	Part   int       `json:"part"`
	Keep   []int     `json:"keep,omitempty"`
	Text   string    `json:"text"`
	CallID string    `json:"call_id,omitempty"`
}

type vectorMsg struct {
	Role      chat.Role    `json:"role"`
	Synthetic bool         `json:"synthetic,omitempty"`
	Parts     []vectorPart `json:"parts"`
}

type vectorPart struct {
	Kind      string       `json:"kind"`
	Text      string       `json:"text,omitempty"`
	ID        string       `json:"id,omitempty"`
	Name      string       `json:"name,omitempty"`
	Args      string       `json:"args,omitempty"`
	Media     string       `json:"media,omitempty"`
	Data      string       `json:"data,omitempty"`
	Signature string       `json:"signature,omitempty"`
	Failed    bool         `json:"failed,omitempty"`
	Content   []vectorPart `json:"content,omitempty"`
}

func neutral(s chat.Sequence) []vectorMsg {
	var out []vectorMsg
	for i := range s.Len() {
		m := s.At(i)
		out = append(out, vectorMsg{m.Role, m.Synthetic, neutralParts(m.Parts)})
	}
	return out
}

func neutralParts(parts []chat.Part) []vectorPart {
	var out []vectorPart
	for _, p := range parts {
		out = append(out, vectorPart{p.Kind.String(), p.Text, p.ID, p.Name, p.Args, p.Media, p.Data, p.Signature, p.Failed, neutralParts(p.Content)})
	}
	return out
}

func fromNeutral(t *testing.T, msgs []vectorMsg) chat.History {
	var out []chat.Message
	for _, m := range msgs {
		out = append(out, chat.Message{Role: m.Role, Synthetic: m.Synthetic, Parts: fromParts(t, m.Parts)})
	}
	return chat.NewHistory(out...)
}

func fromParts(t *testing.T, parts []vectorPart) []chat.Part {
	var out []chat.Part
	for _, p := range parts {
		kind := chat.Text
		for kind.String() != p.Kind {
			if kind++; kind > chat.Opaque {
				t.Fatalf("no part is called %q", p.Kind)
			}
		}
		out = append(out, chat.Part{
			Kind: kind, Text: p.Text, ID: p.ID, Name: p.Name, Args: p.Args, Media: p.Media, Data: p.Data,
			Signature: p.Signature, Failed: p.Failed, Content: fromParts(t, p.Content),
		})
	}
	return out
}

// run composes the case's plans and returns the last one with its view.
func (c *vectorCase) run(t *testing.T) (*plan.Plan, plan.View) {
	h := fromNeutral(t, c.History)
	rules := chat.Rules{
		Name: "vectors", CallAfterInput: c.Rules.CallAfterInput, Alternate: c.Rules.Alternate,
		ResultsJoined: c.Rules.ResultsJoined, BoundThinking: c.Rules.BoundThinking,
	}
	var plans []*plan.Plan
	var p *plan.Plan
	for i, s := range c.Steps {
		var err error
		if s.Undo != nil {
			p, err = plan.Undo(p, plans[*s.Undo].ID(), h.Head(s.Len), rules)
		} else {
			var edits []plan.Edit
			for _, e := range s.Edits {
				edits = append(edits, plan.Edit{Kind: e.Kind, From: e.From, To: e.To, Part: e.Part, Keep: e.Keep, Text: e.Text, CallID: e.CallID, Stage: "vectors"})
			}
			var release []plan.Ref
			for _, r := range s.Release {
				release = append(release, plan.Ref(r))
			}
			p, err = plan.Compose(p, h.Head(s.Len), rules, release, edits...)
		}
		if err != nil {
			t.Fatalf("step %d: %v", i, err)
		}
		plans = append(plans, p)
	}
	return p, apply(t, h, p)
}

func TestVectors(t *testing.T) {
	names, err := filepath.Glob(filepath.Join("testdata", "vectors", "*.json"))
	if err != nil || len(names) == 0 {
		t.Fatalf("no vectors: %v", err)
	}
	for _, name := range names {
		data, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		var file vectorFile
		dec := json.NewDecoder(bytes.NewReader(data))
		dec.DisallowUnknownFields()
		if err := dec.Decode(&file); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		for i := range file.Cases {
			c := &file.Cases[i]
			t.Run(filepath.Base(name)+"/"+c.Name, func(t *testing.T) {
				p, v := c.run(t)
				if *update {
					c.Prefix, c.ID, c.View = p.Prefix, p.ID(), neutral(v)
					return
				}
				if got := neutral(v); !reflect.DeepEqual(got, c.View) {
					t.Errorf("the view is\n%s\nand not\n%s", show(v), show(fromNeutral(t, c.View)))
				}
				if p.ID() != c.ID || p.Prefix != c.Prefix {
					t.Errorf("the plan is %s over %s, not %s over %s", p.ID(), p.Prefix, c.ID, c.Prefix)
				}
			})
		}
		if *update {
			var b bytes.Buffer
			enc := json.NewEncoder(&b)
			enc.SetEscapeHTML(false)
			enc.SetIndent("", " ")
			if err := enc.Encode(file); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(name, b.Bytes(), 0o644); err != nil {
				t.Fatal(err)
			}
		}
	}
}
