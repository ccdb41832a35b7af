package wire

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/winnow-llm/winnow/internal/kit/corpus"
	"github.com/winnow-llm/winnow/internal/kit/race"
	"github.com/winnow-llm/winnow/plan"
)

// TestRealSessions makes request bodies of recorded sessions, as the clients
// sent them, and takes them through reading, editing and checking.
func TestRealSessions(t *testing.T) {
	race.Skip(t)
	files, err := filepath.Glob(filepath.Join(corpus.Dir(t, "sessions"), "*", "*"))
	if err != nil {
		t.Fatal(err)
	}
	bodies := 0
	found := map[string]int{}
	for _, f := range files {
		for i, c := range realBodies(t, f) {
			bodies++
			what := fmt.Sprintf("%s %d", filepath.Base(f), i)
			b, err := Parse(c.d, c.raw)
			if err != nil {
				t.Errorf("%s: %v", what, err)
				continue
			}
			if d, ok := Detect(c.raw); d != c.d || !ok {
				t.Errorf("%s: %s is taken for %q", what, c.d, d)
			}
			h := b.Request().History
			problems := Validate(c.d, c.raw)
			for _, p := range problems {
				found[string(c.d)+" "+p.Rule]++
			}
			if byRules := b.Request().Rules.Check(h); len(problems) > 0 && len(byRules) == 0 && problems[0].Rule != ruleReasoning {
				t.Errorf("%s: the rules are obeyed, and yet: %v", what, problems[0])
			}
			if h.Len() < 2 {
				continue
			}
			r := rand.New(rand.NewPCG(uint64(i), 5))
			p, err := plan.Compose(nil, h, b.Request().Rules, nil, randomEdits(r, h)...)
			if err != nil {
				t.Fatalf("%s: %v", what, err)
			}
			v, err := plan.Apply(h, p)
			if err != nil {
				t.Fatal(err)
			}
			checkView(t, what, b, v)
		}
	}
	if bodies < 20 {
		t.Errorf("only %d bodies were found", bodies)
	}
	t.Logf("%d bodies; problems: %v", bodies, found)
}

type realBody struct {
	d   Dialect
	raw []byte
}

func realBodies(t *testing.T, name string) []realBody {
	f, err := os.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var r io.Reader = f
	if strings.HasSuffix(name, ".gz") {
		if r, err = gzip.NewReader(f); err != nil {
			t.Fatal(err)
		}
	}
	base := filepath.Base(name)
	switch {
	case strings.HasPrefix(base, "codex_"):
		return codexBody(r)
	case strings.HasPrefix(base, "claudecode_"):
		return claudeBody(r)
	case strings.HasSuffix(base, ".traj.json"), strings.HasPrefix(base, "gpt-4o-"):
		data, err := io.ReadAll(r)
		if err != nil {
			t.Fatal(err)
		}
		return openAIBodies(data)
	}
	return nil
}

func lines(r io.Reader, each func(line []byte)) {
	s := bufio.NewScanner(r)
	s.Buffer(nil, 64<<20)
	for s.Scan() {
		each(s.Bytes())
	}
}

func codexBody(r io.Reader) []realBody {
	var items []string
	lines(r, func(line []byte) {
		var rec struct {
			Type    string
			Payload json.RawMessage
		}
		if json.Unmarshal(line, &rec) == nil && rec.Type == "response_item" {
			items = append(items, string(rec.Payload))
		}
	})
	return []realBody{{Responses, []byte(`{"input":[` + strings.Join(items, ",") + `]}`)}}
}

// claudeBody joins the records of one answer, and results that follow each
// other, as the client does before it sends them.
func claudeBody(r io.Reader) []realBody {
	type message struct {
		ID      string          `json:"id"`
		Role    string          `json:"role"`
		Content json.RawMessage `json:"content"`
	}
	var msgs []message
	var blocks [][]json.RawMessage
	lines(r, func(line []byte) {
		var rec struct {
			Type        string
			IsSidechain bool
			IsMeta      bool
			Message     message
		}
		if json.Unmarshal(line, &rec) != nil || rec.IsSidechain || rec.Type != "user" && rec.Type != "assistant" {
			return
		}
		var content []json.RawMessage
		if json.Unmarshal(rec.Message.Content, &content) != nil {
			content = []json.RawMessage{json.RawMessage(`{"type":"text","text":` + string(rec.Message.Content) + `}`)}
		}
		n := len(msgs)
		if n > 0 && msgs[n-1].Role == rec.Message.Role && (rec.Message.Role == "user" || msgs[n-1].ID == rec.Message.ID) {
			blocks[n-1] = append(blocks[n-1], content...)
			return
		}
		msgs, blocks = append(msgs, rec.Message), append(blocks, content)
	})
	var out []string
	for i, m := range msgs {
		// Results stand first, and no text is empty.
		var first, rest []string
		for _, b := range blocks[i] {
			if strings.Contains(string(b), `"type":"tool_result"`) {
				first = append(first, string(b))
			} else if !bytes.Contains(b, []byte(`"text":""`)) {
				rest = append(rest, string(b))
			}
		}
		if all := append(first, rest...); len(all) > 0 {
			out = append(out, `{"role":"`+m.Role+`","content":[`+strings.Join(all, ",")+`]}`)
		}
	}
	if len(out) == 0 {
		return nil
	}
	return []realBody{{Anthropic, []byte(`{"system":"x","messages":[` + strings.Join(out, ",") + `]}`)}}
}

func openAIBodies(data []byte) []realBody {
	var one struct{ Messages []json.RawMessage }
	if json.Unmarshal(data, &one) == nil && one.Messages != nil {
		sent := slices.DeleteFunc(one.Messages, func(m json.RawMessage) bool {
			return bytes.Contains(m, []byte(`"role": "exit"`)) // a note of the recorder
		})
		return []realBody{{OpenAI, slices.Concat([]byte(`{"messages":[`), bytes.Join(asBytes(sent), []byte(",")), []byte(`]}`))}}
	}
	var many []struct{ Traj json.RawMessage }
	if json.Unmarshal(data, &many) != nil {
		return nil
	}
	var out []realBody
	for _, m := range many {
		out = append(out, realBody{OpenAI, slices.Concat([]byte(`{"messages":`), m.Traj, []byte(`}`))})
	}
	return out
}

func asBytes(msgs []json.RawMessage) [][]byte {
	out := make([][]byte, len(msgs))
	for i := range msgs {
		out[i] = msgs[i]
	}
	return out
}
