package agenthome

import (
	"fmt"
	"maps"
	"path/filepath"
	"time"

	"github.com/winnow-llm/winnow/chat"
	"github.com/winnow-llm/winnow/transcript"
)

func (w *writer) claudeRecords() []any {
	var out []any
	parent := any(nil)
	add := func(kind, uuid string, at time.Time, more object) {
		r := object{"type": kind, "uuid": uuid, "parentUuid": parent, "sessionId": w.id, "timestamp": formatTime(at)}
		maps.Copy(r, more)
		out = append(out, r)
		parent = uuid
	}
	w.eachMessage(func(i int, m *chat.Message) {
		role, content := "user", []object{}
		if m.Role == chat.Assistant {
			role = "assistant"
		}
		for k := range m.Parts {
			switch p := &m.Parts[k]; p.Kind {
			case chat.ToolCall:
				content = append(content, object{"type": "tool_use", "id": p.ID, "name": p.Name, "input": rawArguments(p)})
			case chat.ToolResult:
				content = append(content, object{"type": "tool_result", "tool_use_id": p.ID, "content": p.Text, "is_error": p.Failed})
			default:
				content = append(content, object{"type": "text", "text": p.Text})
			}
		}
		message := object{"role": role, "content": content}
		if role == "assistant" {
			message["model"], message["id"] = w.s.Model, "msg_"+w.messageID(i)
		}
		add(role, w.messageID(i), w.stamp(i), object{"message": message})
	}, func(c *transcript.Compaction, at time.Time) {
		uuid := w.messageID(c.At) + "-compact"
		add("system", uuid, at, object{"subtype": "compact_boundary", "logicalParentUuid": parent, "compactMetadata": object{"trigger": c.Trigger, "preTokens": c.TokensBefore}})
		add("user", uuid+"-summary", at, object{"isCompactSummary": true, "message": object{"role": "user", "content": c.Summary}})
	})
	return out
}

func (w *writer) codexRecords() []any {
	line := func(at time.Time, kind string, payload object) any {
		return object{"timestamp": formatTime(at), "type": kind, "payload": payload}
	}
	out := []any{
		line(w.stamp(0), "session_meta", object{"id": w.id}),
		line(w.stamp(0), "turn_context", object{"model": w.s.Model}),
	}
	w.eachMessage(func(i int, m *chat.Message) {
		for k := range m.Parts {
			var item object
			switch p := &m.Parts[k]; p.Kind {
			case chat.ToolCall:
				item = object{"type": "function_call", "name": p.Name, "arguments": p.Args, "call_id": p.ID}
			case chat.ToolResult:
				item = object{"type": "function_call_output", "call_id": p.ID, "output": p.Text}
			default:
				role, text := "user", "input_text"
				if m.Role == chat.Assistant {
					role, text = "assistant", "output_text"
				}
				item = object{"type": "message", "role": role, "content": []object{{"type": text, "text": p.Text}}}
			}
			out = append(out, line(w.stamp(i), "response_item", item))
		}
	}, func(c *transcript.Compaction, at time.Time) {
		out = append(out, line(at, "compacted", object{"message": c.Summary}))
	})
	return out
}

func (w *writer) piRecords() []any {
	out := []any{object{"type": "session", "version": 3, "id": w.id, "timestamp": formatTime(w.stamp(0)), "cwd": "/home/me/project"}}
	parent := any(nil)
	add := func(kind, id string, at time.Time, more object) {
		r := object{"type": kind, "id": id, "parentId": parent, "timestamp": formatTime(at)}
		maps.Copy(r, more)
		out = append(out, r)
		parent = id
	}
	w.eachMessage(func(i int, m *chat.Message) {
		message := object{"role": "user", "timestamp": w.stamp(i).UnixMilli()}
		content := []object{}
		for k := range m.Parts {
			switch p := &m.Parts[k]; p.Kind {
			case chat.ToolCall:
				content = append(content, object{"type": "toolCall", "id": p.ID, "name": p.Name, "arguments": rawArguments(p)})
			case chat.ToolResult:
				message["role"], message["toolCallId"], message["toolName"], message["isError"] = "toolResult", p.ID, p.Name, p.Failed
				content = append(content, object{"type": "text", "text": p.Text})
			default:
				content = append(content, object{"type": "text", "text": p.Text})
			}
		}
		if message["content"] = content; m.Role == chat.Assistant {
			message["role"], message["model"] = "assistant", w.s.Model
		}
		add("message", w.messageID(i), w.stamp(i), object{"message": message})
	}, func(c *transcript.Compaction, at time.Time) {
		add("compaction", w.messageID(c.At)+"-compact", at, object{"summary": c.Summary, "tokensBefore": c.TokensBefore, "firstKeptEntryId": w.messageID(c.At - c.Kept)})
	})
	return out
}

// geminiSession writes no compactions: the client keeps none.
func (w *writer) geminiSession() any {
	var messages []object
	var last object
	w.eachMessage(func(i int, m *chat.Message) {
		r := object{"id": w.messageID(i), "timestamp": formatTime(w.stamp(i)), "type": "user", "content": m.Text()}
		if m.Role == chat.Assistant {
			r["type"], r["model"] = "gemini", w.s.Model
		}
		var calls []object
		for k := range m.Parts {
			switch p := &m.Parts[k]; p.Kind {
			case chat.ToolCall:
				calls = append(calls, object{"id": p.ID, "name": p.Name, "args": rawArguments(p), "status": "success"})
			case chat.ToolResult: // stands with the call
				for _, c := range last["toolCalls"].([]object) {
					if c["id"] == p.ID {
						c["result"] = []object{{"functionResponse": object{"id": p.ID, "name": c["name"], "response": object{"output": p.Text}}}}
					}
				}
			}
		}
		if m.Has(chat.ToolResult) {
			return
		}
		if calls != nil {
			r["toolCalls"] = calls
		}
		last = r
		messages = append(messages, r)
	}, func(*transcript.Compaction, time.Time) {})
	return object{"sessionId": w.id, "projectHash": "0123abcd", "startTime": formatTime(w.stamp(0)), "messages": messages}
}

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
