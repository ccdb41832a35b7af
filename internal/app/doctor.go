package app

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"
	"github.com/winnow-llm/winnow/internal/app/config"
	"github.com/winnow-llm/winnow/internal/app/show"
	"github.com/winnow-llm/winnow/internal/app/spelling"
	"github.com/winnow-llm/winnow/internal/pg"
	"github.com/winnow-llm/winnow/internal/planstore"
	plans "github.com/winnow-llm/winnow/transport/planstore/sqlite"
)

// How a finding of winnow doctor reads.
const (
	found = "ok"
	noted = "note" // nothing is wrong, but one may want to know
	wrong = "wrong"
)

// finding is one thing that winnow doctor looked at.
type finding struct {
	Area   string `json:"name"` // settings, stores, agents or gateway
	OK     bool   `json:"ok"`
	State  string `json:"state"`
	Text   string `json:"detail"`
	Advice string `json:"fix"`
}

// checkup is the JSON document of doctor.
type checkup struct {
	Wrong    int       `json:"wrong"`
	Findings []finding `json:"checks"`
}

func (c *checkup) add(area, state, advice, format string, args ...any) {
	if state == wrong {
		c.Wrong++
	}
	c.Findings = append(c.Findings, finding{area, state != wrong, state, oneLine(fmt.Sprintf(format, args...)), advice})
}

func (a *app) doctorCommand() *cobra.Command {
	gateway := ""
	cmd := newCommand("doctor", "Check the settings, stores, agents and gateway of this machine", `
  winnow doctor
  winnow doctor --gateway http://127.0.0.1:8484 --json

Checks what winnow would use on this machine, and gives advice for what is wrong:
which settings are set and where, whether the stores can be read and written, which
agents are installed and where they send their requests, and whether a gateway
answers. It prints names of settings and addresses, never values, keys or
credentials. It calls only addresses on this machine and the one that --gateway
names.

The exit code is 1 if something is wrong.`, cobra.NoArgs, func(cmd *cobra.Command, _ []string) error {
		c := &checkup{Findings: []finding{}}
		l := a.checkSettings(c)
		a.checkStores(cmd.Context(), c, l)
		a.checkGateway(cmd.Context(), c, gateway)
		a.checkAgents(cmd.Context(), c)
		if err := a.printResult(c, func() { a.showCheckup(c) }); err != nil || c.Wrong == 0 {
			return err
		}
		return fmt.Errorf("%s wrong here", pluralWithVerb(c.Wrong, "thing", "is", "are"))
	})
	cmd.Flags().StringVar(&gateway, "gateway", "", "`URL` of the gateway that should be running (default: try "+defaultGateway+")")
	return cmd
}

func (a *app) showCheckup(c *checkup) {
	st, out := a.styleFor(a.stdout), a.stdout
	area := ""
	for _, f := range c.Findings {
		if f.Area != area {
			if area != "" {
				fmt.Fprintln(out)
			}
			area = f.Area
			fmt.Fprintln(out, st.Bold(area))
		}
		sign, look := "  ok     ", st.Green
		switch f.State {
		case noted:
			sign, look = "  -      ", st.Dim
		case wrong:
			sign, look = "  WRONG  ", st.Red
		}
		for i, line := range show.Wrap(f.Text, max(40, st.Columns()-len(sign))) {
			if i > 0 {
				sign = strings.Repeat(" ", len(sign))
			}
			fmt.Fprintln(out, look(sign)+line)
		}
		if f.Advice != "" {
			for i, line := range show.Wrap(f.Advice, max(40, st.Columns()-12)) {
				fmt.Fprintln(out, []string{"         -> ", "            "}[min(i, 1)]+line)
			}
		}
	}
}

// checkSettings reads the settings as every command does; nil where they are
// wrong.
func (a *app) checkSettings(c *checkup) *loaded {
	const area = "settings"
	l, err := a.quietly().loadSettings()
	if err != nil {
		c.add(area, wrong, "fix it; winnow config validate lists every mistake", "%s", strings.TrimPrefix(err.Error(), "winnow: "))
		return nil
	}
	files := "no settings file: the defaults apply"
	if len(l.Files) > 0 {
		short := make([]string, len(l.Files))
		for i, f := range l.Files {
			short[i] = a.shortPath(f)
		}
		files = "read from " + strings.Join(short, ", then ")
	}
	c.add(area, found, "", "%s", files)
	var set []string
	for _, k := range config.Keys() {
		if from := l.From[k.Name]; from != "" {
			set = append(set, k.Name+" ("+a.shortPath(from)+")")
		}
	}
	if len(set) > 0 {
		c.add(area, found, "", "set: %s", strings.Join(set, ", "))
	}
	for _, name := range l.Stray {
		c.add(area, wrong, config.HintFor(name), "%s is not a setting and is ignored", name)
	}
	if len(l.Untrusted) > 0 {
		c.add(area, noted, l.trustHint(), "%s", l.distrustedNotice())
	}
	if l.Mistake != nil {
		c.add(area, wrong, "fix it; winnow config validate lists every mistake", "%s", l.ignoredNotice())
	}
	for _, why := range l.Passed {
		c.add(area, noted, "", "%s", why)
	}
	r, err := l.modelRegistry()
	switch {
	case err != nil:
		c.add(area, wrong, "", "%s", strings.TrimPrefix(err.Error(), "winnow: "))
	case l.Model != "":
		if m := r.Lookup(l.Model); m.Source.Guess() {
			advice := "winnow models finds names; models_file describes a model of your own"
			if best := spelling.Nearest(l.Model, modelNames()); best != "" {
				advice = "did you mean " + best + "?"
			}
			c.add(area, wrong, advice, "the registry does not know the model %s, so its window is a guess: %s tokens", l.Model, number(m.Context))
		} else {
			c.add(area, found, "", "the model %s has a window of %s tokens", l.Model, number(m.Context))
		}
	}
	return l
}

