package stage

import (
	"fmt"
	"strings"
)

// mostPlaces is how many lines of files are listed for one result. A search that
// found more is better made again.
const mostPlaces = 40

// placesIn lists the file:line references of a result that what is shown of it
// lacks, those of one file together: "a.go:3,17; b/c.ts:20".
func placesIn(text, shown string) string {
	var files []string
	lines := make(map[string][]string)
	n, more := 0, 0
	seen := make(map[string]bool)
	for at := 0; ; {
		colon := strings.IndexByte(text[at:], ':')
		if colon < 0 {
			break
		}
		colon += at
		at = colon + 1
		file, line := fileBefore(text[:colon]), digitsAt(text[colon+1:])
		place := file + ":" + line
		if file == "" || line == "" || seen[place] || showsPlace(shown, place) {
			continue
		}
		seen[place] = true
		if n == mostPlaces {
			more++
			continue
		}
		n++
		if lines[file] == nil {
			files = append(files, file)
		}
		lines[file] = append(lines[file], line)
	}
	var b strings.Builder
	for i, file := range files {
		if i > 0 {
			b.WriteString("; ")
		}
		b.WriteString(file + ":" + strings.Join(lines[file], ","))
	}
	if more > 0 {
		fmt.Fprintf(&b, "; and %d more", more)
	}
	return b.String()
}

// fileBefore returns the name of a file that a text ends with: a path whose last
// part has an extension. Addresses of hosts are none.
func fileBefore(text string) string {
	from := len(text)
	for from > 0 && len(text)-from < 200 && isPathByte(text[from-1]) {
		from--
	}
	path := text[from:]
	base := path[strings.LastIndexAny(path, `/\`)+1:]
	dot := strings.LastIndexByte(base, '.')
	if dot < 0 || dot == len(base)-1 || len(base)-dot > 8 || base[dot+1]|0x20 < 'a' || base[dot+1]|0x20 > 'z' || strings.HasPrefix(path, "//") {
		return ""
	}
	return path
}

func isPathByte(c byte) bool {
	return c|0x20 >= 'a' && c|0x20 <= 'z' || c >= '0' && c <= '9' || strings.IndexByte(`_-./\@+~`, c) >= 0 || c >= 0x80
}

func digitsAt(text string) string {
	n := 0
	for n < len(text) && text[n] >= '0' && text[n] <= '9' {
		n++
	}
	if n > 7 {
		return ""
	}
	return text[:n]
}

// showsPlace reports whether a text has the place, and not only the start of another.
func showsPlace(text, place string) bool {
	for {
		at := strings.Index(text, place)
		if at < 0 {
			return false
		}
		text = text[at+len(place):]
		if digitsAt(text) == "" {
			return true
		}
	}
}
