package session

import (
	"fmt"
	"slices"
	"strings"

	"github.com/winnow-llm/winnow/chat"
	"github.com/winnow-llm/winnow/evidence"
	"github.com/winnow-llm/winnow/internal/pibase"
	"github.com/winnow-llm/winnow/plan"
	"github.com/winnow-llm/winnow/summary"
)

// A plan says more than pi's compaction can: several folds, messages kept
// inside them, masks. To pi the same view is told as a summary of everything
// before the end of the last run, the first entry after it, and context edits
// for the masks behind it. Winnow itself reads the plan, which stands whole in
// the entry's details, so what a crash leaves of the context edits does not
// matter to it.

// compactionEntries returns the entries for a plan on the present line: the
// compaction first, then context edits. The caller holds the lock.
func (s *Session) compactionEntries(c Compaction, view plan.View) ([]placed, error) {
	l := s.line
	id := s.newID()
	kept := firstKept(c.Plan, l.history)
	c.FirstKept = id
	if kept < len(l.first) {
		c.FirstKept = s.tree.nodes[l.first[kept]].id
	}
	if !c.Supplied {
		s.files(&c, kept)
		c.Summary = summaryFor(view, kept, &c)
	}
	var edits []placed
	tell := func(at int, replacement string) {
		target := s.tree.nodes[l.last[at]].id
		if l.told[target] == replacement {
			return
		}
		var w writer
		w.str("targetId", target)
		w.raw("replacement", replacement)
		edits = append(edits, placed{id: s.newID(), draft: draft{TypeContextEdit, w.b}})
	}
	masked := maskedContent(view, kept)
	for _, at := range sorted(masked) {
		if l.first[at] == l.last[at] { // what pi has as several entries has no single content
			tell(at, replacement(masked[at]))
		}
	}
	for target := range l.told { // masks that are no longer there
		k, ok := s.tree.byID[target]
		if !ok || l.pos[k] < int32(kept) {
			continue
		}
		if at := int(l.pos[k]); masked[at] == nil {
			tell(at, replacement(l.history.At(at).Parts))
		}
	}
	for i := range edits {
		c.edits = append(c.edits, edits[i].id)
	}
	d, err := compactionDraft(&c, s.systemFor())
	if err != nil {
		return nil, err
	}
	return append([]placed{{id: id, draft: d}}, edits...), nil
}

// firstKept returns the first message after the last run of a plan that pi may
// keep first.
func firstKept(p *plan.Plan, h chat.History) int {
	kept := 0
	if p != nil {
		for i := range p.Edits {
			if e := &p.Edits[i]; e.Kind == plan.Fold || e.Kind == plan.Drop {
				kept = max(kept, e.To)
			}
		}
	}
	for kept < h.Len() && (h.At(kept).Role == chat.Tool || h.At(kept).Role == chat.System || h.At(kept).Has(chat.ToolResult)) {
		kept++
	}
	return kept
}

// summaryFor is what a reader of summaries sees in place of the messages before
// kept: the texts of the runs, and what stays between them, written down.
func summaryFor(v plan.View, kept int, c *Compaction) string {
	var parts []string
	for i := range v.Len() {
		o := v.Origin(i)
		if o.Message >= kept {
			break
		}
		if o.Message < 0 {
			parts = append(parts, v.At(i).Text())
		} else if t := summary.Serialize(v, i, i+1, nil); t != "" {
			parts = append(parts, t)
		}
	}
	switch {
	case c.Reason == reasonRewind && len(parts) == 0:
		parts = append(parts, "An earlier summary was taken back: the messages that it stood for follow.")
	case len(parts) == 0:
		parts = append(parts, "Nothing was summarised. Long tool output in the messages that follow was shortened.")
	}
	return strings.Join(parts, "\n\n") + evidence.FileFooter(c.Read, c.Modified)
}

