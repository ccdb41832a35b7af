package main

import (
	"debug/buildinfo"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"
)

// Everything that is linked has a licence that is known and goes along with
// Apache-2.0, and the list of components names it.
func TestComponents(t *testing.T) {
	t.Chdir("../../..")
	parts, err := listComponents(t.Context(), "linux/"+runtime.GOARCH)
	if err != nil {
		t.Fatal(err)
	}
	if len(parts) < 10 {
		t.Fatalf("%d components", len(parts))
	}
	for _, want := range []string{"std", "preact", "uplot", "modernc.org/sqlite"} {
		if !slices.ContainsFunc(parts, func(c component) bool { return c.Path == want }) {
			t.Errorf("%s is not listed", want)
		}
	}
	text := string(licenceText(parts))
	var doc struct {
		Packages []struct {
			Name, VersionInfo, LicenseConcluded string
			ExternalRefs                        []struct{ ReferenceLocator string }
		}
	}
	data, err := json.Marshal(spdxDocument(parts, "v1", time.Unix(1e9, 0).UTC()))
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(data, &doc); err != nil || len(doc.Packages) != len(parts)+1 {
		t.Fatalf("%d packages: %v", len(doc.Packages), err)
	}
	notice, err := os.ReadFile("NOTICE")
	if err != nil {
		t.Fatal(err)
	}
	for i, c := range parts {
		if c.Kind == "npm" && !strings.Contains(strings.ToLower(string(notice)), c.Path+" "+c.Version) {
			t.Errorf("NOTICE does not name %s %s", c.Path, c.Version)
		}
		if p := doc.Packages[i+1]; p.Name != c.Path || p.VersionInfo != c.Version || p.LicenseConcluded != c.License || p.ExternalRefs[0].ReferenceLocator != "pkg:"+c.Kind+"/"+c.Path+"@"+c.Version {
			t.Errorf("%+v is listed as %+v", c.Path, p)
		}
		if !strings.Contains(text, c.Path+" "+c.Version+"\nsource: "+c.sourceURL()) || len(c.Texts) < 200 {
			t.Errorf("%s: no text of its licence", c.Path)
		}
	}
}

// The program itself says which modules it was built from, and the list has to
// agree: here with the program that runs the tests.
func TestLinked(t *testing.T) {
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	info, err := buildinfo.ReadFile(program)
	if err != nil {
		t.Fatal(err)
	}
	parts := []component{{Path: "std", Kind: "golang"}, {Path: "preact", Kind: "npm"}}
	for _, m := range info.Deps {
		parts = append(parts, component{Path: m.Path, Version: m.Version, Kind: "golang"})
	}
	if err := checkLinked(program, parts); err != nil {
		t.Error(err)
	}
	if err := checkLinked(program, append(parts, component{Path: "example.org/not", Version: "v1.0.0", Kind: "golang"})); err == nil {
		t.Error("a module that the program does not contain was listed")
	}
}

func TestIdentify(t *testing.T) {
	for text, want := range map[string]string{
		"Apache License\n   Version 2.0, January 2004":                                          "Apache-2.0",
		"Permission is hereby granted, free of charge, to any\nperson obtaining a copy of this": "MIT",
		"> Redistributions of source code must retain the above\n> copyright notice":            "BSD-2-Clause",
		"Redistributions … * Neither the name of Google Inc.":                                   "BSD-3-Clause",
		"All rights reserved. You may not use this.":                                            "",
		"Redistributions of source code must retain the above copyright notice. Neither the name of. " +
			"Permission is hereby granted, free of charge, to any person obtaining a copy": "MIT BSD-3-Clause",
	} {
		if got := strings.Join(identifyLicences([]byte(text)), " "); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
	if _, err := readLicences(component{Path: "none"}, t.TempDir()); err == nil || !strings.Contains(err.Error(), "must not be linked") {
		t.Errorf("a module without a licence: %v", err)
	}
}

// Code that a module took over from elsewhere has its licence in a folder of its
// own; it counts where a package of that folder, or below it, is linked.
func TestLicencesBelow(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{
		"LICENSE":              "Apache License Version 2.0",
		"taken/LICENSE.txt":    "Permission is hereby granted, free of charge, to any person obtaining a copy",
		"taken/hash/hash.go":   "package hash",
		"other/LICENSE":        "Mozilla Public License Version 2.0",
		"taken/hash/notice.go": "package hash",
	} {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, []byte(text), 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	dirs := append([]string{dir}, foldersBetween(dir, filepath.Join(dir, "taken", "hash"))...)
	c, err := readLicences(component{Path: "example.org/m", Version: "v1.0.0"}, dirs...)
	if err != nil || c.License != "Apache-2.0 AND MIT" {
		t.Errorf("%q, %v", c.License, err)
	}
	if !strings.Contains(string(c.Texts), "taken/LICENSE.txt:\n\nPermission") || strings.Contains(string(c.Texts), "package hash") {
		t.Errorf("%s", c.Texts)
	}
}

func TestSource(t *testing.T) {
	for want, c := range map[string]component{
		"https://proxy.golang.org/github.com/!azure/sdk/@v/v1.0.0.zip": {Path: "github.com/Azure/sdk", Version: "v1.0.0", Kind: "golang"},
		"https://go.dev/dl/go1.26.8.src.tar.gz":                        {Path: "std", Version: "go1.26.8", Kind: "golang"},
		"https://www.npmjs.com/package/preact/v/11.2.0":                {Path: "preact", Version: "11.2.0", Kind: "npm"},
	} {
		if got := c.sourceURL(); got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
}
