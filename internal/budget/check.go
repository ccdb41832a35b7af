package budget

import (
	"hash/maphash"
	"math"

	"github.com/winnow-llm/winnow/chat"
	"github.com/winnow-llm/winnow/plan"
	"github.com/winnow-llm/winnow/token"
)

// Breakdown says what the tokens of a request are spent on. System, tools and what
// is unseen are the fixed part; with history and prompt they add up to the total.
type Breakdown struct {
	Total       int `json:"total"`
	System      int `json:"system"`
	History     int `json:"history"`     // messages up to the last assistant message
	Prompt      int `json:"prompt"`      // messages after it
	Tools       int `json:"tools"`       // definitions
	Attachments int `json:"attachments"` // images and documents, counted in history and prompt too

	// Unseen is what the provider counts in every request and nobody shows: of an
	// agent's file mostly its system prompt and tools.
	Unseen int `json:"unseen"`
}

// Status is a request set against its limits.
type Status struct {
	Tokens Breakdown
	Count  token.Count // of the whole request, with method and band
	Bytes  int
	Images int
	Limits Limits

	// Doubt says why Limits may not be those of the model: "" where they are. The
	// caller fills it in, since this package knows no models.
	Doubt string

	// Scale turns the counter's estimates of messages into what the provider is
	// expected to report; 1 without reported usage. The rest of the request is
	// Limits.Fixed, which no scale is for.
	Scale float64

	// Ratio is the upper end of the count over the available input.
	Ratio float64
	// ShouldCompact says that the trigger is reached, Fits that the request
	// can be sent as it is.
	ShouldCompact, Fits bool
	// Over names what is over its limit: tokens, bytes, images.
	Over []string

	// Commit is where a rewrite pays by the model's prices; zero where that was
	// not asked for or is not known.
	Commit Commit

	// Trigger decided about ShouldCompact. See [Status.Due] for what follows from
	// it.
	Trigger Trigger

	seen struct{ system, tools int } // by the counter
}

// seed makes the key under which [Meter.Fixed] remembers its measures.
var seed = maphash.MakeSeed()

