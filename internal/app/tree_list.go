package app

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/charmbracelet/x/ansi"
	"github.com/spf13/cobra"
	"github.com/winnow-llm/winnow/chat"
	"github.com/winnow-llm/winnow/internal/app/show"
	"github.com/winnow-llm/winnow/internal/text"
	"github.com/winnow-llm/winnow/session"
)

// listTree prints a session without a terminal: its tree, what the model sees, or
// one entry.
func (a *app) listTree(cmd *cobra.Command, args []string, f *treeFlags) error {
	o, err := a.sessionOptions(cmd, nil, false)
	if err != nil {
		return err
	}
	o.Recover = true // a damaged tree is looked at, not used
	var s *opened
	if f.format != "" || f.inputFlags.session != "" {
		s, err = a.openSessionFile(cmd.Context(), args[0], &f.inputFlags, o, false)
	} else {
		s, err = a.openSession(cmd.Context(), &f.storeFlags, args[0], o, false)
	}
	if err != nil {
		return err
	}
	defer s.Close()
	switch {
	case len(args) == 2:
		return a.showEntry(s, args[1])
	case f.view:
		return a.showView(s, &f.pageFlags)
	}
	return a.showTree(s, &f.pageFlags)
}

// shownTree is the JSON document of the list.
type shownTree struct {
	session.Info
	Session  string            `json:"session"`
	Leaf     string            `json:"leaf"`
	Model    string            `json:"model"`
	Entries  int               `json:"entries"`
	Items    []entryLine       `json:"items"`
	Problems []session.Problem `json:"problems"`
	Page     page              `json:"page"`
}

// entryLine is one entry in a list.
type entryLine struct {
	session.Item
	Label  string `json:"label,omitempty"`
	Pinned bool   `json:"pinned,omitempty"`
}

func (a *app) showTree(s *opened, p *pageFlags) error {
	from, to := p.shownRange(s.Len())
	items := s.Tree(from, to-from)
	isLeaf := func(it session.Item) bool { return it.Leaf }
	if !p.fromStart() && from > 0 && !slices.ContainsFunc(items, isLeaf) { // it lies on a branch above
		items = s.Tree(0, s.Len())
		to = slices.IndexFunc(items, isLeaf) + 1
		to = min(len(items), max(to, p.itemLimit()))
		from = max(0, to-p.itemLimit())
		items = items[from:to]
	}
	c, err := s.Context()
	if err != nil {
		return err
	}
	labels, pins := s.Labels(), s.Pins()
	doc := shownTree{
		Info: s.Info(), Session: s.ID(), Leaf: s.Leaf(), Model: c.Model, Entries: s.Len(),
		Items: []entryLine{}, Problems: append([]session.Problem{}, s.Problems()...), Page: page{from, p.limit, to < s.Len()},
	}
	doc.Name = s.Name()
	for _, it := range items {
		doc.Items = append(doc.Items, entryLine{it, labels[it.ID], slices.Contains(pins, it.ID)})
	}
	if a.asJSON {
		return a.printJSON(doc)
	}
	st := a.styleFor(a.stdout)
	fmt.Fprintln(a.stdout, st.Bold(doc.ID))
	for _, x := range [][2]string{{"name", doc.Name}, {"model", doc.Model}, {"folder", doc.Dir}, {"forked from", doc.Parent}} {
		if x[1] != "" {
			fmt.Fprintf(a.stdout, "%-11s  %s\n", x[0], brief(x[1], st.Columns()-13))
		}
	}
	fmt.Fprintf(a.stdout, "%s, leaf %s\n\n", plural(doc.Entries, "entry"), doc.Leaf)
	a.sayEarlier(p, doc.Page, "entries")
	for i := range doc.Items {
		it := &doc.Items[i]
		mark := "  "
		switch {
		case it.Type == session.TypeCustom && (it.Text == "winnow.message" || it.Text == "winnow.import"):
			continue // it only holds what the format of others has no place for
		case it.Leaf:
			mark = st.Bold("* ")
		case it.OnPath:
			mark = st.Dim("│ ")
		}
		a.showEntryLine(st, it, mark+strings.Repeat("  ", min(it.Depth, 12)))
	}
	for _, x := range doc.Problems {
		a.say("entry %s: %s", x.Entry, x.What)
	}
	a.sayMore(doc.Page, len(items))
	return nil
}

// shortTypes are the words for types that are too long for a column.
var shortTypes = map[session.Type]string{
	session.TypeContextEdit: "edit", session.TypeCustomMessage: "note", session.TypeName: "name",
	session.TypeModelChange: "model", session.TypeThinking: "thinking",
}

