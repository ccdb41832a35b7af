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

func main() {
	var o options
	flag.StringVar(&o.rows, "rows", "", "only rows whose number matches this expression, such as '^S1'")
	flag.StringVar(&o.pkgs, "pkgs", "", "only tests of packages that match this expression, such as '^./session$'")
	flag.BoolVar(&o.open, "open", false, "only mutations whose result docs/rows.md does not have yet")
	flag.BoolVar(&o.write, "write", false, "put the results into the table of docs/rows.md, one by one")
	flag.BoolVar(&o.verbose, "v", false, "print the output of tests that do not do as they should")
	flag.IntVar(&o.draw, "draw", 0, "number of changes to try that -seed draws, instead of the table")
	flag.Uint64Var(&o.seed, "seed", 1, "what is drawn")
	flag.StringVar(&o.drivers, "drivers", ".,./session,./transport,./gateway,./internal/app", "packages whose tests drawn changes are tried against, in this order")
	flag.StringVar(&o.tests, "tests", "Test.*", "only tests of theirs that match this expression")
	flag.Parse()
	if err := run(".", &o); err != nil {
		fmt.Fprintln(os.Stderr, "mutate:", err)
		os.Exit(1)
	}
}

// options say which mutations are tried and what becomes of the results.
type options struct {
	rows, pkgs           string
	open, write, verbose bool

	draw           int
	seed           uint64
	drivers, tests string
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

// apply returns a file's text without the feature.
func (m *mutation) apply(text string) (string, error) {
	if n := strings.Count(text, m.Old); n != 1 || m.Old == "" {
		return "", fmt.Errorf("%s: %s: the text to replace stands there %d times, and must stand there once", m.Row, m.File, n)
	}
	return strings.Replace(text, m.Old, m.New, 1), nil
}

func run(root string, o *options) error {
	want, err := regexp.Compile(o.rows)
	if err != nil {
		return err
	}
	driver, err := regexp.Compile(o.pkgs)
	if err != nil {
		return err
	}
	list, err := readTable(root)
	if err != nil {
		return err
	}
	known, err := readResults(root)
	if err != nil {
		return err
	}
	dir, err := os.MkdirTemp("", "winnow-mutate-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	if o.draw > 0 {
		return tryDrawn(root, dir, o, o.draw)
	}
	const line = "%-6s  %-58s  %-50s  %s\n"
	fmt.Printf(line, "row", "taken out", "test", "without it")
	bad := 0
	passed := make(map[string]string) // what each test says with all features
	for i := range list {
		m := &list[i]
		if !want.MatchString(m.Row) || !driver.MatchString(m.Pkg) || o.open && known[m.key()] == fails {
			continue
		}
		says, text, err := m.try(root, dir, passed)
		if err != nil {
			return err
		}
		if says != fails {
			bad++
			if o.verbose {
				fmt.Fprintf(os.Stderr, "%s: %s\n%s\n", m.Row, m.Out, text)
			}
		}
		fmt.Printf(line, m.Row, m.Out, m.testName(), says)
		known[m.key()] = says
		if o.write {
			if err := writeResults(root, list, known); err != nil {
				return err
			}
		}
	}
	if o.write { // also where nothing was tried: mutations may have gone
		if err := writeResults(root, list, known); err != nil {
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
func (m *mutation) try(root, dir string, passed map[string]string) (says, text string, err error) {
	key := m.Pkg + " " + m.Test
	if _, ok := passed[key]; !ok {
		if passed[key], text, err = m.runTest(root, ""); err != nil {
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
	overlay, err := m.writeOverlay(root, dir)
	if err != nil {
		return "", "", err
	}
	return m.runTest(root, overlay)
}

// writeOverlay writes the file without the feature, and an overlay that has the
// compiler read it in place of the original.
func (m *mutation) writeOverlay(root, dir string) (string, error) {
	path, err := filepath.Abs(filepath.Join(root, m.File))
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
	stand := filepath.Join(dir, "without"+filepath.Ext(path))
	if err := os.WriteFile(stand, []byte(without), 0o600); err != nil {
		return "", err
	}
	doc, err := json.Marshal(map[string]any{"Replace": map[string]string{path: stand}})
	if err != nil {
		return "", err
	}
	overlay := filepath.Join(dir, "overlay.json")
	return overlay, os.WriteFile(overlay, doc, 0o600)
}

// runTest runs the mutation's test, with an overlay unless it is "". Without one the
// result may come from the build's cache. Vet is left out: it would refuse code
// that a feature's absence makes odd.
func (m *mutation) runTest(root, overlay string) (says, text string, err error) {
	run := "^(" + strings.ReplaceAll(m.Test, "/", ")$/^(") + ")$"
	args := []string{"test", "-v", "-vet=off", "-tags", "docs", "-timeout", "10m", "-failfast", "-run", run, m.Pkg}
	if overlay != "" {
		args = slices.Insert(args, 1, "-count=1", "-overlay="+overlay)
	}
	cmd := exec.Command("go", args...)
	cmd.Dir = root
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
