package transcript_test

import (
	"strings"
	"testing"
	"time"

	"github.com/winnow-llm/winnow/transcript"
)

// What a client kept beside its summary, and how long it waited for it, is known
// where the file tells.
func TestCompactionKept(t *testing.T) {
	pi := `{"type":"session","version":3,"id":"s","timestamp":"2026-01-01T00:00:00Z","cwd":"/"}
{"type":"message","id":"a","parentId":null,"timestamp":"2026-01-01T00:00:01Z","message":{"role":"user","content":"one"}}
{"type":"message","id":"b","parentId":"a","timestamp":"2026-01-01T00:00:02Z","message":{"role":"assistant","content":[{"type":"text","text":"two"}]}}
{"type":"message","id":"c","parentId":"b","timestamp":"2026-01-01T00:00:03Z","message":{"role":"user","content":"three"}}
{"type":"compaction","id":"d","parentId":"c","timestamp":"2026-01-01T00:00:04Z","summary":"S","firstKeptEntryId":"b","tokensBefore":9}
{"type":"message","id":"e","parentId":"d","timestamp":"2026-01-01T00:00:05Z","message":{"role":"assistant","content":[{"type":"text","text":"four"}]}}
`
	claude := func(meta string) string {
		return `{"type":"user","uuid":"a","parentUuid":null,"sessionId":"s","timestamp":"2026-01-01T00:00:01Z","message":{"role":"user","content":"one"}}
{"type":"assistant","uuid":"b","parentUuid":"a","sessionId":"s","timestamp":"2026-01-01T00:00:02Z","message":{"role":"assistant","id":"m","content":[{"type":"text","text":"two"}]}}
{"type":"system","subtype":"compact_boundary","uuid":"c","parentUuid":null,"logicalParentUuid":"b","sessionId":"s","timestamp":"2026-01-01T00:00:03Z","compactMetadata":{"trigger":"auto","preTokens":9` + meta + `}}
{"type":"user","uuid":"d","parentUuid":"c","sessionId":"s","timestamp":"2026-01-01T00:00:03Z","isCompactSummary":true,"message":{"role":"user","content":"S"}}
{"type":"assistant","uuid":"e","parentUuid":"d","sessionId":"s","timestamp":"2026-01-01T00:00:04Z","message":{"role":"assistant","id":"n","content":[{"type":"text","text":"three"}]}}
`
	}
	for name, c := range map[string]struct {
		data     string
		at, kept int
		took     time.Duration
	}{
		"pi":                      {pi, 3, 2, time.Second},
		"Claude Code":             {claude(""), 2, 0, time.Second},
		"Claude Code with a time": {claude(`,"durationMs":2500`), 2, 0, 2500 * time.Millisecond},
		"asked for by a person":   {strings.Replace(claude(""), `"auto"`, `"manual"`, 1), 2, 0, 0},
		"Claude Code with a tail": {claude(`,"preservedSegment":{"headUuid":"b","anchorUuid":"d","tailUuid":"b"}`), 2, 1, time.Second},
		"a tail that is nowhere":  {claude(`,"preservedSegment":{"headUuid":"z"}`), 2, 0, time.Second},
	} {
		got, err := transcript.Read([]byte(c.data), nil)
		if err != nil || len(got) != 1 || len(got[0].Compactions) != 1 {
			t.Errorf("%s: %v, %+v", name, err, got)
			continue
		}
		if k := got[0].Compactions[0]; k.At != c.at || k.Kept != c.kept || k.Took != c.took || k.Summary != "S" {
			t.Errorf("%s: %+v", name, k)
		}
	}
}