// checkStores opens the stores that are there, and looks whether those that are
// not could be made.
func (a *app) checkStores(ctx context.Context, c *checkup, l *loaded) {
	if l != nil {
		a.checkSessions(ctx, c, l)
	}
	path, err := plansPath()
	if err != nil {
		c.add("stores", wrong, "name a file with winnow serve --store", "there is no cache folder for the gateway's plans: %s", causeText(err))
		return
	}
	a.checkStore(c, "plans of the gateway", path, "name another file with winnow serve --store, or move this one away", func() error {
		s, err := plans.Open(path, planstore.Bounds{})
		if err != nil {
			return err
		}
		return errors.Join(s.Exposed(), s.Close())
	})
}

func (a *app) checkSessions(ctx context.Context, c *checkup, l *loaded) {
	if !l.Remembers() {
		c.add("stores", noted, "", "sessions are not kept: the setting memory is off")
		return
	}
	path, err := a.storePath(storeFlags{})
	if err != nil {
		c.add("stores", wrong, "name one with the setting store", "%v", err)
		return
	}
	open := func() error {
		s, _, err := a.quietly().openExistingStore(storeFlags{})
		if err != nil {
			return err
		}
		_, err = s.List(ctx, 0, 1)
		return errors.Join(err, s.Close())
	}
	if !pg.Is(path) {
		a.checkStore(c, "sessions", path, "name another with the setting store, or move this one away", open)
	} else if err := open(); err != nil {
		c.add("stores", wrong, "name another with the setting store", "sessions: %v", err)
	} else {
		c.add("stores", found, "", "sessions: %s", pg.Name(path))
	}
}

// checkStore says whether a store can be read and written.
func (a *app) checkStore(c *checkup, what, path, advice string, open func() error) {
	short := a.shortPath(path)
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		if dir, err := writableAbove(path); err != nil {
			c.add("stores", wrong, "make the folder writable, or "+advice, "%s: %s cannot be created, because %s is not writable: %s", what, short, a.shortPath(dir), causeText(err))
			return
		}
		c.add("stores", found, "", "%s: %s will be created when it is first needed", what, short)
		return
	case err != nil:
		c.add("stores", wrong, advice, "%s: %s cannot be read: %s", what, short, causeText(err))
		return
	}
	err = open()
	if err == nil {
		err = checkWritable(path, info)
	}
	if err != nil {
		c.add("stores", wrong, advice, "%s: %s", what, strings.TrimPrefix(err.Error(), "planstore: "))
		return
	}
	c.add("stores", found, "", "%s: %s can be read and written", what, short)
}

// checkWritable reports whether a file or folder can be written, and leaves it as it
// was.
func checkWritable(path string, info fs.FileInfo) error {
	if info.IsDir() {
		f, err := os.CreateTemp(path, ".winnow-*.tmp")
		if err != nil {
			return err
		}
		return errors.Join(f.Close(), os.Remove(f.Name()))
	}
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		return err
	}
	return f.Close()
}

// writableAbove looks whether a path could be made: the nearest folder above it
// that is there must be writable.
func writableAbove(path string) (string, error) {
	for dir := filepath.Dir(path); ; dir = filepath.Dir(dir) {
		info, err := os.Stat(dir)
		if err == nil && !info.IsDir() {
			return dir, errors.New("it is a file")
		}
		if err == nil {
			return dir, checkWritable(dir, info)
		}
		if !errors.Is(err, fs.ErrNotExist) || dir == filepath.Dir(dir) {
			return dir, err
		}
	}
}

// onPath returns where a program is that a shell would find; "" for nowhere.
func onPath(program string) string {
	path, err := exec.LookPath(program)
	if err != nil {
		return ""
	}
	return path
}
