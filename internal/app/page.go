package app

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"path/filepath"

	"github.com/spf13/cobra"
	"github.com/winnow-llm/winnow/chat"
	"github.com/winnow-llm/winnow/control"
	webpage "github.com/winnow-llm/winnow/internal/page"
	"github.com/winnow-llm/winnow/internal/redact"
	"github.com/winnow-llm/winnow/internal/rerun"
	"github.com/winnow-llm/winnow/session"
)

// pageCommandFlags are the flags of page.
type pageCommandFlags struct {
	inputFlags
	modelFlags
	storeFlags
	listen, html    string
	noRedact, force bool
}

func (a *app) pageCommand() *cobra.Command {
	f := &pageCommandFlags{}
	cmd := newCommand("page FILE|SESSION", "Show a session in the browser: its context, compactions and files", `
  winnow page session.jsonl
  winnow page latest
  winnow page 019a8c1f
  winnow page session.jsonl --html session.html

Serves a page about a session, to this machine only, and prints an address that
works once: open it in a browser. The page shows the context request by request and
by kind, with the window and the trigger; what each compaction did, as a patch with
the originals; the current text of the files; and what to do now. On the page you can
undo a compaction, pin a message, and compact with a focus.

A session in the store is shown as it was recorded, beside the other sessions of the
store, and what you do on the page is added to it. A session file is replayed as if
winnow had been there, request by request: the page shows what winnow would have
sent, beside what the agent's provider reported. Nothing is written to the file, and
what you do on the page is not kept.

--html writes the page as a single file that needs no server and only shows. Secrets
are removed from it unless you give --no-redact.
winnow address opens the page of a running gateway.`,
		cobra.ExactArgs(1), func(cmd *cobra.Command, args []string) error { return a.runPage(cmd, args[0], f) })
	f.inputFlags.addTo(cmd)
	f.modelFlags.addTo(cmd)
	f.storeFlags.addTo(cmd)
	cmd.Flags().StringVar(&f.listen, "listen", "127.0.0.1:0", "loopback `ADDR` to listen on; port 0 picks a free port")
	cmd.Flags().StringVar(&f.html, "html", "", "write the page to `FILE` instead")
	cmd.Flags().BoolVar(&f.noRedact, "no-redact", false, "with --html: do not remove secrets")
	cmd.Flags().BoolVar(&f.force, "force", false, "with --html: overwrite an existing file")
	return cmd
}

func (a *app) runPage(cmd *cobra.Command, name string, f *pageCommandFlags) error {
	switch {
	case f.html == "" && (f.noRedact || f.force):
		return usageErrorf("--no-redact and --force work only with --html")
	case f.html == "" && reachableFromOutside(f.listen):
		return usageErrorf("--listen %s: the page is served to this machine only; use 127.0.0.1:PORT", f.listen)
	case f.html != "" && !f.force && isRegular(f.html):
		return usageErrorf("%s: this file exists; give --force to overwrite it, or name another", f.html)
	}
	o, err := a.pageSource(cmd, name, f)
	if err != nil {
		return err
	}
	defer o.close()
	if f.html != "" {
		return a.pageFile(cmd.Context(), o, f)
	}
	s := webpage.NewServer(o.Source, o.id, o.note)
	told := func(at net.Addr) string { return "http://" + at.String() + s.Ticket() }
	return a.listenAndServe(cmd.Context(), f.listen, told, func(ctx context.Context, l net.Listener) error {
		if isTerminal(a.stdout) {
			a.say("open this address in a browser; it works once. Ctrl-C ends winnow page")
		}
		return serveHandler(ctx, l, s, func() {})
	})
}

// onPage is what a page is opened on.
type onPage struct {
	control.Source
	id    string // of the conversation that is shown first
	note  string // what its reader must know
	close func()
}

