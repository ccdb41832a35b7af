package session

import (
	"errors"
	"fmt"
	"strings"
)

// Errors that callers look for with [errors.Is].
var (
	// ErrNotFound says that no such session or entry exists.
	ErrNotFound = errors.New("not found")
	// ErrExists says that there is already a session with that id.
	ErrExists = errors.New("already exists")
	// ErrNotSession says that a file is not a session, and was not touched.
	ErrNotSession = errors.New("not a session")
	// ErrNewer says that a file is a session in a later version of the format
	// than this program knows. What wraps it wraps [ErrNotSession] too.
	ErrNewer error = newer{}
	// ErrReadOnly says that a session can be read but not added to.
	ErrReadOnly = errors.New("read only")
	// ErrBusy says that another process kept the session locked for too long.
	ErrBusy = errors.New("locked by another process")
	// ErrDamaged says that the tree of entries is broken where it is needed.
	ErrDamaged = errors.New("damaged")
	// ErrTurnRunning says that a compaction was asked for while a turn runs.
	ErrTurnRunning = errors.New("a turn is running")
	// ErrCompacting says that a compaction is in progress.
	ErrCompacting = errors.New("a compaction is in progress")
	// ErrNothing says that there is nothing to compact.
	ErrNothing = errors.New("nothing to compact")
	// ErrCancelled says that a hook called it off.
	ErrCancelled = errors.New("cancelled by a hook")
	// ErrMoved says that the conversation went elsewhere while a summary was
	// being made, so that the summary has no place.
	ErrMoved = errors.New("the conversation moved")
	// ErrOverflowAgain says that a request was too long a second time in one turn.
	ErrOverflowAgain = errors.New("the request was too long again")
	// ErrClosed says that the session is closed.
	ErrClosed = errors.New("the session is closed")
)

// newer is the type of ErrNewer.
type newer struct{}

func (newer) Error() string { return "a newer program wrote it" }
func (newer) Unwrap() error { return ErrNotSession }

// Error says what could not be done with a session, why, and what to do.
type Error struct {
	Op      string // the operation
	Session string // its id or path
	Problem string
	Hint    string // what to do; may be ""
	Err     error  // the cause; may be nil
}

// Error returns everything in one line.
func (e *Error) Error() string {
	s := strings.TrimSpace("session "+e.Session) + ": " + e.Op + ": " + e.Problem
	if e.Hint != "" {
		s += "; " + e.Hint
	}
	return s
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// failed says that an operation failed for a cause that says it all; nil is none.
func (s *Session) failed(op string, cause error) error {
	if cause == nil {
		return nil
	}
	return s.opError(op, cause, "", "%v", cause)
}

func (s *Session) opError(op string, cause error, hint, format string, args ...any) error {
	return &Error{Op: op, Session: s.id, Problem: fmt.Sprintf(format, args...), Hint: hint, Err: cause}
}
