package viewer

import (
	"context"
	"slices"
	"strings"
	"unicode/utf8"

	tea "charm.land/bubbletea/v2"
	"github.com/winnow-llm/winnow/chat"
	"github.com/winnow-llm/winnow/session"
)

// indexFold returns where a text holds words, whatever the case of ASCII
// letters; -1 when it does not. The words must be in lower case.
func indexFold(s, words string) int {
	if words == "" {
		return -1
	}
	lower := words[0]
	upper := lower
	if lower >= 'a' && lower <= 'z' {
		upper = lower - 'a' + 'A'
	}
	for i := 0; i+len(words) <= len(s); {
		k := strings.IndexByte(s[i:], lower)
		if upper != lower {
			most := len(s) - i
			if k >= 0 {
				most = k
			}
			if u := strings.IndexByte(s[i:i+most], upper); u >= 0 {
				k = u
			}
		}
		if k < 0 || i+k+len(words) > len(s) {
			return -1
		}
		i += k
		if equalFold(s[i:i+len(words)], words) {
			return i
		}
		i++
	}
	return -1
}

func equalFold(s, lower string) bool {
	for i := range len(lower) {
		c := s[i]
		if c >= 'A' && c <= 'Z' {
			c += 'a' - 'A'
		}
		if c != lower[i] {
			return false
		}
	}
	return true
}

// wanted makes words of what a person typed into a search.
func wanted(typed string) string {
	var b strings.Builder
	for _, r := range strings.TrimSpace(typed) {
		if r >= 'A' && r <= 'Z' {
			r += 'a' - 'A'
		}
		if r != utf8.RuneError {
			b.WriteRune(r)
		}
	}
	return b.String()
}

// search looks for words in the pane from the cursor on.
func (m *Model) search(typed string) tea.Cmd {
	m.find = wanted(typed)
	if m.find == "" {
		return nil
	}
	return m.again(1)
}

// again looks for the next place, or the one before.
func (m *Model) again(step int) tea.Cmd {
	if m.find == "" {
		m.wrongSay("there is no search to repeat; / starts one")
		return nil
	}
	pane, words := m.focus, m.find
	if pane == paneTree {
		sn, f, from := m.sn, m.tree.f, m.tree.cursor
		return m.background(func(ctx context.Context) tea.Msg {
			return seek(ctx, pane, len(f.rows), from, step, words, func(k int) bool {
				return matchEntry(m.s, sn, int(f.rows[k].place), words)
			})
		})
	}
	c := m.conv[pane]
	list, from := c.blocks, c.cursor // a copy: the pane may change meanwhile
	list.opened = slices.Clone(list.opened)
	return m.background(func(ctx context.Context) tea.Msg {
		return seek(ctx, pane, list.len(), from, step, words, func(k int) bool {
			return matchParts(list.message(list.at(k)), words)
		})
	})
}

// seek looks at all places after one, around the end, and at that one last.
func seek(ctx context.Context, pane, n, from, step int, words string, match func(k int) bool) tea.Msg {
	for i := 1; i <= n; i++ {
		if i%256 == 0 && ctx.Err() != nil {
			break
		}
		k := ((from+i*step)%n + n) % n
		if match(k) {
			return foundMsg{pane: pane, at: k, words: words, wrapped: step > 0 && k < from || step < 0 && k > from}
		}
	}
	return foundMsg{pane: pane, at: -1, words: words}
}

// matchParts reports whether words stand in a message.
func matchParts(msg *chat.Message, words string) bool {
	for i := range msg.Parts {
		p := &msg.Parts[i]
		if indexFold(p.Text, words) >= 0 || indexFold(p.Args, words) >= 0 || indexFold(p.Name, words) >= 0 {
			return true
		}
		for k := range p.Content {
			if indexFold(p.Content[k].Text, words) >= 0 {
				return true
			}
		}
	}
	return false
}

// matchEntry is matchParts for an entry of the tree: what it says, its id or
// its label.
func matchEntry(s *session.Session, sn *snapshot, place int, words string) bool {
	p := &sn.places[place]
	if strings.HasPrefix(p.ID, words) || indexFold(sn.labels[p.ID], words) >= 0 {
		return true
	}
	if h := sn.message[place]; h >= 0 {
		return matchParts(sn.history.At(int(h)), words)
	}
	e, err := s.Entry(p.ID)
	if err != nil {
		return false
	}
	if e.Message != nil {
		return matchParts(e.Message, words)
	}
	said := says(&e)
	text := said.who + " " + said.text
	if e.Compaction != nil {
		text += " " + e.Compaction.Summary
	}
	if e.Branch != nil {
		text += " " + e.Branch.Summary
	}
	return indexFold(text, words) >= 0
}

// found goes to what a search found.
func (m *Model) found(msg foundMsg) {
	if m.sn == nil || msg.words != m.find {
		return
	}
	if msg.at < 0 {
		m.wrongSay("%q is not in this pane; tab goes to another", msg.words)
		return
	}
	if msg.wrapped {
		m.say("the search continued from the other end")
	}
	if msg.pane == paneTree {
		m.tree.choose(msg.at)
		m.follow(paneTree)
		return
	}
	c := m.conv[msg.pane]
	c.align(msg.at, c.height/3)
	c.goTo(msg.words)
	m.follow(msg.pane)
}

// goTo shows the line of the cursor's block that holds words, and opens the
// block if that line is not shown yet.
func (c *conversation) goTo(words string) {
	b, f := c.flow(c.cursor)
	for par := range f.pars {
		off := indexFold(f.pars[par].text, words)
		if off < 0 {
			continue
		}
		line := f.find(par, off) + 1
		if line > c.clip() && !c.whole(b) {
			c.showAll()
		}
		if at := c.where(c.cursor) + line; at < 0 || at >= c.height {
			c.top, c.line = c.cursor, max(0, line-c.height/2)
			c.clamp()
		}
		return
	}
}
