package app

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"
	"github.com/winnow-llm/winnow/internal/app/demo"
	"github.com/winnow-llm/winnow/internal/kit/corpus"
	"github.com/winnow-llm/winnow/internal/pibase"
	"github.com/winnow-llm/winnow/transcript"
)

// document runs a command with --json and returns its document.
func document(t *testing.T, args ...string) map[string]any {
	t.Helper()
	code, stdout, stderr := command(t, "", append(args, "--json")...)
	if code != exitDone {
		t.Fatalf("winnow %s: exit %d: %s", strings.Join(args, " "), code, stderr)
	}
	var doc map[string]any
	if err := json.Unmarshal([]byte(stdout), &doc); err != nil {
		t.Fatalf("winnow %s: %v\n%s", strings.Join(args, " "), err, stdout)
	}
	return doc
}

func writeFile(t *testing.T, path, text string) string {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// TestSessionContract checks the keys that scripts rely on, with both kinds of
// store and with a file.
func TestSessionContract(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	body := writeFile(t, filepath.Join(dir, "demo.json"), string(demo.Session()))
	for _, store := range []string{filepath.Join(dir, "s.db"), filepath.Join(dir, "folder") + string(filepath.Separator)} {
		t.Run(filepath.Base(store), func(t *testing.T) {
			in := document(t, "session", "import", body, "--store", store, "--name", "the demo")
			id := in["sessions"].([]any)[0].(map[string]any)["session"].(string)
			short := id[:13]
			check := func(keys string, args ...string) map[string]any {
				t.Helper()
				doc := document(t, append(append([]string{"session"}, args...), "--store", store)...)
				for _, missing := range lacking(doc, keys) {
					t.Errorf("winnow session %s: there is no %s", args[0], missing)
				}
				return doc
			}
			check("store sessions[id name title dir created modified bytes] page{skip limit more}", "ls")
			const listed = "id name session leaf model entries items[id type time text depth children] problems page"
			check(listed, "show", short)
			check(listed, "tree", short)
			const stats = "session entries by_type branches bytes path messages turns compactions pins view tokens ratio usage calls breakdown{total} limits{context available} needs_compaction fits first last problems"
			whole := check(stats, "stats", short, "--window", "60000")
			check("possible reason first_kept_index split_turn messages_to_summarize turn_prefix_messages tokens_before history_sha256 prefix_sha256 read_files modified_files", "prepare", short, "--policy", "pi")
			check("possible reason first_kept_index split_turn messages_to_summarize turn_prefix_messages tokens_before history_sha256 prefix_sha256 read_files modified_files", "prepare", short, "--entries", "40", "--keep-recent", "2000")
			if now, p := document(t, "session", "stats", short, "--store", store), document(t, "session", "prepare", short, "--store", store); p["tokens_before"] != now["tokens"] {
				t.Errorf("prepare says %v tokens, stats %v", p["tokens_before"], now["tokens"])
			}
			if whole["needs_compaction"] != true {
				t.Fatalf("the demo fits into 60,000 tokens: %v", whole["tokens"])
			}

			c := check("session compacted entry plan_id tokens_before tokens_after messages_before messages_after stages[name edits saved] report{kept reduced removed evidence} read_files modified_files", "compact", short, "the", "keys", "--window", "60000")
			if c["compacted"] != true || c["focus"] != "the keys" || c["tokens_after"].(float64) >= c["tokens_before"].(float64) {
				t.Errorf("compact: %v", c)
			}
			again := check("session compacted reason tokens_before tokens_after", "compact", short, "--window", "60000")
			if again["compacted"] != false || again["reason"] == "" {
				t.Errorf("a second compaction: %v", again)
			}
			r := check("session rewound entry tokens_before tokens_after messages_before messages_after", "rewind", short)
			if r["rewound"] != c["entry"] {
				t.Errorf("rewind took back %v, not %v", r["rewound"], c["entry"])
			}
			if after := check(stats, "stats", short, "--window", "60000"); after["tokens"] != whole["tokens"] || after["view"] != whole["view"] {
				t.Errorf("after the rewind %v tokens in %v messages, before the compaction %v in %v", after["tokens"], after["view"], whole["tokens"], whole["view"])
			}
			if code, _, stderr := command(t, "", "session", "rewind", short, "--store", store); code != exitFailed || !strings.Contains(stderr, "no compaction to undo") {
				t.Errorf("a second rewind: exit %d: %s", code, stderr)
			}

			target := entryOf(t, store, short, "assistant", 3)
			b := check("session forked moved old_leaf leaf ancestor text", "branch", short, target[:6], "--summary")
			if b["moved"] != true || b["summary_entry"] == nil {
				t.Errorf("branch: %v", b)
			}
			fork := check("session parent forked leaf", "branch", short, target, "--fork")
			if fork["session"] == id || fork["parent"] != id {
				t.Errorf("fork: %v", fork)
			}
			hits := check("query hits[session entry snippet time]", "search", strings.Fields(demo.Constraint)[1], "API")
			if len(hits["hits"].([]any)) == 0 {
				t.Error("the search finds nothing")
			}
			for _, format := range exportFormats {
				out := filepath.Join(t.TempDir(), "out")
				e := check("session format file bytes messages left_out", "export", id, "--to", format, "--out", out)
				back, err := transcript.ReadFile(out, nil)
				if err != nil || len(back) != 1 || back[0].History.Len() == 0 {
					t.Errorf("%s: what was written cannot be read: %v, %v", format, err, e)
				}
			}
			check("deleted", "delete", fork["session"].(string), id, "--yes")
			if left := check("sessions", "ls"); len(left["sessions"].([]any)) != 0 {
				t.Errorf("after deleting there are %v", left["sessions"])
			}
		})
	}
}

// entryOf returns the id of the nth entry with a role.
func entryOf(t *testing.T, store, session, role string, n int) string {
	t.Helper()
	doc := document(t, "session", "show", session, "--limit", "0", "--store", store)
	for _, e := range doc["items"].([]any) {
		if m := e.(map[string]any); m["role"] == role {
			if n--; n < 0 {
				return m["id"].(string)
			}
		}
	}
	t.Fatalf("there is no such %s entry", role)
	return ""
}

// TestSessionPrepareGolden runs what the command runs over pi's own results.
func TestSessionPrepareGolden(t *testing.T) {
	t.Parallel()
	data, err := os.ReadFile(corpus.Dir(t, "pi", "golden", "prepare-compaction.json"))
	if err != nil {
		t.Fatal(err)
	}
	var cases []struct {
		Fixture    string
		Prefix     int `json:"prefixEntries"`
		KeepRecent int `json:"keepRecentTokens"`
		Prepare    *struct {
			FirstKeptEntryIndex                     int
			IsSplitTurn                             bool
			MessagesToSummarize, TurnPrefixMessages int
			TokensBefore                            int
			PreviousSummaryChars                    *int
			HistoryTextSha256, PrefixTextSha256     string
			ReadFiles, ModifiedFiles                int
			FileFooterSha256                        string
		}
	}
	if err := json.Unmarshal(data, &cases); err != nil {
		t.Fatal(err)
	}
	files := make(map[string]*pibase.File)
	possible := 0
	for i, c := range cases {
		f := files[c.Fixture]
		if f == nil {
			raw, err := os.ReadFile(corpus.Dir(t, "pi", "fixtures", c.Fixture))
			if err != nil {
				t.Fatal(err)
			}
			if f, err = pibase.Read(raw); err != nil {
				t.Fatal(err)
			}
			files[c.Fixture] = f
		}
		got := preparePi(f, c.Prefix, c.KeepRecent)
		want := prepared{Policy: policyPi, Entries: c.Prefix, KeepRecent: c.KeepRecent, Reason: got.Reason, TokensBefore: got.TokensBefore}
		if p := c.Prepare; p != nil {
			possible++
			want = prepared{
				Policy: policyPi, Entries: c.Prefix, KeepRecent: c.KeepRecent, Possible: true, FirstKept: got.FirstKept,
				FirstKeptIndex: &p.FirstKeptEntryIndex, SplitTurn: p.IsSplitTurn, Summarize: p.MessagesToSummarize, TurnPrefix: p.TurnPrefixMessages,
				TokensBefore: p.TokensBefore, HistoryHash: p.HistoryTextSha256, PrefixHash: p.PrefixTextSha256,
				ReadFiles: p.ReadFiles, ModifiedFiles: p.ModifiedFiles, FooterHash: p.FileFooterSha256, Previous: p.PreviousSummaryChars != nil,
			}
		} else if got.Reason == "" {
			t.Errorf("case %d: no reason why there is nothing to do", i)
		}
		a, b := toJSON(t, got), toJSON(t, want)
		if a != b {
			t.Errorf("case %d, %s, %d entries, keep %d:\n got %s\nwant %s", i, c.Fixture, c.Prefix, c.KeepRecent, a, b)
		}
		if i%27 == 0 { // and the command itself
			path := corpus.Dir(t, "pi", "fixtures", c.Fixture)
			doc := document(t, "session", "prepare", path, "--entries", fmt.Sprint(c.Prefix), "--keep-recent", fmt.Sprint(c.KeepRecent), "--policy", "pi")
			delete(doc, "session")
			var same map[string]any
			if err := json.Unmarshal([]byte(a), &same); err != nil {
				t.Fatal(err)
			}
			delete(same, "session")
			if x, y := toJSON(t, doc), toJSON(t, same); x != y {
				t.Errorf("case %d: the command says %s, not %s", i, x, y)
			}
		}
	}
	if len(cases) != 216 {
		t.Errorf("%d cases, want 216", len(cases))
	}
	t.Logf("%d cases, in %d of them there is something to do", len(cases), possible)
}

func toJSON(t *testing.T, v any) string {
	t.Helper()
	b, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// TestSessionTallies checks that what a compaction puts in place of what it
// removed is not taken from what it kept.
func TestSessionTallies(t *testing.T) {
	dir := isolate(t)
	store := filepath.Join(dir, "s.db")
	body := writeFile(t, filepath.Join(dir, "demo.json"), string(demo.Session()))
	id := document(t, "session", "import", body, "--store", store)["sessions"].([]any)[0].(map[string]any)["session"].(string)
	report := document(t, "session", "compact", id, "--window", "60000", "--store", store)["report"].(map[string]any)
	kept := report["kept"].(map[string]any)
	if kept["messages"] == 0.0 || kept["tokens_before"] == 0.0 || kept["tokens_before"] != kept["tokens_after"] {
		t.Errorf("kept: %v", kept)
	}
}

// TestSessionWidth checks that lists for people fit a terminal of 80 columns.
func TestSessionWidth(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	store := filepath.Join(dir, "s.db")
	body := writeFile(t, filepath.Join(dir, "demo.json"), string(demo.Session()))
	id := document(t, "session", "import", body, "--store", store)["sessions"].([]any)[0].(map[string]any)["session"].(string)
	target := entryOf(t, store, id, "user", 1)
	for _, args := range [][]string{
		{"ls"},
		{"stats", id, "--window", "60000"},
		{"compact", id, "--window", "60000"},
		{"show", id, "--limit", "0"},
		{"show", id, "--view"},
		{"prepare", id},
		{"branch", id, target, "--summary", "--label", "another way"},
		{"tree", id, "--limit", "0"},
		{"search", "key"},
		{"rewind", id},
	} {
		code, stdout, stderr := command(t, "", append(append([]string{"session"}, args...), "--store", store)...)
		if args[0] != "rewind" && code != exitDone {
			t.Errorf("%v: exit %d: %s", args, code, stderr)
		}
		for i, line := range strings.Split(stdout, "\n") {
			if w := ansi.StringWidth(line); w > 80 && args[0] != "branch" { // which prints the user's own lines
				t.Errorf("%v: line %d has %d columns: %s", args, i, w, line)
			}
		}
	}
}
