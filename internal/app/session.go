package app

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"
	"github.com/winnow-llm/winnow/internal/app/config"
	"github.com/winnow-llm/winnow/internal/app/source"
	"github.com/winnow-llm/winnow/session"
	"github.com/winnow-llm/winnow/session/jsonl"
	"github.com/winnow-llm/winnow/transcript"
)

func (a *app) sessionCommand() *cobra.Command {
	f := &storeFlags{}
	g := groupCommand("session", "List, read, compact, branch, rewind and move sessions", `
  winnow session import rollout.jsonl          take a conversation into the store
  winnow session ls                            what is there
  winnow session stats 019a8c1f                how full is it
  winnow session compact 019a8c1f "the parser" compact it; nothing is lost
  winnow session rewind 019a8c1f               undo that

A session is a conversation that can grow: a tree of entries, to which entries are
only ever added. SESSION is an id or the beginning of one, or the path of a .jsonl
session file; commands that only read also take any other transcript. ENTRY is an id
or the beginning of one.

With --recover, winnow skips damaged lines, attaches an entry whose parent is lost to
the entry written before it, and says on standard error what it left out.`,
		a.sessionLsCommand(f), a.sessionTreeCommand("show", f), a.sessionTreeCommand("tree", f), a.sessionStatsCommand(f),
		a.sessionPrepareCommand(f), a.sessionCompactCommand(f), a.sessionRewindCommand(f), a.sessionBranchCommand(f),
		a.sessionExportCommand(f), a.sessionImportCommand(f), a.sessionSearchCommand(f), a.sessionDeleteCommand(f))
	f.addTo(g)
	g.PersistentFlags().Bool(recoverFlag, false, "skip what is damaged instead of refusing the session")
	return g
}

// opened is a session that a person named, with what must be closed after it.
type opened struct {
	*session.Session
	name  string
	store session.Store // nil for a session file
	temp  string        // a folder with a copy of what cannot be added to

	format transcript.Format // of what is only a copy; "" for what can be added to
}

// Close closes the session and its store.
func (o *opened) Close() {
	_ = o.Session.Close() // everything acknowledged is on the disk
	if o.store != nil {
		_ = o.store.Close()
	}
	if o.temp != "" {
		_ = os.RemoveAll(o.temp)
	}
}

// openSession opens the session that a person named: a file, or a session of
// the store. Write says that something will be added to it.
func (a *app) openSession(ctx context.Context, f *storeFlags, name string, o *session.Options, write bool) (_ *opened, err error) {
	defer func() {
		if e, ok := errors.AsType[*session.Error](err); ok && errors.Is(err, session.ErrDamaged) && e.Op == "open" {
			e.Hint = "add --" + recoverFlag + " to leave out what is lost; winnow tree shows the damage"
		}
	}()
	if isSessionFile(name) || isRegular(name) {
		return a.openSessionFile(ctx, name, &inputFlags{}, o, write)
	}
	store, _, err := a.openExistingStore(*f)
	if err != nil {
		return nil, err
	}
	var log session.Log
	var s *session.Session
	id, err := findSession(ctx, store, name)
	if err == nil {
		log, err = store.Open(ctx, id)
	}
	if err == nil {
		makeRoomFor(log.Info().Bytes)
		s, err = session.New(ctx, log, o)
	}
	if err != nil {
		_ = store.Close() // nothing was written
		return nil, err
	}
	return a.sayNotes(&opened{Session: s, name: name, store: store}), nil
}

// isSessionFile reports whether a name is that of a file and no id.
func isSessionFile(name string) bool {
	return name == "-" || strings.ContainsRune(name, filepath.Separator) || strings.HasSuffix(name, ".jsonl") || strings.HasSuffix(name, ".gz")
}

// isRegular reports whether there is a file of that name.
func isRegular(name string) bool {
	info, err := os.Stat(name)
	return err == nil && info.Mode().IsRegular()
}

// openSessionFile opens a session file where it is. A stream, a compressed file and
// what the flags name the format of are read into a copy, to which nothing can be
// added; so is a transcript of any other format.
func (a *app) openSessionFile(ctx context.Context, name string, f *inputFlags, o *session.Options, write bool) (*opened, error) {
	copied := name == "-" || strings.HasSuffix(name, ".gz")
	if copied && write {
		return nil, usageErrorf("%s: winnow cannot add to a stream or a compressed file; import it with winnow session import", name)
	}
	if !copied && f.format == "" {
		if s, err := a.openFile(ctx, &opened{name: name}, name, o); write || !isOtherFormat(err) {
			return s, err
		}
	}
	in, err := a.loadInput(name, f.format)
	if in == nil {
		return nil, err
	}
	if copied || in.Format == transcript.Pi {
		if s, wrong := a.openData(ctx, in, o); !isOtherFormat(wrong) {
			return s, wrong
		}
	}
	if err != nil {
		return nil, err
	}
	a.sayWarnings(in)
	return a.openTranscript(ctx, in, f.session, o)
}

