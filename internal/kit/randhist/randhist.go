// Package randhist makes random conversations for property tests.
//
// What it makes looks like the work of a coding agent, so that there are
// paths, commands, errors and symbols to find, and is broken in the ways that
// real sessions are: calls without results, results without calls, ids that
// are empty or used twice, giant items, empty content, system messages in the
// middle, bytes that are not UTF-8. [Options.Healthy] leaves all of that out.
//
// The same source of randomness gives the same history.
package randhist

import (
	"math/rand/v2"
	"os"
	"strconv"

	"github.com/winnow-llm/winnow/chat"
)

// Style says where the results of calls stand.
type Style uint8

// The styles of results.
const (
	Any      Style = iota // one of the two is drawn for the whole history
	ToolRole              // each result is a message of role tool
	UserRole              // results are parts of a user's message, perhaps with text
)

// Options say what histories to make. The zero value makes everything.
type Options struct {
	// Healthy makes only what every dialect accepts: user and assistant
	// alternate, every call is answered at once, nothing is empty.
	Healthy bool

	// Style of the results.
	Style Style

	// Messages is how many messages to make; 0 draws a number, mostly small. A
	// healthy history may have a few more, so as not to end inside an exchange.
	Messages int

	// MaxText is the most bytes in one text; 0 is 300 KB, which is rare.
	MaxText int

	// Wide adds what is rarer still: every script of Unicode and what terminals
	// draw, files in base64, long runs of one role. A healthy history then has
	// several messages of the user in a row.
	Wide bool

	// Thinks makes every answer start with signed thinking.
	Thinks bool
}

// New returns a random history.
func New(r *rand.Rand, o Options) chat.History { return chat.NewHistory(Messages(r, o)...) }

// Messages returns the messages of a random history.
func Messages(r *rand.Rand, o Options) []chat.Message {
	g := &gen{Rand: r, o: o, n: o.Messages, sick: !o.Healthy && !drawChance(r, 0.2)}
	if g.o.MaxText <= 0 {
		g.o.MaxText = 300 << 10
	}
	if g.n <= 0 {
		g.n = g.drawLength()
	}
	if g.o.Style == Any {
		g.o.Style = ToolRole + Style(r.IntN(2))
	}
	g.idKind = r.IntN(3)
	g.out = make([]chat.Message, 0, g.n+8)
	for len(g.out) < g.n {
		if g.o.Wide && g.chance(0.05) {
			g.addRun()
		}
		if g.sick {
			g.addAnything()
		} else {
			g.addTurn()
		}
	}
	if g.sick {
		g.out = g.out[:g.n]
	}
	return g.out
}

func drawChance(r *rand.Rand, p float64) bool { return r.Float64() < p }

// gen is a history in the making.
type gen struct {
	*rand.Rand
	o      Options
	n      int
	sick   bool
	idKind int
	ids    int
	later  []chat.Part // results that turn up far from their calls
	out    []chat.Message
	buf    []byte
}

func (g *gen) chance(p float64) bool { return drawChance(g.Rand, p) }

func (g *gen) drawLength() int {
	switch x := g.Float64(); {
	case x < 0.06:
		return 1
	case x < 0.60:
		return 2 + g.IntN(12)
	case x < 0.97:
		return 10 + g.IntN(40)
	}
	return 60 + g.IntN(120)
}

func (g *gen) add(m chat.Message) {
	if g.chance(0.3) {
		m.ID = "msg_" + strconv.Itoa(len(g.out))
		m.Time = 1790000000000 + int64(len(g.out))*1000
	}
	if m.Role == chat.Assistant && g.chance(0.3) {
		m.Model = "a-model"
		m.Usage = &chat.Usage{Input: g.IntN(5000), CacheRead: g.IntN(50000), Output: g.IntN(2000)}
	}
	g.out = append(g.out, m)
}

// addTurn adds a user's request and healthy work on it.
func (g *gen) addTurn() {
	g.add(g.userMessage())
	for k := g.IntN(5); k > 0 && len(g.out) < g.n; k-- {
		g.addExchange()
	}
	if len(g.out) < g.n {
		g.add(g.assistantMessage())
		return
	}
	// A history may end with a request or with results, but its next message
	// is the model's: nothing follows here.
}

