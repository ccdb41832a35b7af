//go:build unix

package app

import (
	"context"
	"fmt"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/winnow-llm/winnow/chat"
	"github.com/winnow-llm/winnow/internal/kit/providersim"
	"github.com/winnow-llm/winnow/session"
	"github.com/winnow-llm/winnow/session/jsonl"
)

// talk is a conversation in a real terminal with a simulated provider on a
// local port.
type talk struct {
	*terminal
	t     *testing.T
	store string
	dir   string
	env   []string
	args  []string
}

// newTalk prepares one. The agent answers as the options say.
func newTalk(t *testing.T, o providersim.Options, args ...string) *talk {
	t.Helper()
	if o.Window == 0 {
		o.Window = 1 << 21
	}
	sim := providersim.New(o)
	srv := httptest.NewServer(sim.Handler())
	t.Cleanup(func() {
		sim.Close()
		srv.Close()
	})
	k := &talk{t: t, store: filepath.Join(t.TempDir(), "store") + "/", dir: t.TempDir()}
	k.env = append(os.Environ(), "TERM=xterm-256color", "HOME="+t.TempDir(), "XDG_CONFIG_HOME="+t.TempDir(),
		"OPENAI_API_KEY=k-123456", "OPENAI_BASE_URL="+srv.URL+"/v1", "NO_COLOR=")
	k.args = append([]string{"loop", "--model", "openai/gpt-4.1", "--store", k.store}, args...)
	for name, text := range map[string]string{"a.txt": "alpha\n", "b.txt": "beta\n"} {
		if err := os.WriteFile(filepath.Join(k.dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return k
}

// start runs the command.
func (k *talk) start(cols, rows int, more ...string) *talk {
	k.t.Helper()
	cmd := exec.Command("winnow", append(k.args[:len(k.args):len(k.args)], more...)...)
	cmd.Env, cmd.Dir = k.env, k.dir
	k.terminal = startTerminal(k.t, cols, rows, cmd)
	k.WaitFor("/help lists the commands")
	k.ready()
	return k
}

// ready waits until nothing runs.
func (k *talk) ready() {
	k.t.Helper()
	k.Until("the prompt", func(s string) bool { return strings.HasSuffix(strings.TrimSpace(s), "\n>") })
}

// enter types a line and enters it.
func (k *talk) enter(line string) {
	k.t.Helper()
	k.Send(line, keyEnter)
}

// ask enters a line at the prompt, and waits until its answer stands below it and
// nothing runs.
func (k *talk) ask(line, want string) {
	k.t.Helper()
	before := k.Output()
	k.enter(line)
	k.Until(want, func(s string) bool {
		at := strings.LastIndex(s, "> "+line+"\n")
		return at >= 0 && k.Output() > before && strings.Contains(s[at:], want)
	})
	k.ready()
}

// interrupt cancels what runs and waits until that is done.
func (k *talk) interrupt() {
	k.t.Helper()
	before := strings.Count(k.Screen(), "interrupted")
	k.Send(keyCtrlC)
	k.Until("the interruption", func(s string) bool { return strings.Count(s, "interrupted") > before })
	k.ready()
}

// running is the pipe in the agent's folder in which a program says that it runs.
const running = "running"

// awaitRunning waits until a program of the agent has begun. Before that the terminal's
// Ctrl-C may end it instead of winnow.
func (k *talk) awaitRunning() {
	k.t.Helper()
	if _, err := os.ReadFile(filepath.Join(k.dir, running)); err != nil {
		k.t.Fatal(err)
	}
}

// leave ends the conversation at its prompt, and checks terminal and session.
func (k *talk) leave() chat.History {
	k.t.Helper()
	k.Send(keyCtrlD)
	return k.over(0)
}

// over waits for the end, and checks terminal and session.
func (k *talk) over(code int) chat.History {
	k.t.Helper()
	if got := k.Wait(); got != code {
		k.t.Errorf("exit code %d, want %d; the screen:\n%s", got, code, k.Screen())
	}
	k.CheckSane()
	return k.history()
}

// history opens the newest session and checks that it is whole.
func (k *talk) history() chat.History {
	k.t.Helper()
	store, err := jsonl.Open(k.store, nil)
	if err != nil {
		k.t.Fatal(err)
	}
	defer store.Close()
	list, err := store.List(k.t.Context(), 0, 1)
	if err != nil || len(list) == 0 {
		k.t.Fatalf("%d sessions, %v", len(list), err)
	}
	s, err := session.Open(context.Background(), store, list[0].ID, nil)
	if err != nil {
		k.t.Fatal(err)
	}
	defer s.Close()
	c, err := s.Context()
	if err != nil {
		k.t.Fatal(err)
	}
	h := c.Request.History
	for _, p := range chat.AllDialects().Check(h) {
		k.t.Errorf("the session breaks %s at %d: %s", p.Rule, p.At, p.Message)
	}
	return h
}

// lastText is what a history ends with.
func lastText(h chat.History) string {
	if h.Len() == 0 {
		return ""
	}
	m := h.At(h.Len() - 1)
	if t := m.Text(); t != "" {
		return t
	}
	return m.Parts[0].Text
}

// agent answers what a model is asked.
type agent func(*providersim.Ask) []providersim.Block

func says(text string) []providersim.Block {
	return []providersim.Block{{Kind: providersim.Text, Text: text}}
}

// always gives the same answer.
func always(text string) agent {
	return func(*providersim.Ask) []providersim.Block { return says(text) }
}

func callsTool(name, args string) []providersim.Block {
	return []providersim.Block{{Kind: providersim.Call, Name: name, Args: args}}
}

// story is a long answer in which every word can be told from the others.
func longAnswer(words int) string {
	var b strings.Builder
	for i := range words {
		fmt.Fprintf(&b, "word%d ", i)
	}
	return strings.TrimSpace(b.String())
}

// someWords waits until a long answer is under way. Which words stand on the
// screen by then depends on the machine.
func (k *talk) someWords() {
	k.Until("some words", func(s string) bool { return strings.Count(s, "word") > 3 })
}

// begun lets long answers begin and not go on: they end when the client does not
// want them any more, or with the simulator.
func begun(_ *providersim.Ask, event int) <-chan struct{} {
	if event > 100 {
		return make(chan struct{})
	}
	return nil
}

// An answer streams in; a line that is entered meanwhile waits its turn, and one that
// ends in a backslash goes on, as does what begins with three quotes.
func TestLoopStreams(t *testing.T) {
	t.Parallel()
	words := make(chan struct{}, 20) // events that may be sent, some words each
	k := newTalk(t, providersim.Options{
		Agent: func(a *providersim.Ask) []providersim.Block {
			if strings.Contains(a.LastText, "line") {
				return says("The other answer.")
			}
			return says(longAnswer(500))
		},
		Hold: func(*providersim.Ask, int) <-chan struct{} { return words },
	}).start(80, 24)
	for range cap(words) {
		words <- struct{}{}
	}
	k.enter("tell me a story")
	k.someWords()
	if strings.Contains(k.Screen(), "word499") {
		t.Error("the answer came at once")
	}
	k.enter(`the second\`)
	k.enter("line")
	k.WaitFor("queued: the second line")
	k.enter(`"""a third:`)
	k.enter("line two, pasted")
	k.enter(`"""`)
	k.WaitFor("queued: a third: line two, pasted")
	close(words) // all of them
	k.Until("both answers", func(s string) bool { return strings.Count(s, "The other answer.") == 2 })
	k.ready()
	h := k.leave()
	if h.Len() != 6 || h.At(1).Text() != longAnswer(500) || h.At(2).Text() != "the second\nline" || h.At(4).Text() != "a third:\nline two, pasted" {
		t.Errorf("%d messages, the last says %q", h.Len(), lastText(h))
	}
	if !strings.Contains(k.Screen(), "to continue: winnow loop --session ") {
		t.Errorf("the screen:\n%s", k.Screen())
	}
}

// Every command does what it says, and the viewer gives the terminal back.
func TestLoopCommands(t *testing.T) {
	t.Parallel()
	k := newTalk(t, providersim.Options{Agent: always(strings.Repeat("Words about the parser. ", 40))},
		"--window", "4000", "--disable-compaction").start(100, 50)
	k.ask("/help", "/model [NAME]")
	for range 6 {
		k.ask("What about the parser?", "Words about")
	}
	for _, step := range [][2]string{
		{"/context", "tokens for input"},
		{"/pin", "pinned "},
		{"/unpin", "no longer pinned"},
		{"/auto on", "automatic compaction is on"},
		{"/auto off", "automatic compaction is off"},
		{"/model", "openai/gpt-4.1 answers"},
		{"/compact the parser", "compacted "},
		{"/undo", "is undone"},
		{"/nonsense", "there is no command /nonsense"},
		{"/retry", "nothing to ask again"},
	} {
		k.ask(step[0], step[1])
	}
	k.enter("/tree")
	k.Until("the viewer", func(string) bool { return k.AltScreen() })
	k.WaitFor("What about the parser")
	k.Send("q")
	k.Until("the viewer gone", func(string) bool { return !k.AltScreen() })
	k.ready()
	for _, step := range [][2]string{
		{"And after the viewer?", "Words about"},
		{"/model sim", "sim answers from now on"},
		{"hi", "simulated model"},
		{"/model nobody/x", "does not name a provider"},
	} {
		k.ask(step[0], step[1])
	}
	k.enter("/quit")
	k.over(0)
}

// interruption is a way to break a conversation off.
type interruption struct {
	name  string
	agent agent // the default says that all is fine
	args  []string
	hook  string
	run   func(k *talk)
	left  bool // by run itself
	check func(t *testing.T, h chat.History)
}

// endsWith checks what a history ends with.
func endsWith(start, end string) func(*testing.T, chat.History) {
	return func(t *testing.T, h chat.History) {
		t.Helper()
		if got := lastText(h); !strings.HasPrefix(got, start) || !strings.HasSuffix(got, end) {
			t.Errorf("the last message is kept as %.60q… (%d bytes), want it to start with %q and to end with %q", got, len(got), start, end)
		}
	}
}

// answered checks what the first call is answered with.
func answered(want string) func(*testing.T, chat.History) {
	return func(t *testing.T, h chat.History) {
		t.Helper()
		if got := h.At(2).Parts[0].Text; got != want {
			t.Errorf("the call's answer is %q, want %q", got, want)
		}
	}
}

// messages checks how many messages there are.
func messages(want int) func(*testing.T, chat.History) {
	return func(t *testing.T, h chat.History) {
		t.Helper()
		if h.Len() != want {
			t.Errorf("%d messages, want %d", h.Len(), want)
		}
	}
}

// What stands behind an answer that was interrupted.
const cutOff = "[The user interrupted this answer.]"

// Ctrl-C at every stage: what runs is cancelled, the session stays whole and
// the terminal sane.
func TestLoopInterrupt(t *testing.T) {
	t.Parallel()
	for _, c := range []interruption{
		{
			name: "prompt",
			run: func(k *talk) {
				k.Send("half a line", keyCtrlC)
				k.WaitFor("Ctrl-C again to leave")
				k.ready()
				k.ask("/auto", "automatic compaction is on") // a line between them
				k.Send(keyCtrlC)
				k.Until("a second notice", func(s string) bool { return strings.Count(s, "again to leave") == 2 })
				k.ready()
				k.ask("hello", "Fine.")
				k.Send(keyCtrlC)
				k.Until("a third notice", func(s string) bool { return strings.Count(s, "again to leave") == 3 })
				k.Send(keyCtrlC)
			},
			left: true,
			check: func(t *testing.T, h chat.History) {
				if h.Len() != 2 || h.At(0).Text() != "hello" {
					t.Errorf("%d messages", h.Len())
				}
			},
		},
		{
			name:  "streaming",
			agent: always(longAnswer(5000)),
			run: func(k *talk) {
				k.enter("go")
				k.someWords()
				k.interrupt()
			},
			check: endsWith("word0 word1 ", cutOff),
		},
		{
			name:  "leaving while it streams",
			agent: always(longAnswer(5000)),
			run: func(k *talk) {
				k.enter("go")
				k.someWords()
			},
			check: endsWith("", cutOff),
		},
		{
			name:  "confirmation",
			agent: once(callsTool("run", `{"command":"echo no > made.txt"}`)),
			run: func(k *talk) {
				k.enter("go")
				k.WaitFor("allow it?")
				k.enter("perhaps")
				k.WaitFor("please answer y, n or a")
				k.interrupt()
				k.ask("and now?", "Fine.")
			},
			check: answered("Not run: the user interrupted."),
		},
		{
			name:  "refusal",
			agent: once(callsTool("write_file", `{"path":"made.txt","content":"x"}`)),
			run: func(k *talk) {
				k.enter("go")
				k.WaitFor("allow it?")
				k.enter("n")
				k.WaitFor("Fine.")
				k.ready()
			},
			check: answered("Not run: the user does not allow this call. Do without it, or ask the user what to do instead."),
		},
		{
			name:  "tool",
			agent: once(callsTool("run", `{"command":"echo > running; sleep 300"}`)),
			run: func(k *talk) {
				k.enter("go")
				k.WaitFor("allow it?")
				k.enter("y")
				k.WaitFor("sleep 300… Ctrl-C cancels")
				k.awaitRunning()
				k.interrupt()
				k.Send(keyCtrlC) // what cancels something is not the first of two that leave
				k.WaitFor("Ctrl-C again to leave")
				k.ready()
			},
			check: endsWith("", "[cancelled by the user]"),
		},
		{
			name:  "compacting",
			agent: always(strings.Repeat("Words about the parser. ", 60)),
			args:  []string{"--window", "3000", "--disable-compaction"},
			// The terminal's Ctrl-C must not end the hook before the turn.
			hook: "hooks:\n  - on: before_compact\n    run: [sh, -c, 'echo > running; sleep 300']\n    timeout: 5m\n",
			run: func(k *talk) {
				for range 4 {
					k.ask("go on", "Words about")
				}
				k.enter("/compact")
				k.WaitFor("compacting…")
				k.awaitRunning()
				k.interrupt()
				k.ask("/auto on", "compaction is on")
				k.enter("go on")
				k.Until("the second compaction", func(s string) bool { return strings.Count(s, "compacting…") == 2 })
				k.WaitFor("compaction follows")
				k.awaitRunning()
				k.interrupt()
			},
			check: messages(10),
		},
	} {
		t.Run(strings.ReplaceAll(c.name, " ", "_"), func(t *testing.T) {
			t.Parallel()
			if c.agent == nil {
				c.agent = always("Fine.")
			}
			k := newTalk(t, providersim.Options{Agent: c.agent, Hold: begun}, c.args...)
			if c.hook != "" {
				file := filepath.Join(t.TempDir(), "settings.yaml")
				if err := os.WriteFile(file, []byte(c.hook), 0o600); err != nil {
					t.Fatal(err)
				}
				k.args = append(k.args, "--config", file)
			}
			if err := syscall.Mkfifo(filepath.Join(k.dir, running), 0o600); err != nil {
				t.Fatal(err)
			}
			k.start(80, 100)
			c.run(k)
			if !c.left {
				k.Send(keyCtrlD)
			}
			c.check(t, k.over(0))
			if _, err := os.Stat(filepath.Join(k.dir, "made.txt")); err == nil {
				t.Error("what was not allowed was done")
			}
		})
	}
}

// once answers the first request of every turn with calls, then in words.
func once(first []providersim.Block) agent {
	return func(a *providersim.Ask) []providersim.Block {
		if a.Step == 0 && strings.Contains(a.LastText, "go") {
			return first
		}
		return says("Fine.")
	}
}

// A process that is killed leaves a session that goes on; one that is told to
// end puts the terminal in order first.
func TestLoopKilled(t *testing.T) {
	t.Parallel()
	k := newTalk(t, providersim.Options{Hold: begun, Agent: func(a *providersim.Ask) []providersim.Block {
		if strings.Contains(a.LastText, "go") {
			return says(longAnswer(5000))
		}
		return says("Fine.")
	}}).start(80, 24)
	k.ask("hello", "Fine.")
	k.enter("go")
	k.someWords()
	k.Signal(syscall.SIGKILL)
	k.Wait()
	messages(3)(t, k.history())

	k.start(80, 24, "--continue")
	k.WaitFor("the last message has no answer yet")
	k.ask("never mind", "Fine.")
	k.enter("go")
	k.someWords()
	k.Signal(syscall.SIGTERM)
	h := k.over(0)
	messages(7)(t, h)
	endsWith("", cutOff)(t, h)
}

// NO_COLOR is obeyed.
func TestLoopWithoutColour(t *testing.T) {
	t.Parallel()
	k := newTalk(t, providersim.Options{Agent: always("Fine. \x1b[31mred\x1b[0m \x1b]0;title\x07")})
	k.env = append(k.env, "NO_COLOR=1")
	k.start(80, 24)
	k.ask("hello", "Fine. [31mred") // without what would make it a colour
	k.enter("/context")
	k.WaitFor("tokens for input")
	for y, row := range k.Cells() {
		for x, c := range row {
			if c.FG != -1 || c.BG != -1 || c.Bold {
				t.Fatalf("%q at %d,%d is painted:\n%s", c.Rune, x, y, k.Screen())
			}
		}
	}
	k.leave()
}