// isOtherFormat reports whether a file could not be opened as a session because it is
// something else.
func isOtherFormat(err error) bool {
	return errors.Is(err, session.ErrNotSession) && !errors.Is(err, session.ErrNewer)
}

// openTranscript makes a session in memory of the chosen conversation of a file of any
// format, so that it can be looked at.
func (a *app) openTranscript(ctx context.Context, in *source.Input, choice string, o *session.Options) (*opened, error) {
	chosen, err := a.chooseSession(in, choice)
	if err != nil {
		return nil, err
	}
	s, err := importConversation(ctx, session.NewMemory(), chosen, chosen.Request, nil, uuidOf(chosen), o)
	if err != nil {
		return nil, err
	}
	if chosen.Body == nil {
		if err := s.Hear(chosen.Reported()); err != nil {
			return nil, err
		}
	}
	return &opened{Session: s, name: in.Name, format: in.Format}, nil
}

// openData opens the session in an input that was read: a copy of it.
func (a *app) openData(ctx context.Context, in *source.Input, o *session.Options) (*opened, error) {
	out := &opened{name: in.Name, format: transcript.Pi}
	data, err := in.Bytes()
	if err != nil {
		return nil, err
	}
	if out.temp, err = os.MkdirTemp("", "winnow-session-"); err != nil {
		return nil, fmt.Errorf("%s cannot be copied: %w; check the folder for temporary files", in.Name, err)
	}
	path := filepath.Join(out.temp, "session.jsonl")
	if err := os.WriteFile(path, data, 0o600); err != nil {
		_ = os.RemoveAll(out.temp)
		return nil, writeError(path, err)
	}
	return a.openFile(ctx, out, path, o)
}

func (a *app) openFile(ctx context.Context, out *opened, path string, o *session.Options) (*opened, error) {
	makeRoom(path)
	log, err := jsonl.OpenFile(path, nil)
	if err == nil {
		out.Session, err = session.New(ctx, log, o)
	}
	if err == nil {
		return a.sayNotes(out), nil
	}
	if out.temp != "" {
		_ = os.RemoveAll(out.temp)
	}
	var e *session.Error
	switch {
	case errors.Is(err, session.ErrNewer) && errors.As(err, &e):
		e.Session = out.name // and not a copy's
	case errors.Is(err, session.ErrNotSession):
		return nil, fmt.Errorf("%s: this is %w file; winnow session import imports other formats into the store", out.name, session.ErrNotSession)
	}
	return nil, err
}

// sayNotes tells people what the store mended on reading.
func (a *app) sayNotes(o *opened) *opened {
	for _, n := range o.Notes() {
		a.say("%s: %s", o.name, n)
	}
	return o
}

// findSession returns the id that a name is, or the beginning of.
func findSession(ctx context.Context, store session.Store, name string) (string, error) {
	log, err := store.Open(ctx, name)
	if err == nil {
		return name, log.Close()
	}
	if !errors.Is(err, session.ErrNotFound) {
		return "", err
	}
	all, listed := store.List(ctx, 0, 0)
	if listed != nil {
		return "", listed
	}
	id, err := findByPrefix(all, func(i *session.Info) string { return i.ID }, name, "session")
	if err != nil {
		return "", fmt.Errorf("%w; winnow session ls lists them", err)
	}
	return id, nil
}

// findByPrefix returns the only id in a list that starts as a person said.
func findByPrefix[T any](list []T, idOf func(*T) string, name, what string) (string, error) {
	found := ""
	for i := range list {
		switch id := idOf(&list[i]); {
		case id == name:
			return id, nil
		case name == "" || !strings.HasPrefix(strings.ToLower(id), strings.ToLower(name)):
		case found != "":
			return "", fmt.Errorf("%s %s: several ids start like this, such as %s and %s; write more of the id", what, name, found, id)
		default:
			found = id
		}
	}
	if found == "" {
		return "", fmt.Errorf("%s %s: no id starts like this", what, name)
	}
	return found, nil
}

