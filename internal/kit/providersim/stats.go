package providersim

import (
	"encoding/json"
	"maps"
	"net/http"
	"slices"
	"sync"
)

// Record is what is known of one request after it was served.
type Record struct {
	Dialect  string `json:"dialect"`
	Path     string `json:"path"`
	Model    string `json:"model"`
	SHA256   string `json:"sha256"` // of the body, decompressed
	Bytes    int    `json:"bytes"`
	Stream   bool   `json:"stream"`
	Counting bool   `json:"-"`      // an endpoint that only counts
	Status   int    `json:"status"` // 0 where the connection broke before there was one

	// Reason is the rule or fault by which the request got no answer; empty if
	// it was accepted. Fault is the injected one, if any.
	Reason string `json:"reason,omitempty"`
	Fault  string `json:"fault,omitempty"`

	Tokens  `json:"tokens"`
	Dollars float64 `json:"dollars"`

	faulted bool // the fault is why there was no answer
}

// Tokens is what requests were billed for.
type Tokens struct {
	Input   int `json:"input"`
	Read    int `json:"cache_read"`
	Written int `json:"cache_write"`
	Output  int `json:"output"`
}

// Report is what the server was asked since it started. GET
// /sim/requests shows it as JSON, with the share of the cache.
type Report struct {
	Accepted int `json:"accepted"` // answered; broken streams of accepted requests count too
	Counted  int `json:"counted"`  // endpoints that only count
	Refused  int `json:"refused"`  // by a rule or for their size
	Faulted  int `json:"faulted"`  // turned down by an injected fault

	RefusedBy map[string]int `json:"refused_by"`
	Faults    map[string]int `json:"faults"`
	Dialects  map[string]int `json:"dialects"`

	Tokens  `json:"tokens"`
	Dollars float64 `json:"dollars"`

	Last []Record `json:"last"` // oldest first
}

// CacheShare returns the part of all input that was read from the cache.
func (r Report) CacheShare() float64 {
	if r.Input == 0 {
		return 0
	}
	return float64(r.Read) / float64(r.Input)
}

type stats struct {
	mu  sync.Mutex
	sum Report
}

// add counts a request, and keeps the newest ones.
func (s *stats) add(r Record, keep int) {
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
	t.Last = append(t.Last, r)
	t.Last = slices.Delete(t.Last, 0, max(0, len(t.Last)-keep))
}

// Report returns what the server was asked so far.
func (s *Server) Report() Report {
	s.stats.mu.Lock()
	defer s.stats.mu.Unlock()
	r := s.stats.sum
	r.RefusedBy, r.Faults, r.Dialects = maps.Clone(r.RefusedBy), maps.Clone(r.Faults), maps.Clone(r.Dialects)
	r.Last = append([]Record{}, r.Last...)
	return r
}

func (s *Server) serveReport(w http.ResponseWriter, _ *http.Request) {
	r := s.Report()
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(struct { // a client that went away
		Report
		CacheShare float64 `json:"cache_share"`
	}{r, r.CacheShare()})
}
