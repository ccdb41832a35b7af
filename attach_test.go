package winnow_test

import (
	"encoding/base64"
	"fmt"
	"strings"
	"testing"

	"github.com/winnow-llm/winnow"
	"github.com/winnow-llm/winnow/chat"
	"github.com/winnow-llm/winnow/plan"
)

// files is a first message with n text files of that many bytes in base64.
func files(n, size int) chat.Message {
	m := user("Compare these files, and change nothing.")
	for i := range n {
		line := fmt.Sprintf("file %d has this line among many others\n", i)
		data := base64.StdEncoding.EncodeToString([]byte(strings.Repeat(line, size/len(line)+1)))
		m.Parts = append(m.Parts, chat.Part{Kind: chat.Document, Name: fmt.Sprintf("notes%d.txt", i), Media: "text/plain", Data: data})
	}
	return m
}

// Text files in base64 count as text: S4.1. Five large ones in the first message
// are shortened to their share of what remains, each with a handle: S4.13, S4.18.
func TestAttachments(t *testing.T) {
	h := chat.NewHistory(files(5, 520_000))
	req := chat.Request{History: h}
	for _, share := range []float64{0, 0.3, -1} {
		w := newWinnow(t, winnow.Settings{Model: "claude-sonnet-4-5", OutputReserve: 8000, Systems: winnow.Systems{FileShare: share}})
		before, err := w.Check(req, winnow.State{})
		if err != nil || before.Fits || before.Tokens.Attachments < 400_000 {
			t.Fatalf("2.6 MB of files count %d tokens and fit: %v, %v", before.Tokens.Attachments, before.Fits, err)
		}
		r := fit(t, w, req, winnow.State{})
		if !r.After.Fits {
			t.Fatalf("share %v: %d tokens of %d available", share, r.After.Count.Tokens, r.After.Limits.Available)
		}
		limit := map[float64]float64{0: 0.60, 0.3: 0.30, -1: 1}[share]
		if most := limit * float64(r.After.Limits.Available); float64(r.After.Count.Upper()) > most+1 || float64(r.After.Count.Upper()) < most*0.7 {
			t.Errorf("share %v: up to %d tokens are left, the share is %.0f", share, r.After.Count.Upper(), most)
		}
		text := text(r.View)
		contains(t, "the view", text, "Compare these files, and change nothing.", "file 0 has this line", "file 4 has this line", "notes3.txt, shortened from 520")
		for k := 1; k <= 5; k++ {
			e := r.Plan.Edits[k-1]
			got, err := plan.Recall(h, r.Plan, e.Handle)
			if err != nil || got.Messages[0].Parts[0].Data != h.At(0).Parts[k].Data || !strings.Contains(text, e.Handle) {
				t.Errorf("file %d: %s, %v", k, e.Handle, err)
			}
		}
		// The plan stays as the conversation goes on.
		next := chat.Request{History: h.Append(said("They differ."), user("Where?"))}
		if again := fit(t, w, next, winnow.State{Plan: r.Plan}); again.Plan.ID() != r.Plan.ID() {
			t.Errorf("share %v: one more turn makes another plan", share)
		}
	}
	// A small file beside a large one stays whole, and a pinned one too.
	w := newWinnow(t, winnow.Settings{Model: "claude-sonnet-4-5", OutputReserve: 8000})
	m := files(1, 900_000)
	m.Parts = append(m.Parts, files(1, 2000).Parts[1])
	m.Parts = append(m.Parts, files(1, 50_000).Parts[1])
	req = chat.Request{History: chat.NewHistory(m)}
	r := fit(t, w, req, winnow.State{Pins: []winnow.Pin{{Message: 0, Part: 3}}})
	if len(r.Plan.Edits) != 1 || r.Plan.Edits[0].Part != 1 {
		t.Errorf("%+v", r.Plan.Edits)
	}
}

// A file that the last request brought and the agent has changed since is left out of it:
// the state has it as it is. Where it was not changed it stays, and the state lacks it.
func TestAttachedFileThatChanged(t *testing.T) {
	var code strings.Builder
	for i := range 40 {
		fmt.Fprintf(&code, "func a%d() { return old } // as it was attached\n", i)
	}
	for _, edited := range []string{"/w/a.go", "/w/b.go"} {
		m := user("Rename old to fresh.")
		m.Parts = append(m.Parts, chat.Part{Kind: chat.Document, Name: "/w/a.go", Media: "text/plain", Data: base64.StdEncoding.EncodeToString([]byte(code.String()))})
		h := chat.NewHistory(m)
		for i := range 300 {
			id := fmt.Sprint("e", i)
			edit := fmt.Sprintf(`{"file_path":%q,"old_string":"func a%d() { return old }","new_string":"func a%d() { return fresh }"}`, edited, i, i)
			h = h.Append(chat.CallMessage("", chat.Call(id, "Edit", edit)), chat.ResultMessage(id, "The file has been updated. "+strings.Repeat("It was saved. ", 8)))
		}
		r := fit(t, newWinnow(t, winnow.Settings{Window: 40_000}), chat.Request{History: h}, winnow.State{})
		view := text(r.View)
		if edited == "/w/b.go" {
			lacks(t, "the view beside the file in the request", view, "was changed since", "as it was attached")
			continue
		}
		contains(t, "the view", view, "[/w/a.go as it was when attached; it was changed since", "func a7() { return fresh } // as it was attached")
		for k := range r.Plan.Edits {
			if e := r.Plan.Edits[k]; e.Kind == plan.Mask && e.From == 0 {
				if got, err := plan.Recall(h, r.Plan, e.Handle); err != nil || got.Messages[0].Parts[0].Name != "/w/a.go" {
					t.Errorf("%+v, %v", e, err)
				}
			}
		}
	}
}
