package replaygen

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/winnow-llm/winnow/chat"
	"github.com/winnow-llm/winnow/internal/jsonwrite"
)

// addTurn adds a user's request and what the agent does about it.
func (g *gen) addTurn() {
	rule := fmt.Sprintf("Never %s the %s %s without its %s.", g.words.verb(), g.words.adjective(), g.words.noun(), g.words.rareWord())
	text := fmt.Sprintf("Make the %s %s again in %s. %s", g.words.noun(), g.words.adjective(), g.pickPath(), rule)
	if g.r.IntN(3) == 0 && len(g.known) > 0 {
		text += fmt.Sprintf(" You must keep the %s as it is.", g.words.noun())
	}
	g.addMessage(chat.TextMessage(chat.User, text))
	for n := max(2, g.Turn/2+g.r.IntN(g.Turn+1)); n > 0 && g.requests < g.Requests; n-- {
		g.addStep(n == 1)
	}
}

func (g *gen) addMessage(m chat.Message) {
	g.time += int64(2000 + g.r.IntN(9000))
	m.Time = g.time
	g.msgs = append(g.msgs, m)
}

// addStep adds one answer of the agent and, unless it ends the turn, the results of
// its calls.
func (g *gen) addStep(last bool) {
	text := g.answerProse()
	used := ""
	if f := g.drawFact(); f != nil {
		used = fmt.Sprintf(" %s in %s is %s (%s).", f.name, f.path, f.value, f.word)
		g.noteMet(f)
	}
	g.requests++
	if last {
		g.addMessage(chat.TextMessage(chat.Assistant, text+used+" The turn is done."))
		return
	}
	id := fmt.Sprintf("call_%d_%d", g.requests, g.r.IntN(1<<20))
	call, result := g.makeCall(id)
	g.addMessage(chat.CallMessage(text+used, call))
	g.addMessage(chat.ResultMessage(id, result))
}

// answerProse fills an answer up to its size.
func (g *gen) answerProse() string {
	var b strings.Builder
	for n := 0; n < g.Output-40; {
		s := fmt.Sprintf("The %s %s of the %s is %s, so I %s it. ", g.words.adjective(), g.words.noun(), g.words.noun(), g.words.adjective(), g.words.verb())
		n += g.count.Text(s)
		b.WriteString(s)
	}
	return strings.TrimSpace(b.String())
}

// drawFact draws a fact that the agent writes again, or none. Facts that it
// wrote before and those it saw lately are likelier.
func (g *gen) drawFact() *fact {
	if len(g.known) < 4 || g.r.IntN(3) == 0 {
		return nil
	}
	total := 0.0
	weight := make([]float64, len(g.known))
	for i, f := range g.known {
		weight[i] = (1 + 4*float64(f.met)) / math.Sqrt(1+float64(g.requests-f.when)/10)
		total += weight[i]
	}
	at := g.r.Float64() * total
	for i, w := range weight {
		if at -= w; at < 0 {
			return g.known[i]
		}
	}
	return g.known[len(g.known)-1]
}

func (g *gen) noteMet(f *fact) { f.met, f.when = min(f.met+1, 8), g.requests }

// noteSeen notes that a fact was shown.
func (g *gen) noteSeen(f *fact) {
	if f.when < 0 {
		g.known = append(g.known, f)
	}
	f.when = g.requests
}

func (g *gen) pickPath() string { return g.paths[g.r.IntN(len(g.paths))] }

// makeCall makes a call with its result, large enough for the growth that is
// wanted.
func (g *gen) makeCall(id string) (chat.Part, string) {
	room := max(60, g.Growth-g.Output-60)
	switch g.r.IntN(5) {
	case 0:
		return chat.Call(id, "bash", argsJSON("command", "go test ./"+folderOf(g.pickPath())+"/...")), g.testOutput(room)
	case 1:
		word := g.words.noun()
		return chat.Call(id, "grep", argsJSON("pattern", word, "path", folderOf(g.pickPath()))), g.grepOutput(room)
	}
	path := g.pickPath()
	return chat.Call(id, "read_file", argsJSON("path", path)), g.readOutput(path, room)
}

func folderOf(path string) string { return path[:strings.LastIndexByte(path, '/')] }

func argsJSON(kv ...string) string {
	w := jsonwrite.Object()
	for i := 0; i < len(kv); i += 2 {
		w.Str(kv[i], kv[i+1])
	}
	w.Close('}')
	return string(w.B)
}

// readOutput shows a file, and others beside it until the room is used.
func (g *gen) readOutput(path string, room int) string {
	var b strings.Builder
	at := slices.Index(g.paths, path)
	for n := 0; n < room; at++ {
		p := g.paths[at%len(g.paths)]
		fmt.Fprintf(&b, "==> %s <==\n", p)
		for i, l := range g.files[p] {
			l = fmt.Sprintf("%5d\t%s\n", i+1, l)
			if n += g.count.Text(l); n > room {
				return b.String()
			}
			b.WriteString(l)
			g.noteShown(p, l)
		}
	}
	return b.String()
}

// noteShown notes the facts that a line of a file shows.
func (g *gen) noteShown(path, line string) {
	for _, f := range g.facts {
		if f.path == path && strings.Contains(line, f.line) {
			g.noteSeen(f)
		}
	}
}

func (g *gen) testOutput(room int) string {
	var b strings.Builder
	for n := 0; n < room; {
		l := fmt.Sprintf("    %s_test.go:%d: the %s %s of the %s is %s, want %s\n", g.words.noun(), 10+g.r.IntN(80), g.words.adjective(), g.words.noun(), g.words.noun(), g.words.adjective(), g.words.adjective())
		if g.r.IntN(12) == 0 {
			f := g.facts[g.r.IntN(len(g.facts))]
			l = fmt.Sprintf("--- FAIL: %s: %s\n    %s\n", f.path, f.name, f.line)
			g.noteSeen(f)
		}
		n += g.count.Text(l)
		b.WriteString(l)
	}
	b.WriteString("FAIL\nexit status 1\n")
	return b.String()
}

func (g *gen) grepOutput(room int) string {
	var b strings.Builder
	for n := 0; n < room; {
		f := g.facts[g.r.IntN(len(g.facts))]
		l := fmt.Sprintf("%s:%d: %s %s %s\n", f.path, 1+g.r.IntN(90), g.words.verb(), g.words.adjective(), g.words.noun())
		if g.r.IntN(6) == 0 {
			l = fmt.Sprintf("%s:%d: %s\n", f.path, 1+g.r.IntN(90), f.line)
			g.noteSeen(f)
		}
		n += g.count.Text(l)
		b.WriteString(l)
	}
	return b.String()
}
