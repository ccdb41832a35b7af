//go:build unix

package session

import (
	"os/exec"
	"syscall"
)

// separate lets a program run in a group of its own: Ctrl-C at a terminal is for winnow,
// which then ends the program with all that it started.
func separate(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
}
