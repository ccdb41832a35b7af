package resume_test

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/winnow-llm/winnow/chat"
	"github.com/winnow-llm/winnow/internal/app/resume"
	"github.com/winnow-llm/winnow/internal/kit/replaygen"
	"github.com/winnow-llm/winnow/transcript"
)

var noon = time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)

// lines are what a conversation says and does, in any file format: who speaks, the
// words, the calls and their results.
func lines(h chat.Sequence) []string {
	var out []string
	for i := range h.Len() {
		m := h.At(i)
		for _, p := range m.Parts {
			who := m.Role
			switch p.Kind {
			case chat.Text:
				out = append(out, fmt.Sprintf("%s: %s", who, p.Text))
			case chat.ToolCall:
				out = append(out, fmt.Sprintf("call %s %s %s", p.ID, p.Name, strings.ReplaceAll(p.Args, " ", "")))
			case chat.ToolResult:
				out = append(out, fmt.Sprintf("result %s %s", p.ID, p.Text))
			case chat.Thinking:
				out = append(out, "thinking")
			}
		}
	}
	return out
}

// What is written is read back as the same conversation, in every format, without
// the thinking, the usage and the leading system messages.
func TestReadBack(t *testing.T) {
	gen := replaygen.Session(3, replaygen.Options{Requests: 12})
	var all []chat.Message
	all = append(all, chat.TextMessage(chat.System, "a system prompt of another agent"))
	for i := range gen.History.Len() {
		m := *gen.History.At(i)
		if m.Role == chat.Assistant {
			m.Parts = append([]chat.Part{{Kind: chat.Thinking, Text: "hm", Signature: "signed"}}, m.Parts...)
			m.Usage = &chat.Usage{Input: 180_000, Output: 10}
		}
		all = append(all, m)
	}
	history := chat.NewHistory(all...)
	want := lines(gen.History)
	for _, f := range resume.Formats() {
		t.Run(string(f), func(t *testing.T) {
			s, err := resume.New(f, history, "seed")
			if err != nil {
				t.Fatal(err)
			}
			s.Folder, s.Provider, s.Model, s.Time = "/home/dev/my project", "anthropic", "claude-sonnet-4-5", noon
			data, err := s.Write()
			if err != nil {
				t.Fatal(err)
			}
			got, err := transcript.Read(data, nil)
			if err != nil || len(got) != 1 || got[0].Format != f {
				t.Fatalf("%d sessions, %v", len(got), err)
			}
			if d := cmp.Diff(want, lines(got[0].History)); d != "" {
				t.Error(d)
			}
			if got[0].ID != s.ID || got[0].Folder != s.Folder || len(got[0].Warnings) > 0 {
				t.Errorf("id %s, folder %s, warnings %v", got[0].ID, got[0].Folder, got[0].Warnings)
			}
			for i := range got[0].History.Len() {
				if u := got[0].History.At(i).Usage; u != nil && u.Context() > 0 {
					t.Fatalf("message %d still reports %d tokens: the agent would take its window for full", i, u.Context())
				}
			}
			again, err := s.Write()
			if err != nil || string(again) != string(data) {
				t.Errorf("a second writing differs: %v", err)
			}
		})
	}
}

// The places and commands are those of the agents.
func TestPlaces(t *testing.T) {
	history := chat.NewHistory(chat.TextMessage(chat.User, "hello"))
	want := map[transcript.Format][2]string{
		transcript.ClaudeCode: {"/dir/-home-dev-my-project/ID.jsonl", "claude --resume ID"},
		transcript.Codex:      {"/dir/2026/05/01/rollout-2026-05-01T12-00-00-ID.jsonl", "codex resume ID"},
		transcript.Pi:         {"/dir/--home-dev-my project--/2026-05-01T12-00-00-000Z_ID.jsonl", "pi --session FILE"},
	}
	for f, w := range want {
		s, err := resume.New(f, history, "seed")
		if err != nil {
			t.Fatal(err)
		}
		s.Folder, s.Time = "/home/dev/my project", noon
		got := [2]string{filepath.ToSlash(strings.ReplaceAll(s.Place("/dir"), s.ID, "ID")), strings.ReplaceAll(s.Command("FILE"), s.ID, "ID")}
		if got != w {
			t.Errorf("%s: %q, want %q", f, got, w)
		}
	}
}

func TestNothingToContinue(t *testing.T) {
	if _, err := resume.New(transcript.ClaudeCode, chat.NewHistory(chat.TextMessage(chat.System, "only this")), ""); err == nil {
		t.Error("a session without a message was prepared")
	}
	if _, err := resume.New(transcript.OpenCode, chat.NewHistory(chat.TextMessage(chat.User, "hello")), ""); err == nil {
		t.Error("a format without a writer was accepted")
	}
}
