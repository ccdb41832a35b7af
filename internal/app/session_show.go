package app

import (
	"cmp"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/charmbracelet/x/ansi"
	"github.com/spf13/cobra"
	"github.com/winnow-llm/winnow/chat"
	"github.com/winnow-llm/winnow/internal/app/show"
	"github.com/winnow-llm/winnow/internal/text"
	"github.com/winnow-llm/winnow/session"
)

// showFlags are the flags of show.
type showFlags struct {
	pageFlags
	view, all bool
}

func (a *app) sessionShowCommand(f *storeFlags) *cobra.Command {
	var sf showFlags
	cmd := &cobra.Command{
		Use:   "show SESSION [ENTRY]",
		Short: "Show the entries of a session, or one of them in full",
		Example: `  winnow session show 019a8c1f
  winnow session show 019a8c1f 3f2a91bc
  winnow session show 019a8c1f --view --limit 0`,
		Long: `Lists the last entries on the path to the leaf, newest last. With ENTRY, it prints
that one in full. --view lists the messages that the model sees instead.`,
		Args: cobra.RangeArgs(1, 2),
		RunE: a.work(func(cmd *cobra.Command, args []string) error { return a.sessionShow(cmd, f, &sf, args) }),
	}
	sf.addNewest(cmd, 50)
	cmd.Flags().BoolVar(&sf.view, "view", false, "the messages that the model sees")
	cmd.Flags().BoolVar(&sf.all, "all", false, "the entries of all branches, in the order in which they were written")
	return cmd
}

func (a *app) sessionShow(cmd *cobra.Command, f *storeFlags, sf *showFlags, args []string) error {
	if err := sf.check(); err != nil {
		return err
	}
	if sf.view && sf.all {
		return usagef("--view and --all: the model sees one branch; give one of them")
	}
	o, err := a.sessionOptions(cmd, nil, false)
	if err != nil {
		return err
	}
	s, err := a.openSession(cmd.Context(), f, args[0], o, false)
	if err != nil {
		return err
	}
	defer s.Close()
	switch {
	case len(args) == 2:
		return a.showEntry(s, args[1])
	case sf.view:
		return a.showView(s, sf)
	}
	return a.showPath(s, sf)
}

// entryLine is one entry in a list.
type entryLine struct {
	ID     string       `json:"id"`
	Parent string       `json:"parent"`
	Type   session.Type `json:"type"`
	Role   string       `json:"role,omitempty"`
	Time   time.Time    `json:"time"`
	Tokens int          `json:"tokens,omitempty"`
	Label  string       `json:"label,omitempty"`
	Pinned bool         `json:"pinned,omitempty"`
	Text   string       `json:"text"`

	// Message is the index in the view of show --view.
	Message *int `json:"message,omitempty"`
}

// shownPath is the JSON document of show.
type shownPath struct {
	sessionInfo
	Leaf    string      `json:"leaf"`
	Model   string      `json:"model"`
	Entries []entryLine `json:"entries"`
	Total   int         `json:"total"`
	Page    page        `json:"page"`
}

func (a *app) showPath(s *opened, sf *showFlags) error {
	total, entries := s.PathLen(), s.PathPage
	if sf.all {
		total, entries = s.Len(), s.Page
	}
	info, labels, pins := s.Info(), s.Labels(), make(map[string]bool)
	for _, id := range s.Pins() {
		pins[id] = true
	}
	c, err := s.Context()
	if err != nil {
		return err
	}
	doc := shownPath{sessionInfo: infoDocument(&info), Leaf: s.Leaf(), Model: c.Model, Total: total, Entries: []entryLine{}}
	doc.Name = s.Name()
	from, to := sf.span(total)
	list := entries(from, to-from)
	doc.Page = page{from, sf.limit, to < total}
	for i := range list {
		l := lineOf(&list[i])
		l.Label, l.Pinned = labels[l.ID], pins[l.ID]
		doc.Entries = append(doc.Entries, l)
	}
	if a.asJSON {
		return a.print(doc)
	}
	st := a.style(a.stdout)
	fmt.Fprintln(a.stdout, st.Bold(doc.ID))
	for _, x := range [][2]string{{"name", doc.Name}, {"model", doc.Model}, {"folder", doc.Dir}, {"forked from", doc.Parent}} {
		if x[1] != "" {
			fmt.Fprintf(a.stdout, "%-11s  %s\n", x[0], brief(x[1], st.Columns()-13))
		}
	}
	fmt.Fprintf(a.stdout, "%s, leaf %s\n\n", plural(doc.Total, "entry"), doc.Leaf)
	a.earlier(&sf.pageFlags, doc.Page, "entries")
	for i := range doc.Entries {
		if !ownNote(doc.Entries[i].Type, doc.Entries[i].Text) {
			a.showEntryLine(st, &doc.Entries[i], "")
		}
	}
	a.more(doc.Page, len(list))
	return nil
}

// ownNote reports whether an entry only holds what the format of others has no
// place for, which says nothing to people.
func ownNote(t session.Type, text string) bool {
	return t == session.TypeCustom && (text == "winnow.message" || text == "winnow.import")
}

