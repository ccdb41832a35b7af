package transcript

import (
	"slices"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/winnow-llm/winnow/chat"
	"github.com/winnow-llm/winnow/internal/decode"
)

// readTau reads tau-bench results: a list of tasks, each with its messages.
func readTau(in *input) ([]Session, error) {
	var out []Session
	for doc := range in.eachValue() {
		b := in.newBuilder()
		b.s.ID = "task-" + scalarText(decode.Member(doc, "task_id")) + "-trial-" + scalarText(decode.Member(doc, "trial"))
		for _, v := range decode.Elements(decode.Member(doc, "traj")) {
			if m, ok := b.readOpenAI(v); ok {
				b.addMessage(m)
			}
		}
		out = append(out, b.finish())
	}
	return out, nil
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
	for doc := range in.eachValue() {
		info, sims := decode.Member(doc, "info"), decode.Member(doc, "simulations")
		if sims.Kind() != '[' {
			out = append(out, in.readSimulation(info, doc))
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
		p.Failed = isSet(v, "error")
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
