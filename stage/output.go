package stage

import (
	"fmt"

	"github.com/winnow-llm/winnow/internal/work"
)

// Limits for the output of one tool call, where nothing else is said.
const (
	OutputBytes = 51200
	outputLines = 2000
)

// OutputLimit is what [LimitOutput] goes by. The zero value has the defaults.
type OutputLimit struct {
	Bytes int // default OutputBytes
	Lines int // default 2,000

	// Keep is which end is left: work.KeepHead, work.KeepTail, or by
	// default both, with the lines between that report errors.
	Keep string

	// Full, if set, gets the whole output when it had to be cut. It returns
	// a name under which the output can be found, for the notice.
	Full func(output string) (name string, err error)
}

// LimitOutput cuts the output of a tool before it enters a conversation, by
// default to head, tail and the lines between that report errors, with a notice
// of what there was. It reports whether it had to cut. When the full copy cannot be kept,
// the cut output is still returned, with the error.
func LimitOutput(output string, l OutputLimit) (string, bool, error) {
	if l.Bytes <= 0 {
		l.Bytes = OutputBytes
	}
	if l.Lines <= 0 {
		l.Lines = outputLines
	}
	if len(output) <= l.Bytes && countLines(output) <= l.Lines {
		return output, false, nil
	}
	where, err := "", error(nil)
	if l.Full != nil {
		var name string
		if name, err = l.Full(output); err == nil {
			where = "\n[full output: " + name + "]"
		} else {
			err = fmt.Errorf("stage: the full output of %d bytes could not be kept: %w", len(output), err)
		}
	}
	text, _ := work.LimitTo(l.Keep, output, max(l.Bytes-len(where), l.Bytes/2), l.Lines)
	return text + where, true, err
}
