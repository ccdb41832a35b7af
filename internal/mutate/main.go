// Command mutate takes features out, one at a time, and looks whether a test
// notices. Its table stands in scripts/mutations.yaml: for each requirement the
// file, a text in it, what stands there without the feature, and the test that
// must fail then. The features go in a copy of the repository; the repository
// itself is only read. Run it as scripts/mutate.
package main

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"

	"go.yaml.in/yaml/v3"
)

// table is where the mutations stand, from the repository's root.
const table = "scripts/mutations.yaml"

// mutation is one feature taken out.
type mutation struct {
	Row  string `yaml:"row"`  // the requirement's number
	Out  string `yaml:"out"`  // what is taken out
	File string `yaml:"file"` // where
	Old  string `yaml:"old"`  // stands there exactly once
	New  string `yaml:"new"`  // stands there instead
	Pkg  string `yaml:"pkg"`  // the package of the test
	Test string `yaml:"test"` // the test that must fail
}

func main() {
	rows := flag.String("rows", "", "only rows whose number matches this expression, such as '^S1'")
	keep := flag.Bool("v", false, "print the output of tests that do not do as they should")
	flag.Parse()
	if err := run(".", *rows, *keep); err != nil {
		fmt.Fprintln(os.Stderr, "mutate:", err)
		os.Exit(1)
	}
}

// read returns the table's mutations.
func read(root string) ([]mutation, error) {
	data, err := os.ReadFile(filepath.Join(root, table))
	if err != nil {
		return nil, err
	}
	var list []mutation
	return list, yaml.Unmarshal(data, &list)
}

// apply returns a file's text without the feature.
func (m *mutation) apply(text string) (string, error) {
	if n := strings.Count(text, m.Old); n != 1 || m.Old == "" {
		return "", fmt.Errorf("%s: %s: the text to replace stands there %d times, and must stand there once", m.Row, m.File, n)
	}
	return strings.Replace(text, m.Old, m.New, 1), nil
}

func run(root, rows string, verbose bool) error {
	want, err := regexp.Compile(rows)
	if err != nil {
		return err
	}
	list, err := read(root)
	if err != nil {
		return err
	}
	if os.Getenv("WINNOW_CORPUS") == "" { // what stands beside the repository does not stand beside its copy
		corpus, err := filepath.Abs(filepath.Join(root, "..", "shared"))
		if err != nil {
			return err
		}
		if err := os.Setenv("WINNOW_CORPUS", corpus); err != nil {
			return err
		}
	}
	dir, err := os.MkdirTemp("", "winnow-mutate-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	if err := copyTree(root, dir); err != nil {
		return err
	}
	const line = "%-6s  %-58s  %-50s  %s\n"
	fmt.Printf(line, "row", "taken out", "test", "without it")
	bad := 0
	passed := make(map[string]string) // what each test says with all features
	for i := range list {
		m := &list[i]
		if !want.MatchString(m.Row) {
			continue
		}
		says, text, err := m.try(dir, passed)
		if err != nil {
			return err
		}
		if says != fails {
			bad++
			if verbose {
				fmt.Fprintf(os.Stderr, "%s: %s\n%s\n", m.Row, m.Out, text)
			}
		}
		fmt.Printf(line, m.Row, m.Out, m.Pkg+" "+m.Test, says)
	}
	if bad > 0 {
		return fmt.Errorf("%d features can be taken out and no test notices", bad)
	}
	return nil
}

// What a test says of a feature that is gone.
const (
	fails  = "fails"
	passes = "PASSES"
	broken = "DOES NOT BUILD"
	always = "FAILS WITH IT TOO"
	noTest = "NO SUCH TEST"
)

// try takes the feature out of the copy, runs the test and puts it back.
func (m *mutation) try(dir string, passed map[string]string) (says, text string, err error) {
	key := m.Pkg + " " + m.Test
	if _, ok := passed[key]; !ok {
		if passed[key], text, err = m.test(dir); err != nil {
			return "", "", err
		}
	}
	switch passed[key] {
	case passes:
	case fails:
		return always, text, nil
	default:
		return passed[key], text, nil
	}
	path := filepath.Join(dir, m.File)
	whole, err := os.ReadFile(path)
	if err != nil {
		return "", "", err
	}
	without, err := m.apply(string(whole))
	if err != nil {
		return "", "", err
	}
	if err := os.WriteFile(path, []byte(without), 0o600); err != nil {
		return "", "", err
	}
	says, text, err = m.test(dir)
	return says, text, errors.Join(err, os.WriteFile(path, whole, 0o600))
}

// test runs the mutation's test in the copy.
func (m *mutation) test(dir string) (says, text string, err error) {
	run := "^(" + strings.ReplaceAll(m.Test, "/", ")$/^(") + ")$"
	cmd := exec.Command("go", "test", "-count=1", "-v", "-timeout", "5m", "-run", run, m.Pkg)
	cmd.Dir = dir
	b, err := cmd.CombinedOutput()
	text = string(b)
	var exit *exec.ExitError
	switch {
	case errors.As(err, &exit) && (strings.Contains(text, "--- FAIL") || strings.Contains(text, "panic: test timed out")):
		return fails, text, nil
	case errors.As(err, &exit):
		return broken, text, nil
	case err != nil:
		return "", text, err
	case !strings.Contains(text, "--- PASS"):
		return noTest, text, nil
	}
	return passes, text, nil
}

// copyTree copies the files that git knows or could know, as they stand.
func copyTree(root, dir string) error {
	cmd := exec.Command("git", "ls-files", "-z", "--cached", "--others", "--exclude-standard")
	cmd.Dir = root
	names, err := cmd.Output()
	if err != nil {
		return fmt.Errorf("git ls-files: %w", err)
	}
	for name := range strings.SplitSeq(strings.TrimSuffix(string(names), "\x00"), "\x00") {
		info, err := os.Stat(filepath.Join(root, name))
		if errors.Is(err, os.ErrNotExist) {
			continue // deleted, and not committed yet
		}
		if err != nil {
			return err
		}
		data, err := os.ReadFile(filepath.Join(root, name))
		if err != nil {
			return err
		}
		to := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(to, data, info.Mode().Perm()); err != nil {
			return err
		}
	}
	return nil
}
