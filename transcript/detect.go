package transcript

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/winnow-llm/winnow/internal/decode"
	"github.com/winnow-llm/winnow/wire"
)

// Detect returns the format of a file's content and, in words, what it saw. The
// words are there when nothing was recognised, too.
func Detect(data []byte) (Format, string, bool) {
	in := &input{}
	if err := in.loadData(data, 2<<30); err != nil {
		return "", "nothing to read", false
	}
	if what := foreignKind(in.data); what != "" {
		return "", what, false
	}
	in.splitRecords()
	if len(in.records) == 0 {
		return "", "no JSON", false
	}
	return classifyRecords(in.records)
}

// classifyRecords looks at the first records until one says what the file is.
func classifyRecords(records []record) (Format, string, bool) {
	const enough = 100
	saw := ""
	var plain Format
	plainSaw := ""
	for i := range records[:min(len(records), enough)] {
		f, what := classifyValue(records[i].raw)
		switch {
		case f == "":
			saw = cmp.Or(saw, what)
		case (f == OpenAI || f == Anthropic || f == Responses || f == Gemini) && len(records) > 1:
			// One message per line: a later line may know better, as one with
			// tool blocks does.
			if plain == "" || plain == OpenAI {
				plain, plainSaw = f, what
			}
		default:
			return f, what, true
		}
	}
	if plain != "" {
		return plain, fmt.Sprintf("%s, one per line", plainSaw), true
	}
	return "", saw, false
}

// classifyValue says what one JSON value is: a record of a log, or a document.
func classifyValue(raw jsontext.Value) (Format, string) {
	switch raw.Kind() {
	case '{':
		return classifyObject(raw)
	case '[':
		return classifyArray(raw)
	}
	return "", decode.TypeName(raw)
}

// keys are the members of an object that tell formats apart.
type keys map[string]jsontext.Value

func (k keys) has(names ...string) bool {
	for _, n := range names {
		if k[n] == nil {
			return false
		}
	}
	return true
}

func (k keys) str(name string) string {
	s, _ := decode.String(k[name])
	return s
}

func keysOf(raw jsontext.Value) keys {
	k := keys{}
	for name, v := range decode.Members(raw) {
		k[strings.Clone(name)] = v
	}
	return k
}

func classifyObject(raw jsontext.Value) (Format, string) {
	k := keysOf(raw)
	if f, what := classifyMembers(k); f != "" {
		return f, what
	}
	if f := arrayFormat(slices.Concat([]byte{'['}, raw, []byte{']'})); f != "" {
		return f, fmt.Sprintf("a message in the shape of %s", f)
	}
	names := make([]string, 0, 6)
	for name := range decode.Members(raw) {
		if len(names) == 6 {
			names = append(names, "…")
			break
		}
		names = append(names, strings.Clone(name[:min(len(name), 40)]))
	}
	if len(names) == 0 {
		return "", "an empty object"
	}
	return "", "an object with the members " + strings.ToValidUTF8(strings.Join(names, ", "), "?")
}

// classifyMembers recognises objects that hold sessions, and lines of a log.
func classifyMembers(k keys) (Format, string) {
	if f, what := classifyDocument(k); f != "" {
		return f, what
	}
	return classifyRecord(k)
}

// classifyDocument recognises objects that hold a whole session, or several.
func classifyDocument(k keys) (Format, string) {
	switch {
	case k["simulations"].Kind() == '[':
		return Tau2Bench, "simulations of tau2-bench"
	case k.has("task_id", "messages", "termination_reason"):
		return Tau2Bench, "one simulation of tau2-bench"
	case k["traj"].Kind() == '[':
		return TauBench, "a trajectory of tau-bench"
	case k.has("trajectory_format", "messages"):
		return MiniSWEAgent, "a trajectory in the format " + k.str("trajectory_format")
	case k["trajectory"].Kind() == '[':
		return SWEAgent, "a trajectory of SWE-agent"
	case k["history"].Kind() == '[' && isEvent(firstElement(k["history"])):
		return OpenHandsV0, "an OpenHands history of events"
	case k["info"].Kind() == '{' && k["messages"].Kind() == '[' && decode.Member(firstElement(k["messages"]), "parts") != nil:
		return OpenCode, "an exported OpenCode session"
	case k.has("info", "messages") && decode.Path(k["info"], "mini_version") != nil:
		return MiniSWEAgent, "a trajectory of mini-swe-agent"
	case k.has("sessionId") && k["messages"].Kind() == '[' && geminiRecord(firstElement(k["messages"])),
		k.has("sessionId", "projectHash"):
		return GeminiCLI, "a saved chat of Gemini CLI"
	case k["session"].Kind() == '{' && k["items"].Kind() == '[':
		return Codex, "a saved session of an early Codex"
	case k["contents"] != nil:
		return Gemini, "a request body with contents (Gemini)"
	case k["messages"].Kind() == '[':
		f := arrayFormat(k["messages"])
		switch {
		case f == NeuroLink:
			return f, "a stored NeuroLink conversation"
		case f == "":
			return "", ""
		case k["system"] != nil || k["anthropic_version"] != nil || decode.Member(firstElement(k["tools"]), "input_schema") != nil:
			f = Anthropic
		}
		return f, fmt.Sprintf("a request body with messages (%s)", f)
	case k["input"] != nil && (k.has("model") || k.has("instructions") || k["input"].Kind() == '['):
		return Responses, "a request body with input items (OpenAI responses)"
	}
	return "", ""
}

