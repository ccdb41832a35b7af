package transcript

import (
	"fmt"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/winnow-llm/winnow/chat"
	"github.com/winnow-llm/winnow/internal/decode"
)

// readPi reads a pi session of version 1 (a list), 2 or 3 (a tree). The
// history is the path to the last entry. Edits that pi makes to its context
// and compactions leave the history as it is. A header with another id begins
// another session: somebody put two files together.
func readPi(in *input) ([]Session, error) {
	var out []Session
	from, id := 0, ""
	for i, r := range in.records {
		if !piHeader(r.raw) {
			continue
		}
		own := decode.Str(r.raw, "id")
		if i > from && own != id && own != "" {
			out = append(out, in.piSession(in.records[from:i]))
			from = i
		}
		id = own
	}
	return append(out, in.piSession(in.records[from:])), nil
}

func piHeader(raw jsontext.Value) bool {
	kind := decode.Str(raw, "type")
	return kind == "session" || kind == "" && decode.Str(raw, "kind") == "header"
}

func (in *input) piSession(records []record) Session {
	b := in.builder()
	b.logged = true
	var entries []piEntry
	byID := map[string]int{}
	for _, r := range records {
		e := piEntry{line: r.line, raw: r.raw}
		for k, v := range decode.Members(r.raw) {
			switch k {
			case "type":
				e.kind, _ = decode.String(v)
			case "kind":
				if s, _ := decode.String(v); s == "header" {
					e.kind = "session"
				}
			case "id":
				e.id, _ = decode.String(v)
			case "parentId":
				e.parent, _ = decode.String(v)
			case "message":
				e.message = v
			case "timestamp":
				e.stamp = v
			}
		}
		if e.kind == "session" {
			if b.s.ID == "" {
				b.s.ID = e.id
			} else {
				b.skip("repeated session header")
			}
			continue
		}
		if e.kind == "session_info" {
			b.s.Title = decode.Str(r.raw, "name")
		}
		if _, twice := byID[e.id]; !twice && e.id != "" {
			byID[e.id] = len(entries)
		}
		entries = append(entries, e)
	}
	take := piPath(b, entries, byID)
	left := 0
	for i := range entries {
		if take[i] {
			b.piEntry(&entries[i])
		} else if entries[i].kind == "message" || entries[i].kind == "custom_message" {
			left++
		} else {
			b.skip(entries[i].kind + " on another branch")
		}
	}
	if left > 0 {
		b.warn(0, "messages on other branches, left out: %d", left)
	}
	return b.finish()
}

type piEntry struct {
	line         int
	kind         string
	id, parent   string
	raw, message jsontext.Value
	stamp        jsontext.Value
}

// piPath marks the entries on the way from the last one to the root. An entry
// without an id (version 1) follows the entry before it; so does one whose
// parent is not there.
func piPath(b *builder, entries []piEntry, byID map[string]int) []bool {
	take := make([]bool, len(entries))
	for at := len(entries) - 1; at >= 0; {
		if take[at] {
			b.warn(entries[at].line, "the parents form a circle: the entries before are left out")
			break
		}
		take[at] = true
		e := &entries[at]
		switch i, ok := byID[e.parent]; {
		case e.id == "":
			at--
		case e.parent == "":
			at = -1
		case ok:
			at = i
		default:
			if at > 0 {
				b.warn(e.line, "the parent %.40s is not in the file: the entry before is taken for it", e.parent)
			}
			at--
		}
	}
	return take
}

func (b *builder) piEntry(e *piEntry) {
	m := chat.Message{ID: e.id, Time: millis(e.stamp)}
	switch e.kind {
	case "message":
		b.piMessage(e, m)
	case "custom_message":
		m.Role, m.Synthetic = chat.User, true
		b.piContent(&m, decode.Member(e.raw, "content"))
	case "branch_summary":
		m.Role, m.Synthetic = chat.User, true
		m.Parts = []chat.Part{text(decode.Str(e.raw, "summary"))}
		b.add(m)
	case "compaction":
		b.compacted(Compaction{Summary: decode.Str(e.raw, "summary"), TokensBefore: count(e.raw, "tokensBefore"), Line: e.line})
	default:
		b.skip(orUnknown(e.kind))
	}
}

