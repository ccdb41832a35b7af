package transcript

import (
	"cmp"
	"slices"
	"strings"

	"github.com/winnow-llm/winnow/chat"
	"github.com/winnow-llm/winnow/internal/decode"
)

// claudeTree is the records of a Claude Code log with their parents.
type claudeTree struct {
	in      *input
	records []claudeRecord
	byID    map[string]int
	main    *builder
	sides   []string // sidechains, in order
	queue   []string // prompts that wait

	// words are those of the user, where a prompt waited.
	words map[string]bool
}

// splitLogs returns the log as the logs that it was put together from: records of
// different sessions that no parent ties to each other. A session that goes on
// under another id in the same log is one part.
func (t *claudeTree) splitLogs() []*claudeTree {
	group := map[string]string{} // of a session's id: another one of the same part, in the end the part's own
	root := func(id string) string {
		for group[id] != id {
			group[id] = group[group[id]]
			id = group[id]
		}
		return id
	}
	last := ""
	for i := range t.records {
		r := &t.records[i]
		r.session = cmp.Or(r.session, last)
		last = r.session
		if _, ok := group[last]; !ok {
			group[last] = last
		}
	}
	if len(group) < 2 {
		return []*claudeTree{t}
	}
	for i := range t.records {
		r := &t.records[i]
		for _, up := range [...]string{r.parent, r.logical} {
			if k, ok := t.byID[up]; ok && up != "" {
				group[root(r.session)] = root(t.records[k].session)
			}
		}
	}
	var out []*claudeTree
	parts := map[string]*claudeTree{}
	for i := range t.records {
		r := t.records[i]
		p := parts[root(r.session)]
		if p == nil {
			p = &claudeTree{in: t.in, byID: map[string]int{}, main: t.main}
			if len(out) > 0 {
				p.main = t.in.newBuilder()
				p.main.s.ID = r.session
				p.main.s.Folder = decode.Str(r.raw, "cwd")
			}
			parts[root(r.session)] = p
			out = append(out, p)
		}
		if r.uuid != "" {
			p.byID[r.uuid] = len(p.records)
		}
		p.records = append(p.records, r)
	}
	return out
}

// sideOf names the sidechain of a record without an agent's id: that of its
// parent, or its own where a new one starts.
func (t *claudeTree) sideOf(parent, own string) string {
	if i, ok := t.byID[parent]; ok && t.records[i].side != "" {
		return t.records[i].side
	}
	return own
}

func (t *claudeTree) readSessions() []Session {
	if slices.ContainsFunc(t.records, func(r claudeRecord) bool { return r.kind == "queued" }) {
		t.words = t.userWords()
	}
	seen := map[string]bool{"": true}
	for i := range t.records {
		if s := t.records[i].side; !seen[s] {
			seen[s] = true
			t.sides = append(t.sides, s)
		}
	}
	t.fillSession(t.main, "")
	out := []Session{t.main.finish()}
	for _, side := range t.sides {
		b := t.in.newBuilder()
		b.s.ID = t.main.s.ID + "/" + side
		b.s.Folder = t.main.s.Folder
		t.fillSession(b, side)
		out = append(out, b.finish())
	}
	if len(out) > 1 && out[0].History.Len() == 0 { // a file of a sub-agent alone
		out[1].Skipped, out[1].Title = out[0].Skipped, out[0].Title
		out[1].Warnings = append(out[0].Warnings, out[1].Warnings...)
		out = out[1:]
	}
	return out
}

// fillSession adds to a session the records of one chain that lie on the way to its
// last message.
func (t *claudeTree) fillSession(b *builder, side string) {
	b.logged = true
	take := t.markPath(b, side)
	t.markSiblings(take, side)
	left := 0
	for i := range t.records {
		r := &t.records[i]
		switch {
		case r.side != side:
		case r.kind == "queued":
			if !t.words[r.subtype] {
				b.claudeMessage(r)
			}
		case take[i] || r.summary || !r.isMessage() && r.kind != "attachment":
			b.claudeMessage(r)
		case r.isMessage():
			left++
		default:
			b.skip(r.kind + " on another branch")
		}
	}
	if left > 0 {
		b.warn(0, "records on other branches, left out: %d", left)
	}
}

