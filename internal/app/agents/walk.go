package agents

import (
	"cmp"
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/winnow-llm/winnow/internal/input"
	"github.com/winnow-llm/winnow/transcript"
)

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
	if info, err := os.Stat(f.Path); !f.InPieces() && err == nil && info.Size() > input.Large {
		return transcript.ReadFile(f.Path, o)
	}
	data, err := f.Read(maxBytes)
	if err != nil {
		return nil, err
	}
	return transcript.Read(data, o)
}

// Read returns the session's bytes as they are read by package transcript.
func (f *File) Read(maxBytes int64) ([]byte, error) {
	if f.InPieces() {
		return readDatabase(f.database, strings.TrimPrefix(f.Path, f.database+"#"), maxBytes)
	}
	data, err := input.File(f.Path, maxBytes)
	if e := (*input.Error)(nil); errors.As(err, &e) {
		return nil, errors.New(e.Problem)
	}
	return data, err
}
