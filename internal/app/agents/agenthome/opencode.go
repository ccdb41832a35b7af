package agenthome

import (
	"fmt"
	"path/filepath"
	"time"

	"github.com/winnow-llm/winnow/chat"
	"github.com/winnow-llm/winnow/transcript"
)

// OpenCodeMessage is a message as OpenCode keeps it, apart from its parts.
type OpenCodeMessage struct {
	ID    string
	Time  time.Time
	Info  map[string]any
	Parts []map[string]any
}

// OpenCode returns a session's messages as OpenCode keeps them.
func OpenCode(id string, s *transcript.Session, last time.Time) []OpenCodeMessage {
	return (&writer{id: id, s: s, stamp: shiftTimes(s.History, last)}).openCode()
}

func (w *writer) openCode() []OpenCodeMessage {
	var out []OpenCodeMessage
	add := func(id, role string, at time.Time, parts ...object) *OpenCodeMessage {
		info := object{"id": id, "sessionID": w.id, "role": role, "time": object{"created": at.UnixMilli()}}
		if role == "assistant" {
			info["modelID"] = w.s.Model
		}
		for i := range parts {
			parts[i]["id"], parts[i]["messageID"], parts[i]["sessionID"] = fmt.Sprintf("prt-%s-%02d", id, i), id, w.id
		}
		out = append(out, OpenCodeMessage{ID: id, Time: at, Info: info, Parts: parts})
		return &out[len(out)-1]
	}
	w.eachMessage(func(i int, m *chat.Message) {
		var parts []object
		for k := range m.Parts {
			switch p := &m.Parts[k]; p.Kind {
			case chat.ToolCall:
				answer, at := w.resultOf(i, p.ID)
				state := object{"status": "completed", "input": rawArguments(p), "output": answer, "time": object{"end": at.UnixMilli()}}
				parts = append(parts, object{"type": "tool", "callID": p.ID, "tool": p.Name, "state": state})
			case chat.ToolResult: // stands with the call
			default:
				parts = append(parts, object{"type": "text", "text": p.Text})
			}
		}
		role := "user"
		if m.Role == chat.Assistant {
			role = "assistant"
		}
		if len(parts) > 0 {
			add("msg-"+w.messageID(i), role, w.stamp(i), parts...)
		}
	}, func(c *transcript.Compaction, at time.Time) {
		id := "msg-" + w.messageID(c.At-1) + "_compact" // sorts behind the message
		add(id, "user", at, object{"type": "compaction", "auto": c.Trigger == "auto"})
		add(id+"_summary", "assistant", at, object{"type": "text", "text": c.Summary}).Info["summary"] = true
	})
	return out
}

// resultOf returns the result of a call of message i, and when it came.
func (w *writer) resultOf(i int, call string) (string, time.Time) {
	for i++; i < w.s.History.Len(); i++ {
		for k := range w.s.History.At(i).Parts {
			if p := &w.s.History.At(i).Parts[k]; p.Kind == chat.ToolResult && p.ID == call {
				return p.Text, w.stamp(i)
			}
		}
	}
	return "", time.Time{}
}

// openCode writes the tree of small files.
func (h Home) openCode(w *writer, last time.Time) (string, error) {
	const storage = ".local/share/opencode/storage"
	for _, m := range w.openCode() {
		for _, p := range m.Parts {
			if _, err := h.writeLines([]any{p}, last, storage, "part", m.ID, fmt.Sprint(p["id"])+".json"); err != nil {
				return "", err
			}
		}
		if _, err := h.writeLines([]any{m.Info}, last, storage, "message", w.id, m.ID+".json"); err != nil {
			return "", err
		}
	}
	info := object{"id": w.id, "projectID": "global", "title": "generated", "time": object{"updated": last.UnixMilli()}}
	return h.writeLines([]any{info}, last, filepath.Join(storage, "session", "global"), w.id+".json")
}
