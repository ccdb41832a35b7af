package transcript

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/winnow-llm/winnow/chat"
	"github.com/winnow-llm/winnow/internal/decode"
)

// readClaude reads a Claude Code log: the main conversation, then one session
// for each sidechain. Where somebody put several logs together, each is read so.
func readClaude(in *input) ([]Session, error) {
	t := claudeTree{in: in, byID: map[string]int{}, main: in.newBuilder()}
	for r := range in.eachRecord() {
		t.addRecord(r)
	}
	parts := t.splitLogs()
	if parts[0] != &t {
		t.records = nil // they do
	}
	var out []Session
	for _, part := range parts {
		out = append(out, part.readSessions()...)
	}
	return out, nil
}

// claudeRecord is one line that has a place in the tree.
type claudeRecord struct {
	line         int
	kind         string // user, assistant, attachment, system, progress
	uuid, parent string
	logical      string // where a compaction's start continues
	session      string
	side         string // the sidechain it belongs to; "" is the main conversation
	message      jsontext.Value
	messageID    string
	raw          jsontext.Value
	stamp        jsontext.Value
	meta         bool
	summary      bool
	subtype      string
}

// isMessage reports whether the record is part of the conversation.
func (r *claudeRecord) isMessage() bool { return r.kind == "user" || r.kind == "assistant" }

// addRecord puts a line into the tree, or among the records that are only counted.
func (t *claudeTree) addRecord(rec record) {
	r := claudeRecord{line: rec.line, raw: rec.raw}
	var agent, folder string
	var onSide bool
	decode.Find(
		rec.raw, decode.To("type", &r.kind), decode.To("uuid", &r.uuid), decode.To("parentUuid", &r.parent), decode.To("logicalParentUuid", &r.logical),
		decode.To("isSidechain", &onSide), decode.To("agentId", &agent), decode.To("message", &r.message), decode.To("timestamp", &r.stamp),
		decode.To("isMeta", &r.meta), decode.To("isCompactSummary", &r.summary), decode.To("subtype", &r.subtype), decode.To("sessionId", &r.session),
		decode.To("cwd", &folder),
	)
	if r.session != "" && t.main.s.ID == "" {
		t.main.s.ID = r.session
	}
	t.main.s.Folder = cmp.Or(t.main.s.Folder, folder)
	switch {
	case r.kind == "summary":
		t.main.s.Title = decode.Str(rec.raw, "summary")
	case r.kind == "custom-title":
		t.main.s.Title = decode.Str(rec.raw, "customTitle")
	case r.kind == "ai-title":
		t.main.s.Title = decode.Str(rec.raw, "aiTitle") + decode.Str(rec.raw, "title")
	}
	if r.kind == "queue-operation" {
		t.followQueue(rec)
		return
	}
	if r.uuid == "" && !(r.isMessage() && r.message != nil) {
		t.main.skip(orUnknown(r.kind))
		return
	}
	if onSide {
		r.side = cmp.Or(agent, t.sideOf(r.parent, r.uuid))
	}
	if r.kind == "assistant" {
		r.messageID = decode.Str(r.message, "id")
	}
	if _, twice := t.byID[r.uuid]; twice && r.uuid != "" {
		t.main.skip("repeated " + r.kind)
		return
	}
	if r.uuid != "" {
		t.byID[r.uuid] = len(t.records)
	}
	t.records = append(t.records, r)
}

// followQueue follows the prompts that a user typed while the model was at work. One
// that is dequeued becomes a record of its own. One that is removed was handed
// to the model in the middle of its turn, and old versions log that nowhere
// else: it gets a place here, and is dropped later if it does turn up.
func (t *claudeTree) followQueue(rec record) {
	t.main.skip("queue-operation")
	content := strings.TrimSpace(decode.Str(rec.raw, "content"))
	switch decode.Str(rec.raw, "operation") {
	case "enqueue":
		t.queue = append(t.queue, content)
	case "dequeue":
		t.takeQueued("")
	case "popAll": // back into the editor
		t.queue = nil
	case "remove":
		if s := t.takeQueued(content); s != "" {
			t.records = append(t.records, claudeRecord{line: rec.line, kind: "queued", subtype: s, stamp: decode.Member(rec.raw, "timestamp")})
		}
	}
}

// takeQueued takes a prompt out of the queue: that one, or the first.
func (t *claudeTree) takeQueued(content string) string {
	for i, s := range t.queue {
		if content == "" || content == s {
			t.queue = append(t.queue[:i:i], t.queue[i+1:]...)
			return s
		}
	}
	return content
}

