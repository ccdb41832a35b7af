//go:build !unix

package tools

import "os/exec"

// alone leaves the command as it is: a system without process groups ends only the
// command itself.
func alone(*exec.Cmd) {}
