package session

import (
	"fmt"
	"maps"
	"slices"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/winnow-llm/winnow/chat"
	"github.com/winnow-llm/winnow/internal/decode"
	"github.com/winnow-llm/winnow/internal/jsonwrite"
	"github.com/winnow-llm/winnow/internal/notes"
	"github.com/winnow-llm/winnow/internal/pifile"
	"github.com/winnow-llm/winnow/model"
	"github.com/winnow-llm/winnow/plan"
)

// line is the path to a leaf, read as a conversation. It is extended as entries
// are added, and built anew when the leaf moves elsewhere.
type line struct {
	leaf int32 // none before the first entry
	path []int32

	system  []chat.Part
	tools   []chat.ToolDef
	history chat.History

	first, last []int32 // by message: its first and last entry
	pos         []int32 // by node: its message, or none

	provider, model, thinking string
	pins                      map[int]bool
	notes                     []notes.Note
	systems                   []int32 // entries of system messages, for pi

	plan      *plan.Plan
	planAt    int32 // the entry that put it in force, or none
	compacted int   // how long the history was then
	notLasted int   // rewrites in a row up to it that did not last

	edits   map[int]jsontext.Value // what other programs put in place of messages
	repeats map[string]bool        // context edits that only repeat a plan
	told    map[string]string      // what such edits said last, by target

	// agent is the window of the agent that the conversation was taken in from,
	// which holds while agentModel answers.
	agent      model.Window
	agentModel string

	imported int64 // when another client's messages were taken in, in milliseconds; 0 for never

	skip map[int32]bool // compactions to pass over
	read *line          // a line of the same tree, whose messages are not decoded again

	// known are the plans up to here, with what each of them replaced; nil where
	// only the last one is read.
	known map[plan.ID]*plan.Plan

	// The entries of a message that stands whole in an entry before them.
	whole      *chat.Message
	wholeIDs   []string
	wholeNodes []int32
}

// event is an entry that changes how messages are seen, after n of them.
type event struct {
	node int32
	n    int
}

func newLine() *line {
	return &line{leaf: none, planAt: none, pins: make(map[int]bool), edits: make(map[int]jsontext.Value), repeats: make(map[string]bool), told: make(map[string]string)}
}

// clone returns a line that both may add to.
func (l *line) clone() *line {
	c := *l
	c.path, c.first, c.last, c.pos = slices.Clip(l.path), slices.Clip(l.first), slices.Clip(l.last), slices.Clip(l.pos)
	c.system, c.tools, c.systems = slices.Clip(l.system), slices.Clip(l.tools), slices.Clip(l.systems)
	c.notes = slices.Clip(l.notes)
	c.pins, c.edits, c.repeats, c.told = maps.Clone(l.pins), maps.Clone(l.edits), maps.Clone(l.repeats), maps.Clone(l.told)
	return &c
}

// addNodes adds nodes to the end of the line. Lenient says to make the best of
// entries that refer to what is not there.
func (l *line) addNodes(t *tree, nodes []int32, rules chat.Rules, lenient bool) error {
	for len(l.pos) < len(t.nodes) {
		l.pos = append(l.pos, none)
	}
	g := gathering{line: l, tree: t, base: l.history.Len(), msgs: make([]chat.Message, 0, len(nodes)), answered: none}
	for part := range slices.Chunk(nodes, 4096) { // so that what is decoded is not all there twice
		ready := make([]*chat.Message, len(part))
		eachParallel(len(part), 512, func(k int) { ready[k] = l.messageOf(t, part[k]) })
		for k, i := range part {
			g.takeNode(i, ready[k])
		}
	}
	g.splitUnfinished()
	if g.answered != none {
		if p := decode.Str(t.record(g.answered), "message", "provider"); p != "" {
			l.provider = p
		}
	}
	l.path = append(l.path, nodes...)
	if len(nodes) > 0 {
		l.leaf = nodes[len(nodes)-1]
	}
	if err := t.failed(); err != nil {
		return err
	}
	if l.history.Len() == 0 {
		l.history = chat.OwnHistory(g.msgs)
	} else {
		l.history = l.history.Append(g.msgs...)
	}
	return l.applyEvents(t, g.events, rules, lenient)
}

