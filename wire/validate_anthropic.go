package wire

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/winnow-llm/winnow/internal/decode"
)

// anthropicCheck follows the messages of one body.
type anthropicCheck struct {
	*checker
	calls   pending         // of the last assistant message
	waiting bool            // its results are due in the next message
	ids     map[string]bool // of all calls
	server  map[string]int  // the provider's own calls without result, by message
	used    map[string]bool // the provider's own calls, answered or not
	compact int
	turns   []anthropicTurn // since the user last said something
}

// anthropicTurn is what counts in a message whose role is known.
type anthropicTurn struct {
	at             int
	role           string
	first          string // the kind of its first block
	calls, results bool
	other          bool // a block other than a result was read
	words          bool // it has more than white space
	due            bool // the results of the message before must be here
}

func (c *checker) checkAnthropic() {
	a := anthropicCheck{checker: c, ids: map[string]bool{}, server: map[string]int{}, used: map[string]bool{}}
	if len(c.raw) > anthropicBytes {
		c.addProblem(ruleSize, -1, "", "the body has %d bytes where %d are allowed; remove images or old tool results", len(c.raw), anthropicBytes)
	}
	if len(c.elems) > anthropicList {
		c.addProblem(ruleSize, -1, "messages", "%d messages where %d are allowed; fold old ones", len(c.elems), anthropicList)
	}
	if len(c.elems) == 0 {
		c.addProblem(ruleNoMessages, -1, "messages", "at least one message is required; add the user's")
	}
	thinking := a.checkFields()
	first := true
	last := -1 // the last assistant message
	for i := range c.elems {
		m := c.elementAt(i)
		if m.Kind() != '{' {
			c.addProblem(RuleShape, i, "", "%s where a message is expected; send an object with role and content", decode.TypeName(m))
			continue
		}
		var role string
		var content jsontext.Value
		decode.Find(m, decode.To("role", &role), decode.To("content", &content))
		switch role {
		case "user", "assistant":
			if first && role != "user" {
				c.addProblem(ruleUserFirst, i, "", "the first message must be a user's; put one before it")
			}
			first = false
		case "system":
			if i == 0 {
				c.addProblem(ruleRole, i, "role", "a system message may not be first; put it into the body's system")
			}
		default:
			c.addProblem(ruleRole, i, "role", "%q is not a role; use user, assistant or system", role)
			continue
		}
		if role == "assistant" {
			last = i
		}
		a.checkMessage(i, role, content)
	}
	a.reportUnanswered()
	for _, id := range slices.Sorted(maps.Keys(a.server)) {
		if at := a.server[id]; at != last {
			c.addProblem(ruleServerTool, at, "", "the provider's own call %q has no result; remove the call, or keep its result", id)
		}
	}
	if c.marks > anthropicMarks {
		c.addProblem(ruleCacheMarks, -1, "", "a maximum of %d blocks with cache_control may be provided, found %d; remove the oldest", anthropicMarks, c.marks)
	}
	if a.compact > 1 {
		c.addProblem(ruleCompaction, -1, "messages", "%d compaction blocks with content; keep the newest", a.compact)
	}
	c.checkImages(anthropicImages)
	if thinking {
		a.leadThinking()
	}
}

// checkFields checks what stands beside the messages and tells whether thinking is enabled.
func (a *anthropicCheck) checkFields() (thinking bool) {
	budget := 0
	for _, f := range a.layout.fields {
		v := jsontext.Value(f.val.in(a.raw))
		switch f.name {
		case "system", "tools":
			for i, b := range decode.Elements(v) {
				if a.countMark(decode.Member(b, "cache_control")) && f.name == "system" && decode.Str(b, "text") == "" {
					a.addProblem(ruleCacheMarks, -1, fmt.Sprintf("system.%d", i), "cache_control on an empty text; remove it")
				}
			}
		case "cache_control":
			if v.Kind() == '{' {
				a.marks++
			}
		case "thinking":
			thinking = decode.Str(v, "type") == "enabled"
			budget, _ = decode.Int(decode.Member(v, "budget_tokens"))
		}
	}
	if v := a.field(a.raw, "max_tokens"); v != nil {
		n, err := decode.Int(v)
		switch {
		case err != nil || n <= 0:
			a.addProblem(ruleMaxTokens, -1, "max_tokens", "must be a whole number above 0")
		case thinking && budget >= n:
			a.addProblem(ruleMaxTokens, -1, "max_tokens", "must be greater than thinking.budget_tokens (%d), not %d; raise it or lower the budget", budget, n)
		}
	}
	return thinking
}

