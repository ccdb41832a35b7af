package replay

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"hash"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/winnow-llm/winnow/transcript"
)

// Session is one recorded conversation and where it came from.
type Session struct {
	transcript.Session

	// File is the file's path as it was given, with the session's number where
	// a file has several.
	File string

	// Source is the repository that the session comes from: the name of the folder that
	// holds the file.
	Source string
}

// Data is a set of sessions.
type Data struct {
	Sessions []Session

	// Fingerprint identifies the content of the files.
	Fingerprint string

	// Skipped says which files were left out, and why.
	Skipped []string
}

// Load reads session files and folders of them. It reads a folder with all that is
// below it; files there that are not sessions are left out and named in Skipped. A
// path that is itself an unreadable file is an error.
func Load(paths ...string) (*Data, error) {
	d := &Data{}
	sum := sha256.New()
	for _, root := range paths {
		info, err := os.Stat(root)
		if err != nil {
			return nil, fmt.Errorf("replay: %w; name session files or folders of them", err)
		}
		if !info.IsDir() {
			if err := d.readFile(root, root, sum); err != nil {
				return nil, err
			}
			continue
		}
		err = filepath.WalkDir(root+string(filepath.Separator), func(p string, e fs.DirEntry, err error) error {
			if err != nil || e.IsDir() || !isSession(e.Name()) {
				return err
			}
			name, _ := filepath.Rel(root, p)
			if err := d.readFile(p, filepath.ToSlash(name), sum); err != nil {
				d.Skipped = append(d.Skipped, err.Error())
			}
			return nil
		})
		if err != nil {
			return nil, err
		}
	}
	slices.SortStableFunc(d.Sessions, func(a, b Session) int { return strings.Compare(a.Source, b.Source) })
	d.Fingerprint = hex.EncodeToString(sum.Sum(nil)[:8])
	if len(d.Sessions) == 0 {
		return nil, fmt.Errorf("replay: no session in %s; name session files of an agent or folders of them", strings.Join(paths, ", "))
	}
	return d, nil
}

// isSession reports whether a file in a folder may be a session.
func isSession(name string) bool {
	if strings.HasPrefix(name, ".") {
		return false
	}
	name = strings.TrimSuffix(name, ".gz")
	switch filepath.Ext(name) {
	case ".json", ".jsonl", ".traj":
		return !strings.HasSuffix(name, ".plan.json") // winnow compact writes plans beside sessions
	}
	return false
}

func (d *Data) readFile(path, name string, sum hash.Hash) error {
	raw, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	sessions, err := transcript.Read(raw, &transcript.Options{Name: name})
	if err != nil {
		return err
	}
	fmt.Fprintf(sum, "%s %d\n%s", filepath.Base(name), len(raw), raw)
	source := filepath.Base(filepath.Dir(path))
	for i := range sessions {
		file := name
		if len(sessions) > 1 {
			file = fmt.Sprintf("%s#%d", name, i+1)
		}
		d.Sessions = append(d.Sessions, Session{Session: sessions[i], File: file, Source: source})
	}
	return nil
}