// pageSource opens what a person wants to look at: a file, or a session of the
// store.
func (a *app) pageSource(cmd *cobra.Command, name string, f *pageCommandFlags) (*onPage, error) {
	if name == "-" || isLatest(name) || isRegular(name) || isSessionFile(name) || f.format != "" {
		return a.pageOfFile(cmd, name, f)
	}
	store, _, err := a.openExistingStore(f.storeFlags)
	if errors.Is(err, errNoStore) {
		return nil, fmt.Errorf("%s: there is no such file, and there are no sessions yet", name)
	}
	if err != nil {
		return nil, err
	}
	fail := func(err error) (*onPage, error) {
		_ = store.Close() // nothing was written
		return nil, err
	}
	id, err := findSession(cmd.Context(), store, name)
	if err != nil {
		return fail(err)
	}
	if f.html != "" && !f.noRedact {
		return fail(usageErrorf("--html: removing secrets from a session in the store would break its plans; export it and write the page of that file (winnow session export %s --out session.jsonl), or add --no-redact", name))
	}
	o, err := a.sessionOptions(cmd, &f.modelFlags, true)
	if err != nil {
		return fail(err)
	}
	o.Manual = true
	v := session.Control(store, o)
	return &onPage{Source: v, id: id, close: func() {
		if err := errors.Join(v.Close(), store.Close()); err != nil {
			a.say("the store could not be closed cleanly: %v", err)
		}
	}}, nil
}

// pageOfFile goes through a recorded session as if winnow had been there.
func (a *app) pageOfFile(cmd *cobra.Command, name string, f *pageCommandFlags) (*onPage, error) {
	files, several, err := a.checkTargets(cmd.Context(), []string{name})
	if err != nil {
		return nil, err
	}
	if several {
		return nil, usageErrorf("page %s: name one session", name)
	}
	m, err := a.openMeasured(&files[0].File, &f.inputFlags, &f.modelFlags)
	if err != nil {
		return nil, err
	}
	s := m.session
	in := rerun.Input{
		ID: s.ID, Name: filepath.Base(m.input.Name), Request: s.Request, Engine: m.engine, Kinds: m.settings.Kinds(),
	}
	for _, c := range s.Compactions {
		in.Compacted = append(in.Compacted, c.At)
	}
	if f.html != "" && !f.noRedact {
		in.Request = redactRequest(in.Request)
	}
	var r *rerun.Rerun
	if f.html == "" { // the page itself shows how far it is
		r = rerun.Start(cmd.Context(), in)
	} else {
		p := a.startProgress("going through " + plural(s.Request.History.Len(), "message"))
		defer p.clear()
		if r, err = rerun.New(cmd.Context(), in); err != nil {
			return nil, err
		}
	}
	note := fmt.Sprintf("A recorded session (%s), replayed as if winnow had been there; changes are not kept.", cmp.Or(string(s.Format), "unknown format"))
	return &onPage{Source: r, id: r.ID(), note: note, close: func() { _ = r.Close() }}, nil
}

// redactRequest returns a request without secrets.
func redactRequest(req chat.Request) chat.Request {
	r := &redact.Redactor{}
	msgs := req.History.Messages()
	for i := range msgs {
		msgs[i] = r.Message(msgs[i])
	}
	req.History = chat.NewHistory(msgs...)
	system := r.Message(chat.Message{Role: chat.System, Parts: req.System})
	req.System = system.Parts
	return req
}

// pageFile writes the page as one file.
func (a *app) pageFile(ctx context.Context, o *onPage, f *pageCommandFlags) error {
	data, err := webpage.Write(ctx, o.Source, o.id, webpage.About{Note: map[bool]string{
		false: "A file to look at, without a server; secrets were removed.", true: "A file to look at, without a server.",
	}[f.noRedact]})
	if err != nil {
		return err
	}
	if err := writeOutput(f.html, data); err != nil {
		return err
	}
	return a.printReport(map[string]any{"file": f.html, "bytes": len(data), "redacted": !f.noRedact}, func() {
		fmt.Fprintf(a.stdout, "%s: %s\n", f.html, sizeText(int64(len(data))))
	})
}
