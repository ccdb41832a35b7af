package app

import (
	"context"
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/winnow-llm/winnow"
	"github.com/winnow-llm/winnow/chat"
	"github.com/winnow-llm/winnow/internal/input"
	"github.com/winnow-llm/winnow/internal/kit/corpus"
	"github.com/winnow-llm/winnow/internal/kit/longrun"
	"github.com/winnow-llm/winnow/internal/rerun"
	"github.com/winnow-llm/winnow/session"
	"github.com/winnow-llm/winnow/transcript"
)

// TestOneModelOfThePrompt: whoever is asked says the same of a session, to the token,
// and within two in a hundred what the provider itself counted for its next request.
// The sessions are cut before their last reported answer, in a window in which nothing
// is compacted.
func TestOneModelOfThePrompt(t *testing.T) {
	var files []string
	for _, folder := range []string{"sessions", "more-sessions"} {
		found, err := corpus.Sessions(corpus.Dir(t, folder))
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, found...)
	}
	asked, enough := 0, 4
	if longrun.Asked() {
		enough = 10
	}
	for _, file := range files {
		if !strings.Contains(file, ".jsonl") || asked == enough {
			continue
		}
		path, want := cutSession(t, file)
		if path == "" {
			continue
		}
		asked++
		const window = "4000000"
		ask := func(to any, args ...string) {
			t.Helper()
			code, out, stderr := command(t, "", append(args, path, "--window", window, "--json")...)
			if code > 1 || json.Unmarshal([]byte(out), to) != nil {
				t.Fatalf("%v: %d %s %s", args, code, out, stderr)
			}
		}
		var check checked
		ask(&check, "check")
		total, fixed := check.Tokens.Total, check.Limits.Fixed
		if off := math.Abs(float64(total)/float64(want) - 1); off > 0.02 {
			t.Errorf("%s: check says %d, the provider %d", path, total, want)
		}
		if b := check.Tokens; b.System+b.Tools+b.Unseen != fixed || fixed+b.History+b.Prompt != total || check.Kinds.Sum() != total || check.Kinds.Unseen != b.Unseen {
			t.Errorf("%s: %+v, %+v, %+v do not add up", path, b, check.Limits, check.Kinds)
		}
		var compact struct {
			Before int `json:"tokens_before"`
		}
		ask(&compact, "compact", "--dry-run")
		var watch watched
		ask(&watch, "watch", "--once")
		page, gateway, tree, mended := others(t, path)
		if mended { // what is sent is not what the file has
			page, gateway = total, total
		}
		if compact.Before != total || watch.Tokens != total || page != total || gateway != total || tree != total {
			t.Errorf("%s: check %d, compact %d, watch %d, page %d, a conversation that was answered %d, tree %d", path, total, compact.Before, watch.Tokens, page, gateway, tree)
		}
		t.Logf("%d tokens (%d fixed), reported %d", total, fixed, want)
	}
	if asked < enough {
		t.Errorf("only %d sessions", asked)
	}
}

// others asks the page, a conversation that is told of every answer, as the gateway's
// are, and a session as tree shows it. Mended says that the session breaks a rule of its dialect.
func others(t *testing.T, path string) (page, gateway, shown int, mended bool) {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	sessions, err := transcript.Read(data, &transcript.Options{Name: path})
	if err != nil {
		t.Fatal(err)
	}
	req := sessions[0].Request()
	w, err := winnow.New(&winnow.Options{Settings: winnow.Settings{Model: sessions[0].Model, Window: 4_000_000, Economy: winnow.EconomyOff}})
	if err != nil {
		t.Fatal(err)
	}
	r, err := rerun.New(context.Background(), rerun.Input{Request: req, Engine: w})
	if err != nil {
		t.Fatal(err)
	}
	tree, err := session.Import(t.Context(), session.NewMemory(), session.Header{}, req, &session.Options{Settings: w.Settings(), Model: sessions[0].Model})
	if err != nil {
		t.Fatal(err)
	}
	defer tree.Close()
	if err := tree.Hear(req.History.Len()); err != nil {
		t.Fatal(err)
	}
	_, seen, err := tree.NeedsCompaction()
	if err != nil {
		t.Fatal(err)
	}
	track := winnow.NewTrack(w.Meter().Counter().Family())
	for i := range req.History.Len() {
		if req.History.At(i).Role != chat.Assistant {
			continue
		}
		head := req
		head.History = req.History.Head(i)
		fit, err := w.Fit(t.Context(), head, track.State())
		if err != nil {
			t.Fatal(err)
		}
		track.Fitted(&fit)
		if step, ok := w.Answered(&req, i, fit.View, sessions[0].Model); ok {
			track.Record(step)
		}
	}
	status, err := w.Check(req, track.State())
	if err != nil {
		t.Fatal(err)
	}
	return r.Tokens(), status.Tokens.Total, seen.Tokens.Total, track.Plan() != nil
}

// cutSession writes the lines of a session before its last reported answer into a
// file, and returns its name and what was reported. The name is "" where the session is
// short, or compacted by its agent.
func cutSession(t *testing.T, file string) (path string, reported int) {
	t.Helper()
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	whole, err := transcript.Read(data, &transcript.Options{Name: file})
	if err != nil || len(whole) != 1 || len(whole[0].Compactions) > 0 || whole[0].History.Len() < 60 {
		return "", 0
	}
	h := whole[0].History
	at := h.Len() - 1
	for at > 0 && (h.At(at).Role != chat.Assistant || h.At(at).Usage == nil || h.At(at).Usage.Prompt() == 0 || h.At(at-1).Role == chat.Assistant) {
		at--
	}
	if at < 40 {
		return "", 0
	}
	path = filepath.Join(t.TempDir(), "session.jsonl")
	plain, _, err := input.Plain(data, 1<<30)
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSpace(string(plain)), "\n")
	for n := len(lines); n > 0; n-- { // the most lines whose messages are those before it
		part := []byte(strings.Join(lines[:n], "\n") + "\n")
		s, err := transcript.Read(part, &transcript.Options{Name: file, Format: whole[0].Format})
		if err == nil && len(s) == 1 && s[0].History.Len() <= at {
			if s[0].History.Len() < at {
				return "", 0
			}
			if err := os.WriteFile(path, part, 0o600); err != nil {
				t.Fatal(err)
			}
			return path, h.At(at).Usage.Prompt()
		}
	}
	return "", 0
}
