package main

import (
	"bytes"
	"context"
	"debug/buildinfo"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"time"
	"unicode"
)

// component is something that is linked or embedded, with its licence.
type component struct {
	Path, Version string
	Kind          string // of package, as package URLs name it: golang or npm
	License       string // as SPDX names it
	Texts         []byte // of the licences and their notices
}

// listComponents returns what is in the command for a platform: the modules of its
// packages, Go's standard library, and what the page is bundled with.
func listComponents(ctx context.Context, platform string) ([]component, error) {
	cmd := exec.CommandContext(ctx, "go", "list", "-deps", "-f", `{{with .Module}}{{if not .Main}}{{.Path}}|{{.Version}}|{{.Dir}}|{{$.Dir}}{{end}}{{end}}`, "./cmd/winnow")
	cmd.Env, cmd.Stderr = goEnvironment(platform), os.Stderr
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("go list: %w", err)
	}
	lines := strings.Fields(string(out))
	slices.Sort(lines)
	var all []component
	for i := 0; i < len(lines); {
		f := strings.SplitN(lines[i], "|", 4)
		module := strings.Join(f[:3], "|") + "|"
		dirs := []string{f[2]}
		for ; i < len(lines) && strings.HasPrefix(lines[i], module); i++ {
			dirs = append(dirs, foldersBetween(f[2], lines[i][len(module):])...)
		}
		slices.Sort(dirs)
		c, err := readLicences(component{Path: f[0], Version: f[1], Kind: "golang"}, slices.Compact(dirs)...)
		if err != nil {
			return nil, err
		}
		all = append(all, c)
	}
	root, err := exec.CommandContext(ctx, "go", "env", "GOROOT").Output()
	if err != nil {
		return nil, err
	}
	std, err := readLicences(component{Path: "std", Version: runtime.Version(), Kind: "golang"}, strings.TrimSpace(string(root)))
	if err != nil {
		return nil, err
	}
	page, err := bundledScripts()
	return append(append(all, std), page...), err
}

// foldersBetween returns the folders from a module's own down to that of a package: code
// that a module took over from others has its licence beside it.
func foldersBetween(module, dir string) []string {
	var dirs []string
	for ; len(dir) > len(module); dir = filepath.Dir(dir) {
		dirs = append(dirs, dir)
	}
	return dirs
}

var licenceFile = regexp.MustCompile(`(?i)^(licen[cs]e|copying|notice|patents)([.-].*)?$`)

// readLicences reads the licences and the notices in folders, of which the first is the
// component's own. One without a licence must not be linked, so that is an error.
func readLicences(c component, dirs ...string) (component, error) {
	var found []string
	for _, dir := range dirs {
		entries, err := os.ReadDir(dir)
		if err != nil {
			return c, fmt.Errorf("%s: %w", c.Path, err)
		}
		for _, e := range entries {
			if e.IsDir() || !licenceFile.MatchString(e.Name()) || strings.HasSuffix(e.Name(), ".go") {
				continue
			}
			text, err := os.ReadFile(filepath.Join(dir, e.Name()))
			if err != nil {
				return c, err
			}
			found = append(found, identifyLicences(text)...)
			if name, err := filepath.Rel(dirs[0], filepath.Join(dir, e.Name())); err == nil && dir != dirs[0] {
				c.Texts = fmt.Appendf(c.Texts, "%s:\n\n", filepath.ToSlash(name))
			}
			c.Texts = append(append(c.Texts, bytes.TrimSpace(text)...), "\n\n"...)
		}
		if dir == dirs[0] && len(found) == 0 {
			return c, fmt.Errorf("%s@%s: no licence was found in %s, or none that is known; it must not be linked", c.Path, c.Version, dir)
		}
	}
	slices.Sort(found)
	c.License = strings.Join(slices.Compact(found), " AND ")
	return c, nil
}

// marks are sentences that only one licence has.
var marks = []struct{ id, mark string }{
	{"Apache-2.0", "Apache License Version 2.0"},
	{"Apache-2.0", "Licensed under the Apache License, Version 2.0"},
	{"MPL-2.0", "Mozilla Public License Version 2.0"},
	{"MIT", "Permission is hereby granted, free of charge, to any person obtaining a copy"},
	{"ISC", "Permission to use, copy, modify, and/or distribute this software for any purpose with or without fee"},
	{"ISC", "Permission to use, copy, modify, and distribute this software for any purpose with or without fee"},
	{"BSD-3-Clause", "Neither the name of"},
	{"BSD-3-Clause", "may not be used to endorse or promote products"},
	{"BSD-2-Clause", "Redistributions of source code must retain the above copyright notice"},
}

// identifyLicences names the licences in a text; there are none where it has none of the
// known ones.
func identifyLicences(text []byte) []string {
	words := strings.FieldsFunc(string(text), func(r rune) bool { return unicode.IsSpace(r) || r == '>' || r == '*' }) // some are quoted
	flat := strings.Join(words, " ")
	var found []string
	for _, m := range marks {
		if !strings.Contains(flat, m.mark) || slices.Contains(found, m.id) {
			continue
		}
		if m.id == "BSD-2-Clause" && slices.Contains(found, "BSD-3-Clause") {
			continue // which begins in the same way
		}
		found = append(found, m.id)
	}
	return found
}

