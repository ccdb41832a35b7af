package transport

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"io"
	"maps"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/winnow-llm/winnow"
	"github.com/winnow-llm/winnow/chat"
	"github.com/winnow-llm/winnow/internal/text"
	"github.com/winnow-llm/winnow/transport/planstore"
	"github.com/winnow-llm/winnow/wire"
	"golang.org/x/sync/semaphore"
)

// Transport sends requests so that they fit. It is safe for concurrent use.
type Transport struct {
	opts    Options
	engines *engines
	memory  *memory
	count   counters
	passes  passes
	book    planstore.Book
	records recorder

	// originals is nil where no content may be kept.
	originals planstore.Store

	// background is nil where there is nothing to prepare.
	background *background

	// gone is when the store was last found to be gone, in nanoseconds since 1970.
	gone atomic.Int64

	// away is since when it has been, 0 where it is not; by the system's clock.
	away atomic.Int64

	// unsettled are plans that it does not have yet.
	unsettled unsettled

	// servers are the local ones that were asked for their windows.
	servers localServers

	// room is for what is unpacked at once.
	room *semaphore.Weighted

	// turns makes requests with the same history plan one after the other, so
	// that a retry finds the plan that the first one made.
	turns [256]sync.Mutex
}

// New returns a transport. Options may be nil. The error is a
// [*winnow.SettingsError], or says that the store cannot be read.
func New(o *Options) (*Transport, error) {
	t := &Transport{opts: o.withDefaults()}
	if err := t.opts.Settings.Validate(); err != nil {
		return nil, err
	}
	if t.opts.KeepOriginals {
		t.originals = t.opts.Store
	}
	if t.opts.Tenant == nil {
		tenants, err := NewTenants(context.Background(), t.opts.Store, t.opts.Credentials)
		if err != nil {
			return nil, err
		}
		t.opts.Tenant = func(r *http.Request) planstore.Tenant {
			tenant, _ := tenants.Of(r)
			return tenant
		}
	}
	t.book = t.opts.Store
	t.room = semaphore.NewWeighted(t.opts.Unpacked)
	t.engines = newEngines(&t.opts)
	t.memory = newMemory(t.opts.Memory)
	if t.opts.Same {
		t.opts.Summarizer = same{t.opts.SummaryTime}
	}
	if t.opts.Summarizer != nil && !t.opts.Observe && !t.opts.Settings.Disabled {
		t.background = newBackground(t)
	}
	return t, nil
}

// Close gives up what is being prepared in the background, and waits until what
// became of requests is recorded. The transport can still be used: it prepares
// nothing any more.
func (t *Transport) Close() {
	t.records.wait(context.Background())
	t.unsettled.close()
	if t.background != nil {
		t.background.close()
	}
}

// Stats returns what was done so far.
func (t *Transport) Stats() Stats {
	s := t.count.stats()
	s.PassedBy = t.passes.all()
	return s
}

// maxTries is how often a request is sent again after an overflow.
const maxTries = 2

// RoundTrip implements [http.RoundTripper].
func (t *Transport) RoundTrip(req *http.Request) (*http.Response, error) {
	req, off := switchedOff(req)
	if off {
		t.count.passed.Add(1)
		resp, err := t.opts.Base.RoundTrip(req)
		t.passing(resp, PassedOff, "")
		return resp, err
	}
	end, ok := EndpointOf(req)
	if !ok || req.Body == nil || req.Body == http.NoBody {
		t.count.passed.Add(1)
		resp, err := t.opts.Base.RoundTrip(req)
		t.passing(resp, PassedNoConversation, "")
		return resp, err
	}
	body, err := t.readBody(req)
	if err != nil {
		return nil, err
	}
	t.count.requests.Add(1)
	if end.Counting {
		t.count.counting.Add(1)
	}
	c := &call{t: t, req: req, end: end, raw: body.raw, out: body.raw}
	if body.rest != nil { // too large, too crowded, or in a coding that we cannot read
		t.count.unreadable.Add(1)
		c.pass(unread(body.why, len(codingsOf(req.Header)) > 0))
		t.opts.Log.Warn("a request that cannot be read is passed on unchanged", "dialect", string(end.Dialect), "coding", text.Head(req.Header.Get("Content-Encoding"), 40), "reason", string(c.passed), "why", brief(body.why))
		r := req.Clone(req.Context())
		r.Body = body.rest
		resp, err := t.opts.Base.RoundTrip(r)
		t.passing(resp, c.passed, "")
		return resp, err
	}
	c.begin()
	c.prepare()
	if c.refusal != nil {
		if c.ended != nil {
			c.ended(nil)
		}
		t.release(&body, c.refusal)
		return c.refusal, nil
	}
	resp, err := c.do()
	if err == nil {
		c.watch(resp)
	} else {
		c.ended(err)
	}
	t.release(&body, resp)
	return resp, err
}

