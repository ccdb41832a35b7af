package tools

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"sync"
	"time"
)

const runSchema = `{"type":"object","properties":{"command":{"type":"string"},"timeout_seconds":{"type":"integer","minimum":1,"maximum":600}},"required":["command"]}`

// maxTimeout is the longest that a model may ask for.
const maxTimeout = 10 * time.Minute

func (b *Box) lookRun(args string) (Action, error) {
	in, err := parseArgs[struct {
		Command string
		Timeout int `json:"timeout_seconds"`
	}](args)
	if err != nil {
		return Action{}, err
	}
	if strings.TrimSpace(in.Command) == "" {
		return Action{}, errors.New("the argument command is missing")
	}
	timeout := b.o.Timeout
	if in.Timeout > 0 {
		timeout = min(time.Duration(in.Timeout)*time.Second, maxTimeout)
	}
	return Action{
		Need: Run, Title: "run " + in.Command,
		run: func(ctx context.Context) (string, error) { return b.runShell(ctx, in.Command, timeout) },
	}, nil
}

// runShell runs a command in a session of its own, without a terminal, so that it
// can neither wait for input nor change how the person's terminal behaves.
func (b *Box) runShell(ctx context.Context, command string, timeout time.Duration) (string, error) {
	late, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	cmd := exec.CommandContext(late, "sh", "-c", command)
	cmd.Dir = b.root
	cmd.Env = append(os.Environ(), "TERM=dumb", "PAGER=cat", "GIT_PAGER=cat")
	var out tape
	cmd.Stdout, cmd.Stderr = &out, &out
	alone(cmd)
	cmd.WaitDelay = 2 * time.Second
	err := cmd.Run()
	text := out.String()
	var exit *exec.ExitError
	switch {
	case ctx.Err() != nil:
		return text, errors.New("[cancelled by the user]")
	case late.Err() != nil:
		return text, fmt.Errorf("[stopped after %v; ask for a longer timeout, or do less]", timeout)
	case errors.As(err, &exit):
		return text, fmt.Errorf("[%s]", strings.Replace(exit.ProcessState.String(), "exit status", "exit code", 1))
	case errors.Is(err, exec.ErrWaitDelay): // it left something running that holds its output
		return text + "\n[it left processes running, which were not waited for]", nil
	case err != nil:
		return text, fmt.Errorf("the command could not be run: %w", err)
	}
	return text, nil
}

// tapeHalf is as much as is kept of either end of an output.
const tapeHalf = 1 << 20

// tape keeps the beginning and the end of what is written to it.
type tape struct {
	mu         sync.Mutex
	head, tail []byte
	lost       int
}

func (t *tape) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	k := min(len(p), tapeHalf-len(t.head))
	t.head, t.tail = append(t.head, p[:k]...), append(t.tail, p[k:]...)
	if len(t.tail) > 2*tapeHalf { // not with every write, which would copy too much
		t.cut()
	}
	return len(p), nil
}

// cut forgets what lies between the two ends.
func (t *tape) cut() {
	over := max(0, len(t.tail)-tapeHalf)
	t.lost += over
	t.tail = t.tail[:copy(t.tail, t.tail[over:])]
}

func (t *tape) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.cut()
	gap := ""
	if t.lost > 0 {
		gap = fmt.Sprintf("\n[%d bytes left out]\n", t.lost)
	}
	return string(t.head) + gap + string(t.tail)
}
