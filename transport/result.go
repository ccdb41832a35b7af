package transport

import (
	"bytes"
	"io"
	"maps"
	"net/http"
	"strconv"
	"sync"

	"github.com/winnow-llm/winnow/plan"
	"github.com/winnow-llm/winnow/wire"
)

// result is what came of a request: what its answers told, and which decision is
// in force now.
type result struct {
	c *conversation

	// d is the last decision. An answer is heard with the decision under which its
	// request was sent.
	d *decision

	// ended is called once, at the end; told guards what answers add to heard.
	ended func(error)
	told  sync.Mutex
	heard Outcome

	stripped bool      // thinking was left out
	shrunk   []plan.ID // plans that were made because the provider called the request too long
}

// beginResult begins the result of a request that has come, and tells the observer.
func beginResult(c *conversation) *result {
	r := &result{c: c}
	end := func(Outcome) {}
	if o := c.t.opts.Observer; o != nil {
		c.extra = make(http.Header)
		if f := o.Begin(c.ctx(), c.end, c.req, c.extra); f != nil {
			end = f
		}
	}
	var once sync.Once
	r.ended = func(err error) {
		once.Do(func() {
			end(r.outcomeSoFar(err))
			r.recordRequest()
		})
	}
	return r
}

// maxTries is how often a request is sent again after an overflow.
const maxTries = 2

// sendUntilAnswered sends the request, again where that helps, and returns the answer.
func (r *result) sendUntilAnswered() (*http.Response, error) {
	c := r.c
	for try := 0; ; try++ {
		r.heard.Tries++
		resp, err := c.sendBody(r.d.out)
		if err != nil {
			return nil, err
		}
		seen := r.inspectAnswer(resp)
		if seen.kind == "" {
			if try > 0 && resp.StatusCode < 300 {
				c.t.tally(func(s *Stats) { s.Recovered++ })
			}
			r.writeHeaders(resp)
			return resp, nil
		}
		if seen.bound && c.knownElsewhere() {
			_ = resp.Body.Close() // the caller gets another answer
			if c.last != nil {
				c.last.refused.Store(true)
			}
			return c.answerUnavailable(), nil
		}
		if seen.kind == wire.KindOverflow {
			c.t.tally(func(s *Stats) { s.Overflows++ })
			r.heard.Overflows++
		}
		if try >= maxTries || !r.decideRetry(seen) {
			if seen.kind == wire.KindOverflow {
				r.undoShrinking()
			}
			r.writeHeaders(resp)
			return resp, nil
		}
		_ = resp.Body.Close() // its answer is not the one the caller gets
	}
}

// sendBody sends a body in the place of the request's.
func (in *incoming) sendBody(out []byte) (*http.Response, error) {
	r := in.req.Clone(in.req.Context())
	r.Body = io.NopCloser(bytes.NewReader(out))
	r.GetBody = func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(out)), nil }
	r.ContentLength = int64(len(out))
	r.TransferEncoding = nil
	r.Header.Del("Content-Encoding")
	r.Header.Del("Content-Length")
	// We read along, and compressing a stream delays it.
	r.Header.Set("Accept-Encoding", "identity")
	maps.Copy(r.Header, in.extra)
	return in.t.opts.Base.RoundTrip(r)
}

// writeHeaders tells in the header what the transport did.
func (r *result) writeHeaders(resp *http.Response) {
	if resp.Header == nil {
		resp.Header = make(http.Header)
	}
	for _, name := range []string{HeaderPlan, HeaderTokens, HeaderAvailable, HeaderMaxTokens, HeaderPassed} {
		resp.Header.Del(name)
	}
	t, d := r.c.t, r.d
	if d.sent.tokens() > 0 {
		resp.Header.Set(HeaderTokens, strconv.Itoa(d.sent.tokens()))
		resp.Header.Set(HeaderAvailable, strconv.Itoa(d.sent.available()))
	}
	if d.asked > 0 {
		resp.Header.Set(HeaderMaxTokens, strconv.Itoa(d.asked))
	}
	if d.sent.plan != nil {
		resp.Header.Set(HeaderPlan, string(d.sent.plan.ID()))
	}
	if d.passed != "" {
		t.notePassed(resp, d.passed, d.about)
	}
	if d.sent.plan != nil && len(d.out) != len(r.c.raw) {
		t.tally(func(s *Stats) { s.Applied, s.Saved = s.Applied+1, s.Saved+int64(d.sent.saved) })
	}
}

// watchAnswer sees to it that the answer's end is heard of.
func (r *result) watchAnswer(resp *http.Response) {
	r.told.Lock()
	r.heard.Status = resp.StatusCode
	r.told.Unlock()
	if resp.Body == nil || resp.Body == http.NoBody {
		r.ended(nil)
		return
	}
	resp.Body = &watched{resp.Body, r.ended}
}

// outcomeSoFar returns what became of the request so far.
func (r *result) outcomeSoFar(err error) Outcome {
	r.told.Lock()
	defer r.told.Unlock()
	c, d, out := r.c, r.d, r.heard
	out.Err = err
	out.Model, out.Stream = c.whose.model, c.end.Stream
	out.New, out.Prepared = d.planned, d.prepared
	out.Tokens, out.Available, out.Messages = d.sent.tokens(), d.sent.available(), d.sent.view.Len()
	out.Passed = d.passed
	if d.kind != passedOn {
		out.MaxTokens, out.Stream = c.body.MaxTokens(), c.end.Stream || c.body.Stream()
	}
	if p := d.sent.plan; p != nil {
		out.Plan, out.Saved = p.ID(), d.sent.saved
	}
	return out
}
