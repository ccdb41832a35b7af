package source_test

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/winnow-llm/winnow/chat"
	"github.com/winnow-llm/winnow/internal/app/demo"
	"github.com/winnow-llm/winnow/internal/app/source"
	"github.com/winnow-llm/winnow/plan"
	"github.com/winnow-llm/winnow/transcript"
	"github.com/winnow-llm/winnow/wire"
)

const (
	array  = `[{"role":"user","content":"hello","id":"m1","x": 1.50}, {"role":"assistant","content":"hi"}]`
	claude = `{"system":"s","max_tokens":5,"messages":[{"role":"user","content":"hello"}]}`
	pi     = `{"type":"session","version":3,"id":"s1","timestamp":"2026-01-01T00:00:00.000Z","cwd":"/x"}
{"type":"message","id":"a","parentId":null,"timestamp":"2026-01-01T00:00:01.000Z","message":{"role":"user","content":"hello"}}
{"type":"message","id":"b","parentId":"a","timestamp":"2026-01-01T00:00:02.000Z","message":{"role":"assistant","content":[{"type":"text","text":"hello!"}]}}
`
	several = `{"model":"m","messages":[{"role":"user","content":"a"}]}
{"model":"m","messages":[{"role":"user","content":"b"},{"role":"assistant","content":"longer"}]}
`
)

func load(t *testing.T, data, format string) *source.Input {
	t.Helper()
	in, err := source.Load("-", strings.NewReader(data), format)
	if err != nil {
		t.Fatal(err)
	}
	return in
}

// whole returns the view without any plan.
func whole(t *testing.T, s *source.Session) plan.View {
	t.Helper()
	v, err := plan.Apply(s.Request.History, nil)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

func TestLoad(t *testing.T) {
	var z bytes.Buffer
	w := gzip.NewWriter(&z)
	_, _ = w.Write([]byte(array))
	_ = w.Close()
	for _, c := range []struct {
		name, data, format string
		want               string
		sessions, messages int
		body               bool
	}{
		{"an array", array, "", "openai", 1, 2, true},
		{"a byte order mark", "\xef\xbb\xbf" + array, "", "openai", 1, 2, true},
		{"compressed", z.String(), "", "openai", 1, 2, true},
		{"a body of Anthropic's", claude, "", "anthropic", 1, 1, true},
		{"an array, taken for Anthropic's", array, "anthropic", "anthropic", 1, 2, true},
		{"an agent's file", pi, "", "pi", 1, 2, false},
		{"several bodies", several, "", "openai", 2, 1, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			in := load(t, c.data, c.format)
			s := &in.Sessions[0]
			if string(in.Format) != c.want || len(in.Sessions) != c.sessions || s.Request.History.Len() != c.messages || (s.Body != nil) != c.body {
				t.Errorf("format %s (%s), %d sessions, %d messages, body %v", in.Format, in.Saw, len(in.Sessions), s.Request.History.Len(), s.Body != nil)
			}
		})
	}
}

// TestWrite checks that what no plan changes is written as it came, and that
// what has no writer becomes an array of messages.
func TestWrite(t *testing.T) {
	for _, data := range []string{array, claude, string(demo.Session())} {
		s := &load(t, data, "").Sessions[0]
		out, err := s.Write(whole(t, s), "")
		if err != nil || string(out) != data {
			t.Errorf("%.60s: %v: not the bytes that came", data, err)
		}
	}
	s := &load(t, pi, "").Sessions[0]
	out, err := s.Write(whole(t, s), "")
	var list []map[string]any
	if err != nil || json.Unmarshal(out, &list) != nil || len(list) != 2 || list[1]["role"] != "assistant" {
		t.Errorf("%v: %s", err, out)
	}
	s.Request.Tools = []chat.ToolDef{{Name: "ls", Schema: `{"type":"object"}`}}
	var body struct{ Messages, Tools []any }
	if out, err = s.Write(whole(t, s), ""); err != nil || json.Unmarshal(out, &body) != nil || len(body.Messages) != 2 || len(body.Tools) != 1 {
		t.Errorf("with tools: %v: %s", err, out)
	}
	for _, to := range []string{"openai", "responses", "anthropic", "gemini"} {
		out, err := s.Write(whole(t, s), to)
		if err != nil {
			t.Fatal(err)
		}
		if back := load(t, string(out), ""); string(back.Format) != to || back.Sessions[0].Request.History.Len() != 2 {
			t.Errorf("written as %s, read as %s", to, back.Format)
		}
	}
	if _, err := s.Write(whole(t, s), "pi"); err == nil {
		t.Error("a format without a writer was written")
	}
}

func TestChooseAndFind(t *testing.T) {
	in := load(t, several, "")
	if s, why, err := in.Choose(""); err != nil || s.Number != 2 || !strings.Contains(why, "2 sessions") {
		t.Errorf("%v %q %v", s, why, err)
	}
	if s, why, err := in.Choose("1"); err != nil || s.Number != 1 || why != "" {
		t.Errorf("%v %q %v", s, why, err)
	}
	if s, _, err := in.Choose(in.Sessions[1].ID); err != nil || s.Number != 2 {
		t.Errorf("%v %v", s, err)
	}
	for _, name := range []string{"0", "3", "nobody"} {
		if _, _, err := in.Choose(name); err == nil {
			t.Errorf("session %q was found", name)
		}
	}
	s := &load(t, array, "").Sessions[0]
	for name, want := range map[string]int{"m1": 0, "1": 1, "0": 0} {
		if i, err := s.Find(name); err != nil || i != want {
			t.Errorf("message %q: %d, %v", name, i, err)
		}
	}
	for _, name := range []string{"2", "-1", "m9", ""} {
		if _, err := s.Find(name); err == nil {
			t.Errorf("message %q was found", name)
		}
	}
}

