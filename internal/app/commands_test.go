package app

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"github.com/winnow-llm/winnow/internal/app/show"
	"github.com/winnow-llm/winnow/internal/app/spelling"
)

// eachCommand visits every command that people see, and every topic.
func eachCommand(cmd *cobra.Command, f func(*cobra.Command)) {
	f(cmd)
	for _, c := range cmd.Commands() {
		if c.IsAvailableCommand() || c.IsAdditionalHelpTopicCommand() {
			eachCommand(c, f)
		}
	}
}

func testApp() *app {
	return &app{stdin: strings.NewReader(""), stdout: &bytes.Buffer{}, stderr: &bytes.Buffer{}, getenv: os.Getenv, environ: os.Environ}
}

// TestEveryCommand checks what a person may expect of any command: its help
// begins with an example and fits on a terminal, its flags are explained, and
// programs get the help, or the complaint about missing arguments, as one JSON
// document.
func TestEveryCommand(t *testing.T) {
	t.Parallel()
	eachCommand(testApp().rootCommand(), func(cmd *cobra.Command) {
		t.Run(cmd.CommandPath(), func(t *testing.T) {
			if cmd.Short == "" || strings.HasSuffix(cmd.Short, ".") || len(cmd.Short) > 70 {
				t.Errorf("Short is %q: a line without a full stop, at most 70 characters", cmd.Short)
			}
			if !strings.HasPrefix(cmd.Example, "  winnow ") {
				t.Errorf("Example is %q: lines that start with two blanks and winnow", cmd.Example)
			}
			cmd.LocalFlags().VisitAll(func(f *pflag.Flag) { checkFlag(t, f) })
			args := append([]string{"help"}, strings.Fields(cmd.CommandPath())[1:]...)
			code, stdout, stderr := command(t, "", args...)
			if code != exitDone || !strings.HasPrefix(stdout, cmd.Example) {
				t.Errorf("exit %d: %s; the help does not begin with the example:\n%.200s", code, stderr, stdout)
			}
			for line := range strings.Lines(stdout) {
				if n := ansi.StringWidth(strings.TrimRight(line, "\n")); n > 100 && !strings.Contains(line, "--") {
					t.Errorf("a line of %d columns: %s", n, line)
				}
			}
			code, stdout, _ = command(t, "", append(args, "--json")...)
			var doc commandHelp
			if err := json.Unmarshal([]byte(stdout), &doc); err != nil || code != exitDone || doc.Command != cmd.CommandPath() || doc.Text == "" && cmd.IsAdditionalHelpTopicCommand() {
				t.Errorf("exit %d: %v\n%.300s", code, err, stdout)
			}
			if cmd.Args != nil && cmd.Args(cmd, nil) != nil {
				missingArguments(t, cmd)
			}
		})
	})
}

func checkFlag(t *testing.T, f *pflag.Flag) {
	t.Helper()
	word, usage := pflag.UnquoteUsage(f)
	if usage == "" || strings.HasSuffix(usage, ".") {
		t.Errorf("--%s is explained by %q", f.Name, f.Usage)
	}
	if f.Value.Type() != "bool" && !strings.Contains(f.Usage, "`") {
		t.Errorf("--%s: its value is called %q; name it in the usage, between backquotes", f.Name, word)
	}
}

// missingArguments runs a command that needs arguments without any.
func missingArguments(t *testing.T, cmd *cobra.Command) {
	t.Helper()
	code, stdout, stderr := command(t, "", append(strings.Fields(cmd.CommandPath())[1:], "--json")...)
	var doc struct{ Error show.Failure }
	if err := json.Unmarshal([]byte(stdout), &doc); err != nil || code != exitUsage || doc.Error.Code != "usage" {
		t.Errorf("without arguments: exit %d, %v: %s", code, err, stdout)
	}
	if !strings.Contains(stderr, "winnow help"+strings.TrimPrefix(cmd.CommandPath(), "winnow")) {
		t.Errorf("without arguments: %q does not say where to read on", stderr)
	}
}

