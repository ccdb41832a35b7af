//go:build unix

package app

import (
	"fmt"
	"os/exec"
	"strings"
	"testing"
)

func shell(t *testing.T, script string) *terminal {
	t.Helper()
	return startTerminal(t, 40, 6, exec.Command("sh", "-c", script))
}

// What a command prints stands on the screen, its exit code comes back, and a
// terminal that nobody touched is sane.
func TestCommand(t *testing.T) {
	term := shell(t, `printf 'size '; stty size; read x; echo "got $x"; exit 3`)
	term.WaitFor("size 6 40")
	term.Send("hello", keyEnter)
	term.WaitFor("got hello")
	if code := term.Wait(); code != 3 {
		t.Errorf("exit code %d, want 3", code)
	}
	term.CheckSane()
}

// A resize reaches the command.
func TestResize(t *testing.T) {
	term := shell(t, `trap 'stty size' WINCH; echo ready; while :; do sleep 0.05; done`)
	term.WaitFor("ready")
	term.Resize(100, 30)
	term.WaitFor("30 100")
	if n := len(term.Cells()); n != 30 {
		t.Errorf("%d lines on the screen, want 30", n)
	}
}

// Wide characters take two cells, marks that combine take none, tabs and
// repetitions arrive where they belong, colours can be read.
func TestScreen(t *testing.T) {
	term := shell(t, `printf 'a\tb\r\n世x\r\n-\033[3bend\r\n\033[31mred\033[0m \033[1mbold\033[0m \033[7mrev\033[0m\033[>4;2m\033[?u\033]0;title\007'; echo '|ok'`)
	term.WaitFor("|ok")
	want := "a       b\n世x\n----end\nred bold rev|ok\n"
	if got := term.Screen(); !strings.HasPrefix(got, want) {
		t.Errorf("screen:\n%s\nwant:\n%s", got, want)
	}
	cells := term.Cells()
	for _, c := range []struct {
		x, y int
		want screenCell
	}{
		{0, 1, screenCell{Rune: '世', FG: -1, BG: -1}},
		{1, 1, screenCell{Rune: 0, FG: -1, BG: -1}},
		{2, 1, screenCell{Rune: 'x', FG: -1, BG: -1}},
		{0, 3, screenCell{Rune: 'r', FG: 1, BG: -1}},
		{4, 3, screenCell{Rune: 'b', FG: -1, BG: -1, Bold: true}},
		{9, 3, screenCell{Rune: 'r', FG: 0, BG: 7}},
	} {
		if got := cells[c.y][c.x]; got != c.want {
			t.Errorf("cell %d,%d is %+v, want %+v", c.x, c.y, got, c.want)
		}
	}
}

// Whatever a command leaves behind is found.
func TestInsane(t *testing.T) {
	for _, c := range []struct{ script, want string }{
		{`printf '\033[?1049h'`, "alternate screen"},
		{`printf '\033[?25l'`, "cursor is hidden"},
		{`printf '\033[?2004h'`, "mode 2004"},
		{`printf '\033[?1002h\033[?1006h'`, "mode 1006"},
		{`printf '\033[>1u'`, "keyboard protocol"},
		{`printf '\033[31m'`, "colours"},
		{`stty raw -echo`, "settings"},
		{`printf '\033[?1049h\033[?25l\033[?2004h\033[>1u\033[<u\033[?2004l\033[?25h\033[?1049l'`, ""},
	} {
		t.Run(c.want, func(t *testing.T) {
			wrong := strings.Join(shell(t, c.script).Insane(), "; ")
			if (wrong == "") != (c.want == "") || !strings.Contains(wrong, c.want) {
				t.Errorf("%s: found %q, want %q", c.script, wrong, c.want)
			}
		})
	}
}

// A paste is marked where the command asked for it, and not elsewhere.
func TestPaste(t *testing.T) {
	for mode, want := range map[string]string{"h": "^[[200~text^[[201~", "l": "text"} {
		term := shell(t, fmt.Sprintf(`printf '\033[?2004%sready'; cat -v`, mode))
		term.WaitFor("ready")
		term.Paste("text")
		term.WaitFor("ready" + want)
		term.Send(keyEnter) // what cat prints shows that it is there to be interrupted
		term.Until("what was pasted, twice", func(s string) bool { return strings.Count(s, want) == 2 })
		term.Send(keyCtrlC)
		term.Wait()
	}
}
