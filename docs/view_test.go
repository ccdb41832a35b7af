//go:build docs

package docs_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/winnow-llm/winnow"
	"github.com/winnow-llm/winnow/chat"
)

// TestView holds docs/view.md to what a model would read: the view of a small
// conversation, whole.
//
//	go test -tags docs ./docs -run TestView -update    writes it anew
func TestView(t *testing.T) {
	c := limiterStory(t)
	fit, err := c.Compact(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	for i := range fit.View.Len() {
		m := fit.View.At(i)
		fmt.Fprintf(&b, "=== %s\n%s\n", m.Role, strings.TrimSpace(said(m)))
	}
	holdBetween(t, "view.md", "````text\n", "````\n", b.String())
}

// said is a message as text, with its calls and results.
func said(m *chat.Message) string {
	var b strings.Builder
	for _, p := range m.Parts {
		switch p.Kind {
		case chat.ToolCall:
			fmt.Fprintf(&b, "[call %s %s]\n", p.Name, p.Args)
		default:
			b.WriteString(p.Text + "\n")
		}
	}
	return b.String()
}

// limiterStory is a conversation of three requests that fills a small window.
func limiterStory(t *testing.T) *winnow.Conversation {
	t.Helper()
	w, err := winnow.New(&winnow.Options{Settings: winnow.Settings{Window: 16000, OutputReserve: 2000, Target: 0.12}})
	if err != nil {
		t.Fatal(err)
	}
	c := w.Conversation(chat.Request{})
	n := 0
	does := func(says, tool, args, result string) {
		n++
		id := fmt.Sprint("call_", n)
		c.Append(chat.CallMessage(says, chat.Call(id, tool, args)), chat.ResultMessage(id, result))
	}
	limit := "package limit\n\n// Burst is how many requests may come at once.\nconst Burst = 30\n\n// Take reports whether a request may pass.\nfunc (l *Limiter) Take(key string) bool {\n\tl.mu.Lock()\n\tdefer l.mu.Unlock()\n\treturn l.bucket(key).take(l.now())\n}\n"
	numbered := func(text string) string {
		var b strings.Builder
		for i, line := range strings.Split(strings.TrimSuffix(text, "\n"), "\n") {
			fmt.Fprintf(&b, "%6d\t%s\n", i+1, line)
		}
		return b.String()
	}
	c.Append(chat.TextMessage(chat.User, "The limiter counts twice: find out why. Never change the public API."))
	does("", "Read", `{"file_path":"/app/limit/limit.go"}`, numbered(limit))
	does("", "Grep", `{"pattern":"\\.Take\\(","path":"/app"}`, "/app/http/middleware.go:41: if !l.Take(key) {\n/app/http/track.go:88: if !l.Take(key) {\n")
	does("The handler and the middleware both call it.", "Bash", `{"command":"cd /app && go test ./... 2>&1"}`, strings.Repeat("ok  \tapp/store\t0.2s\n", 60)+"--- FAIL: TestBurst (0.02s)\n    limit_test.go:31: 15 requests passed, want 30\nFAIL\tapp/limit\t0.3s\n")
	does("", "Edit", `{"file_path":"/app/http/track.go","old_string":"\tif !l.Take(key) {\n\t\treturn tooMany(w)\n\t}\n","new_string":""}`, "The file /app/http/track.go has been updated.")
	does("", "Bash", `{"command":"cd /app && go test ./... 2>&1"}`, strings.Repeat("ok  \tapp/store\t0.2s\n", 60)+"ok  \tapp/limit\t0.3s\n")
	does("", "Bash", `{"command":"cd /app && git commit -am 'Count a request once'"}`, "[main 4f1c2aa] Count a request once\n 1 file changed, 3 deletions(-)\n")
	c.Append(chat.TextMessage(chat.Assistant, "The middleware and the handler both called Take, so each request counted twice. Only the middleware calls it now; the API is unchanged, and all tests pass."))
	c.Append(chat.TextMessage(chat.User, "Good. Which burst do we allow, and where is it set?"))
	c.Append(chat.TextMessage(chat.Assistant, "30, the constant Burst in limit/limit.go."))
	c.Append(chat.TextMessage(chat.User, "Make it a setting, RATE_BURST, with 30 as the default."))
	var pods strings.Builder
	for i := range 60 {
		fmt.Fprintf(&pods, "limiter-%02d   1/1   Running   %d   %dd\n", i, i%7, 3+i%11)
	}
	does("", "Bash", `{"command":"kubectl get pods"}`, pods.String())
	does("I read the settings first.", "Read", `{"file_path":"/app/config/config.go"}`, numbered("package config\n\nimport \"os\"\n\n// Listen is where the service listens.\nvar Listen = os.Getenv(\"LISTEN\")\n"))
	return c
}
