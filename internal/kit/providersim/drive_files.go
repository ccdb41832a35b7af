package providersim

import (
	"bytes"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// A driver that reads has an agent read source files, one after the other, by the
// agent's own read tool, or by its shell where it has none. From the ninth file on each file
// needs a fact of a file that was read 8 to 40 files before: half of the
// time a value from a comment, a constant, a path, a default in a signature or a
// decision that the driver told itself, half of the time a line drawn from
// function bodies and data.
//
// It is as honest as the other one: a fact counts as kept only where it stands in the
// request. Where it is gone the driver says so and has the file read again; a
// second time by the shell, as some read tools answer that the file has not changed.
// A summary that the agent asks for holds constants, paths and decisions, as far as
// the request has them, and nothing of the other three kinds.

// NewFileDriver returns a driver that has agents read files: o.Steps of them, of about
// o.Bytes each. They are drawn from the folders of real sources in from, get their
// facts, and are written to folder, which the agent works in. o.Lag and
// o.Pause mean nothing here.
func NewFileDriver(o DriveOptions, from []string, folder string) (*Driver, error) {
	files, err := newSources(o, from, folder)
	if err != nil {
		return nil, fmt.Errorf("the files to read: %w", err)
	}
	d := NewDriver(o)
	files.pause = d.work.pause
	d.files, d.job = files, files
	return d, nil
}

// DriveFacts is the account of the facts of one kind. Near facts are needed eight files
// after they were read, far ones later.
type DriveFacts struct {
	Kind     string `json:"kind"`
	NearDue  int    `json:"near_due"`
	NearKept int    `json:"near_kept"`
	FarDue   int    `json:"far_due"`
	FarKept  int    `json:"far_kept"`
}

var fileEnd = regexp.MustCompile(`file ([0-9]+) of [0-9]+, check [0-9]+`)

// eachText calls f with every text of a prompt, and with what stands in the
// compactions that the provider made, which only it can read.
func (d *Driver) eachText(a *Ask, f func([]byte)) {
	a.eachText(func(text []byte) {
		f(text)
		if sealed := d.sealed[string(text)]; sealed != "" {
			f([]byte(sealed))
		}
	})
}

// seesFact reports whether a fact stands in the prompt. Some tools print JSON, in which
// a line is escaped once more.
func (d *Driver) seesFact(a *Ask, u need) bool {
	name := []byte(u.name)
	escaped, _ := json.Marshal(u.name)
	escaped = escaped[1 : len(escaped)-1]
	found := false
	d.eachText(a, func(text []byte) {
		switch {
		case found:
		case u.kind == factLine:
			found = bytes.Contains(text, name) || bytes.Contains(text, escaped)
		case bytes.Contains(text, name):
			for line := range bytes.Lines(bytes.ReplaceAll(text, []byte(`\n`), []byte("\n"))) {
				found = found || bytes.Contains(line, name) && bytes.Contains(line, []byte(u.value))
			}
		}
	})
	return found
}

// decisionsAfter returns what the driver decided when it had read a file, in words.
func (s *sources) decisionsAfter(file int) string {
	var b strings.Builder
	for _, u := range s.needs {
		if u.from == file && u.kind == factDecision {
			fmt.Fprintf(&b, " I decide that %s is to be %s from now on.", u.name, u.value)
		}
	}
	return b.String()
}

func (s *sources) lastLine() *regexp.Regexp { return fileEnd }

func (s *sources) need(file int) need { return s.needs[file] }

func (s *sources) writeSummary(seen int, sees func(need) bool) string {
	var b strings.Builder
	fmt.Fprintf(&b, "The task is to read %d files, one after the other. %d are read; the last was %s. The next is file %d.\n", len(s.paths), seen, s.finalLine(seen), seen+1)
	b.WriteString("What was learnt:\n")
	for _, u := range s.needs {
		if u.from > 0 && summarised[u.kind] && sees(u) {
			fmt.Fprintf(&b, "- %s = %s (%s)\n", u.name, u.value, s.paths[u.from-1])
		}
	}
	return b.String()
}

// lostFact is, of a line, only the file that it stands in, since who says it has it.
func (s *sources) lostFact(file int) lost {
	u := s.needs[file]
	path := s.paths[u.from-1]
	if u.kind == factLine {
		return lost{key: file, words: path, said: path}
	}
	return lost{key: file, words: u.name, find: u.name, said: path}
}

func (s *sources) callAgain(a *Ask, shell Tool, file int, byShell bool) (call Block, why string) {
	u := s.needs[file]
	return s.readCall(a, shell, u.from, byShell), fmt.Sprintf("File %d needs a %s of %s, which I no longer see, so I read that again.", file, factNames[u.kind], s.paths[u.from-1])
}

// countFact takes note of what became of a fact that a part or file needed.
func (d *Driver) countFact(a *Ask, t *driven, part int, visible bool) {
	u := d.job.need(part)
	again := t.reread[part] > 0 || len(t.asked[part]) > 0
	t.Due++
	switch {
	case visible && t.reread[part] > 0:
		t.Reread++
	case visible && again:
		t.countRecalled(a, d.job.lostFact(part))
	case visible:
		t.Kept++
	default:
		t.Lost++
	}
	if d.files == nil {
		return
	}
	k := &t.Facts[u.kind]
	due, kept := &k.FarDue, &k.FarKept
	if u.lag <= nearLag {
		due, kept = &k.NearDue, &k.NearKept
	}
	*due++
	if visible && !again {
		*kept++
		return
	}
	t.Missed = append(t.Missed, fmt.Sprintf("%s, %d files back, of %s: %s %s", factNames[u.kind], u.lag, d.files.paths[u.from-1], u.name, u.value))
}

// readCall calls for a file by the agent's read tool, or by its shell.
func (s *sources) readCall(a *Ask, shell Tool, file int, byShell bool) Block {
	path := s.paths[file-1]
	tool, parameter, ok := readTool(a)
	if !ok || byShell && shell.Name != "" {
		return shell.shellCall(fmt.Sprintf("cat %s; sleep %.1f", path, s.pause.Seconds()))
	}
	return tool.callWith(object{parameter, s.folder + "/" + path})
}

// pathNames are names of parameters that take the path of a file.
var pathNames = []string{"file_path", "filePath", "absolute_path", "path"}

// readTool finds the tool that reads one file, and its parameter for the path.
func readTool(a *Ask) (tool Tool, parameter string, ok bool) {
	for _, t := range a.Tools {
		name := strings.ToLower(strings.ReplaceAll(t.Name, "_", ""))
		if !slices.Contains([]string{"read", "readfile", "view", "viewfile"}, name) {
			continue
		}
		for _, p := range pathNames {
			if typeOf(t.schema.path("properties", p)) == "string" {
				return t, p, true
			}
		}
	}
	return Tool{}, "", false
}
