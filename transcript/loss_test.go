package transcript

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"sort"
	"strings"
	"testing"

	"github.com/winnow-llm/winnow/chat"
	"github.com/winnow-llm/winnow/internal/kit/corpus"
	"github.com/winnow-llm/winnow/internal/kit/race"
)

// The check knows nothing of the readers: it walks the raw JSON with encoding/json,
// collects every string, and looks for it in the decoded session. Strings at these
// places do not belong to the conversation. A place is a path without array
// indexes, preceded by the record's kind; a star at the end covers everything
// below.
var notConversation = map[Format][]string{
	ClaudeCode: {
		"user/toolUseResult*",    // the client's own copy of a result, for the screen
		"progress/*", "system/*", // the screen; sub-agents' steps
		"file-history-snapshot/*",    //
		"last-prompt/*", "pr-link/*", //
		"summary/*", "custom-title/*", // titles
		"queue-operation/*", // checked apart
		"attachment/attachment:hook_system_message*",
		"attachment/attachment:hook_success/*", "attachment/attachment:nested_memory/*",
		"**/hookEvent", "**/hookName", "**/toolUseID", "**/source_uuid", "**/requestId", "**/slug", "**/promptId",
		"**/entrypoint", "**/gitBranch", "**/userType", "**/permissionMode", "**/toolDenialKind", "**/cwd", "**/parentUuid", "**/uuid",
		"**/sourceToolAssistantUUID", "assistant/error", "assistant/message/stop_reason", "assistant/message/usage*",
		"assistant/message/diagnostics*", "assistant/message/id", "assistant/message/model", "assistant/attributionMcpServer",
	},
	Codex: {
		// The screen, but for what is typed and said, which must be there.
		"event_msg/payload:exec_command_end*", "event_msg/payload:mcp_tool_call_end*", "event_msg/payload:patch_apply_end*",
		"event_msg/payload:task_started*", "event_msg/payload:turn_aborted*", "event_msg/payload:token_count*", "event_msg/payload:web_search_end*", "**/turn_id",
		"compacted/payload:/replacement_history/*", // what the client went on with
		"compacted/payload:/*", "session_meta/*", "turn_context/*",
		"**/internal_chat_message_metadata_passthrough/turn_id", "**/metadata/turn_id", "**/phase",
		"response_item/payload:function_call/id", "response_item/payload:message/id", "response_item/payload:reasoning/id",
		"response_item/payload:custom_tool_call/id", "response_item/payload:tool_search_call/id", "**/status",
		"response_item/payload:function_call/namespace",
	},
	OpenHandsV0: {
		"/error", "/instance*", "/metadata*", "/metrics*", "/test_result*", "/history/message", // the event in words, for the screen
		"/history/args/agent_class", "/history/args/confirmation_state", "/history/args/recall_type", "/history/extras/date",
		"/history/args/thought", // an answer's text and its arguments, run together
		"/history/extras/diff", "/history/extras/metadata/py_interpreter_path", "/history/extras/recall_type", "/history/llm_metrics*",
		"/history/tool_call_metadata/model_response/object", "/history/tool_call_metadata/model_response/id", "/history/extras/metadata/hostname",
	},
	OpenHandsV1: {
		"ActionEvent/action/kind", "**/llm_response_id", "Condensation/forgotten_event_ids", "Condensation/id", "SystemPromptEvent/id",
		"ObservationEvent/observation/kind", "ObservationEvent/observation/command", "ObservationEvent/observation/metadata/*",
		"ObservationEvent/observation/new_content", "ObservationEvent/observation/old_content", "**/kind",
	},
	SWEAgent:     {"/info*", "/replay_config*", "/trajectory*", "/history/action", "/history/message_type", "/environment"},
	MiniSWEAgent: {"/info*", "/trajectory_format", "/messages/extra*"},
	Pi: {
		"message/message/api", "message/message/content/partialJson", "message/message/content/textSignature", "message/message/details/*",
		"message/message/errorMessage", "message/message/provider", "message/message/responseId", "**/parentId", "**/id",
		"model_change/*", "session/*", "thinking_level_change/*", "message/message/model",
		"context_edit/*", "label/*", "custom/*", "usage/*", "compaction/systemMessage/*", "**/fromId", "**/targetId", "**/firstKeptEntryId",
	},
	OpenCode: {
		"/info*", "/messages/info/*", "/messages/parts/files", "/messages/parts/hash", "/messages/parts/id", "/messages/parts/messageID",
		"/messages/parts/metadata*", "/messages/parts/reason", "/messages/parts/snapshot", "/messages/parts/state/metadata*",
		"/messages/parts/state/title", "/messages/parts/source/*", "/messages/parts/sessionID",
	},
	GeminiCLI: {
		"main/lastUpdated", "main/startTime", "main/projectHash", "main/messages/displayContent/text", "main/messages/toolCalls/description",
		"main/messages/toolCalls/displayName", "main/messages/toolCalls/resultDisplay*", "main/messages/id",
	},
	TauBench: {"/info*"},
	Tau2Bench: {
		"/info/agent_info*", "/info/git_commit", "/info/user_info*", "/tasks*", "/simulations/messages/raw_data*",
		"/simulations/messages/requestor", "/simulations/messages/tool_calls/requestor", "/simulations/reward_info*",
		"/simulations/termination_reason", "/simulations/end_time", "/simulations/start_time",
	},
}

