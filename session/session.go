package session

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/hex"
	"fmt"
	"sync"
	"time"

	"github.com/winnow-llm/winnow"
	"github.com/winnow-llm/winnow/chat"
	"github.com/winnow-llm/winnow/evidence"
	"github.com/winnow-llm/winnow/internal/pifile"
	"github.com/winnow-llm/winnow/model"
	"github.com/winnow-llm/winnow/summary"
	"github.com/winnow-llm/winnow/token"
)

// Options say how a session is opened. Nil and the zero value work.
type Options struct {
	// Settings are the engine's. Where they name no model, the one that the
	// session used last counts.
	Settings winnow.Settings

	// Live, where it is set, is asked before every check for the settings that
	// hold for the model which answers, so that a change of them takes effect at
	// once. They take the place of Settings. It must be safe for concurrent use.
	Live func(provider, model string) Live

	// Registry, Summarizer and Kinds are as in [winnow.Options].
	Registry   *model.Registry
	Summarizer summary.Summarizer
	Kinds      *evidence.Kinds

	// System and Tools are those of the requests. By default they are the ones
	// that stand in the session.
	System []chat.Part
	Tools  []chat.ToolDef

	// Output and Rules are as in [chat.Request].
	Output int
	Rules  chat.Rules

	// Provider and Model are who answered in a conversation that [Import] takes
	// in, as far as its messages do not say; "" is unknown. They are noted before
	// the first message, so that the right window is used and signatures go back
	// to the provider that made them.
	Provider, Model string

	// Agent is the window that the agent worked in whose conversation this is,
	// where that is known; it holds while Model answers. See [winnow.Options].
	Agent model.Window

	// Hooks are called in order. HookTimeout is how long one may take; the
	// default is 10 seconds.
	Hooks       []Hooks
	HookTimeout time.Duration

	// Redact, where it is set, takes secrets out of messages before they are
	// written or kept.
	Redact *Redactor

	// Manual switches compaction by [Session.Next] and [Session.End] off.
	Manual bool

	// Leaf is the entry to continue from; by default the last one.
	Leaf string

	// Recover makes the best of a damaged tree instead of refusing it: a path
	// whose parent is not there starts where it breaks off, and a compaction
	// that keeps what is not there keeps nothing.
	Recover bool

	// Now is the clock; nil is the real one.
	Now func() time.Time
}

// Live is the settings in force at one moment: the engine's, and those of the
// session around it.
type Live struct {
	Settings winnow.Settings

	// Auto switches compaction by [Session.Next] and [Session.End]; nil leaves it
	// to [Options.Manual].
	Auto *bool

	// Redact takes well-known forms of secrets out of messages, unless
	// [Options.Redact] says more.
	Redact bool

	// Keep says which sessions stay when a new one is made.
	Keep Retention

	// Hooks are commands that are run after the hooks of [Options].
	Hooks []Command
}

// Session is a conversation in a store. It is safe for concurrent use.
type Session struct {
	o   Options
	log Log
	id  string

	mu       sync.Mutex
	closed   bool
	tree     tree
	line     *line
	inFlight int
	undo     *undo // set when an append failed
	order    *order

	importing  bool      // entries get the times of their messages, and ids that are the same every time
	imported   uint32    // how many ids an import has made
	importedAt time.Time // when it began
	notes      []string

	turn       bool
	compacting bool
	requested  *string // the focus of a compaction that waits for the turn's end
	overflowed bool    // in this turn
	auto       *bool   // set by SetAuto

	engine engine
	track  *winnow.Track // nil until the engine is made
	sent   *token.Step   // what the last Next returned: what the next usage is about
}

// undo is where the session goes back to when what was appended is lost.
type undo struct {
	nodes int
	leaf  int32
}

// Create makes a session in a store and opens it. Where the settings in
// Options.Live say how many sessions are kept, those that are no longer kept
// are deleted; [Session.Notes] tells of them.
func Create(ctx context.Context, store Store, h Header, o *Options) (*Session, error) {
	s, err := create(ctx, store, h, o)
	if err != nil || s.o.Live == nil {
		return s, err
	}
	gone, err := s.o.Live("", "").Keep.Expire(ctx, store, s.o.Now())
	for i := range gone {
		s.notes = append(s.notes, "session "+gone[i].ID+" was deleted: the setting keep no longer keeps it")
	}
	if err != nil {
		s.notes = append(s.notes, "sessions that are no longer kept could not be deleted: "+err.Error())
	}
	return s, nil
}

