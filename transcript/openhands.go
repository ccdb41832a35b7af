package transcript

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/winnow-llm/winnow/chat"
	"github.com/winnow-llm/winnow/internal/decode"
)

// readOpenHandsV0 reads evaluation outputs of OpenHands 0.x (a session per line,
// each with a history of events) and event streams of that version.
func readOpenHandsV0(in *input) ([]Session, error) {
	var out []Session
	events := in.newOpenHands()
	for r := range in.eachRecord() {
		history := decode.Member(r.raw, "history")
		switch {
		case history.Kind() == '[':
			h := in.newOpenHands()
			h.s.ID = decode.Str(r.raw, "instance_id")
			h.s.Model = decode.Str(r.raw, "metadata", "llm_config", "model")
			h.readEvents(history)
			out = append(out, h.finish())
		case r.raw.Kind() == '[':
			events.readEvents(r.raw)
		default:
			events.readEvent(r.raw)
		}
	}
	if len(out) == 0 || len(events.msgs) > 0 {
		out = append(out, events.finish())
	}
	return out, nil
}

type openHands struct {
	*builder
	response string // id of the model's answer that was added last
}

func (in *input) newOpenHands() *openHands {
	h := &openHands{builder: in.newBuilder()}
	h.logged = true
	return h
}

// readEvents reads a list of events, or of pairs of action and observation.
func (h *openHands) readEvents(raw jsontext.Value) {
	for _, e := range decode.Elements(raw) {
		if e.Kind() == '[' {
			for _, half := range decode.Elements(e) {
				h.readEvent(half)
			}
			continue
		}
		h.readEvent(e)
	}
}

func (h *openHands) readEvent(raw jsontext.Value) {
	var from, kind, seen, words string
	var id, stamp, meta, args, cause, extras jsontext.Value
	decode.Find(
		raw, decode.To("id", &id), decode.To("timestamp", &stamp), decode.To("source", &from), decode.To("action", &kind),
		decode.To("observation", &seen), decode.To("tool_call_metadata", &meta), decode.To("args", &args), decode.To("cause", &cause),
		decode.To("content", &words), decode.To("extras", &extras),
	)
	m := chat.Message{ID: string(id), Time: decode.Millis(stamp)}
	if seen != "" {
		h.addObservation(m, seen, words, raw, meta, cause, extras)
		return
	}
	switch {
	case kind == "system":
		m.Role = chat.System
		m.Parts = []chat.Part{textPart(decode.Str(args, "content"))}
		if tools, err := decode.Tools(decode.Member(args, "tools")); err == nil {
			h.s.Tools = tools
		}
		h.addMessage(m)
	case kind == "message" && from == "user":
		m.Role = chat.User
		m.Parts = h.openHandsContent(args)
		h.addMessage(m)
	case kind == "condensation":
		h.noteCompaction(Compaction{Summary: decode.Str(args, "summary"), Line: h.in.lineOf(raw)})
	case decode.Member(meta, "model_response").Kind() == '{':
		h.addAnswer(m, meta)
	case kind == "message":
		m.Role = chat.Assistant
		m.Parts = h.openHandsContent(args)
		h.addMessage(m)
	case from == "agent" && (kind == "run" || kind == "run_ipython" || kind == "read" || kind == "write" || kind == "edit" ||
		kind == "browse" || kind == "browse_interactive" || kind == "call_tool_mcp" || kind == "delegate" || kind == "think" || kind == "finish"):
		h.bareAction(m, kind, id, args)
	default:
		h.skip("action/" + orUnknown(kind))
	}
}

func (h *openHands) openHandsContent(args jsontext.Value) []chat.Part {
	var parts []chat.Part
	if s := decode.Str(args, "content"); s != "" {
		parts = append(parts, textPart(s))
	}
	return append(parts, imagesAt(args)...)
}

// imagesAt returns the images that an object names by their addresses alone.
func imagesAt(raw jsontext.Value) (parts []chat.Part) {
	for _, u := range decode.Elements(decode.Member(raw, "image_urls")) {
		p, err := decode.Block(jsontext.Value(`{"type":"image_url","image_url":` + string(u) + `}`))
		if err != nil || p.Kind != chat.Image {
			p = chat.Part{Kind: chat.Opaque, Name: "image", Data: string(u)}
		}
		parts = append(parts, p)
	}
	return parts
}

