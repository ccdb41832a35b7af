package transcript

import (
	"cmp"
	"slices"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/winnow-llm/winnow/chat"
	"github.com/winnow-llm/winnow/internal/decode"
)

// documents returns a reader of files in which each record is a session.
func documents(read func(b *builder, doc jsontext.Value)) func(*input) ([]Session, error) {
	return func(in *input) (out []Session, err error) {
		for r := range in.eachRecord() {
			b := in.newBuilder()
			read(b, r.raw)
			out = append(out, b.finish())
		}
		return out, nil
	}
}

// sweAgent reads one of SWE-agent's trajectories. The history there holds what
// the model saw; where it is missing, the trajectory's answers and observations do.
func (b *builder) sweAgent(doc jsontext.Value) {
	b.s.ID = cmp.Or(decode.Str(doc, "instance_id"), decode.Str(doc, "environment"))
	history := decode.Member(doc, "history")
	if history.Kind() != '[' {
		for _, step := range decode.Elements(decode.Member(doc, "trajectory")) {
			b.addMessage(chat.TextMessage(chat.Assistant, decode.Str(step, "response")))
			b.addSynthetic(chat.Message{}, decode.Str(step, "observation"))
		}
		return
	}
	answered := false
	for _, v := range decode.Elements(history) {
		m, ok := b.readOpenAI(v)
		if !ok {
			continue
		}
		switch m.Role {
		case chat.Assistant:
			answered = true
		case chat.User:
			// The task comes first; then the environment speaks as the user.
			m.Synthetic = answered || decode.True(v, "is_demo")
		case chat.Tool:
			if p := &m.Parts[0]; p.ID == "" {
				p.ID, _ = decode.String(firstElement(decode.Member(v, "tool_call_ids")))
			}
		}
		b.addMessage(m)
	}
}

// miniAgent reads one of mini-swe-agent's trajectories: OpenAI messages with what the
// provider answered in "extra".
func (b *builder) miniAgent(doc jsontext.Value) {
	b.s.ID = decode.Str(doc, "instance_id")
	answered := false
	for _, v := range decode.Elements(decode.Member(doc, "messages")) {
		answered = b.miniMessage(v, answered)
	}
	b.msgs = joinOutput(b.msgs)
}

func (b *builder) miniMessage(v jsontext.Value, answered bool) bool {
	role := decode.Str(v, "role")
	if role == "exit" { // how the run ended, not a message
		b.skip("exit")
		return answered
	}
	extra := decode.Member(v, "extra")
	if decode.Str(v, "object") == "response" { // an answer of the responses API
		for _, item := range decode.Elements(decode.Member(v, "output")) {
			m, err := decode.Item(item)
			if err != nil {
				b.noteBroken(item, err)
				continue
			}
			m.Wire, m.Model = 0, decode.Str(v, "model")
			m.Usage = usageOrNil(decode.ResponsesUsage(decode.Member(v, "usage")))
			m.Parts = withoutEmptyThinking(m.Parts)
			b.addMessage(m)
		}
		return true
	}
	read := decode.OpenAI
	if role == "" {
		read = decode.Item
	}
	m, err := read(v)
	if err != nil {
		b.noteBroken(v, err)
		return answered
	}
	m.Wire, m.Time = 0, decode.Millis(decode.Member(extra, "timestamp"))
	switch m.Role {
	case chat.Assistant:
		response := decode.Member(extra, "response")
		m.ID, m.Model = decode.Str(response, "id"), decode.Str(response, "model")
		m.Usage = usageOrNil(decode.OpenAIUsage(decode.Member(response, "usage")))
		answered = true
	case chat.User:
		m.Synthetic = answered
	case chat.Tool:
		m.Parts[0].Failed = numberAt(extra, "returncode") != 0
	}
	b.addMessage(m)
	return answered
}

