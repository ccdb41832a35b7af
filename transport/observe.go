package transport

import (
	"context"
	"io"
	"net/http"

	"github.com/winnow-llm/winnow/chat"
	"github.com/winnow-llm/winnow/plan"
)

// Observer is told about calls, so that the operator of a transport can trace and
// measure them. It gets names and numbers, never content.
type Observer interface {
	// Begin is called when a request that holds a conversation has arrived,
	// before anything is done about it. What Begin puts into header goes along
	// with the request, instead of what the caller sent under these names. The
	// function that it returns, nil for none, is called once: when the caller
	// has the whole answer, or the call failed. It must be quick: the caller
	// waits for both.
	Begin(ctx context.Context, e Endpoint, req *http.Request, header http.Header) (end func(Outcome))
}

// Outcome is what became of a call.
type Outcome struct {
	// Model is the requested model, MaxTokens the requested output.
	Model     string
	MaxTokens int
	Stream    bool

	// Status is that of the answer; 0 with Err where there was none.
	Status int
	Err    error

	// Answered, ID, Reason and Usage are the model, id, reason to stop and
	// tokens that the answer tells; they are zero where it was not understood.
	// Extra is what the provider bills beside, for work of its own such as its
	// own compaction.
	Answered, ID, Reason string
	Usage, Extra         chat.Usage

	// Plan is the one under which the request was sent, "" for none. New says
	// that it was made for this call, Prepared that it holds a summary which was
	// written ahead. Saved is the tokens that it kept from being sent.
	Plan          plan.ID
	New, Prepared bool
	Saved         int

	// Tokens is the prompt that was sent as counted here, Available the room
	// for it, Messages how many there were.
	Tokens, Available, Messages int

	// Passed says why the request was sent as it came, "" where it was looked at.
	Passed Reason

	// Tries is how often the request was sent, Overflows how often the provider
	// called it too long.
	Tries, Overflows int
}

// watched is an answer on its way to the caller.
type watched struct {
	io.ReadCloser
	ended func(error)
}

// Read passes on what comes.
func (w *watched) Read(p []byte) (int, error) {
	n, err := w.ReadCloser.Read(p)
	switch err {
	case nil:
	case io.EOF:
		w.ended(nil)
	default:
		w.ended(err)
	}
	return n, err
}

// Close ends the answer. One that was not read to its end counts as received
// as far as its caller wanted it.
func (w *watched) Close() error {
	err := w.ReadCloser.Close()
	w.ended(nil)
	return err
}