// release gives the room back that a body takes, when the answer has been read:
// until then the request may be needed again.
func (t *Transport) release(body *arrived, resp *http.Response) {
	if resp == nil || resp.Body == nil || resp.Body == http.NoBody {
		t.done(body)
		return
	}
	if body.held > 0 {
		var once sync.Once
		resp.Body = &watched{resp.Body, func(error) { once.Do(func() { t.done(body) }) }}
	}
}

// do sends the request, again where that helps, and returns the answer.
func (c *call) do() (*http.Response, error) {
	for try := 0; ; try++ {
		c.tries++
		resp, err := c.send()
		if err != nil {
			return nil, err
		}
		seen := c.look(resp)
		if seen.kind == "" {
			if try > 0 && resp.StatusCode < 300 {
				c.t.count.recovered.Add(1)
			}
			c.tell(resp)
			return resp, nil
		}
		if seen.bound && c.unknown() {
			_ = resp.Body.Close() // the caller gets another answer
			if c.last != nil {
				c.last.refused.Store(true)
			}
			c.refuse()
			return c.refusal, nil
		}
		if seen.kind == wire.KindOverflow {
			c.t.count.overflows.Add(1)
			c.overflows++
		}
		if try >= maxTries || !c.mend(seen) {
			if seen.kind == wire.KindOverflow {
				c.unshrink()
			}
			c.tell(resp)
			return resp, nil
		}
		_ = resp.Body.Close() // its answer is not the one the caller gets
	}
}

// send sends what was prepared.
func (c *call) send() (*http.Response, error) {
	r := c.req.Clone(c.req.Context())
	out := c.out
	r.Body = io.NopCloser(bytes.NewReader(out))
	r.GetBody = func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(out)), nil }
	r.ContentLength = int64(len(out))
	r.TransferEncoding = nil
	r.Header.Del("Content-Encoding")
	r.Header.Del("Content-Length")
	// We read along, and compressing a stream delays it.
	r.Header.Set("Accept-Encoding", "identity")
	maps.Copy(r.Header, c.extra)
	return c.t.opts.Base.RoundTrip(r)
}

// tell puts into the header what was done.
func (c *call) tell(resp *http.Response) {
	if resp.Header == nil {
		resp.Header = make(http.Header)
	}
	for _, name := range []string{HeaderPlan, HeaderTokens, HeaderAvailable, HeaderMaxTokens, HeaderPassed} {
		resp.Header.Del(name)
	}
	if c.sent.tokens > 0 {
		resp.Header.Set(HeaderTokens, strconv.Itoa(c.sent.tokens))
		resp.Header.Set(HeaderAvailable, strconv.Itoa(c.sent.available))
	}
	if c.asked > 0 {
		resp.Header.Set(HeaderMaxTokens, strconv.Itoa(c.asked))
	}
	if c.sent.plan != nil {
		resp.Header.Set(HeaderPlan, string(c.sent.plan.ID()))
	}
	if c.passed != "" {
		c.t.passing(resp, c.passed, c.about)
	}
	if c.sent.plan != nil && len(c.out) != len(c.raw) {
		c.t.count.applied.Add(1)
		c.t.count.saved.Add(int64(c.sent.saved))
	}
}

// turn is the lock for requests with this history.
func (t *Transport) turn(k planstore.Key, h chat.History) *sync.Mutex {
	chain := h.Chain(h.Len())
	n := binary.BigEndian.Uint32(chain[:]) ^ binary.BigEndian.Uint32(k.First[:])
	return &t.turns[n%uint32(len(t.turns))]
}

// failed counts a failure of ours and says what it was.
func (c *call) failed(what string, err error) {
	var cannot *winnow.CannotFitError
	switch {
	case errors.As(err, &cannot):
		c.t.count.cannotFit.Add(1)
	case what == "store":
		c.storeFailed(err)
		if errors.Is(err, planstore.ErrGone) {
			return
		}
	case what == "invalid":
		c.t.count.invalid.Add(1)
	default:
		c.t.count.failed.Add(1)
	}
	c.t.opts.Log.Warn("the request goes out without a new plan", "what", what, "dialect", string(c.end.Dialect), "model", c.model, "why", brief(err))
}

// brief is an error's first words: enough to know it, and no content.
func brief(err error) string {
	const most = 240
	text := err.Error()
	if bad := (*wire.Error)(nil); errors.As(err, &bad) {
		text = bad.Plain()
	}
	s, _, _ := strings.Cut(text, "\n")
	if len(s) <= most {
		return s
	}
	s = s[:most]
	if end := strings.LastIndexByte(s, ' '); end > most/2 {
		s = s[:end]
	}
	return strings.TrimRight(strings.ToValidUTF8(s, ""), ",;:") + " …"
}