func entryIDOf(e *session.Entry) string { return e.ID }

// entryID returns the id of an entry that a person named by its beginning.
func (o *opened) entryID(name string) (string, error) {
	if _, err := o.Entry(name); err == nil {
		return name, nil
	}
	id, err := findByPrefix(o.Page(0, o.Len()), entryIDOf, name, "entry")
	if err != nil {
		return "", fmt.Errorf("%w; winnow tree %s --list lists them", err, o.name)
	}
	return id, nil
}

// sessionOptions returns the options of a session under the settings and flags, of
// which the command's own have the last word. The summariser is made only where a
// summary may be asked for.
func (a *app) sessionOptions(cmd *cobra.Command, mf *modelFlags, summarize bool, flags ...func(*loaded)) (*session.Options, error) {
	l, err := a.loadSettings()
	if err != nil {
		return nil, err
	}
	l.Override(func(*config.File) {
		if mf != nil {
			err = mf.applyToSettings(l, nil)
		}
		for _, set := range flags {
			set(l)
		}
	})
	if err != nil {
		return nil, err
	}
	registry, err := l.modelRegistry()
	if err != nil {
		return nil, err
	}
	o := &session.Options{Live: l.Session, Registry: registry, Kinds: l.Kinds(), Output: l.OutputReserve, Hooks: []session.Hooks{{Failed: func(f session.HookFailure) {
		a.say("the hook %s on %s failed and is ignored: %v", f.Hook, f.Event, f.Err)
	}}}}
	if flag := cmd.Flag(recoverFlag); flag != nil {
		o.Recover = flag.Value.String() == "true"
	}
	if summarize {
		o.Summarizer, err = a.newSummarizer(cmd.Context(), &l.File, registry)
	}
	return o, err
}

// openWith opens the session that a person named, under [app.sessionOptions].
func (a *app) openWith(cmd *cobra.Command, f *storeFlags, name string, write bool, mf *modelFlags, summarize bool, flags ...func(*loaded)) (*opened, *session.Options, error) {
	o, err := a.sessionOptions(cmd, mf, summarize, flags...)
	if err != nil {
		return nil, nil, err
	}
	s, err := a.openSession(cmd.Context(), f, name, o, write)
	return s, o, err
}

// recoverFlag is the flag of the session commands that opens damaged sessions.
const recoverFlag = "recover"

// pageFlags are the flags of commands that list.
type pageFlags struct {
	limit, skip int
	fromStart   func() bool // nil is always
}

func (f *pageFlags) addTo(cmd *cobra.Command, limit int) {
	cmd.Flags().IntVar(&f.limit, "limit", limit, "list at most `N`; 0 lists all")
	cmd.Flags().IntVar(&f.skip, "skip", 0, "skip the first `N`")
}

// itemLimit returns the limit as a number of items.
func (f *pageFlags) itemLimit() int { return cmp.Or(f.limit, math.MaxInt) }

// addNewest adds the flags of lists that show their newest end unless --skip is
// given.
func (f *pageFlags) addNewest(cmd *cobra.Command, limit int) {
	cmd.Flags().IntVar(&f.limit, "limit", limit, "list the newest `N` at most; 0 lists all")
	cmd.Flags().IntVar(&f.skip, "skip", 0, "skip the first `N` and list what follows")
	f.fromStart = func() bool { return cmd.Flags().Changed("skip") }
}

// shownRange returns the part of a list of n that is shown: the end of it, or what follows
// those that a person wants to skip.
func (f *pageFlags) shownRange(n int) (from, to int) {
	if f.fromStart != nil && !f.fromStart() {
		return n - min(n, f.itemLimit()), n
	}
	from = min(f.skip, n)
	return from, from + min(n-from, f.itemLimit())
}

// page is the part of a list that a JSON document has.
type page struct {
	Skip  int  `json:"skip"`
	Limit int  `json:"limit"`
	More  bool `json:"more"`
}

// sayMore says how to see the rest of a list.
func (a *app) sayMore(p page, shown int) {
	if p.More {
		a.say("there are more; see them with --skip %d", p.Skip+shown)
	}
}

// sayEarlier says before a list how many stand before it and how to see them.
func (a *app) sayEarlier(f *pageFlags, p page, what string) {
	if p.Skip > 0 && !f.fromStart() {
		fmt.Fprintln(a.stdout, a.styleFor(a.stdout).Dim(fmt.Sprintf("(%s %s before these; --limit 0 lists all, --skip 0 starts with the first)", number(p.Skip), what)))
	}
}