// messageOf returns what a node says by itself, from a line that was read before
// where it is on it.
func (l *line) messageOf(t *tree, i int32) *chat.Message {
	if r := l.read; r != nil && int(i) < len(r.pos) {
		if at := r.pos[i]; at >= 0 && r.first[at] == r.last[at] {
			return r.history.At(int(at))
		}
	}
	return t.decodeMessage(i)
}

// gathering is the messages and events of nodes on their way into a line.
type gathering struct {
	*line
	tree   *tree
	base   int
	msgs   []chat.Message
	events []event

	answered int32 // the last answer since the model was chosen, or none
}

// takeNode takes in a node, whose own message is m.
func (g *gathering) takeNode(i int32, m *chat.Message) {
	n := &g.tree.nodes[i]
	if g.whole != nil {
		if n.id == g.wholeIDs[len(g.wholeNodes)] {
			g.wholeNodes = append(g.wholeNodes, i)
			if len(g.wholeNodes) == len(g.wholeIDs) {
				m := *g.whole
				m.ID = n.id
				g.addMessage(m, g.wholeNodes)
				g.whole, g.wholeIDs, g.wholeNodes = nil, nil, nil
			}
			return
		}
		g.splitUnfinished()
	}
	switch n.kind {
	case TypeMessage, TypeCustomMessage, TypeBranchSummary:
		g.takeSingle(i, m)
	case TypeCompaction, TypeContextEdit:
		g.events = append(g.events, event{i, g.base + len(g.msgs)})
	case TypeModelChange:
		g.provider, g.model = decode.Str(n.raw(), "provider"), decode.Str(n.raw(), "modelId")
		g.answered = none
	case TypeThinking:
		g.thinking = decode.Str(n.raw(), "thinkingLevel")
	case TypeCustom:
		switch decode.Str(n.raw(), "customType") {
		case customMessage:
			if ids, m, ok := parseExtra(decode.Member(n.raw(), "data")); ok {
				g.whole, g.wholeIDs, g.wholeNodes = m, ids, nil
			}
		case customImport:
			if at, err := decode.Int(decode.Path(n.raw(), "data", "at")); err == nil {
				g.imported = int64(at)
			}
		case customWindow:
			g.agent, g.agentModel = readWindow(decode.Member(n.raw(), "data"))
		case customPin, customNote, customPlan:
			g.events = append(g.events, event{i, g.base + len(g.msgs)})
		}
	}
}

// readWindow reads an agent's window and the model that it is for.
func readWindow(data jsontext.Value) (model.Window, string) {
	tokens, _ := decode.Int(decode.Member(data, "tokens"))
	own, _ := decode.Int(decode.Member(data, "own")) // older files have none
	w := model.Window{
		Tokens: max(0, tokens), Own: max(0, own), Prompt: string(decode.Member(data, "prompt")) == "true",
		Source: model.WindowSource(decode.Str(data, "source")), Why: decode.Str(data, "why"),
	}
	return w, decode.Str(data, "model")
}

// windowDraft notes an agent's window and the model that it is for.
func windowDraft(agent model.Window, name string) draft {
	return customDraft(customWindow, jsonwrite.Of(
		"tokens", agent.Tokens, "prompt", agent.Prompt, "own", agent.Own, "source", string(agent.Source), "why", agent.Why, "model", name,
	))
}

// splitUnfinished reads the entries of a message by themselves, because not all of
// them are there.
func (g *gathering) splitUnfinished() {
	nodes := g.wholeNodes
	g.whole, g.wholeIDs, g.wholeNodes = nil, nil, nil
	for _, i := range nodes {
		g.takeSingle(i, g.messageOf(g.tree, i))
	}
}

func (g *gathering) takeSingle(i int32, m *chat.Message) {
	if m == nil {
		return
	}
	if m.Role == chat.System {
		g.systems = append(g.systems, i)
		if g.base+len(g.msgs) == 0 {
			g.system = append(g.system, m.Parts...)
			if defs, err := decode.Tools(decode.Path(g.tree.record(i), "message", "toolsAdded")); err == nil {
				g.tools = append(g.tools, defs...)
			}
			return
		}
	}
	g.addMessage(*m, []int32{i})
}

