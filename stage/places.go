package stage

import (
	"fmt"
	"regexp"
	"strings"
)

// mostPlaces is how many lines of files are listed for one result. A search that
// found more is better made again.
const mostPlaces = 40

// filePlace is a path whose last part has an extension, with a line of that file.
var filePlace = regexp.MustCompile(`([\w./\\@+~\x{80}-\x{10FFFF}-]*\.[A-Za-z][\w@+~\x{80}-\x{10FFFF}-]{0,6}):(\d{1,7})(?:\D|$)`)

// placesIn lists the file:line references of a result that what is shown of it
// lacks, those of one file together: "a.go:3,17; b/c.ts:20".
func placesIn(text, shown string) string {
	var files []string
	lines := make(map[string][]string)
	n, more := 0, 0
	seen := make(map[string]bool)
	for _, m := range filePlace.FindAllStringSubmatch(text, -1) {
		file, line := m[1], m[2]
		place := file + ":" + line
		if strings.HasPrefix(file, "//") || seen[place] || showsPlace(shown, place) { // addresses of hosts are no files
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
	for i, file := range files {
		files[i] = file + ":" + strings.Join(lines[file], ",")
	}
	if more > 0 {
		files = append(files, fmt.Sprintf("and %d more", more))
	}
	return strings.Join(files, "; ")
}

// showsPlace reports whether a text has the place, and not only the start of another.
func showsPlace(text, place string) bool {
	_, rest, ok := strings.Cut(text, place)
	for ok && rest != "" && rest[0] >= '0' && rest[0] <= '9' {
		_, rest, ok = strings.Cut(rest, place)
	}
	return ok
}
