package session

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/winnow-llm/winnow"
	"github.com/winnow-llm/winnow/chat"
	"github.com/winnow-llm/winnow/plan"
	"github.com/winnow-llm/winnow/summary"
)

// The reasons for a compaction.
const (
	reasonManual    = "manual"
	reasonThreshold = "threshold"
	reasonOverflow  = "overflow"
	reasonRewind    = "rewind"
	reasonImport    = "import"
)

// hookTimeout is how long a hook may take where nothing else is said.
const hookTimeout = 10 * time.Second

// Hooks are functions that a program hangs into a session; each may be nil.
// They are called without any lock, in the order in which they were given, all
// of one kind before the next. A hook that returns an error, panics or takes
// longer than [Options.HookTimeout] counts as one that has nothing to say.
type Hooks struct {
	// Name stands in reports of failures.
	Name string

	// BeforeCompact may call a compaction off or supply its result.
	BeforeCompact func(context.Context, BeforeCompact) (CompactDecision, error)
	// AfterCompact sees the entry that was written.
	AfterCompact func(context.Context, Compacted) error
	// CompactFailed sees why no compaction was written.
	CompactFailed func(context.Context, CompactFailure) error

	// BeforeNavigate may call a move off or supply the branch's summary.
	BeforeNavigate func(context.Context, BeforeNavigate) (NavigateDecision, error)
	// AfterNavigate sees where the leaf went.
	AfterNavigate func(context.Context, Navigated) error

	// BeforeCall sees what is about to be sent and may put other messages in
	// its place for this call.
	BeforeCall func(context.Context, Call) ([]chat.Message, error)

	// Failed is told of hooks, these or others, that failed.
	Failed func(HookFailure)

	limit time.Duration // 0 is the options' time-out
}

// BeforeCompact is what is known before a compaction.
type BeforeCompact struct {
	Session string
	Reason  string // manual, threshold or overflow
	Focus   string
	Status  winnow.Status

	// Preparation is what would be summarised; Nothing says why there is none.
	Preparation summary.Preparation
	Nothing     string

	// Entries is the path to the leaf.
	Entries []Entry
}

// CompactDecision is a hook's answer; the zero value lets things take their course.
type CompactDecision struct {
	Cancel bool
	Supply *Supplied
}

// Supplied is a compaction that a hook made: a summary in place of everything
// before the entry FirstKept.
type Supplied struct {
	Summary      string   `json:"summary"`
	FirstKept    string   `json:"first_kept"`
	TokensBefore int      `json:"tokens_before,omitempty"`
	Read         []string `json:"read_files,omitempty"`
	Modified     []string `json:"modified_files,omitempty"`
}

// Compacted is a compaction that was written.
type Compacted struct {
	Session string
	Entry   Entry
	Before  winnow.Status
	After   winnow.Status
	Notes   []string
	Report  plan.Report

	// Queued is how many messages came in while the compaction was being made.
	// They stand after it. A driver whose run had just ended goes on with it
	// when there are any, because nobody has answered them.
	Queued int
}

// CompactFailure says why a compaction was not written.
type CompactFailure struct {
	Session, Reason string
	Err             error
	Aborted         bool // called off, by a hook or by the context
}

// BeforeNavigate is what is known before the leaf moves.
type BeforeNavigate struct {
	Session         string
	Target, OldLeaf string
	Ancestor        string // the entry that both paths share; "" for none
	Left            []Entry
	Summarise       bool
	Focus, Label    string
}

// NavigateDecision is a hook's answer; the zero value lets things take their course.
type NavigateDecision struct {
	Cancel  bool
	Summary *BranchSummary
}

// HookFailure tells of a hook that failed.
type HookFailure struct {
	Hook, Event string
	Err         error
}

// callHook runs a hook, and gives up on it when it fails, panics or hangs.
func (s *Session) callHook(ctx context.Context, h *Hooks, event string, f func(context.Context) error) bool {
	limit := cmp.Or(max(0, h.limit), s.o.HookTimeout)
	caller := ctx
	ctx, cancel := context.WithTimeout(ctx, limit)
	done := make(chan error, 1)
	go func() {
		defer cancel()
		done <- callProtected(ctx, f)
	}()
	var err error
	select {
	case err = <-done:
	case <-ctx.Done():
		select {
		case err = <-done: // it had just finished
		default:
			err = fmt.Errorf("it did not answer within %v", limit)
			if caller.Err() != nil {
				err = fmt.Errorf("it was cancelled: %w", caller.Err())
			}
		}
	}
	if err == nil {
		return true
	}
	for i := range s.o.Hooks {
		if tell := s.o.Hooks[i].Failed; tell != nil {
			_ = callProtected(ctx, func(context.Context) error { tell(HookFailure{h.Name, event, err}); return nil })
		}
	}
	return false
}

func callProtected(ctx context.Context, f func(context.Context) error) (err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("it panicked: %v", r)
		}
	}()
	return f(ctx)
}

// asked is a hook that answers.
type asked[E, A any] func(context.Context, E) (A, error)

// askHooks asks the hooks that answer at an event, one after the other, and hands their
// answers on. About says what it is about; where there is no hook, nobody asks for it.
func askHooks[E, A any](ctx context.Context, s *Session, event string, of func(*Hooks) asked[E, A], about func() (E, error), take func(A)) error {
	for _, h := range s.allHooks() {
		f := of(&h)
		if f == nil {
			continue
		}
		ev, err := about()
		if err != nil {
			return err
		}
		var said A
		if s.callHook(ctx, &h, event, func(ctx context.Context) error {
			got, err := f(ctx, ev)
			if err == nil && ctx.Err() == nil {
				said = got
			}
			return err
		}) {
			take(said)
		}
	}
	return nil
}

// tellHooks calls the hooks that only listen to an event.
func tellHooks[E any](ctx context.Context, s *Session, event string, of func(*Hooks) func(context.Context, E) error, about E) {
	for _, h := range s.allHooks() {
		if f := of(&h); f != nil {
			s.callHook(ctx, &h, event, func(ctx context.Context) error { return f(ctx, about) })
		}
	}
}

// beforeCompact asks the hooks about a compaction. The first that decides wins. Preparing
// the question takes time.
func (s *Session) beforeCompact(ctx context.Context, j job, snap *snapshot) (chosen CompactDecision, err error) {
	of := func(h *Hooks) asked[BeforeCompact, CompactDecision] { return h.BeforeCompact }
	about := sync.OnceValues(func() (BeforeCompact, error) { return s.beforeEvent(ctx, j, snap) })
	err = askHooks(ctx, s, "before_compact", of, about, func(d CompactDecision) {
		if !chosen.Cancel && chosen.Supply == nil {
			chosen = d
		}
	})
	return chosen, err
}

// allHooks returns the program's hooks and those of the settings file.
func (s *Session) allHooks() []Hooks {
	all := slices.Clone(s.o.Hooks)
	for _, c := range s.o.Live("", "").Hooks {
		all = append(all, c.asHooks())
	}
	return all
}