// checkLinked fails where the components are not exactly the modules that a program
// says it was built from.
func checkLinked(program string, parts []component) error {
	info, err := buildinfo.ReadFile(program)
	if err != nil {
		return err
	}
	var inside, listed []string
	for _, m := range info.Deps {
		if m.Replace != nil {
			m = m.Replace
		}
		if !strings.HasPrefix(m.Path, module) { // the modules of this repository do not count as components
			inside = append(inside, m.Path+"@"+m.Version)
		}
	}
	for _, c := range parts {
		if c.Kind == "golang" && c.Path != "std" {
			listed = append(listed, c.Path+"@"+c.Version)
		}
	}
	slices.Sort(inside)
	slices.Sort(listed)
	if !slices.Equal(inside, listed) {
		return fmt.Errorf("the program was built from %v, the list of components has %v", inside, listed)
	}
	return nil
}

// mergeComponents adds components that are not there yet.
func mergeComponents(all, more []component) []component {
	for _, c := range more {
		if !slices.ContainsFunc(all, func(k component) bool { return k.Path == c.Path && k.Version == c.Version }) {
			all = append(all, c)
		}
	}
	slices.SortFunc(all, func(a, b component) int { return strings.Compare(a.Path+"@"+a.Version, b.Path+"@"+b.Version) })
	return all
}

// licenceText puts the licences of all components into one text.
func licenceText(all []component) []byte {
	var b bytes.Buffer
	fmt.Fprintf(&b, "winnow is licensed under Apache-2.0 (LICENSE). It contains these components, each under its own licence:\n\n")
	for _, c := range all {
		fmt.Fprintf(&b, "  %s %s (%s)\n", c.Path, c.Version, c.License)
	}
	for _, c := range all {
		fmt.Fprintf(&b, "\n%s\n%s %s\nsource: %s\n\n%s", strings.Repeat("=", 78), c.Path, c.Version, c.sourceURL(), c.Texts)
	}
	return b.Bytes()
}

// sourceURL returns where a component can be had from.
func (c component) sourceURL() string {
	switch {
	case c.Path == "std":
		return "https://go.dev/dl/" + c.Version + ".src.tar.gz"
	case c.Kind == "npm":
		return "https://www.npmjs.com/package/" + c.Path + "/v/" + c.Version
	}
	return "https://proxy.golang.org/" + escapePath(c.Path) + "/@v/" + escapePath(c.Version) + ".zip"
}

// escapePath writes a path as module proxies do: capitals are lower case behind a
// "!".
func escapePath(path string) string {
	return regexp.MustCompile(`[A-Z]`).ReplaceAllStringFunc(path, func(s string) string { return "!" + strings.ToLower(s) })
}

// spdxDocument lists the components as an SPDX 2.3 document.
func spdxDocument(all []component, version string, made time.Time) map[string]any {
	type object = map[string]any
	id := func(c component) string {
		return "SPDXRef-" + regexp.MustCompile(`[^A-Za-z0-9.-]+`).ReplaceAllString(c.Path+"-"+c.Version, "-")
	}
	purl := func(kind, path, version string) []object {
		return []object{{"referenceCategory": "PACKAGE-MANAGER", "referenceType": "purl", "referenceLocator": "pkg:" + kind + "/" + path + "@" + version}}
	}
	packages := []object{{
		"SPDXID": "SPDXRef-winnow", "name": module, "versionInfo": version, "downloadLocation": "https://" + module,
		"licenseConcluded": "Apache-2.0", "licenseDeclared": "Apache-2.0", "copyrightText": "Copyright 2026 The winnow authors",
		"filesAnalyzed": false, "externalRefs": purl("golang", module, version),
	}}
	relations := []object{{"spdxElementId": "SPDXRef-DOCUMENT", "relationshipType": "DESCRIBES", "relatedSpdxElement": "SPDXRef-winnow"}}
	for _, c := range all {
		packages = append(packages, object{
			"SPDXID": id(c), "name": c.Path, "versionInfo": c.Version, "downloadLocation": c.sourceURL(),
			"licenseConcluded": c.License, "licenseDeclared": c.License, "copyrightText": "NOASSERTION",
			"filesAnalyzed": false, "externalRefs": purl(c.Kind, c.Path, c.Version),
		})
		relations = append(relations, object{"spdxElementId": "SPDXRef-winnow", "relationshipType": "DEPENDS_ON", "relatedSpdxElement": id(c)})
	}
	return object{
		"spdxVersion": "SPDX-2.3", "dataLicense": "CC0-1.0", "SPDXID": "SPDXRef-DOCUMENT", "name": "winnow " + version,
		"documentNamespace": "https://" + module + "/spdx/" + version,
		"creationInfo":      object{"created": made.Format(time.RFC3339), "creators": []string{"Tool: winnow internal/app/release"}},
		"packages":          packages, "relationships": relations,
	}
}

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
