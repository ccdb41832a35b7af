//go:build unix

package ptytest

import (
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"
)

// failure is a test that keeps what it is told.
type failure struct {
	*testing.T
	text string
}

func (f *failure) Fatalf(format string, args ...any) { f.text = fmt.Sprintf(format, args...) }

// A command that does not do what is waited for tells where it is.
func TestStuck(t *testing.T) {
	if os.Getenv("PTYTEST_HANG") != "" {
		hangs()
	}
	cmd := exec.Command(os.Args[0], "-test.run=^TestStuck$")
	cmd.Env = append(os.Environ(), "PTYTEST_HANG=1")
	f := &failure{T: t}
	tt := Start(f, 80, 24, cmd)
	tt.WaitFor("here")
	tt.failStuck("waited for %s in vain", "Godot")
	for _, want := range []string{"waited for Godot in vain", "here", "goroutine ", "ptytest.hangs("} {
		if !strings.Contains(f.text, want) {
			t.Errorf("%q is not in the message:\n%s", want, f.text)
		}
	}
}

// hangs waits for a key that nobody presses. Waiting for a channel would not do:
// Go ends a program in which nothing can happen any more, and prints its stacks
// over what stood on the screen.
func hangs() {
	fmt.Println("here")
	_, _ = os.Stdin.Read(make([]byte, 1))
}