// classifyRecord recognises one line of a log.
func classifyRecord(k keys) (Format, string) {
	kind := k.str("type")
	switch {
	case kind == "session" && k.has("id", "timestamp"):
		return Pi, "a pi session header"
	case k.str("kind") == "header" && k["v"] != nil, k.str("kind") == "entry" && k.has("seq"):
		return Pi, "a pi session of version 4"
	case k["payload"].Kind() == '{' && k.has("type", "timestamp"):
		return Codex, "a Codex rollout record of type " + kind
	case k.has("id", "timestamp", "instructions") && kind == "":
		return Codex, "an early Codex rollout header"
	case k.has("record_type"):
		return Codex, "an early Codex rollout record"
	case k.has("uuid", "sessionId"), k.has("uuid", "parentUuid"), kind == "summary" && k.has("leafUuid"),
		kind == "file-history-snapshot", kind != "" && k.has("sessionId"):
		return ClaudeCode, "a Claude Code record of type " + kind
	case kind == "message" && k.has("parentId", "message"), kind == "message" && k["message"].Kind() == '{' && k.has("timestamp"):
		return Pi, "a pi session entry"
	case k.has("source") && strings.HasSuffix(k.str("kind"), "Event"), k.str("kind") == "Condensation":
		return OpenHandsV1, "an OpenHands event of kind " + k.str("kind")
	case k.has("source") && (k.has("action") || k.has("observation")):
		return OpenHandsV0, "an OpenHands event"
	case k["info"].Kind() == '{' && k["parts"].Kind() == '[':
		return OpenCode, "an OpenCode message"
	}
	return "", ""
}

func isEvent(raw jsontext.Value) bool {
	if raw.Kind() == '[' { // pairs of action and observation, in old files
		raw = firstElement(raw)
	}
	return decode.Member(raw, "action") != nil || decode.Member(raw, "observation") != nil
}

func geminiRecord(raw jsontext.Value) bool {
	switch decode.Str(raw, "type") {
	case "user", "gemini", "info", "error", "warning":
		return decode.Member(raw, "content") != nil
	}
	return false
}

func firstElement(raw jsontext.Value) jsontext.Value {
	for _, v := range decode.Elements(raw) {
		return v
	}
	return nil
}

// classifyArray recognises arrays: of messages, or of sessions or events.
func classifyArray(raw jsontext.Value) (Format, string) {
	first := firstElement(raw)
	if first == nil {
		return "", "an empty array"
	}
	if first.Kind() == '{' {
		if f, what := classifyMembers(keysOf(first)); f != "" {
			return f, "an array: " + what
		}
	}
	if f := arrayFormat(raw); f != "" {
		return f, fmt.Sprintf("an array of messages in the shape of %s", f)
	}
	return "", "an array of something other than messages"
}

// arrayFormat tells apart arrays of messages, as [wire.Detect] does. NeuroLink's have
// tags of their own.
func arrayFormat(raw jsontext.Value) Format {
	for _, v := range decode.Elements(raw) {
		if isTagged(v) {
			return NeuroLink
		}
	}
	d, _ := wire.Detect(raw)
	return Format(d)
}

// isTagged reports whether a message can only be one of NeuroLink's.
func isTagged(raw jsontext.Value) bool {
	role, tagged := "", false
	for name, v := range decode.Members(raw) {
		switch name {
		case "role":
			role = decode.Str(v)
		case "condenseId", "condenseParent", "truncationId", "truncationParent", "isTruncationMarker":
			tagged = true
		}
	}
	return role == "tool_call" || role == "tool_result" || tagged && role != ""
}
