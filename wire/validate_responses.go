package wire

import (
	"fmt"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/winnow-llm/winnow/internal/decode"
)

type itemCall struct {
	at       int
	kind     string
	answered bool
}

func (c *checker) checkResponses() {
	if len(c.elems) == 1 && c.list == c.elems[0] {
		return // a string
	}
	// What the provider stores may hold the other half of a pair.
	elsewhere := false
	for _, name := range [...]string{"previous_response_id", "conversation"} {
		elsewhere = elsewhere || !isNull(c.field(c.raw, name))
	}
	calls := make(map[string]*itemCall)
	var order []string
	for i := range c.elems {
		m := c.elementAt(i)
		if m.Kind() != '{' {
			c.addProblem(RuleShape, i, "", "%s where an item is expected", decode.TypeName(m))
			continue
		}
		var kind string
		var role, callID, content, own jsontext.Value
		decode.Find(m, decode.To("type", &kind), decode.To("role", &role), decode.To("call_id", &callID), decode.To("content", &content), decode.To("id", &own))
		id := decode.Str(callID)
		if kind == "" && role != nil {
			kind = "message"
		}
		switch {
		case kind == "":
			c.addProblem(RuleShape, i, "", "the item has no type; add one")
		case kind == "message":
			c.checkItemMessage(i, decode.Str(role), content)
		case kind == "reasoning":
			c.checkReasoning(i, decode.Str(own))
		case kind == "compaction_trigger":
			if i != len(c.elems)-1 {
				c.addProblem(ruleCompaction, i, "", "the 'compaction_trigger' item must be the final input item; move it there")
			}
		case kind == "item_reference":
			elsewhere = true
		case strings.HasSuffix(kind, "_call"):
			if kind == "function_call" || kind == "custom_tool_call" {
				if id == "" {
					c.addProblem(ruleCallID, i, "call_id", "the call has no call_id; give it one, and its output too")
					continue
				}
			}
			if id == "" {
				continue // the provider runs it
			}
			if calls[id] != nil {
				c.addProblem(ruleCallID, i, "call_id", "two calls have the call_id %s; give one another, and its output too", id)
			}
			calls[id] = &itemCall{at: i, kind: kind}
			order = append(order, id)
		case strings.HasSuffix(kind, "_output") && callID.Kind() == '"':
			call := calls[id]
			switch {
			case call == nil && !elsewhere:
				c.addProblem(RuleOrphan, i, "", "no tool call found for %s with call_id %s; remove it or make it a message", strings.ReplaceAll(kind, "_", " "), id)
			case call == nil:
			case outputKind(call.kind) != kind:
				c.addProblem(RuleOrphan, i, "", "the call %s is a %s, so its output must be a %s", id, call.kind, outputKind(call.kind))
				call.answered = true
			case call.answered:
				c.addProblem(RuleDuplicate, i, "", "the call %s has two outputs; keep one", id)
			default:
				call.answered = true
			}
		}
	}
	for _, id := range order {
		if call := calls[id]; !call.answered {
			c.addProblem(RuleUnanswered, call.at, "", "no tool output found for %s %s; add one, or remove the call", strings.ReplaceAll(call.kind, "_", " "), id)
			call.answered = true
		}
	}
}

func (c *checker) checkItemMessage(i int, role string, content jsontext.Value) {
	switch role {
	case "user", "assistant", "system", "developer":
	default:
		c.addProblem(ruleRole, i, "role", "%q is not a role; use user, assistant, system or developer", role)
		return
	}
	if k := content.Kind(); k != '"' && k != '[' {
		c.addProblem(ruleEmpty, i, "content", "%s where content is expected; send a string or an array", decode.TypeName(content))
	}
	for k, b := range decode.Elements(content) {
		kind := decode.Str(b, "type")
		path := fmt.Sprintf("content.%d", k)
		switch {
		case kind == "":
			c.addProblem(RuleShape, i, path, "the part has no type; add one")
		case role == "assistant" && strings.HasPrefix(kind, "input_"):
			c.addProblem(ruleContentType, i, path, "an assistant message cannot have %q; use \"output_text\"", kind)
		case role != "assistant" && kind == "output_text":
			c.addProblem(ruleContentType, i, path, "a %s message cannot have \"output_text\"; use \"input_text\"", role)
		}
	}
}

// checkReasoning checks that an item of reasoning is followed by what the model wrote
// after it. Clients that have nothing stored send it without its id, and the
// provider, which finds that in the encrypted content, asks the same of it.
func (c *checker) checkReasoning(i int, id string) {
	if i+1 < len(c.elems) {
		next := c.elementAt(i + 1)
		kind := decode.Str(next, "type")
		switch {
		case kind == "message" || kind == "":
			if decode.Str(next, "role") == "assistant" {
				return
			}
		case strings.HasSuffix(kind, "_output") || kind == "compaction_trigger":
		default:
			return
		}
	}
	name := "item"
	if id != "" {
		name += " '" + id + "'"
	}
	c.addProblem(ruleReasoning, i, "", "%s of type 'reasoning' was provided without its required following item; remove it, or keep what followed it", name)
}
