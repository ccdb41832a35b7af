package summary

import (
	"fmt"
	"path"
	"strings"

	"github.com/winnow-llm/winnow/chat"
	"github.com/winnow-llm/winnow/evidence"
)

// step is one thing that was done or said in the region: a call with its
// result, or what the agent said in one message.
type step struct {
	msg    int32
	call   *chat.Part
	access evidence.Access
	result *chat.Part

	body  int     // lines of its call that are no names or paths
	told  bool    // a line of it that reports a failure is told
	title string  // what is written of it, once it is known
	names []int32 // the entities in it
}

// said reports whether the step is something that the agent said.
func (s *step) said() bool { return s.call == nil }

// keepsList reports whether the step is about the list of things to do, which
// stands elsewhere as it is now.
func (s *step) keepsList() bool { return !s.said() && evidence.AboutTodos(s.call.Name) }

// changes reports whether the step changed a file.
func (s *step) changes() bool {
	switch s.access.Kind {
	case evidence.Edit, evidence.Write, evidence.Delete:
		return true
	}
	return false
}

// failed reports whether the call is known to have failed.
func (s *step) failed() bool {
	if s.result == nil {
		return false
	}
	failed, _, _ := evidence.Status(s.result)
	return failed
}

// outcome says how the call ended, where that is worth a word.
func (s *step) outcome() string {
	if s.result == nil {
		return ", no result"
	}
	failed, exit, known := evidence.Status(s.result)
	switch {
	case evidence.Interrupted(s.result):
		return ", stopped before its end (unconfirmed)"
	case known && exit != 0:
		return fmt.Sprintf(", exit %d", exit)
	case failed:
		return ", failed"
	case known && s.access.Kind == evidence.Shell:
		return ", exit 0"
	}
	return ""
}

// commandWidth is the most of a command that a step's title shows.
const commandWidth = 160

// describe writes what a call did, in a few words.
func (s *step) describe(root string) string {
	a := &s.access
	file := func(p string) string { return quoteLine(clipLine(below(root, p), commandWidth)) }
	files := file(a.Path)
	for i, p := range a.Paths {
		if i == 3 {
			files += fmt.Sprintf(" and %d more", len(a.Paths)-i)
			break
		}
		files += ", " + file(p)
	}
	switch {
	case a.Path != "" && (a.Kind == evidence.Read || a.Kind == evidence.Edit || a.Kind == evidence.Write || a.Kind == evidence.Delete):
		verb := map[evidence.ToolKind]string{evidence.Read: "read ", evidence.Edit: "edited ", evidence.Write: "wrote ", evidence.Delete: "deleted "}[a.Kind]
		return verb + files + rangeOf(a.From, a.To) + s.renamed()
	case a.Kind == evidence.Search && a.Query != "":
		text := "searched for `" + quoteLine(clipLine(a.Query, commandWidth)) + "`"
		if a.Path != "" && a.Path != "." {
			text += " in " + file(a.Path)
		}
		return text
	case a.Command != "":
		return "ran `" + quoteLine(clipLine(trimFolder(a.Command), commandWidth)) + "`"
	}
	return "called " + quoteLine(evidence.Headline(s.call, commandWidth))
}

// rangeOf writes the lines of a read.
func rangeOf(from, to int) string {
	switch {
	case from == 0 && to == 0:
		return ""
	case from < 0:
		return fmt.Sprintf(" (the last %d lines)", -from)
	case to == 0:
		return fmt.Sprintf(" (from line %d)", from)
	}
	return fmt.Sprintf(" (lines %d-%d)", from, to)
}

// trimFolder leaves off a change of folder in front of a command, and what only
// limits its output.
func trimFolder(c string) string {
	c = strings.TrimSpace(c)
	if strings.HasPrefix(c, "cd ") {
		if at := strings.Index(c, "&&"); at > 0 && at < 200 {
			c = strings.TrimSpace(c[at+2:])
		}
	}
	return trimCommand(c)
}

// below returns a path as seen from a folder.
func below(root, p string) string {
	if root != "" && len(p) > len(root)+1 && strings.HasPrefix(p, root) && p[len(root)] == '/' {
		return p[len(root)+1:]
	}
	return p
}

// findRoot finds the folder that most files of the steps are in, so that it is
// named once. It is "" where there is none.
func (s *scan) findRoot() {
	counts := map[string]int{}
	files := 0
	for i := range s.steps {
		p := s.steps[i].access.Path
		if !strings.HasPrefix(p, "/") {
			continue
		}
		files++
		for d := path.Dir(p); len(d) > 1; d = path.Dir(d) {
			counts[d]++
		}
	}
	best, nested := "", false
	for d, n := range counts {
		if n*10 >= files*9 && files > 1 && (len(d) > len(best) || len(d) == len(best) && d < best) {
			best = d
		}
	}
	for d := range counts {
		nested = nested || len(d) > len(best) && strings.HasPrefix(d, best+"/")
	}
	if best != "" && files == counts[best] && !nested {
		best = path.Dir(best) // a folder's name is worth something too
	}
	s.root = strings.TrimSuffix(best, "/")
}

// trimCommand leaves off what only limits the output of a command or joins its
// two streams: the command is the same without it.
func trimCommand(c string) string {
	c = oneCommand(c)
	for {
		c = strings.TrimRight(c, " ;")
		short := c
		for _, end := range [...]string{"2>&1", "2>/dev/null"} {
			short = strings.TrimSuffix(short, end)
		}
		if at := strings.LastIndexByte(c, '|'); at > 0 && c[at-1] != '|' {
			if f := strings.Fields(c[at+1:]); len(f) > 0 && len(f) < 4 && (f[0] == "head" || f[0] == "tail") {
				short = c[:at]
			}
		}
		if short == c || short == "" {
			return c
		}
		c = short
	}
}

// oneCommand returns a command on one line. What follows a here-document's first
// line is the document.
func oneCommand(c string) string {
	first, rest, more := strings.Cut(c, "\n")
	if !more || strings.Contains(first, "<<") {
		return first
	}
	for len(first) < commandWidth && rest != "" {
		var l string
		l, rest, _ = strings.Cut(rest, "\n")
		if l = strings.TrimSpace(l); l != "" {
			first += " ⏎ " + l
		}
	}
	return first
}
