package session

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/winnow-llm/winnow/chat"
	"github.com/winnow-llm/winnow/internal/decode"
	"github.com/winnow-llm/winnow/internal/jsonwrite"
	"github.com/winnow-llm/winnow/internal/pibase"
	"github.com/winnow-llm/winnow/internal/pifile"
	"github.com/winnow-llm/winnow/plan"
	"github.com/winnow-llm/winnow/summary"
)

// A plan says more than pi's compaction can: several folds, messages kept
// inside them, masks. To pi the same view is told as a summary of everything
// before the end of the last run, the first entry after it, and context edits
// for the masks behind it. Winnow itself reads the plan in the entry's details,
// so what a crash leaves of the context edits does not matter to it.

// compactionEntries returns the entries for a plan on the present line: the
// compaction first, then context edits. The caller holds the lock.
func (s *Session) compactionEntries(c Compaction) ([]placed, error) {
	l := s.line
	view, err := plan.Apply(l.history, c.Plan)
	if err != nil {
		return nil, err
	}
	id := s.newID()
	kept := firstKept(c.Plan, l.history)
	c.FirstKept = id
	if kept < len(l.first) {
		c.FirstKept = s.tree.nodes[l.first[kept]].id
	}
	if !c.Supplied {
		f := s.gatherFiles(s.line.history, 0, kept, s.line.path)
		c.Read, c.Modified, c.Created, c.Deleted = f.Read, f.Modified, f.Created, f.Deleted
		c.Summary = summaryFor(view, kept, &c)
	}
	var edits []placed
	tell := func(at int, replacement string) {
		target := s.tree.nodes[l.last[at]].id
		if l.told[target] == replacement {
			return
		}
		edits = append(edits, placed{id: s.newID(), draft: pifile.NewDraft(pifile.TypeContextEdit, "targetId", target, "replacement", []byte(replacement))})
	}
	masked := maskedContent(view, kept)
	for _, at := range sortedKeys(masked) {
		if l.first[at] == l.last[at] { // what pi has as several entries has no single content
			tell(at, pifile.Replacement(masked[at]))
		}
	}
	for target := range l.told { // masks that have gone
		k, ok := s.tree.find(target)
		if !ok || l.pos[k] < int32(kept) {
			continue
		}
		if at := int(l.pos[k]); masked[at] == nil {
			tell(at, pifile.Replacement(l.history.At(at).Parts))
		}
	}
	for i := range edits {
		c.edits = append(c.edits, edits[i].id)
	}
	var data []byte
	if c.Plan != nil {
		if data, err = s.planData(c.Plan); err != nil {
			return nil, fmt.Errorf("the plan cannot be written: %w", err)
		}
	}
	return append([]placed{{id: id, draft: compactionDraft(&c, data, s.piSystemMessage())}}, edits...), nil
}

// firstKept returns the first message after the last run of a plan that pi may
// keep first.
func firstKept(p *plan.Plan, h chat.History) int {
	kept := 0
	if p != nil {
		for i := range p.Edits {
			if e := &p.Edits[i]; e.Kind == plan.Fold || e.Kind == plan.Drop || e.Kind == plan.State {
				kept = max(kept, e.To)
			}
		}
	}
	for kept < h.Len() && (h.At(kept).Role == chat.Tool || h.At(kept).Role == chat.System || h.At(kept).Has(chat.ToolResult)) {
		kept++
	}
	return kept
}

// summaryFor returns what a reader of summaries sees in place of the messages
// before kept: the texts of the runs, and what stays between them, written down.
func summaryFor(v plan.View, kept int, c *Compaction) string {
	var parts []string
	for i := range v.Len() {
		o := v.Origin(i)
		if o.Message >= kept {
			break
		}
		if o.Message < 0 {
			parts = append(parts, v.At(i).Text())
		} else if t := summary.Serialize(v, i, i+1); t != "" {
			parts = append(parts, t)
		}
	}
	switch {
	case c.Reason == reasonRewind && len(parts) == 0:
		parts = append(parts, "An earlier summary was taken back: the messages that it stood for follow.")
	case len(parts) == 0:
		parts = append(parts, "Nothing was summarised. Long tool output in the messages that follow was shortened.")
	}
	files := summary.FileList{Read: c.Read, Modified: c.Modified, Created: c.Created, Deleted: c.Deleted}
	return strings.Join(parts, "\n\n") + files.Footer()
}

