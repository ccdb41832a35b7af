package providersim

import (
	"slices"
	"strings"
)

// blockMessage is a message of Anthropic's, with a string for content seen as
// one block of text.
type blockMessage struct {
	role   string
	blocks []block
}

type block struct {
	kind string
	v    value
	text value // of text blocks
}

func newBlock(v value) block {
	return block{kind: v.get("type").str(), v: v, text: v.get("text")}
}

func readBlocks(messages value) []blockMessage {
	out := make([]blockMessage, len(messages.elems))
	for i, m := range messages.elems {
		out[i].role = m.get("role").str()
		content := m.get("content")
		if content.isString() {
			out[i].blocks = []block{{kind: "text", text: content}}
			continue
		}
		out[i].blocks = make([]block, len(content.elems))
		for j, b := range content.elems {
			out[i].blocks[j] = newBlock(b)
		}
	}
	return out
}

func (m blockMessage) has(kind string) bool {
	return slices.ContainsFunc(m.blocks, func(b block) bool { return b.kind == kind })
}

// turnStart returns the message that started the current turn: the last of a user's
// that carries no results.
func turnStart(msgs []blockMessage) int {
	for i := len(msgs) - 1; i >= 0; i-- {
		if msgs[i].role == "user" && !msgs[i].has("tool_result") {
			return i
		}
	}
	return 0
}

// openLoop returns the first answer of the tool loop that the messages end in; -1
// where they end in none. User messages in a row are one message, so words right
// behind results leave the loop open.
func openLoop(msgs []blockMessage) int {
	first, results := -1, false
	for i := len(msgs) - 1; i >= 0; i-- {
		switch msgs[i].role {
		case "user":
			results = results || msgs[i].has("tool_result")
		case "assistant":
			if !results {
				return first
			}
			first, results = i, false
		}
	}
	return first
}

// rolesRule: user and assistant, starting with a user; system messages only
// further on.
func rolesRule(_ *call, msgs []blockMessage) *refusal {
	for i, m := range msgs {
		switch m.role {
		case "user", "assistant":
		case "system":
			if i == 0 {
				return badRequest(ruleRole, "messages.0: a `system` message may not be first. The Messages API accepts a top-level `system` parameter for that.")
			}
		default:
			return badRequest(ruleRole, "messages: Unexpected role %q. Allowed roles are \"user\", \"assistant\" or \"system\".", m.role)
		}
	}
	if msgs[0].role != "user" {
		return badRequest(ruleRole, "messages: first message must use the \"user\" role")
	}
	return nil
}

// emptyRule: content everywhere but in an answer that the client begins, and no
// empty text.
func emptyRule(_ *call, msgs []blockMessage) *refusal {
	for i, m := range msgs {
		if len(m.blocks) == 0 && (i < len(msgs)-1 || m.role != "assistant") {
			return badRequest(ruleEmpty, "messages.%d: all messages must have non-empty content except for the optional final assistant message", i)
		}
		for j, b := range m.blocks {
			if b.kind == "" {
				return badRequest(ruleField, "messages.%d.content.%d.type: Field required", i, j)
			}
			if b.kind != "text" {
				continue
			}
			if len(b.text.bytes()) == 0 {
				return badRequest(ruleEmpty, "messages: text content blocks must be non-empty")
			}
			if strings.TrimSpace(b.text.str()) == "" {
				return badRequest(ruleEmpty, "messages: text content blocks must contain non-whitespace text")
			}
		}
	}
	return nil
}

