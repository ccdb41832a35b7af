package providersim

import (
	"bufio"
	"fmt"
	"strings"
	"testing"
)

// sseEvents reads server-sent events strictly: nothing but event and data lines,
// one blank line after each.
func sseEvents(t testing.TB, text string) []event {
	t.Helper()
	if !strings.HasSuffix(text, "\n\n") {
		t.Fatalf("stream does not end with a blank line: %q", text[max(0, len(text)-80):])
	}
	var out []event
	for _, block := range strings.Split(strings.TrimSuffix(text, "\n\n"), "\n\n") {
		var e event
		sc := bufio.NewScanner(strings.NewReader(block))
		sc.Buffer(nil, 1<<26)
		for sc.Scan() {
			name, val, ok := strings.Cut(sc.Text(), ": ")
			switch {
			case ok && name == "event":
				e.name = val
			case ok && name == "data":
				e.data = []byte(val)
			default:
				t.Fatalf("line %q", sc.Text())
			}
		}
		out = append(out, e)
	}
	return out
}

// text0 returns an answer in one piece: as it is, or put together from a stream.
func text0(t testing.TB, dialect string, stream bool, text string) string {
	t.Helper()
	if !stream {
		return text
	}
	events := sseEvents(t, text)
	switch dialect {
	case Chat:
		return joinChat(t, events)
	case Responses:
		return joinResponses(t, events)
	case Anthropic:
		return joinAnthropic(t, events)
	}
	return joinGemini(t, events)
}

func joinChat(t testing.TB, events []event) string {
	t.Helper()
	if string(events[len(events)-1].data) != "[DONE]" {
		t.Fatal("stream does not end with [DONE]")
	}
	var content, usage string
	finish := "null"
	type tc struct{ id, name, args string }
	var calls []tc
	for _, e := range events[:len(events)-1] {
		v := parse(t, string(e.data))
		if u := v.get("usage"); u.ok() {
			usage = string(u.raw)
			if len(v.get("choices").elems) != 0 {
				t.Error("the chunk with usage has choices")
			}
			continue
		}
		ch := v.get("choices").elems[0]
		content += ch.path("delta", "content").str()
		for _, d := range ch.path("delta", "tool_calls").elems {
			i := d.get("index").num(-1)
			if i == len(calls) {
				calls = append(calls, tc{id: d.get("id").str(), name: d.path("function", "name").str()})
			}
			calls[i].args += d.path("function", "arguments").str()
		}
		if f := ch.get("finish_reason"); f.ok() {
			finish = f.str()
		}
	}
	m := map[string]any{"role": "assistant", "content": content}
	if len(calls) > 0 {
		var l []any
		for _, c := range calls {
			l = append(l, map[string]any{"id": c.id, "type": "function", "function": map[string]any{"name": c.name, "arguments": c.args}})
		}
		m["tool_calls"] = l
		if content == "" {
			m["content"] = nil
		}
		if finish != "tool_calls" {
			t.Errorf("finish_reason %q with calls", finish)
		}
	}
	return fmt.Sprintf(`{"choices":[{"message":%s}],"usage":%s}`, js(m), usage)
}

func joinResponses(t testing.TB, events []event) string {
	t.Helper()
	args := map[string]string{}
	texts := map[string]string{}
	for i, e := range events {
		v := parse(t, string(e.data))
		if v.get("type").str() != e.name || v.get("sequence_number").num(-1) != i {
			t.Fatalf("event %d: %s %.120s", i, e.name, e.data)
		}
		id := v.get("item_id").str()
		switch e.name {
		case "response.function_call_arguments.delta":
			args[id] += v.get("delta").str()
		case "response.output_text.delta", "response.reasoning_summary_text.delta":
			texts[id] += v.get("delta").str()
		case "response.function_call_arguments.done":
			if v.get("arguments").str() != args[id] {
				t.Error("arguments differ from their deltas")
			}
		case "response.output_text.done", "response.reasoning_summary_text.done":
			if v.get("text").str() != texts[id] {
				t.Error("text differs from its deltas")
			}
		}
	}
	last := events[len(events)-1]
	if events[0].name != "response.created" || events[1].name != "response.in_progress" || last.name != "response.completed" {
		t.Fatalf("events %s, %s … %s", events[0].name, events[1].name, last.name)
	}
	return string(parse(t, string(last.data)).get("response").raw)
}

