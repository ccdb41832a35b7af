package stage

import (
	"fmt"
	"regexp"
	"strings"

	"github.com/winnow-llm/winnow/chat"
	"github.com/winnow-llm/winnow/internal/quote"
	"github.com/winnow-llm/winnow/internal/work"
)

// skeletonBytes is how much of a result is looked at for its names.
const skeletonBytes = 32 << 10

// skeletonOf says in at most max tokens what a tool result said: the lines that report
// errors, its first and last words, and the files with line numbers, names, numbers and
// ids that stand in it, as far as there is room. A result that fits is returned as it is.
// The skeleton is shorter than the result; it is "" where nothing is worth keeping.
func skeletonOf(result *chat.Part, max int, count func(string) int) string {
	text := strings.TrimSpace(result.Text)
	switch {
	case max <= 0 || text == "":
		return ""
	case len(text) <= max*8 && count(text) <= max:
		return text
	}
	var b strings.Builder
	left, bytes := max, len(text)*3/4
	put := func(piece, sep string) bool { // unless it is there or has no room
		if b.Len() == 0 {
			sep = ""
		}
		size := len(piece) + len(sep)
		if piece == "" || left <= 1 || size > bytes || strings.Contains(b.String(), piece) {
			return false
		}
		tokens := count(piece) + 1
		if tokens > left {
			return false
		}
		left, bytes = left-tokens, bytes-size
		b.WriteString(sep + piece)
		return true
	}
	text = quote.Clean(work.Body(text))
	for _, l := range work.ErrorLines(text, 6) {
		if put(quote.ClipLine(l, 160), "\n"); left < max/2 { // the rest is for what else it said
			break
		}
	}
	lines := strings.Split(strings.TrimSpace(quote.Clip(text, skeletonBytes)), "\n")
	put(quote.ClipLine(lines[0], 120), "\n")
	put(quote.ClipLine(text[strings.LastIndexByte(text, '\n')+1:], 120), "\n")
	sep := "\n"
	for _, l := range lines {
		for _, name := range names.FindAllString(l, -1) {
			if put(name, sep) {
				sep = ", "
			}
		}
	}
	if out := b.String(); count(out) <= max {
		return out
	}
	return ""
}

// names finds files with their lines, addresses, names in code, ids and numbers.
var names = regexp.MustCompile(`https?://[^\s"'<>()]+|[\w.~@/-]*\w\.[A-Za-z]\w{0,9}(?::\d+)?|\w*[a-z][A-Z]\w*|\w+_\w+|\b[A-Z]+-\d+\b|\b[A-Z]+\d[A-Z\d]+\b|\b\d[\d.,-]+\d\b`)

// mostPlaces is how many lines of files are listed for one result. A search that
// found more is better made again.
const mostPlaces = 40

// filePlace is a path whose last part has an extension, with a line of that file.
var filePlace = regexp.MustCompile(`([\w./\\@+~\x{80}-\x{10FFFF}-]*\.[A-Za-z][\w@+~\x{80}-\x{10FFFF}-]{0,6}):(\d{1,7})(?:\D|$)`)

// placesIn lists the file:line references of a result, those of one file together:
// "a.go:3,17; b/c.ts:20".
func placesIn(text string) string {
	var files []string
	lines := make(map[string][]string)
	n, seen := 0, make(map[string]bool)
	for _, m := range filePlace.FindAllStringSubmatch(text, -1) {
		file, line := m[1], m[2]
		if place := file + ":" + line; strings.HasPrefix(file, "//") || seen[place] { // addresses of hosts are no files
			continue
		} else {
			seen[place] = true
		}
		if n++; n > mostPlaces {
			continue
		}
		if lines[file] == nil {
			files = append(files, file)
		}
		lines[file] = append(lines[file], line)
	}
	for i, file := range files {
		files[i] = file + ":" + strings.Join(lines[file], ",")
	}
	if n > mostPlaces {
		files = append(files, fmt.Sprintf("and %d more", n-mostPlaces))
	}
	return strings.Join(files, "; ")
}
