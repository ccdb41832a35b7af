//go:build unix

package main

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// task is a folder: task.json, and hidden.patch or hidden/ with the tests that an agent
// never sees. The sources are those of Repo at Commit, or of the folder repo/.
type task struct {
	Repo        string `json:"repo,omitempty"`
	Commit      string `json:"commit,omitempty"`
	Setup       string `json:"setup,omitempty"` // shell, before the agent starts
	Instruction string `json:"instruction"`
	Test        string `json:"test"` // shell, after the hidden tests are there; 0 is solved

	name, folder string
}

// agent is how an agent is started. All are lines of shell; BASE is the address that its
// requests go to, STATE an empty folder of the run, INSTRUCTION and RESUME what it is told.
type agent struct {
	Env     map[string]string `json:"env,omitempty"`
	Winnow  map[string]string `json:"winnow,omitempty"` // further variables where winnow compacts
	Start   string            `json:"start"`
	Compact string            `json:"compact,omitempty"` // its own, alone
	Resume  string            `json:"resume"`
}

// readJSON reads a file whose keys must all be known.
func readJSON(data []byte, name string, into any) error {
	d := json.NewDecoder(bytes.NewReader(data))
	d.DisallowUnknownFields()
	if err := d.Decode(into); err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	return nil
}

// readAgent reads the description of an agent: one that is built in, or a file.
func readAgent(name string) (a agent, err error) {
	data, err := builtIn.ReadFile("agents/" + name + ".json")
	if err != nil {
		if data, err = os.ReadFile(name); err != nil {
			return a, fmt.Errorf("-agent %s: neither claude, codex or pi nor a file that can be read", name)
		}
	}
	if err := readJSON(data, name, &a); err != nil {
		return a, err
	}
	if a.Start == "" || a.Resume == "" {
		return a, fmt.Errorf("%s: start and resume are needed", name)
	}
	return a, nil
}

// readTasks reads the tasks of a folder, in the order of their names.
func readTasks(folder string) ([]task, error) {
	files, err := filepath.Glob(filepath.Join(folder, "*", "task.json"))
	if err != nil || len(files) == 0 {
		return nil, fmt.Errorf("%s has no folder with a task.json", folder)
	}
	var tasks []task
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			return nil, err
		}
		var t task
		if err := readJSON(data, file, &t); err != nil {
			return nil, err
		}
		if t.Instruction == "" || t.Test == "" {
			return nil, fmt.Errorf("%s: instruction and test are needed", file)
		}
		if t.folder, err = filepath.Abs(filepath.Dir(file)); err != nil {
			return nil, err
		}
		t.name = filepath.Base(t.folder)
		tasks = append(tasks, t)
	}
	return tasks, nil
}

// prepareFolder makes the folder that the agent works in.
func (t *task) prepareFolder(ctx context.Context, work string) error {
	if _, err := os.Stat(filepath.Join(t.folder, "repo")); err == nil {
		if err := runShell(ctx, t.folder, "cp -R repo \"$WORK\" && cd \"$WORK\" && git init -q", "WORK="+work); err != nil {
			return err
		}
	} else if err := runShell(ctx, t.folder, `git clone -q "$REPO" "$WORK" && cd "$WORK" && git checkout -q "$COMMIT"`,
		"REPO="+t.Repo, "WORK="+work, "COMMIT="+cmp.Or(t.Commit, "HEAD")); err != nil {
		return err
	}
	return runShell(ctx, work, cmp.Or(t.Setup, ":"))
}

// runHiddenTests puts the hidden tests there and runs them. What they print goes to a log.
func (t *task) runHiddenTests(ctx context.Context, work, log string) (bool, error) {
	err := runShell(ctx, work, `if [ -d "$TASK/hidden" ]; then cp -R "$TASK/hidden/." .; fi; if [ -f "$TASK/hidden.patch" ]; then git apply "$TASK/hidden.patch"; fi`, "TASK="+t.folder)
	if err != nil {
		return false, fmt.Errorf("the hidden tests cannot be put there: %w", err)
	}
	cmd := exec.CommandContext(ctx, "sh", "-c", t.Test)
	cmd.Dir = work
	out, err := cmd.CombinedOutput()
	if err := os.WriteFile(log, out, 0o644); err != nil {
		return false, err
	}
	var failed *exec.ExitError
	if errors.As(err, &failed) && ctx.Err() == nil {
		return false, nil
	}
	return err == nil, err
}

// runShell runs lines of shell; the error has what they printed.
func runShell(ctx context.Context, dir, lines string, env ...string) error {
	cmd := exec.CommandContext(ctx, "sh", "-c", lines)
	cmd.Dir, cmd.Env = dir, append(os.Environ(), env...)
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("%w: %s", err, strings.TrimSpace(string(out)))
	}
	return nil
}
