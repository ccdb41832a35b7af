package transcript

import (
	"cmp"
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/winnow-llm/winnow/chat"
	"github.com/winnow-llm/winnow/internal/decode"
)

// readCodex reads a Codex rollout. Its response items are the conversation;
// the events beside them repeat it for the screen, but for the token counts,
// which are the usage of the answer before them.
//
// A header after messages, of a session that the conversation does not come
// from, begins another conversation: somebody put two files together.
func readCodex(in *input) ([]Session, error) {
	var out []Session
	c := in.newCodex()
	for r := range in.eachRecord() {
		if decode.Str(r.raw, "type") == "session_meta" {
			meta := decode.Member(r.raw, "payload")
			id := decode.Str(meta, "id")
			if len(c.msgs) > 0 && !c.line[id] {
				out = append(out, c.finish())
				c = in.newCodex()
			}
			c.line[id] = true
			if parent := decode.Str(meta, "forked_from_id"); parent != "" {
				c.line[parent] = true
			}
		}
		c.readRecord(r)
	}
	return append(out, c.finish()), nil
}

type codex struct {
	*builder
	model   string
	answers int             // items of the model since the last token count
	asking  bool            // whether the last compaction was asked for is not known yet
	line    map[string]bool // the ids of the session and of those that it was forked from
}

func (in *input) newCodex() *codex {
	c := &codex{builder: in.newBuilder(), line: map[string]bool{"": true}}
	c.logged = true
	return c
}

func (c *codex) readRecord(r record) {
	var t string
	var payload, stamp jsontext.Value
	decode.Find(r.raw, decode.To("type", &t), decode.To("payload", &payload), decode.To("timestamp", &stamp))
	if payload == nil {
		c.readEarly(r, t)
		return
	}
	switch t {
	case "session_meta":
		c.s.ID = cmp.Or(c.s.ID, decode.Str(payload, "id"))
		c.s.Folder = cmp.Or(c.s.Folder, decode.Str(payload, "cwd"))
		c.noteInstructions(cmp.Or(decode.Str(payload, "base_instructions", "text"), decode.Str(payload, "instructions")))
		if tools, err := decode.Tools(decode.Member(payload, "dynamic_tools")); err == nil {
			c.s.Tools = tools
		}
	case "turn_context":
		c.model = cmp.Or(decode.Str(payload, "model"), c.model)
		c.skip(t)
	case "response_item":
		if kind := decode.Str(payload, "type"); kind == "ghost_snapshot" { // of the files, for undo; never sent
			c.skip(kind)
			return
		}
		c.addItem(payload, stamp)
	case "compacted":
		c.noteCompaction(Compaction{Summary: decode.Str(payload, "message"), Took: c.sinceLastMessage(decode.Millis(stamp)), Line: r.line})
		c.answers = 0
		c.asking = true
	case "event_msg":
		c.readEvent(payload, r.line)
	default:
		c.skip(t)
	}
}

// readEarly reads the first versions of the format: items without an envelope, one
// per line or all in one document.
func (c *codex) readEarly(r record, kind string) {
	items := decode.Member(r.raw, "items")
	switch {
	case kind == "" && items.Kind() == '[':
		c.readHeader(decode.Member(r.raw, "session"))
		for _, v := range decode.Elements(items) {
			c.addItem(v, nil)
		}
	case kind == "" && decode.Member(r.raw, "record_type") != nil:
		c.skip(decode.Str(r.raw, "record_type"))
	case kind == "" && decode.Member(r.raw, "role") == nil:
		c.readHeader(r.raw)
	default:
		c.addItem(r.raw, nil)
	}
}

// readHeader reads what such a version says about the session itself.
func (c *codex) readHeader(raw jsontext.Value) {
	c.s.ID = cmp.Or(c.s.ID, decode.Str(raw, "id"))
	c.noteInstructions(decode.Str(raw, "instructions"))
}

