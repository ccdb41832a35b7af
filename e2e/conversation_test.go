package e2e

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/winnow-llm/winnow"
	"github.com/winnow-llm/winnow/transport"
)

// agent is a client with one conversation that it sends whole with every
// request, as the SDKs' own examples do.
type agent interface {
	// say appends a user's message.
	say(text string)

	// step sends the conversation, appends the answer and the results of its
	// calls. A want other than "" is told to the simulator.
	step(ctx context.Context, want string) (reply, error)
}

// counter is an agent whose provider counts tokens.
type counter interface {
	// count asks how many tokens the conversation has.
	count(ctx context.Context) (int, error)
}

// reply is what came back.
type reply struct {
	text   string
	calls  int
	prompt int // tokens of the prompt, as reported
}

// dial is how a client reaches its provider: base is the URL without a path,
// doer nil for the SDK's own HTTP client.
type dial struct {
	base, key string
	doer      *http.Client
}

// Facts of the conversation, and the words that the answer must have.
var facts = []struct {
	word string
	want []string
}{
	{"RELEASE_CODE", []string{"KESTREL-4417"}},            // the user said so at the start
	{"QUEUE_OWNER", []string{"Grace"}},                    // the user said another name before
	{"E_LEASE_LOST", []string{"store3/worker.go", "217"}}, // stood in a tool's output
}

const asking = "Tell me what you know about it."

const (
	turns   = 12
	perTurn = 60 // requests at most
	farPast = 3  // times the window
	fixed   = 80 // tokens of the system prompt and the tool
)

// question is what the user says in a turn.
func question(turn int) string {
	text := fmt.Sprintf("Turn %d: read the files of package store%d and tell me what is wrong there.", turn, turn)
	switch turn {
	case 0:
		text += "\nRELEASE_CODE is KESTREL-4417."
	case 2:
		text += "\nQUEUE_OWNER is Ada."
	case 5:
		text += "\nQUEUE_OWNER is Grace from now on."
	}
	return text
}

// output is what the tool answers to the n-th call.
func output(n int) string {
	var b strings.Builder
	fmt.Fprintf(&b, "$ cat internal/store%d/worker.go\n", n)
	for i := range 40 {
		fmt.Fprintf(&b, "%3d  func (w *Worker) handle%d(ctx context.Context, batch []Job) error { return w.queue%d.Push(ctx, batch) }\n", i+1, n*100+i, n)
	}
	if n == 3 {
		b.WriteString("ERROR E_LEASE_LOST: lease expired at internal/store3/worker.go:217\n")
	}
	return b.String()
}

// tally is what a conversation came to.
type tally struct {
	Requests, Calls, Bytes int
	Largest                int // prompt in tokens, as the provider reported
	Answers                []string
	Counted                []count
}

// count is what a counting endpoint told, and the prompt that the provider then
// reported for the same conversation.
type count struct{ Told, Prompt int }

// converse holds the conversation. It ends at the first error.
func converse(ctx context.Context, a agent) (tally, error) {
	var y tally
	for turn := range turns {
		text := question(turn)
		y.Bytes += len(text)
		a.say(text)
		told := 0
		if c, ok := a.(counter); ok && turn%3 == 2 {
			var err error
			if told, err = c.count(ctx); err != nil {
				return y, fmt.Errorf("counting in turn %d: %w", turn, err)
			}
		}
		for i := range perTurn {
			r, err := a.step(ctx, "")
			if err != nil {
				return y, fmt.Errorf("request %d, in turn %d: %w", y.Requests, turn, err)
			}
			if told > 0 {
				y.Counted = append(y.Counted, count{told, r.prompt})
				told = 0
			}
			y.Requests++
			y.Bytes += len(r.text)
			for range r.calls {
				y.Bytes += len(output(y.Calls))
				y.Calls++
			}
			y.Largest = max(y.Largest, r.prompt)
			if r.calls == 0 {
				break
			}
			if i == perTurn-1 {
				return y, fmt.Errorf("turn %d has no end", turn)
			}
		}
	}
	for _, f := range facts {
		a.say(asking)
		r, err := a.step(ctx, "quote="+f.word)
		if err != nil {
			return y, fmt.Errorf("asking for %s: %w", f.word, err)
		}
		y.Requests++
		y.Answers = append(y.Answers, r.text)
		y.Largest = max(y.Largest, r.prompt)
	}
	return y, nil
}

