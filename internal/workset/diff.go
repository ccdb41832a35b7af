package workset

import (
	"path"
	"regexp"
	"strconv"
	"strings"

	"github.com/winnow-llm/winnow/internal/work"
)

// takeDiff reads the newer side of a diff's hunks.
func (d *divider) takeDiff(dir string, limit int) {
	var run shown
	file, n, left := "", 0, 0 // the file, the next line and how many of the hunk are left
	for ; d.pos < limit; d.pos++ {
		line := d.lines[d.pos]
		hunk := hunkHead.FindStringSubmatch(line)
		switch {
		case left > 0 && (line == "" || line[0] == ' ' || line[0] == '+'):
			if left--; file != "" {
				d.extendRun(&run, file, n, line[min(1, len(line)):])
			}
			n++
		case hunk != nil:
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
// which is the folder or one above it, or where that is not known, the only file so named.
func (d *divider) fileInDiff(dir, line string) (found string) {
	name := strings.TrimSuffix(line[min(len("+++ b/"), len(line)):], "\t")
	for ; ; dir = path.Dir(dir) {
		if p := work.Join(dir, name); d.set.File(p) != nil {
			return p
		}
		if dir == path.Dir(dir) || dir == "" {
			break
		}
	}
	if work.IsAbs(dir) || name == "" {
		return ""
	}
	d.set.work.Spend(len(d.set.files))
	for key := range d.set.files {
		if strings.HasSuffix(key, "/"+name) {
			if found != "" {
				return ""
			}
			found = key
		}
	}
	return found
}

// hunkHead is the line before a hunk, with the first line of its newer side and the count.
var hunkHead = regexp.MustCompile(`^@@ -\d+(?:,\d+)? \+(\d{1,9})(?:,(\d{1,9}))? @@`)
