package providersim

import (
	"fmt"
	"strings"
	"testing"
)

// boundLoop has a user's message, an answer with signed thinking and a call, and
// the call's result.
func boundLoop(t *testing.T, url, model string) *client {
	t.Helper()
	c := newClient(Anthropic)
	c.model = model
	c.say("fix api/handler.go")
	_, text := post(t, url+c.path(), c.body(), "Sim-Answer", "calls=1")
	if n, _, _ := c.take(t, parse(t, text), "ok"); n != 1 {
		t.Fatalf("no call: %s", text)
	}
	if !strings.Contains(c.history[1], `"signature"`) {
		t.Fatalf("no thinking: %s", c.history[1])
	}
	return c
}

const boundText = "The block is bound to a different conversation. Remove the block, or set `thinking.block_binding.prefix_mismatch_behavior` to \"drop_block\". That setting requires the `thinking-binding-controls-2026-08-01` value in the `anthropic-beta` header."

func TestThinkingIsBoundToItsPrefix(t *testing.T) {
	_, url := sim(t, Options{})
	c := boundLoop(t, url, "claude-fable-5-1")
	send := func(what string, change func(*client), wantText string, headers ...string) {
		t.Helper()
		d := *c
		d.history = append([]string(nil), c.history...)
		change(&d)
		for _, path := range []string{"/v1/messages", "/v1/messages/count_tokens"} {
			status, body := post(t, url+path, d.body(), headers...)
			if wantText == "" && status != 200 || wantText != "" && (status != 400 || !strings.Contains(errorText(t, body), wantText)) {
				t.Errorf("%s %s: %d %s", path, what, status, body)
			}
		}
	}
	send("as it was", func(*client) {}, "")
	send("with a cache marker before", func(d *client) {
		d.history[0] = user(`{"type":"text","text":"fix api/handler.go","cache_control":{"type":"ephemeral"}}`)
	}, "")
	send("user's text changed", func(d *client) { d.history[0] = strings.Replace(d.history[0], "fix", "mend", 1) }, boundText)
	send("a message before", func(d *client) { d.history = append([]string{aUser, aDone}, d.history...) }, boundText)
	send("system added", func(d *client) { d.more += `"system":"be brief",` }, boundText)
	send("tools changed", func(d *client) { d.more = strings.Replace(d.more, `"read"`, `"open"`, 1) }, boundText)
	send("text changed", func(d *client) { d.history[1] = strings.Replace(d.history[1], `"thinking":"`, `"thinking":"x`, 1) },
		"messages.1.content.0: Invalid `signature` in `thinking` block")
}

func TestOlderModelsDoNotBind(t *testing.T) {
	for _, tc := range []struct {
		model   string
		binding Binding
		want    int
	}{
		{"claude-opus-4-5", BindNewer, 200},
		{"claude-fable-5", BindNewer, 200},
		{"claude-fable-5-1", BindNewer, 400},
		{"claude-opus-5-5", BindNewer, 400},
		{"claude-opus-4-5", BindAlways, 400},
		{"claude-fable-5-1", BindNever, 200},
	} {
		t.Run(fmt.Sprint(tc.model, tc.binding), func(t *testing.T) {
			_, url := sim(t, Options{Binding: tc.binding})
			c := boundLoop(t, url, tc.model)
			c.history[0] = strings.Replace(c.history[0], "fix", "mend", 1)
			if status, body := post(t, url+c.path(), c.body()); status != tc.want {
				t.Errorf("%d %s", status, body)
			}
			c.history[1] = strings.Replace(c.history[1], `"thinking":"`, `"thinking":"x`, 1)
			if status, _ := post(t, url+c.path(), c.body()); status != 400 {
				t.Errorf("altered thinking accepted")
			}
		})
	}
}

// TestForeignSignatures replays a conversation that another provider signed.
func TestForeignSignatures(t *testing.T) {
	_, elsewhere := sim(t, Options{Seed: 99})
	c := boundLoop(t, elsewhere, "claude-fable-5-1")
	t.Run("refused", func(t *testing.T) {
		_, url := sim(t, Options{})
		if status, body := post(t, url+c.path(), c.body()); status != 400 || !strings.Contains(body, "Invalid `signature`") {
			t.Errorf("%d %s", status, body)
		}
	})
	t.Run("same seed", func(t *testing.T) {
		_, url := sim(t, Options{Seed: 99})
		if status, text := post(t, url+c.path(), c.body()); status != 200 {
			t.Errorf("%d %s", status, text)
		}
	})
}

func TestOpaqueStrings(t *testing.T) {
	a, b := newSigner(1), newSigner(2)
	enc, th := a.encryptedToken([]byte("n")), a.thoughtSignature([]byte("n"))
	if !a.checkEncrypted(enc) || !a.checkThought(th) {
		t.Error("own strings refused")
	}
	if b.checkEncrypted(enc) || b.checkThought(th) || a.checkEncrypted(th) || a.checkEncrypted(enc+"A") || a.checkEncrypted("") {
		t.Error("a string of somebody else accepted")
	}
}
