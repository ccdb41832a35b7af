//go:build unix

package app

import (
	"os"
	"os/exec"
	"syscall"
	"testing"
)

// A gateway or a simulator started by hand says what to do with it.
func TestServersSayWhatIsNext(t *testing.T) {
	dir := isolate(t)
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"serve", "--listen", "127.0.0.1:0", "--upstream", "anthropic=http://127.0.0.1:1"}, "point programs here with ANTHROPIC_BASE_URL=http://127.0.0.1:"},
		{[]string{"sim", "--listen", "127.0.0.1:0"}, "winnow serve --upstream openai=http://127.0.0.1:"},
	} {
		cmd := exec.Command("winnow", c.args...)
		cmd.Env = append(os.Environ(), "TERM=xterm-256color", "XDG_DATA_HOME="+dir, "XDG_CACHE_HOME="+dir)
		term := startTerminal(t, 200, 30, cmd)
		term.WaitFor(c.want)
		term.Signal(syscall.SIGTERM)
		term.Wait()
	}
}
