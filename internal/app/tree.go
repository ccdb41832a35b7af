package app

import (
	"context"
	"errors"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/colorprofile"
	"github.com/spf13/cobra"
	"github.com/winnow-llm/winnow/internal/app/viewer"
	"github.com/winnow-llm/winnow/session"
)

// treeFlags are the flags of tree.
type treeFlags struct {
	inputFlags
	modelFlags
	storeFlags
	pageFlags
	readOnly, list, view bool
}

func (a *app) treeCommand() *cobra.Command {
	f := &treeFlags{}
	cmd := newCommand("tree FILE|SESSION [ENTRY]", "View a session full screen: its tree, view and originals", `
  winnow tree 019a8c1f                         a session of the store
  winnow tree session.jsonl                    a session file of pi, changed in place
  winnow tree rollout.jsonl                    any transcript; changes are not kept
  winnow tree 019a8c1f 3f2a91bc                one entry in full
  winnow tree 019a8c1f --view --limit 0        what the model sees, as a list

Shows the tree of a session with its branches, compactions and labels, and the
entry at the cursor as the model sees it beside the original. There you can pin messages,
compact with a focus, undo a compaction, and move the leaf to another entry; ? lists
the keys.

What you do is added to the session if it is in the store or in a session file of
pi; entries are never rewritten. Any other transcript is only read into memory, and
so is everything with --read-only. SESSION is an id or the beginning of one.

With --list, or without a terminal, it lists the entries in order, branch by branch;
of a long tree only the end, or the part around the leaf. A star marks the leaf, a bar
the path to it. With ENTRY it prints that entry in full.`,
		cobra.RangeArgs(1, 2), func(cmd *cobra.Command, args []string) error { return a.runTree(cmd, args, f) })
	f.inputFlags.addTo(cmd)
	f.modelFlags.addTo(cmd)
	f.storeFlags.addTo(cmd)
	f.addListing(cmd)
	cmd.Flags().BoolVar(&f.list, "list", false, "print a list instead of the full screen")
	cmd.Flags().BoolVar(&f.readOnly, "read-only", false, "work on a copy, and keep no changes")
	return cmd
}

// addListing adds the flags of lists.
func (f *treeFlags) addListing(cmd *cobra.Command) {
	f.addNewest(cmd, 100)
	cmd.Flags().BoolVar(&f.view, "view", false, "list the messages that the model sees")
}

// sessionTreeCommand is tree --list under the name that it had.
func (a *app) sessionTreeCommand(name string, store *storeFlags) *cobra.Command {
	f := &treeFlags{list: true}
	cmd := newCommand(name+" SESSION [ENTRY]", "List a session with all its branches, or one entry in full", "  winnow tree 019a8c1f --list",
		cobra.RangeArgs(1, 2), func(cmd *cobra.Command, args []string) error {
			f.storeFlags = *store
			return a.runTree(cmd, args, f)
		})
	cmd.Hidden = true
	f.addListing(cmd)
	return cmd
}

func (a *app) runTree(cmd *cobra.Command, args []string, f *treeFlags) error {
	if f.list || f.view || len(args) > 1 || a.asJSON || !isTerminal(a.stdout) || a.getenv("TERM") == "dumb" {
		return a.listTree(cmd, args, f)
	}
	o, err := a.sessionOptions(cmd, &f.modelFlags, true)
	if err != nil {
		return err
	}
	o.Manual = true
	s, v, err := a.treeSession(cmd.Context(), args[0], f, o)
	if err != nil {
		return err
	}
	defer s.Close()
	return a.viewSession(cmd.Context(), s.Session, v)
}

// viewSession shows a session full screen until the person leaves.
func (a *app) viewSession(ctx context.Context, s *session.Session, v viewer.Options) error {
	in, done, err := a.openKeyboard()
	if err != nil {
		return err
	}
	defer done()
	ctx, stop := signal.NotifyContext(ctx, syscall.SIGTERM, syscall.SIGHUP) // interrupts end it already
	defer stop()
	options := []tea.ProgramOption{tea.WithInput(in), tea.WithOutput(fileOf(a.stdout)), tea.WithEnvironment(a.environ())}
	if a.noColor || a.getenv("NO_COLOR") != "" {
		options = append(options, tea.WithColorProfile(colorprofile.ASCII))
	}
	return viewer.Run(viewer.New(ctx, s, v), options...)
}

// openKeyboard opens the file that keys come from: standard input, or the terminal
// itself where something was piped into the command.
func (a *app) openKeyboard() (in *os.File, done func(), err error) {
	if f := a.terminalInput(); f != nil {
		return f, func() {}, nil
	}
	in, out, err := tea.OpenTTY()
	if err != nil {
		return nil, nil, usageErrorf("winnow tree needs a terminal to read keys from: %v; --list prints the tree anywhere", err)
	}
	return in, func() { _, _ = in.Close(), out.Close() }, nil
}

// treeSession opens what a person wants to look at.
func (a *app) treeSession(ctx context.Context, name string, f *treeFlags, o *session.Options) (*opened, viewer.Options, error) {
	var v viewer.Options
	isFile := name == "-" || isRegular(name)
	if isFile {
		v.Title, v.File = filepath.Base(name), name
	}
	open := func() (*opened, error) {
		if isFile {
			return a.openSessionFile(ctx, name, &f.inputFlags, o, false)
		}
		return a.openSession(ctx, &f.storeFlags, name, o, true)
	}
	s, err := open()
	switch {
	case errors.Is(err, session.ErrDamaged):
		damage := err
		o.Recover = true // it is looked at in a copy, and not used
		if s, err = open(); err != nil {
			return nil, v, damage
		}
		v.Hello = "this session is damaged, and this is a copy of what can be read: " + oneLine(damage.Error())
		return a.lookOnly(ctx, s, o, v)
	case err != nil:
		return nil, v, err
	case s.format != "":
		v.Title, v.File, v.Note = filepath.Base(s.name), "", notKept
		v.Hello = "this is a transcript (" + string(s.format) + "): changes are not kept; winnow session import takes it into the store"
	case f.readOnly:
		v.Hello = "this is a copy: changes are not kept"
		return a.lookOnly(ctx, s, o, v)
	case isFile:
		v.Hello = "pins, compactions and undos are written to " + name + "; --read-only tries them on a copy"
	}
	return s, v, nil
}

// notKept is said beside the title of what is only looked at.
const notKept = "changes are not kept"

// lookOnly puts a copy in the place of a session where nothing is to be kept.
func (a *app) lookOnly(ctx context.Context, s *opened, o *session.Options, v viewer.Options) (*opened, viewer.Options, error) {
	defer s.Close()
	v.Note, v.File = notKept, ""
	c, err := s.CopyTo(ctx, session.NewMemory(), o)
	if err != nil {
		return nil, v, err
	}
	return &opened{Session: c, name: s.name}, v, nil
}