// addAnswer adds the model's message that an action came from. Several actions
// may come from one message; the first one brings it.
func (h *openHands) addAnswer(m chat.Message, meta jsontext.Value) {
	response := decode.Member(meta, "model_response")
	id := decode.Str(response, "id")
	if id != "" && id == h.response {
		return
	}
	h.response = id
	said, err := decode.OpenAI(decode.Member(firstElement(decode.Member(response, "choices")), "message"))
	if err != nil {
		h.noteBroken(meta, err)
		return
	}
	m.Role, m.Parts = said.Role, said.Parts
	m.Model = decode.Str(response, "model")
	m.Usage = usageOrNil(decode.OpenAIUsage(decode.Member(response, "usage")))
	h.addMessage(m)
}

// bareAction reads an action of an agent that calls tools by text: the event's
// number serves as the call's id.
func (h *openHands) bareAction(m chat.Message, kind string, id, args jsontext.Value) {
	m.Role = chat.Assistant
	if s := decode.Str(args, "thought"); s != "" {
		m.Parts = append(m.Parts, textPart(s))
	}
	m.Parts = append(m.Parts, chat.Call("event-"+string(id), kind, callArgs(args)))
	h.addMessage(m)
}

func (h *openHands) addObservation(m chat.Message, kind, words string, raw, meta, cause, extras jsontext.Value) {
	id := decode.Str(meta, "tool_call_id")
	if id == "" && len(cause) > 0 {
		id = "event-" + string(cause)
	}
	switch {
	case kind == "recall":
		m.Parts = recalledParts(words, extras)
		h.addSynthetic(m)
	case id != "" && (meta != nil || h.hasRecentCall(id)):
		m.Role = chat.Tool
		p := chat.Part{Kind: chat.ToolResult, ID: id, Name: decode.Str(meta, "function_name"), Text: words}
		if s := strings.TrimSpace(decode.Str(extras, "metadata", "suffix")); s != "" {
			p.Text = strings.TrimPrefix(p.Text+"\n"+s, "\n") // how the command ended, which the model is told
		}
		p.Failed = kind == "error" || numberAt(extras, "metadata", "exit_code") > 0 || string(decode.Member(raw, "success")) == "false"
		p.Content = imagesAt(extras)
		m.Parts = []chat.Part{p}
		h.addMessage(m)
	case kind == "error" || kind == "user_rejected":
		h.addSynthetic(m, words)
	default:
		h.skip("observation/" + orUnknown(kind))
	}
}

// hasRecentCall reports whether a call with that id was made not long ago.
func (h *openHands) hasRecentCall(id string) bool {
	const near = 100
	for i := len(h.msgs) - 1; i >= max(0, len(h.msgs)-near); i-- {
		for k := range h.msgs[i].Parts {
			if p := &h.msgs[i].Parts[k]; p.Kind == chat.ToolCall && p.ID == id {
				return true
			}
		}
	}
	return false
}

// recalledParts returns what the agent remembered about the workspace.
func recalledParts(words string, extras jsontext.Value) []chat.Part {
	parts := []chat.Part{textPart(words)}
	for _, name := range [...]string{"repo_instructions", "additional_agent_instructions"} {
		if s := decode.Str(extras, name); s != "" {
			parts = append(parts, textPart(s))
		}
	}
	for _, k := range decode.Elements(decode.Member(extras, "microagent_knowledge")) {
		if s := decode.Str(k, "content"); s != "" {
			parts = append(parts, textPart(s))
		}
	}
	return parts
}

// readOpenHandsV1 reads event streams of OpenHands 1.x.
func readOpenHandsV1(in *input) ([]Session, error) {
	h := in.newOpenHands()
	for r := range in.eachRecord() {
		h.eventV1(r.raw)
	}
	return []Session{h.finish()}, nil
}

