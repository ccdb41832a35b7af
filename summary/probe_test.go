package summary

import (
	"fmt"
	"math"
	"os"
	"sort"
	"strings"
	"testing"

	"github.com/winnow-llm/winnow/chat"
	"github.com/winnow-llm/winnow/evidence"
	"github.com/winnow-llm/winnow/token"
)

type row struct {
	cut   int
	f     []float64
	label bool
	cost  float64
}

func fit(rows []row, n int, names []string) []float64 {
	w := make([]float64, n)
	for iter := 0; iter < 12; iter++ {
		h := make([][]float64, n)
		for i := range h {
			h[i] = make([]float64, n+1)
			h[i][i] = 1
			h[i][n] = -w[i]
		}
		for _, r := range rows {
			z := 0.0
			for i, x := range r.f {
				z += w[i] * x
			}
			p := 1 / (1 + math.Exp(-z))
			y := 0.0
			if r.label {
				y = 1
			}
			g := y - p
			v := p * (1 - p)
			for i, x := range r.f {
				if x == 0 {
					continue
				}
				h[i][n] += g * x
				for k := 0; k <= i; k++ {
					h[i][k] += v * x * r.f[k]
				}
			}
		}
		for i := range h {
			for k := i + 1; k < n; k++ {
				h[i][k] = h[k][i]
			}
		}
		for i := 0; i < n; i++ {
			p := i
			for k := i; k < n; k++ {
				if math.Abs(h[k][i]) > math.Abs(h[p][i]) {
					p = k
				}
			}
			h[i], h[p] = h[p], h[i]
			for k := 0; k < n; k++ {
				if k == i {
					continue
				}
				r := h[k][i] / h[i][i]
				for j := i; j <= n; j++ {
					h[k][j] -= r * h[i][j]
				}
			}
		}
		for i := range w {
			w[i] += h[i][n] / h[i][i]
		}
	}
	for i := range w {
		fmt.Printf("  %-14s %7.3f\n", names[i], w[i])
	}
	return w
}

func curve(rows []row, score func(r *row) float64, budgets []float64) {
	by := map[int][]*row{}
	total := 0
	for i := range rows {
		by[rows[i].cut] = append(by[rows[i].cut], &rows[i])
		if rows[i].label {
			total++
		}
	}
	hits := make([]int, len(budgets))
	for _, l := range by {
		sort.Slice(l, func(a, b int) bool { return score(l[a])/l[a].cost > score(l[b])/l[b].cost })
		spent := 0.0
		for _, r := range l {
			spent += r.cost
			if r.label {
				for i, b := range budgets {
					if spent <= b {
						hits[i]++
					}
				}
			}
		}
	}
	for i, b := range budgets {
		fmt.Printf("  budget %5.0f recall %.3f\n", b, float64(hits[i])/float64(total))
	}
}