func create(ctx context.Context, store Store, h Header, o *Options) (*Session, error) {
	s := newSession(o)
	if h.Time.IsZero() {
		h.Time = s.now()
	}
	if h.ID == "" {
		h.ID = NewID(h.Time)
	}
	log, err := store.Create(ctx, h)
	if err != nil {
		return nil, err
	}
	if err := s.start(ctx, log); err != nil {
		log.Close()
		return nil, err
	}
	return s, nil
}

// Open opens a session of a store.
func Open(ctx context.Context, store Store, id string, o *Options) (*Session, error) {
	log, err := store.Open(ctx, id)
	if err != nil {
		return nil, err
	}
	return New(ctx, log, o)
}

// New opens the session in a log, which it closes when it is closed or cannot
// be opened. The error wraps [ErrDamaged] when the path to the leaf is broken.
func New(ctx context.Context, log Log, o *Options) (*Session, error) {
	s := newSession(o)
	if err := s.start(ctx, log); err != nil {
		log.Close()
		return nil, err
	}
	return s, nil
}

func newSession(o *Options) *Session {
	s := &Session{line: newLine()}
	if o != nil {
		s.o = *o
	}
	if s.o.Now == nil {
		s.o.Now = time.Now
	}
	if s.o.HookTimeout <= 0 {
		s.o.HookTimeout = 10 * time.Second
	}
	return s
}

func (s *Session) now() time.Time { return s.o.Now().UTC().Truncate(time.Millisecond) }

func (s *Session) start(ctx context.Context, log Log) error {
	s.log, s.id = log, log.Info().ID
	recs, err := log.Load(ctx)
	if err != nil {
		return err
	}
	s.tree.add(recs)
	leaf := s.tree.last()
	if s.o.Leaf != "" {
		i, ok := s.tree.byID[s.o.Leaf]
		if !ok {
			return s.fail("open", ErrNotFound, "list the entries to find one", "there is no entry %q to continue from", s.o.Leaf)
		}
		leaf = i
	}
	l, err := s.lineTo(leaf)
	if err != nil {
		return s.fail("open", err, "continue from another entry, or open it with Recover to read what can be read", "%v", err)
	}
	s.line = l
	return nil
}

// lineTo builds the line to a leaf.
func (s *Session) lineTo(leaf int32) (*line, error) { return s.lineWithout(leaf, nil) }

// lineWithout builds the line to a leaf as it would be without some compactions.
func (s *Session) lineWithout(leaf int32, skip map[int32]bool) (*line, error) {
	l := newLine()
	l.skip = skip
	err := s.read(l, leaf, s.o.Recover)
	l.skip = nil
	return l, err
}

// read reads the path to a leaf into a line.
func (s *Session) read(l *line, leaf int32, lenient bool) error {
	path, wrong := s.tree.path(leaf)
	if wrong != "" {
		if !s.o.Recover {
			return &damage{wrong}
		}
		if path == nil {
			path = s.tree.untilCircle(leaf)
		}
	}
	return l.extend(&s.tree, path, s.o.Rules, lenient)
}

// damage is ErrDamaged with what is damaged.
type damage struct{ what string }

func (d *damage) Error() string { return d.what }
func (d *damage) Unwrap() error { return ErrDamaged }

// untilCircle returns the path to a leaf up to where its parents come round.
func (t *tree) untilCircle(leaf int32) []int32 {
	seen := make(map[int32]bool)
	var path []int32
	for at := leaf; at >= 0 && !seen[at]; at = t.nodes[at].up {
		seen[at] = true
		path = append(path, at)
	}
	for i, j := 0, len(path)-1; i < j; i, j = i+1, j-1 {
		path[i], path[j] = path[j], path[i]
	}
	return path
}

