package app

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/winnow-llm/winnow"
	"github.com/winnow-llm/winnow/chat"
	"github.com/winnow-llm/winnow/internal/app/replay"
	"github.com/winnow-llm/winnow/internal/input"
	"github.com/winnow-llm/winnow/internal/kit/corpus"
	"github.com/winnow-llm/winnow/internal/kit/longrun"
	"github.com/winnow-llm/winnow/internal/rerun"
	"github.com/winnow-llm/winnow/session"
	"github.com/winnow-llm/winnow/transcript"
	"github.com/winnow-llm/winnow/transport"
	"github.com/winnow-llm/winnow/wire"
)

// TestOneModelOfThePrompt: all commands count a session alike, to the token, and
// within two in a hundred of the provider's own count for its next request. The
// sessions are cut before their last reported answer, in a window in which nothing
// is compacted.
func TestOneModelOfThePrompt(t *testing.T) {
	t.Parallel()
	path, want := hiddenSession(t)
	askAll(t, path, want)
}

// TestOneModelOfRecordedPrompts is the same with recorded sessions, in a long run ten.
func TestOneModelOfRecordedPrompts(t *testing.T) {
	t.Parallel()
	var files []string
	for _, folder := range []string{"sessions", "more-sessions"} {
		found, err := corpus.Sessions(corpus.Dir(t, folder))
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, found...)
	}
	asked, enough := 0, 2
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
		askAll(t, path, want)
	}
	if asked < enough {
		t.Errorf("only %d sessions", asked)
	}
}

// askAll asks everybody about a session whose next prompt was reported.
func askAll(t *testing.T, path string, want int) {
	t.Helper()
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
	var several checkedMany
	ask(&several, "check", path)
	said := map[string]int{"compact": compact.Before, "watch": watch.Tokens, "check of several": several.Sessions[0].Tokens}
	plan, made := filepath.Join(t.TempDir(), "plan.json"), applied{}
	ask(&made, "compact", "--force", "--target", strconv.Itoa(total*9/10), "--plan", plan)
	if _, err := os.Stat(plan); err == nil {
		code, out, stderr := command(t, "", "plan", "apply", plan, path, "--json")
		var again applied
		if code != exitDone || json.Unmarshal([]byte(out), &again) != nil || again.Before != total || again.After != made.After {
			t.Errorf("%s: compact says %d -> %d tokens, plan apply %d -> %d: %s", path, total, made.After, again.Before, again.After, stderr)
		}
	} else {
		t.Errorf("%s: no plan was made", path)
	}
	others(t, path, said)
	for who, tokens := range said {
		if tokens != total {
			t.Errorf("%s: check says %d tokens, %s %d", path, total, who, tokens)
		}
	}
	t.Logf("%d tokens (%d fixed), reported %d", total, fixed, want)
}

