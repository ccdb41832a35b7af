package llm

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/winnow-llm/winnow/chat"
	"github.com/winnow-llm/winnow/summary"
)

// notes is a summary that the gate accepts.
func notes() string {
	var b strings.Builder
	facts := []string{
		"every test of it passes", "the user wants the parser mended", "errors are returned and never logged", "a table replaced the switch",
		"pkg/parse7.go holds the grammar", "the build failed on a missing import", "steps 0 to 20 are finished", "steps 21 and later wait",
		"the next file is being read", "go on with step 21", "nothing else is known", "names stay as they are",
	}
	for i, s := range summary.Sections() {
		fmt.Fprintf(&b, "## %s\n- %s\n", s, facts[i%len(facts)])
	}
	return b.String()
}

func story() chat.History {
	var msgs []chat.Message
	for i := range 40 {
		id := fmt.Sprintf("c%d", i)
		msgs = append(msgs,
			chat.TextMessage(chat.User, fmt.Sprintf("Mend step %d of the parser in pkg/parse%d.go.", i, i)),
			chat.CallMessage("I read it.", chat.Call(id, "read", fmt.Sprintf(`{"path":"pkg/parse%d.go"}`, i))),
			chat.ResultMessage(id, strings.Repeat(fmt.Sprintf("func step%d() error { return nil }\n", i), 60)),
			chat.TextMessage(chat.Assistant, "Step done."))
	}
	return chat.NewHistory(msgs...)
}

// Every provider serves the summariser: first try, second try after a rate
// limit; and when it is down, the built-in prose is used and said.
func TestSummarizer(t *testing.T) {
	h := story()
	each(t, func(t *testing.T, a *actor) {
		var down atomic.Bool
		s := play(t, func(w http.ResponseWriter, _ *http.Request, n int) {
			if down.Load() || n == 1 {
				w.Header().Set("Retry-After", "3")
				w.WriteHeader(http.StatusTooManyRequests)
				return
			}
			// A count that is far below the prompt's size would give away that Ollama cut it.
			_, _ = io.WriteString(w, strings.Replace(a.plain(notes()), `"prompt_tokens":120,`, `"prompt_tokens":12000,`, 1))
		})
		c, waits := a.client(t, s, Options{})
		sum := summary.NewLLM(&summary.LLMOptions{Model: c.Model(), Name: a.spec})
		in := summary.Input{History: h, To: 100, Turn: -1, Max: 4000}
		out, err := sum.Summarize(t.Context(), in)
		if err != nil || !strings.HasPrefix(out.Used, "llm:") || !strings.Contains(out.Text, "every test of it passes") {
			t.Fatalf("used %q, %v", out.Used, err)
		}
		if waits.String() != "[3s]" || out.Calls != 1 || out.Usage.Output != 9 {
			t.Errorf("waits %v, %d calls, %+v", waits, out.Calls, out.Usage)
		}
		down.Store(true)
		out, err = sum.Summarize(t.Context(), in)
		if err != nil || !strings.HasPrefix(out.After, "llm: ") || !strings.Contains(out.After, "rate_limit") || len(out.Text) < 100 {
			t.Errorf("used %q, %v", out.Used, err)
		}
	})
}

// An overflow tells the summariser how much fits, and it sends less.
func TestSummarizerLearnsTheWindow(t *testing.T) {
	a := actors()[0]
	var largest atomic.Int64
	s := play(t, func(w http.ResponseWriter, r *http.Request, n int) {
		if r.ContentLength > 24000 {
			w.WriteHeader(http.StatusBadRequest)
			_, _ = io.WriteString(w, strings.NewReplacer("128000", "8000", "150000", "20000").Replace(chatOverflow))
			return
		}
		largest.Store(max(largest.Load(), r.ContentLength))
		_, _ = io.WriteString(w, a.plain(notes()))
	})
	c, _ := a.client(t, s, Options{})
	out, err := summary.NewLLM(&summary.LLMOptions{Model: c.Model(), Output: 2000}).Summarize(t.Context(), summary.Input{History: story(), To: 150, Turn: -1, Max: 4000})
	if err != nil || !strings.HasPrefix(out.Used, "llm:") || largest.Load() == 0 {
		t.Errorf("used %q with %d calls, %v", out.Used, out.Calls, err)
	}
}

func TestModelStops(t *testing.T) {
	a := actors()[0]
	for _, tt := range []struct{ body, stop, problem string }{
		{strings.Replace(chatPlain("half"), `"stop"`, `"length"`, 1), summary.CutOff, ""},
		{chatPlain("all"), "stop", ""},
		{strings.Replace(chatPlain("x"), `"stop"`, `"content_filter"`, 1), "", "withheld the answer"},
		{`{"choices":[{"message":{"role":"assistant","content":null,"tool_calls":[{"id":"a","type":"function","function":{"name":"f","arguments":"{}"}}]},"finish_reason":"tool_calls"}]}`, "tool_calls", ""},
	} {
		s := play(t, func(w http.ResponseWriter, _ *http.Request, _ int) { _, _ = io.WriteString(w, tt.body) })
		c, _ := a.client(t, s, Options{})
		got, err := c.Model().Complete(t.Context(), summary.Prompt{System: "s", Text: "t", Output: 10})
		if tt.problem != "" {
			if err == nil || !strings.Contains(err.Error(), tt.problem) {
				t.Errorf("%s: %v", tt.problem, err)
			}
			continue
		}
		if err != nil || got.Stop != tt.stop || got.Model == "" || (got.ToolCalls == 1) != (tt.stop == "tool_calls") {
			t.Errorf("%+v, %v", got, err)
		}
	}
}

// A provider that stalls costs no more than the summariser's own time.
func TestSummarizerTimesOut(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := actors()[0]
		s := play(t, func(_ http.ResponseWriter, r *http.Request, _ int) { <-r.Context().Done() })
		c, _ := a.client(t, s, Options{})
		begun := time.Now()
		out, err := summary.NewLLM(&summary.LLMOptions{Model: c.Model(), Timeout: 200 * time.Millisecond}).Summarize(t.Context(), summary.Input{History: story(), To: 100, Turn: -1, Max: 4000})
		if err != nil || !strings.HasPrefix(out.After, "llm: ") || time.Since(begun) != 200*time.Millisecond {
			t.Errorf("%q, %v, %v", out.Used, err, time.Since(begun))
		}
	})
}
