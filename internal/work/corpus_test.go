package work

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"sort"
	"strings"
	"testing"
	"unicode"

	"github.com/winnow-llm/winnow/chat"
	"github.com/winnow-llm/winnow/internal/kit/corpus"
)

// session is one file of the corpus, as far as this package needs it.
type session struct {
	file, format string
	msgs         chat.Messages
}

// sessions reads the corpus by shape rather than by format: whatever looks like
// a call, a result or a user's words is one. It is a reader for tests, not for use.
func sessions(t testing.TB) []session {
	dir := corpus.Dir(t, "sessions")
	index, err := os.ReadFile(filepath.Join(dir, "INDEX.tsv"))
	if err != nil {
		t.Fatal(err)
	}
	var all []session
	for _, row := range strings.Split(strings.TrimSpace(string(index)), "\n")[1:] {
		col := strings.Split(row, "\t")
		raw, err := os.ReadFile(filepath.Join(dir, col[0]))
		if err != nil {
			continue // held back
		}
		if strings.HasSuffix(col[0], ".gz") {
			z, err := gzip.NewReader(bytes.NewReader(raw))
			if err != nil {
				t.Fatal(err)
			}
			if raw, err = io.ReadAll(z); err != nil {
				t.Fatal(err)
			}
		}
		r := shapeReader{seen: make(map[string]bool)}
		var doc any
		if json.Unmarshal(raw, &doc) == nil {
			r.walk(doc)
		} else {
			for line := range strings.SplitSeq(string(raw), "\n") {
				if json.Unmarshal([]byte(line), &doc) == nil {
					r.walk(doc)
				}
			}
		}
		all = append(all, session{col[0], col[1], r.msgs})
	}
	return all
}

type shapeReader struct {
	msgs chat.Messages
	seen map[string]bool
}

func (r *shapeReader) call(id, name any, args any) {
	raw, isText := args.(string)
	if !isText {
		b, _ := json.Marshal(args)
		raw = string(b)
	}
	n, _ := name.(string)
	i := fmt.Sprint(id)
	if n == "" || r.seen["c"+i+raw] {
		return
	}
	r.seen["c"+i+raw] = true
	r.msgs = append(r.msgs, chat.CallMessage("", chat.Call(i, n, raw)))
}

func (r *shapeReader) result(id, content any, failed bool) {
	i := fmt.Sprint(id)
	if r.seen["r"+i] {
		return
	}
	r.seen["r"+i] = true
	m := chat.ResultMessage(i, flatText(content))
	m.Parts[0].Failed = failed
	r.msgs = append(r.msgs, m)
}

func flatText(v any) string {
	switch v := v.(type) {
	case string:
		return v
	case []any:
		var parts []string
		for _, x := range v {
			parts = append(parts, flatText(x))
		}
		return strings.Join(parts, "\n")
	case map[string]any:
		for _, k := range []string{"text", "output", "response", "functionResponse", "content"} {
			if x, ok := v[k]; ok {
				return flatText(x)
			}
		}
		b, _ := json.Marshal(v)
		return string(b)
	case nil:
		return ""
	}
	return fmt.Sprint(v)
}

func (r *shapeReader) walk(v any) {
	switch v := v.(type) {
	case []any:
		for _, x := range v {
			r.walk(x)
		}
	case map[string]any:
		r.object(v)
		keys := make([]string, 0, len(v))
		for k := range v {
			keys = append(keys, k)
		}
		sort.Strings(keys)
		for _, k := range keys {
			r.walk(v[k])
		}
	}
}

