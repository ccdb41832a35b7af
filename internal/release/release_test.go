package main

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"encoding/json"
	"io"
	"runtime"
	"strings"
	"testing"
	"time"
)

// Everything that is linked has a licence that is known and goes along with
// Apache-2.0, and the list of components names it.
func TestComponents(t *testing.T) {
	t.Chdir("../..")
	parts, err := components(t.Context(), platform{"linux", runtime.GOARCH})
	if err != nil {
		t.Fatal(err)
	}
	if len(parts) < 10 || parts[len(parts)-1].Path != "std" {
		t.Fatalf("%d components", len(parts))
	}
	r := &release{version: "v1", at: time.Unix(1e9, 0).UTC()}
	text := string(licences(parts))
	var doc struct {
		Packages []struct {
			Name, VersionInfo, LicenseConcluded string
			ExternalRefs                        []struct{ ReferenceLocator string }
		}
	}
	if err := json.Unmarshal(r.spdx(parts), &doc); err != nil || len(doc.Packages) != len(parts)+1 {
		t.Fatalf("%d packages: %v", len(doc.Packages), err)
	}
	for i, c := range parts {
		if p := doc.Packages[i+1]; p.Name != c.Path || p.VersionInfo != c.Version || p.LicenseConcluded != c.License || p.ExternalRefs[0].ReferenceLocator != "pkg:golang/"+c.Path+"@"+c.Version {
			t.Errorf("%+v is listed as %+v", c.Path, p)
		}
		if !strings.Contains(text, c.Path+" "+c.Version) || len(c.Texts) < 200 {
			t.Errorf("%s: no text of its licence", c.Path)
		}
	}
}

func TestIdentify(t *testing.T) {
	for text, want := range map[string]string{
		"Apache License\n   Version 2.0, January 2004":                                          "Apache-2.0",
		"Permission is hereby granted, free of charge, to any\nperson obtaining a copy of this": "MIT",
		"> Redistributions of source code must retain the above\n> copyright notice":            "BSD-2-Clause",
		"Redistributions … * Neither the name of Google Inc.":                                   "BSD-3-Clause",
		"All rights reserved. You may not use this.":                                            "",
	} {
		if got := identify([]byte(text)); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
	if _, err := read(component{Path: "none"}, t.TempDir()); err == nil || !strings.Contains(err.Error(), "must not be linked") {
		t.Errorf("a module without a licence: %v", err)
	}
}

// The same files give the same archive, and what is in it can be unpacked.
func TestArchives(t *testing.T) {
	r := &release{version: "v1", at: time.Unix(1e9, 0).UTC()}
	files := []file{{"winnow", []byte("program"), 0o755}, {"LICENSE", bytes.Repeat([]byte("text "), 1000), 0o644}}
	a, err := r.tar("w", files)
	if err != nil {
		t.Fatal(err)
	}
	b, _ := r.tar("w", files)
	if !bytes.Equal(a, b) {
		t.Error("two archives of the same files differ")
	}
	z, err := gzip.NewReader(bytes.NewReader(a))
	if err != nil {
		t.Fatal(err)
	}
	read := tar.NewReader(z)
	for _, f := range files {
		h, err := read.Next()
		if err != nil {
			t.Fatal(err)
		}
		data, err := io.ReadAll(read)
		if err != nil || h.Name != "w/"+f.name || h.Mode != f.mode || !bytes.Equal(data, f.data) {
			t.Errorf("%s: mode %o, %d bytes, %v", h.Name, h.Mode, len(data), err)
		}
	}
	packed, err := r.zip("w", files)
	if err != nil {
		t.Fatal(err)
	}
	open, err := zip.NewReader(bytes.NewReader(packed), int64(len(packed)))
	if err != nil || len(open.File) != 2 || open.File[1].UncompressedSize64 != 5000 {
		t.Errorf("%v", err)
	}
}

func TestChoose(t *testing.T) {
	if all, err := choose(""); err != nil || len(all) != 6 {
		t.Errorf("%v, %v", all, err)
	}
	if one, err := choose("linux/arm64"); err != nil || len(one) != 1 {
		t.Errorf("%v, %v", one, err)
	}
	if _, err := choose("plan9/386"); err == nil {
		t.Error("an unknown platform was accepted")
	}
}
