package config

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/winnow-llm/winnow/model"
)

// ProjectFile is the name of settings files in projects.
const ProjectFile = ".winnow.yaml"

// mostOfProject is how large a file may be that a project brings along: its
// settings, or the facts about models that they name.
const mostOfProject = 4 << 20

// Project returns the project's file: the nearest .winnow.yaml from here up to
// the root of the repository, which is the folder with .git; outside a repository,
// that of the current folder alone. It never looks beyond the user's home: folders
// above belong to others. A file above the current folder that does not count is
// returned as passed.
//
// The folders above are those of the real path: a link to a folder leads into the
// project where the folder is, not into the one where the link is.
func Project() (file, passed string) {
	here, err := os.Getwd()
	if err != nil {
		return "", ""
	}
	if real, err := filepath.EvalSymlinks(here); err == nil {
		here = real
	}
	var home fs.FileInfo
	if dir, err := os.UserHomeDir(); err == nil {
		home, _ = os.Stat(dir) // a home that is not there ends nothing
	}
	nearest := ""
	for dir := here; ; dir = filepath.Dir(dir) {
		path := filepath.Join(dir, ProjectFile)
		if _, err := os.Lstat(path); err == nil && nearest == "" {
			nearest = path
		}
		if _, err := os.Stat(filepath.Join(dir, ".git")); err == nil {
			return nearest, ""
		}
		info, err := os.Stat(dir)
		if dir == filepath.Dir(dir) || err == nil && home != nil && os.SameFile(info, home) {
			break
		}
	}
	if filepath.Dir(nearest) == here {
		return nearest, ""
	}
	return "", nearest
}

// project is a project's settings file as it was found.
type project struct {
	path string
	data []byte

	there  bool   // there is such a file, and it may be read
	passed string // why it is not read; "" where it is
	err    error  // why it cannot be read
}

// openProject reads a project's file. Projects come from anywhere, so it must be a
// plain file of the user's own, or root's, who can change the user's files anyway.
// A link must belong to one of them too. The owner is that of the opened file:
// nobody can put another in its place in between.
func openProject(path string, user int) project {
	p := project{path: path}
	link, err := os.Lstat(path)
	if err != nil {
		return p // there is none
	}
	if p.passed = notOurs(link, user); p.passed != "" {
		return p
	}
	f, err := openAtOnce(path)
	if errors.Is(err, fs.ErrNotExist) {
		return p // a link that leads nowhere
	}
	if err != nil {
		p.err = cannotRead(path, err)
		return p
	}
	defer f.Close()
	info, err := f.Stat()
	if err == nil {
		if p.passed = notOurs(info, user); p.passed != "" {
			return p
		}
		p.data, err = readPlain(f)
	}
	if p.there = err == nil; !p.there {
		p.err = cannotRead(path, err)
	}
	return p
}

// notOurs says why a project's file is not read: it, or the link that leads to it,
// belongs to somebody else.
func notOurs(info fs.FileInfo, user int) string {
	if owner, ok := ownerOf(info); ok && owner != user && owner != 0 {
		return fmt.Sprintf("it belongs to another user (%d), so it is not read; take ownership of it, or name it with --config", owner)
	}
	return ""
}

// readPlain reads an open file that a project names: a plain one of reasonable
// size, since a pipe would hold the command up and a device has no end.
func readPlain(f *os.File) ([]byte, error) {
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, errors.New("it is not a plain file")
	}
	data, err := io.ReadAll(io.LimitReader(f, mostOfProject+1))
	if err == nil && len(data) > mostOfProject {
		err = fmt.Errorf("it is larger than %d MB", mostOfProject>>20)
	}
	return data, err
}

// Cause returns the cause of an error of the file system.
func Cause(err error) error {
	if p, ok := errors.AsType[*fs.PathError](err); ok {
		return p.Err
	}
	return err
}

func cannotRead(path string, err error) *SettingError {
	err = Cause(err)
	return &SettingError{File: path, Message: "the settings cannot be read: " + err.Error() + "; check the path", Err: err}
}

// addProject adds the settings of the project's file to the person's own, which l
// holds. Where the project is not trusted, those that could do harm do not count,
// and a file with a mistake does not count at all: a person who works in a folder
// may be unable to correct its file.
func (l *Loaded) addProject(p *project, o *Options) (*Loaded, error) {
	l.Project = p.path
	mine := l.clone()
	mine.readEnviron(o.Environ)
	l.Trusted = mine.TrustProject
	if o.Trust != nil && !l.Trusted && p.err == nil {
		l.Trusted, l.Changed = o.Trust.Of(p.path, p.data)
	}
	whole := l.clone()
	err := p.err
	if err == nil {
		// What the file says is checked whole, so that a mistake is told also where
		// it does not count.
		whole.readFile(p.path, p.data)
		whole.Files = append(whole.Files, p.path)
		whole.readEnviron(o.Environ)
		err = whole.clone().addFlagsAndCheck(o.Flags)
	}
	if err == nil && !l.Trusted {
		err = whole.checkModelsFile(mine)
	}
	switch {
	case err != nil && l.Trusted:
		return nil, err
	case err != nil:
		mine.Mistake = err
		return mine, mine.addFlagsAndCheck(o.Flags)
	case !l.Trusted:
		// Trust comes before flags, which are the person's own, and before one
		// setting is made of two.
		whole.dropUntrusted(mine)
	}
	return whole, whole.addFlagsAndCheck(o.Flags)
}

// clone returns a copy that can be changed.
func (l *Loaded) clone() *Loaded {
	c := *l
	c.From, c.wrong = maps.Clone(l.From), slices.Clone(l.wrong)
	return &c
}

// checkModelsFile finds out what is wrong with the models file that an untrusted
// project names, before a command stumbles over it.
func (l *Loaded) checkModelsFile(mine *Loaded) error {
	if l.ModelsFile == "" || l.From["models_file"] == mine.From["models_file"] {
		return nil
	}
	f, err := openAtOnce(l.ModelsFile)
	var data []byte
	if err == nil {
		defer f.Close()
		data, err = readPlain(f)
	}
	if err == nil {
		_, err = model.Default().WithOverrides(data)
	}
	if err == nil {
		return nil
	}
	err = Cause(err)
	return l.withPlace(&SettingError{Key: "models_file", Message: l.ModelsFile + ": " + err.Error(), Err: err})
}

// User returns the path of the user's file: winnow/winnow.yaml, or winnow.yaml, in
// the user's configuration folder.
func User() string {
	dir, err := os.UserConfigDir()
	if err != nil {
		return ""
	}
	path := filepath.Join(dir, "winnow", "winnow.yaml")
	if _, err := os.Stat(path); err == nil {
		return path
	}
	return filepath.Join(dir, "winnow.yaml")
}

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
	// A reader who finds half of a note does not trust the file yet.
	if err := os.WriteFile(t.notePath(path), []byte(t.noteText(path, p.data)), 0o600); err != nil {
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