func (r *shapeReader) object(o map[string]any) {
	typ, _ := o["type"].(string)
	role, _ := o["role"].(string)
	fn, _ := o["function"].(map[string]any)
	state, _ := o["state"].(map[string]any)
	meta, _ := o["tool_call_metadata"].(map[string]any)
	switch {
	case typ == "tool_use":
		r.call(o["id"], o["name"], o["input"])
	case typ == "function_call":
		r.call(o["call_id"], o["name"], o["arguments"])
	case typ == "custom_tool_call":
		r.call(o["call_id"], o["name"], o["input"])
	case typ == "toolCall":
		r.call(o["id"], o["name"], o["arguments"])
	case typ == "tool" && state != nil:
		r.call(o["callID"], o["tool"], state["input"])
		out := state["output"]
		if out == nil {
			out = state["error"]
		}
		r.result(o["callID"], out, state["status"] == "error")
	case fn != nil && fn["arguments"] != nil:
		r.call(o["id"], fn["name"], fn["arguments"])
	case o["args"] != nil && o["status"] != nil && o["name"] != nil && o["id"] != nil:
		r.call(o["id"], o["name"], o["args"])
		r.result(o["id"], o["result"], o["status"] == "error")
	case o["requestor"] != nil && o["arguments"] != nil:
		r.call(o["id"], o["name"], o["arguments"])
	case typ == "tool_result":
		failed, _ := o["is_error"].(bool)
		r.result(o["tool_use_id"], o["content"], failed)
	case typ == "function_call_output" || typ == "custom_tool_call_output":
		r.result(o["call_id"], o["output"], false)
	case role == "toolResult":
		failed, _ := o["isError"].(bool)
		r.result(o["toolCallId"], o["content"], failed)
	case role == "tool" && (o["tool_call_id"] != nil || o["id"] != nil):
		id := o["tool_call_id"]
		if id == nil {
			id = o["id"]
		}
		r.result(id, o["content"], o["error"] == true)
	case o["kind"] == "ObservationEvent":
		r.result(o["tool_call_id"], o["observation"], false)
	case o["observation"] != nil && meta != nil:
		r.result(meta["tool_call_id"], o["content"], false)
	case o["action"] != nil && o["observation"] != nil:
		id := fmt.Sprint("step", len(r.msgs))
		r.call(id, "bash", map[string]any{"command": o["action"]})
		r.result(id, o["observation"], false)
	case role == "user" || typ == "user" && o["content"] != nil:
		s := flatText(o["content"])
		if list, ok := o["content"].([]any); ok && len(list) > 0 {
			if first, ok := list[0].(map[string]any); ok && first["type"] == "tool_result" {
				return
			}
		}
		if s != "" && !r.seen["u"+s] {
			r.seen["u"+s] = true
			r.msgs = append(r.msgs, chat.TextMessage(chat.User, s))
		}
	}
}

// What the rules make of real sessions. The figures are for people (go test
// -v); the bounds only catch a rule that stopped working.
func TestCorpus(t *testing.T) {
	type tally struct{ names, known, calls, knownCalls, results, failed, withLine int }
	by := make(map[string]*tally)
	names := make(map[string]bool)
	for _, s := range sessions(t) {
		f := by[s.format]
		if f == nil {
			f = new(tally)
			by[s.format] = f
		}
		for i := range s.msgs {
			for k := range s.msgs[i].Parts {
				p := &s.msgs[i].Parts[k]
				switch p.Kind {
				case chat.ToolCall:
					kind := DefaultKinds().Access(p).Kind
					f.calls++
					if kind != ToolOther {
						f.knownCalls++
					}
					if !names[s.format+p.Name] {
						names[s.format+p.Name] = true
						f.names++
						if DefaultKinds().Of(p.Name) != ToolOther {
							f.known++
						}
					}
				case chat.ToolResult:
					f.results++
					if failed, _, _ := Status(p); failed && saysMore(p.Text) {
						f.failed++
						if len(ErrorLines(p.Text, 3)) > 0 {
							f.withLine++
						}
					}
				}
			}
		}
	}
	var sum tally
	formats := make([]string, 0, len(by))
	for f := range by {
		formats = append(formats, f)
	}
	sort.Strings(formats)
	share := func(a, b int) float64 { return 100 * float64(a) / float64(max(b, 1)) }
	for _, name := range formats {
		f := by[name]
		t.Logf("%-15s %4d calls, %3.0f %% not other; %3d names, %3.0f %% not other; %4d results, %3d failed, %3.0f %% of these with the line that says why",
			name, f.calls, share(f.knownCalls, f.calls), f.names, share(f.known, f.names), f.results, f.failed, share(f.withLine, f.failed))
		sum.calls += f.calls
		sum.knownCalls += f.knownCalls
		sum.failed += f.failed
		sum.withLine += f.withLine
	}
	t.Logf("all: %.1f %% of %d calls are of a known kind, %.1f %% of %d failures have a line that says why", share(sum.knownCalls, sum.calls), sum.calls, share(sum.withLine, sum.failed), sum.failed)
	if sum.knownCalls*100 < sum.calls*85 {
		t.Errorf("only %d of %d calls are of a known kind", sum.knownCalls, sum.calls)
	}
	if sum.withLine*100 < sum.failed*80 {
		t.Errorf("only %d of %d failures have a line that says why", sum.withLine, sum.failed)
	}
}

// saysMore reports whether a result has words besides its exit status.
func saysMore(text string) bool {
	for line := range strings.SplitSeq(Body(text), "\n") {
		if _, ok := ExitOf(line); !ok && line != "(no output)" && strings.ContainsFunc(line, unicode.IsLetter) {
			return true
		}
	}
	return false
}
