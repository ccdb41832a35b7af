package session_test

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/winnow-llm/winnow/chat"
	"github.com/winnow-llm/winnow/internal/kit/corpus"
	"github.com/winnow-llm/winnow/internal/pibase"
	"github.com/winnow-llm/winnow/internal/sessiontest"
	"github.com/winnow-llm/winnow/session"
	"github.com/winnow-llm/winnow/session/jsonl"
)

// documented are the fields that pi's format knows, by type of entry and role
// of message.
var documented = map[string][]string{
	"session":               {"version", "cwd", "parentSession"},
	"message":               {"message"},
	"model_change":          {"provider", "modelId"},
	"thinking_level_change": {"thinkingLevel"},
	"compaction":            {"summary", "firstKeptEntryId", "tokensBefore", "details", "usage", "fromHook", "systemMessage"},
	"branch_summary":        {"fromId", "summary", "details", "usage", "fromHook"},
	"custom":                {"customType", "data"},
	"custom_message":        {"customType", "content", "display", "details"},
	"label":                 {"targetId", "label"},
	"session_info":          {"name"},
	"context_edit":          {"targetId", "replacement"},

	"user":       {"role", "content", "timestamp"},
	"assistant":  {"role", "content", "api", "provider", "model", "usage", "stopReason", "timestamp"},
	"toolResult": {"role", "toolCallId", "toolName", "content", "isError", "timestamp", "details"},
	"system":     {"role", "content", "sections", "toolsAdded", "toolsRemoved", "timestamp"},
}

// checkForPi checks that pi would accept a file that we wrote.
func checkForPi(t *testing.T, path string) *pibase.File {
	t.Helper()
	data, err := os.ReadFile(path)
	must(t, err)
	f, err := pibase.Read(data)
	must(t, err)
	if f.Version != 3 {
		t.Errorf("version %d", f.Version)
	}
	lines := strings.Split(strings.TrimSuffix(string(data), "\n"), "\n")
	if len(lines) != len(f.Entries)+1 {
		t.Errorf("pi reads %d entries of %d lines", len(f.Entries), len(lines)-1)
	}
	ids := make(map[string]bool)
	for i, line := range lines {
		var e map[string]json.RawMessage
		must(t, json.Unmarshal([]byte(line), &e))
		var kind string
		must(t, json.Unmarshal(e["type"], &kind))
		for k := range e {
			if !slices.Contains([]string{"type", "id", "parentId", "timestamp"}, k) && !slices.Contains(documented[kind], k) {
				t.Errorf("line %d: a %s has the field %q, which pi's format does not know", i+1, kind, k)
			}
		}
		if kind == "message" {
			var m map[string]json.RawMessage
			must(t, json.Unmarshal(e["message"], &m))
			var role string
			must(t, json.Unmarshal(m["role"], &role))
			for k := range m {
				if !slices.Contains(documented[role], k) {
					t.Errorf("line %d: a %s message has the field %q", i+1, role, k)
				}
			}
		}
		if i == 0 {
			continue
		}
		entry := f.Entries[i-1]
		if ids[entry.ID] || entry.Parent != "" && !ids[entry.Parent] {
			t.Errorf("line %d: id %s or parent %s is wrong", i+1, entry.ID, entry.Parent)
		}
		ids[entry.ID] = true
		if kind == "compaction" {
			checkCompaction(t, f, &entry)
		}
	}
	return f
}

func checkCompaction(t *testing.T, f *pibase.File, c *pibase.Entry) {
	t.Helper()
	if c.FromHook || c.Summary == "" {
		t.Errorf("compaction %s: from hook %v, summary of %d", c.ID, c.FromHook, len(c.Summary))
	}
	if c.FirstKept == c.ID {
		return
	}
	for _, e := range pibase.Path(f.Entries, c.ID) {
		if e.ID == c.FirstKept {
			if e.Message == nil || e.Message.Role == "toolResult" {
				t.Errorf("compaction %s keeps %s first, which is a %s", c.ID, e.ID, e.Type)
			}
			return
		}
	}
	t.Errorf("compaction %s keeps %s, which is not on its path", c.ID, c.FirstKept)
}

// piSees returns the texts of what pi would send from an entry on.
func piSees(f *pibase.File, leaf, from string) []string {
	var out []string
	on := false
	for _, e := range pibase.Project(pibase.Path(f.Entries, leaf)) {
		on = on || e.Entry.ID == from
		if !on {
			continue
		}
		for _, m := range pibase.ToLLM(e.Messages) {
			text := m.Text
			for _, b := range m.Blocks {
				if b.Type == "toolCall" {
					text += b.Name + string(b.Arguments)
				} else {
					text += b.Text
				}
			}
			out = append(out, text)
		}
	}
	return out
}