// pruned drops whole values that look like messages and are none: what a client
// said on the screen, how a run ended, how a summary was thought up.
func pruned(v map[string]any) bool {
	switch v["type"] {
	case "info", "error", "warning":
		return v["timestamp"] != nil && v["content"] != nil
	}
	if v["role"] == "exit" {
		return true
	}
	return v["type"] == "reasoning" && v["messageID"] != nil && summaries[fmt.Sprint(v["messageID"])]
}

// summaries are the ids of OpenCode messages that hold a compaction's summary.
var summaries = map[string]bool{}

func TestCorpusLoss(t *testing.T) {
	race.Skip(t)
	dir := corpus.Dir(t, "sessions")
	var files []string
	for _, row := range table(t, filepath.Join(dir, "INDEX.tsv")) {
		files = append(files, filepath.Join(dir, filepath.FromSlash(row["file"])))
	}
	more, err := filepath.Glob(filepath.Join(filepath.Dir(dir), "pi", "fixtures", "*.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	total := 0
	for _, path := range append(files, more...) {
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		lost, checked, err := lostStrings(data)
		if err != nil {
			t.Errorf("%s: %v", path, err)
			continue
		}
		total += checked
		for _, l := range lost {
			t.Errorf("%s: lost %s", filepath.Base(path), l)
		}
	}
	t.Logf("%d strings in %d files checked", total, len(files)+len(more))
}

// lostStrings returns the strings of a file that were not decoded, a line for
// each place.
func lostStrings(data []byte) (lost []string, checked int, err error) {
	sessions, err := Read(data, nil)
	if err != nil {
		return nil, 0, err
	}
	format := sessions[0].Format
	h := newHaystack(sessions)
	type place struct {
		n       int
		example string
	}
	places := map[string]*place{}
	for _, v := range naive(data) {
		walk(v, kindOf(v), func(at, s string) {
			if len(strings.TrimSpace(s)) < 8 || excluded(format, at) {
				return
			}
			checked++
			if h.has(s) {
				return
			}
			p := places[at]
			if p == nil {
				p = &place{example: s}
				places[at] = p
			}
			p.n++
		})
	}
	branches := 0 // what the readers say they left out
	for i := range sessions {
		for _, w := range sessions[i].Warnings {
			var n int
			if _, tail, ok := strings.Cut(w.Message, " on other branches, left out: "); ok {
				if _, err := fmt.Sscan(tail, &n); err == nil {
					branches += n
				}
			}
		}
	}
	for at, p := range places {
		if p.n <= branches {
			branches -= p.n
			continue
		}
		lost = append(lost, fmt.Sprintf("%d strings at %s: %.100q", p.n, at, p.example))
	}
	sort.Strings(lost)
	return lost, checked, nil
}

func excluded(f Format, at string) bool {
	for _, x := range notConversation[f] {
		if rest, ok := strings.CutSuffix(x, "*"); ok && strings.HasPrefix(at, rest) || x == at {
			return true
		}
		if mid, ok := strings.CutPrefix(x, "**"); ok && strings.HasSuffix(at, mid) {
			return true
		}
	}
	return false
}

// naive returns the JSON values of a file: decompressed, one after the other.
func naive(data []byte) []any {
	if bytes.HasPrefix(data, []byte{0x1f, 0x8b}) {
		z, err := gzip.NewReader(bytes.NewReader(data))
		if err != nil {
			return nil
		}
		if data, err = io.ReadAll(z); err != nil {
			return nil
		}
	}
	var out []any
	d := json.NewDecoder(bytes.NewReader(data))
	for {
		var v any
		if d.Decode(&v) != nil {
			return out
		}
		out = append(out, v)
	}
}

func kindOf(v any) string {
	o, _ := v.(map[string]any)
	for _, k := range []string{"type", "kind"} {
		if s, ok := o[k].(string); ok {
			return s
		}
	}
	return ""
}

// walk visits every string. Inside the payload, data or part of a record the
// kind of that object is part of the place.
func walk(v any, at string, visit func(at, s string)) {
	switch v := v.(type) {
	case string:
		visit(at, v)
	case []any:
		for _, e := range v {
			walk(e, at, visit)
		}
	case map[string]any:
		if info, ok := v["info"].(map[string]any); ok && info["summary"] == true {
			summaries[fmt.Sprint(info["id"])] = true
		}
		if pruned(v) {
			return
		}
		for k, e := range v {
			if k == "timestamp" || k == "type" || k == "role" {
				continue
			}
			step := at + "/" + k
			if k == "payload" || k == "attachment" {
				step += ":" + kindOf(e)
			}
			walk(e, step, visit)
		}
	}
}

// haystack is every string that was decoded.
type haystack struct {
	exact map[string]bool
	all   string
}

func newHaystack(sessions []Session) *haystack {
	h := &haystack{exact: map[string]bool{}}
	var b strings.Builder
	put := func(s string) {
		if s != "" && !h.exact[s] {
			h.exact[s] = true
			b.WriteString(s + "\x00")
		}
	}
	var parts func(ps []chat.Part)
	parts = func(ps []chat.Part) {
		for i := range ps {
			p := &ps[i]
			for _, s := range []string{p.Text, p.ID, p.Name, p.Args, p.Media, p.Data, p.Signature} {
				put(s)
			}
			put(lineNumber.ReplaceAllString(p.Text, "")) // which files get that are attached
			for _, raw := range []string{p.Args, p.Data, p.Text} {
				var v any
				if len(raw) > 0 && (raw[0] == '{' || raw[0] == '[') && json.Unmarshal([]byte(raw), &v) == nil {
					walk(v, "", func(_, s string) { put(s) })
				}
			}
			parts(p.Content)
		}
	}
	for i := range sessions {
		s := &sessions[i]
		put(s.ID)
		put(s.Title)
		put(s.Model)
		parts(s.System)
		for _, d := range s.Tools {
			put(d.Name)
			put(d.Description)
			parts([]chat.Part{{Args: d.Schema}})
		}
		for _, c := range s.Compactions {
			put(c.Summary)
		}
		for _, m := range s.History.All() {
			parts(m.Parts)
			put(m.ID)
			put(m.Model)
		}
	}
	h.all = b.String()
	return h
}

var lineNumber = regexp.MustCompile(`(?m)^\d+\t`)

func (h *haystack) has(s string) bool {
	if h.exact[s] {
		return true
	}
	if strings.Contains(h.all, s) {
		h.exact[s] = true
		return true
	}
	if _, body, ok := strings.Cut(s, ";base64,"); ok && strings.HasPrefix(s, "data:") && h.exact[body] {
		return true
	}
	var esc bytes.Buffer
	enc := json.NewEncoder(&esc)
	enc.SetEscapeHTML(false)
	if enc.Encode(s) == nil && strings.Contains(h.all, strings.Trim(esc.String(), "\"\n")) {
		return true // inside arguments that are not valid JSON
	}
	var v any
	if s[0] == '{' && json.Unmarshal([]byte(s), &v) == nil { // arguments written with other spacing
		same := true
		walk(v, "", func(_, s string) { same = same && h.has(s) })
		return same
	}
	return false
}
