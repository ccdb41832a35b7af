package source_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/winnow-llm/winnow/model"
)

// Session files of agents in their own formats, as small as they can be.

func claudeCode(modelName string, records ...string) string {
	parent, lines := "null", []string{}
	for i, r := range append([]string{claudeAnswer(modelName, 1000)}, records...) {
		lines = append(lines, fmt.Sprintf(`{"uuid":"q%d","parentUuid":%s,"sessionId":"s","type":"user","message":{"role":"user","content":"go on %d"}}`, i, parent, i))
		lines = append(lines, fmt.Sprintf(`{"uuid":"a%d","parentUuid":"q%d","sessionId":"s",%s}`, i, i, r))
		parent = fmt.Sprintf(`"a%d"`, i)
	}
	return strings.Join(lines, "\n") + "\n"
}

func claudeAnswer(modelName string, tokens int) string {
	return fmt.Sprintf(`"type":"assistant","message":{"id":"m%d","role":"assistant","model":%q,"content":[{"type":"text","text":"ok"}],"usage":{"input_tokens":%d,"output_tokens":5}}`, tokens, modelName, tokens)
}

func claudeCompaction(trigger string, tokens int) string {
	return fmt.Sprintf(`"type":"system","subtype":"compact_boundary","content":"Conversation compacted","compactMetadata":{"trigger":%q,"preTokens":%d}`, trigger, tokens)
}

func codex(modelName string, lines ...string) string {
	all := []string{
		`{"timestamp":"2026-01-01T00:00:00Z","type":"session_meta","payload":{"id":"s"}}`,
		fmt.Sprintf(`{"timestamp":"2026-01-01T00:00:00Z","type":"turn_context","payload":{"model":%q}}`, modelName),
		codexItem("user", "input_text"), codexItem("assistant", "output_text"),
	}
	return strings.Join(append(all, lines...), "\n") + "\n"
}

func codexItem(role, kind string) string {
	return fmt.Sprintf(`{"timestamp":"2026-01-01T00:00:00Z","type":"response_item","payload":{"type":"message","role":%q,"content":[{"type":%q,"text":"go"}]}}`, role, kind)
}

func codexEvent(payload string) string {
	return `{"timestamp":"2026-01-01T00:00:00Z","type":"event_msg","payload":` + payload + `}`
}

func codexCount(tokens, window int) string {
	stated := ""
	if window > 0 {
		stated = fmt.Sprintf(`,"model_context_window":%d`, window)
	}
	return codexEvent(fmt.Sprintf(`{"type":"token_count","info":{"last_token_usage":{"input_tokens":%d,"output_tokens":0,"total_tokens":%d}%s}}`, tokens, tokens, stated))
}

const codexCompacted = `{"timestamp":"2026-01-01T00:00:00Z","type":"compacted","payload":{"message":"so far"}}`

func openCode(flag string) string {
	const at = `"time":{"created":1}`
	return `{"info":{"id":"ses_1"},"messages":[
{"info":{"id":"m1","role":"user",` + at + `},"parts":[{"type":"text","text":"go"}]},
{"info":{"id":"m2","role":"assistant","modelID":"claude-sonnet-4-6",` + at + `,"tokens":{"input":98000,"output":0}},"parts":[{"type":"text","text":"ok"}]},
{"info":{"id":"m3","role":"user",` + at + `},"parts":[{"type":"compaction","auto":` + flag + `}]},
{"info":{"id":"m4","role":"assistant","modelID":"claude-sonnet-4-6","summary":true,` + at + `},"parts":[{"type":"text","text":"so far"}]}]}`
}