// claudeMessage adds one record to a session and lets go of its bytes, which
// nobody reads again.
func (b *builder) claudeMessage(r *claudeRecord) {
	defer func() { r.raw, r.message, r.stamp = nil, nil, nil }()
	b.in.at = r.line
	switch {
	case r.kind == "system" && strings.HasSuffix(r.subtype, "compact_boundary"):
		meta := decode.Member(r.raw, "compactMetadata")
		c := Compaction{Trigger: decode.Str(meta, "trigger"), TokensBefore: numberAt(meta, "preTokens"), Line: r.line}
		c.Kept = b.keptFrom(decode.Str(meta, "preservedSegment", "headUuid"))
		if c.Took = time.Duration(numberAt(meta, "durationMs")) * time.Millisecond; c.Took == 0 && c.Automatic() {
			c.Took = b.sinceLastMessage(decode.Millis(r.stamp))
		}
		if r.subtype == "microcompact_boundary" {
			meta = decode.Member(r.raw, "microcompactMetadata")
			c.Trigger, c.TokensBefore = "micro", numberAt(meta, "preTokens")
			c.TokensAfter = c.TokensBefore - numberAt(meta, "tokensSaved")
		}
		b.noteCompaction(c)
	case r.kind == "attachment":
		b.claudeAttachment(r)
	case r.kind == "queued":
		m := chat.TextMessage(chat.User, r.subtype)
		m.Time = decode.Millis(r.stamp)
		markSynthetic(&m)
		b.addMessage(m)
	case !r.isMessage():
		kind := r.kind
		if r.subtype != "" {
			kind += "/" + r.subtype
		}
		b.skip(kind)
	default:
		m, err := decode.Anthropic(r.message)
		if err != nil {
			b.noteBroken(r.message, err)
			return
		}
		if r.summary {
			b.lastCompaction(r.line).Summary = m.Text()
			return
		}
		m.Wire, m.ID, m.Time = 0, r.uuid, decode.Millis(r.stamp)
		m.Usage = usageOrNil(m.Usage, nil)
		if m.Model == "<synthetic>" { // an error that the client shows as an answer
			m.Model = ""
		}
		if m.Synthetic = r.meta && m.Role == chat.User && !m.Has(chat.ToolResult); !m.Synthetic {
			markSynthetic(&m)
		}
		if m.Role == chat.Assistant && b.joinAnswer(&m, r.messageID) {
			return
		}
		b.addMessage(m)
	}
}

// joinAnswer adds a block to the answer it belongs to: the last one, if it has
// the same message id. Results of its first calls may have been logged since.
func (b *builder) joinAnswer(m *chat.Message, id string) bool {
	at := len(b.msgs)
	same := id != "" && id == b.answerID
	b.answerID = id
	if !same {
		return false
	}
	for at--; at >= 0; at-- {
		if b.msgs[at].Role == chat.Assistant {
			if own := b.msgs[at].ID; own != m.ID && m.ID != "" {
				if b.s.Joined == nil {
					b.s.Joined = map[string]string{}
				}
				b.s.Joined[m.ID] = own
			}
			decode.Join(&b.msgs[at], m)
			return true
		}
	}
	return false
}

// claudeAttachment reads what the client put before the model without the
// user: files, hooks' notes, reminders. A prompt that the user queued while the
// model was at work is the user's own.
func (b *builder) claudeAttachment(r *claudeRecord) {
	a := decode.Member(r.raw, "attachment")
	kind := decode.Str(a, "type")
	m := chat.Message{Role: chat.User, Synthetic: true, ID: r.uuid, Time: decode.Millis(r.stamp)}
	switch kind {
	case "hook_system_message", "command_permissions":
		// Shown to the user only.
	case "queued_command":
		m.Synthetic = decode.Str(a, "commandMode") != "prompt"
		parts, err := decode.Content(decode.Member(a, "prompt"))
		if err != nil {
			b.noteBroken(a, err)
			return
		}
		m.Parts = parts
		markSynthetic(&m)
	default:
		s := attachmentText(a)
		if s == "" {
			break
		}
		if name := decode.Str(a, "filename") + decode.Str(a, "path"); name != "" {
			s = name + "\n" + s
		}
		m.Parts = []chat.Part{textPart(s)}
	}
	if len(m.Parts) == 0 {
		b.skip("attachment/" + orUnknown(kind))
		return
	}
	b.addMessage(m)
}

// attachmentText returns the words of an attachment, whichever of its members holds them.
func attachmentText(a jsontext.Value) string {
	for _, name := range [...]string{"content", "snippet", "addedLines", "addedBlocks"} {
		v := decode.Member(a, name)
		switch v.Kind() {
		case '"':
			if s, _ := decode.String(v); s != "" {
				return s
			}
		case '[':
			var lines []string
			for _, e := range decode.Elements(v) {
				if e.Kind() == '"' {
					s, _ := decode.String(e)
					lines = append(lines, s)
				} else if e.Kind() == '{' {
					lines = append(lines, string(e))
				}
			}
			if len(lines) > 0 {
				return strings.Join(lines, "\n")
			}
		case '{':
			if s := numberedFile(decode.Member(v, "file")); s != "" {
				return s
			}
			if s := decode.Str(v, "content"); s != "" {
				return s
			}
		}
	}
	return ""
}

// numberedFile returns the lines of an attached file as the client puts them before the
// model, each with its number, and behind the last one of the file how many there are.
func numberedFile(file jsontext.Value) string {
	text := decode.Str(file, "content")
	n := numberAt(file, "startLine")
	if text == "" || n < 1 {
		return text
	}
	var b strings.Builder
	for line := range strings.SplitSeq(text, "\n") {
		fmt.Fprintf(&b, "%d\t%s\n", n, line)
		n++
	}
	if n-1 == numberAt(file, "totalLines") {
		fmt.Fprintf(&b, "(End of file - total %d lines)", n-1)
	}
	return b.String()
}
