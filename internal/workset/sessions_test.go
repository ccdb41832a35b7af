package workset

import (
	"fmt"
	"os"
	"path/filepath"
	"sort"
	"strings"
	"testing"

	"github.com/winnow-llm/winnow/internal/kit/corpus"
	"github.com/winnow-llm/winnow/internal/work"
	"github.com/winnow-llm/winnow/transcript"
)

// earlier is what the session has shown of a file before: numbers of lines, and
// texts.
type earlier struct {
	numbers map[int]bool
	texts   map[string]bool
}

// meter compares what the set knows with what the sessions show later.
type meter struct {
	set  *Set
	name string
	at   int
	show bool // print what differs
	log  func(format string, args ...any)

	before map[*File]*earlier

	again, known, equal int // lines shown again, of them known and undoubted, of them right
	reads, wholly       int // reads of such lines, and those without a difference
	edited, found       int // edits of complete, undoubted files, and those whose text is there
	causes              map[string]int
}

func (m *meter) shows(f *File, run shown) {
	if m.before[f] == nil {
		m.before[f] = &earlier{map[int]bool{}, map[string]bool{}}
	}
	class, wrong := 0, 0
	for i, text := range run.lines {
		n := run.from + i
		was := m.before[f].numbers[n] && m.before[f].texts[text] // a line that is shown again
		cause := "unknown"
		if l := f.line(n); l != nil {
			d := f.doubtSince(l.seen)
			cause = d.String()
			if d == Turn && l.Text != text {
				m.causes["turn wrong"]++
			}
			if d == Command && l.Text != text {
				m.causes["command wrong"]++
			}
			if d == Certain {
				class++
				if l.Text == text {
					m.equal++
				} else {
					if wrong++; m.show && wrong < 4 {
						m.log("%s: message %d: %s:%d (last touched by %d)\n  rebuilt %q\n  shown   %q", m.name, m.at, f.Path, n, l.Touched, l.Text, text)
					}
				}
				m.known++
				was = true
			}
		}
		if was {
			m.again++
			m.causes[cause]++
		}
	}
	for i, text := range run.lines {
		m.before[f].numbers[run.from+i], m.before[f].texts[text] = true, true
	}
	if class > 0 {
		m.reads++
		if wrong == 0 {
			m.wholly++
		}
	}
}

func (m *meter) edits(f *File, e *work.Op) {
	if e.Whole {
		delete(m.before, f) // what is shown from here on is another text
	}
	if e.Old == "" || e.Kind != work.Change || !f.isComplete() {
		return
	}
	for _, r := range f.Regions {
		for i := range r.Lines {
			if d := f.doubtSince(r.Lines[i].seen); d != Certain {
				return
			}
		}
	}
	m.edited++
	if n, _ := f.findText(plainNewlines(e.Old), e.Lines, place{}); n > 0 {
		m.found++
	} else if m.show {
		m.log("%s: message %d: the old text of an edit is not in %s:\n%q", m.name, m.at, f.Path, e.Old)
	}
}

// line returns the line with a number, or nil.
func (f *File) line(n int) *Line {
	for i := range f.Regions {
		if r := &f.Regions[i]; r.From <= n && n <= r.end() {
			return &r.Lines[n-r.From]
		}
	}
	return nil
}

// What the set knows for certain is what real agents were shown when they looked
// again.
func TestRealSessions(t *testing.T) {
	perFormat := map[string]*meter{}
	for _, folder := range []string{"sessions", "more-sessions"} {
		files, err := corpus.Sessions(corpus.Dir(t, folder))
		if err != nil {
			t.Fatal(err)
		}
		for _, file := range files {
			raw, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			sessions, err := transcript.Read(raw, &transcript.Options{Name: file})
			if err != nil {
				continue
			}
			for k := range sessions {
				measure(t, perFormat, &sessions[k], fmt.Sprintf("%s#%d", filepath.Base(file), k+1))
			}
		}
	}
	var names []string
	for name := range perFormat {
		names = append(names, name)
	}
	sort.Strings(names)
	var b strings.Builder
	fmt.Fprintf(&b, "%-15s %7s %6s %8s %6s %8s %6s %7s\n", "format", "again", "known", "equal", "reads", "whole", "edits", "found")
	for _, name := range names {
		m := perFormat[name]
		if m.again == 0 && m.edited == 0 {
			continue
		}
		fmt.Fprintf(&b, "%-15s %7d %5.1f%% %7.3f%% %6d %7.2f%% %6d %6.1f%%  %v\n", name, m.again, share(m.known, m.again), share(m.equal, m.known), m.reads, share(m.wholly, m.reads), m.edited, share(m.found, m.edited), m.causes)
		least := 40.0
		if name == "pi" {
			least = 20
		}
		if m.again >= 500 && share(m.known, m.again) < least {
			t.Errorf("%s: %.1f %% of the lines shown again are known, the bar is %.0f %%", name, share(m.known, m.again), least)
		}
		if m.known-m.equal > m.known/1000 {
			t.Errorf("%s: %.3f %% of the known lines are right, the bar is 99.9 %%", name, share(m.equal, m.known))
		}
		if m.reads-m.wholly > max(m.reads/200, 1) { // of few reads, one may fail
			t.Errorf("%s: %.2f %% of the reads are right as a whole, the bar is 99.5 %%", name, share(m.wholly, m.reads))
		}
		// Opencode's tool also replaces what is only similar to the old text.
		most := max(m.edited/100, 1)
		if name == "opencode" {
			most = max(m.edited/20, 1)
		}
		if m.edited-m.found > most {
			t.Errorf("%s: %.1f %% of the edits find their text", name, share(m.found, m.edited))
		}
	}
	t.Log("\n" + b.String())
}

func share(n, of int) float64 {
	if of == 0 {
		return 100
	}
	return 100 * float64(n) / float64(of)
}

func measure(t *testing.T, perFormat map[string]*meter, s *transcript.Session, name string) {
	format := string(s.Format)
	m := perFormat[format]
	if m == nil {
		m = &meter{show: os.Getenv("WINNOW_WORKSET") == "show", log: t.Logf, causes: map[string]int{}}
		perFormat[format] = m
	}
	m.set, m.name, m.before = New(nil), name, map[*File]*earlier{}
	m.set.watch = m
	for i := range s.History.Len() {
		m.at = i
		m.set.Add(s.History, i)
	}
}
