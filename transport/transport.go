package transport

import (
	"context"
	"encoding/binary"
	"errors"
	"net/http"
	"strings"
	"sync"

	"github.com/winnow-llm/winnow"
	"github.com/winnow-llm/winnow/chat"
	"github.com/winnow-llm/winnow/internal/planstore"
	"github.com/winnow-llm/winnow/internal/text"
	"github.com/winnow-llm/winnow/wire"
	"golang.org/x/sync/semaphore"
)

// Transport sends requests so that they fit. It is safe for concurrent use.
type Transport struct {
	opts    Options
	engines *engines
	memory  *memory
	records recorder

	counting sync.Mutex
	stats    Stats

	// originals is nil where no content may be kept.
	originals Store

	// background is nil where there is nothing to prepare.
	background *background

	// ctx ends with the use of the transport: then nothing is offered to the store or
	// prepared any more.
	ctx  context.Context
	stop context.CancelFunc

	outage outage

	// offered is what the transport and models said to each other about winnow's
	// tools.
	offered exchanges

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
	t.ctx, t.stop = context.WithCancel(context.Background())
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
		t.opts.Tenant = func(r *http.Request) Tenant {
			tenant, _ := tenants.Of(r)
			return tenant
		}
	}
	t.room = semaphore.NewWeighted(t.opts.Unpacked)
	t.engines = &engines{opts: &t.opts, made: make(map[engineKey]*winnow.Winnow), lessons: make(map[endpointModel]lesson)}
	t.memory = newMemory(t.opts.Memory)
	if t.opts.Same {
		t.opts.Summarizer = same{t.opts.SummarizerTimeout}
	}
	if t.opts.Summarizer != nil && !t.opts.Observe && !t.opts.Settings.Disabled {
		t.background = &background{t: t, slots: make(chan struct{}, maxWorkers)}
	}
	return t, nil
}

// Close gives up what is being prepared in the background, and waits until what
// became of requests is recorded. The transport can still be used: it prepares
// nothing any more.
func (t *Transport) Close() {
	t.records.wait()
	t.stop()
	if t.background != nil {
		t.background.close()
	}
}

// RoundTrip implements [http.RoundTripper].
func (t *Transport) RoundTrip(req *http.Request) (*http.Response, error) {
	req, off := switchedOff(req)
	end, ok := EndpointOf(req)
	if off || !ok || req.Body == nil || req.Body == http.NoBody {
		t.tally(func(s *Stats) { s.Passed++ })
		why := becauseNoConversation
		if off {
			why = becauseOff
		}
		return t.passThrough(req, why)
	}
	body, err := t.readBody(req)
	if err != nil {
		return nil, err
	}
	if body.rest != nil { // too large, too crowded, or in a coding that we cannot read
		t.tallyRequest(end)
		t.tally(func(s *Stats) { s.Unreadable++ })
		why := whyUnread(body.why, len(codingsOf(req.Header)) > 0)
		t.opts.Log.Warn("a request that cannot be read is passed on unchanged", "dialect", string(end.Dialect), "coding", text.Head(req.Header.Get("Content-Encoding"), 40), "reason", string(why), "why", briefError(body.why))
		r := req.Clone(req.Context())
		r.Body = body.rest
		return t.passThrough(r, why)
	}
	var resp *http.Response
	if o := t.offerTools(req, end, body.raw); o != nil {
		resp, err = o.roundTrip()
	} else {
		resp, err = t.sendFitted(req, end, body.raw)
	}
	t.releaseAfterAnswer(&body, resp)
	return resp, err
}

// passThrough sends a request as it is, and tells its caller why.
func (t *Transport) passThrough(req *http.Request, why Reason) (*http.Response, error) {
	resp, err := t.opts.Base.RoundTrip(req)
	t.notePassed(resp, why, "")
	return resp, err
}

// sendFitted sends a request of a conversation so that it fits.
func (t *Transport) sendFitted(req *http.Request, end Endpoint, raw []byte) (*http.Response, error) {
	t.tallyRequest(end)
	c := &conversation{incoming: &incoming{t: t, req: req, end: end, raw: raw}}
	r := beginResult(c)
	d := c.decide()
	r.d = &d
	if d.kind == turnedAway {
		r.ended(nil)
		return c.answerUnavailable(), nil
	}
	resp, err := r.sendUntilAnswered()
	if err == nil {
		r.watchAnswer(resp)
	} else {
		r.ended(err)
	}
	return resp, err
}

// tallyRequest counts a request that holds a conversation.
func (t *Transport) tallyRequest(end Endpoint) {
	t.tally(func(s *Stats) {
		s.Requests++
		if end.Counting {
			s.Counting++
		}
	})
}

// releaseAfterAnswer gives the room back that a body takes, when the answer has been read:
// until then the request may be needed again.
func (t *Transport) releaseAfterAnswer(body *arrived, resp *http.Response) {
	if resp == nil || resp.Body == nil || resp.Body == http.NoBody {
		t.releaseRoom(body)
		return
	}
	if body.held > 0 {
		var once sync.Once
		resp.Body = &watched{resp.Body, func(error) { once.Do(func() { t.releaseRoom(body) }) }}
	}
}

// turnLock returns the lock for requests with this history.
func (t *Transport) turnLock(k planstore.Key, h chat.History) *sync.Mutex {
	chain := h.Chain(h.Len())
	n := binary.BigEndian.Uint32(chain[:]) ^ binary.BigEndian.Uint32(k.First[:])
	return &t.turns[n%uint32(len(t.turns))]
}

// reportFailure counts a failure of ours and says what it was.
func (c *conversation) reportFailure(what string, err error) {
	_, cannot := errors.AsType[*winnow.CannotFitError](err)
	switch {
	case cannot:
		c.t.tally(func(s *Stats) { s.CannotFit++ })
	case what == "store":
		c.storeFailed(err)
		if errors.Is(err, planstore.ErrGone) {
			return
		}
	case what == "invalid":
		c.t.tally(func(s *Stats) { s.Invalid++ })
	default:
		c.t.tally(func(s *Stats) { s.Failed++ })
	}
	c.t.opts.Log.Warn("the request goes out without a new plan", "what", what, "dialect", string(c.end.Dialect), "model", c.whose.model, "why", briefError(err))
}

// briefError returns an error's first words: enough to know it, and no content.
func briefError(err error) string {
	const most = 240
	text := err.Error()
	if bad, ok := errors.AsType[*wire.Error](err); ok {
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
