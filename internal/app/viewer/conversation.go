package viewer

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/winnow-llm/winnow/chat"
	"github.com/winnow-llm/winnow/internal/app/show"
	"github.com/winnow-llm/winnow/plan"
)

// block is one message in a pane of the conversation.
type block struct {
	system bool
	msg    int  // in the history; -1 for what an edit made
	view   int  // in the view; -1 for an original
	edit   int  // the edit that made it, or -1
	inside bool // an original that an opened fold shows
}

// conversation is a pane with messages: those of the view, with the originals of
// opened ones, or those of the history.
type conversation struct {
	pane
	sn       *snapshot
	original bool

	list []block // never changed once it is made
	of   []int   // by message: the block that shows it, or the summary that hides it; -1 for none

	edits []int // blocks that an edit made or touched; of a run that is shown as it was, the first

	opened map[int]bool   // messages of the view whose originals are shown
	full   map[block]bool // that are shown whole
	flows  map[block]*flow
}

// mostFlows is how many wrapped messages are remembered.
const mostFlows = 400

func newConversation(original bool) *conversation {
	c := &conversation{original: original}
	c.items = c
	return c
}

func (c *conversation) len() int       { return len(c.list) }
func (c *conversation) at(k int) block { return c.list[k] }

// reset shows a session as it is now. Opened messages stay open while the view
// stays the same.
func (c *conversation) reset(sn *snapshot) {
	same := c.sn != nil && c.sn.view.Key() == sn.view.Key() && sn.history.StartsWith(c.sn.history.Len(), c.sn.history.Chain(c.sn.history.Len()))
	c.sn = sn
	if !same {
		c.opened, c.full = make(map[int]bool), make(map[block]bool)
	}
	c.buildBlocks()
}

// buildBlocks lists the blocks.
func (c *conversation) buildBlocks() {
	c.list, c.of, c.flows = nil, make([]int, c.sn.history.Len()), nil
	if len(c.sn.system) > 0 {
		c.list = append(c.list, block{system: true, msg: -1, view: -1, edit: -1})
	}
	if c.original {
		for h := range c.of {
			c.of[h] = len(c.list)
			c.list = append(c.list, block{msg: h, view: -1, edit: -1})
		}
	} else {
		c.buildView()
	}
	c.edits = nil
	var last *plan.Edit
	for k, b := range c.list {
		if e := c.editOf(b); c.blockState(b) != kept && (e == nil || e != last) {
			c.edits, last = append(c.edits, k), e
		}
	}
	c.clamp()
}

// buildView lists the blocks of the view.
func (c *conversation) buildView() {
	starts := make([]int, c.sn.view.Len())
	for v := range starts {
		o := c.sn.view.Origin(v)
		starts[v] = len(c.list)
		c.list = append(c.list, block{msg: o.Message, view: v, edit: o.Edit})
		if !c.opened[v] || o.Edit < 0 {
			continue
		}
		e := &c.sn.plan.Edits[o.Edit]
		for h := e.From; h < e.To; h++ {
			if _, stays := slices.BinarySearch(e.Keep, h); !stays {
				c.list = append(c.list, block{msg: h, view: -1, edit: -1, inside: true})
			}
		}
	}
	for h, v := range c.sn.shown {
		c.of[h] = -1
		if v >= 0 {
			c.of[h] = starts[v]
		}
	}
	for k, b := range c.list {
		if b.inside {
			c.of[b.msg] = k
		}
	}
}

// blockMessage returns what a block shows.
func (c *conversation) blockMessage(b block) *chat.Message {
	switch {
	case b.system:
		return &chat.Message{Role: chat.System, Parts: c.sn.system}
	case b.view >= 0:
		return c.sn.view.At(b.view)
	}
	return c.sn.history.At(b.msg)
}

