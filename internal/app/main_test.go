package app

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
	"github.com/winnow-llm/winnow/internal/kit/longrun"
)

func TestMain(m *testing.M) {
	testscript.Main(homeless{m}, map[string]func(){"winnow": func() {
		code := Run(os.Args[1:], os.Stdin, os.Stdout, os.Stderr)
		if path := os.Getenv(statusFile); path != "" {
			status, err := os.ReadFile("/proc/self/status")
			if err := errors.Join(err, os.WriteFile(path, status, 0o600)); err != nil {
				panic(err)
			}
		}
		os.Exit(code)
	}})
}

// machineHome is the home of the person who runs the tests.
var machineHome = os.Getenv("HOME")

// homeless runs the tests in an empty home, so that those beside each other, which
// cannot have an environment of their own, read no settings of the machine.
type homeless struct{ tests *testing.M }

func (h homeless) Run() int {
	dir, err := os.MkdirTemp("", "home")
	if err := errors.Join(err, os.Setenv("HOME", dir), os.Setenv("XDG_CONFIG_HOME", dir+"/.config")); err != nil {
		panic(err)
	}
	defer os.RemoveAll(dir) //nolint:errcheck // it is in the folder of temporary files
	return h.tests.Run()
}

// statusFile names a file into which the command writes, at its end, what the
// system says of its process.
const statusFile = "WINNOW_TEST_STATUS"

// TestScripts runs the command as people do. Two commands are added to those
// of testscript: "exits CODE COMMAND…" checks the exit code, and "json FILE
// PATH[=VALUE]…" looks into a JSON document (or stdout). What stands below
// "[!long] stop" is left to a long run.
func TestScripts(t *testing.T) {
	t.Parallel()
	testscript.Run(t, testscript.Params{
		Dir:      "testdata/script",
		Cmds:     map[string]func(*testscript.TestScript, bool, []string){"exits": exits, "json": jsonHas},
		Setup:    setup,
		TestWork: false,
		Condition: func(name string) (bool, error) {
			switch name {
			case "root":
				return os.Geteuid() == 0, nil
			case "long":
				return longrun.Asked(), nil
			}
			return false, fmt.Errorf("unknown condition %q", name)
		},
	})
}

// setup keeps the settings of this machine's user out of the tests. Commands are
// over before memory matters, and hundreds of them take a quarter less without
// collecting it.
func setup(e *testscript.Env) error {
	e.Setenv("GOGC", "off")
	e.Setenv("HOME", e.WorkDir)
	e.Setenv("XDG_CONFIG_HOME", e.WorkDir+"/.config")
	return nil
}

func exits(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: exits CODE COMMAND...")
	}
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	got := 0
	var exit *exec.ExitError
	if err := ts.Exec(args[1], args[2:]...); errors.As(err, &exit) {
		got = exit.ExitCode()
	} else {
		ts.Check(err)
	}
	if got != want {
		ts.Fatalf("exit code %d, want %d", got, want)
	}
}

func jsonHas(ts *testscript.TestScript, neg bool, args []string) {
	if len(args) < 2 {
		ts.Fatalf("usage: json FILE PATH[=VALUE]...")
	}
	var doc any
	dec := json.NewDecoder(strings.NewReader(ts.ReadFile(args[0])))
	ts.Check(dec.Decode(&doc))
	if dec.More() {
		ts.Fatalf("more than one JSON document in %s", args[0])
	}
	for _, want := range args[1:] {
		path, value, compare := strings.Cut(want, "=")
		got, ok := lookup(doc, path)
		switch {
		case !ok && !neg:
			ts.Fatalf("%s: there is no %s", args[0], path)
		case ok && neg && !compare:
			ts.Fatalf("%s: there is a %s", args[0], path)
		case compare && (fmt.Sprint(got) == value) == neg:
			ts.Fatalf("%s: %s is %v", args[0], path, got)
		}
	}
}

// lookup follows a path of names and indexes.
func lookup(doc any, path string) (any, bool) {
	for name := range strings.SplitSeq(path, ".") {
		switch x := doc.(type) {
		case map[string]any:
			v, ok := x[name]
			if !ok {
				return nil, false
			}
			doc = v
		case []any:
			i, err := strconv.Atoi(name)
			if err != nil || i >= len(x) {
				return nil, false
			}
			doc = x[i]
		default:
			return nil, false
		}
	}
	return doc, true
}
