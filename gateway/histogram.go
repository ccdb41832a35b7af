package gateway

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"sync"
	"unicode"

	"github.com/winnow-llm/winnow/internal/text"
)

// Bounds of the histograms that the conventions name: seconds and tokens.
var (
	durationBounds = []float64{.01, .02, .04, .08, .16, .32, .64, 1.28, 2.56, 5.12, 10.24, 20.48, 40.96, 81.92}
	tokenBounds    = []float64{1, 4, 16, 64, 256, 1024, 4096, 16384, 65536, 262144, 1048576, 4194304, 16777216, 67108864}
)

// labels tell the series of a histogram apart.
type labels struct{ operation, provider, model, kind, failure string }

// maxSeries bounds how many series a histogram has: names of models come from
// outside. Those that come later are counted together.
const maxSeries = 256

// histogram counts values in buckets, for each set of labels.
type histogram struct {
	bounds []float64

	mu  sync.Mutex
	all map[labels]*series
}

type series struct {
	buckets []int64
	sum     float64
}

func newHistogram(bounds []float64) *histogram {
	return &histogram{bounds: bounds, all: make(map[labels]*series)}
}

func (h *histogram) add(l labels, v float64) {
	l.model = clipLabel(l.model)
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.all[l] == nil && len(h.all) >= maxSeries {
		l.model = "other"
	}
	s := h.all[l]
	if s == nil {
		s = &series{buckets: make([]int64, len(h.bounds)+1)}
		h.all[l] = s
	}
	i, _ := slices.BinarySearch(h.bounds, v)
	s.buckets[i]++
	if !math.IsNaN(v) {
		s.sum += v
	}
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
func (h *histogram) write(b *strings.Builder, name, help string) {
	fmt.Fprintf(b, "# HELP %s %s\n# TYPE %s histogram\n", name, help, name)
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, l := range slices.SortedFunc(maps.Keys(h.all), func(a, b labels) int { return strings.Compare(a.text(), b.text()) }) {
		s, text := h.all[l], l.text()
		comma := text
		if text != "" {
			comma += ","
			text = "{" + text + "}"
		}
		var n int64
		for i, limit := range h.bounds {
			n += s.buckets[i]
			fmt.Fprintf(b, "%s_bucket{%sle=\"%g\"} %d\n", name, comma, limit, n)
		}
		n += s.buckets[len(h.bounds)]
		fmt.Fprintf(b, "%s_bucket{%sle=\"+Inf\"} %d\n%s_sum%s %g\n%s_count%s %d\n", name, comma, n, name, text, s.sum, name, text, n)
	}
}

// text returns the labels as Prometheus writes them, those without a value left out.
func (l labels) text() string {
	var b strings.Builder
	for _, x := range [...][2]string{
		{attrOperation, l.operation},
		{attrProvider, l.provider},
		{attrModel, l.model},
		{attrTokenType, l.kind},
		{attrErrorType, l.failure},
	} {
		if x[1] == "" {
			continue
		}
		if b.Len() > 0 {
			b.WriteByte(',')
		}
		b.WriteString(prometheusName(x[0]) + `="` + strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`).Replace(x[1]) + `"`)
	}
	return b.String()
}
