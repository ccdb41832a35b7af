package app

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"regexp"

	"github.com/spf13/cobra"
	"github.com/winnow-llm/winnow/chat"
	"github.com/winnow-llm/winnow/internal/app/source"
	"github.com/winnow-llm/winnow/internal/neurolink"
	"github.com/winnow-llm/winnow/plan"
	"github.com/winnow-llm/winnow/session"
	"github.com/winnow-llm/winnow/transcript"
)

func (a *app) sessionImportCommand(f *storeFlags) *cobra.Command {
	var in inputFlags
	im := &importer{app: a}
	cmd := newCommand("import FILE...", "Import conversations from files into the store", `
  winnow session import rollout.jsonl
  winnow session import logs/*.json --store sessions/

Reads any format that winnow knows and makes a session of each conversation in the
files; --session picks one. A file of pi is imported with all its branches (version 3
byte for byte), and NeuroLink's messages with what their tags hide. The files are
never written. A file that cannot be imported is reported and does not stop the
others; the exit code is then 1.`,
		cobra.MinimumNArgs(1), func(cmd *cobra.Command, args []string) error { return a.sessionImport(cmd, f, &in, im, args) })
	in.addTo(cmd)
	cmd.Flags().BoolVar(&im.again, "again", false, "import again, under a new id, what the store already has")
	cmd.Flags().StringVar(&im.name, "name", "", "give the session this `NAME`")
	return cmd
}

// imported is one session in the JSON document of import.
type imported struct {
	Session  string `json:"session"`
	File     string `json:"file"`
	Format   string `json:"format"`
	Name     string `json:"name"`
	Messages int    `json:"messages"`
	Entries  int    `json:"entries"`
}

// notImported is a file that could not be taken in.
type notImported struct {
	File  string `json:"file"`
	Error string `json:"error"`
}

func (a *app) sessionImport(cmd *cobra.Command, f *storeFlags, in *inputFlags, im *importer, files []string) error {
	o, err := a.sessionOptions(cmd, nil, false)
	if err != nil {
		return err
	}
	store, path, err := a.openStore(*f)
	if err != nil {
		return err
	}
	defer store.Close()
	im.cmd, im.store, im.o, im.done = cmd, store, o, []imported{}
	failed := []notImported{}
	for _, file := range files {
		err := im.importFile(file, in)
		if err == nil {
			continue
		}
		if cmd.Context().Err() != nil || len(files) == 1 && len(im.done) == 0 {
			return err
		}
		failed = append(failed, notImported{file, oneLine(err.Error())})
		if !a.asJSON {
			fmt.Fprintf(a.stderr, "winnow: %s\n", oneLine(err.Error()))
		}
	}
	if a.asJSON {
		if err := a.printJSON(map[string]any{"store": path, "sessions": im.done, "failures": failed}); err != nil {
			return err
		}
	}
	if len(failed) == 0 {
		return nil
	}
	return fmt.Errorf("%d of %s could not be imported", len(failed), plural(len(files), "file"))
}

// importer takes sessions into a store.
type importer struct {
	app   *app
	cmd   *cobra.Command
	store session.Store
	o     *session.Options
	name  string
	again bool // under a new id
	done  []imported
}

// importFile takes in the sessions of a file.
func (im *importer) importFile(path string, in *inputFlags) error {
	if isRegular(path) && (in.format == "" || in.format == string(transcript.Pi)) {
		from, err := im.app.openFile(im.cmd.Context(), &opened{name: path}, path, im.o)
		if !isOtherFormat(err) { // it is not read as a transcript too
			return im.importPi(from, path, err)
		}
	}
	input, err := im.app.loadInput(path, in.format)
	if err != nil {
		return err
	}
	if input.Format == transcript.Pi && input.Data != nil {
		// A file that lost its header is not a session file, but still a conversation.
		if from, err := im.app.openData(im.cmd.Context(), input, im.o); !isOtherFormat(err) {
			return im.importPi(from, input.Name, err)
		}
	}
	im.app.sayWarnings(input)
	var tagged []neurolink.Conversation
	if input.Format == transcript.NeuroLink {
		data, err := input.Bytes()
		if err == nil {
			tagged, err = neurolink.Decode(data)
		}
		if err != nil {
			im.app.say("%s: the tags are left out: %v", input.Name, err)
		}
	}
	chosen := input.Sessions
	if in.session != "" {
		s, _, err := input.Choose(in.session)
		if err != nil {
			return usageErrorf("%v", err)
		}
		chosen = []source.Session{*s}
	}
	for i := range chosen {
		var t *neurolink.Conversation
		if n := chosen[i].Number; n <= len(tagged) {
			t = &tagged[n-1]
		}
		if err := im.importSession(input, &chosen[i], t); err != nil {
			return err
		}
	}
	return nil
}

