package winnow_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/winnow-llm/winnow"
	"github.com/winnow-llm/winnow/chat"
)

// prompted is a session of edits under a long system prompt.
func prompted() chat.Request {
	var m []chat.Message
	for i := range 60 {
		m = append(m, user(fmt.Sprintf("Request %d: raise the limit of module %d.", i, i)))
		m = append(m, did(fmt.Sprint("r", i), "read_file", fmt.Sprintf(`{"path":"mod/m%d.go"}`, i), lines(fmt.Sprint("file", i), 60))...)
		m = append(m, said(fmt.Sprintf("The limit of module %d is raised.", i)))
	}
	system := []chat.Part{{Kind: chat.Text, Text: lines("rule", 900)}}
	return chat.Request{System: system, History: chat.NewHistory(m...)}
}

// A target that is asked for is a ceiling; one that nothing reaches gives the
// smallest view, and a note says so.
func TestTargetIsACeiling(t *testing.T) {
	w := newWinnow(t, winnow.Settings{Model: "gpt-4o", Window: 64_000, MaxTokens: 1000, Economy: winnow.EconomyOff})
	req := prompted()
	least := 0
	for _, target := range []int{100, 2000, 14_000, 18_000, 24_000} {
		ask := winnow.Ask{Force: true, TargetTokens: target}
		r := fit(t, w, req, winnow.State{Ask: ask})
		n := r.After.Tokens.Total
		missed := slices.ContainsFunc(r.Notes, func(s string) bool { return strings.Contains(s, "out of reach") })
		if least == 0 {
			least = n
		}
		switch {
		case n < least:
			t.Errorf("target %d: %d tokens, fewer than the smallest view's %d", target, n, least)
		case n > target && (n != least || !missed):
			t.Errorf("target %d: %d tokens, the smallest view has %d; notes %q", target, n, least, r.Notes)
		case n <= target && missed:
			t.Errorf("target %d is reached: %q", target, r.Notes)
		}
	}
}

// A rewrite that somebody asks for below the target halves the conversation, not
// the system prompt beside it, so that the files have room.
func TestForceHalvesTheConversation(t *testing.T) {
	w := newWinnow(t, winnow.Settings{Model: "gpt-4o", Window: 128_000, MaxTokens: 1000, Economy: winnow.EconomyOff})
	req := prompted()
	r := fit(t, w, req, winnow.State{Ask: winnow.Ask{Force: true}})
	system, _ := w.Meter().Fixed(&req)
	talk := r.Before.Tokens.Total - system.Tokens
	if left := r.After.Tokens.Total - system.Tokens; !r.Changed || left < talk*9/20 {
		t.Errorf("%d of %d tokens of conversation are left", left, talk)
	}
}
