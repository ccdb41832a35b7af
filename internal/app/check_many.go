package app

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"
	"github.com/winnow-llm/winnow/internal/agents/table"
	"github.com/winnow-llm/winnow/internal/app/agents"
	"github.com/winnow-llm/winnow/internal/app/show"
	"github.com/winnow-llm/winnow/internal/app/source"
)

// latest is the word for the newest session of the agents on this machine.
const latest = "latest"

// target is a session file. One that was named itself must be readable.
type target struct {
	agents.File
	named bool
}

// checkTargets finds what check is pointed at: files, folders, patterns and the
// newest session. One file is looked at closely; anything else is several, also
// where it turns out to be one.
func (a *app) checkTargets(ctx context.Context, args []string) (files []target, several bool, err error) {
	several = len(args) > 1
	for _, arg := range args {
		info, err := os.Stat(arg)
		switch {
		case arg == "-" && len(args) > 1:
			return nil, false, usageErrorf("check: standard input must be the only input; remove the other files")
		case err == nil && info.IsDir():
			several = true
			dir := agents.Named(arg)
			found, err := dir.Files(ctx)
			if err != nil {
				return nil, false, err
			}
			if len(found) == 0 {
				return nil, false, fmt.Errorf("%s: there is no session in this folder; name another folder, or files", arg)
			}
			for _, f := range found {
				files = append(files, target{File: f})
			}
		case isLatest(arg) && errors.Is(err, fs.ErrNotExist):
			f, err := a.findNewestSession(ctx, arg)
			if err != nil {
				return nil, false, err
			}
			files = append(files, target{f, true})
		case err != nil && strings.ContainsAny(arg, "*?["):
			several = true
			found, err := filepath.Glob(arg)
			if err != nil {
				return nil, false, usageErrorf("check %s: this is not a valid pattern; use *, ? and [abc]", arg)
			}
			if len(found) == 0 {
				return nil, false, fmt.Errorf("%s: no file matches; check the pattern", arg)
			}
			more, _, err := a.checkTargets(ctx, found)
			if err != nil {
				return nil, false, err
			}
			for _, f := range more {
				files = append(files, target{File: f.File})
			}
		default:
			files = append(files, target{agents.File{Path: arg}, true}) // reading it says what is wrong
		}
	}
	return files, several, nil
}

// isLatest reports whether an argument stands for a newest session: latest, or
// latest:AGENT.
func isLatest(arg string) bool { return arg == latest || strings.HasPrefix(arg, latest+":") }

// findNewestSession returns the newest session of any agent, or of the agent that
// the argument names after its colon. It prints which session that is.
func (a *app) findNewestSession(ctx context.Context, arg string) (agents.File, error) {
	all := agents.Known(a.homeDir(), a.getenv)
	whose := "no agent on this machine has left a session"
	if _, name, ok := strings.Cut(arg, ":"); ok {
		g, err := knownSessions(all, name)
		if err != nil {
			return agents.File{}, err
		}
		all, whose = []agents.Agent{g}, fmt.Sprintf("there is no session of %s in %s", g.Name, a.shortPath(g.Dirs[0]))
	}
	f, of, ok, err := agents.Newest(ctx, all)
	if err != nil {
		return agents.File{}, err
	}
	if !ok {
		return agents.File{}, fmt.Errorf("%s: %s; winnow insights lists the folders that are searched; name a file instead, or try winnow demo --out session.json", arg, whose)
	}
	a.say("the newest session, of %s: %s", of, a.shortPath(f.Path))
	return f, nil
}

// knownSessions returns the agent of a name whose sessions winnow finds.
func knownSessions(all []agents.Agent, name string) (agents.Agent, error) {
	names := make([]string, 0, len(all))
	row, _ := table.Find(name)
	for _, g := range all {
		if g.Program == row.Program {
			return g, nil
		}
		names = append(names, g.Program)
	}
	return agents.Agent{}, usageErrorf("%s: winnow does not know where this agent keeps its sessions; it knows %s", name, joinWords(names))
}

// sessionInput reads a session that an agent keeps, in whatever form.
func (a *app) sessionInput(f *agents.File, format string) (*source.Input, error) {
	if !f.InPieces() {
		return a.loadInput(f.Path, format)
	}
	data, err := f.Read(source.MaxBytes)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", f.Path, err)
	}
	in := &source.Input{Name: f.Path, Path: f.Path, Data: data}
	return in, in.Recognise(format)
}

// checkedMany is the JSON document of check over several files.
type checkedMany struct {
	Sessions []checkedBrief `json:"sessions"`
	Over     int            `json:"over"`    // sessions over the share of --fail-over
	Skipped  int            `json:"skipped"` // files that could not be read
}