func (h *openHands) eventV1(raw jsontext.Value) {
	m := chat.Message{ID: decode.Str(raw, "id"), Time: decode.Millis(decode.Member(raw, "timestamp"))}
	switch kind := decode.Str(raw, "kind"); kind {
	case "SystemPromptEvent":
		m.Role = chat.System
		m.Parts = openHandsBlocks(decode.Member(raw, "system_prompt"))
		m.Parts = append(m.Parts, openHandsBlocks(decode.Member(raw, "dynamic_context"))...)
		if tools, err := decode.Tools(decode.Member(raw, "tools")); err == nil {
			h.s.Tools = tools
		}
		h.addMessage(m)
	case "MessageEvent":
		said := decode.Member(raw, "llm_message")
		role, err := decode.Role(decode.Str(said, "role"))
		if err != nil {
			h.noteBroken(raw, fmt.Errorf("/llm_message/role: %w", err))
			return
		}
		m.Role = role
		m.Parts = append(openHandsThinking(said), openHandsBlocks(decode.Member(said, "content"))...)
		m.Parts = append(m.Parts, openHandsBlocks(decode.Member(raw, "extended_content"))...)
		markSynthetic(&m)
		h.addMessage(m)
	case "ActionEvent":
		h.actionV1(m, raw)
	case "ObservationEvent", "AgentErrorEvent", "UserRejectObservation":
		m.Role = chat.Tool
		p := chat.Part{Kind: chat.ToolResult, ID: decode.Str(raw, "tool_call_id"), Name: decode.Str(raw, "tool_name")}
		if kind == "ObservationEvent" {
			openHandsResult(&p, decode.Member(raw, "observation"))
		} else {
			p.Text, p.Failed = decode.Str(raw, "error")+decode.Str(raw, "rejection_reason"), true
		}
		m.Parts = []chat.Part{p}
		h.addMessage(m)
	case "Condensation":
		h.noteCompaction(Compaction{Summary: decode.Str(raw, "summary"), Line: h.in.lineOf(raw)})
	default:
		h.skip(orUnknown(kind))
	}
}

// actionV1 adds a call to the answer it came from: parallel calls are events of
// their own with the answer's id.
func (h *openHands) actionV1(m chat.Message, raw jsontext.Value) {
	m.Role = chat.Assistant
	m.Parts = append(openHandsThinking(raw), openHandsBlocks(decode.Member(raw, "thought"))...)
	made := decode.Member(raw, "tool_call")
	args := decode.Path(made, "function", "arguments")
	if args == nil {
		args = decode.Member(made, "arguments")
	}
	text, _ := decode.String(args)
	call := chat.Call(decode.Str(raw, "tool_call_id"), decode.Str(raw, "tool_name"), cmp.Or(text, callArgs(decode.Member(raw, "action"))))
	m.Parts = append(m.Parts, call)
	if h.joinAnswer(&m, decode.Str(raw, "llm_response_id")) {
		return
	}
	h.addMessage(m)
}

func openHandsThinking(raw jsontext.Value) []chat.Part {
	var parts []chat.Part
	for _, b := range decode.Elements(decode.Member(raw, "thinking_blocks")) {
		if p, err := decode.Block(b); err == nil {
			parts = append(parts, p)
		}
	}
	if s := decode.Str(raw, "reasoning_content"); s != "" && len(parts) == 0 {
		parts = append(parts, chat.Part{Kind: chat.Thinking, Text: s})
	}
	return parts
}

// openHandsBlocks reads text and images; an image block there has a list of addresses.
func openHandsBlocks(raw jsontext.Value) []chat.Part {
	switch raw.Kind() {
	case '"':
		if s, _ := decode.String(raw); s != "" {
			return []chat.Part{textPart(s)}
		}
		return nil
	case '{':
		if decode.Member(raw, "image_urls") != nil {
			return imagesAt(raw)
		}
		p, err := decode.Block(raw)
		if err != nil {
			return []chat.Part{{Kind: chat.Opaque, Name: "block", Data: string(raw)}}
		}
		return []chat.Part{p}
	}
	var parts []chat.Part
	for _, b := range decode.Elements(raw) {
		if k := b.Kind(); k == '{' || k == '"' {
			parts = append(parts, openHandsBlocks(b)...)
		}
	}
	return parts
}

// openHandsResult reads an observation. Which member holds the answer depends
// on the tool; a command's exit code stands in its metadata.
func openHandsResult(p *chat.Part, raw jsontext.Value) {
	var said []chat.Part
	for k, v := range decode.Members(raw) {
		switch k {
		case "content", "output", "message":
			said = append(said, openHandsBlocks(v)...)
		case "error":
			if s, err := decode.String(v); err == nil && s != "" {
				said = append(said, textPart(s))
				p.Failed = true
			} else if decode.True(v) {
				p.Failed = true
			}
		case "is_error":
			p.Failed = p.Failed || decode.True(v)
		case "exit_code":
			p.Failed = p.Failed || numberAt(raw, k) > 0
		case "metadata":
			p.Failed = p.Failed || numberAt(v, "exit_code") > 0
		}
	}
	if s := decode.Str(raw, "metadata", "suffix"); s != "" && decode.Member(raw, "output") != nil {
		said = append(said, textPart(strings.TrimSpace(s)))
	}
	fillResult(p, said)
}
