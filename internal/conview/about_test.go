package conview_test

import (
	"testing"

	"github.com/winnow-llm/winnow/chat"
	"github.com/winnow-llm/winnow/internal/conview"
)

// TestAbout names calls as a person would type them, results by their calls, and
// all else by its text.
func TestAbout(t *testing.T) {
	for args, want := range map[string]string{
		`{"path":"internal/a.go"}`: "tool internal/a.go", `{"dry":true,"path":"b.go"}`: "tool b.go", `{"content":"x := 1","path":"c.go"}`: "tool c.go", `{}`: "tool", `not json`: "tool not json", ``: "tool",
	} {
		h := chat.NewHistory(
			chat.TextMessage(chat.User, "Look at it."),
			chat.CallMessage("", chat.Call("1", "tool", args)),
			chat.ResultMessage("1", "what is there"),
		)
		call := len(h.At(1).Parts) - 1
		if got := conview.About(h, 1, call); got != want {
			t.Errorf("the call with %s is %q, want %q", args, got, want)
		}
		if got := conview.About(h, 2, 0); got != want {
			t.Errorf("the result of the call with %s is %q, want %q", args, got, want)
		}
		if got := conview.About(h, 0, 0); got != "Look at it." {
			t.Errorf("the text is %q", got)
		}
	}
	lost := chat.NewHistory(chat.ResultMessage("9", "nobody asked"), chat.Message{Role: chat.User, Parts: []chat.Part{{Kind: chat.Image, Media: "image/png"}}})
	if a, b := conview.About(lost, 0, 0), conview.About(lost, 1, 0); a != "nobody asked" || b != "image image/png" {
		t.Errorf("%q, %q", a, b)
	}
}