// check says what is wrong with a conversation that was held through winnow.
func (y tally) check(t *testing.T, plans int) {
	t.Helper()
	if y.Bytes < 4*window*farPast {
		t.Errorf("%d bytes are not far past a window of %d tokens", y.Bytes, window)
	}
	if plans < 2 {
		t.Errorf("%d plans; at least two were expected", plans)
	}
	if y.Largest == 0 || y.Largest > window {
		t.Errorf("the largest prompt had %d tokens by the provider's count", y.Largest)
	}
	for i, f := range facts {
		for _, w := range f.want {
			if i >= len(y.Answers) || !strings.Contains(y.Answers[i], w) {
				t.Errorf("%s: %s is not in the answer: %q", f.word, w, y.Answers)
			}
		}
	}
	for _, c := range y.Counted {
		// The client's own meter agrees with what is billed, less the fixed part
		// that some SDKs cannot count.
		if c.Told > c.Prompt || c.Told < c.Prompt-fixed {
			t.Errorf("the counting endpoint told %d tokens, the provider reports %d", c.Told, c.Prompt)
		}
	}
	t.Logf("%d requests, %d calls, %d KB of conversation; the largest prompt has %d tokens; %d plans; counted %v", y.Requests, y.Calls, y.Bytes>>10, y.Largest, plans, y.Counted)
}

// overflowWords are in the providers' errors about prompts that are too long.
var overflowWords = []string{"maximum context length", "exceeds the context window", "prompt is too long", "exceeds the maximum number of tokens", "exceed context limit"}

// checkOverflow expects that a conversation without winnow broke off for its
// length.
func (y tally) checkOverflow(t *testing.T, err error) {
	t.Helper()
	if err == nil {
		t.Fatal("without winnow the conversation came to its end: it is too short to show anything")
	}
	for _, w := range overflowWords {
		if strings.Contains(err.Error(), w) {
			t.Logf("without winnow: %.220s", err)
			return
		}
	}
	t.Errorf("another error than an overflow: %v", err)
}

// everyWay runs a client through the gateway, through the transport and without
// winnow, streaming and not. credential is where the SDK puts its key.
func everyWay(t *testing.T, credential func(key string) http.Header, connect func(t *testing.T, d dial, stream bool) agent) {
	for _, stream := range []bool{false, true} {
		name := "whole"
		if stream {
			name = "stream"
		}
		key := func(t *testing.T) string { return "key of " + t.Name() }
		t.Run("gateway/"+name, func(t *testing.T) {
			t.Parallel()
			y, err := converse(t.Context(), connect(t, dial{base: processes.gateway, key: key(t)}, stream))
			if err != nil {
				t.Fatal(err)
			}
			y.check(t, plans(t, credential(key(t))))
			notRefused(t)
		})
		t.Run("transport/"+name, func(t *testing.T) {
			t.Parallel()
			tr, err := transport.New(&transport.Options{Settings: winnow.Settings{Window: window}})
			if err != nil {
				t.Fatal(err)
			}
			y, err := converse(t.Context(), connect(t, dial{base: processes.provider, key: key(t), doer: &http.Client{Transport: tr}}, stream))
			if err != nil {
				t.Fatal(err)
			}
			y.check(t, int(tr.Stats().Plans))
			notRefused(t)
		})
		t.Run("without/"+name, func(t *testing.T) {
			t.Parallel()
			y, err := converse(t.Context(), connect(t, dial{base: processes.bare, key: key(t)}, stream))
			y.checkOverflow(t, err)
		})
	}
}

// notRefused expects that the provider behind winnow refused nothing so far.
func notRefused(t *testing.T) {
	t.Helper()
	if r := asked(t, processes.provider); r.Refused > 0 || r.Accepted == 0 {
		t.Errorf("%+v", r)
	}
}
