package app

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/winnow-llm/winnow/session"
)

func (a *app) sessionTreeCommand(f *storeFlags) *cobra.Command {
	var p pageFlags
	cmd := &cobra.Command{
		Use:     "tree SESSION",
		Short:   "List a session with all its branches",
		Example: "  winnow session tree 019a8c1f --limit 200",
		Long: `Lists the entries branch by branch, each entry before what follows it. Of a long
tree it lists the end, or the part around the leaf. A star marks the leaf, a bar the
path to it. winnow tree shows the same full screen.`,
		Args: cobra.ExactArgs(1),
		RunE: a.work(func(cmd *cobra.Command, args []string) error { return a.sessionTree(cmd, f, &p, args[0]) }),
	}
	p.addNewest(cmd, 100)
	return cmd
}

func (a *app) sessionTree(cmd *cobra.Command, f *storeFlags, p *pageFlags, name string) error {
	if err := p.check(); err != nil {
		return err
	}
	o, err := a.sessionOptions(cmd, nil, false)
	if err != nil {
		return err
	}
	o.Recover = true // a damaged tree is looked at, not used
	s, err := a.openSession(cmd.Context(), f, name, o, false)
	if err != nil {
		return err
	}
	defer s.Close()
	from, to := p.span(s.Len())
	items := s.Tree(from, to-from)
	isLeaf := func(it session.Item) bool { return it.Leaf }
	if !p.fromStart() && from > 0 && !slices.ContainsFunc(items, isLeaf) { // it lies on a branch above
		items = s.Tree(0, s.Len())
		to = slices.IndexFunc(items, isLeaf) + 1
		to = min(len(items), max(to, p.most()))
		from = max(0, to-p.most())
		items = items[from:to]
	}
	pg := page{from, p.limit, to < s.Len()}
	problems := s.Problems()
	if a.asJSON {
		if problems == nil {
			problems = []session.Problem{}
		}
		return a.print(map[string]any{"session": s.ID(), "leaf": s.Leaf(), "entries": s.Len(), "items": items, "problems": problems, "page": pg})
	}
	st, labels := a.style(a.stdout), s.Labels()
	a.earlier(p, pg, "entries")
	for i := range items {
		it := &items[i]
		if ownNote(it.Type, it.Text) {
			continue
		}
		mark := "  "
		switch {
		case it.Leaf:
			mark = st.Bold("* ")
		case it.OnPath:
			mark = st.Dim("│ ")
		}
		fmt.Fprint(a.stdout, mark)
		a.showTreeLine(st, it, labels[it.ID])
	}
	for _, x := range problems {
		a.say("entry %s: %s", x.Entry, x.What)
	}
	a.more(pg, len(items))
	return nil
}

func (a *app) showTreeLine(st style, it *session.Item, label string) {
	l := entryLine{ID: it.ID, Type: it.Type, Role: it.Role, Label: label, Text: it.Text}
	st.Width = st.Columns() - 2
	a.showEntryLine(st, &l, strings.Repeat("  ", min(it.Depth, 12)))
}
