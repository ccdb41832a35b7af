package replay

import (
	"cmp"
	"context"
	"fmt"
	"hash/fnv"
	"math"
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/winnow-llm/winnow/chat"
	"github.com/winnow-llm/winnow/evidence"
	"github.com/winnow-llm/winnow/summary"
	"github.com/winnow-llm/winnow/token"
)

// Summariser writes a text of at most so many tokens for the removed region of
// a cut. The text depends on its arguments alone.
type Summariser struct {
	Name string

	// Simulated is not 0 for a stand-in: the size of the summaries whose rates
	// it keeps. It knows no other size.
	Simulated int

	Write func(c *Cut, most int, counter *token.Counter) (string, error)
}

// Summarisers returns all that the single-cut table compares: ours first, then
// plain ideas, the stand-in for an LLM, and the adversaries.
func Summarisers() []Summariser {
	return []Summariser{
		{"winnow", 0, engine(summary.Builtin())},
		{"llm (stand-in)", StandInTokens, func(c *Cut, _ int, _ *token.Counter) (string, error) {
			var s StandIn
			return s.Update(c.History, c.From, c.To), nil
		}},
		{"masked transcript", 0, masked},
		{"head and tail", 0, headAndTail},
		{"user messages", 0, userMessages},
		{"call list", 0, callList},
		{"tf-idf lines", 0, tfidf},
		{"bag", 0, bag},
		{"lines", 0, heap},
		{"random", 0, random},
		{"oracle", 0, oracle},
	}
}

// engine makes one of the engine's summarisers comparable.
func engine(s summary.Summarizer) func(*Cut, int, *token.Counter) (string, error) {
	return func(c *Cut, most int, k *token.Counter) (string, error) {
		out, err := s.Summarize(context.Background(), summary.Input{
			History: c.History, From: c.From, To: c.To, Turn: -1, Max: most, Open: true, Counter: k,
		})
		return out.Text, err
	}
}

// filler gathers lines until a budget is spent.
type filler struct {
	counter *token.Counter
	left    int
	lines   []string
}

// add takes a line, cut where it is longer than what is left, and reports
// whether there is room for more.
func (f *filler) add(line string) bool {
	n := f.counter.Text(line) + 1
	if n > f.left {
		if line = f.counter.Truncate(line, f.left-1); line == "" {
			f.left = 0
			return false
		}
		n = f.left
	}
	f.left -= n
	f.lines = append(f.lines, line)
	return f.left > 0
}

func (f *filler) text() string { return strings.Join(f.lines, "\n") }

// newestFirst is the text when lines were added from the newest on.
func (f *filler) newestFirst() string {
	slices.Reverse(f.lines)
	return f.text()
}

// regionLines returns all lines of the region that say something.
func regionLines(c *Cut) []string {
	var out []string
	for i := c.From; i < c.To; i++ {
		eachText(c.History.At(i), func(_ voice, text string) {
			for l := range strings.SplitSeq(text, "\n") {
				if strings.TrimSpace(l) != "" {
					out = append(out, l)
				}
			}
		})
	}
	return out
}

// masked is the transcript without tool output, newest first.
func masked(c *Cut, most int, k *token.Counter) (string, error) {
	f := &filler{counter: k, left: most}
	for i := c.To - 1; i >= c.From; i-- {
		m := c.History.At(i)
		var b strings.Builder
		for j := range m.Parts {
			switch p := &m.Parts[j]; p.Kind {
			case chat.Text:
				fmt.Fprintf(&b, "%s: %s\n", m.Role, p.Text)
			case chat.ToolCall:
				fmt.Fprintf(&b, "call %s\n", evidence.Headline(p, 240))
			case chat.ToolResult:
				b.WriteString("[output omitted]\n")
			}
		}
		if b.Len() > 0 && !f.add(strings.TrimRight(b.String(), "\n")) {
			break
		}
	}
	return f.newestFirst(), nil
}

// headAndTail keeps the start and the end of the region.
func headAndTail(c *Cut, most int, k *token.Counter) (string, error) {
	lines := regionLines(c)
	head, tail := &filler{counter: k, left: most / 2}, &filler{counter: k, left: most - most/2}
	for _, l := range lines {
		if !head.add(l) {
			break
		}
	}
	for i := len(lines) - 1; i >= len(head.lines) && tail.add(lines[i]); i-- {
	}
	return head.text() + "\n" + tail.newestFirst(), nil
}

// userMessages keeps what the user said, newest first.
func userMessages(c *Cut, most int, k *token.Counter) (string, error) {
	f := &filler{counter: k, left: most}
	for i := c.To - 1; i >= c.From; i-- {
		m := c.History.At(i)
		if t := m.Text(); m.Role == chat.User && !m.Synthetic && t != "" && !f.add(t) {
			break
		}
	}
	return f.newestFirst(), nil
}

