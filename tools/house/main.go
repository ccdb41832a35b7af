// Command house measures the tree: what packages depend on, how large programs
// are, which packages are public and who uses them, and how much code there is.
// It prints Markdown. With a commit it measures that one too and prints both.
//
//	scripts/house [COMMIT] > docs/house.md
//
// The numbers come from the go command, from the sources and from programs that
// are built for the purpose; none is typed by hand.
package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

func main() {
	if len(os.Args) > 2 || len(os.Args) == 2 && strings.HasPrefix(os.Args[1], "-") {
		fmt.Fprintln(os.Stderr, "usage: scripts/house [COMMIT]   (a commit to compare with)")
		os.Exit(2)
	}
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "house:", err)
		os.Exit(1)
	}
}

func run(args []string) error {
	root, err := output(".", "git", "rev-parse", "--show-toplevel")
	if err != nil {
		return err
	}
	now, err := measure(root)
	if err != nil {
		return err
	}
	var before *house
	if len(args) == 1 {
		dir, name, err := checkOut(root, args[0])
		if err != nil {
			return err
		}
		defer os.RemoveAll(dir)
		if before, err = measure(dir); err != nil {
			return fmt.Errorf("commit %s: %w", name, err)
		}
		before.commit = name
	}
	fmt.Print(page(before, now))
	return nil
}

// checkOut unpacks a commit into a temporary folder, which the caller removes.
// It leaves the repository alone: no worktree that stays when it is killed.
func checkOut(root, commit string) (dir, name string, err error) {
	if name, err = output(root, "git", "log", "-1", "--format=%h (%s)", commit); err != nil {
		return "", "", err
	}
	if dir, err = os.MkdirTemp("", "house-"); err != nil {
		return "", "", err
	}
	archive := filepath.Join(dir, "archive.tar")
	if _, err = output(root, "git", "archive", "-o", archive, commit); err == nil {
		_, err = output(dir, "tar", "-xf", archive)
	}
	if err != nil {
		os.RemoveAll(dir)
		return "", "", err
	}
	return dir, name, os.Remove(archive)
}

// output runs a command in a folder and returns what it printed, without blanks
// around it.
func output(dir, name string, args ...string) (string, error) {
	cmd := exec.Command(name, args...)
	cmd.Dir = dir
	var said strings.Builder
	cmd.Stderr = &said
	out, err := cmd.Output()
	if err != nil {
		return "", fmt.Errorf("%s %s: %w\n%s", name, strings.Join(args, " "), err, said.String())
	}
	return strings.TrimSpace(string(out)), nil
}
