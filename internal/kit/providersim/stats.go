package providersim

import (
	"maps"
	"net/http"
	"slices"
	"sync"
)

// Record is what is known of one request after it was served.
type Record struct {
	Dialect  string
	Path     string
	Model    string
	SHA256   string // of the body, decompressed
	Bytes    int
	Stream   bool
	Counting bool // an endpoint that only counts
	Status   int  // 0 where the connection broke before there was one

	// Reason is the rule or fault by which the request got no answer; empty if
	// it was accepted. Fault is the injected one, if any.
	Reason string
	Fault  string

	Input, Read, Written, Output int
	Dollars                      float64

	faulted bool // the fault is why there was no answer
}

// Report is what the server was asked since it started or was reset. GET
// /sim/requests shows it as JSON.
type Report struct {
	Accepted int // answered; broken streams of accepted requests count too
	Counted  int // endpoints that only count
	Refused  int // by a rule or for their size
	Faulted  int // turned down by an injected fault

	RefusedBy map[string]int
	Faults    map[string]int
	Dialects  map[string]int

	Input, Read, Written, Output int
	Dollars                      float64

	Last []Record // oldest first
}

// CacheShare returns the part of all input that was read from the cache.
func (r Report) CacheShare() float64 {
	if r.Input == 0 {
		return 0
	}
	return float64(r.Read) / float64(r.Input)
}

type stats struct {
	mu   sync.Mutex
	keep int
	sum  Report
}

func (s *stats) init(keep int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if keep > 0 {
		s.keep = keep
	}
	s.sum = Report{RefusedBy: map[string]int{}, Faults: map[string]int{}, Dialects: map[string]int{}}
}

func (s *stats) add(r Record) {
	s.mu.Lock()
	defer s.mu.Unlock()
	t := &s.sum
	t.Dialects[r.Dialect]++
	if r.Fault != "" {
		t.Faults[r.Fault]++
	}
	switch {
	case r.faulted:
		t.Faulted++
	case r.Reason != "":
		t.Refused++
		t.RefusedBy[r.Reason]++
	case r.Counting:
		t.Counted++
	default:
		t.Accepted++
	}
	t.Input += r.Input
	t.Read += r.Read
	t.Written += r.Written
	t.Output += r.Output
	t.Dollars += r.Dollars
	if len(t.Last) == s.keep {
		copy(t.Last, t.Last[1:])
		t.Last = t.Last[:s.keep-1]
	}
	t.Last = append(t.Last, r)
}

// Report returns what the server was asked so far.
func (s *Server) Report() Report {
	s.stats.mu.Lock()
	defer s.stats.mu.Unlock()
	r := s.stats.sum
	r.RefusedBy, r.Faults, r.Dialects = maps.Clone(r.RefusedBy), maps.Clone(r.Faults), maps.Clone(r.Dialects)
	r.Last = append([]Record(nil), r.Last...)
	return r
}

// Reset forgets all requests, cached prompts and held conversations. Signatures
// stay valid.
func (s *Server) Reset() {
	s.stats.init(0)
	s.cache.reset()
	s.held.reset()
	if s.opts.Drive != nil {
		s.opts.Drive.reset()
	}
}

func (s *Server) serveReport(w http.ResponseWriter, _ *http.Request) {
	r := s.Report()
	var last list
	for _, e := range r.Last {
		o := object{
			"dialect", e.Dialect, "path", e.Path, "model", e.Model, "sha256", e.SHA256, "bytes", e.Bytes,
			"stream", e.Stream, "status", e.Status,
		}
		if e.Reason != "" {
			o = o.set("reason", e.Reason)
		}
		if e.Fault != "" {
			o = o.set("fault", e.Fault)
		}
		last = append(last, o.set("tokens", object{"input", e.Input, "cache_read", e.Read, "cache_write", e.Written, "output", e.Output}).
			set("dollars", e.Dollars))
	}
	w.Header().Set("Content-Type", "application/json")
	_, _ = w.Write(append(encodeJSON(object{
		"accepted", r.Accepted, "counted", r.Counted, "refused", r.Refused, "faulted", r.Faulted,
		"refused_by", countsObject(r.RefusedBy), "faults", countsObject(r.Faults), "dialects", countsObject(r.Dialects),
		"tokens",
		object{"input", r.Input, "cache_read", r.Read, "cache_write", r.Written, "output", r.Output},
		"cache_share", r.CacheShare(), "dollars", r.Dollars, "last", last,
	}), '\n'))
}

func (s *Server) serveReset(w http.ResponseWriter, _ *http.Request) {
	s.Reset()
	w.WriteHeader(http.StatusNoContent)
}

// countsObject returns a map as an object with sorted names.
func countsObject(m map[string]int) object {
	o := object{}
	for _, k := range slices.Sorted(maps.Keys(m)) {
		o = o.set(k, m[k])
	}
	return o
}
