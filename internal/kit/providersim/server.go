package providersim

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/klauspost/compress/zstd"
)

// Server simulates the providers. [New] makes one.
type Server struct {
	opts   Options
	mux    *http.ServeMux
	signer *signer
	cache  *cache
	stats  stats
	number atomic.Uint64

	closing sync.Once
	closed  chan struct{}
}

// New returns a server with these options.
func New(o Options) *Server {
	o = o.withDefaults()
	s := &Server{
		opts:   o,
		mux:    http.NewServeMux(),
		signer: newSigner(o.Seed),
		cache:  newCache(cacheRoom),
		closed: make(chan struct{}),
	}
	s.stats.sum = Report{RefusedBy: map[string]int{}, Faults: map[string]int{}, Dialects: map[string]int{}}
	s.mux.HandleFunc("POST /v1/chat/completions", s.handlerFor(chatDialect{}, false))
	s.mux.HandleFunc("POST /v1/responses", s.handlerFor(responsesDialect{}, false))
	s.mux.HandleFunc("POST /backend-api/codex/responses", s.handlerFor(responsesDialect{}, false)) // with a ChatGPT plan
	s.mux.HandleFunc("POST /v1/responses/input_tokens", s.handlerFor(responsesDialect{}, true))
	s.mux.HandleFunc("POST /v1/responses/compact", s.handlerFor(responsesDialect{compact: true}, false))
	s.mux.HandleFunc("GET /v1/responses", func(w http.ResponseWriter, _ *http.Request) {
		http.Error(w, "WebSockets are not served here: use HTTP", http.StatusUpgradeRequired)
	})
	s.mux.HandleFunc("POST /v1/messages", s.handlerFor(anthropicDialect{}, false))
	s.mux.HandleFunc("POST /v1/messages/count_tokens", s.handlerFor(anthropicDialect{}, true))
	for _, version := range []string{"v1", "v1beta"} {
		s.mux.HandleFunc("POST /"+version+"/models/{call}", s.serveGemini)
	}
	s.mux.HandleFunc("POST /{call}", s.codeAssist)
	s.mux.HandleFunc("GET /sim/requests", s.serveReport)
	if o.Drive != nil {
		s.mux.HandleFunc("GET /sim/drive", s.serveDrive)
	}
	s.mux.HandleFunc("GET /{$}", func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprintln(w, "provider simulator: see GET /sim/requests")
	})
	return s
}

// Handler returns the handler of all routes.
func (s *Server) Handler() http.Handler { return s.mux }

// Close ends every answer that stalls or waits. Requests that come later are
// served without waiting.
func (s *Server) Close() { s.closing.Do(func() { close(s.closed) }) }

func (s *Server) serveGemini(w http.ResponseWriter, r *http.Request) {
	_, method, _ := strings.Cut(r.PathValue("call"), ":")
	switch method {
	case "generateContent", "streamGenerateContent":
		s.serveRequest(w, r, geminiDialect{}, false)
	case "countTokens":
		s.serveRequest(w, r, geminiDialect{}, true)
	default:
		http.NotFound(w, r)
	}
}

// codeAssist is Gemini with a Google account: requests and answers stand inside
// another object. Every caller counts as signed up.
func (s *Server) codeAssist(w http.ResponseWriter, r *http.Request) {
	method, ok := strings.CutPrefix(r.PathValue("call"), "v1internal:")
	switch {
	case !ok:
		http.NotFound(w, r)
	case strings.HasSuffix(method, "enerateContent"), method == "countTokens":
		s.serveGemini(w, r)
	default:
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprintln(w, `{"currentTier":{"id":"free-tier"},"cloudaicompanionProject":"sim"}`)
	}
}

func (s *Server) handlerFor(d dialect, counting bool) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) { s.serveRequest(w, r, d, counting) }
}

// serveRequest answers one request. Its record is complete before the first byte of the
// answer leaves, so that a client that has its answer finds it in the report.
func (s *Server) serveRequest(w http.ResponseWriter, r *http.Request, d dialect, counting bool) {
	c := &call{s: s, d: d, http: r, counting: counting, created: s.opts.Now()}
	body, refused := s.readBody(r, d)
	sum := sha256.Sum256(body)
	c.rec = Record{
		Dialect: d.traits().name, Path: r.URL.Path, Counting: counting,
		SHA256: hex.EncodeToString(sum[:]), Bytes: len(body),
	}
	fault, err := s.pickFault(r, s.number.Add(1))
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	out := &writer{s: s, w: w, r: r, fault: fault}
	out.record = sync.OnceFunc(func() { s.recordCall(c, out.status, body) })
	defer out.record() // where nothing was sent

	c.rec.Fault, c.rec.Reason, c.rec.faulted = fault.name(), fault.name(), true
	if !out.prepareAnswer() {
		return
	}
	if f := fault.refusal(d.traits().name); f != nil {
		out.sendRefusal(c, f)
		return
	}
	c.rec.Reason, c.rec.faulted = "", false
	if refused == nil {
		refused = s.decodeBody(c, body)
	}
	if refused != nil {
		c.rec.Reason = refused.rule
		out.sendRefusal(c, refused)
		return
	}
	if counting {
		out.sendWhole(http.StatusOK, encodeJSON(c.countBody()))
		return
	}
	if s.answerOverflow(c, out) {
		return
	}
	s.accountUsage(c)
	c.letAgentAnswer(fault.Big)
	if c.stream {
		out.sendStream(c, d.answerEvents(c))
		return
	}
	out.sendWhole(http.StatusOK, encodeJSON(d.answerBody(c)))
}

