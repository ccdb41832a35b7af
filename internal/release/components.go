package main

import (
	"bytes"
	"context"
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

// component is a module that is linked, with its licence.
type component struct {
	Path, Version string
	License       string // as SPDX names it
	Texts         []byte // of the licence and its notices
}

// components returns what is linked into the command for a platform: the modules
// of its packages, and Go's standard library.
func components(ctx context.Context, p platform) ([]component, error) {
	cmd := exec.CommandContext(ctx, "go", "list", "-deps", "-f", `{{with .Module}}{{if not .Main}}{{.Path}}|{{.Version}}|{{.Dir}}{{end}}{{end}}`, "./cmd/winnow")
	cmd.Env, cmd.Stderr = p.env(), os.Stderr
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("go list: %w", err)
	}
	lines := strings.Fields(string(out))
	slices.Sort(lines)
	var all []component
	for _, line := range slices.Compact(lines) {
		f := strings.SplitN(line, "|", 3)
		c, err := read(component{Path: f[0], Version: f[1]}, f[2])
		if err != nil {
			return nil, err
		}
		all = append(all, c)
	}
	root, err := exec.CommandContext(ctx, "go", "env", "GOROOT").Output()
	if err != nil {
		return nil, err
	}
	std, err := read(component{Path: "std", Version: runtime.Version()}, strings.TrimSpace(string(root)))
	return append(all, std), err
}

var licenceFile = regexp.MustCompile(`(?i)^(licen[cs]e|copying|notice|patents)([.-].*)?$`)

// read reads the licence and the notices in a module's folder. A module without a
// licence must not be linked, so that is an error.
func read(c component, dir string) (component, error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return c, fmt.Errorf("%s: %w", c.Path, err)
	}
	for _, e := range entries {
		if e.IsDir() || !licenceFile.MatchString(e.Name()) {
			continue
		}
		text, err := os.ReadFile(filepath.Join(dir, e.Name()))
		if err != nil {
			return c, err
		}
		if c.License == "" {
			c.License = identify(text)
		}
		c.Texts = append(append(c.Texts, bytes.TrimSpace(text)...), "\n\n"...)
	}
	if c.License == "" {
		return c, fmt.Errorf("%s@%s: no licence was found in %s, or none that is known; it must not be linked", c.Path, c.Version, dir)
	}
	return c, nil
}

// marks are sentences that only one licence has.
var marks = []struct{ id, mark string }{
	{"Apache-2.0", "Apache License Version 2.0"},
	{"MPL-2.0", "Mozilla Public License Version 2.0"},
	{"MIT", "Permission is hereby granted, free of charge, to any person obtaining a copy"},
	{"ISC", "Permission to use, copy, modify, and/or distribute this software for any purpose with or without fee"},
	{"ISC", "Permission to use, copy, modify, and distribute this software for any purpose with or without fee"},
	{"BSD-3-Clause", "Neither the name of"},
	{"BSD-3-Clause", "may not be used to endorse or promote products"},
	{"BSD-2-Clause", "Redistributions of source code must retain the above copyright notice"},
}

// identify names the licence of a text; "" where it is none of the known ones.
func identify(text []byte) string {
	words := strings.FieldsFunc(string(text), func(r rune) bool { return unicode.IsSpace(r) || r == '>' }) // some are quoted
	flat := strings.Join(words, " ")
	for _, m := range marks {
		if strings.Contains(flat, m.mark) {
			return m.id
		}
	}
	return ""
}

// merge adds components that are not there yet.
func merge(all, more []component) []component {
	for _, c := range more {
		if !slices.ContainsFunc(all, func(k component) bool { return k.Path == c.Path && k.Version == c.Version }) {
			all = append(all, c)
		}
	}
	slices.SortFunc(all, func(a, b component) int { return strings.Compare(a.Path+"@"+a.Version, b.Path+"@"+b.Version) })
	return all
}

// licences puts the licences of all components into one text.
func licences(all []component) []byte {
	var b bytes.Buffer
	fmt.Fprintf(&b, "winnow is licensed under Apache-2.0 (LICENSE). It is linked with these modules, each under its own licence:\n\n")
	for _, c := range all {
		fmt.Fprintf(&b, "  %s %s (%s)\n", c.Path, c.Version, c.License)
	}
	for _, c := range all {
		fmt.Fprintf(&b, "\n%s\n%s %s\n\n%s", strings.Repeat("=", 78), c.Path, c.Version, c.Texts)
	}
	return b.Bytes()
}

// spdx lists the components as an SPDX 2.3 document.
func (r *release) spdx(all []component) []byte {
	type object = map[string]any
	id := func(c component) string {
		return "SPDXRef-" + regexp.MustCompile(`[^A-Za-z0-9.-]+`).ReplaceAllString(c.Path+"-"+c.Version, "-")
	}
	purl := func(path, version string) []object {
		return []object{{"referenceCategory": "PACKAGE-MANAGER", "referenceType": "purl", "referenceLocator": "pkg:golang/" + path + "@" + version}}
	}
	packages := []object{{
		"SPDXID": "SPDXRef-winnow", "name": module, "versionInfo": r.version, "downloadLocation": "https://" + module,
		"licenseConcluded": "Apache-2.0", "licenseDeclared": "Apache-2.0", "copyrightText": "Copyright 2026 The winnow authors",
		"filesAnalyzed": false, "externalRefs": purl(module, r.version),
	}}
	relations := []object{{"spdxElementId": "SPDXRef-DOCUMENT", "relationshipType": "DESCRIBES", "relatedSpdxElement": "SPDXRef-winnow"}}
	for _, c := range all {
		packages = append(packages, object{
			"SPDXID": id(c), "name": c.Path, "versionInfo": c.Version, "downloadLocation": "https://proxy.golang.org/" + c.Path,
			"licenseConcluded": c.License, "licenseDeclared": c.License, "copyrightText": "NOASSERTION",
			"filesAnalyzed": false, "externalRefs": purl(c.Path, c.Version),
		})
		relations = append(relations, object{"spdxElementId": "SPDXRef-winnow", "relationshipType": "DEPENDS_ON", "relatedSpdxElement": id(c)})
	}
	return indented(object{
		"spdxVersion": "SPDX-2.3", "dataLicense": "CC0-1.0", "SPDXID": "SPDXRef-DOCUMENT", "name": "winnow " + r.version,
		"documentNamespace": "https://" + module + "/spdx/" + r.version,
		"creationInfo":      object{"created": r.at.Format(time.RFC3339), "creators": []string{"Tool: winnow internal/release"}},
		"packages":          packages, "relationships": relations,
	})
}
