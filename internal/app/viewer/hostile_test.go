package viewer

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/winnow-llm/winnow/session"
	"github.com/winnow-llm/winnow/session/jsonl"
)

// hostile is what every text of a hostile session ends with.
const hostile = "\x1b]52;c;aGk=\x07\x1b]0;t\x07\x1b[2J\u009b31m\x1b[8mhid\r\x7f\u202e\U000e0041"

// hostileSession is a session whose texts, ids, names, labels and kinds are full
// of escape sequences.
func hostileSession(t *testing.T) *session.Session {
	t.Helper()
	data, err := os.ReadFile("../../../transcript/testdata/pi-v3.jsonl")
	must(t, err)
	var spoil func(doc any, name string) any
	spoil = func(doc any, name string) any {
		switch x := doc.(type) {
		case map[string]any:
			for k, v := range x {
				x[k] = spoil(v, k)
			}
		case []any:
			for i := range x {
				x[i] = spoil(x[i], name)
			}
		case string:
			if name != "type" && name != "role" && name != "timestamp" {
				return x + hostile
			}
		}
		return doc
	}
	var out bytes.Buffer
	enc := json.NewEncoder(&out)
	last := ""
	for line := range bytes.Lines(data) {
		var doc map[string]any
		must(t, json.Unmarshal(line, &doc))
		spoil(doc, "")
		must(t, enc.Encode(doc))
		last, _ = doc["id"].(string)
	}
	for i, more := range []map[string]any{
		{"type": "kind" + hostile, "text": hostile},
		{"type": "custom", "customType": "custom" + hostile, "data": map[string]any{"a": hostile}},
		{"type": "label", "targetId": last, "label": "label" + hostile},
		{"type": "message", "message": map[string]any{"role": "role" + hostile, "content": "text" + hostile}},
		{"type": "message", "message": map[string]any{"role": "user", "content": []any{map[string]any{"type": "part" + hostile, "text": hostile}}}},
		{"type": "model_change", "provider": "p" + hostile, "modelId": "m" + hostile},
	} {
		more["id"], more["parentId"], more["timestamp"] = fmt.Sprintf("bb%06d", i)+hostile, last, "2026-03-01T10:00:00.000Z"
		must(t, enc.Encode(more))
		last = more["id"].(string)
	}
	path := filepath.Join(t.TempDir(), "s.jsonl")
	must(t, os.WriteFile(path, out.Bytes(), 0o600))
	log, err := jsonl.OpenFile(path, nil)
	must(t, err)
	s, err := session.New(context.Background(), log, &session.Options{Now: fixed, Manual: true})
	must(t, err)
	t.Cleanup(func() { s.Close() })
	return s
}

// TestHostile looks at a hostile session in every way: nothing on the screen
// but our own colours steers the terminal, and no colour of the file's is among
// them.
func TestHostile(t *testing.T) {
	s := hostileSession(t)
	v := view(t, s, Options{Title: "title" + hostile, Note: "note" + hostile, Hello: "hello" + hostile}, 200, 40)
	look := func() {
		t.Helper()
		v.whole()
		for _, c := range colour.FindAllString(v.View().Content, -1) {
			if strings.Contains(";"+c[2:len(c)-1]+";", ";8;") {
				t.Fatalf("text is hidden: %q", v.View().Content)
			}
		}
	}
	look()
	keys := []string{
		"up", "down", "pgup", "pgdown", "home", "end", "enter", "esc", "tab", "shift+tab", "space",
		"f", "i", "e", "1", "2", "3", "?", "p", "c", "u", "m", "n", "/", "y", "hid", "backspace",
	}
	r := rand.New(rand.NewPCG(1, 2))
	sizes := [][2]int{{80, 24}, {200, 50}, {40, 10}, {120, 30}}
	for i := range 600 {
		if i%50 == 0 {
			size := sizes[i/50%len(sizes)]
			v.resize(size[0], size[1])
		}
		v.keys(keys[r.IntN(len(keys))])
		look()
	}
}
