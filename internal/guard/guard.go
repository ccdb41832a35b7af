// Package guard stands around whatever only enriches a view: the files as they
// stand, the story of what happened, a report. Such a part is worth having, but
// no request may fail for it, so a fault in it costs the part and nothing else.
//
// A guard cannot catch a stack that overflows. What is guarded therefore bounds
// how deep it goes, and counts its [Work] where that may grow faster than the text
// that it reads.
package guard

import (
	"fmt"

	"github.com/winnow-llm/winnow/internal/text"
)

// LeftOut says that a part was left out, and why.
type LeftOut struct {
	Part string // what is missing: "files", "summary"
	Why  string
}

// Error returns a line for people.
func (e *LeftOut) Error() string { return e.Part + " left out: " + e.Why }

// Fault stands before what a panic said.
const Fault = "a fault in winnow: "

// Do runs the function that makes a part. It returns nil, or after a panic the part
// that is left out for it.
func Do(part string, do func()) (out *LeftOut) {
	defer func() {
		switch p := recover().(type) {
		case nil:
		case exceeded:
			out = &LeftOut{part, fmt.Sprintf("it takes more than %d steps of work", int64(p))}
		case *LeftOut: // carried over from another goroutine
			out = &LeftOut{part, p.Why}
		default:
			out = &LeftOut{part, Fault + text.Brief(fmt.Sprint(p), 200)}
		}
	}()
	do()
	return nil
}

// exceeded is what [Work.Spend] panics with: the steps that were allowed.
type exceeded int64

// Work is how much may be done for one part, in steps of about a byte that is
// looked at. It never depends on time, so that the same history gives the same
// bytes on every machine.
type Work struct{ spent int64 }

// MaxWork is how many steps a part may take: some seconds of one processor, a
// hundred times what the longest sessions that are known take.
const MaxWork = 1 << 31

// Spend counts steps. Above [MaxWork] it panics, and the guard leaves the part out.
func (w *Work) Spend(steps int) {
	if w.spent += int64(steps); w.spent > MaxWork {
		panic(exceeded(MaxWork))
	}
}