func (a *anthropicCheck) countMark(mark jsontext.Value) bool {
	if mark.Kind() == '{' {
		a.marks++
		return true
	}
	return false
}

// anthropicFields are the members of a block that count.
type anthropicFields struct {
	kind, id, useID            string
	text, input, content, sign jsontext.Value
	marked                     bool
}

func (a *anthropicCheck) readBlock(b jsontext.Value) anthropicFields {
	var f anthropicFields
	var data, mark jsontext.Value
	decode.Find(
		b, decode.To("type", &f.kind), decode.To("text", &f.text), decode.To("id", &f.id), decode.To("tool_use_id", &f.useID), decode.To("input", &f.input),
		decode.To("content", &f.content), decode.To("signature", &f.sign), decode.To("data", &data), decode.To("cache_control", &mark),
	)
	if f.marked = a.countMark(mark); f.kind == "redacted_thinking" {
		f.sign = data
	}
	return f
}

func (a *anthropicCheck) checkMessage(i int, role string, content jsontext.Value) {
	due := a.waiting && role != "system"
	if due && role == "assistant" {
		a.reportUnanswered()
		due = false
	}
	final := i == len(a.elems)-1 && role == "assistant"
	switch content.Kind() {
	case '"':
		if isBlank(content) && !final {
			a.addProblem(ruleEmpty, i, "content", "the message has no words; remove it or say something")
		}
	case '[':
	default:
		a.addProblem(RuleShape, i, "content", "%s where a string or an array of blocks is expected", decode.TypeName(content))
	}
	a.turns = append(a.turns, anthropicTurn{at: i, role: role, due: due})
	turn := &a.turns[len(a.turns)-1]
	n, before := 0, len(a.problems)
	for k, b := range decode.Elements(content) {
		n++
		a.checkBlock(turn, k, b)
	}
	if content.Kind() == '[' && n == 0 && !final {
		a.addProblem(ruleEmpty, i, "content", "the message has no blocks; remove it or add a text")
	} else if n > 0 && !turn.words && len(a.problems) == before {
		a.addProblem(ruleEmptyText, i, "content", "text content blocks must contain non-whitespace text; remove the message or say something")
	}
	if due {
		a.reportUnanswered()
	}
	switch {
	case role == "assistant":
		a.waiting = len(a.calls.ids) > 0
	case role == "user" && !turn.results:
		a.turns = a.turns[:0]
	}
}

// reportUnanswered reports calls whose results are missing where they are due.
func (a *anthropicCheck) reportUnanswered() {
	if a.waiting {
		if open := a.calls.takeOpen(); len(open) > 0 {
			a.addProblem(RuleUnanswered, a.calls.at, "", "`tool_use` ids were found without `tool_result` blocks immediately after: %s; add a result for each to the next message", strings.Join(open, ", "))
		}
	}
	a.waiting = false
	a.calls = pending{}
}

func (a *anthropicCheck) checkBlock(t *anthropicTurn, k int, b jsontext.Value) {
	i, role := t.at, t.role
	path := fmt.Sprintf("content.%d", k)
	if b.Kind() != '{' {
		a.addProblem(RuleShape, i, path, "%s where a block is expected", decode.TypeName(b))
		return
	}
	f := a.readBlock(b)
	kind := f.kind
	if k == 0 {
		t.first = kind
	}
	t.calls, t.results = t.calls || kind == "tool_use", t.results || kind == "tool_result"
	t.other, t.words = t.other || kind != "tool_result", t.words || kind != "text"
	switch {
	case kind == "":
		a.addProblem(RuleShape, i, path, "the block has no type; add one")
	case kind == "text":
		// Models write white space before other blocks, and may have it back.
		if f.text.Kind() != '"' || len(f.text) == 2 {
			a.addProblem(ruleEmptyText, i, path, "text content blocks must be non-empty; remove the block")
		} else if !isBlank(f.text) {
			t.words = true
		}
	case kind == "image":
		a.images++
	case kind == "thinking" || kind == "redacted_thinking":
		a.checkThinking(i, path, role, &f)
	case kind == "tool_use":
		a.checkCall(i, path, role, &f)
	case kind == "tool_result":
		a.checkResult(t, path, &f)
	case kind == "server_tool_use" || kind == "mcp_tool_use":
		a.server[f.id] = i
		a.used[f.id] = true
	case strings.HasSuffix(kind, "_tool_result"):
		if !a.used[f.useID] {
			a.addProblem(ruleServerTool, i, path, "unexpected `tool_use_id` found in `%s` blocks: %s; it must have a corresponding `server_tool_use` block before it: remove both or keep both", kind, f.useID)
		}
		delete(a.server, f.useID)
	case kind == "compaction":
		if k != 0 || role == "system" {
			a.addProblem(ruleCompaction, i, path, "a compaction block must come first in its message; move it there")
		}
		if !isNull(f.content) {
			a.compact++
		}
	}
}

