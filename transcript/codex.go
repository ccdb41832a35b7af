package transcript

import (
	"strings"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/winnow-llm/winnow/chat"
	"github.com/winnow-llm/winnow/internal/decode"
)

// readCodex reads a Codex rollout. Its response items are the conversation;
// the events beside them repeat it for the screen, but for the token counts,
// which are the usage of the answer before them.
func readCodex(in *input) ([]Session, error) {
	c := &codex{builder: in.builder()}
	c.logged = true
	for _, r := range in.records {
		c.record(r)
	}
	return []Session{c.finish()}, nil
}

type codex struct {
	*builder
	model   string
	answers int // items of the model since the last token count
}

func (c *codex) record(r record) {
	var kind, payload, stamp jsontext.Value
	for k, v := range decode.Members(r.raw) {
		switch k {
		case "type":
			kind = v
		case "payload":
			payload = v
		case "timestamp":
			stamp = v
		}
	}
	t, _ := decode.String(kind)
	if payload == nil {
		c.early(r, t)
		return
	}
	switch t {
	case "session_meta":
		if c.s.ID == "" {
			c.s.ID = decode.Str(payload, "id")
		}
		if s := decode.Str(payload, "base_instructions", "text"); s != "" && len(c.s.System) == 0 {
			c.s.System = []chat.Part{text(s)}
		} else if s := decode.Str(payload, "instructions"); s != "" && len(c.s.System) == 0 {
			c.s.System = []chat.Part{text(s)}
		}
		if tools, err := decode.Tools(decode.Member(payload, "dynamic_tools")); err == nil {
			c.s.Tools = tools
		}
	case "turn_context":
		if m := decode.Str(payload, "model"); m != "" {
			c.model = m
		}
		c.skip(t)
	case "response_item":
		c.item(payload, stamp)
	case "compacted":
		c.compacted(Compaction{Summary: decode.Str(payload, "message"), Line: r.line})
		c.answers = 0
	case "event_msg":
		c.event(payload)
	default:
		c.skip(t)
	}
}

// early reads the first version of the format: items without an envelope.
func (c *codex) early(r record, kind string) {
	switch {
	case kind == "" && decode.Member(r.raw, "record_type") != nil:
		c.skip(decode.Str(r.raw, "record_type"))
	case kind == "" && decode.Member(r.raw, "role") == nil:
		if c.s.ID == "" {
			c.s.ID = decode.Str(r.raw, "id")
		}
		if s := decode.Str(r.raw, "instructions"); s != "" && len(c.s.System) == 0 {
			c.s.System = []chat.Part{text(s)}
		}
	default:
		c.item(r.raw, nil)
	}
}

func (c *codex) item(raw, stamp jsontext.Value) {
	m, err := decode.Item(raw)
	if err != nil {
		c.broken(raw, err)
		return
	}
	m.Wire, m.Time = 0, millis(stamp)
	if m.Role == chat.Assistant {
		m.Model = c.model
		c.answers++
		m.Parts = withoutEmptyThinking(m.Parts)
		if len(m.Parts) == 0 {
			c.skip("empty reasoning")
			return
		}
		if last := c.last(); last != nil {
			decode.Join(last, &m)
			return
		}
	}
	for i := range m.Parts {
		if p := &m.Parts[i]; p.Kind == chat.ToolResult && codexFailed(raw, p.Text) {
			p.Failed = true
		}
	}
	markSynthetic(&m)
	c.add(m)
}

// event takes usage out of the events. A count that follows no new answer
// repeats an old one, or is an estimate that Codex made after a compaction.
func (c *codex) event(payload jsontext.Value) {
	t := decode.Str(payload, "type")
	c.skip("event_msg/" + t)
	if t != "token_count" {
		return
	}
	u := usage(decode.ResponsesUsage(decode.Path(payload, "info", "last_token_usage")))
	if u == nil || c.answers == 0 {
		return
	}
	c.answers = 0
	for i := len(c.msgs) - 1; i >= 0; i-- {
		if c.msgs[i].Role == chat.Assistant {
			c.msgs[i].Usage = decode.Larger(c.msgs[i].Usage, u)
			return
		}
	}
}

func withoutEmptyThinking(parts []chat.Part) []chat.Part {
	out := parts[:0]
	for _, p := range parts {
		if p.Kind != chat.Thinking || p.Text != "" || p.Signature != "" {
			out = append(out, p)
		}
	}
	return out
}

// codexFailed reports whether a result tells of a failure: by its status, by
// the exit code in its metadata, or by the first lines that Codex writes.
func codexFailed(raw jsontext.Value, output string) bool {
	if ok := decode.Member(raw, "success"); string(ok) == "false" {
		return true
	}
	if strings.HasPrefix(output, `{"output":`) && decode.Valid([]byte(output)) == nil {
		return count(jsontext.Value(output), "metadata", "exit_code") != 0
	}
	head := output[:min(len(output), 300)]
	for _, mark := range [...]string{"Exit code: ", "Process exited with code "} {
		if _, code, ok := strings.Cut(head, mark); ok {
			return code != "" && code[0] >= '1' && code[0] <= '9' || strings.HasPrefix(code, "-")
		}
	}
	return strings.HasPrefix(head, "apply_patch verification failed")
}
