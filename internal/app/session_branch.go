package app

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/winnow-llm/winnow/session"
)

// branchFlags are the flags of branch.
type branchFlags struct {
	summary, fork bool
	focus, label  string
}

func (a *app) sessionBranchCommand(f *storeFlags) *cobra.Command {
	var bf branchFlags
	cmd := newCommand("branch SESSION ENTRY", "Continue from another entry, in the same session or in a new one", `
  winnow session branch 019a8c1f 3f2a91bc --summary
  winnow session branch 019a8c1f 3f2a91bc --fork

Moves the leaf to an entry, so that the conversation continues from there. If the
entry is a user message, the leaf moves to the entry before it and the message is
printed, so that you can rephrase it. The abandoned branch stays in the tree;
--summary adds notes about it at the new place. --fork leaves the session alone and
makes a new one from the path to the entry.`,
		cobra.ExactArgs(2), func(cmd *cobra.Command, args []string) error { return a.sessionBranch(cmd, f, &bf, args[0], args[1]) })
	cmd.Flags().BoolVar(&bf.summary, "summary", false, "add a summary of the abandoned branch")
	cmd.Flags().StringVar(&bf.focus, "focus", "", "`TEXT` that the summary should pay attention to")
	cmd.Flags().String("summarizer", "", "what writes it: builtin (the default) or a model, as `PROVIDER/MODEL`")
	cmd.Flags().StringVar(&bf.label, "label", "", "put this `LABEL` on the summary, or on the entry")
	cmd.Flags().BoolVar(&bf.fork, "fork", false, "make a new session instead of moving the leaf")
	return cmd
}

// sessionBranched is the JSON document of branch.
type sessionBranched struct {
	Session  string `json:"session"`
	Parent   string `json:"parent,omitempty"` // the session it was forked from
	Forked   bool   `json:"forked"`
	Moved    bool   `json:"moved"`
	OldLeaf  string `json:"old_leaf"`
	Leaf     string `json:"leaf"`
	Ancestor string `json:"ancestor"`
	Text     string `json:"text"`
	Summary  string `json:"summary_entry,omitempty"`
}

func (a *app) sessionBranch(cmd *cobra.Command, f *storeFlags, bf *branchFlags, name, entry string) error {
	switch {
	case bf.fork && (bf.summary || bf.focus != ""):
		return usageErrorf("--fork abandons no branch, so there is nothing to summarise; give --fork or --summary")
	case bf.focus != "" && !bf.summary:
		return usageErrorf("--focus is for a summary; give --summary too")
	}
	s, o, err := a.openWith(cmd, f, name, !bf.fork, &modelFlags{cmd.Flags()}, bf.summary)
	if err != nil {
		return err
	}
	defer s.Close()
	id, err := s.entryID(entry)
	if err != nil {
		return err
	}
	if bf.fork {
		return a.sessionFork(cmd, f, s, o, bf, id)
	}
	n, err := s.Navigate(cmd.Context(), id, session.NavigateOptions{Summarise: bf.summary, Focus: bf.focus, Label: bf.label})
	if err != nil {
		return err
	}
	doc := sessionBranched{Session: s.ID(), Moved: n.Moved, OldLeaf: n.OldLeaf, Leaf: n.Leaf, Ancestor: n.Ancestor, Text: n.Text}
	if n.Summary != nil {
		doc.Summary = n.Summary.ID
	}
	return a.printReport(doc, func() { a.showBranched(&n, bf) })
}

func (a *app) showBranched(n *session.Navigated, bf *branchFlags) {
	st := a.styleFor(a.stdout)
	switch {
	case !n.Moved:
		fmt.Fprintf(a.stdout, "the leaf is already there: %s\n", st.Bold(n.Leaf))
	case n.Leaf == "":
		fmt.Fprintf(a.stdout, "%s -> before the first entry\n", n.OldLeaf)
	default:
		fmt.Fprintf(a.stdout, "%s -> %s\n", n.OldLeaf, st.Bold(n.Leaf))
	}
	if bf.summary && n.Summary == nil {
		fmt.Fprintln(a.stdout, "no summary: the abandoned branch has no messages")
	}
	if n.Summary != nil {
		fmt.Fprintf(a.stdout, "summary: %s\n", brief(n.Summary.Branch.Summary, st.Columns()-9))
	}
	if n.Text != "" {
		fmt.Fprintf(a.stdout, "\n%s\n", plainText(strings.ToValidUTF8(n.Text, "?")))
	}
}