// showEntryLine prints one entry of a list.
func (a *app) showEntryLine(st style, l *entryLine, indent string) {
	what := cmp.Or(l.Role, string(l.Type))
	switch l.Type {
	case session.TypeCompaction:
		what = st.Warm(show.Pad("compaction", 10))
	case session.TypeBranchSummary:
		what = st.Warm(show.Pad("branch", 10))
	default:
		what = cmp.Or(shortTypes[l.Type], what)
		what = show.Pad(brief(what, 10), 10)
	}
	mark := ""
	if l.Label != "" {
		mark += st.Green("["+brief(l.Label, 20)+"]") + " "
	}
	if l.Pinned {
		mark += st.Green("[pinned]") + " "
	}
	room := max(16, st.Columns()-ansi.StringWidth(indent)-8-2-10-2-ansi.StringWidth(mark))
	fmt.Fprintf(a.stdout, "%s%s  %s  %s%s\n", indent, st.Dim(show.Pad(text.Runes(l.ID, 8), 8)), what, mark, brief(l.Text, room))
}

// showEntry prints an entry in full.
func (a *app) showEntry(s *opened, name string) error {
	id, err := s.entryID(name)
	if err != nil {
		return err
	}
	e, err := s.Entry(id)
	if err != nil {
		return err
	}
	role := ""
	if e.Message != nil {
		role = string(e.Message.Role)
	}
	if a.asJSON {
		return a.printJSON(map[string]any{
			"id": e.ID, "parent": e.Parent, "type": e.Type, "role": role, "time": e.Time, "label": s.Labels()[id],
			"text": fullText(&e), "record": json.RawMessage(e.Raw),
		})
	}
	st, what := a.styleFor(a.stdout), strings.TrimSpace(role+" "+string(e.Type))
	fmt.Fprintf(a.stdout, "%s  %s  %s\n\n%s\n", st.Bold(e.ID), what, st.Dim(e.Time.Local().Format("2006-01-02 15:04:05")), plainText(strings.ToValidUTF8(fullText(&e), "?")))
	return nil
}

// fullText returns everything that an entry says.
func fullText(e *session.Entry) string {
	switch {
	case e.Compaction != nil:
		return e.Compaction.Summary
	case e.Branch != nil:
		return e.Branch.Summary
	case e.Message != nil:
		return messageText(e.Message)
	}
	return string(e.Raw)
}

// messageText returns everything that a message says.
func messageText(m *chat.Message) string {
	var b strings.Builder
	for i := range m.Parts {
		p := &m.Parts[i]
		if i > 0 {
			b.WriteString("\n\n")
		}
		switch p.Kind {
		case chat.Text:
			b.WriteString(p.Text)
		case chat.Thinking:
			b.WriteString("(thinks) " + p.Text)
		case chat.ToolCall:
			b.WriteString("→ " + p.Name + " " + p.Args)
		case chat.ToolResult:
			if p.Failed {
				b.WriteString("← failed: ")
			}
			b.WriteString(p.Text)
		default:
			b.WriteString("[" + strings.TrimSpace(p.Kind.String()+" "+p.Media+" "+p.Name) + "]")
		}
	}
	return b.String()
}

// viewLine is a message that the model sees.
type viewLine struct {
	Message int       `json:"message"`
	ID      string    `json:"id"`
	Role    chat.Role `json:"role"`
	Time    time.Time `json:"time"`
	Text    string    `json:"text"`
}

// showView lists what the model sees.
func (a *app) showView(s *opened, p *pageFlags) error {
	c, err := s.Context()
	if err != nil {
		return err
	}
	n := c.View.Len()
	from, to := p.shownRange(n)
	lines, pg := []viewLine{}, page{from, p.limit, to < n}
	for i := from; i < to; i++ {
		m := c.View.At(i)
		l := viewLine{Message: i, ID: m.ID, Role: m.Role, Text: messageText(m)}
		if m.Time != 0 {
			l.Time = time.UnixMilli(m.Time).UTC()
		}
		lines = append(lines, l)
	}
	if a.asJSON {
		return a.printJSON(map[string]any{"session": s.ID(), "leaf": s.Leaf(), "model": c.Model, "messages": lines, "total": n, "page": pg})
	}
	st := a.styleFor(a.stdout)
	fmt.Fprintf(a.stdout, "%s: the model sees %s of %d\n\n", st.Bold(s.ID()), plural(n, "message"), c.Request.History.Len())
	a.sayEarlier(p, pg, "messages")
	for i := range lines {
		l := &lines[i]
		a.showEntryLine(st, &entryLine{Item: session.Item{ID: l.ID, Type: session.TypeMessage, Role: string(l.Role), Text: l.Text}}, "")
	}
	a.sayMore(pg, to-from)
	return nil
}
