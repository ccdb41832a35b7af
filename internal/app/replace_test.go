package app

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/winnow-llm/winnow"
	"github.com/winnow-llm/winnow/chat"
	"github.com/winnow-llm/winnow/session"
	"github.com/winnow-llm/winnow/session/jsonl"
)

// The five documented systems, replaced one by one: what a user of each does
// there, done with winnow's command and with its Go packages, and what is seen.

// at runs a test in a folder and a home of its own and returns a function that
// runs the command there and reads its JSON.
func at(t *testing.T) func(args ...string) map[string]any {
	t.Helper()
	dir := t.TempDir()
	t.Chdir(dir)
	t.Setenv("HOME", dir)
	t.Setenv("XDG_CONFIG_HOME", filepath.Join(dir, "config"))
	t.Setenv("XDG_DATA_HOME", filepath.Join(dir, "data"))
	return func(args ...string) map[string]any {
		t.Helper()
		var out, errs bytes.Buffer
		if code := Run(append(args, "--json"), nil, &out, &errs); code != exitDone {
			t.Fatalf("winnow %s: exit %d: %s", strings.Join(args, " "), code, errs.String())
		}
		var doc map[string]any
		if err := json.Unmarshal(out.Bytes(), &doc); err != nil {
			t.Fatalf("winnow %s: %v", strings.Join(args, " "), err)
		}
		return doc
	}
}