// files fills in which files the messages before kept, and the branches that
// were left on the way, have read and modified.
func (s *Session) files(c *Compaction, kept int) {
	found := evidence.Extract(s.line.history, 0, kept, s.kinds())
	read, modified := found.ReadFiles(), found.ModifiedFiles()
	for _, i := range s.line.path {
		if s.tree.nodes[i].kind == TypeBranchSummary {
			b := parseBranch(s.tree.nodes[i].raw)
			read, modified = append(read, b.Read...), append(modified, b.Modified...)
		}
	}
	c.Modified = unique(modified)
	c.Read = slices.DeleteFunc(unique(read), func(f string) bool { return slices.Contains(c.Modified, f) })
}

func (s *Session) kinds() *evidence.Kinds {
	if s.o.Kinds != nil {
		return s.o.Kinds
	}
	return evidence.DefaultKinds()
}

func unique(list []string) []string {
	list = slices.Clone(list)
	slices.Sort(list)
	return slices.Compact(list)
}

func sorted[V any](m map[int]V) []int {
	keys := make([]int, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}

// replacement is the content of a message for a context edit.
func replacement(parts []chat.Part) string {
	if len(parts) == 1 && parts[0].Kind == chat.ToolResult {
		p := &parts[0]
		var inner []chat.Part
		if p.Text != "" {
			inner = append(inner, chat.Part{Kind: chat.Text, Text: p.Text})
		}
		parts = append(inner, p.Content...)
	}
	if len(parts) == 0 {
		return "null"
	}
	return `{"content":` + string(appendBlocks(nil, parts)) + `}`
}

// compactionDraft writes a compaction.
func compactionDraft(c *Compaction, system string) (draft, error) {
	var w writer
	w.str("summary", c.Summary)
	w.str("firstKeptEntryId", c.FirstKept)
	w.num("tokensBefore", c.TokensBefore)
	w.name("details")
	w.b = append(w.b, '{')
	w.list("readFiles", c.Read)
	w.list("modifiedFiles", c.Modified)
	w.name("winnow")
	w.b = append(w.b, '{')
	w.num("version", 1)
	w.str("reason", c.Reason)
	if c.Focus != "" {
		w.str("focus", c.Focus)
	}
	if c.Rewinds != "" {
		w.str("rewinds", c.Rewinds)
	}
	if c.Supplied {
		w.flag("supplied", true)
	}
	w.num("tokensAfter", c.TokensAfter)
	w.list("edits", c.edits)
	if c.Plan != nil {
		data, err := c.Plan.MarshalJSON()
		if err != nil {
			return draft{}, fmt.Errorf("the plan cannot be written: %w", err)
		}
		w.raw("plan", string(data))
	}
	w.b = append(w.b, "}}"...)
	w.flag("fromHook", true)
	if system != "" {
		w.raw("systemMessage", system)
	}
	return draft{TypeCompaction, w.b}, nil
}

// systemFor is the system message that pi wants in a compaction when there are
// any on the path: all of them folded into one.
func (s *Session) systemFor() string {
	if len(s.line.systems) == 0 {
		return ""
	}
	var all []*pibase.Message
	for _, i := range s.line.systems {
		if e := pibase.Parse(s.tree.nodes[i].raw); e.Message != nil {
			all = append(all, e.Message)
		}
	}
	m := pibase.CurrentSystem(all)
	if m == nil {
		return ""
	}
	w := writer{[]byte{'{'}}
	w.str("role", "system")
	w.str("content", m.Text)
	if len(m.Sections) > 0 {
		w.name("sections")
		w.b = append(w.b, '{')
		for _, x := range m.Sections {
			w.str(x.Name, x.Text)
		}
		w.b = append(w.b, '}')
	}
	if len(m.Added) > 0 {
		w.name("toolsAdded")
		w.b = append(w.b, '[')
		for i, t := range m.Added {
			if i > 0 {
				w.b = append(w.b, ',')
			}
			w.b = append(w.b, t.Raw...)
		}
		w.b = append(w.b, ']')
	}
	w.num("timestamp", int(s.now().UnixMilli()))
	return string(append(w.b, '}'))
}