// A session file is measured in the window of its agent: what the file states,
// else what it proves, else what is known of the agent, else the model's.
func TestWindowOfAnAgent(t *testing.T) {
	registry, err := model.Default().WithOverrides([]byte(`{"models":{"large":{"context":1000000},"little":{"context":64000},"gpt-large":{"context":1050000,"input":922000}}}`))
	if err != nil {
		t.Fatal(err)
	}
	const pi = `{"type":"session","version":3,"id":"s","timestamp":"2026-01-01T00:00:00.000Z","cwd":"/x"}
{"type":"message","id":"a","parentId":null,"message":{"role":"user","content":"go"}}
{"type":"message","id":"b","parentId":"a","message":{"role":"assistant","model":"large","content":[{"type":"text","text":"ok"}]}}
{"type":"compaction","id":"c","parentId":"b","summary":"so far","firstKeptEntryId":"b","tokensBefore":20000}
`
	for _, c := range []struct {
		name, data string
		tokens     int
		source     model.WindowSource
		why        string
	}{
		{"Claude Code, its default model", claudeCode("claude-opus-5-5"), 0, "", ""},
		{"Claude Code, a model of which it uses less", claudeCode("claude-sonnet-4-6"), 200_000, model.WindowAgent, "for this model without [1m]"},
		{"Claude Code, an unknown model", claudeCode("never-heard-of"), 200_000, model.WindowAgent, "the registry does not know the model"},
		{"Claude Code with [1m]", claudeCode("claude-sonnet-4-6[1m]"), 1_000_000, model.WindowAgent, "with [1m]"},
		{"Claude Code, a model that has less", claudeCode("little"), 0, "", ""},
		{"Claude Code, usage above its window", claudeCode("claude-sonnet-4-6", claudeAnswer("claude-sonnet-4-6", 250_000)), 1_000_000, model.WindowProven, "it held 250,005 tokens"},
		{"Claude Code compacts", claudeCode("large", claudeCompaction("auto", 167_081)), 200_000, model.WindowProven, "compacted automatically at 167,081"},
		{"Claude Code with [1m] compacts early", claudeCode("large[1m]", claudeCompaction("auto", 155_000)), 200_000, model.WindowProven, "compacted automatically at 155,000"},
		{"Claude Code, a larger window later", claudeCode("large", claudeCompaction("auto", 167_000), claudeAnswer("large", 300_000)), 0, "", ""},
		{"Claude Code, a smaller window later", claudeCode("large", claudeAnswer("large", 300_000), claudeCompaction("auto", 167_000)), 200_000, model.WindowProven, "compacted automatically at 167,000"},
		{"Claude Code is told to compact", claudeCode("large", claudeCompaction("manual", 90_000)), 0, "", ""},
		{"Codex", codex("gpt-large", codexCount(9000, 258_400)), 258_400, model.WindowStated, "stated in the file"},
		{"Codex, at the start of a task", codex("gpt-large", codexEvent(`{"type":"task_started","model_context_window":121600}`)), 121_600, model.WindowStated, "stated in the file"},
		{"Codex, the last model's", codex("gpt-large", codexCount(9000, 121_600), codexCount(9000, 258_400)), 258_400, model.WindowStated, "stated in the file"},
		{"Codex states none", codex("gpt-large", codexCount(9000, 0)), 0, "", ""},
		{"Codex compacts", codex("gpt-large", codexCount(90_000, 0), codexCompacted, codexItem("assistant", "output_text")), 95_000, model.WindowProven, "compacted automatically at 90,000"},
		{"Codex is told to compact", codex("gpt-large", codexCount(90_000, 0), codexCompacted, codexEvent(`{"type":"task_complete"}`), codexItem("assistant", "output_text")), 0, "", ""},
		{"Codex, nobody knows who asked", codex("gpt-large", codexCount(90_000, 0), codexCompacted, codexItem("user", "input_text"), codexItem("assistant", "output_text")), 0, "", ""},
		{"opencode compacts", openCode("true"), 130_000, model.WindowProven, "compacted automatically at 98,000"},
		{"opencode is told to compact", openCode("false"), 0, "", ""},
		{"pi does not say who asked", pi, 0, "", ""},
		{"a request", `{"model":"large","max_tokens":5,"system":"s","messages":[{"role":"user","content":"hello"}]}`, 0, "", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := load(t, c.data, "").Sessions[0]
			w := s.Window(registry.Lookup(s.Model))
			if w.Tokens != c.tokens || w.Source != c.source || !strings.Contains(w.Why, c.why) {
				t.Errorf("%+v, want %d %s %q", w, c.tokens, c.source, c.why)
			}
		})
	}
}

// TestOwnPoint: the agent compacts by itself where its session last shows it, else
// where the table says.
func TestOwnPoint(t *testing.T) {
	for _, c := range []struct {
		name, data string
		own        int
	}{
		{"by the table", claudeCode("claude-sonnet-4-6"), 167_000},
		{"an early version", claudeCode("claude-sonnet-4-6", claudeCompaction("auto", 155_000)), 155_000},
		{"a little more later", claudeCode("claude-sonnet-4-6", claudeCompaction("auto", 155_000), claudeAnswer("claude-sonnet-4-6", 160_000)), 155_000},
		{"much more later", claudeCode("claude-sonnet-4-6", claudeCompaction("auto", 90_000), claudeAnswer("claude-sonnet-4-6", 160_000)), 167_000},
		{"a person asked", claudeCode("claude-sonnet-4-6", claudeCompaction("manual", 90_000)), 167_000},
		{"it held more", claudeCode("claude-sonnet-4-6", claudeAnswer("claude-sonnet-4-6", 190_000)), 0},
		{"the model's own window", claudeCode("claude-opus-5-5"), 967_000},
		{"a stated window", codex("gpt-large", codexCount(9000, 258_400)), 244_800},
	} {
		s := load(t, c.data, "").Sessions[0]
		if w := s.Window(model.Default().Lookup(s.Model)); w.Own != c.own {
			t.Errorf("%s: %d of %d tokens, want %d", c.name, w.Own, w.Tokens, c.own)
		}
	}
}
