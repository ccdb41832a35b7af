// Package agenthome lays out a home folder as Claude Code, pi and OpenCode do, with
// sessions that a test generated: [Home.Write] stores a session as the agent of a format
// would, compactions included. The writers know only what package transcript
// reads; nobody should give their files to a real agent.
package agenthome

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/winnow-llm/winnow/chat"
	"github.com/winnow-llm/winnow/transcript"
)

// Home is a folder that agents keep their things in.
type Home struct{ Dir string }

// Write stores a session under an id. Its last message is dated to a moment, the
// others before it as they are apart. It returns the file that stands for it.
func (h Home) Write(format transcript.Format, id string, s *transcript.Session, last time.Time) (string, error) {
	w := &writer{id, s, last}
	switch format {
	case transcript.ClaudeCode:
		return h.writeLines(w.claudeRecords(), last, ".claude/projects/-home-me-project", id+".jsonl")
	case transcript.Pi:
		return h.writeLines(w.piRecords(), last, ".pi/agent/sessions/--home-me-project--", id+".jsonl")
	case transcript.OpenCode:
		file, err := h.makePlace(".local/share/opencode", "opencode.db")
		if err == nil {
			err = w.writeOpenCode(file)
		}
		return file + "#" + id, err
	}
	return "", fmt.Errorf("agenthome: no agent here writes %s", format)
}

// makePlace returns the path of a file, and makes its folder.
func (h Home) makePlace(path ...string) (string, error) {
	file := filepath.Join(append([]string{h.Dir}, path...)...)
	return file, os.MkdirAll(filepath.Dir(file), 0o755)
}

// writeLines writes values, one a line.
func (h Home) writeLines(values []any, last time.Time, path ...string) (string, error) {
	var text strings.Builder
	for _, v := range values {
		text.WriteString(encode(v) + "\n")
	}
	file, err := h.makePlace(path...)
	if err == nil {
		err = os.WriteFile(file, []byte(text.String()), 0o600)
	}
	if err == nil {
		err = os.Chtimes(file, last, last)
	}
	return file, err
}

// writer knows one session.
type writer struct {
	id   string
	s    *transcript.Session
	last time.Time // of the last message
}

// stamp returns the time of a message, as far from the last one as it was.
func (w *writer) stamp(i int) time.Time {
	h := w.s.History
	return w.last.Add(time.Duration(h.At(i).Time-h.At(h.Len()-1).Time) * time.Millisecond)
}

type object = map[string]any

// eachMessage calls f with each message, and compacted before the message at which a
// compaction stands.
func (w *writer) eachMessage(f func(i int, m *chat.Message), compacted func(c *transcript.Compaction, at time.Time)) {
	left := w.s.Compactions
	for i, m := range w.s.History.All() {
		for len(left) > 0 && left[0].At <= i {
			compacted(&left[0], w.stamp(i))
			left = left[1:]
		}
		f(i, m)
	}
}

func (w *writer) messageID(i int) string { return fmt.Sprintf("%s-m%05d", w.id, i) }

func formatTime(t time.Time) string { return t.UTC().Format("2006-01-02T15:04:05.000Z") }
