package work

import (
	"cmp"
	"regexp"
	"strings"

	"github.com/winnow-llm/winnow/internal/find"
)

// # How a patch is read
//
// An apply_patch envelope is read line by line. A section names the file, each hunk
// becomes one operation, and the end of a section says what happens to the file as a
// whole. Lines with a blank belong to the old text and to the new one, lines with a
// minus to the old, lines with a plus to the new; a text after @@ must stand before
// the hunk. For example:
//
//	*** Update File: a.go
//	@@ func run() {           Change a.go, after the line "func run() {",
//	 	x := 1                old "x := 1, y := 2",
//	-	y := 2                new "x := 1, y := 3"
//	+	y := 3
//	*** Add File: b.go        Change b.go: the whole file is "package b"
//	+package b
//	*** Delete File: c.go     Delete c.go
//
// Of a unified diff only the names are read: its files are Unclear.

// maxEdits bounds the changes of one call.
const maxEdits = 4096

// IsPatch reports whether a text is a patch: an apply_patch envelope or a
// unified diff.
func IsPatch(s string) bool {
	s = strings.TrimLeft(s, " \r\n")
	return find.AnyStart(s, "*** Begin Patch", updateFile, addFile, deleteFile, "diff --git ") || strings.HasPrefix(s, "--- ") && strings.Contains(s, "\n+++ ")
}

const (
	updateFile = "*** Update File: "
	addFile    = "*** Add File: "
	deleteFile = "*** Delete File: "
	moveTo     = "*** Move to: "
)

// readPatch reads a patch: each hunk is one change.
func readPatch(s string) []Op {
	if !strings.HasPrefix(strings.TrimLeft(s, " \r\n"), "*** ") {
		return readDiff(s)
	}
	p := patchReader{}
	for line := range strings.SplitSeq(strings.TrimSuffix(s, "\n"), "\n") {
		if p.readEnvelope(line); len(p.ops) >= maxEdits {
			break
		}
	}
	p.endFile()
	return p.ops
}

type patchReader struct {
	ops   []Op
	path  string
	to    string // the new path of a file that is moved
	added bool   // the file is new: its lines are the whole of it

	// Of the hunk:
	old, new       strings.Builder
	changed        bool
	after, context string
}

// readEnvelope reads a line of an apply_patch envelope.
func (p *patchReader) readEnvelope(line string) {
	section := strings.TrimRight(line, " \t")
	switch {
	case strings.HasPrefix(section, updateFile):
		p.endFile()
		p.path = tidyPath(section[len(updateFile):])
	case strings.HasPrefix(section, addFile):
		p.endFile()
		p.path, p.added = tidyPath(section[len(addFile):]), true
	case strings.HasPrefix(section, deleteFile):
		p.endFile()
		p.ops = append(p.ops, Op{Kind: Delete, Path: tidyPath(section[len(deleteFile):])})
	case strings.HasPrefix(section, moveTo):
		p.to = tidyPath(section[len(moveTo):])
	case section == "*** End of File":
		p.endHunk()
	case section == "*** End Patch":
		p.endFile()
	case section == "*** Begin Patch" || p.path == "":
	case strings.HasPrefix(line, "@@"):
		p.endHunk()
		if head := strings.TrimPrefix(line[2:], " "); head != "" {
			p.after = head + "\n"
		}
	default:
		p.hunkLine(line)
	}
}

// hunkLine reads a line of context, of the old text or of the new.
func (p *patchReader) hunkLine(line string) {
	line = cmp.Or(line, " ")
	mark := line[0]
	if mark != '+' && (mark != '-' && mark != ' ' || p.added) {
		return
	}
	p.changed = p.changed || mark != ' '
	if mark != '+' {
		p.old.WriteString(line[1:] + "\n")
	}
	if mark != '-' {
		p.new.WriteString(line[1:] + "\n")
	}
}

// endHunk adds the hunk that was read. One of context alone says where the next
// one stands.
func (p *patchReader) endHunk() {
	if p.added {
		return
	}
	if p.changed {
		e := Op{Path: p.path, Old: p.old.String(), New: p.new.String(), After: p.after, Context: p.context, Lines: true}
		if e.Old == "" {
			e.Kind = Append
		}
		p.ops = append(p.ops, e)
		p.after, p.context = "", ""
	} else {
		p.context += p.old.String()
	}
	p.old.Reset()
	p.new.Reset()
	p.changed = false
}

// endFile adds what a file's part of the patch says about the file as a whole.
func (p *patchReader) endFile() {
	p.endHunk()
	if p.added && p.path != "" {
		p.ops = append(p.ops, Op{Path: p.path, New: p.new.String(), Whole: true})
	}
	if p.to != "" && p.path != "" {
		p.ops = append(p.ops, Op{Kind: Move, Path: p.path, New: p.to})
	}
	*p = patchReader{ops: p.ops}
}

// readDiff reads a unified diff: which files it changes. Their hunks are not read,
// since agents hardly hand over such diffs.
func readDiff(s string) (ops []Op) {
	for _, m := range diffNames.FindAllStringSubmatch(s, maxEdits) {
		switch from, to := tidyPath(m[1]), tidyPath(m[2]); to {
		case "/dev/null":
			ops = append(ops, Op{Kind: Delete, Path: from})
		default:
			ops = append(ops, Op{Kind: Unclear, Path: to, Whole: from == "/dev/null"})
		}
	}
	return ops
}

// diffNames are the lines of a unified diff that name a file before and after it.
var diffNames = regexp.MustCompile(`(?m)^--- (?:a/)?([^\t\n]*).*\n\+\+\+ (?:b/)?([^\t\n]*)`)