func TestProbe(t *testing.T) {
	if os.Getenv("PROBE") == "" {
		t.Skip()
	}
	cuts := loadCuts(t)
	counter := token.New(token.O200K, nil)
	_ = counter
	var rows, wrows []row
	var wtext []string
	names := []string{"1", "lcount", "lmsgs", "lage", "lagent", "lnear", "user", "asst", "head", "body", "result", "failed", "bare", "path", "ident", "id", "num", "flag", "err", "tick", "url", "firstage"}
	wnames := []string{"1", "lcount", "lmsgs", "lage", "user", "asst", "head", "body", "result", "lagent", "len", "common1", "common2", "common3+"}
	// document frequency of words by source
	df := map[string]map[string]bool{}
	for i := range cuts {
		c := &cuts[i]
		for k := c.from; k < c.to; k++ {
			allText(c.history.At(k), func(s string) {
				plainWords(s, func(w string) {
					if df[w] == nil {
						df[w] = map[string]bool{}
					}
					df[w][c.source] = true
				})
			})
		}
	}
	for i := range cuts {
		c := &cuts[i]
		in, _ := c.input(4000, counter).normal()
		s := scanRegion(&in, 1<<40)
		s.weigh()
		srcs := make([][6]float64, len(s.entities))
		for li := range s.lines {
			l := &s.lines[li]
			for _, id := range s.occ[l.occ:l.end] {
				srcs[id][l.from]++
				if l.failed {
					srcs[id][5]++
				}
			}
		}
		firstPos := map[int32]int32{}
		for li := len(s.lines) - 1; li >= 0; li-- {
			l := &s.lines[li]
			for _, id := range s.occ[l.occ:l.end] {
				firstPos[id] = l.pos
			}
		}
		for id := range s.entities {
			e := &s.entities[id]
			if e.tail {
				continue
			}
			f := make([]float64, len(names))
			f[0] = 1
			f[1] = math.Log1p(float64(e.count))
			f[2] = math.Log1p(float64(e.messages))
			f[3] = math.Log1p(float64(s.pos-int(e.lastPos)) / 3.6 / 500)
			f[4] = math.Log1p(float64(e.agent))
			f[5] = math.Log1p(float64(e.near))
			for k := 0; k < 6; k++ {
				if srcs[id][k] > 0 {
					f[6+k] = 1
				}
			}
			f[12] = float64(e.bare) / float64(e.count)
			f[13+int(e.kind)] = 1
			f[21] = math.Log1p(float64(s.pos-int(firstPos[int32(id)])) / 3.6 / 500)
			f[13] = b2f(e.kind == evidence.PathEntity)
			rows = append(rows, row{i, f, c.entities[e.text], textCost(e.text) + 1})
		}
		// words
		type wi struct {
			count, msgs, last int
			lastMsg           int
			src               [5]int
		}
		words := map[string]*wi{}
		pos := 0
		tail := map[string]bool{}
		see := func(text string, msg, src int) {
			plainWords(text, func(w string) {
				x := words[w]
				if x == nil {
					x = &wi{lastMsg: -1}
					words[w] = x
				}
				x.count++
				if x.lastMsg != msg {
					x.msgs++
					x.lastMsg = msg
				}
				x.last = pos
				x.src[src]++
			})
			pos += len(text)
		}
		for k := c.from; k < c.to; k++ {
			m := c.history.At(k)
			for pi := range m.Parts {
				p := &m.Parts[pi]
				switch {
				case p.Kind == chat.Text && m.Role == chat.Assistant:
					see(p.Text, k, 1)
				case p.Kind == chat.Text && m.Role == chat.User && !m.Synthetic:
					see(p.Text, k, 0)
				case p.Kind == chat.ToolResult:
					see(p.Text, k, 4)
				case p.Kind == chat.ToolCall:
					see(strings.ReplaceAll(p.Args, `\n`, "\n"), k, 3)
				}
			}
		}
		for k := c.to; k < c.history.Len(); k++ {
			allText(c.history.At(k), func(s string) { plainWords(s, func(w string) { tail[w] = true }) })
		}
		for w, x := range words {
			if tail[w] {
				continue
			}
			f := make([]float64, len(wnames))
			f[0] = 1
			f[1] = math.Log1p(float64(x.count))
			f[2] = math.Log1p(float64(x.msgs))
			f[3] = math.Log1p(float64(pos-x.last) / 3.6 / 500)
			for k := 0; k < 5; k++ {
				if x.src[k] > 0 {
					f[4+k] = 1
				}
			}
			f[9] = math.Log1p(float64(x.src[1] + x.src[3]))
			f[10] = float64(len(w)) / 10
			n := len(df[w])
			if df[w][c.source] {
				n--
			}
			switch {
			case n >= 3:
				f[13] = 1
			case n == 2:
				f[12] = 1
			case n == 1:
				f[11] = 1
			}
			wtext = append(wtext, w)
			wrows = append(wrows, row{i, f, c.words[w], 1 + float64(len(w))/6})
		}
	}
	fmt.Println("entities", len(rows))
	w := fit(rows, len(names), names)
	dot := func(w []float64) func(r *row) float64 {
		return func(r *row) float64 {
			z := 0.0
			for i, x := range r.f {
				z += w[i] * x
			}
			return math.Exp(z)
		}
	}
	budgets := []float64{500, 1000, 1500, 2000, 3000, 4000, 6000}
	curve(rows, dot(w), budgets)
	fmt.Println("recipe weight")
	curve(rows, func(r *row) float64 {
		w := 1 + r.f[1] + r.f[2]
		w /= 1 + 0.35*r.f[3]
		w *= 1 + 0.5*r.f[4] + 0.4*r.f[5]
		w *= 1 + 0.6*r.f[13] + 0.2*r.f[15]
		if r.f[12] >= 0.5 {
			w *= 0.25
		}
		return w
	}, budgets)
	fmt.Println("words", len(wrows))
	ww := fit(wrows, len(wnames), wnames)
	curve(wrows, dot(ww), []float64{200, 500, 1000, 2000, 4000})
	goroot := map[string]float64{}
	data, _ := os.ReadFile("/tmp/goroot.txt")
	for l := range strings.SplitSeq(string(data), "\n") {
		var w string
		var n int
		fmt.Sscanf(l, "%s %d", &w, &n)
		goroot[w] = float64(n)
	}
	fmt.Println("words with goroot")
	gnames := append(append([]string{}, wnames[:11]...), "lgoroot", "in>=3")
	for i := range wrows {
		n := goroot[wtext[i]]
		wrows[i].f = append(append([]float64{}, wrows[i].f[:11]...), math.Log1p(n), b2f(n >= 3))
	}
	ww = fit(wrows, len(gnames), gnames)
	curve(wrows, dot(ww), []float64{200, 500, 1000, 2000, 4000})
	n := 0
	for i := range wrows {
		if wrows[i].label && goroot[wtext[i]] >= 3 {
			n++
		}
	}
	fmt.Println("labelled in goroot>=3", n)
}

func b2f(b bool) float64 {
	if b {
		return 1
	}
	return 0
}
