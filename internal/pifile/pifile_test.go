package pifile

import (
	"testing"
	"time"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/google/go-cmp/cmp"
	"github.com/winnow-llm/winnow/chat"
	"github.com/winnow-llm/winnow/internal/decode"
)

// What is written is read back: an answer with every kind of block that pi has.
func TestWrittenIsRead(t *testing.T) {
	parts := []chat.Part{
		{Kind: chat.Text, Text: "a\n\"b\"", Signature: "s1"},
		{Kind: chat.Thinking, Text: "hm", Signature: "s2"},
		{Kind: chat.ToolCall, ID: "c", Name: "read", Args: `{"path":"x"}`, Signature: "s3"},
		{Kind: chat.Image, Media: "image/png", Data: "AAAA"},
	}
	m := chat.Message{Role: chat.Assistant, Parts: parts, Model: "m", Time: 7, Usage: &chat.Usage{Input: 1, Output: 2, CacheRead: 3, CacheWrite: 4, Thinking: 5}}
	drafts := MessageDrafts(&m, Origin{Provider: "anthropic", Model: "other"})
	if len(drafts) != 1 {
		t.Fatalf("%d entries, want 1", len(drafts))
	}
	raw := drafts[0].Record("id", "", time.UnixMilli(1700000000123))
	if err := decode.Valid(raw); err != nil {
		t.Fatalf("%s: %v", raw, err)
	}
	e := Parse(raw)
	if e.Type != TypeMessage || e.ID != "id" || Time(e.Time).UnixMilli() != 1700000000123 || e.Parent != "" {
		t.Errorf("entry %+v", e)
	}
	got := ParseMessage(e.Message)
	if got.Role != "assistant" || decode.Str(got.Model) != "m" || decode.Str(got.Provider) != "anthropic" || !cmp.Equal(got.Reported(), m.Usage) {
		t.Errorf("message %s", e.Message)
	}
	var read []chat.Part
	for _, v := range decode.Elements(got.Content) {
		b := ParseBlock(v)
		p, ok := b.Part()
		if !ok {
			t.Errorf("%s is none of pi's blocks", v)
		}
		read = append(read, p)
	}
	if diff := cmp.Diff(parts, read); diff != "" {
		t.Errorf("parts, -want +got:\n%s", diff)
	}
	got.Stop = jsontext.Value(`"aborted"`)
	if got.Reported() != nil {
		t.Error("an aborted call reports usage")
	}
}

// Records of version 1 and 2 become version 3, and keep what is unknown here.
func TestOlderVersions(t *testing.T) {
	byIndex := []string{"", "aa", "bb"}
	for _, c := range []struct{ in, want string }{
		{`{"x" : [1.00, "\u00e9"], "type":"message","message":{"role":"user"}}`, `{"type":"message","id":"bb","parentId":"aa","x":[1.00, "\u00e9"],"message":{"role":"user"}}`},
		{`{"type":"compaction","firstKeptEntryIndex":1}`, `{"type":"compaction","id":"bb","parentId":"aa","firstKeptEntryId":"aa"}`},
		{`{"type":"compaction","firstKeptEntryIndex":9}`, `{"type":"compaction","id":"bb","parentId":"aa","firstKeptEntryId":"bb"}`},
		{`{"id":"old"}`, `{"type":"","id":"bb","parentId":"aa"}`},
	} {
		if got := string(WithPlace([]byte(c.in), "bb", "aa", byIndex)); got != c.want {
			t.Errorf("%s\n got %s\nwant %s", c.in, got, c.want)
		}
	}
	for in, want := range map[string]string{
		`{"a":"hookMessage","message":{ "role" : "hookMessage","y":1}}`: `{"a":"hookMessage","message":{ "role" : "custom","y":1}}`,
		`{"message":{"role":"user","content":"hookMessage"}}`:           `{"message":{"role":"user","content":"hookMessage"}}`,
	} {
		if got := string(WithoutHookRole([]byte(in))); got != want {
			t.Errorf("%s\n got %s\nwant %s", in, got, want)
		}
	}
}

func TestParseHeader(t *testing.T) {
	for in, want := range map[string]int{
		`{"type":"session","id":"s"}`: 1, `{"type":"session","id":"s","version":3}`: 3, `{"type":"session","id":"s","version":"3"}`: 1,
		`{"type":"session","id":7}`: -1, `{"type":"message","id":"s"}`: -1, `[]`: -1,
	} {
		h, ok := ParseHeader(jsontext.Value(in))
		if ok != (want > 0) || ok && h.Version != want {
			t.Errorf("%s: version %d, %v", in, h.Version, ok)
		}
	}
}