func TestCovered(t *testing.T) {
	in := load(t, several, "")
	h := in.Sessions[1].Request.History
	p, err := plan.Compose(nil, h, chat.Rules{}, nil, plan.Edit{Kind: plan.Mask, From: 1, To: 2, Text: "x", Stage: "test"})
	if err != nil {
		t.Fatal(err)
	}
	if s, err := in.Covered(p); err != nil || s.Number != 2 {
		t.Errorf("%v %v", s, err)
	}
	if _, err := load(t, array, "").Covered(p); !errors.Is(err, plan.ErrMismatch) {
		t.Errorf("got %v", err)
	}
}

func TestFileErrors(t *testing.T) {
	dir := t.TempDir()
	for path, want := range map[string]string{
		dir:                          "this is a folder; name one of the files in it",
		filepath.Join(dir, "nosuch"): "there is no such file; check the path",
	} {
		if _, err := source.Load(path, nil, ""); err == nil || err.Error() != path+": "+want {
			t.Errorf("got %v", err)
		}
	}
	file := filepath.Join(dir, "f.json")
	if err := os.WriteFile(file, []byte("\x1f\x8b no gzip"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := source.Load(file, nil, ""); err == nil || !strings.Contains(err.Error(), "copied whole") {
		t.Errorf("got %v", err)
	}
}

// FuzzLoad reads anything. A body without a plan is written as it came.
func FuzzLoad(f *testing.F) {
	for _, s := range []string{array, claude, pi, several, "", "[", "\x1f\x8b", "{}", `{"messages":[]}`, `{"input":"x"}`, `{"contents":[{"parts":[{"text":"x"}]}]}`} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		in, err := source.Load("-", bytes.NewReader(data), "")
		if err != nil {
			return
		}
		for i := range in.Sessions {
			s := &in.Sessions[i]
			v := whole(t, s)
			out, err := s.Write(v, "")
			if err != nil {
				t.Fatal(err)
			}
			if s.Body != nil && !bytes.Equal(out, in.Data) {
				t.Errorf("%q became %q", in.Data, out)
			}
		}
	})
}

// A signature is worth nothing to any provider but its signer.
func TestSignaturesStayAtHome(t *testing.T) {
	const signed = `{"max_tokens":9,"system":"s","messages":[{"role":"user","content":"hi"},` +
		`{"role":"assistant","content":[{"type":"thinking","thinking":"hm","signature":"c2ln"},{"type":"text","text":"ho"}]},{"role":"user","content":"go"}]}`
	s := &load(t, signed, "").Sessions[0]
	for _, d := range wire.Dialects() {
		out, err := s.Write(whole(t, s), string(d))
		if err != nil {
			t.Fatal(err)
		}
		if has := strings.Contains(string(out), "c2ln"); has != (d == wire.Anthropic) {
			t.Errorf("%s: signature written: %v\n%s", d, has, out)
		}
		if out, err = s.Encoded(d); err != nil || strings.Contains(string(out), "c2ln") != (d == wire.Anthropic) {
			t.Errorf("%s: %v\n%s", d, err, out)
		}
	}
	if s.Request.History.At(1).Parts[0].Signature != "c2ln" {
		t.Error("the history has lost its signature")
	}
}

// A file that looks like a request and cannot be sent is read for its messages, and
// the input says why. Several requests in one file are read without that.
func TestRefused(t *testing.T) {
	in := load(t, `{"max_tokens":"9","messages":[{"role":"user","content":"hi"}]}`, "")
	if in.Refused == nil || !strings.Contains(in.Refused.Error(), "/max_tokens") || len(in.Warnings) != 1 || in.Sessions[0].Body != nil {
		t.Errorf("%+v", in)
	}
	for _, data := range []string{several, array, claude, pi} {
		if in := load(t, data, ""); in.Refused != nil || len(in.Warnings) > 0 {
			t.Errorf("%s: %v, %v", data, in.Refused, in.Warnings)
		}
	}
}

// An array of something else than messages is called that, though it has the
// shape of a request with items.
func TestUnknownArray(t *testing.T) {
	_, err := source.Load("-", strings.NewReader(`[{"ts":1,"type":"say","text":"hello"}]`), "")
	if !errors.Is(err, transcript.ErrUnknownFormat) {
		t.Errorf("error %v", err)
	}
	_, err = source.Load("-", strings.NewReader(`{"model":"m","messages":[]}`), "")
	if err == nil || !strings.Contains(err.Error(), "has no messages") {
		t.Errorf("error %v", err)
	}
}

// An answer that was logged block by block is found by the id of each.
func TestFindJoined(t *testing.T) {
	in := load(t, `{"type":"user","uuid":"u1","parentUuid":null,"sessionId":"s","message":{"role":"user","content":"go"}}
{"type":"assistant","uuid":"u2","parentUuid":"u1","sessionId":"s","message":{"id":"m1","role":"assistant","content":[{"type":"text","text":"first"}]}}
{"type":"assistant","uuid":"u3","parentUuid":"u2","sessionId":"s","message":{"id":"m1","role":"assistant","content":[{"type":"text","text":"second"}]}}
`, "")
	for name, want := range map[string]int{"u1": 0, "u2": 1, "u3": 1} {
		if i, err := in.Sessions[0].Find(name); err != nil || i != want {
			t.Errorf("%s: message %d, %v", name, i, err)
		}
	}
	if _, err := in.Sessions[0].Find("u4"); err == nil {
		t.Error("a message that is not there")
	}
}