// lineOf describes an entry.
func lineOf(e *session.Entry) entryLine {
	l := entryLine{ID: e.ID, Parent: e.Parent, Type: e.Type, Time: e.Time}
	switch {
	case e.Compaction != nil:
		c := e.Compaction
		if c.Rewinds != "" {
			l.Text = "takes back " + c.Rewinds
			break
		}
		l.Text = strings.TrimSpace(fmt.Sprintf("%s %s -> %s tokens: %s", c.Reason, number(c.TokensBefore), number(c.TokensAfter), brief(c.Summary, 200)))
	case e.Branch != nil:
		l.Text = "left " + e.Branch.From + ": " + brief(e.Branch.Summary, 200)
	case e.Message != nil:
		l.Role, l.Text = string(e.Message.Role), messageLine(e.Message)
	case e.Type == session.TypeModelChange:
		l.Text = strings.Trim(e.Provider+"/"+e.Model, "/")
	case e.Type == session.TypeLabel:
		l.Text = e.Target + " is " + quoteOr(e.Label, "no longer labelled")
	case e.Type == session.TypeName:
		l.Text = e.Name
	case e.Type == session.TypeContextEdit:
		l.Text = "of " + e.Target
	case e.Custom != "":
		l.Text = strings.TrimSpace(e.Custom + " " + e.Target)
	}
	return l
}

func quoteOr(s, none string) string {
	if s == "" {
		return none
	}
	return fmt.Sprintf("%q", s)
}

// messageLine says in one line what a message holds.
func messageLine(m *chat.Message) string {
	var parts []string
	for i := range m.Parts {
		p := &m.Parts[i]
		switch p.Kind {
		case chat.Text:
			parts = append(parts, brief(p.Text, 300))
		case chat.Thinking:
			if p.Text != "" {
				parts = append(parts, "(thinks) "+brief(p.Text, 80))
			}
		case chat.ToolCall:
			parts = append(parts, "→ "+p.Name+" "+brief(p.Args, 120))
		case chat.ToolResult:
			mark := "← "
			if p.Failed {
				mark = "← failed: "
			}
			parts = append(parts, mark+brief(p.Text, 300))
		default:
			parts = append(parts, "["+strings.TrimSpace(p.Kind.String()+" "+p.Name)+"]")
		}
	}
	return strings.Join(parts, "  ")
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
	room := max(16, st.Columns()-len(indent)-8-2-10-2-ansi.StringWidth(mark))
	fmt.Fprintf(a.stdout, "%s%s  %s  %s%s\n", indent, st.Dim(show.Pad(text.Runes(l.ID, 8), 8)), what, mark, brief(l.Text, room))
}

// showEntry prints an entry in full.
func (a *app) showEntry(s *opened, name string) error {
	id, err := s.entry(name)
	if err != nil {
		return err
	}
	e, err := s.Entry(id)
	if err != nil {
		return err
	}
	l := lineOf(&e)
	l.Label = s.Labels()[id]
	if a.asJSON {
		l.Text = fullText(&e)
		return a.print(struct {
			entryLine
			Record json.RawMessage `json:"record"`
		}{l, json.RawMessage(e.Raw)})
	}
	st := a.style(a.stdout)
	what := string(e.Type)
	if l.Role != "" {
		what = l.Role + " " + what
	}
	fmt.Fprintf(a.stdout, "%s  %s  %s\n\n%s\n", st.Bold(e.ID), what, st.Dim(e.Time.Local().Format("2006-01-02 15:04:05")), plainText(strings.ToValidUTF8(fullText(&e), "?")))
	return nil
}

// fullText is everything that an entry says.
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

// messageText is everything that a message says.
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

// showView lists what the model sees.
func (a *app) showView(s *opened, sf *showFlags) error {
	c, err := s.Context()
	if err != nil {
		return err
	}
	n := c.View.Len()
	from, to := sf.span(n)
	info := s.Info()
	doc := shownPath{sessionInfo: infoDocument(&info), Leaf: s.Leaf(), Model: c.Model, Total: n, Entries: []entryLine{}, Page: page{from, sf.limit, to < n}}
	doc.Name = s.Name()
	for i := from; i < to; i++ {
		m := c.View.At(i)
		at := i
		l := entryLine{ID: m.ID, Type: session.TypeMessage, Role: string(m.Role), Text: messageLine(m), Message: &at}
		if m.Time != 0 {
			l.Time = time.UnixMilli(m.Time).UTC()
		}
		if a.asJSON {
			l.Text = messageText(m)
		}
		doc.Entries = append(doc.Entries, l)
	}
	if a.asJSON {
		return a.print(doc)
	}
	st := a.style(a.stdout)
	fmt.Fprintf(a.stdout, "%s: the model sees %s of %d\n\n", st.Bold(doc.ID), plural(n, "message"), c.Request.History.Len())
	a.earlier(&sf.pageFlags, doc.Page, "messages")
	for i := range doc.Entries {
		a.showEntryLine(st, &doc.Entries[i], "")
	}
	a.more(doc.Page, to-from)
	return nil
}
