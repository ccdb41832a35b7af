//go:build unix

package tools

import (
	"os/exec"
	"syscall"
)

// alone gives a command a session of its own and ends all of it when its
// context does.
func alone(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
}
