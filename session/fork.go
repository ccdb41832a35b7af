package session

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"slices"
	"strings"
	"time"

	"github.com/winnow-llm/winnow/chat"
	"github.com/winnow-llm/winnow/internal/decode"
	"github.com/winnow-llm/winnow/internal/jsonwrite"
	"github.com/winnow-llm/winnow/internal/pifile"
	"github.com/winnow-llm/winnow/plan"
)

// Fork makes a new session that starts with the path to an entry of this one;
// "" is the leaf. The entries keep their ids, their labels come along. The store may be
// another one than this session's.
func (s *Session) Fork(ctx context.Context, store Store, at string, o *Options) (*Session, error) {
	labels := s.Labels()
	s.mu.Lock()
	leaf, err := s.line.leaf, error(nil)
	if at != "" {
		if leaf, err = s.nodeOf("fork", at); err != nil {
			s.mu.Unlock()
			return nil, err
		}
	}
	path, wrong := s.tree.pathTo(leaf)
	recs := s.tree.records(path)
	on := make(map[string]bool)
	for _, i := range path {
		if n := &s.tree.nodes[i]; n.kind != TypeLabel {
			on[n.id] = true
		}
	}
	h := s.log.Info().Header
	s.mu.Unlock()
	if wrong != "" {
		return nil, s.opError("fork", ErrDamaged, "choose another entry", "%s", wrong)
	}
	copied, err := s.copyTo(ctx, store, Header{Dir: h.Dir, Parent: h.ID}, recs, newLine(), o)
	if err != nil {
		return nil, err
	}
	has := copied.Labels()
	for target, label := range labels {
		if on[target] && has[target] != label {
			if err := copied.Label(ctx, target, label); err != nil {
				copied.Close()
				return nil, err
			}
		}
	}
	return copied, nil
}

// CopyTo copies the whole session, every branch and every byte of its records,
// to another store under its own id.
func (s *Session) CopyTo(ctx context.Context, store Store, o *Options) (*Session, error) {
	h, recs, l := s.wholeCopy()
	return s.copyTo(ctx, store, h, recs, l, o)
}

// CopyAs is [Session.CopyTo] under a new id, for a store that has the session
// already.
func (s *Session) CopyAs(ctx context.Context, store Store, o *Options) (*Session, error) {
	h, recs, l := s.wholeCopy()
	return s.copyTo(ctx, store, Header{ID: newID(s.now()), Time: h.Time, Dir: h.Dir, Parent: h.Parent}, recs, l, o)
}

// wholeCopy returns what a copy is made of: the session's header, all its records and
// its line, as they are now.
func (s *Session) wholeCopy() (Header, iter.Seq2[[]byte, error], *line) {
	s.mu.Lock()
	defer s.mu.Unlock()
	nodes := make([]int32, len(s.tree.nodes))
	for i := range nodes {
		nodes[i] = int32(i)
	}
	return s.log.Info().Header, s.tree.records(nodes), s.line.clone()
}

// copyTo makes a session of records. A line says what they were decoded to, so that
// a large session is not there twice.
func (s *Session) copyTo(ctx context.Context, store Store, h Header, recs iter.Seq2[[]byte, error], l *line, o *Options) (*Session, error) {
	h = h.withTimeAndID(s.now())
	c := newSession(o)
	if r := c.redactorInUse(); r != nil {
		l = newLine()
		recs = redactedRecords(recs, r)
	}
	if c.o.Rules != s.o.Rules || c.o.Recover != s.o.Recover {
		l.leaf = none // its plan is made again
	}
	log, err := store.Create(ctx, h, recs)
	if err != nil {
		return nil, err
	}
	c.line = l
	if err := c.loadLog(ctx, log); err != nil {
		log.Close()
		return nil, err
	}
	return c, nil
}

func redactedRecords(recs iter.Seq2[[]byte, error], r *Redactor) iter.Seq2[[]byte, error] {
	return func(yield func([]byte, error) bool) {
		for raw, err := range recs {
			if err == nil {
				raw = r.Record(raw)
			}
			if !yield(raw, err) {
				return
			}
		}
	}
}

// Import makes a session of a conversation that was read from elsewhere: its
// system prompt, tools and messages, each with its model, usage and time. It is
// in the store whole or not at all.
func Import(ctx context.Context, store Store, h Header, req chat.Request, o *Options) (*Session, error) {
	return ImportPlan(ctx, store, h, req, nil, o)
}