// blockState returns what the plan does to a block's message.
func (c *conversation) blockState(b block) state {
	switch {
	case b.edit >= 0:
		return stateOf(&c.sn.plan.Edits[b.edit])
	case b.msg >= 0:
		return c.sn.state[b.msg]
	}
	return kept
}

// editOf returns the edit that a block is about; nil for none. For an original
// that is the edit that hides or changes it.
func (c *conversation) editOf(b block) *plan.Edit {
	if b.edit < 0 && (b.msg < 0 || c.sn.state[b.msg] == kept || c.sn.shown[b.msg] < 0) {
		return nil
	}
	if b.edit >= 0 {
		return &c.sn.plan.Edits[b.edit]
	}
	o := c.sn.view.Origin(int(c.sn.shown[b.msg]))
	if o.Edit >= 0 {
		return &c.sn.plan.Edits[o.Edit]
	}
	for _, i := range o.Edits {
		if e := &c.sn.plan.Edits[i]; e.From == b.msg {
			return e
		}
	}
	return nil
}

// blockFlow returns the text of a block, wrapped as far as it was needed.
func (c *conversation) blockFlow(k int) (block, *flow) {
	b := c.at(k)
	if f := c.flows[b]; f != nil {
		return b, f
	}
	if c.flows == nil || len(c.flows) >= mostFlows {
		c.flows = make(map[block]*flow)
	}
	width := c.width - 4 // the cursor's bar, the sign, and a space on both sides
	if b.inside {
		width -= 2
	}
	c.flows[b] = newFlow(c.blockContent(b), width)
	return b, c.flows[b]
}

// blockContent returns the paragraphs of a block.
func (c *conversation) blockContent(b block) []paragraph {
	m := c.blockMessage(b)
	switch {
	case b.view < 0:
		return messageParagraphs(m, nil)
	case b.edit >= 0:
		var out []paragraph
		for i := range m.Parts {
			out = append(out, paragraph{ink: c.blockState(b).ink(), text: m.Parts[i].Text})
		}
		return out
	}
	o := c.sn.view.Origin(b.view)
	var edits []*plan.Edit
	for _, i := range o.Edits {
		edits = append(edits, &c.sn.plan.Edits[i])
	}
	out := messageParagraphs(m, edits)
	if !c.opened[b.view] {
		return out
	}
	out = append(out, paragraph{ink: quiet, text: "the original", rule: true})
	for _, h := range append([]int{b.msg}, o.Joined...) {
		out = append(out, messageParagraphs(c.sn.history.At(h), nil)...)
	}
	return append(out, paragraph{ink: quiet, rule: true})
}

func (c *conversation) resize(width, height int) {
	if width != c.width {
		c.flows = nil
	}
	c.pane.resize(width, height)
}

// clipLength returns how many lines of a message are shown before it is opened.
func (c *conversation) clipLength() int { return max(6, min(14, c.height/3)) }

// isClipped reports whether only the beginning of a block is shown.
func (c *conversation) isClipped(b block, f *flow) bool {
	return !c.full[b] && !(b.msg >= 0 && b.view >= 0 && c.opened[b.view]) && f.reach(c.clipLength()+2)
}

// has reports whether a block has a line. It has a heading, lines of content, where
// there is more a line that says so, and an empty line before the next block.
func (c *conversation) has(k, n int) bool {
	if k >= c.len() {
		return false
	}
	b, f := c.blockFlow(k)
	if k+1 < c.len() {
		n--
	}
	if c.isClipped(b, f) {
		return n <= c.clipLength()+1
	}
	return f.reach(n)
}

