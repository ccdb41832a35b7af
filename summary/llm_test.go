package summary

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/winnow-llm/winnow/chat"
	"github.com/winnow-llm/winnow/token"
)

// notes is an answer that the gate has nothing against.
func notes(about string) string {
	var b strings.Builder
	for _, s := range Sections() {
		fmt.Fprintf(&b, "## %s\n- %s of %s\n", s, strings.ToLower(s), about)
	}
	return b.String()
}

// recorder is a model that answers by a function and remembers its prompts.
type recorder struct {
	mu      sync.Mutex
	prompts []Prompt
	f       func(n int, p Prompt) (Completion, error)
}

func (r *recorder) Complete(_ context.Context, p Prompt) (Completion, error) {
	r.mu.Lock()
	r.prompts = append(r.prompts, p)
	n := len(r.prompts)
	r.mu.Unlock()
	return r.f(n, p)
}

func fixed(text string) *recorder {
	return &recorder{f: func(int, Prompt) (Completion, error) {
		return Completion{Text: text, Model: "small-1", Usage: chat.Usage{Input: 100, Output: 20}}, nil
	}}
}

// folded is an input with enough in it for a model to be asked.
func folded() Input { return foldedOf(60_000) }

func foldedOf(bytes int) Input {
	h := session(bytes, 5)
	return Input{History: h, To: h.Len() - 6, Turn: -1, Max: 2000, Counter: token.New(token.O200K, nil)}
}

func summarize(t *testing.T, o LLMOptions, in Input) Output {
	t.Helper()
	out, err := NewLLM(&o).Summarize(context.Background(), in)
	if err != nil {
		t.Fatal(err)
	}
	checkOutput(t, in, out)
	return out
}

func TestLLM(t *testing.T) {
	m := fixed("Here are the notes.\n" + notes("rounding"))
	in := folded()
	out := summarize(t, LLMOptions{Model: m}, in)
	if out.Used != "llm:small-1" || out.Calls != 1 || out.Usage.Output != 20 || len(out.Problems) > 0 {
		t.Errorf("%+v", out)
	}
	if !strings.HasPrefix(out.Prose, "## Goal\n- goal of rounding\n## Constraints") || strings.Contains(out.Text, "Here are the notes") {
		t.Errorf("prose %q", out.Prose)
	}
	for _, want := range []string{out.Prose, "\nUser: " + in.History.At(0).Text(), "\n- "} {
		if !strings.Contains(out.Text, want) {
			t.Errorf("%q is missing in\n%s", want, out.Text)
		}
	}
	p := m.prompts[0]
	if p.System != systemPrompt || p.Output <= 0 || strings.Contains(p.Text, "<notes>") || !strings.Contains(p.Text, "\nUser: Please make") {
		t.Errorf("prompt %.2000q", p.Text)
	}
}

func TestLLMUpdateAndFocus(t *testing.T) {
	m := fixed(notes("more"))
	in := folded()
	in.Previous, in.Focus = "## Goal\n- the old goal </notes>", "the failing tests"
	summarize(t, LLMOptions{Model: m}, in)
	text := m.prompts[0].Text
	for _, want := range []string{"<notes>\n## Goal\n- the old goal &lt;/notes>\n</notes>", "Write new notes that cover both", "<focus>\nthe failing tests\n</focus>"} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is missing", want)
		}
	}
}

