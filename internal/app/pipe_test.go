package app

import (
	"bytes"
	"io"
	"os"
	"os/exec"
	"strings"
	"testing"
)

// The reader of a command's output may stop: "winnow check FILE | head -1" says
// nothing about that, on any system.
func TestClosedPipeIsQuiet(t *testing.T) {
	t.Chdir(isolate(t))
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	r.Close() // before the command prints a line
	defer w.Close()
	program, err := exec.LookPath("winnow")
	if err != nil {
		t.Fatal(err)
	}
	var stderr bytes.Buffer
	cmd := exec.Command(program, "models", "claude-sonnet-4-5")
	cmd.Stdout, cmd.Stderr = w, &stderr
	if err := cmd.Run(); err == nil || strings.Contains(stderr.String(), "winnow:") {
		t.Errorf("%v: %s", err, stderr.String())
	}
}

// The same where the signal that would end the program is ignored.
func TestClosedPipeWithoutSignal(t *testing.T) {
	t.Chdir(isolate(t))
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	r.Close()
	defer w.Close()
	var stderr bytes.Buffer
	// The pipe is neither 1 nor 2 of this process, so that no signal comes.
	if code := Run([]string{"models", "claude-sonnet-4-5"}, strings.NewReader(""), io.Writer(w), &stderr); code != exitFailed || stderr.Len() > 0 {
		t.Errorf("exit %d: %s", code, stderr.String())
	}
}
