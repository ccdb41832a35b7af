package main

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"cmp"
	"compress/gzip"
	"crypto/sha256"
	"embed"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"text/template"
	"time"
)

//go:embed packages
var packaged embed.FS

// archive is a release's archive for a platform.
type archive struct {
	OS, Arch string
	file     string
	sum      string
	files    map[string][]byte // by their names
}

// built is what packages are made of.
type built struct {
	Version  string
	Base     string // the address of the release's files
	archives []archive
}

// writePackages makes, of the archives in a folder, the packages for npm, the formula for
// Homebrew and the script that installs, and adds their checksums to the archives'.
func writePackages(dir string) error {
	b, err := readArchives(dir)
	if err != nil {
		return err
	}
	made := map[string][]byte{}
	if err := b.makeNPMPackages(made); err != nil {
		return err
	}
	for _, name := range []string{"winnow.rb", "install.sh"} {
		var out bytes.Buffer
		t, err := template.ParseFS(packaged, "packages/"+name)
		if err != nil {
			return err
		}
		if err := t.Execute(&out, b); err != nil {
			return err
		}
		made[name] = out.Bytes()
	}
	sums, err := os.ReadFile(filepath.Join(dir, "SHA256SUMS"))
	if err != nil {
		return err
	}
	for _, name := range slices.Sorted(maps.Keys(made)) {
		mode := os.FileMode(0o644)
		if strings.HasSuffix(name, ".sh") {
			mode = 0o755
		}
		if err := os.WriteFile(filepath.Join(dir, name), made[name], mode); err != nil {
			return err
		}
		if line := fmt.Sprintf("%s  %s\n", sha256Hex(made[name]), name); !bytes.Contains(sums, []byte(line)) {
			sums = append(sums, line...)
		}
	}
	return os.WriteFile(filepath.Join(dir, "SHA256SUMS"), sums, 0o644)
}

// readArchives reads the archives of all platforms, which have one version.
func readArchives(dir string) (*built, error) {
	b := &built{}
	for _, p := range platforms {
		system, arch, _ := strings.Cut(p, "/")
		found, err := filepath.Glob(filepath.Join(dir, fmt.Sprintf("winnow_*_%s_%s.*", system, arch)))
		if err != nil || len(found) != 1 {
			return nil, fmt.Errorf("%s has %d archives for %s, not one; scripts/release makes them", dir, len(found), p)
		}
		name := filepath.Base(found[0])
		version := strings.TrimPrefix(name[:strings.Index(name, "_"+system+"_")], "winnow_")
		if b.Version == "" {
			b.Version = version
		} else if version != b.Version {
			return nil, fmt.Errorf("%s is not of version %s", name, b.Version)
		}
		data, err := os.ReadFile(found[0])
		if err != nil {
			return nil, err
		}
		files, err := unpackArchive(name, data)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		b.archives = append(b.archives, archive{system, arch, name, sha256Hex(data), files})
	}
	b.Base = "https://" + module + "/releases/download/v" + b.Version
	return b, nil
}

func sha256Hex(data []byte) string { return fmt.Sprintf("%x", sha256.Sum256(data)) }

// unpackArchive returns the files of an archive by their names, without the folder around them.
func unpackArchive(name string, data []byte) (map[string][]byte, error) {
	files := map[string][]byte{}
	if strings.HasSuffix(name, ".zip") {
		z, err := zip.NewReader(bytes.NewReader(data), int64(len(data)))
		if err != nil {
			return nil, err
		}
		for _, f := range z.File {
			r, err := f.Open()
			if err != nil {
				return nil, err
			}
			if files[path.Base(f.Name)], err = io.ReadAll(r); err != nil {
				return nil, err
			}
		}
		return files, nil
	}
	z, err := gzip.NewReader(bytes.NewReader(data))
	if err != nil {
		return nil, err
	}
	for t := tar.NewReader(z); ; {
		h, err := t.Next()
		if err == io.EOF {
			return files, nil
		}
		if err != nil {
			return nil, err
		}
		if files[path.Base(h.Name)], err = io.ReadAll(t); err != nil {
			return nil, err
		}
	}
}