func TestLLMSplitTurn(t *testing.T) {
	in := foldedOf(150_000)
	for i := 1; i < in.To; i++ {
		if in.History.At(i).StartsTurn() {
			in.Turn = i
			break
		}
	}
	answer := func(p Prompt) string {
		if strings.Contains(p.Text, "first part of a turn") {
			return notes("the turn")
		}
		return notes("the history")
	}
	t.Run("two calls at once", func(t *testing.T) {
		both := make(chan struct{})
		m := &recorder{}
		m.f = func(n int, p Prompt) (Completion, error) {
			if n == 2 {
				close(both)
			}
			select {
			case <-both:
			case <-time.After(time.Minute):
				return Completion{}, errors.New("the other call never came")
			}
			return Completion{Text: answer(p)}, nil
		}
		out := summarize(t, LLMOptions{Model: m, Name: "x"}, in)
		if out.Calls != 2 || out.Used != "llm:x" {
			t.Fatalf("%d calls, %s, %v", out.Calls, out.Used, out.Problems)
		}
		history, turn, ok := strings.Cut(out.Prose, "\n---\n")
		if !ok || !strings.Contains(history, "goal of the history") || !strings.Contains(turn, "current state of the turn") {
			t.Errorf("prose\n%s", out.Prose)
		}
	})
	t.Run("one after the other", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			var flying, most atomic.Int32
			m := &recorder{}
			m.f = func(n int, p Prompt) (Completion, error) {
				most.Store(max(most.Load(), flying.Add(1)))
				time.Sleep(time.Second) // until nothing else can happen
				flying.Add(-1)
				return Completion{Text: answer(p)}, nil
			}
			out := summarize(t, LLMOptions{Model: m, Sequential: true}, in)
			if out.Calls != 2 || most.Load() != 1 {
				t.Errorf("%d calls, %d at once", out.Calls, most.Load())
			}
		})
	})
	t.Run("the turn alone", func(t *testing.T) {
		m := &recorder{f: func(n int, p Prompt) (Completion, error) { return Completion{Text: answer(p)}, nil }}
		alone := in
		alone.From, alone.Previous = in.Turn, notes("before")
		out := summarize(t, LLMOptions{Model: m}, alone)
		if out.Calls != 1 || !strings.Contains(out.Prose, "goal of before") || !strings.Contains(out.Prose, "current state of the turn") {
			t.Errorf("%d calls, %s %v\n%s", out.Calls, out.Used, out.Problems, out.Prose)
		}
	})
}

// Whatever the model's window, it is asked once: it reads the words and actions, each
// file once, and no raw output.
func TestLLMReadsTheNaturalForm(t *testing.T) {
	in := foldedOf(400_000)
	first := in.History.At(0).Text()
	for _, window := range []int{6000, 12000, 24000, 128_000} {
		m := &recorder{}
		m.f = func(_ int, p Prompt) (Completion, error) {
			if size := in.Counter.Text(p.System) + in.Counter.Text(p.Text) + p.Output; size > window {
				return Completion{}, fmt.Errorf("prompt of %d tokens for a window of %d", size, window)
			}
			return Completion{Text: notes("it")}, nil
		}
		out := summarize(t, LLMOptions{Model: m, Window: window, Output: 1000}, in)
		if !strings.HasPrefix(out.Used, "llm:") || out.Calls != 1 {
			t.Errorf("window %d: %d calls, %s, %v", window, out.Calls, out.Used, out.Problems)
		}
		text := m.prompts[0].Text
		if !strings.Contains(text, "User: "+first) || !strings.Contains(text, "\n- ") || strings.Contains(text, "Tool result") {
			t.Errorf("window %d: %.2000s", window, text)
		}
	}
}

// Where the state follows, a model is asked for what code cannot tell, and for all
// sections where its text stands alone.
func TestLLMSections(t *testing.T) {
	in := folded()
	for _, open := range []bool{false, true} {
		in.Open = open
		m := fixed("## Goal\n- mend it\n## Decisions\n- none\n## Dead ends\n- the other way")
		out := summarize(t, LLMOptions{Model: m}, in)
		if asks := strings.Contains(m.prompts[0].Text, "\n## Files\n("); asks != open || strings.HasPrefix(out.Used, "llm:") == open {
			t.Errorf("open %v: %s, asks for files: %v", open, out.Used, asks)
		}
		if !open && !strings.Contains(out.Text, "## Dead ends\n- the other way") {
			t.Errorf("%s", out.Text)
		}
	}
}

// tooLong is what a client returns for a prompt that is too long.
type tooLong struct{ limit int }

func (e tooLong) Error() string     { return "prompt is too long" }
func (e tooLong) ContextLimit() int { return e.limit }

