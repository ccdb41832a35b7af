package replay

import (
	"compress/gzip"
	"encoding/json"
	"io"
	"math"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/winnow-llm/winnow/chat"
	"github.com/winnow-llm/winnow/internal/kit/corpus"
	"github.com/winnow-llm/winnow/model"
	"github.com/winnow-llm/winnow/transcript"
)

// By hand: two answers of claude-opus-4-6 ($5 input, $25 output, $0.50 read, $6.25 and
// $10 written), a summary of 90 seconds between them, and one file that was read again
// for four seconds.
func TestBillByHand(t *testing.T) {
	file := strings.Repeat("a line of the file\nanother line\n", 20)
	at := func(m chat.Message, seconds int64) chat.Message {
		m.Time = 1_700_000_000_000 + 1000*seconds
		return m
	}
	read := func(id string, seconds int64, u chat.Usage) []chat.Message {
		m := at(chat.CallMessage("", chat.Call(id, "Read", `{"file_path":"/p/a.go"}`)), seconds)
		m.Usage = &u
		return []chat.Message{m, at(chat.ResultMessage(id, file), seconds+1)}
	}
	closing := at(chat.TextMessage(chat.Assistant, "Done."), 164)
	closing.Usage = &chat.Usage{CacheRead: 31_000, Output: 100}
	s := &Session{Session: transcript.Session{Model: "claude-opus-4-6", History: chat.NewHistory(slices.Concat(
		[]chat.Message{at(chat.TextMessage(chat.User, "Read it."), 0)},
		read("1", 10, chat.Usage{Input: 10, CacheWrite: 30_000, CacheWriteLong: 30_000, Output: 200}),
		read("2", 160, chat.Usage{Input: 10, CacheRead: 30_000, CacheWrite: 1_000, Output: 200}),
		[]chat.Message{closing})...)}}
	s.Compactions = []transcript.Compaction{{At: 3, Summary: "A file was read.", Trigger: "auto", Took: 90 * time.Second}}
	prices := model.Default().Lookup(s.Model)
	p, losses, err := MeasurePast(t.Context(), s, model.Window{Tokens: 200_000}, prices)
	if err != nil {
		t.Fatal(err)
	}
	const want = (20*5 + 30_000*10 + 1_000*6.25 + 61_000*0.5 + 500*25) / 1e6
	if got := p.Dollars - p.Summaries; math.Abs(got-want) > 1e-9 || p.Billed != 1 || p.Summaries <= 0 {
		t.Errorf("it cost $%v and $%v for the summary, want $%v; %+v", got, p.Summaries, want, p)
	}
	if p.Waited != 94*time.Second || len(losses) != 1 || losses[0].Files[0] != "a.go" || losses[0].Time != s.History.At(3).Time {
		t.Errorf("waited %v; %+v", p.Waited, losses)
	}
}

// What the bills of real sessions are made of is what another reader finds in their
// records: Claude Code's by message, Codex' as its own running total.
func TestBillsAreThoseOfTheRecords(t *testing.T) {
	all, err := corpus.Sessions(corpus.Dir(t, "sessions"))
	if err != nil {
		t.Fatal(err)
	}
	checked := map[transcript.Format]int{}
	for _, path := range all {
		data, err := Load(path)
		if err != nil || len(data.Sessions) != 1 {
			continue
		}
		s := &data.Sessions[0]
		if checked[s.Format] == 8 || s.Format != transcript.ClaudeCode && s.Format != transcript.Codex {
			continue
		}
		checked[s.Format]++
		var got chat.Usage
		for _, m := range s.History.All() {
			if m.Usage != nil {
				got.Input += m.Usage.Input
				got.CacheRead += m.Usage.CacheRead
				got.CacheWrite += m.Usage.CacheWrite
				got.CacheWriteLong += m.Usage.CacheWriteLong
				got.Output += m.Usage.Output
			}
		}
		// Codex' total also has answers that were broken off.
		want := usageRecords(t, path)
		near := func(a, b int) bool { return math.Abs(float64(a-b)) <= 0.01*float64(b) }
		if !near(got.Prompt(), want.Prompt()) || !near(got.Output, want.Output) || s.Format == transcript.ClaudeCode && got != want {
			t.Errorf("%s: %+v, its records have %+v", path, got, want)
		}
	}
	t.Logf("%v checked", checked)
}

// usageRecords adds up the usage in a session file, which is the last record of each
// message, or the last total.
func usageRecords(t *testing.T, path string) chat.Usage {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var r io.Reader = f
	if strings.HasSuffix(path, ".gz") {
		if r, err = gzip.NewReader(f); err != nil {
			t.Fatal(err)
		}
	}
	type counts struct {
		Input  int `json:"input_tokens"`
		Output int `json:"output_tokens"`
		Read   int `json:"cache_read_input_tokens"`
		Write  int `json:"cache_creation_input_tokens"`
		Cached int `json:"cached_input_tokens"`
		Kinds  struct {
			Long int `json:"ephemeral_1h_input_tokens"`
		} `json:"cache_creation"`
	}
	byMessage := map[string]*counts{}
	var total *counts
	for d := json.NewDecoder(r); ; {
		var line struct {
			Sidechain bool `json:"isSidechain"`
			Message   struct {
				ID    string  `json:"id"`
				Usage *counts `json:"usage"`
			} `json:"message"`
			Payload struct {
				Info struct {
					Total *counts `json:"total_token_usage"`
				} `json:"info"`
			} `json:"payload"`
		}
		if err := d.Decode(&line); err == io.EOF {
			break
		} else if err != nil {
			continue // other records have other shapes
		}
		if line.Message.Usage != nil && !line.Sidechain {
			byMessage[line.Message.ID] = line.Message.Usage
		}
		if line.Payload.Info.Total != nil {
			total = line.Payload.Info.Total
		}
	}
	var u chat.Usage
	for _, c := range byMessage {
		u.Input, u.Output, u.CacheRead = u.Input+c.Input, u.Output+c.Output, u.CacheRead+c.Read
		u.CacheWrite, u.CacheWriteLong = u.CacheWrite+c.Write, u.CacheWriteLong+c.Kinds.Long
	}
	if total != nil {
		u.Input, u.CacheRead, u.Output = total.Input-total.Cached, total.Cached, total.Output
	}
	return u
}