// noteInstructions notes the system prompt: the first that the file has.
func (c *codex) noteInstructions(s string) {
	if s != "" && len(c.s.System) == 0 {
		c.s.System = []chat.Part{textPart(s)}
	}
}

func (c *codex) addItem(raw, stamp jsontext.Value) {
	m, err := decode.Item(raw)
	if err != nil {
		c.noteBroken(raw, err)
		return
	}
	if m.Role == chat.Assistant {
		c.settleTrigger("auto")
	}
	c.asking = false
	m.Wire, m.Time = 0, decode.Millis(stamp)
	if m.Role == chat.Assistant {
		m.Model = c.model
		c.answers++
		m.Parts = withoutEmptyThinking(m.Parts)
		if len(m.Parts) == 0 {
			c.skip("empty reasoning")
			return
		}
		if last := c.lastAssistant(); last != nil {
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
	c.addMessage(m)
}

// settleTrigger settles who wanted the last compaction. One that a person asks for is a
// task of its own, which ends with it; where the model goes on at once, Codex
// made it by itself.
func (c *codex) settleTrigger(trigger string) {
	if n := len(c.s.Compactions); c.asking && n > 0 {
		last := &c.s.Compactions[n-1]
		if last.Trigger = trigger; !last.Automatic() {
			last.Took = 0 // the pause before was the person's
		}
	}
	c.asking = false
}

// readEvent takes usage, the window and what the user took back out of the events. A count that
// follows no new answer repeats an old one, or is an estimate that Codex made
// after a compaction.
func (c *codex) readEvent(payload jsontext.Value, line int) {
	t := decode.Str(payload, "type")
	c.skip("event_msg/" + t)
	switch t {
	case "thread_rolled_back":
		c.rollBack(numberAt(payload, "num_turns"), line)
	case "task_complete", "turn_complete":
		c.settleTrigger("manual")
	case "task_started", "turn_started":
		c.noteWindow(payload, "model_context_window")
	}
	if t != "token_count" {
		return
	}
	c.noteWindow(payload, "info", "model_context_window")
	u := usageOrNil(decode.ResponsesUsage(decode.Path(payload, "info", "last_token_usage")))
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

// noteWindow notes the window that Codex states: the last one, of the last model.
func (c *codex) noteWindow(payload jsontext.Value, path ...string) {
	if n := numberAt(payload, path...); n > 0 {
		c.s.Window = n
	}
}

// rollBack takes the last turns back: they stay in the log, but Codex sends them
// no more.
func (c *codex) rollBack(turns, line int) {
	at := len(c.msgs)
	for i := at - 1; i >= 0 && turns > 0; i-- {
		if m := &c.msgs[i]; m.Role == chat.User && !m.Synthetic {
			at = i
			turns--
		}
	}
	if at == len(c.msgs) {
		return
	}
	c.warn(line, "messages that were rolled back, left out: %d", len(c.msgs)-at)
	c.msgs = c.msgs[:at]
	c.answers = 0
	c.s.Compactions = slices.DeleteFunc(c.s.Compactions, func(k Compaction) bool { return k.At > at })
}

// codexFailed reports whether a result tells of a failure: by its status, by
// the exit code in its metadata, or by the first lines that Codex writes.
func codexFailed(raw jsontext.Value, output string) bool {
	if ok := decode.Member(raw, "success"); string(ok) == "false" {
		return true
	}
	if strings.HasPrefix(output, `{"output":`) && decode.Valid([]byte(output)) == nil {
		return numberAt(jsontext.Value(output), "metadata", "exit_code") != 0
	}
	head := output[:min(len(output), 300)]
	for _, mark := range [...]string{"Exit code: ", "Process exited with code "} {
		if _, code, ok := strings.Cut(head, mark); ok {
			return code != "" && code[0] >= '1' && code[0] <= '9' || strings.HasPrefix(code, "-")
		}
	}
	return strings.HasPrefix(head, "apply_patch verification failed")
}
