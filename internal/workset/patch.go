package workset

import (
	"strconv"
	"strings"
)

// isPatch reports whether a text is a patch: an apply_patch envelope or a
// unified diff.
func isPatch(s string) bool {
	s = strings.TrimLeft(s, " \r\n")
	return strings.HasPrefix(s, "*** Begin Patch") || strings.HasPrefix(s, "*** Update File: ") ||
		strings.HasPrefix(s, "*** Add File: ") || strings.HasPrefix(s, "*** Delete File: ") ||
		strings.HasPrefix(s, "diff --git ") || strings.HasPrefix(s, "--- ") && strings.Contains(s, "\n+++ ")
}

// patchEdits reads a patch: each hunk is one edit.
func patchEdits(s string) []Edit {
	p := patchReader{}
	envelope := strings.HasPrefix(strings.TrimLeft(s, " \r\n"), "*** ")
	for s != "" && len(p.edits) < maxEdits {
		var line string
		line, s = cutLine(s)
		if envelope {
			p.envelope(line)
		} else {
			p.unified(line, s)
		}
	}
	p.endFile()
	return p.edits
}

type patchReader struct {
	edits []Edit
	path  string
	to    string // the new path of a file that is moved
	added bool   // the file is new: its lines are the whole of it

	old, new strings.Builder
	changed  bool
	lines    int // of the hunk
	after    string
	from     int
	oldPath  string
	inHunk   bool
	left     [2]int // lines of the unified hunk that are still to come, old and new
}

func (p *patchReader) envelope(line string) {
	if p.section(line) {
		return
	}
	switch {
	case p.path == "":
	case strings.HasPrefix(line, "@@"):
		p.endHunk()
		if head := strings.TrimPrefix(strings.TrimPrefix(line, "@@"), " "); head != "" {
			p.after = head + "\n"
		}
	case p.added:
		if line != "" && line[0] == '+' {
			p.new.WriteString(line[1:])
			p.new.WriteByte('\n')
		}
	default:
		p.hunkLine(line)
	}
}

// section reads a line that begins a file's part of the patch.
func (p *patchReader) section(line string) bool {
	line = strings.TrimRight(line, " \t")
	switch {
	case !strings.HasPrefix(line, "*** "):
		return false
	case strings.HasPrefix(line, "*** Update File: "):
		p.endFile()
		p.path = tidy(line[17:])
	case strings.HasPrefix(line, "*** Add File: "):
		p.endFile()
		p.path, p.added = tidy(line[14:]), true
	case strings.HasPrefix(line, "*** Delete File: "):
		p.endFile()
		p.edits = append(p.edits, Edit{Kind: Delete, Path: tidy(line[17:])})
	case strings.HasPrefix(line, "*** Move to: "):
		p.to = tidy(line[13:])
	case line == "*** End of File":
		p.endHunk()
	case line == "*** End Patch":
		p.endFile()
	case line != "*** Begin Patch":
		return false
	}
	return true
}

// hunkLine reads a line of context, of the old text or of the new.
func (p *patchReader) hunkLine(line string) {
	p.lines++
	if line == "" {
		line = " "
	}
	switch line[0] {
	case '-':
		p.changed = true
		p.old.WriteString(line[1:])
		p.old.WriteByte('\n')
	case '+':
		p.changed = true
		p.new.WriteString(line[1:])
		p.new.WriteByte('\n')
	case ' ':
		p.old.WriteString(line[1:])
		p.old.WriteByte('\n')
		p.new.WriteString(line[1:])
		p.new.WriteByte('\n')
	default:
		p.lines--
	}
}

// endHunk adds the hunk that was read. One of context alone says where the next
// one stands.
func (p *patchReader) endHunk() {
	if p.added {
		return
	}
	switch {
	case p.lines == 0:
	case !p.changed:
		p.after += p.old.String()
	default:
		e := Edit{Path: p.path, Old: p.old.String(), New: p.new.String(), After: p.after, Lines: true}
		if p.from > 0 {
			e.From, e.To = p.from, p.from+strings.Count(e.Old, "\n")-1
		}
		if e.Old == "" {
			e.Kind = Append
			if p.inHunk {
				e.Kind, e.To = Insert, 0
				e.From = max(e.From-1, 0)
			}
		}
		p.edits = append(p.edits, e)
		p.after = ""
	}
	p.old.Reset()
	p.new.Reset()
	p.changed, p.lines, p.from = false, 0, 0
}

func (p *patchReader) endFile() {
	p.endHunk()
	if p.added && p.path != "" {
		p.edits = append(p.edits, Edit{Path: p.path, New: p.new.String(), Whole: true})
	}
	if p.to != "" && p.path != "" {
		p.edits = append(p.edits, Edit{Kind: Move, Path: p.path, New: p.to})
	}
	p.new.Reset()
	p.path, p.to, p.added, p.after, p.oldPath, p.inHunk = "", "", false, "", "", false
	p.left = [2]int{}
}