// userWords returns everything that is logged as the user's words.
func (t *claudeTree) userWords() map[string]bool {
	all := map[string]bool{}
	put := func(parts []chat.Part, err error) {
		for i := range parts {
			if parts[i].Kind == chat.Text {
				all[strings.TrimSpace(parts[i].Text)] = true
			}
		}
	}
	for i := range t.records {
		switch r := &t.records[i]; r.kind {
		case "user":
			put(decode.Content(decode.Member(r.message, "content")))
		case "attachment":
			put(decode.Content(decode.Path(r.raw, "attachment", "prompt")))
		}
	}
	return all
}

// markPath marks the records from the chain's last message up to its root. Where a
// parent is missing, and where a compaction cut the tree, the record before
// goes on.
func (t *claudeTree) markPath(b *builder, side string) []bool {
	take := make([]bool, len(t.records))
	at := -1
	for i := range t.records {
		if r := &t.records[i]; r.side == side && r.isMessage() {
			at = i
		}
	}
	for at >= 0 {
		if take[at] {
			b.warn(t.records[at].line, "the chain of parents is a cycle: earlier records are left out")
			break
		}
		take[at] = true
		at = t.parentIndex(b, at)
	}
	return take
}

// parentIndex returns the index of a record's parent, or -1.
func (t *claudeTree) parentIndex(b *builder, at int) int {
	r := &t.records[at]
	if r.uuid == "" {
		return t.previousInChain(at)
	}
	if r.parent != "" {
		if i, ok := t.byID[r.parent]; ok {
			return i
		}
		if i := t.previousInChain(at); i >= 0 {
			b.warn(r.line, "the parent %.40s is not in the file: the previous record is used instead", r.parent)
			return i
		}
		return -1
	}
	if r.logical != "" || r.subtype == "compact_boundary" || r.summary {
		if i, ok := t.byID[r.logical]; ok && i < at {
			return i
		}
		return t.previousInChain(at)
	}
	return -1
}

// previousInChain returns the record of the same chain that stands before in the file.
func (t *claudeTree) previousInChain(at int) int {
	for i := at - 1; i >= 0; i-- {
		if t.records[i].side == t.records[at].side && (t.records[i].isMessage() || t.records[i].kind == "attachment") {
			return i
		}
	}
	return -1
}

// markSiblings marks what belongs to marked answers though it lies beside the
// path: the client writes parallel calls and their results as branches.
func (t *claudeTree) markSiblings(take []bool, side string) {
	answers, calls := map[string]bool{}, map[string]bool{}
	learn := func(i int) {
		r := &t.records[i]
		if r.kind != "assistant" {
			return
		}
		if r.messageID != "" {
			answers[r.messageID] = true
		}
		for _, block := range decode.Elements(decode.Member(r.message, "content")) {
			if decode.Str(block, "type") == "tool_use" {
				calls[decode.Str(block, "id")] = true
			}
		}
	}
	for i := range take {
		if take[i] {
			learn(i)
		}
	}
	for i := range take {
		if r := &t.records[i]; !take[i] && r.side == side && r.kind == "assistant" && answers[r.messageID] {
			take[i] = true
			learn(i)
		}
	}
	for i := range take {
		r := &t.records[i]
		if take[i] || r.side != side {
			continue
		}
		p, ok := t.byID[r.parent]
		switch {
		case r.kind == "user":
			take[i] = t.answersOnly(r, calls)
		case r.kind == "attachment":
			take[i] = ok && take[p]
		}
	}
}

// answersOnly reports whether a record carries nothing but results of known calls.
func (t *claudeTree) answersOnly(r *claudeRecord, calls map[string]bool) bool {
	n := 0
	for _, block := range decode.Elements(decode.Member(r.message, "content")) {
		p, err := decode.Block(block)
		if err != nil || p.Kind != chat.ToolResult || !calls[p.ID] {
			return false
		}
		n++
	}
	return n > 0
}