// Fixed measures what every request carries whatever its messages are: system
// prompt, tool definitions and the overhead of a conversation. The measure is
// remembered by content.
func (m *Meter) Fixed(req *chat.Request) (system, tools chat.Size) {
	var hash maphash.Hash
	hash.SetSeed(seed)
	for i := range req.System {
		p := &req.System[i]
		hash.WriteByte(byte(p.Kind))
		hash.WriteString(p.Text)
		hash.WriteString(p.Data)
	}
	for i := range req.Tools {
		t := &req.Tools[i]
		hash.WriteByte(0xff)
		hash.WriteString(t.Name)
		hash.WriteString(t.Description)
		hash.WriteString(t.Schema)
	}
	key := hash.Sum64()
	m.mu.Lock()
	f, ok := m.fixed[key]
	m.mu.Unlock()
	if ok {
		return f.system, f.tools
	}

	system.Tokens = m.counter.System(req.System) + m.counter.Conversation()
	for i := range req.System {
		s := req.System[i].Size()
		system.Bytes += s.Bytes
		system.Images += s.Images
	}
	tools.Tokens = m.counter.Tools(req.Tools)
	for i := range req.Tools {
		t := &req.Tools[i]
		tools.Bytes += max(t.Wire, 32+len(t.Name)+len(t.Description)+len(t.Schema))
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.fixed == nil || len(m.fixed) > 256 {
		m.fixed = make(map[uint64]fixed)
	}
	m.fixed[key] = fixed{system, tools}
	return system, tools
}

// Check measures a view of the request's history and sets it against the
// limits. Where the ledger has an anchor for the view, the count is what the
// provider reported last plus the estimate of what came after. A nil ledger is
// allowed.
func (m *Meter) Check(req *chat.Request, v plan.View, l Limits, tr Trigger, ledger *token.Ledger) Status {
	return m.Status(req, m.Measure(v), v.Key(), l, tr, ledger)
}

// Status is [Meter.Check] for totals that were measured already. The key names
// the plan they were measured under.
func (m *Meter) Status(req *chat.Request, t Totals, key string, l Limits, tr Trigger, ledger *token.Ledger) Status {
	step := m.Step(req, t, key)
	system, tools := m.Fixed(req)
	total := t.Size.Add(system).Add(tools)
	s := Status{
		Count:  token.Count{Tokens: total.Tokens, Method: m.counter.Method(), Band: m.counter.Band()},
		Bytes:  total.Bytes,
		Images: total.Images,
		Limits: l,
	}
	fixed := step.Fixed
	if ledger != nil {
		fixed = ledger.Fixed(step.Fixed)
		var ok bool
		if s.Count, ok = ledger.Predict(step); !ok {
			s.Count = m.Expect(step, ledger)
		}
		if own := m.counter.Band(); own > 0 {
			s.Count.Band = min(s.Count.Band, own) // a report makes nothing less sure
		}
	}
	s.seen.system, s.seen.tools = system.Tokens, tools.Tokens
	s.Spend(t, fixed)
	s.Judge(tr)
	return s
}

// Expect estimates the count of a view without reported usage from the reports for
// other views. A nil ledger has none.
func (m *Meter) Expect(s token.Step, ledger *token.Ledger) token.Count {
	out := m.counter.Count(s.Estimate)
	if ledger == nil {
		return out
	}
	if c, ok := ledger.Rewritten(s); ok { // still an estimate
		out.Tokens, out.Band = c.Tokens, min(c.Band, out.Band)
	} else {
		out.Tokens = ledger.Fixed(s.Fixed) + int(ledger.Factor()*float64(s.Estimate-s.Fixed))
	}
	return out
}

// Step returns a measured view of the request as a [token.Ledger] takes it.
func (m *Meter) Step(req *chat.Request, t Totals, key string) token.Step {
	system, tools := m.Fixed(req)
	fixed := system.Tokens + tools.Tokens
	return token.Step{Messages: t.Messages, Estimate: t.Tokens + fixed, Fixed: fixed, Media: t.Attachments, Plan: key}
}

// Spend splits the count of a status whose messages were measured: what is fixed, as
// the provider counts it, and the messages with all the rest. Of what is fixed, what
// is not seen is a number of its own.
func (s *Status) Spend(t Totals, fixed int) {
	total := s.Count.Tokens
	fixed = min(fixed, total)
	s.Limits.Fixed, s.Limits.Room = fixed, max(0, s.Limits.Available-fixed)
	b := Breakdown{Total: total, System: s.seen.system, Tools: s.seen.tools}
	if seen := b.System + b.Tools; fixed >= seen {
		b.Unseen = fixed - seen
	} else { // the counter has more for what is seen than the provider
		b.System = shareOf(fixed, b.System, seen)
		b.Tools = fixed - b.System
	}
	s.Scale = 1
	if t.Tokens > 0 {
		s.Scale = min(max(float64(total-fixed)/float64(t.Tokens), 0.25), 4)
		b.Prompt = shareOf(total-fixed, t.Prompt, t.Tokens)
		b.Attachments = shareOf(total-fixed, t.Attachments, t.Tokens)
	}
	b.History = total - fixed - b.Prompt
	s.Tokens = b
}

// Seen returns what the counter has for system prompt and tools, of which Limits.Fixed is
// what the provider counts.
func (s *Status) Seen() int { return s.seen.system + s.seen.tools }

// Prompt returns the count to expect from the provider for the request, with
// messages that the counter puts at that many tokens.
func (s *Status) Prompt(messages int) int {
	return s.Limits.Fixed + int(math.Round(s.Scale*float64(max(0, messages))))
}

// shareOf is part/whole of n, rounded down.
func shareOf(n, part, whole int) int { return int(int64(n) * int64(part) / int64(whole)) }

// Judge sets what follows from the count, the bytes and the images: the ratio,
// what is over its limit, and whether to compact.
func (s *Status) Judge(tr Trigger) {
	l := &s.Limits
	upper := s.Count.Upper()
	s.Ratio, s.Over, s.Trigger = 0, nil, tr
	if l.Available > 0 {
		s.Ratio = float64(upper) / float64(l.Available)
	}
	if upper > l.Available {
		s.Over = append(s.Over, "tokens")
	}
	if l.Bytes > 0 && s.Bytes > l.Bytes {
		s.Over = append(s.Over, "bytes")
	}
	if l.Images > 0 && s.Images > l.Images {
		s.Over = append(s.Over, "images")
	}
	s.Fits = len(s.Over) == 0
	s.ShouldCompact = !s.Fits || s.Count.Tokens > tr.At(*l) ||
		s.Count.Tokens > tr.Least && (isNearLimit(s.Bytes, l.Bytes, tr) || isNearLimit(s.Images, l.Images, tr))
}

// isNearLimit reports whether a count in bytes or images has reached the threshold.
func isNearLimit(n, limit int, tr Trigger) bool {
	return limit > 0 && tr.Threshold > 0 && float64(n) > tr.Threshold*float64(limit)
}
