package transport

import (
	"encoding/json"

	"github.com/winnow-llm/winnow"
	"github.com/winnow-llm/winnow/chat"
	"github.com/winnow-llm/winnow/internal/planstore"
	"github.com/winnow-llm/winnow/internal/redact"
	"github.com/winnow-llm/winnow/plan"
	"github.com/winnow-llm/winnow/token"
)

// Redactor takes secrets out of what is stored. [session.Redactor] is one.
//
// A plan is stored, and what it says is sent with every request that follows.
// Both must be the same bytes. So the texts of new edits are redacted before
// their plan is sealed: the model too sees them without the secrets. Messages
// that no edit touches are sent as they came, and are not in the plan.
//
// [session.Redactor]: https://pkg.go.dev/github.com/winnow-llm/winnow/session#Redactor
type Redactor interface {
	// Text returns a text without secrets, and how many there were.
	Text(s string) (clean string, secrets int)

	// Record returns a JSON document without secrets in any of its texts.
	Record(raw []byte) []byte
}

// finder is what a [Redactor] may be, too: it says which secrets stand in a text,
// so that pieces of them can be found in texts made from it.
type finder interface {
	Secrets(s string) []string
}

// secretsIn returns the secrets of the messages that an edit stands for. A state
// tells of all messages before it.
func (t *Transport) secretsIn(h chat.History, e *plan.Edit) []string {
	f, ok := t.opts.Redact.(finder)
	if !ok {
		return nil
	}
	from, to := e.From, min(e.To, h.Len())
	if e.Kind == plan.State {
		from, to = 0, h.Len()
	}
	var found []string
	var look func(parts []chat.Part)
	look = func(parts []chat.Part) {
		for i := range parts {
			p := &parts[i]
			text := p.Text
			if file, ok := token.FileText(p); ok {
				text = file
			}
			for _, s := range []string{text, p.Args} {
				if s != "" {
					found = append(found, f.Secrets(s)...)
				}
			}
			look(p.Content)
		}
	}
	for i := from; i < to; i++ {
		look(h.At(i).Parts)
	}
	return found
}

// redactEdits takes secrets out of the texts of edits over a history. It reports whether
// there were any.
func (t *Transport) redactEdits(h chat.History, edits []plan.Edit, counter *token.Counter) bool {
	if t.opts.Redact == nil {
		return false
	}
	found := 0
	for i := range edits {
		e := &edits[i]
		secrets := t.secretsIn(h, e)
		for _, s := range []*string{&e.Text, &e.Prose, &e.Why} {
			text, n := t.opts.Redact.Text(*s)
			text, pieces := redact.Without(text, secrets)
			if n += pieces; n == 0 {
				continue
			}
			found += n
			if s == &e.Text {
				e.After.Bytes += len(text) - len(e.Text)
				e.After.Tokens += counter.Text(text) - counter.Text(e.Text)
			}
			*s = text
		}
	}
	return found > 0
}

// redactPlan replaces a plan that was just made by the same one without secrets.
func (in *incoming) redactPlan(req chat.Request, s winnow.State, r *winnow.Result) error {
	if in.t.opts.Redact == nil || r.Plan == nil || r.Plan.ID() == s.Plan.ID() {
		return nil
	}
	added, released := compareEdits(s.Plan, r.Plan)
	if !in.t.redactEdits(req.History, added, in.engine.Meter().Counter()) {
		return nil
	}
	p, err := plan.Compose(s.Plan, req.History, req.Rules, released, added...)
	if err != nil {
		return err
	}
	view, err := plan.Apply(req.History, p)
	if err != nil {
		return err
	}
	s.Plan = p
	after, err := in.engine.Check(req, s)
	if err != nil {
		return err
	}
	r.Plan, r.View, r.After = p, view, after
	return nil
}

// planOver returns a plan as it applies to a conversation that was stored for it; nil
// where it does not. A conversation that was redacted has other hashes than the plan
// was made for; its own say that it is the one.
func planOver(o *planstore.Original, h chat.History, p *plan.Plan) *plan.Plan {
	if p.Covers(h) {
		return p
	}
	if o.Len != p.Len || o.Prefix != p.Prefix || h.Len() < p.Len {
		return nil
	}
	data, err := json.Marshal(&plan.Plan{
		Prefix: h.Chain(p.Len), Len: p.Len, Edits: p.Edits, Strip: p.Strip, Join: p.Join, Seals: p.Seals,
		Results: p.Results, Parent: p.Parent,
	})
	if err != nil {
		return nil
	}
	q, err := plan.Decode(data) // that gives it an id of its own
	if err != nil {
		return nil
	}
	return q
}