// addAnything adds one or a few messages, healthy or not.
func (g *gen) addAnything() {
	switch x := g.Float64(); {
	case x < 0.22:
		g.add(g.userMessage())
	case x < 0.40:
		g.add(g.assistantMessage())
	case x < 0.84:
		g.addExchange()
	case x < 0.87:
		g.add(chat.TextMessage(chat.System, g.makeProse(60)))
	case x < 0.90:
		m := chat.TextMessage(chat.User, "<reminder>"+g.makeProse(40)+"</reminder>")
		m.Synthetic = true
		g.add(m)
	case x < 0.93:
		g.addOrphan(g.makeResult("", "", false))
	case x < 0.96 && len(g.later) > 0:
		g.addOrphan(g.later[0])
		g.later = g.later[1:]
	case x < 0.98:
		g.add(g.emptyMessage())
	default:
		m := g.assistantMessage()
		m.Parts = append(m.Parts, chat.Part{Kind: chat.Opaque, Name: "server_tool_use", ID: "srv_1", Data: `{"type":"server_tool_use","id":"srv_1"}`})
		if g.chance(0.5) {
			m.Parts = append(m.Parts, chat.Part{Kind: chat.Opaque, Name: "web_search_tool_result", ID: "srv_1", Data: `{"type":"web_search_tool_result","content":"` + g.base64Text(200) + `"}`})
		}
		g.add(m)
	}
}

func (g *gen) userMessage() chat.Message {
	m := chat.TextMessage(chat.User, g.requestText())
	if g.chance(0.04) {
		m.Parts = append(m.Parts, g.imagePart())
	}
	if g.chance(0.02) {
		m.Parts = append(m.Parts, chat.Part{Kind: chat.Document, Name: "notes.pdf", Media: "application/pdf", Data: g.base64Text(600), Text: g.makeProse(200)})
	}
	if g.o.Wide && g.chance(0.06) {
		m.Parts = append(m.Parts, g.filePart())
	}
	if g.sick && g.chance(0.03) {
		m.Parts = append(m.Parts, chat.Part{Kind: chat.Text})
	}
	return m
}

// assistantMessage returns an assistant message of thinking and text.
func (g *gen) assistantMessage() chat.Message {
	m := chat.Message{Role: chat.Assistant}
	if g.thinks() {
		m.Parts = append(m.Parts, g.thinkingPart())
	}
	m.Parts = append(m.Parts, chat.Part{Kind: chat.Text, Text: g.makeText(g.drawSize(120))})
	return m
}

func (g *gen) thinkingPart() chat.Part {
	p := chat.Part{Kind: chat.Thinking, Text: g.makeProse(120)}
	if g.o.Thinks || g.chance(0.6) {
		p.Signature = g.base64Text(48)
	}
	return p
}

func (g *gen) thinks() bool { return g.o.Thinks || g.chance(0.25) }

func (g *gen) imagePart() chat.Part {
	return chat.Part{Kind: chat.Image, Media: "image/png", Data: g.base64Text(400 + g.IntN(800))}
}

// emptyMessage returns a message without content, in one of the ways they come.
func (g *gen) emptyMessage() chat.Message {
	m := chat.Message{Role: [...]chat.Role{chat.User, chat.Assistant}[g.IntN(2)]}
	switch g.IntN(3) {
	case 0:
		m.Parts = []chat.Part{{Kind: chat.Text}}
	case 1:
		m.Parts = []chat.Part{{Kind: chat.Text}, {Kind: chat.Text, Text: g.makeProse(20)}, {Kind: chat.Text}}
	}
	return m
}

// addOrphan adds a result that answers nothing before it.
func (g *gen) addOrphan(p chat.Part) {
	m := chat.Message{Role: chat.Tool, Parts: []chat.Part{p}}
	if g.o.Style == UserRole {
		m.Role = chat.User
		if g.chance(0.3) {
			m.Parts = append(m.Parts, chat.Part{Kind: chat.Text, Text: g.makeProse(20)})
		}
	}
	g.add(m)
}

