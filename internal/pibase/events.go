package pibase

import (
	"errors"
	"fmt"
	"strings"
)

// Event is one event of the stream in which a summary comes.
type Event struct {
	Type string // text_end ends a text, end the whole answer
	Text string

	// Stop and Message are of the end: why it ended, and the error where that
	// is why.
	Stop, Message string
}

// EventText returns the texts of a stream, one after another. A stream that
// ends with an error is one, under the label of what it was for; an error
// without words is unknown.
func (Port) EventText(events []Event, label string) (string, error) {
	var b strings.Builder
	for _, e := range events {
		switch {
		case e.Type == "text_end":
			b.WriteString(e.Text)
		case e.Stop == "error":
			message := e.Message
			if message == "" {
				message = "Unknown error"
			}
			return "", fmt.Errorf("%s: %w", label, errors.New(message))
		}
	}
	return b.String(), nil
}
