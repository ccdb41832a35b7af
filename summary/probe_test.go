package summary

import (
	"fmt"
	"math"
	"os"
	"sort"
	"strings"
	"testing"

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
	var rows, wrows []row
	names := []string{"1", "lcount", "lmsgs", "lage", "lagent", "lnear", "user", "asst", "head", "body", "result", "failed", "bare", "path", "ident", "id", "num", "flag", "err", "tick", "url", "modhome", "len",
		"agentage", "defined", "path*result", "ident*result", "tick*result", "cmdhome", "nohome", "onlyresult", "caps", "nlines"}
	wnames := append(append([]string{}, names[:12]...), "len", "lrare")
	common := commonWords()
	missed := 0
	for i := range cuts {
		c := &cuts[i]
		in, _ := c.input(4000, counter).normal()
		s := scanRegion(&in, 1<<40)
		s.weigh()
		got := 0
		lastAgent := map[int32]int32{}
		defined := map[int32]bool{}
		for li := range s.lines {
			l := &s.lines[li]
			for _, id := range s.occ[l.occ:l.end] {
				if l.from == fromAssistant || l.from == fromCall || l.from == fromBody {
					lastAgent[id] = l.pos
				}
				v := s.entities[id].text
				for _, k := range []string{"func ", "class ", "def ", "const ", "type ", "interface ", "function ", "struct ", "enum "} {
					if strings.Contains(l.text, k+v) {
						defined[id] = true
					}
				}
				if strings.HasPrefix(l.text, "func (") && strings.Contains(l.text, ") "+v+"(") {
					defined[id] = true
				}
			}
		}
		for id := range s.entities {
			e := &s.entities[id]
			if e.tail {
				continue
			}
			f := make([]float64, 12, len(names)+4)
			f[0] = 1
			f[1] = math.Log1p(float64(e.count))
			f[2] = math.Log1p(float64(e.messages))
			f[3] = math.Log1p(float64(s.pos-int(e.lastPos)) / 3.6 / 500)
			f[4] = math.Log1p(float64(e.agent))
			f[5] = math.Log1p(float64(e.near))
			for k := 0; k < 5; k++ {
				f[6+k] = b2f(e.sources&(1<<k) != 0)
			}
			f[11] = b2f(e.sources&failedBit != 0)
			if e.kind == wordEntity {
				if c.words[e.text] {
					got++
				}
				r := 0.0
				if tier, ok := common[e.text]; ok {
					r = -math.Log(rarity[tier])
				}
				f = append(f, float64(len(e.text))/10, r)
				wrows = append(wrows, row{i, f, c.words[e.text], textCost(e.text) + 1})
				continue
			}
			f = f[:len(names)]
			f[12] = float64(e.bare) / float64(e.count)
			f[13+int(e.kind)] = 1
			if e.home >= 0 {
				o := s.homes[e.home].ops
				f[21] = b2f(o[evidence.Edit]+o[evidence.Write] > 0)
			}
			f[22] = float64(len(e.text)) / 10
			if la, ok := lastAgent[int32(id)]; ok {
				f[23] = math.Log1p(float64(s.pos-int(la)) / 1800)
			}
			f[24] = b2f(defined[int32(id)])
			res := f[10]
			f[25] = res * f[13]
			f[26] = res * f[14]
			f[27] = res * f[19]
			f[28] = b2f(e.home >= 0 && s.homes[e.home].path == "")
			f[29] = b2f(e.home < 0)
			f[30] = b2f(e.sources&^failedBit == 1<<fromResult)
			f[31] = b2f(strings.ToUpper(e.text) == e.text)
			rows = append(rows, row{i, f, c.entities[e.text], textCost(e.text) + 1})
		}
		missed += len(c.words) - got
	}
	fmt.Println("demanded words that are not looked at", missed)
	dot := func(w []float64) func(r *row) float64 {
		return func(r *row) float64 {
			z := 0.0
			for i, x := range r.f {
				z += w[i] * x
			}
			return math.Exp(z)
		}
	}
	fmt.Println("entities", len(rows))
	w := fit(rows, len(names), names)
	curve(rows, dot(w), []float64{500, 1000, 1500, 2000, 3000, 4000, 6000})
	fmt.Println("words", len(wrows))
	ww := fit(wrows, len(wnames), wnames)
	curve(wrows, dot(ww), []float64{200, 500, 1000, 2000, 4000})
}

func b2f(b bool) float64 {
	if b {
		return 1
	}
	return 0
}

func TestLoss(t *testing.T) {
	if os.Getenv("PROBE") == "" {
		t.Skip()
	}
	cuts := loadCuts(t)
	counter := token.New(token.O200K, nil)
	var absent, tail, lostRender, unchosen, ok int
	var tu, tp, tl, tq, th, cn int
	ex := map[string]int{}
	kinds := map[string][2]int{}
	for i := range cuts {
		c := &cuts[i]
		in, _ := c.input(4000, counter).normal()
		var cc *composer
		debugComposer = func(x *composer) { cc = x }
		text, _ := compose(&in, "", false)
		if cc == nil {
			continue
		}
		out := places{at: map[string][]place{}}
		out.add(text)
		for v := range c.entities {
			id, in := cc.scan.index[v]
			k := "?"
			if in {
				k = cc.scan.entities[id].kind.String()
			}
			kk := kinds[k]
			kk[1]++
			switch {
			case out.at[v] != nil:
				ok++
				kk[0]++
			case !in:
				absent++
				ex["absent "+v]++
			case cc.scan.entities[id].tail:
				tail++
				ex["tail "+v]++
			case cc.scan.entities[id].said != saidNot:
				lostRender++
				ex["render "+v]++
			default:
				unchosen++
			}
			kinds[k] = kk
		}
		sec := ""
		for l := range strings.SplitSeq(text, "\n") {
			if strings.HasPrefix(l, "## ") {
				sec = l[3:6]
			}
			n := counter.Text(l + "\n")
			switch sec {
			case "Use":
				tu += n
			case "Dec", "Cur":
				tp += n
			case "Fil":
				tl += n
				h, _, _ := strings.Cut(l, ": ")
				th += counter.Text(h)
				cn++
			case "Quo":
				tq += n
			}
		}
	}
	n := len(cuts)
	t.Logf("ok %d absent %d tail %d lost in rendering %d unchosen %d", ok, absent, tail, lostRender, unchosen)
	t.Logf("tokens per cut: user %d prose %d list %d (headers %d in %d) lines %d", tu/n, tp/n, tl/n, th/n, cn/n, tq/n)
	t.Logf("%v", kinds)
	k := 0
	for _, x := range sortedKeys(ex) {
		if k++; k < 150 {
			t.Logf("%s %d", x, ex[x])
		}
	}
}

func TestSweep(t *testing.T) {
	if os.Getenv("PROBE") == "" {
		t.Skip()
	}
	cuts := loadCuts(t)
	counter := token.New(token.O200K, nil)
	run := func(name string, size int) {
		var s score
		used, lim := 0, 0
		for i := range cuts {
			in, _ := cuts[i].input(size, counter).normal()
			text, _ := compose(&in, "", false)
			s.add(&cuts[i], text)
			used += counter.Text(text)
			lim += in.limit()
		}
		t.Logf("%-30s %d %v used %.3f", name, size, s, float64(used)/float64(lim))
	}
	sweep(run)
}