func (g *gathering) addMessage(m chat.Message, nodes []int32) {
	at := int32(g.base + len(g.msgs))
	for _, i := range nodes {
		g.pos[i] = at
	}
	g.first, g.last = append(g.first, nodes[0]), append(g.last, nodes[len(nodes)-1])
	g.msgs = append(g.msgs, m)
	if m.Role == chat.Assistant && m.Model != "" {
		g.model, g.answered = m.Model, nodes[0]
	}
}

// applyEvents brings the plan up to date. Only what comes after the last compaction
// matters, because a compaction says all there is to say, save what it replaced.
func (l *line) applyEvents(t *tree, events []event, rules chat.Rules, lenient bool) error {
	start := 0
	for i := len(events) - 1; i > 0 && start == 0 && l.known == nil; i-- {
		if l.carriesPlan(t, events[i].node) {
			start = i
		}
	}
	fresh := make(map[int]bool)
	n := 0
	for i, ev := range events {
		if l.known != nil && l.carriesPlan(t, ev.node) {
			if err := l.maskFresh(fresh, n, rules, lenient); err != nil {
				return err
			}
		}
		raw := t.record(ev.node)
		switch t.nodes[ev.node].kind {
		case TypeContextEdit:
			if at := l.noteEdit(t, raw); at >= 0 && i >= start {
				fresh[at], n = true, ev.n
			}
		case TypeCompaction:
			for _, id := range pifile.Strings(decode.Path(raw, "details", "winnow", "edits")) {
				l.repeats[id] = true
			}
			if i < start || l.skip[ev.node] {
				break
			}
			clear(fresh)
			if err := l.applyCompaction(t, ev, rules, lenient); err != nil {
				return err
			}
		case TypeCustom:
			e := parseEntry(raw)
			switch {
			case e.Custom == customPin:
				if k, ok := t.find(e.Target); ok && l.pos[k] >= 0 {
					if e.Pinned {
						l.pins[int(l.pos[k])] = true
					} else {
						delete(l.pins, int(l.pos[k]))
					}
				}
			case e.Custom == customNote:
				l.readNote(&e, ev.n)
			case i >= start && !l.skip[ev.node]:
				if p, err := plan.Decode(decode.Member(e.Data, "plan")); err == nil && p.Covers(l.history) {
					l.putPlan(p, ev.node, ev.n)
					l.notLasted, _ = decode.Int(decode.Member(e.Data, "notLasted"))
					clear(fresh)
				}
			}
		}
	}
	return l.maskFresh(fresh, n, rules, lenient)
}

// readNote reads a note that was written after n messages, or removed.
func (l *line) readNote(e *Entry, n int) {
	id := decode.Str(e.Data, "id")
	c := notes.Change{Gone: &notes.Note{ID: id}}
	if text := decode.Str(e.Data, "text"); text != "" {
		if at, err := decode.Int(decode.Member(e.Data, "message")); err == nil { // it was written again
			n = at
		}
		c.Added = &notes.Note{ID: id, Message: n, Time: e.Time.UTC(), Text: text}
	}
	l.notes = c.Apply(l.notes)
}

// putPlan puts a plan in force that is in an entry, or made of one.
func (l *line) putPlan(p *plan.Plan, at int32, n int) {
	if l.known != nil && p != nil {
		parent := l.known[p.Parent]
		if parent == nil { // it was made of context edits, which are in l.plan
			parent = l.plan
		}
		if q, err := p.Link(parent); err == nil {
			p = q
		}
		l.known[p.ID()] = p
	}
	l.plan, l.planAt, l.compacted, l.notLasted = p, at, n, 0
}