// NewID returns an id for a session: a UUID of version 7, so that ids sort by
// the time they were made.
func NewID(at time.Time) string {
	var b [16]byte
	rand.Read(b[6:])
	ms := uint64(at.UnixMilli())
	for i := range 6 {
		b[i] = byte(ms >> (40 - 8*i))
	}
	b[6] = 0x70 | b[6]&0x0f
	b[8] = 0x80 | b[8]&0x3f
	h := hex.EncodeToString(b[:])
	return h[:8] + "-" + h[8:12] + "-" + h[12:16] + "-" + h[16:20] + "-" + h[20:]
}

// newID returns an id for an entry that no entry has.
func (s *Session) newID() string {
	for s.importing { // the same file gives the same ids, so that they can be named again
		s.imported++
		id := fmt.Sprintf("%08x", s.imported*2654435761) // each once, and unlike its neighbours
		if _, taken := s.tree.byID[id]; !taken {
			return id
		}
	}
	for range 100 {
		var b [4]byte
		rand.Read(b[:])
		id := hex.EncodeToString(b[:])
		if _, taken := s.tree.byID[id]; !taken {
			return id
		}
	}
	return NewID(s.now())
}

// Info returns what the store knows of the session.
func (s *Session) Info() Info { return s.log.Info() }

// ID returns the session's id.
func (s *Session) ID() string { return s.id }

// Notes say what was mended or left out when the session was read, and what
// was deleted for it when it was made.
func (s *Session) Notes() []string { return append(s.log.Notes(), s.notes...) }

// Close ends the use of the session. Everything acknowledged is on the disk
// already.
func (s *Session) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return nil
	}
	s.closed = true
	return s.log.Close()
}

// draft is an entry that has no place in the tree yet.
type draft = pifile.Draft

// placed is a draft with the id it will have.
type placed struct {
	id string
	draft
	at time.Time // when it was said, where that is not now
}

// place adds entries after the leaf, in memory and on the way to the disk. The
// caller holds the lock, and calls the function returned without it.
func (s *Session) place(entries []placed) func(context.Context) error {
	if s.closed {
		return func(context.Context) error {
			return s.fail("append", ErrClosed, "open it again", "the session is closed")
		}
	}
	if s.undo != nil {
		return func(context.Context) error {
			return s.fail("append", ErrBusy, "try again", "an earlier append has just failed")
		}
	}

	parent := s.leafID()
	was := undo{len(s.tree.nodes), s.line.leaf}
	recs := make([]Record, len(entries))
	raws := make([][]byte, len(entries))
	at := s.now()
	for i := range entries {
		e := &entries[i]
		raws[i] = e.Record(e.id, parent, cmp.Or(e.at, at))
		recs[i] = Record{Raw: raws[i]}
		parent = e.id
	}
	first := s.tree.add(recs)
	nodes := make([]int32, 0, len(entries))
	for i := first; i < len(s.tree.nodes); i++ {
		if s.tree.nodes[i].kind != typeBookmark { // which only says where the leaf is
			nodes = append(nodes, int32(i))
		}
	}
	err := s.line.extend(&s.tree, nodes, s.o.Rules, true)
	wait := s.log.Append(raws...)
	s.inFlight++
	return func(ctx context.Context) error {
		werr := wait(ctx)
		s.mu.Lock()
		defer s.mu.Unlock()
		s.inFlight--
		if werr != nil && (s.undo == nil || was.nodes < s.undo.nodes) {
			s.undo = &was
		}
		if s.undo != nil && s.inFlight == 0 {
			s.goBack()
		}
		if werr != nil {
			return werr
		}
		return err
	}
}

// goBack forgets what was appended and not acknowledged, and reads again what
// is there. The line was sound before.
func (s *Session) goBack() {
	u := s.undo
	s.order = nil
	s.undo = nil
	s.tree.cut(u.nodes)
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	if recs, err := s.log.Load(ctx); err == nil {
		s.tree.add(recs)
	}
	if l, err := s.lineTo(u.leaf); err == nil {
		s.line = l
	}
	s.forget()
}

func (s *Session) leafID() string {
	if s.line.leaf < 0 {
		return ""
	}
	return s.tree.nodes[s.line.leaf].id
}