// TestManPages formats every page, where there is something that can, and
// takes no warning for an answer.
func TestManPages(t *testing.T) {
	dir := filepath.Join(isolate(t), "man1")
	if code, _, stderr := command(t, "", "man", dir); code != exitDone {
		t.Fatal(stderr)
	}
	files, err := filepath.Glob(filepath.Join(dir, "*.1"))
	if err != nil {
		t.Fatal(err)
	}
	want := 0
	eachCommand(testApp().rootCommand(), func(*cobra.Command) { want++ })
	if len(files) != want || want < 20 {
		t.Errorf("%d pages for %d commands and topics", len(files), want)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, section := range []string{".TH ", ".SH NAME\n", ".SH EXAMPLES\n", ".SH DESCRIPTION\n", ".SH SEE ALSO\n"} {
			if !strings.Contains(string(text), section) {
				t.Errorf("%s has no %q", filepath.Base(file), section)
			}
		}
		if strings.Count(string(text), ".SH DESCRIPTION\n") != 1 || strings.Index(string(text), ".SH EXAMPLES\n") > strings.Index(string(text), ".SH DESCRIPTION\n") {
			t.Errorf("%s does not show examples first, then one description", filepath.Base(file))
		}
	}
	checker := []string{"mandoc", "-T", "lint", "-W", "error"}
	if _, err := exec.LookPath("mandoc"); err != nil {
		if checker = []string{"groff", "-man", "-ww", "-K", "utf8", "-T", "utf8", "-z"}; !installed("groff") {
			t.Skip("neither mandoc nor groff is installed: the pages are written, but not formatted")
		}
	}
	out, err := exec.Command(checker[0], append(checker[1:], files...)...).CombinedOutput()
	if err != nil || len(out) > 0 {
		t.Errorf("%s: %v\n%s", checker[0], err, out)
	}
}

func installed(name string) bool {
	_, err := exec.LookPath(name)
	return err == nil
}

// TestNearest checks what is taken for a slip and what is not.
func TestNearest(t *testing.T) {
	names := []string{"check", "compact", "plan", "recall", "validate", "config"}
	for word, want := range map[string]string{
		"chek": "check", "chekc": "check", "Compact": "compact", "comp": "compact", "valid": "validate", "pln": "plan",
		"xyzzy": "", "": "", "q": "", "session.jsonl": "",
	} {
		if got := spelling.Nearest(word, names); got != want {
			t.Errorf("spelling.Nearest(%q) = %q, want %q", word, got, want)
		}
	}
}

// A plan without an id is checked against the history as every other one was when
// it was made, so that a plan which somebody changed and took the id from is not
// applied.
func TestPlanWithoutAnID(t *testing.T) {
	run := at(t)
	body, _ := exchanges(30, 2000)
	put1(t, "chat.json", body)
	run("compact", "chat.json", "--window", "9000", "--force", "--plan", "plan.json", "--out", "view.json")
	data, err := os.ReadFile("plan.json")
	if err != nil {
		t.Fatal(err)
	}
	var made struct {
		Prefix string `json:"prefix"`
		Len    int    `json:"len"`
	}
	if err := json.Unmarshal(data, &made); err != nil {
		t.Fatal(err)
	}
	apply := func(from, to int) (int, string) {
		put1(t, "hand.json", fmt.Sprintf(`{"winnow_plan":2,"prefix":%q,"len":%d,"edits":[{"kind":"fold","from":%d,"to":%d,"part":-1,"text":"told"}]}`, made.Prefix, made.Len, from, to))
		code, _, stderr := command(t, "", "plan", "apply", "hand.json", "chat.json", "--out", "hand.view.json")
		return code, stderr
	}
	if code, stderr := apply(0, 2); code == exitDone || !strings.Contains(stderr, "splits an exchange") {
		t.Errorf("half an exchange is folded: %d %s", code, stderr)
	}
	if code, stderr := apply(0, 3); code != exitDone {
		t.Errorf("a sound plan is refused: %s", stderr)
	}
}
