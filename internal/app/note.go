package app

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"
	"github.com/winnow-llm/winnow/control"
)

// noteFlags say which conversation the notes are of.
type noteFlags struct {
	recallFlags
	conversation string
}

func (f *noteFlags) addTo(cmd *cobra.Command) {
	f.recallFlags.addTo(cmd)
	cmd.Flags().StringVar(&f.conversation, "conversation", "", "the gateway's conversation with this `ID` or its beginning")
}

func (a *app) noteCommand() *cobra.Command {
	var f noteFlags
	list := newCommand("list", "List the notes", `
  winnow note list
  winnow note list --session 01J9Z3`,
		cobra.NoArgs, func(cmd *cobra.Command, _ []string) error { return a.listNotes(cmd.Context(), &f) })
	add := newCommand("add TEXT", "Write something down", `  winnow note add "the staging database is read-only"`,
		cobra.MinimumNArgs(1), func(cmd *cobra.Command, args []string) error {
			return a.writeNote(cmd.Context(), &f, control.Write{Text: strings.Join(args, " ")})
		})
	edit := newCommand("edit ID TEXT", "Replace the text of a note", `  winnow note edit n5k2p9 "the staging database is writable since Monday"`,
		cobra.MinimumNArgs(2), func(cmd *cobra.Command, args []string) error {
			return a.writeNote(cmd.Context(), &f, control.Write{Replaces: args[0], Text: strings.Join(args[1:], " ")})
		})
	remove := newCommand("remove ID", "Remove a note", "  winnow note remove n5k2p9",
		cobra.ExactArgs(1), func(cmd *cobra.Command, args []string) error {
			return a.writeNote(cmd.Context(), &f, control.Write{Replaces: args[0]})
		})
	remove.Aliases = []string{"rm"}
	g := groupCommand("note", "Read and write notes, which outlive every compaction", `
  winnow note list
  winnow note add "the staging database is read-only"
  winnow note remove n5k2p9

A model writes notes with the tool note of winnow mcp, a person with this command or
on the page. From the next compaction on they are in the view, however many compactions
follow, marked as notes and not as the user's words. A conversation has at most 40 notes
of 600 bytes.

winnow looks for the conversation where winnow mcp does: at the gateway that --gateway or
WINNOW_GATEWAY names, else in the gateway's file. There --conversation names it; else it
is that of the agent behind winnow wrap, the newest of this folder, or the newest.
Without a gateway, and with --session ID, it is a session of the store.`, list, add, edit, remove)
	for _, c := range g.Commands() {
		f.addTo(c)
	}
	return g
}

// openConversation opens the conversation whose notes are meant. Done must be called.
func (f *noteFlags) openConversation(ctx context.Context, a *app) (s control.Steering, d *control.Detail, done func(), err error) {
	if s, done, err = f.openSteering(ctx, a); err != nil {
		return nil, nil, done, err
	}
	switch id := f.conversation + f.session; {
	case f.conversation != "" && f.session != "":
		err = usageErrorf("note: name a --conversation or a --session")
	case id != "":
		d, err = s.Conversation(ctx, id)
	default:
		d, _, err = control.Which(ctx, s, a.whoseConversation())
	}
	return s, d, done, err
}

func (a *app) listNotes(ctx context.Context, f *noteFlags) error {
	_, d, done, err := f.openConversation(ctx, a)
	defer done()
	if err != nil {
		return err
	}
	if a.asJSON {
		return a.printJSON(map[string]any{"conversation": d.ID, "notes": d.Notes})
	}
	if !d.Readable && len(d.Notes) == 0 {
		return fmt.Errorf("conversation %s: its notes cannot be shown: %s", d.ID, d.Why)
	}
	a.say("conversation %s: %s", d.ID, plural(len(d.Notes), "note"))
	for _, n := range d.Notes {
		fmt.Fprintf(a.stdout, "%s  after message %d, %s  %s\n", n.ID, n.Message, n.Time.Local().Format("2006-01-02 15:04"), oneLine(n.Text))
	}
	return nil
}

func (a *app) writeNote(ctx context.Context, f *noteFlags, w control.Write) error {
	s, d, done, err := f.openConversation(ctx, a)
	defer done()
	if err != nil {
		return err
	}
	w.Plan = d.Plan
	did, err := s.Note(ctx, d.ID, w)
	if errors.As(err, new(*control.ConflictError)) {
		return fmt.Errorf("%w: run it again", err)
	}
	if err != nil {
		return err
	}
	return a.printLine(did, "conversation %s: %s", d.ID, did.Say)
}