// unified reads a line of a unified diff; rest is what follows it.
func (p *patchReader) unified(line, rest string) {
	switch {
	case p.left[0] > 0 || p.left[1] > 0:
		c := byte(' ')
		if line != "" {
			c = line[0]
		}
		if c != '+' && c != '\\' {
			p.left[0]--
		}
		if c != '-' && c != '\\' {
			p.left[1]--
		}
		if p.added {
			if c == '+' {
				p.new.WriteString(line[1:])
				p.new.WriteByte('\n')
			}
			return
		}
		p.hunkLine(line)
	case strings.HasPrefix(line, "--- ") && strings.HasPrefix(rest, "+++ "):
		p.endFile()
		p.oldPath = diffPath(line[4:])
	case strings.HasPrefix(line, "+++ "):
		p.path = diffPath(line[4:])
		switch {
		case p.path == "" && p.oldPath != "":
			p.edits = append(p.edits, Edit{Kind: Delete, Path: p.oldPath})
		case p.oldPath == "":
			p.added = true
		}
	case strings.HasPrefix(line, "rename from "):
		p.endFile()
		p.oldPath = tidy(line[12:])
	case strings.HasPrefix(line, "rename to ") && p.oldPath != "":
		p.edits = append(p.edits, Edit{Kind: Move, Path: p.oldPath, New: tidy(line[10:])})
	case strings.HasPrefix(line, "@@ -") && p.path != "":
		p.endHunk()
		if old, now, from, ok := hunkHeader(line); ok {
			p.left, p.from, p.inHunk = [2]int{old, now}, from, true
		}
	}
}

// hunkHeader reads "@@ -12,3 +14,5 @@": how many old and new lines follow, and
// the line where they stand once the hunks before them are applied.
func hunkHeader(line string) (old, now, from int, ok bool) {
	f := strings.Fields(line)
	if len(f) < 3 || f[1][0] != '-' || f[2][0] != '+' {
		return 0, 0, 0, false
	}
	_, old, ok1 := spanOf(f[1][1:])
	from, now, ok2 := spanOf(f[2][1:])
	return old, now, max(from, 1), ok1 && ok2
}

func spanOf(s string) (from, n int, ok bool) {
	a, b, ranged := strings.Cut(s, ",")
	from, err := strconv.Atoi(a)
	n = 1
	if ranged && err == nil {
		n, err = strconv.Atoi(b)
	}
	return from, n, err == nil && from >= 0 && n >= 0 && n < 1<<24
}

// diffPath reads the path of a --- or +++ line, "" for /dev/null.
func diffPath(s string) string {
	s, _, _ = strings.Cut(s, "\t")
	if s = tidy(s); s == "/dev/null" {
		return ""
	}
	if len(s) > 2 && s[1] == '/' && (s[0] == 'a' || s[0] == 'b') {
		s = s[2:]
	}
	return s
}

// blockEdits reads the SEARCH and REPLACE blocks of a diff, in the forms of
// several editors. A text without blocks leaves the file unclear.
func blockEdits(file, s string) []Edit {
	var edits []Edit
	var old, now strings.Builder
	at := 0 // 1 in the old text, 2 in the new
	from := 0
	for s != "" && len(edits) < maxEdits {
		var line string
		line, s = cutLine(s)
		bare := strings.TrimRight(line, " \t")
		switch {
		case at == 0 && (strings.HasPrefix(bare, "<<<<<<") || strings.HasPrefix(bare, "------")) && strings.HasSuffix(strings.TrimRight(bare, ">"), "SEARCH"):
			at, from = 1, 0
			old.Reset()
			now.Reset()
		case at == 1 && old.Len() == 0 && strings.HasPrefix(bare, ":start_line:"):
			from, _ = strconv.Atoi(strings.TrimSpace(bare[12:]))
		case at == 1 && old.Len() == 0 && (strings.HasPrefix(bare, ":end_line:") || bare == "-------"):
		case at == 1 && bare == "=======":
			at = 2
		case at == 2 && (strings.HasPrefix(bare, ">>>>>>") || strings.HasPrefix(bare, "++++++")) && strings.HasSuffix(strings.TrimRight(bare, "<"), "REPLACE"):
			e := Edit{Path: file, Old: old.String(), New: now.String(), Lines: true}
			if e.Old == "" {
				e.Whole, e.Lines = true, false
			} else if from > 0 {
				e.From, e.To = from, from+strings.Count(e.Old, "\n")-1
			}
			edits = append(edits, e)
			at = 0
		case at == 1:
			old.WriteString(line)
			old.WriteByte('\n')
		case at == 2:
			now.WriteString(line)
			now.WriteByte('\n')
		}
	}
	if len(edits) == 0 || at != 0 {
		return []Edit{{Kind: Unclear, Path: file}}
	}
	return edits
}

// cutLine returns the first line of s without its newline, and the rest.
func cutLine(s string) (line, rest string) {
	i := strings.IndexByte(s, '\n')
	if i < 0 {
		return s, ""
	}
	return s[:i], s[i+1:]
}
