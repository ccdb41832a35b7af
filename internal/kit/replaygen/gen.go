// Package replaygen writes sessions for measuring: an agent that works in a
// repository which does not exist. Nothing is stored; the same seed gives the
// same bytes.
package replaygen

import (
	"fmt"
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"

	"github.com/winnow-llm/winnow/chat"
	"github.com/winnow-llm/winnow/internal/defaults"
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
	defaults.Set(&o.Requests, 160)
	defaults.Set(&o.Growth, 900)
	defaults.Set(&o.Output, 150)
	defaults.Set(&o.System, 600)
	defaults.Set(&o.Turn, 14)
	return o
}

// Session writes one session.
func Session(seed uint64, o Options) transcript.Session {
	g := &gen{Options: o.orDefault(), r: rand.New(rand.NewPCG(seed, 0x77696e6e6f77)), count: token.New(token.O200K, nil), time: 1_760_000_000_000}
	for i := range 24 + g.Requests/4 {
		g.paths = append(g.paths, g.write("internal/NOUN/VERB_")+fmt.Sprintf("%d.go", i))
		g.files = append(g.files, g.writeFile())
	}
	for g.requests < g.Requests {
		g.addTurn()
	}
	return transcript.Session{
		ID: fmt.Sprintf("generated-%d", seed), Format: transcript.OpenAI,
		System: []chat.Part{{Kind: chat.Text, Text: "You are a coding agent. Work in small steps and say what you found.\n" +
			g.fill(g.System, "When the NOUN is ADJ, look at the NOUN before the NOUN and report the NOUN.\n")}},
		History: chat.NewHistory(g.msgs...),
	}
}

type gen struct {
	Options
	r     *rand.Rand
	count *token.Counter

	msgs     []chat.Message
	requests int
	time     int64

	paths []string
	files [][]string // lines
}

var (
	nouns      = strings.Fields("account batch branch buffer cache channel client cluster column config cursor digest driver engine event filter frame gateway handler header index journal label ledger limit lock manifest member metric module offset order packet payload phase policy pool queue quota record region registry report route sample schema segment session shard signal snapshot source stage stream tenant token tracker trigger version volume window worker zone")
	verbs      = strings.Fields("apply bind check close collect commit copy count decode drain encode fetch flush hold join load merge move open parse plan poll push read reset route scan send settle sort split start store sync trim validate wait wrap write")
	adjectives = strings.Fields("broken cold current dirty early empty exact final fixed fresh global idle inner large late local mixed nested newer older open partial pending plain prior quiet short shared sparse stable stale strict total unused valid wide")
)

var places = regexp.MustCompile("NOUN|VERB|ADJ|#")

// write puts words and numbers in the places of a text that stand for them.
func (g *gen) write(form string) string {
	return places.ReplaceAllStringFunc(form, func(place string) string {
		switch place {
		case "NOUN":
			return nouns[g.r.IntN(len(nouns))]
		case "VERB":
			return verbs[g.r.IntN(len(verbs))]
		case "ADJ":
			return adjectives[g.r.IntN(len(adjectives))]
		}
		return fmt.Sprint(1 + g.r.IntN(9999))
	})
}

// fill writes a text of about that number of tokens, in lines of the forms.
func (g *gen) fill(tokens int, forms ...string) string {
	var b strings.Builder
	for n := 0; n < tokens; {
		line := g.write(forms[g.r.IntN(len(forms))])
		n += g.count.Text(line)
		b.WriteString(line)
	}
	return b.String()
}

// writeFile writes the lines of a source file.
func (g *gen) writeFile() []string {
	lines := []string{g.write("package NOUN"), ""}
	add := func(forms ...string) { lines = append(lines, g.write(forms[g.r.IntN(len(forms))])) }
	for range 4 + g.r.IntN(4) {
		add("const NOUN# = #", `var NOUN# = env("NOUN_#")`, `var NOUN# = flag("--NOUN-NOUN")`)
		add("func VERB#(NOUN string, NOUN int) error {")
		for range 3 + g.r.IntN(6) {
			add("\tif NOUN == nil { return nil }", "\tNOUN := VERB(NOUN, \"ADJ NOUN\")", "\tfor _, NOUN := range NOUN { NOUN.VERB() }", "\t// the ADJ NOUN before the NOUN is ADJ")
		}
		lines = append(lines, "\treturn nil", "}", "")
	}
	return lines
}

// addTurn adds a user's request and what the agent does about it.
func (g *gen) addTurn() {
	g.addMessage(chat.TextMessage(chat.User, g.write("Make the NOUN ADJ again in "+g.pickPath()+". Never VERB the ADJ NOUN without its NOUN.")))
	for n := max(2, g.Turn/2+g.r.IntN(g.Turn+1)); n > 0 && g.requests < g.Requests; n-- {
		g.addStep(n == 1)
	}
}

func (g *gen) addMessage(m chat.Message) {
	g.time += int64(2000 + g.r.IntN(9000))
	m.Time = g.time
	g.msgs = append(g.msgs, m)
}

func (g *gen) pickPath() string { return g.paths[g.r.IntN(len(g.paths))] }

// addStep adds one answer of the agent and, unless it ends the turn, the result of
// its call, large enough for the growth that is wanted.
func (g *gen) addStep(last bool) {
	text := strings.TrimSpace(g.fill(g.Output-40, "The ADJ NOUN of the NOUN is ADJ, so I VERB it. "))
	g.requests++
	if last {
		g.addMessage(chat.TextMessage(chat.Assistant, text+" The turn is done."))
		return
	}
	id := fmt.Sprintf("call_%d_%d", g.requests, g.r.IntN(1<<20))
	room, path := max(60, g.Growth-g.Output-60), g.pickPath()
	folder := path[:strings.LastIndexByte(path, '/')]
	call, result := chat.Call(id, "read_file", fmt.Sprintf(`{"path":%q}`, path)), ""
	switch g.r.IntN(5) {
	case 0:
		call = chat.Call(id, "bash", fmt.Sprintf(`{"command":"go test ./%s/..."}`, folder))
		result = g.fill(room, "    NOUN_test.go:#: the ADJ NOUN of the NOUN is ADJ, want ADJ\n") + "FAIL\nexit status 1\n"
	case 1:
		call = chat.Call(id, "grep", g.write(`{"pattern":"NOUN","path":`)+fmt.Sprintf("%q}", folder))
		result = g.fill(room, folder+"/VERB_#.go:#: VERB ADJ NOUN\n")
	default:
		result = g.readFiles(path, room)
	}
	g.addMessage(chat.CallMessage(text, call))
	g.addMessage(chat.ResultMessage(id, result))
}

// readFiles shows a file, and others beside it until the room is used.
func (g *gen) readFiles(path string, room int) string {
	var b strings.Builder
	for at, n := slices.Index(g.paths, path), 0; ; at++ {
		fmt.Fprintf(&b, "==> %s <==\n", g.paths[at%len(g.paths)])
		for i, l := range g.files[at%len(g.paths)] {
			l = fmt.Sprintf("%5d\t%s\n", i+1, l)
			if n += g.count.Text(l); n > room {
				return b.String()
			}
			b.WriteString(l)
		}
	}
}
