//go:build unix

// Command pictures draws the pictures of the README: it runs the real program in
// a pseudo-terminal and writes what stands on the screen as SVG.
//
//	go run ./internal/app/pictures docs
package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"

	"github.com/winnow-llm/winnow/internal/app/demo"
	"github.com/winnow-llm/winnow/internal/app/ptytest"
)

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "pictures: name the folder to write to")
		os.Exit(2)
	}
	if err := run(os.Args[1]); err != nil {
		fmt.Fprintln(os.Stderr, "pictures:", err)
		os.Exit(1)
	}
}

// studio is where the pictures are taken: an empty folder with the program.
type studio struct {
	dir, bin, out string
	t             *subject
}

func run(out string) (err error) {
	dir, err := os.MkdirTemp("", "pictures")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	s := &studio{dir: dir, bin: filepath.Join(dir, "winnow"), out: out, t: &subject{}}
	defer s.t.recover(&err)
	if text, err := exec.Command("go", "build", "-o", s.bin, "./cmd/winnow").CombinedOutput(); err != nil {
		return fmt.Errorf("%w: %s", err, text)
	}
	if err := os.WriteFile(filepath.Join(dir, "session.json"), demo.Session(), 0o600); err != nil {
		return err
	}
	return s.drawTree()
}

// winnowCommand returns the program with arguments, away from the settings and
// sessions of this machine's user.
func (s *studio) winnowCommand(args ...string) *exec.Cmd {
	cmd := exec.Command(s.bin, args...)
	cmd.Dir = s.dir
	cmd.Env = []string{"TERM=xterm-256color", "HOME=" + s.dir, "PATH=" + os.Getenv("PATH")}
	return cmd
}

// drawTree draws winnow tree on a session that was compacted.
func (s *studio) drawTree() error {
	text, err := s.winnowCommand("session", "import", "session.json", "--json").Output()
	if err != nil {
		return fmt.Errorf("import: %w", err)
	}
	var imported struct {
		Sessions []struct{ Session string }
	}
	if err := json.Unmarshal(text, &imported); err != nil || len(imported.Sessions) != 1 {
		return fmt.Errorf("import: %d sessions, %w", len(imported.Sessions), err)
	}
	id := imported.Sessions[0].Session
	if text, err := s.winnowCommand("session", "compact", id).CombinedOutput(); err != nil {
		return fmt.Errorf("compact: %w: %s", err, text)
	}
	term := ptytest.Start(s.t, 150, 36, s.winnowCommand("tree", id))
	term.WaitFor("? help")
	term.WaitGone("reading")
	term.WaitFor("folded") // the summary and what it stands for are side by side
	term.WaitFor(" saved") // what is drawn last
	if err := s.writePicture("tree.svg", term); err != nil {
		return err
	}
	term.Send("q")
	if code := term.Wait(); code != 0 {
		return fmt.Errorf("tree: exit code %d", code)
	}
	return nil
}

func (s *studio) writePicture(name string, term *ptytest.Terminal) error {
	return os.WriteFile(filepath.Join(s.out, name), drawSVG(term.Cells()), 0o644)
}

// subject is told when something does not appear on the screen. It stands in
// for a test.
type subject struct{ cleanups []func() }

type failed struct{ error }

func (*subject) Helper() {}

func (s *subject) Cleanup(f func()) { s.cleanups = append(s.cleanups, f) }

func (s *subject) Errorf(format string, args ...any) { s.Fatalf(format, args...) }

func (*subject) Fatalf(format string, args ...any) { panic(failed{fmt.Errorf(format, args...)}) }

func (s *subject) recover(err *error) {
	var f failed
	switch r := recover().(type) {
	case nil:
	case failed:
		f = r
		*err = errors.Join(*err, f.error)
	default:
		panic(r)
	}
	for _, f := range s.cleanups {
		f()
	}
}