func TestLLMOverflow(t *testing.T) {
	in := folded()
	for _, known := range []int{0, 9000} {
		m := &recorder{}
		m.f = func(n int, p Prompt) (Completion, error) {
			if in.Counter.Text(p.System)+in.Counter.Text(p.Text)+p.Output > 9000 {
				return Completion{}, tooLong{known}
			}
			return Completion{Text: notes("it")}, nil
		}
		out := summarize(t, LLMOptions{Model: m, Window: 64000, Name: "tight", Output: 1500}, in)
		if out.Used != "llm:tight" {
			t.Errorf("limit %d: %s after %d calls", known, out.Used, out.Calls)
		}
	}
}

func TestLLMRefused(t *testing.T) {
	in := folded()
	tests := []struct {
		name, rule string
		c          Completion
	}{
		{"empty", "empty", Completion{}},
		{"blank", "empty", Completion{Text: " \n\t "}},
		{"thinking only", "empty", Completion{Text: "<think>hm</think>"}},
		{"tool call", "tool_call", Completion{ToolCalls: 1}},
		{"tool call as text", "missing_sections", Completion{Text: `{"name":"bash","arguments":{"command":"ls"}}`}},
		{"refusal", "missing_sections", Completion{Text: "I'm sorry, but I can't help with that."}},
		{"half an answer", "cut_off", Completion{Text: notes("half")[:200], Stop: "max_tokens"}},
		{"sections missing", "missing_sections", Completion{Text: "## Goal\n- all of it"}},
		{"too large", "larger", Completion{Text: notes(strings.Repeat("many different words here and there ", 2000))}},
		{"ten megabytes", "larger", Completion{Text: strings.Repeat("abcdefgh ijkl mnop\n", 10<<20/19)}},
		{"garbage", "degenerate", Completion{Text: notes("x") + strings.Repeat("\x00\xff\x17#$%&@!", 200)}},
		{"again and again", "degenerate", Completion{Text: notes("x") + strings.Repeat("- the same line again\n", 40)}},
		{"no end of a word", "degenerate", Completion{Text: notes("x") + strings.Repeat("z", 1000)}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			m := &recorder{f: func(int, Prompt) (Completion, error) { return tt.c, nil }}
			out := summarize(t, LLMOptions{Model: m}, in)
			if !strings.HasPrefix(out.After, "llm: refused: ") || out.Calls != 2 {
				t.Errorf("%s, %d calls", out.Used, out.Calls)
			}
			if !strings.Contains(strings.Join(out.Problems, "\n"), tt.rule+": ") {
				t.Errorf("problems %q", out.Problems)
			}
			if !strings.Contains(m.prompts[1].Text, "An earlier attempt was refused") {
				t.Error("the second prompt does not say why")
			}
			plain, _ := Builtin().Summarize(context.Background(), in)
			if out.Text != plain.Text || out.Prose != plain.Prose {
				t.Error("the text is not the built-in one")
			}
		})
	}
	t.Run("better the second time", func(t *testing.T) {
		m := &recorder{}
		m.f = func(n int, _ Prompt) (Completion, error) {
			if n == 1 {
				return Completion{}, nil
			}
			return Completion{Text: notes("it")}, nil
		}
		out := summarize(t, LLMOptions{Model: m, Name: "x"}, in)
		if out.Used != "llm:x" || len(out.Problems) != 1 {
			t.Errorf("%s %v", out.Used, out.Problems)
		}
	})
}

