// Command mutate takes features out, one at a time, and looks whether a driver's
// test notices. Its table stands in scripts/mutations.yaml: for each requirement
// the file, a text in it, what stands there without the feature, and the test that
// must fail then. The mutated files reach the compiler through an overlay of the
// build: the repository itself is only read, and only what depends on the file is
// compiled again. With -write the results replace those in docs/rows.md. With -draw
// nobody chooses: a seed draws changes from the code that matters. Run it as
// scripts/mutate.
package main

import (
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
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

// trial is a run of this command.
type trial struct {
	root, dir      string // the repository, and a folder for mutated files
	write, verbose bool
	passed         map[string]string // what each test says with all features
}

func main() {
	t := trial{root: ".", passed: make(map[string]string)}
	rows := flag.String("rows", "", "only rows whose number matches this expression, such as '^S1'")
	open := flag.Bool("open", false, "only mutations whose result docs/rows.md does not have yet")
	flag.BoolVar(&t.write, "write", false, "put the results into the table of docs/rows.md")
	flag.BoolVar(&t.verbose, "v", false, "print the output of tests that do not do as they should")
	draw := flag.Int("draw", 0, "number of changes to try that -seed draws, instead of the table")
	seed := flag.Uint64("seed", 1, "what is drawn")
	flag.Parse()
	dir, err := os.MkdirTemp("", "winnow-mutate-")
	if err == nil {
		t.dir = dir
		if *draw > 0 {
			err = t.tryDrawn(*draw, *seed)
		} else {
			err = t.tryTable(*rows, *open)
		}
		_ = os.RemoveAll(dir)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "mutate:", err)
		os.Exit(1)
	}
}

// readTable returns the table's mutations.
func readTable(root string) ([]mutation, error) {
	data, err := os.ReadFile(filepath.Join(root, table))
	if err != nil {
		return nil, err
	}
	var list []mutation
	return list, yaml.Unmarshal(data, &list)
}

// tryTable tries the mutations of the table, or of the rows that match an expression.
func (t *trial) tryTable(rows string, open bool) error {
	want, err := regexp.Compile(rows)
	if err != nil {
		return err
	}
	list, err := readTable(t.root)
	if err != nil {
		return err
	}
	known, err := readResults(t.root)
	if err != nil {
		return err
	}
	const line = "%-6s  %-58s  %-50s  %s\n"
	fmt.Printf(line, "row", "taken out", "test", "without it")
	bad := 0
	for i := range list {
		m := &list[i]
		if !want.MatchString(m.Row) || open && known[m.key()] == fails {
			continue
		}
		says, text, err := t.try(m)
		if err != nil {
			return err
		}
		if says != fails {
			bad++
			if t.verbose {
				fmt.Fprintf(os.Stderr, "%s: %s\n%s\n", m.Row, m.Out, text)
			}
		}
		fmt.Printf(line, m.Row, m.Out, m.testName(), says)
		known[m.key()] = says
		if t.write { // one by one: all of them take hours
			if err := writeResults(t.root, list, known); err != nil {
				return err
			}
		}
	}
	if t.write { // also where nothing was tried: mutations may have gone
		if err := writeResults(t.root, list, known); err != nil {
			return err
		}
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
	notRun = "not run"
)

// try runs the test with the feature, once for all, and without it.
func (t *trial) try(m *mutation) (says, text string, err error) {
	key := m.Pkg + " " + m.Test
	if t.passed[key] == "" {
		if t.passed[key], text, err = t.runTest(m); err != nil {
			return "", "", err
		}
	}
	switch says := t.passed[key]; says {
	case passes:
	case fails:
		return always, text, nil
	default:
		return says, text, nil
	}
	overlay, err := t.writeOverlay(m)
	if err != nil {
		return "", "", err
	}
	return t.runTest(m, "-count=1", "-overlay="+overlay)
}

// apply returns a file's text without the feature.
func (m *mutation) apply(text string) (string, error) {
	if n := strings.Count(text, m.Old); n != 1 || m.Old == "" {
		return "", fmt.Errorf("%s: %s: the text to replace stands there %d times, and must stand there once", m.Row, m.File, n)
	}
	return strings.Replace(text, m.Old, m.New, 1), nil
}

// writeOverlay writes the file without the feature, and an overlay that has the
// compiler read it in place of the original.
func (t *trial) writeOverlay(m *mutation) (string, error) {
	path, err := filepath.Abs(filepath.Join(t.root, m.File))
	if err != nil {
		return "", err
	}
	whole, err := os.ReadFile(path)
	if err != nil {
		return "", err
	}
	without, err := m.apply(string(whole))
	if err != nil {
		return "", err
	}
	stand, overlay := filepath.Join(t.dir, "without"+filepath.Ext(path)), filepath.Join(t.dir, "overlay.json")
	doc, err := json.Marshal(map[string]any{"Replace": map[string]string{path: stand}})
	return overlay, errors.Join(err, os.WriteFile(stand, []byte(without), 0o600), os.WriteFile(overlay, doc, 0o600))
}

// runTest runs the mutation's test, with further flags. Without any the result may come
// from the build's cache. Vet is left out: it would refuse code that a feature's absence
// makes odd.
func (t *trial) runTest(m *mutation, flags ...string) (says, text string, err error) {
	run := "^(" + strings.ReplaceAll(m.Test, "/", ")$/^(") + ")$"
	args := slices.Concat([]string{"test"}, flags, []string{"-v", "-vet=off", "-tags", "docs", "-timeout", "10m", "-failfast", "-run", run, m.Pkg})
	cmd := exec.Command("go", args...)
	cmd.Dir = t.root
	b, err := cmd.CombinedOutput()
	text = string(b)
	var exit *exec.ExitError
	switch {
	case errors.As(err, &exit) && strings.Contains(text, "[build failed]"):
		return broken, text, nil
	case errors.As(err, &exit):
		return fails, text, nil // or crashes, or does not end
	case err != nil:
		return "", text, err
	case !strings.Contains(text, "--- PASS"):
		return noTest, text, nil
	}
	return passes, text, nil
}