// gatherFiles returns the files of messages from to to-1, and those that nodes name:
// branches that were left, and compactions of pi's own, which may know of more than
// their messages show.
func (s *Session) gatherFiles(h chat.History, from, to int, nodes []int32) summary.FileList {
	var f summary.FileList
	isCreated := map[string]bool{} // false: it was deleted
	add := func(l summary.FileList) {
		f.Read, f.Modified = append(f.Read, l.Read...), append(f.Modified, l.Modified...)
		for _, path := range l.Modified {
			if !isCreated[path] { // it is there again
				delete(isCreated, path)
			}
		}
		for _, path := range l.Created {
			isCreated[path] = true
		}
		for _, path := range l.Deleted {
			isCreated[path] = false
		}
	}
	for _, i := range nodes {
		switch n := &s.tree.nodes[i]; n.kind {
		case TypeBranchSummary:
			b := parseBranch(pifile.Parse(n.raw()))
			add(summary.FileList{Read: b.Read, Modified: b.Modified, Created: b.created, Deleted: b.deleted})
		case TypeCompaction:
			if p := pifile.Parse(n.raw()); !pifile.Set(p.FromHook) && decode.Member(p.Details, "winnow").Kind() != '{' {
				read, modified := filesOf(p)
				add(summary.FileList{Read: read, Modified: modified})
			}
		}
	}
	add(summary.Files(h, from, to, s.o.Kinds))
	for path, is := range isCreated {
		if is {
			f.Created = append(f.Created, path)
		} else {
			f.Deleted = append(f.Deleted, path)
		}
	}
	f.Created, f.Deleted, f.Modified = sortUnique(f.Created), sortUnique(f.Deleted), sortUnique(f.Modified)
	f.Read = slices.DeleteFunc(sortUnique(f.Read), func(path string) bool { return slices.Contains(f.Modified, path) })
	return f
}

func sortUnique(list []string) []string {
	return slices.Compact(slices.Sorted(slices.Values(list)))
}

func sortedKeys[V any](m map[int]V) []int {
	return slices.Sorted(maps.Keys(m))
}

// compactionDraft writes a compaction; data is its plan.
func compactionDraft(c *Compaction, data, system []byte) draft {
	own := jsonwrite.Of(
		"version", 1, "reason", c.Reason, "focus", jsonwrite.Optional(c.Focus), "rewinds", jsonwrite.Optional(c.Rewinds),
		"supplied", jsonwrite.Optional(c.Supplied), "tokensAfter", c.TokensAfter, "notLasted", jsonwrite.Optional(max(0, c.notLasted)),
		"createdFiles", c.Created, "deletedFiles", c.Deleted, "edits", c.edits, "plan", data,
	)
	details := jsonwrite.Of("readFiles", c.Read, "modifiedFiles", c.Modified, "winnow", own)
	return pifile.NewDraft(
		pifile.TypeCompaction, "summary", c.Summary, "firstKeptEntryId", c.FirstKept, "tokensBefore", c.TokensBefore, "details", details,
		"fromHook", jsonwrite.Optional(c.Supplied), // else pi leaves the files out of its lists
		"systemMessage", system,
	)
}

// piSystemMessage returns the system message that pi wants in a compaction when there are
// any on the path: all of them folded into one.
func (s *Session) piSystemMessage() []byte {
	if len(s.line.systems) == 0 {
		return nil
	}
	var all []*pibase.Message
	for _, i := range s.line.systems {
		if e := pibase.Parse(s.tree.record(i)); e.Message != nil {
			all = append(all, e.Message)
		}
	}
	m := pibase.CurrentSystem(all)
	if m == nil {
		return nil
	}
	var named []any
	for _, x := range m.Sections {
		named = append(named, x.Name, x.Text)
	}
	var sections []byte
	if len(named) > 0 {
		sections = jsonwrite.Of(named...)
	}
	var tools [][]byte
	for _, t := range m.Added {
		tools = append(tools, t.Raw)
	}
	return jsonwrite.Of("role", "system", "content", m.Text, "sections", sections, "toolsAdded", tools, "timestamp", int(s.now().UnixMilli()))
}