func TestLLMStalls(t *testing.T) {
	in := folded()
	stall := ModelFunc(func(ctx context.Context, _ Prompt) (Completion, error) {
		<-ctx.Done()
		return Completion{}, ctx.Err()
	})
	t.Run("the time is up", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			start := time.Now()
			out := summarize(t, LLMOptions{Model: stall, Timeout: 30 * time.Second}, in)
			if d := time.Since(start); d != 30*time.Second {
				t.Errorf("took %v", d)
			}
			if !strings.Contains(out.After, "no answer within 30s") {
				t.Error(out.Used)
			}
		})
	})
	t.Run("the caller gives up", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			ctx, cancel := context.WithTimeout(t.Context(), time.Second)
			defer cancel()
			if out, err := NewLLM(&LLMOptions{Model: stall}).Summarize(ctx, in); !errors.Is(err, context.DeadlineExceeded) || out.Text != "" {
				t.Errorf("%v %q", err, out.Text)
			}
		})
	})
	t.Run("a client that ignores its context is left behind", func(t *testing.T) {
		release := make(chan struct{})
		defer close(release)
		deaf := ModelFunc(func(context.Context, Prompt) (Completion, error) {
			<-release
			return Completion{}, nil
		})
		out := summarize(t, LLMOptions{Model: deaf, Timeout: 20 * time.Millisecond}, in)
		if !strings.HasPrefix(out.After, "llm: no answer") {
			t.Error(out.Used)
		}
	})
}

func TestLLMWithoutAWorkingModel(t *testing.T) {
	in := folded()
	if out := summarize(t, LLMOptions{}, in); out.After != "llm: no model was given" {
		t.Error(out.Used)
	}
	wild := ModelFunc(func(context.Context, Prompt) (Completion, error) { panic("wild") })
	if out := summarize(t, LLMOptions{Model: wild}, in); !strings.Contains(out.After, "panicked: wild") {
		t.Error(out.Used)
	}
	in.Max = 100
	m := fixed(notes("x"))
	if out := summarize(t, LLMOptions{Model: m}, in); out.Calls != 0 || !strings.Contains(out.After, "too few") {
		t.Error(out.Used)
	}
}

func TestLLMHostileAnswer(t *testing.T) {
	clean := summarize(t, LLMOptions{Model: fixed(notes("it")), Name: "x"}, folded())
	for _, s := range hostile {
		out := summarize(t, LLMOptions{Model: fixed(notes("it") + s + "\n" + notes(s)), Name: "x"}, folded())
		body, _ := strings.CutSuffix(out.Text, "[End of the earlier conversation]")
		if strings.Count(body, "\nUser: ") != strings.Count(clean.Text, "\nUser: ") || strings.Contains(body, "\n[End of") {
			t.Errorf("%q: %s\n%s", s, out.Used, out.Text)
		}
	}
}

func ExampleNewLLM() {
	model := ModelFunc(func(context.Context, Prompt) (Completion, error) {
		return Completion{}, errors.New("the provider is down")
	})
	h := someWork()
	out, err := NewLLM(&LLMOptions{Model: model}).Summarize(context.Background(), Input{History: h, To: 10, Turn: -1, Max: 500})
	fmt.Println(out.Used, "after", out.After, err)
	fmt.Println(strings.Split(out.Text, "\n")[2])
	// Output:
	// builtin after llm: the provider is down <nil>
	// User: Fix the rounding in billing/invoice.go. Never change the public API, and the port must stay 8443.
}

// A text without the user's constraints is not believed, whichever model wrote it.
func TestLLMLosesConstraints(t *testing.T) {
	var msgs []chat.Message
	for i := range 40 {
		var did strings.Builder
		for k := range 20 {
			fmt.Fprintf(&did, "I changed line %d of handler%d. ", 7*i+k*k, i)
		}
		msgs = append(msgs, chat.TextMessage(chat.User, fmt.Sprintf("Step %d. You must never log request bodies of service %d.", i, i)),
			chat.TextMessage(chat.Assistant, did.String()))
	}
	in := Input{History: chat.NewHistory(msgs...), To: len(msgs), Turn: -1, Max: 1400, Counter: token.New(token.O200K, nil)}
	prose := "## Goal\n- a service\n## Decisions\n"
	for i := range 72 {
		prose += fmt.Sprintf("- the queue of %d stays, because reader %d waits\n", i, i)
	}
	out := summarize(t, LLMOptions{Model: fixed(prose)}, in)
	if out.Used != "builtin" || !strings.HasPrefix(out.After, "llm: lost_constraints") || len(out.Problems) == 0 || !strings.Contains(out.Text, "never log request bodies of service 39") {
		t.Errorf("used %q after %q, problems %v, text\n%s", out.Used, out.After, out.Problems, out.Text)
	}
}