// maskFresh puts a plan in force that does what context edits of other programs do
// to these messages among the first n.
func (l *line) maskFresh(fresh map[int]bool, n int, rules chat.Rules, lenient bool) error {
	if len(fresh) == 0 {
		return nil
	}
	h := l.history.Head(n)
	p, err := plan.Compose(l.plan, h, rules, nil, l.contextMasks(h, func(i int) bool { return fresh[i] })...)
	if err != nil {
		if !lenient {
			return fmt.Errorf("the context edits do not fit the conversation: %w: %w", err, ErrDamaged)
		}
		return nil
	}
	l.putPlan(p, l.planAt, n)
	return nil
}

// carriesPlan reports whether the entry says everything about the plan.
func (l *line) carriesPlan(t *tree, i int32) bool {
	n := &t.nodes[i]
	if l.skip[i] {
		return false
	}
	if n.kind != TypeCustom {
		return n.kind == TypeCompaction
	}
	return decode.Str(n.raw(), "customType") == customPlan
}

// noteEdit notes what a context edit puts in place of a message, and returns the
// message, or -1.
func (l *line) noteEdit(t *tree, raw jsontext.Value) int {
	target := decode.Str(raw, "targetId")
	if l.repeats[decode.Str(raw, "id")] {
		l.told[target] = string(decode.Member(raw, "replacement"))
		return -1
	}
	k, ok := t.find(target)
	if !ok || l.pos[k] < 0 {
		return -1
	}
	at := int(l.pos[k])
	l.edits[at] = decode.Member(raw, "replacement")
	return at
}

// applyCompaction puts a compaction in force.
func (l *line) applyCompaction(t *tree, ev event, rules chat.Rules, lenient bool) error {
	n := &t.nodes[ev.node]
	c := parseCompaction(pifile.Parse(n.raw()))
	if c.ours && (c.Plan == nil && c.Rewinds != "" || c.Plan.Covers(l.history)) {
		l.putPlan(c.Plan, ev.node, ev.n)
		l.notLasted = c.notLasted
		return nil
	}
	kept, ok := l.keptStart(t, c, ev)
	if !ok && !lenient {
		return fmt.Errorf("compaction %s keeps entry %q, which is not on the path to it: %w", n.id, c.FirstKept, ErrDamaged)
	}
	p, err := l.importCompaction(c, ev.n, kept, rules)
	if err != nil {
		if !lenient {
			return fmt.Errorf("compaction %s does not fit the conversation: %w: %w", n.id, err, ErrDamaged)
		}
		p = nil
	}
	l.putPlan(p, ev.node, ev.n)
	return nil
}

// keptStart returns the first message that a compaction keeps.
func (l *line) keptStart(t *tree, c *Compaction, ev event) (int, bool) {
	if c.FirstKept == t.nodes[ev.node].id {
		return ev.n, true
	}
	k, ok := t.find(c.FirstKept)
	if !ok {
		return ev.n, false
	}
	if at := l.pos[k]; at >= 0 {
		return min(int(at), ev.n), true
	}
	// For an entry that is not a message: the first message after it.
	i := slices.Index(l.path, k)
	if i < 0 {
		return ev.n, false
	}
	for _, m := range l.path[i:] {
		if m == ev.node {
			break
		}
		if l.pos[m] >= 0 {
			return int(l.pos[m]), true
		}
	}
	return ev.n, true
}

// importCompaction makes a plan of a compaction that another program wrote: its summary
// in place of all that it did not keep.
func (l *line) importCompaction(c *Compaction, n, kept int, rules chat.Rules) (*plan.Plan, error) {
	h := l.history.Head(n)
	kept = chat.NewOutline(h).CutBefore(min(kept, n))
	var edits []plan.Edit
	if e := (plan.Edit{Kind: plan.Fold, From: 0, To: kept, Part: -1, Text: compactedText(c.Summary), Stage: "import", Why: "another program compacted here"}); n > 0 {
		if kept == 0 {
			e.Kind = plan.Drop
		}
		for i := range kept {
			if h.At(i).Role == chat.System {
				e.Keep = append(e.Keep, i)
			}
		}
		edits = append(edits, e)
	}
	edits = append(edits, l.contextMasks(h, func(i int) bool { return i >= kept })...)
	if len(edits) == 0 {
		return nil, nil
	}
	return plan.Compose(nil, h, rules, nil, edits...)
}
