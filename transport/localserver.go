package transport

import (
	"context"
	"net/http"
	"sync"
	"time"

	"github.com/winnow-llm/winnow/chat"
	"github.com/winnow-llm/winnow/internal/localserver"
	"github.com/winnow-llm/winnow/model"
)

// localServers remember the windows that local servers have told.
type localServers struct {
	mu    sync.Mutex
	known map[string]askedWindow
}

type askedWindow struct {
	window model.Window
	until  time.Time
}

const (
	// askWait is how long a request waits for a local server to tell its window.
	askWait = time.Second

	// A server that is restarted may have another window, and one that has not
	// loaded its model yet may tell soon.
	windowLasts  = time.Minute
	unknownLasts = 5 * time.Second
)

// windowInForce returns the window in force for a request: the agent's, or that of the local
// server that runs the model, whichever is smaller. The zero value is the model's.
func (t *Transport) windowInForce(ctx context.Context, req *http.Request, name string) model.Window {
	agent := t.windowOf(req.Header, name)
	if !t.opts.AskLocal || t.opts.Settings.Window > 0 || !localserver.May(req.URL, name) {
		return agent
	}
	if told := t.askServer(ctx, req, name); told.Tokens > 0 && (agent.Tokens == 0 || told.Tokens < agent.Tokens) {
		return told
	}
	return agent
}

// askServer returns what the server of a request says about a model, or has said
// a moment ago.
func (t *Transport) askServer(ctx context.Context, req *http.Request, name string) model.Window {
	s := &t.servers
	key := req.URL.Host + "\x00" + name
	s.mu.Lock()
	have, ok := s.known[key]
	s.mu.Unlock()
	if ok && t.opts.Now().Before(have.until) {
		return have.window
	}
	ctx, stop := context.WithTimeout(ctx, askWait)
	defer stop()
	asked := askedWindow{until: t.opts.Now().Add(unknownLasts)}
	if n, why := localserver.Window(ctx, t.opts.Base, req.URL, name, req.Header); n > 0 {
		asked = askedWindow{model.Window{Tokens: n, Source: model.WindowServer, Why: why}, t.opts.Now().Add(windowLasts)}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.known == nil {
		s.known = make(map[string]askedWindow)
	}
	makeRoom(s.known, maxLessons)
	s.known[key] = asked
	return asked.window
}

// leastCut is the smallest prompt of which a report that is too low says anything.
const leastCut = 2000

// wasCutInSilence reports whether a local server counted less than was sent: no more
// than for the request before, though a tenth and more was added, or less than
// half of a text. Then the beginning of the conversation was dropped unsaid, and
// the report tells nothing about how tokens are counted.
func (c *conversation) wasCutInSilence(sent *projection, reported int) bool {
	if sent.tokens() < leastCut || reported >= sent.tokens() || !localserver.May(c.req.URL, c.whose.model) {
		return false
	}
	if n := len(c.steps); n > 0 {
		last := &c.steps[n-1]
		if last.Model == c.whose.model && last.Usage.Prompt() > 0 && sent.step.Estimate > last.Estimate+last.Estimate/10 && reported <= last.Usage.Prompt() {
			return true
		}
	}
	return reported*2 < sent.tokens() && !hasAttachment(sent.view)
}

// hasAttachment reports whether a view holds an image or a document, whose tokens
// are hard to estimate.
func hasAttachment(v chat.Sequence) bool {
	for i := range v.Len() {
		if m := v.At(i); m.Has(chat.Image) || m.Has(chat.Document) {
			return true
		}
	}
	return false
}

// warnOfCut tells that the server may have cut a prompt in silence.
func (in *incoming) warnOfCut(sent *projection, reported int) {
	in.t.tally(func(s *Stats) { s.Cut++ })
	in.t.opts.Log.Warn("the server counted fewer tokens than were sent: it may have cut the prompt in silence; raise its window (Ollama: num_ctx), or set --window",
		"model", in.whose.model, "host", in.req.URL.Host, "counted", reported, "sent", sent.tokens())
}