func joinAnthropic(t testing.TB, events []event) string {
	t.Helper()
	var blocks []map[string]any
	var partial, stop string
	var usage, first value
	for _, e := range events {
		v := parse(t, string(e.data))
		if v.get("type").str() != e.name {
			t.Fatalf("event %s says it is %s", e.name, v.get("type").str())
		}
		d := v.get("delta")
		switch e.name {
		case "message_start":
			first = v.path("message", "usage")
		case "content_block_start":
			if v.get("index").num(-1) != len(blocks) {
				t.Fatalf("index %s", v.get("index").raw)
			}
			b := v.get("content_block")
			m := map[string]any{}
			for _, x := range b.members {
				if x.val.isString() {
					m[x.name] = x.val.str()
				}
			}
			blocks = append(blocks, m)
			partial = ""
		case "content_block_delta":
			m := blocks[len(blocks)-1]
			switch d.get("type").str() {
			case "text_delta":
				m["text"] = m["text"].(string) + d.get("text").str()
			case "thinking_delta":
				m["thinking"] = m["thinking"].(string) + d.get("thinking").str()
			case "signature_delta":
				m["signature"] = d.get("signature").str()
			case "input_json_delta":
				partial += d.get("partial_json").str()
			}
		case "content_block_stop":
			if m := blocks[len(blocks)-1]; m["type"] == "tool_use" {
				m["input"] = rawMessage(partial)
			}
		case "message_delta":
			stop, usage = d.get("stop_reason").str(), v.get("usage")
		}
	}
	if events[0].name != "message_start" || events[len(events)-1].name != "message_stop" {
		t.Fatalf("first %s, last %s", events[0].name, events[len(events)-1].name)
	}
	if first.get("input_tokens").num(-1) != usage.get("input_tokens").num(-2) {
		t.Error("usage at the start and at the end differ in input")
	}
	return fmt.Sprintf(`{"content":%s,"stop_reason":%q,"usage":%s}`, js(blocks), stop, usage.raw)
}

type rawMessage string

func (r rawMessage) MarshalJSON() ([]byte, error) { return []byte(r), nil }

func joinGemini(t testing.TB, events []event) string {
	t.Helper()
	var parts []string
	var text, usage, finish string
	flush := func() {
		if text != "" {
			parts = append(parts, `{"text":`+js(text)+`}`)
		}
		text = ""
	}
	for _, e := range events {
		v := parse(t, string(e.data))
		c := v.get("candidates").elems[0]
		for _, p := range c.path("content", "parts").elems {
			switch {
			case p.get("functionCall").ok(), p.get("thought").isTrue():
				flush()
				parts = append(parts, string(p.raw))
			default:
				text += p.get("text").str()
			}
		}
		finish = c.get("finishReason").str()
		usage = string(v.get("usageMetadata").raw)
	}
	flush()
	if finish != "STOP" {
		t.Errorf("finishReason %q at the end", finish)
	}
	return `{"candidates":[{"content":{"parts":[` + strings.Join(parts, ",") + `]}}],"usageMetadata":` + usage + `}`
}

// TestStreamSaysTheSame compares a stream with the answer in one piece, which a
// second server with the same seed gives.
func TestStreamSaysTheSame(t *testing.T) {
	for _, dialect := range allDialects {
		for _, want := range []string{"calls=3,thinking", "text", "text,bytes=5000"} {
			t.Run(dialect+"/"+want, func(t *testing.T) {
				var got [2]string
				for i, stream := range []bool{false, true} {
					_, url := sim(t, Options{Seed: 3})
					c := newClient(dialect)
					c.stream = stream
					c.say("fix the lease in pkg/queue/worker_test.go")
					_, text := post(t, url+c.path(), c.body(), "Sim-Answer", want)
					c.history = nil
					c.take(t, parse(t, text0(t, dialect, stream, text)), "ok")
					for _, m := range c.history {
						got[i] += string(parse(t, m).appendCanonical(nil, "refusal", "logprobs"))
					}
				}
				if got[0] != got[1] {
					t.Errorf("one piece: %.600s\nstream:    %.600s", got[0], got[1])
				}
			})
		}
	}
}

func TestGeminiArrayStream(t *testing.T) {
	_, url := sim(t, Options{})
	status, body := post(t, url+"/v1beta/models/gemini-2.5-pro:streamGenerateContent", gm(gUser))
	if v := parse(t, body); status != 200 || len(v.elems) < 2 {
		t.Errorf("%d %.200s", status, body)
	}
	status, body = post(t, url+"/v1beta/models/gemini-2.5-pro:streamGenerateContent", gm(gRes1))
	if v := parse(t, body); status != 400 || len(v.elems) != 1 || v.elems[0].path("error", "message").str() != responseAfter {
		t.Errorf("%d %.200s", status, body)
	}
}