// Unix returns the archives that a shell can install.
func (b *built) Unix() []archive { return b.archives[:4] }

// URL returns where the archive for a platform is, Sum its checksum.
func (b *built) URL(system, arch string) string {
	return b.Base + "/" + b.archiveFor(system, arch).file
}

// Sum returns the checksum of the archive for a platform.
func (b *built) Sum(system, arch string) string { return b.archiveFor(system, arch).sum }

func (b *built) archiveFor(system, arch string) *archive {
	for i := range b.archives {
		if a := &b.archives[i]; a.OS == system && a.Arch == arch {
			return a
		}
	}
	return &archive{}
}

// nodeNames are Node's names for systems and processors that have others in Go.
var nodeNames = map[string]string{"windows": "win32", "amd64": "x64"}

func nodeName(name string) string { return cmp.Or(nodeNames[name], name) }

// makeNPMPackages makes the package winnow-llm, and one for each platform that
// holds the program: npm installs the package that the machine can run.
func (b *built) makeNPMPackages(made map[string][]byte) error {
	type object = map[string]any
	manifest := func(name, what string) object {
		return object{
			"name": name, "version": b.Version, "description": what, "license": "Apache-2.0",
			"repository": object{"type": "git", "url": "git+https://" + module + ".git"},
		}
	}
	optional := object{}
	for _, a := range b.archives {
		system, arch := nodeName(a.OS), nodeName(a.Arch)
		name := "winnow-llm-" + system + "-" + arch
		m := manifest(name, "The program of winnow-llm for "+system+" on "+arch)
		m["os"], m["cpu"] = []string{system}, []string{arch}
		files := map[string][]byte{}
		for from, data := range a.files {
			switch from {
			case "winnow", "winnow.exe":
				files["bin/"+from] = data
			case "LICENSE", "LICENSES.txt", "NOTICE":
				files[from] = data
			}
		}
		packed, err := packForNPM(m, files)
		if err != nil {
			return err
		}
		made[name+"-"+b.Version+".tgz"], optional[name] = packed, b.Version
	}
	m := manifest("winnow-llm", "Keeps LLM agents inside their context window")
	m["bin"] = object{"winnow": "bin/winnow.js", "winnow-llm": "bin/winnow.js"}
	m["engines"], m["optionalDependencies"] = object{"node": ">=18"}, optional
	script, err := packaged.ReadFile("packages/winnow.js")
	if err != nil {
		return err
	}
	linux := b.archiveFor("linux", "amd64").files
	packed, err := packForNPM(m, map[string][]byte{"bin/winnow.js": script, "README.md": linux["README.md"], "LICENSE": linux["LICENSE"], "NOTICE": linux["NOTICE"]})
	made["winnow-llm-"+b.Version+".tgz"] = packed
	return err
}

// packForNPM writes a package as npm pack does. The same files give the same bytes.
func packForNPM(manifest map[string]any, files map[string][]byte) ([]byte, error) {
	data, err := json.MarshalIndent(manifest, "", "  ")
	if err != nil {
		return nil, err
	}
	files["package.json"] = append(data, '\n')
	var out bytes.Buffer
	z := gzip.NewWriter(&out)
	t := tar.NewWriter(z)
	for _, name := range slices.Sorted(maps.Keys(files)) {
		mode := int64(0o644)
		if strings.HasPrefix(name, "bin/") {
			mode = 0o755
		}
		h := &tar.Header{Name: "package/" + name, Mode: mode, Size: int64(len(files[name])), ModTime: time.Unix(499162500, 0)} // npm's own moment
		if err := t.WriteHeader(h); err != nil {
			return nil, err
		}
		if _, err := t.Write(files[name]); err != nil {
			return nil, err
		}
	}
	if err := t.Close(); err != nil {
		return nil, err
	}
	err = z.Close()
	return out.Bytes(), err
}