// importPi takes in a session file as it is, unless it could not be opened.
func (im *importer) importPi(from *opened, file string, err error) error {
	if err != nil {
		return err
	}
	defer from.Close()
	take := from.CopyTo
	if im.again {
		take = from.CopyAs
	}
	s, err := take(im.cmd.Context(), im.store, im.o)
	if err != nil {
		return explainExists(file, from.ID(), err)
	}
	return im.nameAndReport(s, file, transcript.Pi, "")
}

var uuidForm = regexp.MustCompile(`^[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}$`)

// uuidOf returns the id of a conversation that is one of its kind, so that a session is
// not taken in twice; "" for any other.
func uuidOf(from *source.Session) string {
	if !uuidForm.MatchString(from.ID) {
		return ""
	}
	return from.ID
}

// importConversation makes a session of a request and a plan of a conversation that was
// read from a file.
func importConversation(ctx context.Context, store session.Store, from *source.Session, req chat.Request, p *plan.Plan, id string, o *session.Options) (*session.Session, error) {
	with := *o
	with.Provider, with.Model, with.Agent = providerOf[from.Format], from.Model, from.Window(o.Registry.Lookup(from.Model))
	return session.ImportPlan(ctx, store, session.Header{ID: id}, req, p, &with)
}

// importSession takes in one conversation.
func (im *importer) importSession(input *source.Input, from *source.Session, tagged *neurolink.Conversation) error {
	id, title, ctx := "", from.Title, im.cmd.Context()
	if !im.again {
		id = uuidOf(from)
	}
	if title == "" && id == "" {
		title = from.ID
	}
	var s *session.Session
	var err error
	if tagged != nil {
		req, p := from.Request, (*plan.Plan)(nil) // a plan hides what the tags hide
		if req.History, p, err = neurolink.Import(tagged.Messages, im.o.Rules); err == nil {
			s, err = importConversation(ctx, im.store, from, req, p, id, im.o)
		}
		if errors.Is(err, neurolink.ErrTags) || errors.Is(err, session.ErrPlan) {
			im.app.say("%s: the tags do not fit the messages and are left out: %v", input.Name, err)
			s, err = nil, nil
		}
	}
	if s == nil && err == nil {
		s, err = importConversation(ctx, im.store, from, from.Request, nil, id, im.o)
	}
	if err != nil {
		return explainExists(input.Name, id, err)
	}
	return im.nameAndReport(s, input.Name, input.Format, title)
}

// explainExists says of a session that the store has already what can be done.
func explainExists(file, id string, err error) error {
	if errors.Is(err, session.ErrExists) {
		return fmt.Errorf("%s: the store already has it, as %s; winnow session delete removes it there, and --again imports it a second time under a new id", file, id)
	}
	return err
}

// nameAndReport names a session that was taken in and tells of it.
func (im *importer) nameAndReport(s *session.Session, file string, format transcript.Format, title string) error {
	defer s.Close()
	title = cmp.Or(im.name, title)
	if title != "" && s.Name() == "" || im.name != "" {
		if err := s.SetName(im.cmd.Context(), brief(title, 200)); err != nil {
			return err
		}
	}
	c, err := s.Context()
	if err != nil {
		return err
	}
	d := imported{Session: s.ID(), File: file, Format: string(format), Name: s.Name(), Messages: c.Request.History.Len(), Entries: s.Len()}
	im.done = append(im.done, d)
	switch a := im.app; {
	case a.asJSON:
	case a.quiet: // for scripts
		fmt.Fprintln(a.stdout, d.Session)
	default:
		fmt.Fprintf(a.stdout, "%s  %s, %s\n", a.styleFor(a.stdout).Bold(d.Session), d.Format, plural(d.Messages, "message"))
	}
	return nil
}
