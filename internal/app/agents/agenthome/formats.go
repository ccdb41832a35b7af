package agenthome

import (
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"time"

	"github.com/winnow-llm/winnow/chat"
	"github.com/winnow-llm/winnow/transcript"
	_ "modernc.org/sqlite" // OpenCode's database
)

// partWriter returns a part as an agent writes it; it is nil where parts stand elsewhere.
type partWriter = func(p *chat.Part) object

func textPart(p *chat.Part) object { return object{"type": "text", "text": p.Text} }

// mapParts returns the parts of a message as an agent writes them.
func mapParts(m *chat.Message, call, result, text partWriter) []object {
	parts := []object{}
	for k := range m.Parts {
		write := text
		switch m.Parts[k].Kind {
		case chat.ToolCall:
			write = call
		case chat.ToolResult:
			write = result
		}
		if write != nil {
			parts = append(parts, write(&m.Parts[k]))
		}
	}
	return parts
}

// roleOf returns the role of a message for agents that have two.
func roleOf(m *chat.Message) string {
	if m.Role == chat.Assistant {
		return "assistant"
	}
	return "user"
}

func (w *writer) claudeRecords() (out []any) {
	var parent any
	add := func(kind, uuid string, at time.Time, more object) {
		record := object{"type": kind, "uuid": uuid, "parentUuid": parent, "sessionId": w.id, "timestamp": formatTime(at)}
		maps.Copy(record, more)
		out, parent = append(out, record), uuid
	}
	w.eachMessage(func(i int, m *chat.Message) {
		role := roleOf(m)
		message := object{"role": role, "content": mapParts(m, func(p *chat.Part) object {
			return object{"type": "tool_use", "id": p.ID, "name": p.Name, "input": json.RawMessage(p.Args)}
		}, func(p *chat.Part) object {
			return object{"type": "tool_result", "tool_use_id": p.ID, "content": p.Text, "is_error": p.Failed}
		}, textPart)}
		if role == "assistant" {
			message["model"], message["id"] = w.s.Model, "msg_"+w.messageID(i)
		}
		add(role, w.messageID(i), w.stamp(i), object{"message": message})
	}, func(c *transcript.Compaction, at time.Time) {
		uuid := w.messageID(c.At) + "-compact"
		add("system", uuid, at, object{"subtype": "compact_boundary", "compactMetadata": object{"trigger": c.Trigger, "preTokens": c.TokensBefore}})
		add("user", uuid+"-summary", at, object{"isCompactSummary": true, "message": object{"role": "user", "content": c.Summary}})
	})
	return out
}

func (w *writer) piRecords() []any {
	out := []any{object{"type": "session", "version": 3, "id": w.id, "timestamp": formatTime(w.stamp(0)), "cwd": "/home/me/project"}}
	var parent any
	add := func(kind, id string, at time.Time, more object) {
		record := object{"type": kind, "id": id, "parentId": parent, "timestamp": formatTime(at)}
		maps.Copy(record, more)
		out, parent = append(out, record), id
	}
	w.eachMessage(func(i int, m *chat.Message) {
		message := object{"role": roleOf(m), "timestamp": w.stamp(i).UnixMilli()}
		if m.Role == chat.Assistant {
			message["model"] = w.s.Model
		}
		message["content"] = mapParts(m, func(p *chat.Part) object {
			return object{"type": "toolCall", "id": p.ID, "name": p.Name, "arguments": json.RawMessage(p.Args)}
		}, func(p *chat.Part) object {
			maps.Copy(message, object{"role": "toolResult", "toolCallId": p.ID, "toolName": p.Name, "isError": p.Failed})
			return textPart(p)
		}, textPart)
		add("message", w.messageID(i), w.stamp(i), object{"message": message})
	}, func(c *transcript.Compaction, at time.Time) {
		add("compaction", w.messageID(c.At)+"-compact", at, object{"summary": c.Summary, "tokensBefore": c.TokensBefore, "firstKeptEntryId": w.messageID(c.At - c.Kept)})
	})
	return out
}

// openCodeTables are the tables of OpenCode's database.
const openCodeTables = `
	CREATE TABLE IF NOT EXISTS session (id text PRIMARY KEY, title text, time_created integer, time_updated integer);
	CREATE TABLE IF NOT EXISTS message (id text PRIMARY KEY, session_id text, time_created integer, time_updated integer, data text);
	CREATE TABLE IF NOT EXISTS part (id text PRIMARY KEY, message_id text, session_id text, time_created integer, time_updated integer, data text)`

// writeOpenCode adds the session to OpenCode's database, in which the ids are columns of
// their own.
func (w *writer) writeOpenCode(path string) (err error) {
	db, err := sql.Open("sqlite", path)
	if err != nil {
		return err
	}
	exec := func(query string, args ...any) {
		if err == nil {
			_, err = db.Exec(query, args...)
		}
	}
	exec(openCodeTables)
	exec("INSERT INTO session VALUES (?, 'generated', 1, ?)", w.id, w.last.UnixMilli())
	add := func(id, role string, at time.Time, more object, parts ...object) {
		info := object{"role": role, "time": object{"created": at.UnixMilli()}}
		if role == "assistant" {
			info["modelID"] = w.s.Model
		}
		maps.Copy(info, more)
		exec("INSERT INTO message VALUES (?, ?, ?, 1, ?)", id, w.id, at.UnixMilli(), encode(info))
		for i, p := range parts {
			exec("INSERT INTO part VALUES (?, ?, ?, 1, 1, ?)", fmt.Sprintf("prt-%s-%02d", id, i), id, w.id, encode(p))
		}
	}
	w.eachMessage(func(i int, m *chat.Message) {
		parts := mapParts(m, func(p *chat.Part) object {
			answer, at := w.resultOf(i, p.ID)
			state := object{"status": "completed", "input": json.RawMessage(p.Args), "output": answer, "time": object{"end": at.UnixMilli()}}
			return object{"type": "tool", "callID": p.ID, "tool": p.Name, "state": state}
		}, nil, textPart)
		if len(parts) > 0 {
			add("msg-"+w.messageID(i), roleOf(m), w.stamp(i), nil, parts...)
		}
	}, func(c *transcript.Compaction, at time.Time) {
		id := "msg-" + w.messageID(c.At-1) + "_compact" // sorts behind the message
		add(id, "user", at, nil, object{"type": "compaction", "auto": c.Trigger == "auto"})
		add(id+"_summary", "assistant", at, object{"summary": true}, object{"type": "text", "text": c.Summary})
	})
	return errors.Join(err, db.Close())
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

// encode returns a value as JSON.
func encode(v any) string {
	data, err := json.Marshal(v)
	if err != nil {
		panic(err) // all of it was made above
	}
	return string(data)
}