// joinOutput joins the items of one answer, which carry its usage each.
func joinOutput(msgs []chat.Message) []chat.Message {
	out := msgs[:0]
	for i := range msgs {
		n := len(out)
		if n > 0 && msgs[i].Role == chat.Assistant && out[n-1].Role == chat.Assistant && msgs[i].ID == "" && out[n-1].ID == "" &&
			msgs[i].Usage != nil && out[n-1].Usage != nil && *msgs[i].Usage == *out[n-1].Usage {
			decode.Join(&out[n-1], &msgs[i])
			continue
		}
		out = append(out, msgs[i])
	}
	return out
}

// tauBench reads one of tau-bench's results: a task with its messages.
func (b *builder) tauBench(doc jsontext.Value) {
	b.s.ID = "task-" + scalarText(decode.Member(doc, "task_id")) + "-trial-" + scalarText(decode.Member(doc, "trial"))
	for _, v := range decode.Elements(decode.Member(doc, "traj")) {
		if m, ok := b.readOpenAI(v); ok {
			b.addMessage(m)
		}
	}
}

// scalarText returns a number or string as text.
func scalarText(v jsontext.Value) string {
	if v.Kind() == '"' {
		s, _ := decode.String(v)
		return s
	}
	return string(v)
}

// readTau2 reads tau2-bench results: simulations of an agent and a user. The
// policy is the agent's system prompt. What the simulated user does with tools
// of its own, the agent never sees; it is counted and left out.
func readTau2(in *input) ([]Session, error) {
	var out []Session
	for r := range in.eachRecord() {
		info, sims := decode.Member(r.raw, "info"), decode.Member(r.raw, "simulations")
		if sims.Kind() != '[' {
			out = append(out, in.readSimulation(info, r.raw))
		}
		for _, sim := range decode.Elements(sims) {
			out = append(out, in.readSimulation(info, sim))
		}
	}
	return out, nil
}

func (in *input) readSimulation(info, sim jsontext.Value) Session {
	b := in.newBuilder()
	b.s.ID = decode.Str(sim, "id")
	if task := scalarText(decode.Member(sim, "task_id")); task != "" {
		b.s.Title = "task " + task
	}
	b.s.Model = decode.Str(info, "agent_info", "llm")
	if policy := decode.Str(info, "environment_info", "policy"); policy != "" {
		b.s.System = []chat.Part{textPart(policy)}
	}
	if tools, err := decode.Tools(decode.Path(info, "environment_info", "tool_defs")); err == nil {
		b.s.Tools = tools
	}
	for _, v := range decode.Elements(decode.Member(sim, "messages")) {
		if several := decode.Member(v, "tool_messages"); several.Kind() == '[' {
			for _, t := range decode.Elements(several) {
				b.tau2Message(t)
			}
			continue
		}
		b.tau2Message(v)
	}
	return b.finish()
}

func (b *builder) tau2Message(v jsontext.Value) {
	m, ok := b.readOpenAI(v)
	if !ok {
		return
	}
	m.Time = decode.Millis(decode.Member(v, "timestamp"))
	switch m.Role {
	case chat.Tool:
		if decode.Str(v, "requestor") == "user" {
			b.skip("result of the user's own tool")
			return
		}
		p := &m.Parts[0]
		if p.ID == "" || decode.Member(v, "tool_call_id") == nil {
			p.ID = decode.Str(v, "id")
		}
		p.Failed = decode.True(v, "error")
	case chat.User:
		m.Parts = slices.DeleteFunc(m.Parts, func(p chat.Part) bool {
			if p.Kind == chat.ToolCall {
				b.skip("call of the user's own tool")
			}
			return p.Kind == chat.ToolCall
		})
		if len(m.Parts) == 0 {
			return
		}
	case chat.Assistant:
		m.Model = b.s.Model
		m.Usage = usageOrNil(decode.OpenAIUsage(decode.Member(v, "usage")))
	}
	b.addMessage(m)
}