// TestPiSeesTheSame compares what pi makes of a compacted session with our view.
func TestPiSeesTheSame(t *testing.T) {
	ctx := t.Context()
	for _, stages := range [][]string{nil, {"prune"}, {"limit", "prune"}, {"fold"}, {"truncate"}, {"split-turn", "fold"}} {
		t.Run(strings.Join(stages, "+"), func(t *testing.T) {
			set := sessiontest.Settings()
			set.Stages = stages
			s := create(t, &session.Options{Settings: set})
			say(t, s, chat.Message{Role: chat.User, Synthetic: true, Parts: []chat.Part{{Kind: chat.Text, Text: "a reminder"}}})
			turns(t, s, 0, 12, 2500)
			rewound := ""
			for i := range 3 {
				c, err := s.Compact(ctx, "")
				must(t, err)
				compare(t, s, c.Entry.Compaction.FirstKept)
				turns(t, s, 20+10*i, 8, 2500)
				compare(t, s, c.Entry.Compaction.FirstKept)
				rewound = c.Entry.ID
			}
			r, err := s.Rewind(ctx, rewound)
			must(t, err)
			compare(t, s, r.Compaction.FirstKept)
		})
	}
}

func compare(t *testing.T, s *session.Session, kept string) {
	t.Helper()
	f := checkForPi(t, s.Info().Path)
	c, err := s.Context()
	must(t, err)
	theirs := piSees(f, s.Leaf(), kept)
	var ours []string
	on := false
	for i := range c.View.Len() {
		if o := c.View.Origin(i); o.Message >= 0 {
			on = on || c.Request.History.At(o.Message).ID == kept
		}
		if !on {
			continue
		}
		m := c.View.At(i)
		text := ""
		for _, p := range m.Parts {
			if p.Kind == chat.ToolCall {
				text += p.Name + p.Args
			} else {
				text += p.Text
			}
		}
		ours = append(ours, text)
	}
	if !slices.Equal(ours, theirs) {
		for i := range max(len(ours), len(theirs)) {
			if i >= len(ours) || i >= len(theirs) || ours[i] != theirs[i] {
				t.Fatalf("from message %d on pi sees something else: %d messages against our %d:\npi:   %.200q\nours: %.200q", i, len(theirs), len(ours), at(theirs, i), at(ours, i))
			}
		}
	}
}

func at(list []string, i int) string {
	if i < len(list) {
		return list[i]
	}
	return "(none)"
}

// TestPiFixture continues the file that pi itself wrote.
func TestPiFixture(t *testing.T) {
	ctx := t.Context()
	data, err := os.ReadFile(corpus.Dir(t, "pi", "fixtures", "pi-1.5.0-written-v3.jsonl"))
	must(t, err)
	path := filepath.Join(t.TempDir(), "s.jsonl")
	must(t, os.WriteFile(path, data, 0o600))
	open := func(leaf string) *session.Session {
		log, err := jsonl.OpenFile(path, nil)
		must(t, err)
		s, err := session.New(ctx, log, &session.Options{Settings: sessiontest.Settings(), Leaf: leaf})
		must(t, err)
		t.Cleanup(func() { s.Close() })
		return s
	}
	// The leaves of the golden projections, with what the model must see there.
	for leaf, want := range map[string][]string{
		"828b099a": {"List the files and read README.md", "Reading.", "", "ls: no such file", "README describes a demo.", "git status", "Injected note", "Now edit main.go", "", "edit applied (trimmed)", "partial", "go on", "", "wrote 12 bytes", "Done with both edits."},
		"7ecd0c96": {"Demo goal", "", "wrote 12 bytes", "Done with both edits.", "now branch away", "ok"},
		"bb6f89e9": {"List the files and read README.md", "Reading.", "# Demo", "ls: no such file", "README describes a demo.", "branch goal", "different approach", "sure"},
		"d769c6b8": {"Retain-none summary", "after retain-none"},
	} {
		s := open(leaf)
		c, err := s.Context()
		must(t, err)
		if c.View.Len() != len(want) {
			t.Errorf("at %s %d messages, want %d: %s", leaf, c.View.Len(), len(want), words(t, s))
			continue
		}
		for i, w := range want {
			text := c.View.At(i).Text()
			if p := c.View.At(i).Parts; text == "" && len(p) > 0 {
				text = p[0].Text
			}
			if !strings.Contains(text, w) {
				t.Errorf("at %s message %d is %q, want %q", leaf, i, text, w)
			}
		}
		if leaf == "bb6f89e9" && (c.Model != "claude-sonnet-4-5" || c.Thinking != "medium" || len(c.Request.Tools) != 1 || len(c.Request.System) != 2) {
			t.Errorf("model %q, thinking %q, %d tools, system of %d", c.Model, c.Thinking, len(c.Request.Tools), len(c.Request.System))
		}
	}
	s := open("")
	turns(t, s, 0, 12, 2500)
	c, err := s.Compact(ctx, "")
	must(t, err)
	after, err := os.ReadFile(path)
	must(t, err)
	if !strings.HasPrefix(string(after), string(data)) {
		t.Error("what pi wrote was changed")
	}
	f, err := pibase.Read(after)
	must(t, err)
	found := false
	for i := range f.Entries {
		if e := &f.Entries[i]; e.ID == c.Entry.ID {
			found = true
			checkCompaction(t, f, e)
			if e.System == nil || len(e.System.Sections) != 2 || len(e.System.Added) != 1 {
				t.Errorf("the system message is not carried: %+v", e.System)
			}
		}
	}
	if !found {
		t.Error("pi does not find the compaction")
	}
	// Pi's own compaction can be rewound.
	s = open("7ecd0c96")
	_, err = s.Rewind(ctx, "2735bced")
	must(t, err)
	if got := words(t, s); !strings.HasPrefix(got, "List the files and read README.md|") || !strings.HasSuffix(got, "|now branch away|ok") {
		t.Errorf("after the rewind: %s", got)
	}
}

