package summary

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"sort"
	"strings"
	"testing"
	"unicode"

	"github.com/winnow-llm/winnow/chat"
	"github.com/winnow-llm/winnow/evidence"
	"github.com/winnow-llm/winnow/internal/corpus"
	"github.com/winnow-llm/winnow/token"
	"github.com/winnow-llm/winnow/transcript"
)

// The measure of future use: a real session is cut where nothing was
// compacted, and what the agent writes in its next steps is looked for in the text that
// stands for what was removed. E counts names, paths, numbers and the like, P
// pairs of them that stood close together and still do, W plain words that are
// rare, C sentences of the user that bind.

type cut struct {
	source      string
	history     chat.History // up to the cut
	from, to    int          // removed region
	entities    map[string]bool
	words       map[string]bool
	pairs       [][2]string
	constraints []string
}

type place struct{ line, offset int }

// plainWords calls f with the words of five and more letters that no entity covers.
func plainWords(s string, f func(string)) {
	for _, w := range strings.FieldsFunc(s, func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r) && r != '_' && r != '-' && r != '/' && r != '.'
	}) {
		w = strings.Trim(w, ".-/")
		if len(w) < 5 || len(w) > 30 {
			continue
		}
		ok := true
		for i, r := range w {
			if !unicode.IsLower(r) && !(i == 0 && unicode.IsUpper(r)) {
				ok = false
				break
			}
		}
		if ok {
			f(strings.ToLower(w))
		}
	}
}

// agentText calls f with what the agent wrote in a message, shown with what
// others showed it.
func agentText(m *chat.Message, f func(string)) {
	if m.Role != chat.Assistant {
		return
	}
	for i := range m.Parts {
		switch p := &m.Parts[i]; p.Kind {
		case chat.Text:
			f(p.Text)
		case chat.ToolCall:
			for _, a := range evidence.KeyArgs(p, 100) {
				f(a.Value)
			}
		}
	}
}

func allText(m *chat.Message, f func(string)) {
	agentText(m, f)
	if m.Role == chat.Assistant {
		return
	}
	for i := range m.Parts {
		if p := &m.Parts[i]; p.Kind == chat.Text || p.Kind == chat.ToolResult {
			f(p.Text)
		}
	}
}

func entitiesOf(text string, f func(v string)) {
	for l := range strings.SplitSeq(text, "\n") {
		evidence.Entities(l, func(_ evidence.EntityKind, v string) { f(v) })
	}
}

// places records where entities stand in texts that follow each other.
type places struct {
	at     map[string][]place
	line   int
	offset int
}

func (p *places) add(text string) {
	for l := range strings.SplitSeq(text, "\n") {
		base := 0
		evidence.Entities(l, func(_ evidence.EntityKind, v string) {
			k := strings.Index(l[base:], v)
			if k < 0 {
				k = 0
			}
			p.at[v] = append(p.at[v], place{p.line, p.offset + base + k})
			base += k
		})
		p.line++
		p.offset += len(l) + 1
	}
}

func (p *places) near(a, b string) bool {
	x, y := p.at[a], p.at[b]
	i, k := 0, 0
	for i < len(x) && k < len(y) {
		dl, do := x[i].line-y[k].line, x[i].offset-y[k].offset
		if max(dl, -dl) <= 2 || max(do, -do) <= 240 {
			return true
		}
		if do < 0 {
			i++
		} else {
			k++
		}
	}
	return false
}

type common struct{ entities, words map[string]map[string]bool }

