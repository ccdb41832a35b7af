package simmodel_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/winnow-llm/winnow/chat"
	"github.com/winnow-llm/winnow/internal/app/loop/simmodel"
	"github.com/winnow-llm/winnow/llm"
)

func request(text string, tools ...string) *llm.Request {
	r := &llm.Request{Messages: chat.Messages{chat.TextMessage(chat.User, text)}}
	for _, name := range tools {
		r.Tools = append(r.Tools, chat.ToolDef{Name: name, Description: name, Schema: `{"type":"object"}`})
	}
	return r
}

// The model streams without a network, answers alike for a seed, and refuses
// what is too long as a provider does.
func TestModel(t *testing.T) {
	ask := func(seed uint64, text string) (string, string, int) {
		m, end, err := simmodel.New(0, seed, 0)
		if err != nil {
			t.Fatal(err)
		}
		defer end()
		words, pieces := "", 0
		a, err := m.Stream(t.Context(), request(text, "read_file"), func(w string) error {
			words += w
			pieces++
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		if a.Usage.Prompt() == 0 || words != a.Message.Text() {
			t.Errorf("usage %+v, streamed %q, whole %q", a.Usage, words, a.Message.Text())
		}
		call := ""
		for _, p := range a.Message.Parts {
			if p.Kind == chat.ToolCall {
				call += p.Name + p.Args
			}
		}
		return words, call, pieces
	}
	words, call, pieces := ask(1, "hi")
	if !strings.Contains(words, "simulated model") || call != "" || pieces < 5 {
		t.Errorf("%q in %d pieces, calls %q", words, pieces, call)
	}
	w1, c1, _ := ask(7, "What is here?")
	w2, c2, _ := ask(7, "What is here?")
	if w1 != w2 || c1 != c2 || !strings.HasPrefix(c1, "read_file") {
		t.Errorf("%q %q, %q %q", w1, c1, w2, c2)
	}

	m, end, err := simmodel.New(1000, 0, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer end()
	var over *llm.OverflowError
	if _, err := m.Stream(t.Context(), request(strings.Repeat("too long ", 1000)), nil); !errors.As(err, &over) || over.ContextLimit() != 1000 {
		t.Errorf("%v", err)
	}
}

// A conversation goes alike wherever its folder is: the seed decides, and not
// the system prompt, which names the folder.
func TestFolderDoesNotMatter(t *testing.T) {
	answers := func(folder string) string {
		m, end, err := simmodel.New(0, 1, 0)
		if err != nil {
			t.Fatal(err)
		}
		defer end()
		var said strings.Builder
		for range 6 {
			r := request("What is here?", "read_file")
			r.Messages = append(chat.Messages{chat.TextMessage(chat.System, "You help with the files in "+folder+".")}, r.Messages.(chat.Messages)...)
			a, err := m.Complete(t.Context(), r)
			if err != nil {
				t.Fatal(err)
			}
			said.WriteString(a.Message.Text() + "\n")
			for _, p := range a.Message.Parts {
				said.WriteString(p.Name + p.Args + "\n")
			}
		}
		return said.String()
	}
	want := answers("/tmp/one")
	for _, folder := range []string{"/tmp/two", "/home/somebody/a/long/way/down", ""} {
		if got := answers(folder); got != want {
			t.Errorf("in %q:\n%s\nin /tmp/one:\n%s", folder, got, want)
		}
	}
	if lines := strings.Split(want, "\n"); len(lines) < 3 || strings.Count(want, lines[0]) == 6 {
		t.Errorf("every answer is the same:\n%s", want)
	}
}

// A call that is cancelled ends at once.
func TestCancel(t *testing.T) {
	m, end, err := simmodel.New(0, 0, time.Hour)
	if err != nil {
		t.Fatal(err)
	}
	defer end()
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if _, err := m.Stream(ctx, request("What is here?"), nil); err == nil {
		t.Error("no error")
	}
}
