package config

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Trust remembers the project files that a person trusts. What is remembered is a
// file's content, so that a file which changes, with the next pull for example,
// loses its trust. Each project has a small file of its own in the folder, with the
// digest of the content and the path.
type Trust struct{ Dir string }

// Of reports whether a project's file is trusted as it is, and whether it was with
// another content.
func (t *Trust) Of(path string, data []byte) (trusted, changed bool) {
	note, err := os.ReadFile(t.notePath(path))
	if err != nil {
		return false, false
	}
	trusted = string(note) == t.noteText(path, data)
	return trusted, !trusted && strings.HasSuffix(string(note), " "+path+"\n")
}

// Add trusts the project's file as it is now. It returns what the file sets that
// only a trusted one may.
func (t *Trust) Add(path string) ([]string, error) {
	p := openProject(path, os.Geteuid())
	switch {
	case p.passed != "":
		return nil, &SettingError{File: path, Message: p.passed}
	case p.err != nil:
		return nil, p.err
	case !p.there:
		return nil, &SettingError{File: path, Message: "there is no such file"}
	}
	l := &Loaded{From: make(map[string]string)}
	l.readFile(path, p.data)
	if err := l.clone().addFlagsAndCheck(nil); err != nil {
		return nil, err
	}
	l.dropUntrusted(&Loaded{From: make(map[string]string)})
	if err := os.MkdirAll(t.Dir, 0o700); err != nil {
		return nil, err
	}
	// A reader meanwhile finds the old note or the new one, never a half.
	temp, err := os.CreateTemp(t.Dir, "new-")
	if err != nil {
		return nil, err
	}
	_, err = temp.WriteString(t.noteText(path, p.data))
	if err = errors.Join(err, temp.Close()); err == nil {
		err = os.Rename(temp.Name(), t.notePath(path))
	}
	if err != nil {
		_ = os.Remove(temp.Name()) // it is of no use to anybody
		return nil, err
	}
	return l.Untrusted, nil
}

// Remove takes the trust back. It reports whether there was any.
func (t *Trust) Remove(path string) (bool, error) {
	err := os.Remove(t.notePath(path))
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	return err == nil, err
}

func (t *Trust) notePath(path string) string {
	return filepath.Join(t.Dir, fmt.Sprintf("%x", sha256.Sum256([]byte(path)))[:32])
}

func (t *Trust) noteText(path string, data []byte) string {
	return fmt.Sprintf("%x %s\n", sha256.Sum256(data), path)
}

// ofTrust are the settings with which a project's file could do harm: run
// commands, get keys, send the conversation to a provider, tell the summariser what
// to write, place the store where others read it, delete the sessions of other
// projects, have secrets written.
var ofTrust = []string{
	"hooks", "summarizer", "summarizer_url", "focus", "store",
	"keep.age", "keep.bytes", "keep.sessions", "redact", "trust_project",
}

// dropUntrusted takes back what the project's file may not set. before is the settings
// without that file.
func (l *Loaded) dropUntrusted(before *Loaded) {
	for i := range allKeys {
		k := &allKeys[i]
		if !slices.Contains(ofTrust, k.Name) || l.From[k.Name] == before.From[k.Name] || k.Name == "redact" && l.Redact { // on is always allowed
			continue
		}
		l.Untrusted = append(l.Untrusted, k.Name)
		k.fieldIn(&l.File).Set(k.fieldIn(&before.File))
		if l.From[k.Name] = before.From[k.Name]; l.From[k.Name] == "" {
			delete(l.From, k.Name)
		}
	}
}
