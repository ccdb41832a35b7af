// Package resume writes a view as a session file that a coding agent can continue.
//
// [New] prepares a session from a view, [Session.Write] returns the file's bytes
// and [Session.Place] says where the agent looks for it. The agent then starts
// with the compacted conversation as its own past; [Session.Command] is what a
// person types to start it.
//
// The file holds what the model is to see and nothing else. Left out are the
// thinking, which is signed for a conversation that no longer exists; the usage
// of earlier answers, from which the agent would conclude that its window is
// still full; and leading system messages, since the agent sends its own.
package resume

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"github.com/winnow-llm/winnow/chat"
	"github.com/winnow-llm/winnow/internal/agents/table"
	"github.com/winnow-llm/winnow/internal/jsonwrite"
	"github.com/winnow-llm/winnow/transcript"
)

// Session is a conversation for an agent to continue.
type Session struct {
	// Format is the agent's: [transcript.ClaudeCode], [transcript.Codex] or
	// [transcript.Pi].
	Format transcript.Format

	// ID is the session's own, a UUID. [New] derives it.
	ID string

	// Folder is where the agent works. It looks there for the files that the
	// conversation names, and lists the session under this folder.
	Folder string

	// Provider and Model answered last; "" where nobody knows. pi goes on with them.
	Provider, Model string

	// Time is when the session is written; it stands for the time of messages that
	// have none.
	Time time.Time

	messages []chat.Message
}

// Formats returns the formats that can be written.
func Formats() []transcript.Format {
	return []transcript.Format{transcript.ClaudeCode, transcript.Codex, transcript.Pi}
}

// New prepares a view for an agent. The session's id depends on the seed alone,
// so that the same view gets the same file.
func New(f transcript.Format, view chat.Sequence, seed string) (*Session, error) {
	s := &Session{Format: f, ID: makeUUID(string(f) + "\x00" + seed), messages: portableMessages(view)}
	if _, ok := writers[f]; !ok {
		return nil, fmt.Errorf("no agent can continue a file in the format %s", f)
	}
	if len(s.messages) == 0 {
		return nil, errors.New("there is no message to continue from")
	}
	return s, nil
}

var writers = map[transcript.Format]func(*Session) ([]byte, error){
	transcript.ClaudeCode: (*Session).writeClaude,
	transcript.Codex:      (*Session).writeCodex,
	transcript.Pi:         (*Session).writePi,
}

// Write returns the session file.
func (s *Session) Write() ([]byte, error) { return writers[s.Format](s) }

// Place returns the path at which the agent looks for the session, below the
// folder in which it keeps all of them.
func (s *Session) Place(dir string) string {
	at := s.Time.UTC()
	switch s.Format {
	case transcript.ClaudeCode:
		return filepath.Join(dir, claudeProject(s.Folder), s.ID+".jsonl")
	case transcript.Codex:
		return filepath.Join(dir, at.Format("2006"), at.Format("01"), at.Format("02"), "rollout-"+at.Format("2006-01-02T15-04-05")+"-"+s.ID+".jsonl")
	default:
		return filepath.Join(dir, piProject(s.Folder), strings.NewReplacer(":", "-", ".", "-").Replace(formatTime(at))+"_"+s.ID+".jsonl")
	}
}

// Command returns what starts the agent with the session. path is where the file
// is, as a person would type it.
func (s *Session) Command(path string) string {
	agent, _ := table.OfFormat(string(s.Format))
	return strings.NewReplacer("ID", s.ID, "FILE", path).Replace(agent.Sessions.Resume)
}

// portableMessages returns the messages without thinking, and without parts that
// only the provider that made them understands.
func portableMessages(view chat.Sequence) []chat.Message {
	var out []chat.Message
	for i := range view.Len() {
		m := *view.At(i)
		if m.Role == chat.System {
			if len(out) == 0 {
				continue
			}
			m.Role, m.Synthetic = chat.User, true // agents keep no system message among the others
		}
		m.Usage, m.Parts = nil, nil
		for _, p := range view.At(i).Parts {
			if p.Kind != chat.Thinking && p.Kind != chat.Opaque {
				p.Signature = ""
				m.Parts = append(m.Parts, p)
			}
		}
		if len(m.Parts) > 0 {
			out = append(out, m)
		}
	}
	return out
}

// textBlocks returns a text as a list of one block.
func textBlocks(kind, text string) []byte {
	return jsonwrite.List([][]byte{jsonwrite.Of("type", kind, "text", text)})
}

// formatTime writes a time as all three agents do.
func formatTime(t time.Time) string { return t.UTC().Format("2006-01-02T15:04:05.000Z") }

// makeUUID makes a UUID (version 8: made by the program's own rule) of a name.
func makeUUID(name string) string {
	h := sha256.Sum256([]byte(name))
	h[6], h[8] = h[6]&0x0f|0x80, h[8]&0x3f|0x80
	return fmt.Sprintf("%x-%x-%x-%x-%x", h[:4], h[4:6], h[6:8], h[8:10], h[10:16])
}

// recordID names record n of the session.
func (s *Session) recordID(n int) string { return makeUUID(fmt.Sprintf("%s/%d", s.ID, n)) }
