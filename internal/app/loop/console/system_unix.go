//go:build unix

package console

import (
	"os"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// stopSelf stops the program until a shell continues it.
func stopSelf() { _ = syscall.Kill(0, syscall.SIGTSTP) }

// typedAhead returns the lines that were entered before the terminal is taken over.
// Afterwards their ends would be the key that starts a new line.
func typedAhead(in *os.File) (lines []string) {
	buf := make([]byte, 4096)
	for len(lines) < 16 {
		ready := []unix.PollFd{{Fd: int32(in.Fd()), Events: unix.POLLIN}}
		if n, err := unix.Poll(ready, 0); n < 1 || err != nil || ready[0].Revents&unix.POLLIN == 0 {
			break
		}
		n, err := in.Read(buf) // one line
		if err != nil {
			break
		}
		if line := strings.TrimRight(string(buf[:n]), "\n"); line != "" {
			lines = append(lines, line)
		}
	}
	return lines
}