func (a *anthropicCheck) checkThinking(i int, path, role string, f *anthropicFields) {
	sign := "signature"
	if f.kind == "redacted_thinking" {
		sign = "data"
	}
	switch {
	case role != "assistant":
		a.addProblem(ruleRole, i, path, "a %s message has thinking; only the assistant's can", role)
	case f.sign.Kind() != '"' || len(f.sign) == 2:
		a.addProblem(ruleThinking, i, path, "the %s block has no %s; remove the block, which cannot be sent without it", f.kind, sign)
	case f.marked:
		a.addProblem(ruleCacheMarks, i, path, "cache_control on thinking; put the marker on another block")
	}
}

func (a *anthropicCheck) checkCall(i int, path, role string, f *anthropicFields) {
	id := f.id
	switch {
	case role != "assistant":
		a.addProblem(ruleRole, i, path, "a %s message has a `tool_use` block; only the assistant's can", role)
		return
	case !plainID(id):
		a.addProblem(ruleCallID, i, path, "the `tool_use` id %q must be letters, digits, _ and -; give it such an id, and its result too", id)
	case a.ids[id]:
		a.addProblem(ruleCallID, i, path, "`tool_use` ids must be unique, %s was used before; give it another, and its result too", id)
	}
	if f.input.Kind() != '{' {
		a.addProblem(ruleArguments, i, path, "the call's input is %s where an object is expected", decode.TypeName(f.input))
	}
	a.ids[id] = true
	a.calls.at = i
	a.calls.add(id)
}

func (a *anthropicCheck) checkResult(t *anthropicTurn, path string, f *anthropicFields) {
	i, id := t.at, f.useID
	switch {
	case t.role != "user":
		a.addProblem(ruleRole, i, path, "a %s message has a `tool_result` block; only a user's can", t.role)
		return
	case t.other:
		a.addProblem(ruleResultOrder, i, path, "a `tool_result` block comes after other content; put the results first")
	}
	known, twice := false, false
	if t.due {
		known, twice = a.calls.answer(id)
	}
	switch {
	case !known:
		a.addProblem(RuleOrphan, i, path, "unexpected `tool_use_id` found in `tool_result` blocks: %s; it must have its `tool_use` block in the previous message: remove it or make it a text", id)
	case twice:
		a.addProblem(RuleDuplicate, i, path, "the `tool_use` %s has more than one `tool_result`; keep one", id)
	}
	for k, in := range decode.Elements(f.content) {
		inner := a.readBlock(in)
		switch inner.kind {
		case "image":
			a.images++
		case "text":
			if inner.text.Kind() != '"' || len(inner.text) == 2 {
				a.addProblem(ruleEmptyText, i, fmt.Sprintf("%s.content.%d", path, k), "text content blocks must be non-empty; remove the block")
			}
		}
	}
}

func plainID(s string) bool {
	for i := range len(s) {
		c := s[i]
		if (c|0x20 < 'a' || c|0x20 > 'z') && (c < '0' || c > '9') && c != '_' && c != '-' {
			return false
		}
	}
	return s != ""
}

// leadThinking checks the loop of calls and results that the body ends with:
// with thinking enabled it must start with thinking.
func (a *anthropicCheck) leadThinking() {
	var first, last *anthropicTurn // of the assistant
	for i := range a.turns {
		if t := &a.turns[i]; t.role == "assistant" {
			first, last = cmp.Or(first, t), t
		}
	}
	if first == nil || last.at == len(a.elems)-1 || !last.calls {
		return
	}
	if !first.startsThinking() && !last.startsThinking() {
		a.addProblem(ruleThinking, first.at, "content.0", "expected `thinking` or `redacted_thinking`: with thinking enabled the assistant's turn in a tool loop must start with it; keep that block, or fold the whole turn")
	}
}

func (t *anthropicTurn) startsThinking() bool {
	return t.first == "thinking" || t.first == "redacted_thinking"
}
