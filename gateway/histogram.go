package gateway

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"unicode"

	"github.com/winnow-llm/winnow/internal/text"
)

// Bounds of the histograms: seconds of calls that arrive, and those that the
// conventions name for calls to models, of seconds and tokens.
var (
	callBounds     = []float64{.001, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10, 30, 60, 300}
	durationBounds = []float64{.01, .02, .04, .08, .16, .32, .64, 1.28, 2.56, 5.12, 10.24, 20.48, 40.96, 81.92}
	tokenBounds    = []float64{1, 4, 16, 64, 256, 1024, 4096, 16384, 65536, 262144, 1048576, 4194304, 16777216, 67108864}
)

// maxSeries bounds how many series a histogram has: names of models come from
// outside. Those that come later are counted together.
const maxSeries = 256

// histogram counts values in buckets, for each set of labels.
type histogram struct {
	name, help string
	bounds     []float64

	mu  sync.Mutex
	all map[string]*series // by their labels, as Prometheus writes them
}

type series struct {
	buckets []int64
	sum     float64
}

func newHistogram(name, help string, bounds []float64) *histogram {
	return &histogram{name: name, help: help, bounds: bounds, all: make(map[string]*series)}
}

// add counts a value. Labels are names of the conventions and their values in turn;
// those without a value are left out.
func (h *histogram) add(v float64, labels ...string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	key := labelsText(labels)
	if h.all[key] == nil && len(h.all) >= maxSeries {
		key = `gen_ai_request_model="other"`
	}
	s := h.all[key]
	if s == nil {
		s = &series{buckets: make([]int64, len(h.bounds)+1)}
		h.all[key] = s
	}
	i, _ := slices.BinarySearch(h.bounds, v)
	s.buckets[i]++
	s.sum += v
}

// labelsText returns labels as Prometheus writes them.
func labelsText(labels []string) string {
	var all []string
	for i := 0; i < len(labels); i += 2 {
		if name, value := labels[i], clipLabel(labels[i+1]); value != "" {
			all = append(all, prometheusName(name)+`="`+strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(value)+`"`)
		}
	}
	return strings.Join(all, ",")
}

// clipLabel makes a name from outside fit for a label.
func clipLabel(s string) string {
	s = strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) || r == unicode.ReplacementChar {
			return '_'
		}
		return r
	}, s)
	return text.Head(s, 96)
}

// write writes all series in Prometheus' text format.
func (h *histogram) write(b *strings.Builder) {
	fmt.Fprintf(b, "# HELP %s %s\n# TYPE %s histogram\n", h.name, h.help, h.name)
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, labels := range slices.Sorted(maps.Keys(h.all)) {
		s, comma, braces := h.all[labels], "", ""
		if labels != "" {
			comma, braces = labels+",", "{"+labels+"}"
		}
		var n int64
		for i, limit := range h.bounds {
			n += s.buckets[i]
			fmt.Fprintf(b, "%s_bucket{%sle=\"%g\"} %d\n", h.name, comma, limit, n)
		}
		n += s.buckets[len(h.bounds)]
		fmt.Fprintf(b, "%s_bucket{%sle=\"+Inf\"} %d\n%s_sum%s %g\n%s_count%s %d\n", h.name, comma, n, h.name, braces, s.sum, h.name, braces, n)
	}
}