func (g *gen) makeCallID() string {
	g.ids++
	if g.sick {
		switch x := g.Float64(); {
		case x < 0.01:
			return ""
		case x < 0.02:
			return "call_\xff\xfe"
		case x < 0.08:
			g.ids = 1 // ids start again
		}
	}
	switch g.idKind {
	case 0:
		return "call_" + strconv.Itoa(g.ids)
	case 1:
		return "toolu_" + g.base64Text(12) + strconv.Itoa(g.ids)
	}
	return "functions.tool:" + strconv.Itoa(g.ids)
}

// addExchange adds an assistant message with calls, and their results.
func (g *gen) addExchange() {
	m := chat.Message{Role: chat.Assistant}
	if g.thinks() {
		m.Parts = append(m.Parts, g.thinkingPart())
	}
	if g.chance(0.5) {
		m.Parts = append(m.Parts, chat.Part{Kind: chat.Text, Text: g.makeProse(40)})
	}
	if g.sick && g.chance(0.02) {
		m.Parts = append(m.Parts, chat.Part{Kind: chat.Text})
	}
	calls := 1
	if g.chance(0.3) {
		calls += 1 + g.IntN(3)
	}
	var results []chat.Part
	for k := range calls {
		call, kind := g.makeCall()
		if g.sick && k > 0 && g.chance(0.03) {
			call.ID = m.Parts[len(m.Parts)-1].ID
		}
		m.Parts = append(m.Parts, call)
		results = append(results, g.makeResult(call.ID, call.Name, kind == shellCall))
	}
	g.add(m)
	if g.sick {
		results = g.spoilResults(results)
	}
	g.addResults(results)
}

// spoilResults takes results away, doubles, moves and mixes them.
func (g *gen) spoilResults(results []chat.Part) []chat.Part {
	if g.chance(0.2) {
		g.Shuffle(len(results), func(i, j int) { results[i], results[j] = results[j], results[i] })
	}
	switch x := g.Float64(); {
	case x < 0.08: // one never comes
		k := g.IntN(len(results))
		results = append(results[:k:k], results[k+1:]...)
	case x < 0.12: // one comes late
		g.later = append(g.later, results[0])
		results = results[1:]
	case x < 0.16: // one comes twice, perhaps before others
		k := g.IntN(len(results) + 1)
		results = append(results[:k:k], append([]chat.Part{results[g.IntN(len(results))]}, results[k:]...)...)
	case x < 0.18: // none comes
		results = nil
	case x < 0.20: // a stranger stands among them
		k := g.IntN(len(results) + 1)
		stranger := g.makeResult("call_of_nobody", "", false)
		results = append(results[:k:k], append([]chat.Part{stranger}, results[k:]...)...)
	case x < 0.22: // a system message stands between
		g.add(chat.TextMessage(chat.System, g.makeProse(20)))
	}
	return results
}

// addResults adds messages with these results in the history's style.
func (g *gen) addResults(results []chat.Part) {
	if g.o.Style == ToolRole {
		for _, p := range results {
			g.add(chat.Message{Role: chat.Tool, Parts: []chat.Part{p}})
		}
		return
	}
	for len(results) > 0 {
		n := len(results)
		if g.sick && n > 1 && g.chance(0.1) {
			n = 1
		}
		m := chat.Message{Role: chat.User, Parts: results[:n:n]}
		if g.chance(0.1) {
			m.Parts = append(m.Parts, chat.Part{Kind: chat.Text, Text: g.requestText()})
		}
		g.add(m)
		results = results[n:]
	}
}

// FirstSeed is where the seeds of properties start: WINNOW_SEED, by default 0, so
// that every run looks at the same. Another one looks at what nobody has looked at.
var FirstSeed = func() uint64 {
	n, _ := strconv.ParseUint(os.Getenv("WINNOW_SEED"), 10, 64) // anything but a number is 0
	return n
}()
