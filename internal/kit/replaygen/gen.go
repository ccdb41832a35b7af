// Package replaygen writes sessions for measuring: an agent that works in a
// repository which does not exist. Nothing is stored; the same seed gives the
// same bytes.
//
// The sessions are made to be asked about. Files, test output and the user's
// words hold facts: settings with their values, error codes, tickets, commits,
// flags. Later the agent writes some of them again, as agents do: most often
// those it met often or lately, now and then one from long ago. What it will
// need is thus known to stand in the history and nowhere else.
package replaygen

import (
	"fmt"
	"math/rand/v2"
	"strings"

	"github.com/winnow-llm/winnow/chat"
	"github.com/winnow-llm/winnow/token"
	"github.com/winnow-llm/winnow/transcript"
)

// Options say how a session looks. The zero value of a field is its default.
type Options struct {
	Requests int // assistant messages; default 160
	Growth   int // tokens that each adds with what follows it; default 900
	Output   int // tokens of the answers among them; default 150
	System   int // tokens of the system prompt; default 600
	Turn     int // requests in a turn, on average; default 14
}

func (o Options) orDefault() Options {
	fill := func(v *int, standard int) {
		if *v <= 0 {
			*v = standard
		}
	}
	fill(&o.Requests, 160)
	fill(&o.Growth, 900)
	fill(&o.Output, 150)
	fill(&o.System, 600)
	fill(&o.Turn, 14)
	return o
}

// Session writes one session.
func Session(seed uint64, o Options) transcript.Session {
	g := &gen{Options: o.orDefault(), r: rand.New(rand.NewPCG(seed, 0x77696e6e6f77)), count: token.New(token.O200K, nil)}
	g.words = newWords(g.r)
	g.planRepository()
	for g.requests < g.Requests {
		g.addTurn()
	}
	return transcript.Session{
		ID: fmt.Sprintf("generated-%d", seed), Format: transcript.OpenAI,
		System:  []chat.Part{{Kind: chat.Text, Text: g.systemPrompt()}},
		History: chat.NewHistory(g.msgs...),
	}
}

// fact is something that stands in one place and may be needed in another.
type fact struct {
	path  string // of the file that has it
	name  string
	value string
	line  string // as it stands there
	word  string // a rare plain word beside it

	met  int // how often the agent wrote it
	when int // request at which it was last seen; -1 for never
}

type gen struct {
	Options
	r     *rand.Rand
	count *token.Counter
	words *words

	msgs     []chat.Message
	requests int
	time     int64

	paths []string
	files map[string][]string // lines
	facts []*fact
	known []*fact // seen so far, in order
}

// planRepository lays out the repository and its facts.
func (g *gen) planRepository() {
	g.files = map[string][]string{}
	g.time = 1_760_000_000_000
	n := 24 + g.Requests/4
	for len(g.paths) < n {
		p := g.words.path()
		if g.files[p] != nil {
			continue
		}
		g.paths = append(g.paths, p)
		g.files[p] = g.writeFile(p)
	}
}

// writeFile writes the lines of a source file with two to four facts in it.
func (g *gen) writeFile(path string) []string {
	var lines []string
	add := func(format string, args ...any) { lines = append(lines, fmt.Sprintf(format, args...)) }
	pkg := strings.Split(path, "/")[1]
	add("package %s", pkg)
	add("")
	for range 2 + g.r.IntN(3) {
		f := g.inventFact(path)
		g.facts = append(g.facts, f)
		add("// %s keeps the %s %s of the %s.", f.name, g.words.adjective(), f.word, g.words.noun())
		add("%s", f.line)
		add("")
		for range 1 + g.r.IntN(2) {
			name := g.words.ident()
			add("func %s(%s string, %s int) error {", name, g.words.noun(), g.words.noun())
			for range 3 + g.r.IntN(6) {
				switch g.r.IntN(4) {
				case 0:
					add("\tif %s == nil { return nil }", g.words.noun())
				case 1:
					add("\t%s := %s(%s, %q)", g.words.noun(), g.words.verb(), g.words.noun(), g.words.adjective()+" "+g.words.noun())
				case 2:
					add("\tfor _, %s := range %s { %s.%s() }", g.words.noun(), g.words.noun(), g.words.noun(), g.words.verb())
				default:
					add("\t// the %s %s before the %s is %s", g.words.adjective(), g.words.noun(), g.words.noun(), g.words.adjective())
				}
			}
			add("\treturn nil")
			add("}")
			add("")
		}
	}
	return lines
}

// inventFact invents one.
func (g *gen) inventFact(path string) *fact {
	f := &fact{path: path, name: g.words.ident(), word: g.words.rareWord(), when: -1}
	switch g.r.IntN(5) {
	case 0:
		f.value = fmt.Sprint(1000 + g.r.IntN(90000))
		f.line = fmt.Sprintf("const %s = %s", f.name, f.value)
	case 1:
		f.value = fmt.Sprintf("%s-%d", g.words.ticket(), 1000+g.r.IntN(9000))
		f.line = fmt.Sprintf("var %s = fix(%q)", f.name, f.value)
	case 2:
		f.value = "--" + g.words.noun() + "-" + g.words.noun()
		f.line = fmt.Sprintf("var %s = flag(%q)", f.name, f.value)
	case 3:
		f.value = fmt.Sprintf("%07x%04x", g.r.IntN(1<<28), g.r.IntN(1<<16))
		f.line = fmt.Sprintf("const %s = commit(%q)", f.name, f.value)
	default:
		f.value = strings.ToUpper(g.words.noun()) + "_" + strings.ToUpper(g.words.noun())
		f.line = fmt.Sprintf("var %s = env(%q)", f.name, f.value)
	}
	return f
}

// systemPrompt returns a prompt of the wanted size.
func (g *gen) systemPrompt() string {
	var b strings.Builder
	b.WriteString("You are a coding agent. Work in small steps and say what you found.\n")
	for n := 0; n < g.System; {
		line := fmt.Sprintf("When the %s is %s, look at the %s before the %s and report the %s.\n",
			g.words.noun(), g.words.adjective(), g.words.noun(), g.words.noun(), g.words.noun())
		n += g.count.Text(line)
		b.WriteString(line)
	}
	return b.String()
}