// sessionFork makes a new session of the path to an entry, in the store, or
// beside the file.
func (a *app) sessionFork(cmd *cobra.Command, f *storeFlags, s *opened, o *session.Options, bf *branchFlags, id string) error {
	store := s.store
	if store == nil { // a session file: its fork goes to the store
		var err error
		if store, _, err = a.openStore(*f); err != nil {
			return err
		}
		defer store.Close()
	}
	made, err := s.Fork(cmd.Context(), store, id, o)
	if err != nil {
		return err
	}
	defer made.Close()
	if bf.label != "" {
		if err := made.Label(cmd.Context(), id, bf.label); err != nil {
			return err
		}
	}
	doc := sessionBranched{Session: made.ID(), Parent: s.ID(), Forked: true, OldLeaf: s.Leaf(), Leaf: made.Leaf(), Ancestor: id}
	return a.printLine(doc, "%s: %s of %s", a.styleFor(a.stdout).Bold(doc.Session), plural(made.Len(), "entry"), s.ID())
}

func (a *app) sessionDeleteCommand(f *storeFlags) *cobra.Command {
	var yes, expired bool
	cmd := newCommand("delete SESSION...", "Delete sessions for good", `
  winnow session delete 019a8c1f --yes
  winnow session delete --expired --yes

Deletes sessions with all their branches. It asks first; without a
terminal it needs --yes. --expired deletes the sessions that
the setting keep no longer allows.`, nil, func(cmd *cobra.Command, args []string) error { return a.sessionDelete(cmd, f, yes, expired, args) })
	cmd.Flags().BoolVar(&yes, "yes", false, "do not ask")
	cmd.Flags().BoolVar(&expired, "expired", false, "delete the sessions that exceed the age, size or number of the setting keep")
	return cmd
}

func (a *app) sessionDelete(cmd *cobra.Command, f *storeFlags, yes, expired bool, args []string) error {
	if expired == (len(args) > 0) {
		return usageErrorf("delete: which sessions? name them, or give --expired")
	}
	for _, name := range args {
		if isSessionFile(name) {
			return usageErrorf("delete: %s is a file; delete it as one, or name its folder with --store and the session's id", name)
		}
	}
	store, _, err := a.openExistingStore(*f)
	if err != nil {
		return err
	}
	defer store.Close()
	var ids []string
	if expired {
		if ids, err = a.expiredSessions(cmd, store); err != nil {
			return err
		}
	}
	for _, name := range args {
		id, err := findSession(cmd.Context(), store, name)
		if err != nil {
			return err
		}
		ids = append(ids, id)
	}
	if len(ids) > 0 && !yes {
		what := fmt.Sprintf("delete %s for good: %s", plural(len(ids), "session"), strings.Join(ids, ", "))
		switch ask := a.newAsker(a.stderr); {
		case ask == nil || !isTerminal(a.stderr):
			return usageErrorf("%s: there is no terminal to ask on; give --yes", what)
		case !ask(what):
			return errors.New("nothing was deleted")
		}
	}
	deleted := []string{}
	for _, id := range ids {
		if err := store.Delete(cmd.Context(), id); err != nil {
			return err
		}
		deleted = append(deleted, id)
		if !a.asJSON {
			fmt.Fprintf(a.stdout, "deleted %s\n", id)
		}
	}
	return a.printResult(map[string]any{"deleted": deleted}, func() {
		if len(ids) == 0 {
			fmt.Fprintln(a.stdout, "there is nothing to delete")
		}
	})
}

// expiredSessions returns the sessions that the settings no longer keep.
func (a *app) expiredSessions(cmd *cobra.Command, store session.Store) ([]string, error) {
	l, err := a.loadSettings()
	if err != nil {
		return nil, err
	}
	keep := l.Retention()
	list, err := keep.Expired(cmd.Context(), store, time.Now())
	if err != nil {
		return nil, err
	}
	ids := make([]string, len(list))
	for i := range list {
		ids[i] = list[i].ID
	}
	return ids, nil
}
