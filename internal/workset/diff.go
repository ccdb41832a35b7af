package workset

import (
	"path"
	"regexp"
	"strconv"
	"strings"

	"github.com/winnow-llm/winnow/internal/work"
)

// takeDiff reads a diff's hunks: what was known of their older side gives way to the newer.
func (d *divider) takeDiff(dir string, limit int) {
	var run shown
	var old []string          // the older side of the hunk
	file, n, left := "", 0, 0 // the file, the next line and how many of the hunk are left
	for ; d.pos < limit; d.pos++ {
		line := d.lines[d.pos]
		hunk := hunkHead.FindStringSubmatch(line)
		if left > 0 && !strings.HasPrefix(line, "+") {
			old = append(old, line[min(1, len(line)):])
		}
		switch {
		case left > 0 && (line == "" || line[0] == ' ' || line[0] == '+'):
			if left--; file != "" {
				d.extendRun(&run, file, n, line[min(1, len(line)):])
			}
			if n++; left == 0 && file != "" {
				d.set.File(file).replaceOlder(run.from, old, len(run.lines), d.set.at)
			}
		case hunk != nil:
			old = nil
			n, _ = strconv.Atoi(hunk[1])
			if left = 1; hunk[2] != "" {
				left, _ = strconv.Atoi(hunk[2])
			}
		case left == 0 && strings.HasPrefix(line, "+++ "):
			file = d.fileInDiff(dir, line)
		}
	}
	d.emit(run)
}

// fileInDiff returns the known file that a diff names from the root of a repository,
// which is the folder or one above it. Where the folder is not known, it is the only one
// that ends so.
func (d *divider) fileInDiff(dir, line string) string {
	name := strings.TrimSuffix(line[min(len("+++ b/"), len(line)):], "\t")
	if dir == "" && d.set.File(name) == nil {
		return d.set.onlyEnding("/" + name)
	}
	for {
		if p := work.Join(dir, name); d.set.File(p) != nil {
			return p
		}
		if dir == path.Dir(dir) || dir == "" {
			return ""
		}
		dir = path.Dir(dir)
	}
}

// replaceOlder takes the older side of a diff's hunk out of what is known, where the newer
// one has that many lines from a line on: somebody else changed the file.
func (f *File) replaceOlder(from int, old []string, lines int, at moment) {
	n, p := f.findText(strings.Join(old, "\n"), true, place{})
	if n != 1 {
		return
	}
	r := &f.Regions[p.region]
	if f.doubtSince(r.Lines[p.line].seen) <= Turn {
		f.doubts.raise(moment{msg: at.msg, now: at.now - 1}, Differs)
	}
	if last := from + len(old) - 1; r.From > 0 && r.From+p.line == from {
		f.removeLines(from, last)
		f.shiftAfter(last, lines-len(old))
		return
	}
	f.Regions = append(f.Regions, Region{Lines: r.Lines[min(p.line+len(old), len(r.Lines)):]})
	f.Regions[p.region].Lines = r.Lines[:p.line:p.line]
	f.tidyRegions()
}

// hunkHead is the line before a hunk, with the first line of its newer side and the count.
var hunkHead = regexp.MustCompile(`^@@ -\d+(?:,\d+)? \+(\d{1,9})(?:,(\d{1,9}))? @@`)
