package workset

import (
	"path"
	"strings"

	"github.com/winnow-llm/winnow/internal/work"
)

// applyEdits applies edits that were done.
func (s *Set) applyEdits(edits []work.Op, at moment) {
	after, last := place{}, ""
	for i := range edits {
		e := &edits[i]
		if e.Path == "" {
			e.Path = s.window
		}
		if e.Path == "" {
			continue
		}
		s.recogniseFolder(e)
		s.doubtRelatives(e.Path)
		if e.Path != last {
			after, last = place{}, e.Path
		}
		if e.Kind == work.Delete {
			s.removeFiles(e.Path, at)
			continue
		}
		if e.Kind == work.Move && s.moveFolder(e.Path, e.New) {
			continue
		}
		f := s.fileAt(e.Path)
		s.work.Spend(len(s.files) + f.knownBytes())
		if s.watch != nil {
			s.watch.edits(f, e)
		}
		if e.Kind == work.Copy {
			s.copyFile(f, e.New, at).CopyOf = f
			continue
		}
		if f.committed == nil {
			f.committed = f.copyNow()
		}
		f.Made = f.Made || e.Whole && e.Kind == work.Change && f.Touched < 0
		f.noteEdit(at)
		switch e.Kind {
		case work.Move:
			if e.New != "" && !e.All { // else it may be in a folder of that name
				s.copyFile(f, e.New, at)
			}
			f.forgetText()
			f.Deleted = true
		default:
			f.Deleted, f.CopyOf = false, nil
			after = f.applyEdit(e, at, after)
			if !e.Lines {
				after = place{}
			}
			s.window = e.Path
		}
	}
}

// knownBytes returns about how many bytes the known lines of a file have.
func (f *File) knownBytes() int {
	n := 0
	for i := range f.Regions {
		n += 32 * len(f.Regions[i].Lines)
	}
	return n
}

// removeFiles notes that a file is gone, or those below a folder, or those with names of
// a pattern as a shell understands it.
func (s *Set) removeFiles(p string, at moment) {
	if !strings.ContainsAny(p, "*?[") {
		s.fileAt(p)
	}
	k := s.fileKey(p)
	s.work.Spend(len(s.files))
	for name, f := range s.files {
		if ok, err := path.Match(k, name); name == k || strings.HasPrefix(name, k+"/") || ok && err == nil {
			f.forgetText()
			f.Deleted = true
			f.noteEdit(at)
		}
	}
}

// moveFolder gives the files below a folder their new names and reports whether there
// are any. A target below which files are known takes the folder in.
func (s *Set) moveFolder(from, to string) bool {
	old, now := s.fileKey(from)+"/", s.fileKey(to)+"/"
	if strings.HasPrefix(now, old) {
		return false
	}
	s.work.Spend(2 * len(s.files))
	moved, into := map[string]*File{}, ""
	for k, f := range s.files {
		if strings.HasPrefix(k, now) {
			into = path.Base(old) + "/"
		}
		if rest, ok := strings.CutPrefix(k, old); ok && !f.Deleted {
			delete(s.files, k)
			moved[rest] = f
		}
	}
	for rest, f := range moved {
		f.Path = now + into + rest
		s.files[f.Path] = f
	}
	return len(moved) > 0
}

// copyFile gives the file with a path the text of another one.
func (s *Set) copyFile(from *File, p string, at moment) *File {
	to := s.fileAt(p)
	if to.committed == nil {
		to.committed = to.copyNow()
	}
	to.copyText(from)
	to.Deleted, to.CopyOf = false, nil
	to.noteEdit(at)
	return to
}

// recogniseFolder finds out which folder the session works in, where that is not
// known. An edit tells whose old text stands in one file, where one of the two is
// named by its full path and the other from that folder.
func (s *Set) recogniseFolder(e *work.Op) {
	if s.base != "" || e.Kind != work.Change || !isTelling(e.Old) {
		return
	}
	k := s.fileKey(e.Path)
	if s.files[k] != nil {
		return
	}
	base := ""
	for name, f := range s.files {
		full, below := k, name
		if !work.IsAbs(e.Path) {
			full, below = name, k
		}
		dir, ok := strings.CutSuffix(full, "/"+below)
		if !ok || dir == "" || !work.IsAbs(full) || !strings.Contains(below, "/") {
			continue
		}
		if n, _ := f.findText(e.Old, e.Lines, place{}); n == 1 {
			if base != "" {
				return // it may be either
			}
			base = dir
		}
	}
	s.settleIn(base)
}

// doubtRelatives doubts the files that may be the one with this path, as long as the
// folder that relative paths start from is not known.
func (s *Set) doubtRelatives(p string) {
	if s.base != "" {
		return
	}
	k := s.fileKey(p)
	for name, f := range s.files {
		if name == k || work.IsAbs(name) == work.IsAbs(k) {
			continue
		}
		if strings.HasSuffix(name, "/"+k) || strings.HasSuffix(k, "/"+name) {
			f.doubts.raise(s.at, Command)
		}
	}
}