// add places drafts and waits for them. It returns their ids.
func (s *Session) add(ctx context.Context, drafts ...draft) ([]string, error) {
	s.mu.Lock()
	list := make([]placed, len(drafts))
	ids := make([]string, len(drafts))
	for i := range drafts {
		ids[i] = s.newID()
		list[i] = placed{id: ids[i], draft: drafts[i]}
	}
	wait := s.place(list)
	s.mu.Unlock()
	return ids, wait(ctx)
}

// Append adds messages after the leaf and returns the ids of their entries. It
// returns when they are on the disk for good.
func (s *Session) Append(ctx context.Context, msgs ...chat.Message) ([]string, error) {
	if len(msgs) == 0 {
		return nil, nil
	}
	s.mu.Lock()
	ids, wait, err := s.appendLocked(msgs)
	s.mu.Unlock()
	if err != nil {
		return nil, err
	}
	return ids, wait(ctx)
}

func (s *Session) appendLocked(msgs []chat.Message) ([]string, func(context.Context) error, error) {
	var list []placed
	ids := make([]string, len(msgs))
	o := pifile.Origin{Provider: s.line.provider, Model: s.line.model}
	for i := range msgs {
		m := tidy(msgs[i], func(id string) string { return s.toolOf(id, msgs[:i]) })
		if r := s.redactor(); r != nil {
			m = r.Message(m)
		}
		var said time.Time
		if m.Time == 0 {
			m.Time = s.now().UnixMilli()
			said = s.importedAt
		} else if s.importing {
			said = time.UnixMilli(m.Time).UTC()
		}
		drafts := pifile.MessageDrafts(&m, o)
		names := make([]string, len(drafts))
		for k := range names {
			names[k] = s.newID()
		}
		if !holds(drafts, &m) {
			d, err := extraDraft(&m, names)
			if err != nil {
				return nil, nil, s.fail("append", err, "", "message %d cannot be written: %v", i, err)
			}
			list = append(list, placed{s.newID(), d, said})
		}
		for k := range drafts {
			list = append(list, placed{names[k], drafts[k], said})
		}
		ids[i] = names[len(names)-1]
		if m.StartsTurn() {
			s.overflowed = false
		}
	}
	return ids, s.place(list), nil
}

// toolOf returns the name of the tool that a call names.
func (s *Session) toolOf(id string, before []chat.Message) string {
	find := func(m *chat.Message) string {
		for i := range m.Parts {
			if p := &m.Parts[i]; p.Kind == chat.ToolCall && p.ID == id {
				return p.Name
			}
		}
		return ""
	}
	for i := len(before) - 1; i >= 0; i-- {
		if name := find(&before[i]); name != "" {
			return name
		}
	}
	h := s.line.history
	for i, n := h.Len()-1, 0; i >= 0 && n < 256; i, n = i-1, n+1 {
		if name := find(h.At(i)); name != "" {
			return name
		}
	}
	return ""
}

// Sync reads what other processes have added since. Their entries are in the
// tree then; the leaf stays where it is, so what they wrote after the same
// entry is a branch beside this one. It returns how many there were.
func (s *Session) Sync(ctx context.Context) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	recs, err := s.log.Load(ctx)
	if err != nil {
		return 0, err
	}
	before := len(s.tree.nodes)
	s.tree.add(recs)
	for len(s.line.pos) < len(s.tree.nodes) {
		s.line.pos = append(s.line.pos, none)
	}
	return len(s.tree.nodes) - before, nil
}

// Follow reads what other processes have added and moves the leaf to the last
// entry of all.
func (s *Session) Follow(ctx context.Context) error {
	if _, err := s.Sync(ctx); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.moveTo(s.tree.last(), "follow")
}

// moveTo makes a node the leaf. The caller holds the lock.
func (s *Session) moveTo(leaf int32, op string) error {
	if leaf == s.line.leaf {
		return nil
	}
	l, err := s.lineTo(leaf)
	if err != nil {
		return s.fail(op, err, "choose another entry", "%v", err)
	}
	s.line = l
	s.forget()
	return nil
}

// forget drops what was reported for another conversation than the present one.
func (s *Session) forget() {
	s.sent = nil
	if s.track != nil {
		s.track = winnow.NewTrack(s.track.Family())
	}
}
