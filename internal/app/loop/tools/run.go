package tools

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"time"
)

// How long a command may run where the model does not say, and the longest that it may
// ask for.
const (
	usualTimeout = 2 * time.Minute
	maxTimeout   = 10 * time.Minute
)

func (b *Box) lookRun(in *arguments) (Action, error) {
	if strings.TrimSpace(in.Command) == "" {
		return Action{}, errors.New("the argument command is missing")
	}
	timeout := usualTimeout
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
	cmd.Dir = b.root.Name()
	cmd.Env = append(os.Environ(), "TERM=dumb", "PAGER=cat", "GIT_PAGER=cat")
	var out output
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
	case out.Len() >= maxOutput:
		return text, fmt.Errorf("[stopped after %d bytes of output; print less]", out.Len())
	case errors.As(err, &exit):
		return text, fmt.Errorf("[%s]", strings.Replace(exit.ProcessState.String(), "exit status", "exit code", 1))
	case errors.Is(err, exec.ErrWaitDelay): // it left something running that holds its output
		return text + "\n[it left processes running, which were not waited for]", nil
	case err != nil:
		return text, fmt.Errorf("the command could not be run: %w", err)
	}
	return text, nil
}

// maxOutput is as much as a command may print.
const maxOutput = 16 << 20

// output holds what a command prints. A command that prints too much loses its pipe.
type output struct{ bytes.Buffer }

func (o *output) Write(p []byte) (int, error) {
	if o.Len() >= maxOutput {
		return 0, errors.New("too much output")
	}
	return o.Buffer.Write(p)
}