// checkedBrief is one session among several.
type checkedBrief struct {
	File      string  `json:"file"`
	Session   string  `json:"session,omitempty"`
	Format    string  `json:"format"`
	Model     string  `json:"model"`
	Messages  int     `json:"messages"`
	Tokens    int     `json:"tokens"`
	Available int     `json:"available"`
	Share     float64 `json:"share"`
	Compact   bool    `json:"should_compact"`
	Fits      bool    `json:"fits"`
	Over      bool    `json:"over"`
}

// checkMany measures the sessions of several files, without trying to compact
// them. Files of folders and patterns that cannot be read are named and counted.
func (a *app) checkMany(cmd *cobra.Command, files []target, in *inputFlags, mf *modelFlags, failOver float64) error {
	if in.session != "" {
		return usageErrorf("--session %s: it chooses a session within one file; name only that file", in.session)
	}
	l, err := a.loadSettings()
	if err != nil {
		return err
	}
	doc := &checkedMany{Sessions: []checkedBrief{}}
	p := a.startProgress("measuring")
	defer p.clear()
	for i := range files {
		p.set(i, len(files), "measuring")
		input, err := await(cmd.Context(), func() (*source.Input, error) { return a.quietly().sessionInput(&files[i].File, in.format) })
		if cmd.Context().Err() != nil {
			return cmd.Context().Err()
		}
		if err != nil {
			if files[i].named || isUsageError(err) {
				return err
			}
			doc.Skipped++
			a.say("left out: %s", oneLine(err.Error()))
			continue
		}
		for k := range input.Sessions {
			b, err := measureBriefly(*l, &input.Sessions[k], mf)
			if err != nil {
				return fmt.Errorf("%s: %w", files[i].Path, err)
			}
			b.File = files[i].Path
			if len(input.Sessions) > 1 {
				b.Session = input.Sessions[k].ID
			}
			if b.Over = failOver > 0 && b.Share > failOver; b.Over {
				doc.Over++
			}
			doc.Sessions = append(doc.Sessions, b)
		}
	}
	p.clear()
	if len(doc.Sessions) == 0 {
		return fmt.Errorf("%s skipped, so nothing is left to check", plural(doc.Skipped, "file"))
	}
	if err := a.printResult(doc, func() { a.showMany(doc) }); err != nil || doc.Over == 0 {
		return err
	}
	return overShare(doc.Over, len(doc.Sessions), failOver)
}

// measureBriefly measures one session.
func measureBriefly(l loaded, s *source.Session, mf *modelFlags) (checkedBrief, error) {
	var b checkedBrief
	w, err := l.engineFor(mf, s)
	if err != nil {
		return b, err
	}
	status, err := w.Check(s.Request, knownState(w, s))
	if err != nil {
		return b, err
	}
	sent := ownCompactions(w.Meter(), s, lastUsage(s.Request.History))
	return checkedBrief{
		Format: string(s.Format), Model: l.Model, Messages: s.Request.History.Len(), Tokens: status.Tokens.Total,
		Available: status.Limits.Available, Share: sendShare(sent, status.Tokens.Total, status.Limits.Available),
		Compact: status.ShouldCompact, Fits: status.Fits,
	}, nil
}

// sendShare returns the share of the available tokens that the next request takes:
// the count, or what the agent would send where it compacted the session itself.
func sendShare(o *show.OwnCompactions, tokens, available int) float64 {
	if o != nil {
		tokens = o.Sent
	}
	return show.Ratio(tokens, available)
}

// overShare returns the error of sessions over the share that --fail-over names.
func overShare(over, of int, share float64) error {
	who := fmt.Sprintf("%s of %s are", number(over), plural(of, "session"))
	switch {
	case of == 1:
		who = "the session is"
	case over == 1:
		who = fmt.Sprintf("1 of %s is", plural(of, "session"))
	}
	return &exitError{exitOver, "over_share", fmt.Sprintf("%s over %.0f %% of what is available", who, 100*share)}
}

func (a *app) showMany(d *checkedMany) {
	st := a.styleFor(a.stdout)
	rows := make([][]string, len(d.Sessions))
	for i := range d.Sessions {
		b := &d.Sessions[i]
		verdict := "fits"
		switch {
		case b.Over:
			verdict = "over the share"
		case !b.Fits:
			verdict = "does not fit as it is"
		case b.Compact:
			verdict = "time to compact"
		}
		name := a.shortPath(b.File)
		if b.Session != "" {
			name += " " + b.Session
		}
		rows[i] = []string{number(b.Messages), number(b.Tokens), number(b.Available), fmt.Sprintf("%.0f %%", 100*b.Share), verdict, name}
	}
	st.Table(a.stdout, []string{"messages", "tokens", "available", "sent", "<", "session<"}, rows)
	left := ""
	if d.Skipped > 0 {
		left = fmt.Sprintf("; %s left out", plural(d.Skipped, "file"))
	}
	a.say("%s%s; winnow check FILE shows one in detail", plural(len(d.Sessions), "session"), left)
}