func put1(t *testing.T, name, text string) {
	t.Helper()
	if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// exchanges is a request and n calls with results of about size characters, as a
// chat body and as messages.
func exchanges(n, size int) (string, []chat.Message) {
	body := []string{`{"role":"user","content":"find it"}`}
	messages := []chat.Message{chat.TextMessage(chat.User, "find it")}
	for i := 1; i <= n; i++ {
		id, args := fmt.Sprint("tc-", i), fmt.Sprintf(`{"pattern":"query-%d"}`, i)
		result := fmt.Sprintf(`{"status":"completed","output":%q}`, strings.Repeat("some words ", size/11))
		quoted, _ := json.Marshal(args)
		text, _ := json.Marshal(result)
		body = append(body, fmt.Sprintf(`{"role":"assistant","content":null,"tool_calls":[{"id":%q,"type":"function","function":{"name":"search.rg","arguments":%s}}]}`, id, quoted),
			fmt.Sprintf(`{"role":"tool","tool_call_id":%q,"content":%s}`, id, text))
		messages = append(messages, chat.CallMessage("", chat.Call(id, "search.rg", args)), chat.ResultMessage(id, result))
	}
	return `{"model":"gpt-4o","messages":[` + strings.Join(body, ",") + `]}`, messages
}

func engineOf(t *testing.T, s winnow.Settings) *winnow.Winnow {
	t.Helper()
	w, err := winnow.New(&winnow.Options{Settings: s})
	if err != nil {
		t.Fatal(err)
	}
	return w
}

// Umbra's applySplitTurn: over the budget, all but three exchanges of the turn
// become a list of calls, and what fits comes back as it was.
func TestReplaceUmbra(t *testing.T) {
	run := at(t)
	body, messages := exchanges(6, 5000)
	put1(t, "turn.json", body)
	doc := run("compact", "turn.json", "--preset", "umbra", "--window", "5000", "--output-reserve", "500", "--out", "view.json")
	view, err := os.ReadFile("view.json")
	if err != nil || doc["compacted"] != true {
		t.Fatalf("%v, %v", doc["compacted"], err)
	}
	r, err := engineOf(t, winnow.Settings{Preset: "umbra", Model: "gpt-4o", Window: 5000, OutputReserve: 500}).Fit(t.Context(), chat.Request{History: chat.NewHistory(messages...)}, winnow.State{})
	if err != nil {
		t.Fatal(err)
	}
	var seen strings.Builder
	for i := range r.View.Len() {
		for _, p := range r.View.At(i).Parts {
			seen.WriteString(p.Text + p.Args + "\n")
		}
	}
	for what, text := range map[string]string{"the command": string(view), "Fit": seen.String()} {
		for _, want := range []string{"find it", "[Turn prefix compressed — 3 earlier tool call(s)", "## In-Turn Prefix", "search.rg(pattern=query-1)", "search.rg(pattern=query-3)", "query-4", "query-6"} {
			if !strings.Contains(text, want) {
				t.Errorf("%s: no %q", what, want)
			}
		}
		if n := strings.Count(text, strings.Repeat("some words ", 400)); n != 3 {
			t.Errorf("%s: %d results stand as they were, want 3", what, n)
		}
	}
	// Non-activation: it fits.
	small, _ := exchanges(6, 100)
	put1(t, "small.json", small)
	if doc := run("compact", "small.json", "--preset", "umbra", "--window", "5000", "--output-reserve", "500", "--dry-run"); doc["compacted"] != false {
		t.Errorf("what fits was compacted: %v", doc["stages"])
	}
}

// picoclaw: the window is four times the output reserve where nobody says, a request is
// checked before it is sent, and what does not fit loses the older half of its turns.
func TestReplacePicoclaw(t *testing.T) {
	run := at(t)
	var body []string
	var messages []chat.Message
	for i := range 20 {
		q, a := fmt.Sprintf("question %d: %s", i, strings.Repeat("some words ", 100)), fmt.Sprintf("answer %d: %s", i, strings.Repeat("more words ", 100))
		body = append(body, fmt.Sprintf(`{"role":"user","content":%q}`, q), fmt.Sprintf(`{"role":"assistant","content":%q}`, a))
		messages = append(messages, chat.TextMessage(chat.User, q), chat.TextMessage(chat.Assistant, a))
	}
	put1(t, "chat.json", `{"messages":[`+strings.Join(body, ",")+`]}`)
	check := run("check", "chat.json", "--preset", "picoclaw", "--output-reserve", "4000")
	limits, _ := check["limits"].(map[string]any)
	if check["fits"] != false || check["method"] != "formula" || limits["context"] != 16000.0 {
		t.Errorf("fits %v, %v, %v", check["fits"], check["method"], limits)
	}
	doc := run("compact", "chat.json", "--preset", "picoclaw", "--output-reserve", "4000", "--dry-run")
	stages, _ := json.Marshal(doc["stages"])
	r, err := engineOf(t, winnow.Settings{Preset: "picoclaw", OutputReserve: 4000}).Fit(t.Context(), chat.Request{History: chat.NewHistory(messages...)}, winnow.State{})
	if err != nil {
		t.Fatal(err)
	}
	if e := r.Plan.Edits[0]; !strings.Contains(string(stages), `"half"`) || e.Stage != "half" || e.From != 0 || e.To != 20 {
		t.Errorf("the command: %s; Fit: messages %d to %d by %s", stages, e.From, e.To, e.Stage)
	}
	if check["tokens"] == nil || r.Before.Count.Tokens != int(doc["tokens_before"].(float64)) {
		t.Errorf("the command counts %v, Fit %d", doc["tokens_before"], r.Before.Count.Tokens)
	}
}

// pi: its settings file, its session file, /compact with a focus, and its own
// entry at the end.
func TestReplacePi(t *testing.T) {
	run := at(t)
	writeEntries(t, "session.jsonl", 3000, "")
	put1(t, "settings.json", `{"compaction":{"enabled":true,"reserveTokens":16384,"keepRecentTokens":8000}}`)
	var yaml, errs bytes.Buffer
	if code := Run([]string{"config", "import", "settings.json"}, nil, &yaml, &errs); code != exitDone {
		t.Fatal(errs.String())
	}
	put1(t, ".winnow.yaml", yaml.String())
	stats := run("session", "stats", "session.jsonl", "--window", "48000", "--output-reserve", "1000", "--config", ".winnow.yaml")
	if stats["needs_compaction"] != true {
		t.Errorf("%v tokens of a window of 48,000, less a reserve of 16,384", stats["tokens"])
	}
	doc := run("session", "compact", "session.jsonl", "the handlers", "--window", "48000", "--config", ".winnow.yaml")
	data, err := os.ReadFile("session.jsonl")
	if err != nil || doc["compacted"] != true {
		t.Fatalf("%v, %v", doc["compacted"], err)
	}
	var entry struct {
		Type, Summary, FirstKeptEntryID string
		TokensBefore                    int
		FromHook                        *bool
		Details                         struct{ ReadFiles []string }
	}
	for line := range bytes.Lines(data) {
		if bytes.Contains(line, []byte(`"type":"compaction"`)) {
			if err := json.Unmarshal(line, &entry); err != nil {
				t.Fatal(err)
			}
		}
	}
	if entry.Summary == "" || entry.FirstKeptEntryID != doc["first_kept"] || float64(entry.TokensBefore) != stats["tokens"] || doc["tokens_before"] != stats["tokens"] || len(entry.Details.ReadFiles) == 0 || entry.FromHook != nil {
		t.Errorf("pi would read %+v", entry)
	}
	if !strings.Contains(entry.Summary, "shortened: ") || !strings.Contains(entry.Summary, "User: Request 0: rename the handler\n") {
		t.Errorf("the summary does not tell what was asked: %.400s", entry.Summary)
	}
	// The same in Go, on a copy of the file: the cut is the same.
	store, err := jsonl.Open(t.TempDir(), nil)
	if err != nil {
		t.Fatal(err)
	}
	s, err := session.Create(t.Context(), store, session.Header{}, &session.Options{Settings: winnow.Settings{Preset: "pi", Model: "gpt-4o", Window: 48_000, KeepRecent: 8000}, Manual: true})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	for i := range 750 {
		id := fmt.Sprint("call_", i)
		if _, err := s.Append(t.Context(), chat.TextMessage(chat.User, fmt.Sprintf("Request %d: rename the handler", i)),
			chat.CallMessage("", chat.Call(id, "read", fmt.Sprintf(`{"path":"api/h%d.go"}`, i))), chat.ResultMessage(id, fmt.Sprintf("package api\n\nfunc handler%d() {}\n", i)),
			chat.TextMessage(chat.Assistant, fmt.Sprintf("Renamed handler %d.", i))); err != nil {
			t.Fatal(err)
		}
	}
	due, status, err := s.NeedsCompaction()
	if err != nil || !due || status.Trigger.At(status.Limits) != 48_000-16_384 {
		t.Errorf("due %v at %d tokens, %v", due, status.Trigger.At(status.Limits), err)
	}
	c, err := s.Compact(t.Context(), "the handlers")
	if err != nil {
		t.Fatal(err)
	}
	if kept := c.After.Count.Tokens; kept < 8000 || kept > 18_000 || !strings.Contains(c.Entry.Compaction.Summary, "rename the handler") {
		t.Errorf("%d tokens are left of %d", kept, c.Before.Count.Tokens)
	}
}

// operator-use: prepare, then compact; no compaction while a turn runs; settings
// through a callback; hooks that cancel.
func TestReplaceOperatorUse(t *testing.T) {
	run := at(t)
	writeEntries(t, "session.jsonl", 3000, "")
	args := []string{"session.jsonl", "--preset", "operator-use"}
	prepared := run(append([]string{"session", "prepare", "--policy", "winnow", "--focus", "the handlers"}, args...)...)
	compacted := run(append([]string{"session", "compact", "--focus", "the handlers"}, args...)...)
	if prepared["possible"] != true || prepared["first_kept"] != compacted["first_kept"] || prepared["tokens_before"] != compacted["tokens_before"] {
		t.Errorf("prepared %v of %v tokens, kept from %v on of %v", prepared["first_kept"], prepared["tokens_before"], compacted["first_kept"], compacted["tokens_before"])
	}
	reserve, cancel := 8192, false
	store, err := jsonl.Open(t.TempDir(), nil)
	if err != nil {
		t.Fatal(err)
	}
	var appended []string
	s, err := session.Create(t.Context(), store, session.Header{}, &session.Options{
		Live: func(string, string) session.Live {
			return session.Live{Settings: winnow.Settings{Preset: "operator-use", Window: 60_000, OutputReserve: 1000, Systems: winnow.Systems{Reserve: reserve}}}
		},
		Hooks: []session.Hooks{{
			BeforeCompact: func(_ context.Context, ev session.BeforeCompact) (session.CompactDecision, error) {
				return session.CompactDecision{Cancel: cancel}, nil
			},
			AfterCompact: func(_ context.Context, c session.Compacted) error {
				appended = append(appended, c.Entry.ID)
				return nil
			},
		}},
	})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	turn := func(i int) {
		t.Helper()
		s.Begin()
		if _, err := s.Append(t.Context(), chat.TextMessage(chat.User, fmt.Sprintf("request %d", i)), chat.TextMessage(chat.Assistant, strings.Repeat("some words ", 900))); err != nil {
			t.Fatal(err)
		}
		if _, err := s.Compact(t.Context(), ""); !errors.Is(err, session.ErrTurnRunning) {
			t.Errorf("while a turn runs: %v", err)
		}
	}
	i := 0
	for ; len(appended) == 0 && i < 60; i++ { // checked at the end of every run
		turn(i)
		if _, err := s.End(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	_, status, err := s.NeedsCompaction()
	if err != nil || len(appended) != 1 || status.Count.Tokens > 60_000-8192 {
		t.Fatalf("%d compactions after %d turns, %d tokens, %v", len(appended), i, status.Count.Tokens, err)
	}
	turn(i)
	if c, err := s.RequestCompaction(t.Context(), "the words"); c != nil || err != nil {
		t.Errorf("asked for in a turn: %v, %v", c, err)
	}
	if c, err := s.End(t.Context()); err != nil || c == nil || len(appended) != 2 {
		t.Errorf("it did not come at the end of the turn: %v", err)
	}
	reserve = 30_000 // a change counts at the next check
	if _, status, err := s.NeedsCompaction(); err != nil || status.Trigger.At(status.Limits) != 30_000 {
		t.Errorf("with the other reserve it starts at %d, %v", status.Trigger.At(status.Limits), err)
	}
	cancel = true
	if _, err := s.Compact(t.Context(), "again"); !errors.Is(err, session.ErrCancelled) {
		t.Errorf("a hook that cancels: %v", err)
	}
}

// NeuroLink: stats, needs-compaction and compact with a configuration, for a
// provider and model; tags on export, and the way back.
func TestReplaceNeuroLink(t *testing.T) {
	run := at(t)
	put1(t, "memory.json", `{"conversationMemory":{"enableSummarization":true,"contextCompaction":{"threshold":0.8,"maxToolOutputLines":2000}}}`)
	var yaml, errs bytes.Buffer
	if code := Run([]string{"config", "import", "memory.json"}, nil, &yaml, &errs); code != exitDone {
		t.Fatal(errs.String())
	}
	put1(t, ".winnow.yaml", yaml.String())
	body, messages := exchanges(30, 8000)
	put1(t, "chat.json", body)
	run("session", "import", "chat.json", "--store", "s.db", "--config", ".winnow.yaml")
	list := run("session", "ls", "--store", "s.db")
	id := list["sessions"].([]any)[0].(map[string]any)["id"].(string)
	on := []string{id, "--store", "s.db", "--config", ".winnow.yaml"}
	stats := run(append([]string{"session", "stats", "--model", "anthropic/claude-sonnet-4-20250514"}, on...)...)
	small := run(append([]string{"session", "stats", "--model", "openai/gpt-4"}, on...)...)
	if stats["needs_compaction"] != false || small["needs_compaction"] != true || small["fits"] != false {
		t.Errorf("needs compaction at claude: %v, at gpt-4: %v", stats["needs_compaction"], small["needs_compaction"])
	}
	config := []string{"--set", "systems.prune_protect=20000", "--set", "systems.prune_min=1000", "--set", "systems.stages=prune,truncate", "--window", "100000", "--output-reserve", "4000"}
	doc := run(append(append([]string{"session", "compact"}, on...), config...)...)
	stages, _ := json.Marshal(doc["stages"])
	if doc["compacted"] != true || !strings.Contains(string(stages), `"prune"`) || strings.Contains(string(stages), `"fold"`) {
		t.Errorf("%v: %s", doc["compacted"], stages)
	}
	run(append([]string{"session", "rewind"}, on[:3]...)...)
	doc = run(append([]string{"session", "compact", "--focus", "query-7", "--window", "100000", "--output-reserve", "4000"}, on...)...)
	if doc["compacted"] != true {
		t.Fatalf("%v", doc["reason"])
	}
	run(append([]string{"session", "export", "--to", "neurolink", "--out", "nl.json"}, on[:3]...)...)
	data, err := os.ReadFile("nl.json")
	if err != nil || !bytes.Contains(data, []byte(`"condenseParent"`)) || !bytes.Contains(data, []byte(`"metadata":{"isSummary":true}`)) {
		t.Errorf("no tags: %v", err)
	}

	store, err := jsonl.Open(t.TempDir(), nil)
	if err != nil {
		t.Fatal(err)
	}
	s, err := session.Create(t.Context(), store, session.Header{}, &session.Options{Settings: winnow.Settings{Preset: "neurolink"}, Manual: true})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if _, err := s.Append(t.Context(), messages...); err != nil {
		t.Fatal(err)
	}
	if st, err := s.StatsFor("anthropic", "claude-sonnet-4-20250514"); err != nil || st.Status.ShouldCompact {
		t.Errorf("at claude: %+v, %v", st.Status, err)
	}
	if st, err := s.StatsFor("openai", "gpt-4"); err != nil || st.Ratio < 1 || st.Messages != 61 {
		t.Errorf("at gpt-4: %v, %d messages, %v", st.Ratio, st.Messages, err)
	}
	c, err := s.CompactWith(t.Context(), session.With{Settings: winnow.Settings{Model: "gpt-4o", Systems: winnow.Systems{PruneProtect: 20_000, PruneMin: 1000, Stages: []string{"prune"}}}})
	if err != nil {
		t.Fatal(err)
	}
	for _, st := range c.Report.Stages {
		if st.Name != "prune" || st.Saved <= 0 {
			t.Errorf("%+v", c.Report.Stages)
		}
	}
}