// recordCall keeps what is known of a request.
func (s *Server) recordCall(c *call, status int, body []byte) {
	c.rec.Model, c.rec.Stream, c.rec.Status = c.model, c.stream, status
	c.rec.Input, c.rec.Read, c.rec.Written, c.rec.Output = c.usage.input, c.usage.read, c.usage.written, c.usage.output
	c.rec.Dollars = c.billedUsage().cost(c.settings.Prices)
	s.stats.add(c.rec, s.opts.Keep)
	if s.opts.Drive != nil && !c.counting && !c.rec.faulted {
		s.opts.Drive.countRequest(c.callerName(), c.rec)
	}
	if s.opts.OnRequest != nil {
		s.opts.OnRequest(c.rec, body)
	}
}

// decodeBody reads the body and lets the dialect check it.
func (s *Server) decodeBody(c *call, body []byte) *refusal {
	v, err := parseValue(body)
	if err == nil && !v.isObject() {
		err = errors.New("the value is not an object")
	}
	if err != nil {
		return notJSON(c.d.traits().name, err)
	}
	c.v = v
	c.model = v.get("model").str()
	if name, _, ok := strings.Cut(c.http.PathValue("call"), ":"); ok && name != "v1internal" {
		c.model = name
	}
	c.settings = s.opts.settingsFor(c.model)
	c.window = c.settings.Window
	if n, err := strconv.Atoi(c.http.Header.Get("Sim-Window")); err == nil && n > 0 {
		c.window = n
	}
	return c.d.readRequest(c)
}

// accountUsage computes the request's input usage and puts its prompt in the cache, whose
// owners differ by credential, model and what the client says.
func (s *Server) accountUsage(c *call) {
	now := s.opts.Now()
	owner := binary.BigEndian.Uint64(c.hashCredential(c.d.traits().name, c.model, c.v.get("prompt_cache_key").str()))
	if c.life == 0 {
		c.usage = s.cache.accountMarked(owner, c.prompt, c.settings.CacheMin, now)
	} else {
		c.usage = s.cache.accountImplicit(owner, c.prompt, c.settings.CacheMin, c.life, now)
	}
}

// callerName names who asks: the dialect, and a hash of the key.
func (c *call) callerName() string {
	return c.d.traits().name + "-" + hex.EncodeToString(c.hashCredential()[:4])
}

// hashCredential hashes the request's credential and further texts.
func (c *call) hashCredential(more ...string) []byte {
	h := sha256.New()
	for _, part := range append([]string{
		c.http.Header.Get("Authorization"), c.http.Header.Get("X-Api-Key"),
		c.http.Header.Get("X-Goog-Api-Key"), c.http.URL.Query().Get("key"),
	}, more...) {
		h.Write([]byte(part))
		h.Write([]byte{0})
	}
	return h.Sum(nil)
}

// errTooLarge is returned by body for one over the limit.
var errTooLarge = errors.New("body too large")

// readBody reads the request's body, decompressed.
func (s *Server) readBody(r *http.Request, d dialect) ([]byte, *refusal) {
	limit := s.opts.MaxBody
	if limit == 0 {
		limit = d.traits().maxBody
	}
	var in io.Reader = r.Body
	switch enc := strings.ToLower(r.Header.Get("Content-Encoding")); enc {
	case "", "identity":
	case "gzip", "x-gzip":
		z, err := gzip.NewReader(r.Body)
		if err != nil {
			return nil, notJSON(d.traits().name, err)
		}
		in = z
	case "zstd":
		z, err := zstd.NewReader(r.Body, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxMemory(uint64(max(limit, 1<<20))))
		if err != nil {
			return nil, notJSON(d.traits().name, err)
		}
		defer z.Close()
		in = z
	default:
		f := badRequest(ruleField, "Unsupported content encoding: %s", enc)
		f.status = http.StatusUnsupportedMediaType
		return nil, f
	}
	b, err := readAll(in, limit, r.ContentLength)
	switch {
	case errors.Is(err, errTooLarge):
		return b, tooManyBytes(d.traits().name, limit)
	case err != nil:
		return b, notJSON(d.traits().name, err)
	}
	return b, nil
}

func readAll(in io.Reader, limit, hint int64) ([]byte, error) {
	var buf bytes.Buffer
	if hint > 0 && hint < limit {
		buf.Grow(int(hint) + bytes.MinRead)
	}
	n, err := buf.ReadFrom(io.LimitReader(in, limit+1))
	if err != nil {
		return buf.Bytes(), err
	}
	if n > limit {
		// Read on for a while, so that the client sees the answer instead of a
		// broken connection.
		_, _ = io.CopyN(io.Discard, in, limit)
		return buf.Bytes()[:limit], errTooLarge
	}
	return buf.Bytes(), nil
}