func loadCuts(t testing.TB) []cut {
	dir := corpus.Dir(t, "sessions")
	type loaded struct {
		source string
		s      transcript.Session
	}
	var list []loaded
	filepath.WalkDir(dir, func(p string, d os.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() || strings.HasSuffix(p, ".tsv") || strings.HasSuffix(p, ".md") || d.Name() == "LICENSE" {
			return nil
		}
		rel, _ := filepath.Rel(dir, p)
		if !strings.Contains(rel, string(filepath.Separator)) {
			return nil
		}
		sessions, err := transcript.ReadFile(p, nil)
		if err != nil {
			t.Logf("left out: %v", err)
			return nil
		}
		for _, s := range sessions {
			list = append(list, loaded{strings.Split(rel, string(filepath.Separator))[0], s})
		}
		return nil
	})
	com := common{map[string]map[string]bool{}, map[string]map[string]bool{}}
	put := func(m map[string]map[string]bool, k, source string) {
		if m[k] == nil {
			m[k] = map[string]bool{}
		}
		m[k][source] = true
	}
	for _, l := range list {
		for _, m := range l.s.History.All() {
			allText(m, func(text string) {
				entitiesOf(text, func(v string) { put(com.entities, v, l.source) })
				plainWords(text, func(w string) { put(com.words, w, l.source) })
			})
		}
	}
	counter := token.New(token.O200K, nil)
	var cuts []cut
	for _, l := range list {
		ends := []int{0}
		for _, c := range l.s.Compactions {
			ends = append(ends, c.At)
		}
		ends = append(ends, l.s.History.Len())
		for i := 0; i+1 < len(ends); i++ {
			cuts = append(cuts, cutStretch(l.source, l.s.History, ends[i], ends[i+1], counter, &com)...)
		}
	}
	return cuts
}

func cutStretch(source string, h chat.History, from, to int, counter *token.Counter, com *common) []cut {
	var cuts []cut
	tokens, next := 0, 24000
	for at := from; at < to; at++ {
		if tokens >= next && h.At(at).Role == chat.Assistant {
			next = tokens - tokens%24000 + 24000
			if c, ok := makeCut(source, h, from, at, to, counter, com); ok {
				cuts = append(cuts, c)
			}
		}
		tokens += counter.At(h, at)
	}
	return cuts
}

func makeCut(source string, h chat.History, from, at, end int, counter *token.Counter, com *common) (cut, bool) {
	steps, stop := 0, at
	for ; stop < end && steps < 30; stop++ {
		if h.At(stop).Role == chat.Assistant {
			steps++
		}
	}
	if steps < 10 {
		return cut{}, false
	}
	outline := chat.NewOutline(h.Head(at))
	tail, kept := at, 0
	for tail > from && kept < 8000 {
		tail--
		kept += counter.At(h, tail)
	}
	for tail > from && !outline.CanCut(tail) {
		tail--
	}
	if tail-from < 4 {
		return cut{}, false
	}
	c := cut{source: source, history: h.Head(at), from: from, to: tail, entities: map[string]bool{}, words: map[string]bool{}}
	region := places{at: map[string][]place{}}
	inRegion, inTail := map[string]bool{}, map[string]bool{}
	for i := from; i < tail; i++ {
		m := h.At(i)
		allText(m, func(text string) {
			region.add(text)
			plainWords(text, func(w string) { inRegion[w] = true })
		})
		if m.Role == chat.User && !m.Synthetic {
			c.constraints = append(c.constraints, evidence.BindingSentences(m.Text())...)
		}
	}
	seen := map[string]bool{}
	for i := tail; i < at; i++ {
		allText(h.At(i), func(text string) {
			entitiesOf(text, func(v string) { seen[v] = true })
			plainWords(text, func(w string) { inTail[w] = true })
		})
	}
	for i := at; i < stop; i++ {
		m := h.At(i)
		if m.Role == chat.Assistant {
			agentText(m, func(text string) {
				entitiesOf(text, func(v string) {
					if !seen[v] && region.at[v] != nil && len(com.entities[v]) < 4 {
						c.entities[v] = true
					}
				})
				plainWords(text, func(w string) {
					if !inTail[w] && inRegion[w] && len(com.words[w]) < 3 {
						c.words[w] = true
					}
				})
			})
			continue
		}
		allText(m, func(text string) {
			entitiesOf(text, func(v string) { seen[v] = true })
			plainWords(text, func(w string) { inTail[w] = true })
		})
	}
	var names []string
	for v := range c.entities {
		names = append(names, v)
	}
	sort.Strings(names)
	for i, a := range names {
		for _, b := range names[i+1:] {
			if region.near(a, b) {
				c.pairs = append(c.pairs, [2]string{a, b})
			}
		}
	}
	return c, true
}

