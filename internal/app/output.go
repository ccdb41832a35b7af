package app

import (
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/winnow-llm/winnow/internal/app/source"
	"github.com/winnow-llm/winnow/plan"
)

// outputs are files to be written together: all of them or none. Each is
// written beside its place under another name and renamed at the end, so that
// nobody ever sees a part of one.
type outputs struct {
	input string // never written; "" for a stream
	plan  string // the plan that is applied, never written either; "" for none
	mode  fs.FileMode
	files []output
}

type output struct {
	path string
	temp string // "" for devices, which are written where they are
	from io.WriterTo
	size int64 // bytes that were written
}

// newOutputs prepares outputs for an input, which they must not overwrite and
// whose permissions they get.
func newOutputs(input string) *outputs {
	o := &outputs{input: input, mode: 0o644}
	if info, err := os.Stat(input); err == nil && info.Mode().IsRegular() {
		o.mode = info.Mode().Perm() | 0o600
	}
	return o
}

// writeOutput writes one file, whole or not at all.
func writeOutput(path string, data []byte) error {
	o := newOutputs("")
	if err := o.add(path, data); err != nil {
		return err
	}
	return o.write()
}

// add notes a file to be written.
func (o *outputs) add(path string, data []byte) error {
	return o.addFrom(path, bytes.NewReader(data))
}

// addFrom notes a file whose bytes are not all in memory.
func (o *outputs) addFrom(path string, from io.WriterTo) error {
	if err := o.checkPath(path); err != nil {
		return err
	}
	o.files = append(o.files, output{path: path, from: from})
	return nil
}

// addPlan notes a plan to be written; nil only checks its place. It may take the place
// of another plan, but of nothing else: the name may well be that of something
// somebody needs.
func (o *outputs) addPlan(path string, p *plan.Plan) error {
	var data []byte
	if p != nil {
		file, err := p.File()
		if err != nil {
			return err
		}
		data = append(file, '\n')
	}
	if err := o.add(path, data); err != nil {
		return err
	}
	info, err := os.Stat(path)
	if err != nil || !info.Mode().IsRegular() || info.Size() == 0 {
		return nil //nolint:nilerr // what is not there is not overwritten
	}
	was, err := source.Open(path, nil)
	if err != nil {
		return err
	}
	if !isPlan(was.Data) {
		return usageErrorf("%s: this file exists and is not a plan, so it is not overwritten; name another file with --plan", path)
	}
	return nil
}

// addView notes a view to be written, compressed where its name says so.
func (o *outputs) addView(path string, data []byte) error {
	if strings.HasSuffix(path, ".gz") {
		var b bytes.Buffer
		z := gzip.NewWriter(&b)
		if _, err := z.Write(data); err != nil {
			return err
		}
		if err := z.Close(); err != nil {
			return err
		}
		data = b.Bytes()
	}
	return o.add(path, data)
}

// checkPath reports whether a path may be written.
func (o *outputs) checkPath(path string) error {
	info, err := os.Stat(path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return writeError(path, err)
	}
	is := func(other string) bool {
		there, otherErr := os.Stat(other)
		return err == nil && otherErr == nil && os.SameFile(there, info)
	}
	switch {
	case err == nil && info.IsDir():
		return usageErrorf("%s: this is a folder; name a file in it", path)
	case is(o.input):
		return usageErrorf("%s: this is the input, which is never overwritten; name another file", path)
	case is(o.plan) && info.Mode().IsRegular():
		return usageErrorf("%s: this is the plan, which would be lost; name another file", path)
	}
	for i := range o.files {
		other := o.files[i].path
		if filepath.Clean(other) == filepath.Clean(path) && err != nil || is(other) && info.Mode().IsRegular() {
			return usageErrorf("%s: two outputs have this name; give them different ones", path)
		}
	}
	return nil
}

// write writes all files.
func (o *outputs) write() (err error) {
	defer func() {
		for i := range o.files {
			if err != nil && o.files[i].temp != "" {
				_ = os.Remove(o.files[i].temp)
			}
		}
	}()
	for i := range o.files {
		if err := o.writeTemp(&o.files[i]); err != nil {
			return writeError(o.files[i].path, err)
		}
	}
	for i := range o.files {
		f := &o.files[i]
		if f.temp == "" {
			continue
		}
		if err := os.Rename(f.temp, f.path); err != nil {
			return writeError(f.path, err)
		}
		f.temp = ""
	}
	return nil
}

// writeTemp writes a file under a temporary name beside its place. A link is
// followed, so that it stays one; what is not a regular file is written directly.
func (o *outputs) writeTemp(f *output) error {
	mode := o.mode
	if info, err := os.Stat(f.path); err == nil {
		if !info.Mode().IsRegular() {
			t, err := os.OpenFile(f.path, os.O_WRONLY|os.O_TRUNC, mode)
			if err != nil {
				return err
			}
			f.size, err = f.from.WriteTo(t)
			return errors.Join(err, t.Close())
		}
		mode = info.Mode().Perm() // a file that is written anew keeps its mode
		if real, err := filepath.EvalSymlinks(f.path); err == nil {
			f.path = real
		}
	}
	t, err := os.CreateTemp(filepath.Dir(f.path), ".winnow-*.tmp") // not its own name, which may be as long as names can be
	if err != nil {
		return err
	}
	f.temp = t.Name()
	if f.size, err = f.from.WriteTo(t); err == nil {
		err = t.Chmod(mode)
	}
	return errors.Join(err, t.Close())
}

func writeError(path string, err error) error {
	switch {
	case errors.Is(err, fs.ErrPermission):
		return fmt.Errorf("%s: no permission to write there; choose another place", path)
	case errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("%s: the folder does not exist; create it first", path)
	}
	return fmt.Errorf("%s: cannot be written: %s; check the folder and the free space", path, causeText(err))
}

// sink is standard output that goes to a file or a pipe. It remembers the first
// error, so that a report cut short by a full disk does not pass for a whole one.
type sink struct {
	w   io.Writer
	err error
}

// Write writes until something fails, and nothing after.
func (s *sink) Write(p []byte) (int, error) {
	if s.err != nil {
		return 0, s.err
	}
	n, err := s.w.Write(p)
	s.err = err
	return n, err
}

// writeFailure returns the error for people; nil for no sink.
func (s *sink) writeFailure() error {
	if s == nil || s.err == nil {
		return nil
	}
	return fmt.Errorf("standard output cannot be written: %s; check where it goes and the free space", causeText(s.err))
}