// TestPiSessions continues pi's old sessions in copies, compacts them twice,
// takes both back, and compares.
func TestPiSessions(t *testing.T) {
	for _, name := range []string{"before-compaction.jsonl", "large-session.jsonl", "history-compact.jsonl", "history-session.jsonl", "prompt-cache-replay-session.jsonl"} {
		t.Run(name, func(t *testing.T) {
			data, err := os.ReadFile(corpus.Dir(t, "pi", "fixtures", name))
			must(t, err)
			dir := t.TempDir()
			path := filepath.Join(dir, name)
			must(t, os.WriteFile(path, data, 0o400))
			set := sessiontest.Settings()
			set.Window, set.KeepRecent = 60000, 6000
			open := func() *session.Session {
				log, err := jsonl.OpenFile(path, nil)
				must(t, err)
				s, err := session.New(context.Background(), log, &session.Options{Settings: set})
				must(t, err)
				t.Cleanup(func() { s.Close() })
				return s
			}
			s := open()
			f, err := pibase.Read(data)
			must(t, err)
			if s.Len() < len(f.Entries) {
				t.Errorf("%d entries, pi reads %d", s.Len(), len(f.Entries))
			}
			before := seen(t, s)
			n := s.Len()
			compactTwice(t, s)
			s.Close()
			if now, _ := os.ReadFile(path); string(now) != string(data) {
				t.Fatal("the old file was changed")
			}
			again := open() // which opens the copy
			if again.Len() <= n || again.Info().Version != 3 {
				t.Errorf("the copy was not opened: %d entries, version %d", again.Len(), again.Info().Version)
			}
			if got := seen(t, again); !strings.HasPrefix(got, before) {
				t.Error("after two rewinds the conversation is not what it was")
			}
			checkPiReads(t, again)
		})
	}
}

func compactTwice(t *testing.T, s *session.Session) {
	t.Helper()
	ctx := t.Context()
	var made []string
	for range 2 {
		turns(t, s, s.Len(), 25, 9000)
		c, err := s.Compact(ctx, "")
		must(t, err)
		made = append(made, c.Entry.ID)
	}
	for _, id := range slices.Backward(made) {
		_, err := s.Rewind(ctx, id)
		must(t, err)
	}
}

// checkPiReads checks that pi reads our copy and finds its way in it.
func checkPiReads(t *testing.T, s *session.Session) {
	t.Helper()
	data, err := os.ReadFile(s.Info().Path)
	must(t, err)
	f, err := pibase.Read(data)
	must(t, err)
	if len(f.Entries) != s.Len() || f.Version != 3 {
		t.Errorf("pi reads %d entries of %d, version %d", len(f.Entries), s.Len(), f.Version)
	}
	ours := map[string]bool{} // entries that carry our details
	for line := range strings.SplitSeq(string(data), "\n") {
		for i := range f.Entries {
			if strings.Contains(line, `"winnow":{`) && strings.Contains(line, `"id":"`+f.Entries[i].ID+`"`) {
				ours[f.Entries[i].ID] = true
			}
		}
	}
	for i := range f.Entries {
		if e := &f.Entries[i]; e.Type == "compaction" && ours[e.ID] {
			checkCompaction(t, f, e)
		}
	}
}
