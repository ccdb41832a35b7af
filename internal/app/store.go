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
	"github.com/winnow-llm/winnow/internal/pg"
	"github.com/winnow-llm/winnow/session"
	"github.com/winnow-llm/winnow/session/jsonl"
	"github.com/winnow-llm/winnow/session/postgres"
	"github.com/winnow-llm/winnow/session/sqlite"
)

// storeFlags are the flags of commands that work on sessions in a store.
type storeFlags struct{ path string }

func (f *storeFlags) addTo(cmd *cobra.Command) {
	cmd.PersistentFlags().StringVar(&f.path, "store", "", "sessions: a database `PATH`, a folder of .jsonl files, or postgres://USER@HOST/DATABASE (default: the setting store)")
}

// storePath returns the path of the store that the flag, the settings or the
// default names. It is "" where the settings say that nothing is remembered; a
// store that the flag names all the same is an error.
func (a *app) storePath(f storeFlags) (string, error) {
	l, err := a.quietly().loadSettings()
	switch {
	case err != nil && f.path == "":
		return "", err
	case err == nil && !l.Remembers() && f.path != "":
		return "", errForgets
	case f.path != "":
		return f.path, nil
	case !l.Remembers():
		return "", nil
	case l.Store != "":
		return l.Store, nil
	}
	dir, err := a.dataDir()
	if err != nil {
		return "", err
	}
	return filepath.Join(dir, "sessions.db"), nil
}

// quietly returns the same command without hints: what it would say was said.
func (a *app) quietly() *app {
	b := *a
	b.quiet = true
	return &b
}

// openStore opens that store, or makes it: a folder holds session files, an
// address names PostgreSQL, anything else is a database in a file.
func (a *app) openStore(f storeFlags) (session.Store, string, error) {
	path, err := a.storePath(f)
	if err != nil {
		return nil, "", err
	}
	if path == "" {
		return session.NewMemory(), "memory", nil
	}
	if pg.Is(path) {
		s, err := postgres.Open(context.Background(), path, nil)
		return s, pg.Name(path), err
	}
	info, err := os.Stat(path)
	if err == nil && info.IsDir() || err != nil && strings.HasSuffix(path, string(filepath.Separator)) {
		s, err := jsonl.Open(path, nil)
		return s, path, err
	}
	s, err := sqlite.Open(path, nil)
	if err != nil {
		return nil, path, err
	}
	if x, ok := s.(interface{ Exposed() error }); ok && x.Exposed() != nil {
		a.sayOnce(x.Exposed().Error())
	}
	return s, path, nil
}

// openExistingStore opens the store that commands read from. Where there is
// none yet, none is made.
func (a *app) openExistingStore(f storeFlags) (session.Store, string, error) {
	path, err := a.storePath(f)
	if err != nil {
		return nil, "", err
	}
	if path == "" {
		return nil, "", errForgets
	}
	if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) && !pg.Is(path) {
		return nil, path, fmt.Errorf("%s: there are no sessions yet: %w; winnow session import and winnow loop add some", path, errNoStore)
	}
	return a.openStore(f)
}

// errForgets is for commands that need a store where nothing may be kept in one.
var errForgets = usageErrorf("the setting memory is off, so no conversation is stored; set memory: true, or WINNOW_MEMORY=true for this call")

var errNoStore = errors.New("no such store")

// dataDir returns the folder for what should outlive a run.
func (a *app) dataDir() (string, error) {
	if dir := a.getenv("XDG_DATA_HOME"); filepath.IsAbs(dir) {
		return filepath.Join(dir, "winnow"), nil
	}
	home, err := os.UserHomeDir()
	if err != nil {
		return "", usageErrorf("there is no folder for sessions: %v; name one with --store PATH", err)
	}
	return filepath.Join(home, ".local", "share", "winnow"), nil
}