// draw returns the pane's lines.
func (c *conversation) draw(focused bool, find *regexp.Regexp) []string {
	return c.drawRows(func(k, n int) string {
		b, f := c.blockFlow(k)
		bar, indent, text := " ", " ", ""
		if k == c.cursor {
			bar = quiet.Styled("▏")
			if focused {
				bar = accent.Styled("▌")
			}
		}
		if b.inside {
			indent = quiet.Styled(" ┆ ")
		}
		clipped := c.isClipped(b, f)
		switch {
		case n == 0:
			return bar + c.blockState(b).sign() + indent + c.headline(b)
		case clipped && n == c.clipLength()+1:
			text = quiet.Styled("⋯ f shows all " + show.Size(int64(f.bytes)))
		case (!clipped || n <= c.clipLength()) && f.reach(n):
			text = markMatches(f.lines[n-1].text, f.lines[n-1].ink, find)
		default:
			bar = " " // it ends with the message
		}
		return bar + " " + indent + text
	})
}

// headline returns the first line of a block: who speaks, which message it is, and
// what an edit did to it.
func (c *conversation) headline(b block) string {
	who, look := speakerOf(c.blockMessage(b))
	e := c.editOf(b)
	switch {
	case b.system:
		return look.Styled("system") + quiet.Styled(" prompt")
	case b.edit >= 0:
		return c.editLine(b, e)
	}
	out := look.Styled(who) + quiet.Styled(strings.TrimRight(fmt.Sprintf(" #%d %s", b.msg, shortenTo(resultWords(c.sn.history, b.msg), max(c.width/2, 12))), " "))
	if c.sn.pins[b.msg] {
		out += inkPin.Styled("  " + pinSign + " pinned")
	}
	if st := c.blockState(b); st != kept {
		text := "  " + st.word()
		if e != nil && (st == masked || st == answered) {
			text += savedText(e)
		}
		out += st.ink().Styled(text)
	}
	return out
}

// editLine returns the first line of what an edit made.
func (c *conversation) editLine(b block, e *plan.Edit) string {
	n := plural(e.To-e.From-len(e.Keep), "message")
	text := "placeholder for a missing result"
	switch e.Kind {
	case plan.Fold:
		text = "summary of " + n
	case plan.Drop:
		text = n + " dropped"
	case plan.State:
		text = "how things stand"
	}
	look := stateOf(e).ink()
	out := append(strong, look...).Styled(text) + look.Styled(savedText(e))
	if c.opened[b.view] {
		out += quiet.Styled("  originals below")
	}
	return out
}

func savedText(e *plan.Edit) string {
	if e.Before.Tokens == 0 {
		return ""
	}
	return fmt.Sprintf("  %s → %s", show.Thousands(e.Before.Tokens), show.Thousands(e.After.Tokens))
}

// openBlock shows what is behind the block at the cursor: the originals of an edit, or
// all of a long message. It returns what it did, for people.
func (c *conversation) openBlock() string {
	b, f := c.blockFlow(c.cursor)
	made := b.edit >= 0 && (c.blockState(b) == dropped || c.sn.plan.Edits[b.edit].Kind == plan.Fold)
	if changed := b.view >= 0 && b.msg >= 0 && c.blockState(b) != kept; !made && !changed {
		if !c.full[b] && !c.isClipped(b, f) {
			return "this is all there is"
		}
		c.showAll()
		return ""
	}
	c.opened[b.view] = !c.opened[b.view]
	c.buildBlocks()
	c.reveal()
	if !c.opened[b.view] {
		return "what was there before is hidden again"
	}
	return "what was there before follows; enter hides it"
}

// showAll shows the block at the cursor whole, or only its beginning again.
func (c *conversation) showAll() {
	b := c.at(c.cursor)
	c.full[b] = !c.full[b]
	c.clamp()
	c.reveal()
}

// goTo shows the line of the cursor's block that holds words, and opens the
// block if that line is not shown yet.
func (c *conversation) goTo(words *regexp.Regexp) {
	b, f := c.blockFlow(c.cursor)
	n := f.find(words) + 1
	if n > c.clipLength() && c.isClipped(b, f) {
		c.showAll()
	}
	if at := c.rowOf(c.cursor) + n; at < 0 || at >= c.height {
		c.top, c.line = c.cursor, max(0, n-c.height/2)
		c.clamp()
	}
}
