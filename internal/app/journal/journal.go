// Package journal changes a user's files so that every change can be taken back.
//
// What a change replaced is noted in a journal, not the whole file: settings of agents
// may hold secrets. A file that has not been changed since gets back the bytes that it
// had. From any other file the journal cuts out its own addition, or runs a command
// that removes it.
package journal

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"github.com/winnow-llm/winnow/internal/text"
)

// Change is one change of a file.
type Change struct {
	What string `json:"what"` // for people
	File string `json:"file"`

	// Edit returns the file's text with the change; the same text says that there is
	// nothing to do. Run is a command that makes the change instead, or that is run
	// after it.
	Edit func(text string) (string, error) `json:"-"`
	Run  []string                          `json:"-"`

	// Stop is run before the change is taken back, Back in place of cutting it out of a
	// file that was changed since.
	Stop []string `json:"stop,omitempty"`
	Back []string `json:"back,omitempty"`

	// Created says that the file was not there. At is where Old became New, and Sum the
	// hash of the file after that.
	Created bool   `json:"created,omitempty"`
	At      int    `json:"at"`
	Old     string `json:"old"`
	New     string `json:"new"`
	Sum     string `json:"sum"`
}

// Journal is the changes that are in force, oldest first, in a file.
type Journal struct {
	path    string
	Changes []Change `json:"changes"`
}

// Open reads a journal; one that is not there is empty.
func Open(path string) (*Journal, error) {
	j := &Journal{path: path}
	data, err := os.ReadFile(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return j, nil
	case err == nil:
		err = json.Unmarshal(data, j)
	}
	if err != nil {
		return nil, fmt.Errorf("the list of changes cannot be read: %w; delete %s to start again", err, path)
	}
	return j, nil
}

// Has reports whether a change is in force.
func (j *Journal) Has(what string) bool {
	return slices.ContainsFunc(j.Changes, func(c Change) bool { return c.What == what })
}

// Make makes a change and notes it. It returns false where there was nothing to do.
func (j *Journal) Make(ctx context.Context, c Change) (bool, error) {
	before, mode, created, err := read(c.File)
	if err != nil {
		return false, err
	}
	c.Created = created
	if c.Edit != nil {
		after, err := c.Edit(before)
		if err != nil || after == before {
			return false, err
		}
		c.note(before, after)
		if err := j.save(append(slices.Clone(j.Changes), c)); err != nil {
			return false, err // what cannot be noted is not done
		}
		if err := os.MkdirAll(filepath.Dir(c.File), 0o755); err != nil {
			return false, err
		}
		if err := os.WriteFile(c.File, []byte(after), mode); err != nil {
			return false, err
		}
		j.Changes = append(j.Changes, c)
		return true, run(ctx, c.Run)
	}
	if err := run(ctx, c.Run); err != nil {
		return false, err
	}
	after, _, gone, err := read(c.File)
	if err != nil {
		return true, err
	}
	c.Created = created && !gone
	c.note(before, after)
	j.Changes = append(j.Changes, c)
	return true, j.save(j.Changes)
}

// Undo takes the newest change back. The error says what is left to do by hand; the
// change is out of the journal all the same unless its file could not be written.
func (j *Journal) Undo(ctx context.Context) (Change, error) {
	c := j.Changes[len(j.Changes)-1]
	var stopped error
	if len(c.Stop) > 0 {
		stopped = run(ctx, c.Stop)
	}
	text, mode, gone, err := read(c.File)
	if err != nil {
		return c, err
	}
	var left error
	switch {
	case sum(text) == c.Sum && c.Created && !gone:
		err = os.Remove(c.File)
	case sum(text) == c.Sum && !gone:
		err = os.WriteFile(c.File, []byte(text[:c.At]+c.Old+text[c.At+len(c.New):]), mode)
	case len(c.Back) > 0:
		left = run(ctx, c.Back)
	case c.Old == "" && strings.Count(text, c.New) == 1:
		before, rest, _ := strings.Cut(text, c.New)
		if strings.HasPrefix(c.New, "\n") && rest != "" {
			before += "\n" // the line that had no end now has others below it
		}
		err = os.WriteFile(c.File, []byte(before+rest), mode)
	case strings.Contains(text, strings.TrimSpace(c.New)):
		left = fmt.Errorf("%s was changed since; take this out of it: %s", c.File, strings.TrimSpace(c.New))
	}
	if err != nil {
		return c, err
	}
	j.Changes = j.Changes[:len(j.Changes)-1]
	return c, errors.Join(stopped, left, j.save(j.Changes))
}

// note keeps what of a text became another.
func (c *Change) note(before, after string) {
	at, end := text.Common([]byte(before), []byte(after)), 0
	for end < min(len(before), len(after))-at && before[len(before)-1-end] == after[len(after)-1-end] {
		end++
	}
	c.At, c.Old, c.New, c.Sum = at, before[at:len(before)-end], after[at:len(after)-end], sum(after)
}

func (j *Journal) save(changes []Change) error {
	if len(changes) == 0 {
		err := os.Remove(j.path)
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		return err
	}
	data, err := json.MarshalIndent(Journal{Changes: changes}, "", "  ")
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(j.path), 0o700); err != nil {
		return err
	}
	return os.WriteFile(j.path, append(data, '\n'), 0o600)
}

// read returns a file's text and mode, and whether it is not there.
func read(file string) (text string, mode fs.FileMode, gone bool, err error) {
	info, err := os.Stat(file)
	if errors.Is(err, fs.ErrNotExist) {
		return "", 0o600, true, nil
	}
	if err != nil {
		return "", 0, false, err
	}
	data, err := os.ReadFile(file)
	return string(data), info.Mode().Perm(), false, err
}

func sum(text string) string { return fmt.Sprintf("%x", sha256.Sum256([]byte(text))) }

// run runs a command; none is done at once.
func run(ctx context.Context, command []string) error {
	if len(command) == 0 {
		return nil
	}
	out, err := exec.CommandContext(ctx, command[0], command[1:]...).CombinedOutput()
	if err != nil {
		return fmt.Errorf("%s failed: %w: %s", strings.Join(command, " "), err, strings.TrimSpace(string(out)))
	}
	return nil
}
