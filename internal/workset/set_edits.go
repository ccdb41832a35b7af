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
		if e.Path != last {
			after, last = place{}, e.Path
		}
		if e.Kind == work.Delete {
			s.removeFiles(e.Path, at)
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
		f.uncommitted = true
		if e.Kind == work.Move {
			if e.New != "" && !e.All { // else it may be in a folder of that name
				s.copyFile(f, e.New, at)
			}
			s.removeFiles(e.Path, at)
			continue
		}
		f.Made = f.Made || e.Whole && e.Kind == work.Change && f.Touched < 0
		f.noteEdit(at)
		f.Deleted, f.CopyOf = false, nil
		after = f.applyEdit(e, at, after)
		if !e.Lines {
			after = place{}
		}
		s.window = e.Path
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

// copyFile gives the file with a path the text of another one.
func (s *Set) copyFile(from *File, p string, at moment) *File {
	to := s.fileAt(p)
	to.copyText(from)
	to.Deleted, to.CopyOf, to.uncommitted = false, nil, true
	to.noteEdit(at)
	return to
}

// recogniseFolder finds out which folder the session works in, where that is not
// known. An edit tells whose old text stands in one file, where one of the two is
// named by its full path and the other from that folder. Other files that may be the
// one with its path are doubted.
func (s *Set) recogniseFolder(e *work.Op) {
	if s.base != "" {
		return
	}
	k, base := s.fileKey(e.Path), ""
	var alike []*File
	for name, f := range s.files {
		full, below := k, name
		if !work.IsAbs(k) {
			full, below = name, k
		}
		dir, ok := strings.CutSuffix(full, "/"+below)
		if !ok || !work.IsAbs(full) || work.IsAbs(below) {
			continue
		}
		alike = append(alike, f)
		if e.Kind != work.Change || s.files[k] != nil || !strings.Contains(below, "/") || !isTelling(e.Old) {
			continue
		}
		if n, _ := f.findText(e.Old, e.Lines, place{}); n == 1 {
			base = dir
		}
	}
	if base != "" && len(alike) == 1 {
		s.settleIn(base)
		return
	}
	for _, f := range alike {
		f.doubts.raise(s.at, Command)
	}
}
