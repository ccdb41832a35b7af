package agenthome

import (
	"testing"
	"time"

	"github.com/winnow-llm/winnow/chat"
	"github.com/winnow-llm/winnow/internal/app/agents"
	"github.com/winnow-llm/winnow/internal/kit/replaygen"
	"github.com/winnow-llm/winnow/transcript"
)

// What is written for an agent is found in its folder and read as the session it
// was: the same messages, the same compactions, at the same places.
func TestWrittenAsRead(t *testing.T) {
	last := time.Date(2026, 3, 4, 5, 6, 7, 0, time.UTC)
	s := replaygen.Session(5, replaygen.Options{Requests: 30})
	s.Model = "claude-opus-4-5"
	at := s.History.Len() / 2
	for s.History.At(at).Role != chat.Assistant {
		at++
	}
	s.Compactions = []transcript.Compaction{{At: at, Summary: "what was done", Trigger: "auto", TokensBefore: 12345}}
	home := Home{t.TempDir()}
	for _, a := range agents.Known(home.Dir, func(string) string { return "" }) {
		if a.Format == transcript.Codex || a.Format == transcript.GeminiCLI {
			continue // their files are like Claude Code's, one for a session
		}
		t.Run(a.Name, func(t *testing.T) {
			if _, err := home.Write(a.Format, "one", &s, last); err != nil {
				t.Fatal(err)
			}
			files, err := a.Files(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			if len(files) != 1 || files[0].Changed.Before(last) {
				t.Fatalf("files: %v", files)
			}
			got, err := files[0].Sessions(1 << 30)
			if err != nil {
				t.Fatal(err)
			}
			if len(got) != 1 || got[0].Format != a.Format || len(got[0].Warnings) > 0 {
				t.Fatalf("%d sessions, %s, %v", len(got), got[0].Format, got[0].Warnings)
			}
			g := &got[0]
			if n, want := calls(g.History), calls(s.History); n != want {
				t.Errorf("%d calls, want %d", n, want)
			}
			if end := g.History.At(g.History.Len() - 1).Time; end != last.UnixMilli() {
				t.Errorf("the last message is of %d", end)
			}
			if len(g.Compactions) != 1 || g.Compactions[0].Summary != "what was done" {
				t.Fatalf("compactions: %+v", g.Compactions)
			}
			c := g.Compactions[0]
			if before, want := calls(g.History.Head(c.At)), calls(s.History.Head(at)); before != want {
				t.Errorf("%d calls before the compaction, want %d", before, want)
			}
			if a.Format == transcript.ClaudeCode && !c.Automatic() {
				t.Errorf("trigger %q", c.Trigger)
			}
		})
	}
}

func calls(h chat.History) int {
	n := 0
	for _, m := range h.All() {
		for k := range m.Parts {
			if m.Parts[k].Kind == chat.ToolCall {
				n++
			}
		}
	}
	return n
}
