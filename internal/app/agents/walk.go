package agents

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/winnow-llm/winnow/internal/input"
	"github.com/winnow-llm/winnow/transcript"
)

// File is one session on disk.
type File struct {
	Path    string
	Changed time.Time

	// storage is OpenCode's folder or database, of which Path is a session; "" for
	// a file of its own.
	storage string
}

// Walk calls visit with each session in the agent's folders, in the order of
// their names. Folders that are not there, or may not be read, are passed over.
// It ends with the first error of visit, or of the context.
func Walk(ctx context.Context, a *Agent, visit func(File) error) error {
	for _, dir := range a.Dirs {
		if err := a.walkFolder(ctx, dir, visit); err != nil {
			return err
		}
	}
	return nil
}

func (a *Agent) walkFolder(ctx context.Context, root string, visit func(File) error) error {
	if info, err := os.Stat(root); err == nil && info.IsDir() {
		root += string(filepath.Separator) // so that a link to a folder is followed
	}
	return filepath.WalkDir(root, func(path string, e fs.DirEntry, err error) error {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err != nil {
			if e != nil && e.IsDir() && path != root {
				return fs.SkipDir
			}
			return nil //nolint:nilerr // what cannot be read holds no session for us
		}
		if e.IsDir() {
			if isStorage(path) {
				if err := walkStorage(ctx, path, visit); err != nil {
					return err
				}
				return fs.SkipDir
			}
			return nil
		}
		if strings.HasPrefix(e.Name(), ".") || !isDatabase(path) && path != root && !a.session(path) {
			return nil
		}
		if isDatabase(path) {
			return walkDatabase(ctx, path, visit)
		}
		info, err := os.Stat(path) // a link counts as what it leads to
		if err != nil || !info.Mode().IsRegular() {
			return nil //nolint:nilerr // it went away, or is not a regular file
		}
		return visit(File{Path: path, Changed: info.ModTime()})
	})
}

// Newest returns the session that was written last, in the folders of all
// agents, and whether there is one.
func Newest(ctx context.Context, all []Agent) (newest File, of string, found bool, err error) {
	for i := range all {
		err := Walk(ctx, &all[i], func(f File) error {
			if !found || f.Changed.After(newest.Changed) {
				newest, of, found = f, all[i].Name, true
			}
			return nil
		})
		if err != nil {
			return File{}, "", false, err
		}
	}
	return newest, of, found, nil
}

// InPieces reports whether the session has no file of its own, so that only
// [File.Read] can read it.
func (f *File) InPieces() bool { return f.storage != "" }

// OnDisk returns the path that changes when the session grows: its file, or OpenCode's
// folder or database.
func (f *File) OnDisk() string {
	if f.storage == "" {
		return f.Path
	}
	if isDatabase(f.storage) {
		return f.storage
	}
	return filepath.Join(f.storage, "message", sessionID(f.Path))
}

// Sessions returns the file's sessions. The bytes of a large log are not held beside
// its messages.
func (f *File) Sessions(maxBytes int64) ([]transcript.Session, error) {
	o := &transcript.Options{Name: f.Path, MaxBytes: maxBytes}
	if info, err := os.Stat(f.Path); f.storage == "" && err == nil && info.Size() > input.Large {
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
	if isDatabase(f.storage) {
		return readDatabase(f.storage, strings.TrimPrefix(f.Path, f.storage+"#"), maxBytes)
	}
	if f.storage != "" {
		return readStorage(f.storage, f.Path, maxBytes)
	}
	data, err := input.File(f.Path, maxBytes)
	if e := (*input.Error)(nil); errors.As(err, &e) {
		return nil, errors.New(e.Problem)
	}
	return data, err
}