// callList keeps a line for each call as split-turn documents it, newest first.
func callList(c *Cut, most int, k *token.Counter) (string, error) {
	f := &filler{counter: k, left: most}
	for i := c.To - 1; i >= c.From; i-- {
		m := c.History.At(i)
		for j := len(m.Parts) - 1; j >= 0; j-- {
			if p := &m.Parts[j]; p.Kind == chat.ToolCall && !f.add(CallLine(p, "completed")) {
				return f.newestFirst(), nil
			}
		}
	}
	return f.newestFirst(), nil
}

// tfidf keeps the lines with the highest mean weight of their words.
func tfidf(c *Cut, most int, k *token.Counter) (string, error) {
	lines := regionLines(c)
	in := map[string]int{}
	words := make([][]string, len(lines))
	for i, l := range lines {
		words[i] = wordsOf(l)
		seen := map[string]bool{}
		for _, w := range words[i] {
			if !seen[w] {
				seen[w] = true
				in[w]++
			}
		}
	}
	weight := make([]float64, len(lines))
	order := make([]int, len(lines))
	for i, ws := range words {
		order[i] = i
		n := map[string]int{}
		for _, w := range ws {
			n[w]++
		}
		for _, w := range ws { // in order: a map's would change the last bit of the sum
			if n[w] > 0 {
				weight[i] += (1 + math.Log(float64(n[w]))) * math.Log(float64(len(lines))/float64(in[w]))
				n[w] = 0
			}
		}
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(weight[b], weight[a]) })
	return pickLines(lines, order, most, k), nil
}

// heap keeps the newest lines, each once.
func heap(c *Cut, most int, k *token.Counter) (string, error) {
	lines := regionLines(c)
	seen := map[string]bool{}
	var order []int
	for i := len(lines) - 1; i >= 0; i-- {
		if !seen[lines[i]] {
			seen[lines[i]] = true
			order = append(order, i)
		}
	}
	return pickLines(lines, order, most, k), nil
}

// random keeps lines drawn by lot.
func random(c *Cut, most int, k *token.Counter) (string, error) {
	lines := regionLines(c)
	h := fnv.New64a()
	fmt.Fprintf(h, "%s %d", c.Session.File, c.To)
	order := rand.New(rand.NewPCG(h.Sum64(), 1)).Perm(len(lines))
	return pickLines(lines, order, most, k), nil
}

// pickLines takes lines in an order of preference and puts them back into the
// order in which they stood.
func pickLines(lines []string, order []int, most int, k *token.Counter) string {
	f := &filler{counter: k, left: most}
	taken := []int{}
	cut := map[int]string{}
	for _, i := range order {
		n := len(f.lines)
		more := f.add(lines[i])
		if len(f.lines) > n {
			taken = append(taken, i)
			cut[i] = f.lines[n]
		}
		if !more {
			break
		}
	}
	slices.Sort(taken)
	out := make([]string, len(taken))
	for n, i := range taken {
		out[n] = cut[i]
	}
	return strings.Join(out, "\n")
}

// bag is a bare list of entities, the most frequent first.
func bag(c *Cut, most int, k *token.Counter) (string, error) {
	f := &filler{counter: k, left: most}
	for _, v := range names(c.History, c.From, c.To) {
		if !f.add(v) {
			break
		}
	}
	return f.text(), nil
}

// names returns the entities of messages from..to-1, the most frequent first.
func names(h chat.History, from, to int) []string {
	n := map[string]int{}
	var order []string
	for i := from; i < to; i++ {
		eachText(h.At(i), func(_ voice, text string) {
			eachEntity(text, func(_ evidence.EntityKind, v string) {
				if n[v]++; n[v] == 1 {
					order = append(order, v)
				}
			})
		})
	}
	slices.SortStableFunc(order, func(a, b string) int { return cmp.Compare(n[b], n[a]) })
	return order
}

// oracle knows what will be asked for: the limit of what a text of that size
// can hold.
func oracle(c *Cut, most int, k *token.Counter) (string, error) {
	f := &filler{counter: k, left: most}
	for _, s := range c.Demand.Constraints {
		if f.left > most*3/4 {
			f.add(s)
		}
	}
	// In the order in which they stood, so that neighbours stay neighbours.
	want := map[string]bool{}
	for _, e := range c.Demand.Entities {
		want[e.Value] = true
	}
	for _, w := range c.Demand.Words {
		want[w] = true
	}
	for i := c.From; i < c.To; i++ {
		eachText(c.History.At(i), func(_ voice, text string) {
			for l := range strings.SplitSeq(text, "\n") {
				var found []string
				take := func(v string) {
					if want[v] {
						delete(want, v)
						found = append(found, v)
					}
				}
				evidence.Entities(l, func(_ evidence.EntityKind, v string) { take(v) })
				eachWord(l, take)
				if len(found) > 0 {
					f.add(strings.Join(found, " "))
				}
			}
		})
	}
	return f.text(), nil
}