// hiddenSession writes a session of Claude Code whose provider counts 20,000 tokens that
// the file does not show, and more for its words than winnow does. It returns the
// session without its last answer, and the usage reported for that.
func hiddenSession(t *testing.T) (path string, reported int) {
	t.Helper()
	path = filepath.Join(t.TempDir(), "session.jsonl")
	var b strings.Builder
	parent, said := "null", 0
	for i := range 60 {
		ask := strings.Repeat(fmt.Sprintf("What does part %d of the parser do with names? ", i), 30+i)
		said += len(ask)
		fmt.Fprintf(&b, `{"uuid":"q%d","parentUuid":%s,"sessionId":"s","type":"user","message":{"role":"user","content":%q}}`+"\n", i, parent, ask)
		reported = 20_000 + said/4
		if i == 59 {
			break
		}
		text := strings.Repeat(fmt.Sprintf("It reads them %d by %d. ", i, i+1), 10+i%7)
		fmt.Fprintf(&b, `{"uuid":"a%d","parentUuid":"q%d","sessionId":"s","type":"assistant","message":{"id":"m%d","role":"assistant","model":"claude-sonnet-4-5","content":[{"type":"text","text":%q}],"usage":{"input_tokens":%d,"output_tokens":%d}}}`+"\n", i, i, i, text, reported, len(text)/4)
		parent = fmt.Sprintf(`"a%d"`, i)
		said += len(text)
	}
	if err := os.WriteFile(path, []byte(b.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	return path, reported
}

// others asks those who have no command that answers in one number: the page, tree, a
// stored session, insights and replay, and the gateway.
func others(t *testing.T, path string, said map[string]int) {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	sessions, err := transcript.Read(data, &transcript.Options{Name: path})
	if err != nil {
		t.Fatal(err)
	}
	req, name := sessions[0].Request(), sessions[0].Model
	set := winnow.Settings{Model: name, Window: 4_000_000, Economy: winnow.EconomyOff}
	w, err := winnow.New(&winnow.Options{Settings: set})
	if err != nil {
		t.Fatal(err)
	}
	prompt, err := replay.PromptOf(&sessions[0], name)
	if err != nil {
		t.Fatal(err)
	}
	said["replay"] = prompt.Next
	of := func(s *session.Session, err error) int {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close()
		if err := s.Hear(req.History.Len()); err != nil {
			t.Fatal(err)
		}
		_, status, err := s.NeedsCompaction()
		if err != nil {
			t.Fatal(err)
		}
		return status.Tokens.Total
	}
	said["tree"] = of(session.Import(t.Context(), session.NewMemory(), session.Header{}, req, &session.Options{Settings: set, Model: name}))
	stored, err := session.Create(t.Context(), session.NewMemory(), session.Header{}, &session.Options{Settings: set, Model: name})
	if err != nil {
		t.Fatal(err)
	}
	defer stored.Close()
	if _, err := stored.Append(t.Context(), req.History.Messages()...); err != nil {
		t.Fatal(err)
	}
	_, status, err := stored.NeedsCompaction()
	if err != nil {
		t.Fatal(err)
	}
	if len(req.System)+len(req.Tools) == 0 { // a session of winnow's own has them elsewhere
		said["a stored session"] = status.Tokens.Total
	}
	r, err := rerun.New(t.Context(), rerun.Input{Request: req, Engine: w})
	if err != nil {
		t.Fatal(err)
	}
	if page, err := r.Conversation(t.Context(), r.ID()); err != nil {
		t.Fatal(err)
	} else if page.Plan == "" { // else it breaks a rule of its dialect, and is mended
		said["page"] = page.Next.Tokens
	}
	if req.History.Len() > 300 {
		return // to send so much again and again takes long
	}
	if sent, alike := gatewayCount(t, w, &req, name); alike {
		said["gateway"] = sent
	} else if off := math.Abs(float64(sent)/float64(prompt.Next) - 1); off > 0.001 {
		t.Errorf("%s: the gateway says %d tokens of bodies that lack a little of the file, others %d", path, sent, prompt.Next)
	}
}

// gatewayCount sends every request of a session through the gateway's transport, whose
// provider answers and reports as recorded. It returns what the transport counts for the
// next one, and whether the bodies hold what the file does: no body has thinking that
// nobody signed, and what breaks a rule is mended.
func gatewayCount(t *testing.T, w *winnow.Winnow, req *chat.Request, name string) (tokens int, alike bool) {
	t.Helper()
	var answer *chat.Message
	tr, err := transport.New(&transport.Options{
		Settings: winnow.Settings{Window: 4_000_000, Economy: winnow.EconomyOff},
		Base: roundTrip(func(r *http.Request) (*http.Response, error) {
			return &http.Response{StatusCode: http.StatusOK, Header: http.Header{"Content-Type": {"application/json"}}, Body: io.NopCloser(bytes.NewReader(anthropicAnswer(t, answer))), Request: r}, nil
		}),
	})
	if err != nil {
		t.Fatal(err)
	}
	defer tr.Close()
	alike = true
	for i := 1; i <= req.History.Len(); i++ {
		if i < req.History.Len() {
			if answer = req.History.At(i); answer.Role != chat.Assistant {
				continue
			}
		} else {
			last := chat.TextMessage(chat.Assistant, "Done.")
			answer = &last
		}
		body, err := wire.Render(wire.Anthropic, name, *req, req.History.Head(i))
		if err != nil {
			t.Fatal(err)
		}
		sent, err := wire.Parse(wire.Anthropic, body)
		if err != nil {
			t.Fatal(err)
		}
		alike = alike && estimated(t, w, sent.Request()) == estimated(t, w, chat.Request{System: req.System, Tools: req.Tools, History: req.History.Head(i)})
		if i < req.History.Len() {
			said, err := wire.ParseAnswer(wire.Anthropic, anthropicAnswer(t, answer))
			if err != nil {
				t.Fatal(err)
			}
			k := w.Meter().Counter()
			alike = alike && k.Message(&said.Message) == k.At(req.History, i)
		}
		r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "http://provider.test/v1/messages", bytes.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		resp, err := tr.RoundTrip(r)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := io.Copy(io.Discard, resp.Body); err != nil {
			t.Fatal(err)
		}
		resp.Body.Close()
		alike = alike && resp.Header.Get(transport.HeaderPlan) == ""
		tokens, _ = strconv.Atoi(resp.Header.Get(transport.HeaderTokens))
	}
	return tokens, alike
}

// estimated is what the counter has for a request, whatever was reported.
func estimated(t *testing.T, w *winnow.Winnow, req chat.Request) int {
	t.Helper()
	status, err := w.Check(req, winnow.State{})
	if err != nil {
		t.Fatal(err)
	}
	return status.Count.Tokens
}

// roundTrip answers requests by a function.
type roundTrip func(*http.Request) (*http.Response, error)

// RoundTrip implements [http.RoundTripper].
func (f roundTrip) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// anthropicAnswer is a recorded answer as its provider sends it.
func anthropicAnswer(t *testing.T, m *chat.Message) []byte {
	t.Helper()
	var u chat.Usage
	if m.Usage != nil {
		u = *m.Usage
	}
	body, err := wire.Render(wire.Anthropic, m.Model, chat.Request{}, chat.NewHistory(*m))
	var sent struct {
		Messages []struct{ Content json.RawMessage }
	}
	if err != nil || json.Unmarshal(body, &sent) != nil || len(sent.Messages) != 1 {
		t.Fatalf("%v %s", err, body)
	}
	doc := map[string]any{
		"type": "message", "role": "assistant", "content": sent.Messages[0].Content, "stop_reason": "end_turn",
		"usage": map[string]any{"input_tokens": u.Input, "output_tokens": u.Output, "cache_read_input_tokens": u.CacheRead, "cache_creation_input_tokens": u.CacheWrite, "output_tokens_details": map[string]any{"thinking_tokens": u.Thinking}},
	}
	raw, err := json.Marshal(doc)
	if err != nil {
		t.Fatal(err)
	}
	return raw
}

// cutSession writes the lines of a session before its last reported answer into a
// file, and returns its name and the usage reported. The name is "" where the
// session is short, or compacted by its agent.
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