type score struct{ e, p, w, c [2]int }

func (s score) String() string {
	r := func(x [2]int) float64 { return float64(x[0]) / float64(max(x[1], 1)) }
	return fmt.Sprintf("E %.3f (%d)  P %.3f (%d)  W %.3f (%d)  C %.3f (%d)  mean %.3f",
		r(s.e), s.e[1], r(s.p), s.p[1], r(s.w), s.w[1], r(s.c), s.c[1], (r(s.e)+r(s.p)+r(s.w)+r(s.c))/4)
}

func (s *score) add(c *cut, text string) {
	out := places{at: map[string][]place{}}
	out.add(text)
	words := map[string]bool{}
	plainWords(text, func(w string) { words[w] = true })
	hit := func(x *[2]int, ok bool) {
		x[1]++
		if ok {
			x[0]++
		}
	}
	for v := range c.entities {
		hit(&s.e, out.at[v] != nil)
	}
	for _, p := range c.pairs {
		hit(&s.p, out.near(p[0], p[1]))
	}
	for w := range c.words {
		hit(&s.w, words[w])
	}
	lines := wordLines(text)
	for _, k := range c.constraints {
		hit(&s.c, onOneLine(lines, k))
	}
}

func (c *cut) input(size int, counter *token.Counter) Input {
	return Input{History: c.history, From: c.from, To: c.to, Turn: -1, Max: size, Counter: counter}
}

// TestFutureUse prints the table with -v and holds the summariser to its bars.
func TestFutureUse(t *testing.T) {
	if testing.Short() {
		t.Skip("the measure over all sessions takes half a minute")
	}
	cuts := loadCuts(t)
	counter := token.New(token.O200K, nil)
	measure := func(name string, s Summarizer, size int) (total score) {
		bySource := map[string]*score{}
		survived := map[evidence.Class]evidence.Share{}
		for i := range cuts {
			c := &cuts[i]
			in := c.input(size, counter)
			out, err := s.Summarize(context.Background(), in)
			if err != nil {
				t.Fatal(err)
			}
			total.add(c, out.Text)
			if bySource[c.source] == nil {
				bySource[c.source] = &score{}
			}
			bySource[c.source].add(c, out.Text)
			if size == 4000 {
				shares, err := Survival(out.Text, in)
				if err != nil {
					t.Fatal(err)
				}
				for class, share := range shares {
					survived[class] = evidence.Share{Found: survived[class].Found + share.Found, Total: survived[class].Total + share.Total}
				}
			}
		}
		t.Logf("%-8s %5d  %v", name, size, total)
		if size == 4000 {
			for _, src := range sortedKeys(bySource) {
				t.Logf("   %-32s %v", src, bySource[src])
			}
			for class := range evidence.Classes {
				t.Logf("   %-12s %.2f of %d", class, survived[class].Of(), survived[class].Total)
			}
		}
		return total
	}
	t.Logf("%d cuts", len(cuts))
	measure("builtin", Builtin(), 1000)
	two := measure("builtin", Builtin(), 2000)
	four := measure("builtin", Builtin(), 4000)
	measure("builtin", Builtin(), 8000)
	measure("quick", Quick(), 4000)
	for _, bar := range []struct {
		name  string
		share [2]int
		least float64
	}{{"E at 2,000", two.e, 0.60}, {"E at 4,000", four.e, 0.75}, {"P at 4,000", four.p, 0.50}, {"W at 4,000", four.w, 0.50}, {"C at 4,000", four.c, 0.75}} {
		if got := float64(bar.share[0]) / float64(max(bar.share[1], 1)); got < bar.least {
			t.Errorf("%s is %.3f, the bar is %.2f", bar.name, got, bar.least)
		}
	}
}

func sortedKeys[V any](m map[string]V) []string {
	var k []string
	for x := range m {
		k = append(k, x)
	}
	sort.Strings(k)
	return k
}
