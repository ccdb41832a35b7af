package pibase

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/winnow-llm/winnow/internal/kit/corpus"
)

type goldenCase struct {
	Fixture    string
	Prefix     int `json:"prefixEntries"`
	KeepRecent int `json:"keepRecentTokens"`
	Context    struct {
		Messages  int
		FirstRole string
		Estimate  struct {
			Tokens         int
			UsageTokens    int
			TrailingTokens int
			LastUsageIndex *int
		}
	}
	Cut struct {
		FirstKeptEntryIndex, TurnStartIndex int
		IsSplitTurn                         bool
	} `json:"findCutPointWholePath"`
	Prepare *goldenPrepare
}

type goldenPrepare struct {
	FirstKeptEntryIndex                     int
	IsSplitTurn                             bool
	MessagesToSummarize, TurnPrefixMessages int
	TokensBefore                            int
	PreviousSummaryChars                    *int
	HistoryTextChars                        int
	HistoryTextSha256                       string
	PrefixTextChars                         int
	PrefixTextSha256                        string
	ReadFiles, ModifiedFiles                int
	FileFooterSha256                        string
}

func readFixture(t *testing.T, name string) *File {
	t.Helper()
	data, err := os.ReadFile(corpus.Dir(t, "pi", "fixtures", name))
	if err != nil {
		t.Fatal(err)
	}
	f, err := Read(data)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func readGolden(t *testing.T, name string, into any) {
	t.Helper()
	data, err := os.ReadFile(corpus.Dir(t, "pi", "golden", name))
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(data, into); err != nil {
		t.Fatal(err)
	}
}

func sum(s string) string {
	h := sha256.Sum256([]byte(s))
	return hex.EncodeToString(h[:])
}

func TestGoldenPrepare(t *testing.T) {
	var cases []goldenCase
	readGolden(t, "prepare-compaction.json", &cases)
	files := make(map[string]*File)
	for i := range cases {
		c := &cases[i]
		if files[c.Fixture] == nil {
			files[c.Fixture] = readFixture(t, c.Fixture)
		}
		f := files[c.Fixture]
		path := Path(f.Entries[:c.Prefix], "")
		index := make(map[string]int, len(path))
		for k, e := range path {
			index[e.ID] = k
		}
		bad := func(what string, got, want any) {
			t.Errorf("%s, %d entries, keep %d: %s is %v, want %v", c.Fixture, c.Prefix, c.KeepRecent, what, got, want)
		}
		msgs := Project(path).Messages()
		if len(msgs) != c.Context.Messages {
			bad("messages", len(msgs), c.Context.Messages)
		}
		if len(msgs) > 0 && msgs[0].Role != c.Context.FirstRole {
			bad("first role", msgs[0].Role, c.Context.FirstRole)
		}
		want := c.Context.Estimate
		at := -1
		if want.LastUsageIndex != nil {
			at = *want.LastUsageIndex
		}
		if got := EstimateContext(msgs); got != (Context{want.Tokens, want.UsageTokens, want.TrailingTokens, at}) {
			bad("estimate", got, want)
		}
		if got := cutOf(path, c.KeepRecent); got != (Cut{c.Cut.FirstKeptEntryIndex, c.Cut.TurnStartIndex}) || c.Cut.IsSplitTurn != (got.Turn >= 0) {
			bad("cut", got, c.Cut)
		}
		p, _ := Prepare(path, c.KeepRecent)
		if p == nil || c.Prepare == nil {
			if (p == nil) != (c.Prepare == nil) {
				bad("preparation", p, c.Prepare)
			}
			continue
		}
		read, modified := p.Files.Lists()
		got := goldenPrepare{
			FirstKeptEntryIndex: index[p.FirstKept], IsSplitTurn: p.Split,
			MessagesToSummarize: len(p.History), TurnPrefixMessages: len(p.Prefix), TokensBefore: p.TokensBefore,
			HistoryTextChars: utf16Units(Serialize(p.History)), HistoryTextSha256: sum(Serialize(p.History)),
			PrefixTextChars: utf16Units(Serialize(p.Prefix)), PrefixTextSha256: sum(Serialize(p.Prefix)),
			ReadFiles: len(read), ModifiedFiles: len(modified), FileFooterSha256: sum(Footer(read, modified)),
		}
		if (c.Prepare.PreviousSummaryChars != nil) != p.HasPrevious || p.HasPrevious && utf16Units(p.Previous) != *c.Prepare.PreviousSummaryChars {
			bad("previous summary", utf16Units(p.Previous), c.Prepare.PreviousSummaryChars)
		}
		c.Prepare.PreviousSummaryChars = nil
		if got != *c.Prepare {
			bad("preparation", got, *c.Prepare)
		}
	}
	t.Logf("%d cases", len(cases))
}

func TestGoldenEstimates(t *testing.T) {
	for _, name := range []string{"before-compaction", "large-session"} {
		var want struct{ Values []*int }
		readGolden(t, "estimate-"+name+".json", &want)
		f := readFixture(t, name+".jsonl")
		if len(f.Entries) != len(want.Values) {
			t.Fatalf("%s: %d entries, want %d", name, len(f.Entries), len(want.Values))
		}
		for i := range f.Entries {
			if m := f.Entries[i].Message; (m != nil) != (want.Values[i] != nil) || m != nil && m.Estimate() != *want.Values[i] {
				t.Errorf("%s: entry %d: estimate %v, want %v", name, i, m, want.Values[i])
			}
		}
	}
}

func TestGoldenProjections(t *testing.T) {
	type entry struct {
		ID, Type string
		Roles    []string
	}
	type said struct{ Role, Text string }
	var want struct {
		IDs     map[string]string
		Prepare struct {
			FirstKeptEntryID string
			IsSplitTurn      bool
			TokensBefore     int
			History, Prefix  []string
			Files            struct{ ReadFiles, ModifiedFiles []string }
		} `json:"prepareAtKeepRecent20"`
		Projections map[string]struct {
			Leaf    string
			Entries []entry
			LLM     []said
		}
	}
	readGolden(t, "pi-1.5.0-written-v3.expected.json", &want)
	f := readFixture(t, "pi-1.5.0-written-v3.jsonl")
	same := func(what string, got, want any) {
		t.Helper()
		a, _ := json.Marshal(got)
		b, _ := json.Marshal(want)
		if string(a) != string(b) {
			t.Errorf("%s:\n got %s\nwant %s", what, a, b)
		}
	}
	if len(want.Projections) != 4 {
		t.Fatalf("%d projections, want 4", len(want.Projections))
	}
	for name, w := range want.Projections {
		p := Project(Path(f.Entries, w.Leaf))
		got := []entry{}
		for _, e := range p {
			roles := []string{}
			for _, m := range e.Messages {
				roles = append(roles, m.Role)
			}
			got = append(got, entry{e.Entry.ID, e.Entry.Type, roles})
		}
		same(name+" entries", got, w.Entries)
		llm := []said{}
		for _, m := range ToLLM(p.Messages()) {
			llm = append(llm, said{m.Role, shown(m)})
		}
		same(name+" sent", llm, w.LLM)
	}
	p, why := Prepare(Path(f.Entries, want.Projections["beforeCompactionLeaf"].Leaf), 20)
	if p == nil {
		t.Fatal(why)
	}
	roles := func(msgs []*Message) (out []string) {
		for _, m := range msgs {
			out = append(out, m.Role)
		}
		return out
	}
	w := want.Prepare
	same("history", roles(p.History), w.History)
	same("prefix", roles(p.Prefix), w.Prefix)
	same("kept", []any{p.FirstKept, p.Split, p.TokensBefore}, []any{w.FirstKeptEntryID, w.IsSplitTurn, w.TokensBefore})
	read, modified := p.Files.Lists()
	same("files", [][]string{read, modified}, [][]string{w.Files.ReadFiles, w.Files.ModifiedFiles})
}

func shown(m *Message) string {
	if m.IsText {
		return m.Text
	}
	var parts []string
	for _, b := range m.Blocks {
		switch b.Type {
		case "text":
			parts = append(parts, b.Text)
		case "toolCall":
			parts = append(parts, "<call "+b.Name+" "+b.ID+">")
		default:
			parts = append(parts, "<"+b.Type+">")
		}
	}
	return strings.Join(parts, "|")
}

// The sessions whose expectations are kept back must at least be read and
// prepared at every length.
func TestOtherFixtures(t *testing.T) {
	for _, name := range []string{"history-compact.jsonl", "history-session.jsonl", "prompt-cache-replay-session.jsonl"} {
		f := readFixture(t, name)
		for n := 1; n <= len(f.Entries); n += 1 + len(f.Entries)/40 {
			path := Path(f.Entries[:n], "")
			p, why := Prepare(path, 2000)
			if (p == nil) == (why == "") {
				t.Fatalf("%s at %d: a preparation and a reason, or neither", filepath.Base(name), n)
			}
			if p != nil && len(Serialize(p.History))+len(Serialize(p.Prefix)) == 0 {
				t.Errorf("%s at %d: nothing to read", name, n)
			}
		}
	}
}
