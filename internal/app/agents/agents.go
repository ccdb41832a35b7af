// Package agents knows where coding agents keep their sessions on a machine.
//
// [Known] lists the agents with their folders; [Agent.Files] lists the sessions in
// folders of any layout. A session is a file, or, for OpenCode, rows of a database:
// [File.Read] returns either as one document that package transcript reads.
package agents

import (
	"cmp"
	"context"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/winnow-llm/winnow/internal/agents/table"
	"github.com/winnow-llm/winnow/transcript"
)

// Agent is a program that keeps sessions in folders of its own.
type Agent struct {
	Name    string // as people call it
	Program string // as shells do
	Format  transcript.Format

	// Dirs is where it keeps its sessions, whether or not they are there.
	Dirs []string

	// session reports whether a file in one of its folders is a session: agents
	// keep other things beside them.
	session func(path string) bool
}

// Known returns the agents whose folders are known, with the places that the
// environment gives them.
func Known(home string, getenv func(string) string) []Agent {
	var known []Agent
	for _, row := range table.All() {
		has := &row.Sessions
		if len(has.Folders) == 0 {
			continue
		}
		a := Agent{Name: row.Title, Program: row.Program, Format: transcript.Format(has.Format)}
		for _, f := range has.Folders {
			a.Dirs = append(a.Dirs, f.In(home, getenv))
		}
		a.session = func(path string) bool {
			return (has.Parent == "" || filepath.Base(filepath.Dir(path)) == has.Parent) && endsWithOneOf(has.Endings...)(path)
		}
		known = append(known, a)
	}
	return known
}

// Named returns a folder or file that a person named, with whatever sessions it
// holds.
func Named(path string) Agent {
	return Agent{Name: path, Dirs: []string{path}, session: endsWithOneOf(".json", ".jsonl", ".traj")}
}

// Found reports whether any of the agent's folders is there.
func (a *Agent) Found() bool {
	return slices.ContainsFunc(a.Dirs, func(d string) bool {
		_, err := os.Stat(d)
		return err == nil
	})
}

// endsWithOneOf matches names with one of the endings, compressed or not.
func endsWithOneOf(with ...string) func(string) bool {
	return func(path string) bool {
		path = strings.TrimSuffix(path, ".gz")
		return slices.ContainsFunc(with, func(e string) bool { return strings.HasSuffix(path, e) })
	}
}

// File is one session on disk.
type File struct {
	Path    string
	Changed time.Time

	// database is OpenCode's, of which Path is a session; "" for a file of its own.
	database string
}

// Files returns the sessions in the agent's folders, in the order of their names. A
// link to a folder is followed. Folders that are not there, or may not be read, are
// passed over. The error is the context's.
func (a *Agent) Files(ctx context.Context) ([]File, error) {
	var all []File
	var seen []string
	for _, dir := range a.Dirs {
		found, err := a.filesBelow(ctx, dir, &seen)
		if err != nil {
			return nil, err
		}
		all = append(all, found...)
	}
	return all, nil
}

// filesBelow returns the sessions below a folder, none if that lies below one of the
// folders in seen: links may lead in a circle, or twice to one place.
func (a *Agent) filesBelow(ctx context.Context, root string, seen *[]string) (all []File, err error) {
	place, err := filepath.EvalSymlinks(root)
	if err != nil || slices.ContainsFunc(*seen, func(dir string) bool {
		return place == dir || strings.HasPrefix(place, dir+string(filepath.Separator))
	}) {
		return nil, nil //nolint:nilerr // what is not there holds no session
	}
	*seen = append(*seen, place)
	if info, err := os.Stat(root); err == nil && info.IsDir() {
		root += string(filepath.Separator) // so that a link to a folder is followed
	}
	err = filepath.WalkDir(root, func(path string, e fs.DirEntry, err error) error {
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case err != nil && e != nil && e.IsDir() && path != root:
			return fs.SkipDir
		case err != nil:
			return nil //nolint:nilerr // what cannot be read holds no session for us
		case e.IsDir(), strings.HasPrefix(e.Name(), "."):
			return nil
		case e.Type()&fs.ModeSymlink != 0 && path != root && leadsToFolder(path):
			found, err := a.filesBelow(ctx, path, seen)
			all = append(all, found...)
			return err
		case isDatabase(path):
			all = append(all, databaseFiles(ctx, path)...)
			return nil
		case path != root && !a.session(path):
			return nil
		}
		if info, err := os.Stat(path); err == nil && info.Mode().IsRegular() { // a link counts as what it leads to
			all = append(all, File{Path: path, Changed: info.ModTime()})
		}
		return nil
	})
	return all, err
}

func leadsToFolder(link string) bool {
	info, err := os.Stat(link)
	return err == nil && info.IsDir()
}

// Newest returns the session that was written last, in the folders of all
// agents, and whether there is one.
func Newest(ctx context.Context, all []Agent) (newest File, of string, found bool, err error) {
	for i := range all {
		files, err := all[i].Files(ctx)
		if err != nil {
			return File{}, "", false, err
		}
		for _, f := range files {
			if !found || f.Changed.After(newest.Changed) {
				newest, of, found = f, all[i].Name, true
			}
		}
	}
	return newest, of, found, nil
}

// InPieces reports whether the session has no file of its own, so that only
// [File.Read] can read it.
func (f *File) InPieces() bool { return f.database != "" }

// OnDisk returns the path that changes when the session grows: its file, or OpenCode's
// database.
func (f *File) OnDisk() string { return cmp.Or(f.database, f.Path) }

// Sessions returns the file's sessions. The bytes of a large log are not held beside
// its messages.
func (f *File) Sessions(maxBytes int64) ([]transcript.Session, error) {
	o := &transcript.Options{Name: f.Path, MaxBytes: maxBytes}
	if !f.InPieces() {
		return transcript.ReadFile(f.Path, o)
	}
	data, err := f.Read(maxBytes)
	if err != nil {
		return nil, err
	}
	return transcript.Read(data, o)
}

// Read returns the bytes of a session in pieces as they are read by package transcript.
func (f *File) Read(maxBytes int64) ([]byte, error) {
	return readDatabase(f.database, strings.TrimPrefix(f.Path, f.database+"#"), maxBytes)
}
