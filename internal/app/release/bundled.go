package main

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
)

// bundledIn says what the page contains; the tool that bundles it writes this file.
const bundledIn = "internal/page/dist/LICENSES.txt"

var bundledLine = regexp.MustCompile(`(?m)^(\S+) (\d\S*), https://`)

// bundledScripts returns the JavaScript that is embedded with the page. go list does not
// know of it.
func bundledScripts() ([]component, error) {
	text, err := os.ReadFile(bundledIn)
	if err != nil {
		return nil, err
	}
	vendored, err := filepath.Glob("internal/page/web/vendor/*")
	if err != nil {
		return nil, err
	}
	lines := bundledLine.FindAllStringSubmatch(string(text), -1)
	if len(lines) != len(vendored) {
		return nil, fmt.Errorf("%s names %d components, but there are %v", bundledIn, len(lines), vendored)
	}
	var all []component
	for _, line := range lines {
		name := strings.ToLower(line[1])
		c, err := readLicences(component{Path: name, Version: line[2], Kind: "npm"}, filepath.Join("internal/page/web/vendor", name))
		if err != nil {
			return nil, err
		}
		all = append(all, c)
	}
	return all, nil
}
