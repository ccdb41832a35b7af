package session

import (
	"context"
	"sync"
	"time"

	"github.com/winnow-llm/winnow"
	"github.com/winnow-llm/winnow/internal/defaults"
	"github.com/winnow-llm/winnow/token"
)

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

	engine   *winnow.Winnow  // for the settings; nil until it is asked for
	settings winnow.Settings // in force
	track    *winnow.Track   // nil until the engine is made
	sent     *token.Step     // what the last Next returned: what the next usage is about
}

// Create makes a session in a store and opens it. Where the settings in
// Options.Live say how many sessions to keep, Create deletes the others;
// [Session.Notes] tells of them.
func Create(ctx context.Context, store Store, h Header, o *Options) (*Session, error) {
	s, err := createSession(ctx, store, h, o)
	if err != nil {
		return nil, err
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

func createSession(ctx context.Context, store Store, h Header, o *Options) (*Session, error) {
	log, err := store.Create(ctx, h.withTimeAndID(newSession(o).now()), Records())
	if err != nil {
		return nil, err
	}
	return New(ctx, log, o)
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
	if err := s.loadLog(ctx, log); err != nil {
		log.Close()
		return nil, err
	}
	return s, nil
}

func newSession(o *Options) *Session {
	s := &Session{line: newLine(), tree: tree{orphans: make(map[int32]string)}}
	if o != nil {
		s.o = *o
	}
	if s.o.Now == nil {
		s.o.Now = time.Now
	}
	if s.o.Live == nil {
		s.o.Live = func(string, string) Live { return Live{Settings: s.o.Settings} }
	}
	defaults.Set(&s.o.HookTimeout, hookTimeout)
	return s
}

func (s *Session) now() time.Time { return s.o.Now().UTC().Truncate(time.Millisecond) }

func (s *Session) loadLog(ctx context.Context, log Log) error {
	s.log, s.id = log, log.Info().ID
	s.tree.mend = s.o.Recover
	if r, ok := log.(rereader); ok && log.Info().Bytes > heldBytes {
		if err := s.tree.addPieces(ctx, r, log.Info().Bytes); err != nil {
			return err
		}
	} else {
		recs, err := log.Load(ctx)
		if err != nil {
			return err
		}
		s.tree.addRecords(recs)
	}
	if s.o.Recover {
		for _, p := range s.tree.problems {
			s.notes = append(s.notes, "entry "+p.Entry+": "+p.What)
		}
	}
	leaf := s.tree.lastLeaf()
	if s.o.Leaf != "" {
		i, ok := s.tree.find(s.o.Leaf)
		if !ok {
			return s.opError("open", ErrNotFound, "list the entries to find one", "there is no entry %q to continue from", s.o.Leaf)
		}
		leaf = i
	}
	if s.tree.again != nil && leaf >= 0 && leaf == s.line.leaf {
		return nil // it is a copy, whose line was read before
	}
	l, err := s.lineTo(leaf)
	if err != nil {
		return s.opError("open", err, "continue from another entry, or open it with Recover: that leaves out what is lost", "%v", err)
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
	err := s.readPath(l, leaf, s.o.Recover)
	l.skip = nil
	return l, err
}

// readPath reads the path to a leaf into a line.
func (s *Session) readPath(l *line, leaf int32, lenient bool) error {
	path, wrong := s.tree.pathTo(leaf)
	if wrong != "" && !s.o.Recover {
		return &damage{wrong}
	}
	l.read = s.line
	err := l.addNodes(&s.tree, path, s.o.Rules, lenient)
	l.read = nil
	return err
}

// damage is ErrDamaged with what is damaged.
type damage struct{ what string }

func (d *damage) Error() string { return d.what }

func (d *damage) Unwrap() error { return ErrDamaged }

// Info returns what the store knows of the session.
func (s *Session) Info() Info { return s.log.Info() }

// ID returns the session's id.
func (s *Session) ID() string { return s.id }

// Notes say what the reader mended or left out, and which sessions Create deleted.
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

// Sync reads what other processes have added since. Their entries are in the
// tree then; the leaf stays where it is, so what they wrote after the same
// entry is a branch beside this one. It returns how many there were.
func (s *Session) Sync(ctx context.Context) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	before := len(s.tree.nodes)
	_, err := s.readNew(ctx)
	return len(s.tree.nodes) - before, err
}

// readNew takes in what was added to the log. The caller holds the lock.
func (s *Session) readNew(ctx context.Context) ([]Record, error) {
	recs, err := s.log.Load(ctx)
	if err != nil {
		return nil, err
	}
	s.tree.addRecords(recs)
	for len(s.line.pos) < len(s.tree.nodes) {
		s.line.pos = append(s.line.pos, none)
	}
	return recs, nil
}

// Follow reads what other processes have added and moves the leaf to the last
// entry of all.
func (s *Session) Follow(ctx context.Context) error {
	if _, err := s.Sync(ctx); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.moveTo(s.tree.lastLeaf(), "follow")
}

// moveTo makes a node the leaf. The caller holds the lock.
func (s *Session) moveTo(leaf int32, op string) error {
	if leaf == s.line.leaf {
		return nil
	}
	l, err := s.lineTo(leaf)
	if err != nil {
		return s.opError(op, err, "choose another entry", "%v", err)
	}
	s.line = l
	s.forgetReports()
	return nil
}

// forgetReports drops the usage reported for a conversation that has changed.
func (s *Session) forgetReports() {
	s.sent = nil
	if s.track != nil {
		s.track = s.engine.Track()
	}
}