// takeIn appends a request.
func (s *Session) takeIn(ctx context.Context, req *chat.Request) error {
	s.importing, s.importedAt = true, s.now()
	defer func() { s.importing, s.importedAt = false, time.Time{} }()
	began := s.importedAt
	if t := s.log.Info().Header.Time; !t.IsZero() && t.Before(began) {
		began = t // entries before the first message must not be later than it
	}
	var first []draft
	for _, m := range req.History.All() {
		if m.Usage != nil {
			first = append(first, customDraft(customImport, jsonwrite.Of("at", int(s.importedAt.UnixMilli()))))
			break
		}
	}
	if s.o.Provider != "" || s.o.Model != "" {
		first = append(first, modelDraft(s.o.Provider, s.o.Model))
	}
	if s.o.Agent.Tokens+s.o.Agent.Own > 0 && s.o.Model != "" {
		first = append(first, windowDraft(s.o.Agent, s.o.Model))
	}
	if len(req.System) > 0 || len(req.Tools) > 0 {
		first = append(first, systemDraft(req, began.UnixMilli()))
	}
	if len(first) > 0 {
		if _, err := s.addDraftsAt(ctx, began, first...); err != nil {
			return err
		}
	}
	for msgs := range slices.Chunk(req.History.Messages(), 1000) {
		if _, err := s.Append(ctx, msgs...); err != nil {
			return err
		}
	}
	return nil
}

// systemDraft writes a system prompt and tools as pi's system message.
func systemDraft(req *chat.Request, at int64) draft {
	var tools [][]byte
	for _, t := range req.Tools {
		schema := "{}"
		if t.Schema != "" {
			schema = pifile.OneLine(t.Schema)
		}
		tools = append(tools, jsonwrite.Of("name", t.Name, "description", t.Description, "parameters", []byte(schema)))
	}
	m := chat.Message{Parts: req.System}
	return pifile.MessageDraft("role", "system", "content", m.Text(), "toolsAdded", tools, "timestamp", int(at))
}

// WriteTo writes the session as a file that pi and winnow read: the header and
// all entries, every byte as it is kept.
func (s *Session) WriteTo(w io.Writer) (int64, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	b := bufio.NewWriter(w)
	n, err := fmt.Fprintf(b, "%s\n", HeaderRecord(s.log.Info().Header))
	for i := range s.tree.nodes {
		raw, lost := s.tree.again.read(&s.tree.nodes[i].recordPlace)
		if err = cmp.Or(err, lost); err != nil {
			return int64(n), err
		}
		var more int
		more, err = fmt.Fprintf(b, "%s\n", raw)
		n += more
	}
	return int64(n), cmp.Or(err, b.Flush())
}

// HeaderRecord writes a header as a record of version 3. A header that was read
// in that version is written as it was, one of an older version with all its
// other members.
func HeaderRecord(h Header) []byte {
	if len(h.Raw) > 0 && h.Version == Version {
		return h.Raw
	}
	members := []any{"type", "session", "version", Version}
	if len(h.Raw) > 0 {
		for k, v := range decode.Members(h.Raw) {
			if k != "type" && k != "version" {
				members = append(members, strings.Clone(k), []byte(v))
			}
		}
		return jsonwrite.Of(members...)
	}
	at := h.Time.UTC().Format(pifile.TimeForm)
	return jsonwrite.Of(append(members, "id", h.ID, "timestamp", at, "cwd", h.Dir, "parentSession", jsonwrite.Optional(h.Parent))...)
}

// ErrPlan says that a plan does not fit the messages that it was given for.
var ErrPlan = errors.New("the plan does not fit the messages")

// ImportPlan makes a session of a conversation with a plan, as [Import] does of
// one without: a compaction puts the plan in force, and can be rewound. A plan
// that is nil changes nothing. The error wraps [ErrPlan] when the plan does not
// fit; then no session is made.
func ImportPlan(ctx context.Context, store Store, h Header, req chat.Request, p *plan.Plan, o *Options) (*Session, error) {
	if h.Time.IsZero() && req.History.Len() > 0 && req.History.At(0).Time > 0 {
		h.Time = time.UnixMilli(req.History.At(0).Time).UTC()
	}
	with := *cmp.Or(o, &Options{})
	with.Leaf = "" // it comes with what is imported
	s, err := createSession(ctx, NewMemory(), h, &with)
	if err != nil {
		return nil, err
	}
	defer s.Close()
	if err := s.takeIn(ctx, &req); err != nil {
		return nil, err
	}
	if p != nil && len(p.Edits) > 0 {
		if err := s.adoptEdits(ctx, p.Edits); err != nil {
			return nil, err
		}
	}
	return s.CopyTo(ctx, store, o)
}

// adoptEdits puts edits in force that were made for the same messages elsewhere.
func (s *Session) adoptEdits(ctx context.Context, edits []plan.Edit) error {
	s.mu.Lock()
	base := s.line.plan
	p, err := plan.Compose(base, s.line.history, s.o.Rules, nil, edits...)
	c := Compaction{Plan: p, Reason: reasonImport}
	if w, before, werr := s.checkSize(); err == nil && werr == nil {
		c.TokensBefore = before.Count.Tokens
		st := s.engineState(w)
		st.Plan, st.Ledger = p, nil
		if after, err := w.Check(s.currentRequest(), st); err == nil {
			c.TokensAfter = after.Count.Tokens
		}
	}
	s.mu.Unlock()
	if err != nil {
		return fmt.Errorf("session: %w: %w", ErrPlan, err)
	}
	_, err = s.commitCompaction(ctx, c, base)
	return err
}