// pairsRule: every tool_use has exactly one tool_result, in the next message, and
// every tool_result its tool_use in the one before.
func pairsRule(_ *call, msgs []blockMessage) *refusal {
	seen := map[string]bool{}
	open := map[string]bool{} // of the message before; true once answered
	for i, m := range msgs {
		for j, b := range m.blocks {
			if b.kind != "tool_result" {
				continue
			}
			if m.role != "user" {
				return badRequest(ruleResult, "messages.%d: `tool_result` blocks can only be in `user` messages", i)
			}
			id := b.v.get("tool_use_id").str()
			done, ok := open[id]
			if !ok {
				return badRequest(ruleResult, "messages.%d.content.%d: unexpected `tool_use_id` found in `tool_result` blocks: %s. Each `tool_result` block must have a corresponding `tool_use` block in the previous message.", i, j, id)
			}
			if done {
				return badRequest(ruleTwice, "messages.%d.content.%d: each tool_use must have a single result. Found multiple `tool_result` blocks with id: %s", i, j, id)
			}
			open[id] = true
		}
		if i > 0 {
			if r := checkAllAnswered(i-1, msgs[i-1], open); r != nil {
				return r
			}
		}
		clear(open)
		for _, b := range m.blocks {
			if b.kind != "tool_use" {
				continue
			}
			if m.role != "assistant" {
				return badRequest(ruleCall, "messages.%d: `tool_use` blocks can only be in `assistant` messages", i)
			}
			id := b.v.get("id").str()
			if seen[id] {
				return badRequest(ruleTwice, "messages.%d: `tool_use` ids must be unique", i)
			}
			seen[id], open[id] = true, false
		}
	}
	return checkAllAnswered(len(msgs)-1, msgs[len(msgs)-1], open)
}

func checkAllAnswered(at int, m blockMessage, open map[string]bool) *refusal {
	var missing []string
	for _, b := range m.blocks {
		if b.kind != "tool_use" {
			continue
		}
		if id := b.v.get("id").str(); !open[id] {
			missing = append(missing, id)
		}
	}
	if missing == nil {
		return nil
	}
	return badRequest(ruleCall, "messages.%d: `tool_use` ids were found without `tool_result` blocks immediately after: %s. Each `tool_use` block must have a corresponding `tool_result` block in the next message.", at, strings.Join(missing, ", "))
}

// leadRule: with thinking enabled, the answers of an open tool loop start with
// thinking. Adaptive thinking has no such rule.
func leadRule(c *call, msgs []blockMessage) *refusal {
	i := openLoop(msgs)
	if i < 0 || c.v.path("thinking", "type").str() != "enabled" {
		return nil
	}
	first := msgs[i].blocks[0].kind
	if first == "thinking" || first == "redacted_thinking" {
		return nil
	}
	return badRequest(ruleLead, "messages.%d.content.0.type: Expected `thinking` or `redacted_thinking`, but found `%s`. When `thinking` is enabled, a final `assistant` message must start with a thinking block (preceeding the lastmost set of `tool_use` and `tool_result` blocks). We recommend you include thinking blocks from previous turns. To avoid this requirement, disable `thinking`. Please consult our documentation at https://docs.claude.com/en/docs/build-with-claude/extended-thinking", i, first)
}

// prefillRule: newer models do not continue an answer that the client began.
func prefillRule(c *call, msgs []blockMessage) *refusal {
	_, major, minor := claudeVersion(c.model)
	old := major > 0 && (major < 4 || major == 4 && minor < 6)
	if old || msgs[len(msgs)-1].role != "assistant" {
		return nil
	}
	return badRequest("prefill", "This model does not support assistant message prefill. The conversation must end with a user message.")
}

// placeRule: thinking is the model's.
func placeRule(_ *call, msgs []blockMessage) *refusal {
	for i, m := range msgs {
		for j, b := range m.blocks {
			if (b.kind == "thinking" || b.kind == "redacted_thinking") && m.role != "assistant" {
				return badRequest("misplaced_block", "messages.%d.content.%d: `%s` blocks can only be in `assistant` messages", i, j, b.kind)
			}
		}
	}
	return nil
}

// markersRule: at most four cache breakpoints.
func markersRule(c *call, _ []blockMessage) *refusal {
	n := countMarkers(c.v.get("tools")) + countMarkers(c.v.get("system"))
	for _, m := range c.v.get("messages").elems {
		n += countMarkers(m.get("content"))
	}
	if c.v.get("cache_control").ok() {
		n++
	}
	if n > 4 {
		return badRequest("cache_control", "A maximum of 4 blocks with cache_control may be provided. Found %d.", n)
	}
	return nil
}

func countMarkers(blocks value) int {
	n := 0
	for _, b := range blocks.elems {
		if b.get("cache_control").ok() {
			n++
		}
		// Results carry blocks of their own, which may be marked too.
		n += countMarkers(b.get("content"))
	}
	return n
}