func (b *builder) piMessage(e *piEntry, m chat.Message) {
	var body, stop, stats, tools jsontext.Value
	role := ""
	for k, v := range decode.Members(e.message) {
		switch k {
		case "role":
			role, _ = decode.String(v)
		case "content":
			body = v
		case "stopReason":
			stop = v
		case "usage":
			stats = v
		case "model":
			m.Model, _ = decode.String(v)
		case "timestamp":
			m.Time = millis(v)
		case "toolsAdded":
			tools = v
		}
	}
	switch role {
	case "user":
		m.Role = chat.User
		b.piContent(&m, body)
	case "assistant":
		m.Role = chat.Assistant
		// What an aborted or failed call reports is no measure of the context.
		if s := string(stop); s != `"aborted"` && s != `"error"` {
			m.Usage = usage(piUsage(stats), nil)
		}
		b.piContent(&m, body)
	case "toolResult":
		m.Role = chat.Tool
		p := chat.Part{Kind: chat.ToolResult, ID: decode.Str(e.message, "toolCallId"), Name: decode.Str(e.message, "toolName"), Failed: isSet(e.message, "isError")}
		inner, err := piParts(body)
		if err != nil {
			b.broken(e.message, err)
			return
		}
		b.result(&p, inner)
		m.Parts = []chat.Part{p}
		b.add(m)
	case "system":
		m.Role = chat.System
		if s, _ := decode.String(body); s != "" {
			m.Parts = append(m.Parts, text(s))
		}
		for _, v := range decode.Members(decode.Member(e.message, "sections")) {
			if s, _ := decode.String(v); s != "" {
				m.Parts = append(m.Parts, text(s))
			}
		}
		if defs, err := decode.Tools(tools); err == nil {
			b.s.Tools = append(b.s.Tools, defs...)
		}
		b.add(m)
	case "bashExecution":
		if isSet(e.message, "excludeFromContext") {
			b.skip("command that the user kept out of the context")
			return
		}
		m.Role, m.Synthetic = chat.User, true
		m.Parts = []chat.Part{text(bashText(e.message))}
		b.add(m)
	case "custom", "hookMessage":
		m.Role, m.Synthetic = chat.User, true
		b.piContent(&m, body)
	case "branchSummary":
		m.Role, m.Synthetic = chat.User, true
		m.Parts = []chat.Part{text(decode.Str(e.message, "summary"))}
		b.add(m)
	case "compactionSummary":
		b.compacted(Compaction{Summary: decode.Str(e.message, "summary"), TokensBefore: count(e.message, "tokensBefore"), Line: e.line})
	default:
		b.warn(e.line, "unknown role %.40q: left out", role)
	}
}

func (b *builder) piContent(m *chat.Message, body jsontext.Value) {
	parts, err := piParts(body)
	if err != nil {
		b.broken(body, err)
		return
	}
	m.Parts = parts
	markSynthetic(m)
	b.add(*m)
}

// result fills in a tool result from parts: the words joined, the rest beside them.
func (b *builder) result(p *chat.Part, inner []chat.Part) {
	var words []string
	for _, q := range inner {
		if q.Kind == chat.Text {
			words = append(words, q.Text)
		} else {
			p.Content = append(p.Content, q)
		}
	}
	p.Text = strings.Join(words, "\n")
}

// piParts reads pi's blocks, which differ from Anthropic's in calls and signatures.
func piParts(body jsontext.Value) ([]chat.Part, error) {
	if body.Kind() != '[' {
		return decode.Content(body)
	}
	var parts []chat.Part
	for i, v := range decode.Elements(body) {
		var p chat.Part
		var err error
		switch decode.Str(v, "type") {
		case "toolCall":
			p = chat.Part{Kind: chat.ToolCall, ID: decode.Str(v, "id"), Name: decode.Str(v, "name"), Signature: decode.Str(v, "thoughtSignature"), Args: "{}"}
			if args := decode.Member(v, "arguments"); args.Kind() == '{' {
				p.Args = string(args)
			} else if args.Kind() == '"' {
				p.Args, err = decode.String(args)
			}
		case "thinking":
			p = chat.Part{Kind: chat.Thinking, Text: decode.Str(v, "thinking"), Signature: decode.Str(v, "thinkingSignature")}
		default:
			p, err = decode.Block(v)
		}
		if err != nil {
			return nil, fmt.Errorf("/content/%d%w", i, err)
		}
		parts = append(parts, p)
	}
	return parts, nil
}

func piUsage(raw jsontext.Value) *chat.Usage {
	if raw.Kind() != '{' {
		return nil
	}
	return &chat.Usage{
		Input: count(raw, "input"), CacheRead: count(raw, "cacheRead"), CacheWrite: count(raw, "cacheWrite"),
		Output: count(raw, "output"), Thinking: count(raw, "reasoning"),
	}
}

// bashText renders a command that the user ran beside the conversation.
func bashText(raw jsontext.Value) string {
	var s strings.Builder
	fmt.Fprintf(&s, "Ran `%s`\n", decode.Str(raw, "command"))
	if out := decode.Str(raw, "output"); out != "" {
		fmt.Fprintf(&s, "```\n%s\n```\n", out)
	}
	if full := decode.Str(raw, "fullOutputPath"); full != "" {
		fmt.Fprintf(&s, "The whole output is in %s\n", full)
	}
	switch code := count(raw, "exitCode"); {
	case isSet(raw, "cancelled"):
		s.WriteString("It was cancelled.")
	case code != 0:
		fmt.Fprintf(&s, "It ended with exit code %d.", code)
	}
	return strings.TrimSpace(s.String())
}
