package budget

import (
	"hash/maphash"

	"github.com/winnow-llm/winnow/chat"
	"github.com/winnow-llm/winnow/token"
)

// Breakdown says what the tokens of a request are spent on.
type Breakdown struct {
	Total       int `json:"total"`
	System      int `json:"system"`
	History     int `json:"history"`     // messages up to the last assistant message
	Prompt      int `json:"prompt"`      // messages after it
	Tools       int `json:"tools"`       // definitions
	Attachments int `json:"attachments"` // images and documents, counted in history and prompt too
}

// Scaled returns the breakdown of another total, with its parts in the same
// proportion. They still add up.
func (b Breakdown) Scaled(total int) Breakdown {
	if b.Total <= 0 || total == b.Total {
		b.Total = total
		return b
	}
	by := func(n int) int { return int(float64(n) * float64(total) / float64(b.Total)) }
	out := Breakdown{Total: total, System: by(b.System), Prompt: by(b.Prompt), Tools: by(b.Tools), Attachments: by(b.Attachments)}
	out.History = total - out.System - out.Prompt - out.Tools
	return out
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

	// Scale turns the counter's estimates into what the provider is expected to
	// report; 1 without reported usage.
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

	// Trigger is the one that decided about ShouldCompact. See [Status.Due] for
	// what follows from it.
	Trigger Trigger
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
func (m *Meter) Check(req *chat.Request, v Viewer, l Limits, tr Trigger, ledger *token.Ledger) Status {
	return m.Status(req, m.Measure(v), v.Key(), l, tr, ledger)
}

// Status is [Meter.Check] for totals that were measured already. The key names
// the plan they were measured under.
func (m *Meter) Status(req *chat.Request, t Totals, key string, l Limits, tr Trigger, ledger *token.Ledger) Status {
	system, tools := m.Fixed(req)
	total := t.Size.Add(system).Add(tools)
	s := Status{
		Tokens: Breakdown{
			Total: total.Tokens, System: system.Tokens, Tools: tools.Tokens,
			History: t.Tokens - t.Prompt, Prompt: t.Prompt, Attachments: t.Attachments,
		},
		Count:  token.Count{Tokens: total.Tokens, Method: m.counter.Method(), Band: m.counter.Band()},
		Bytes:  total.Bytes,
		Images: total.Images,
		Limits: l,
		Scale:  1,
	}
	if ledger != nil {
		if c, ok := ledger.Predict(t.Messages, total.Tokens, key); ok {
			s.Count = c
		} else if c, ok := ledger.Other(total.Tokens); ok {
			s.Count.Tokens, s.Count.Band = c.Tokens, min(s.Count.Band, c.Band) // still an estimate
		} else if f := ledger.Factor(); f > 0 {
			s.Count.Tokens = int(f * float64(total.Tokens))
		}
		if total.Tokens > 0 {
			s.Scale = min(max(float64(s.Count.Tokens)/float64(total.Tokens), 0.25), 4)
		}
		s.Tokens = s.Tokens.Scaled(s.Count.Tokens)
	}
	s.Limits.Carry(fixedPart(system.Tokens+tools.Tokens, ledger))
	s.Judge(tr)
	return s
}

// fixedPart is what the provider counts of a prompt besides its messages: system
// prompt and tools as they were counted here, and what it reported beyond all that
// was sent. A nil ledger has nothing.
func fixedPart(counted int, ledger *token.Ledger) int {
	if ledger == nil {
		return counted
	}
	return int(ledger.Factor()*float64(counted)) + ledger.Unseen()
}

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
		s.Count.Tokens > tr.Least && (near(s.Bytes, l.Bytes, tr) || near(s.Images, l.Images, tr))
}

// near reports whether a count in bytes or images has reached the threshold.
func near(n, limit int, tr Trigger) bool {
	return limit > 0 && tr.Threshold > 0 && float64(n) > tr.Threshold*float64(limit)
}
