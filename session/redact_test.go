package session_test

import (
	"encoding/json"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/winnow-llm/winnow/chat"
	"github.com/winnow-llm/winnow/session"
)

func TestRedact(t *testing.T) {
	key := func(parts ...string) string { return strings.Join(parts, "") } // so that no scanner finds a key in this file
	secrets := []string{
		key("sk-ant-", "api03-", strings.Repeat("aB3", 12)), key("gh", "p_", strings.Repeat("a1B2", 9)), key("AK", "IA", "ABCDEFGHIJKLMNOP"),
		key("xo", "xb-1234567890-abcdefghij"), key("ey", "JhbGciOiJIUzI1NiJ9.ey", "JzdWIiOiIxMjM0NTY3ODkwIn0.abcdefghijklmnop"),
		key("-----BEGIN RSA ", "PRIVATE KEY-----\nMIIEabc\n-----END RSA ", "PRIVATE KEY-----"), "hunter2-hunter2", "my-own-secret", "ZX-9999",
	}
	r := &session.Redactor{Values: []string{"my-own-secret"}, Patterns: []*regexp.Regexp{regexp.MustCompile(`ZX-\d{4}`)}}
	text := "key " + strings.Join(secrets[:6], " ; ") + " ; DB_PASSWORD=" + secrets[6] + " ; " + secrets[7] + " ; " + secrets[8]
	s := create(t, &session.Options{Redact: r})
	args, err := json.Marshal(map[string]string{"command": "curl -H 'Authorization: Bearer " + secrets[0] + "'", "env": "API_KEY=\"" + secrets[6] + "\""})
	must(t, err)
	call := chat.CallMessage("I use "+secrets[1], chat.Call("c", "bash", string(args)))
	call.Parts = append([]chat.Part{{Kind: chat.Thinking, Text: "the key is " + secrets[0], Signature: "sig"}}, call.Parts...)
	say(t, s, user(text), call, chat.ResultMessage("c", text), answer("The commit is 1234567890abcdef1234567890abcdef12345678, see https://user@example.com/path."))
	data, err := os.ReadFile(s.Info().Path)
	must(t, err)
	for _, secret := range secrets {
		quoted, _ := json.Marshal(secret)
		if strings.Contains(string(data), strings.Trim(string(quoted), `"`)) {
			t.Errorf("%q was written", secret)
		}
	}
	c, err := s.Context()
	must(t, err)
	m := c.View.At(1)
	if m.Has(chat.Thinking) {
		t.Error("a signed part was altered or left in")
	}
	for i := range m.Parts {
		if p := &m.Parts[i]; p.Kind == chat.ToolCall && (!json.Valid([]byte(p.Args)) || !strings.Contains(p.Args, "[redacted")) {
			t.Errorf("arguments %s", p.Args)
		}
	}
	if got := c.View.At(3).Text(); !strings.Contains(got, "1234567890abcdef1234567890abcdef12345678") || !strings.Contains(got, "https://user@example.com/path") {
		t.Errorf("what is no secret is gone: %q", got)
	}
	if out, n := r.Text("nothing to hide: password policy, tokens: 5000, skill-set"); n != 0 {
		t.Errorf("found %d secrets in %q", n, out)
	}
}
