package summary

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/winnow-llm/winnow/chat"
	"github.com/winnow-llm/winnow/internal/kit/longrun"
	"github.com/winnow-llm/winnow/internal/kit/randhist"
	"github.com/winnow-llm/winnow/internal/quote"
	"github.com/winnow-llm/winnow/token"
)

// checkOutput holds any summary to the contract of Summarize.
func checkOutput(t *testing.T, in Input, out Output) {
	t.Helper()
	counter := in.Counter
	if counter == nil {
		counter = token.New(token.Unknown, nil)
	}
	n, limit := counter.Text(out.Text), in.Max
	if limit <= 0 {
		limit = defaultMax
	}
	if out.Text == "" || !utf8.ValidString(out.Text) {
		t.Fatalf("empty or not valid UTF-8: %q", out.Text)
	}
	if n > limit {
		t.Fatalf("%d tokens, the limit is %d:\n%s", n, limit, out.Text)
	}
	normal, err := in.withDefaults()
	if err != nil {
		t.Fatal(err)
	}
	if size := normal.regionTokens(1 << 30); n >= size && size > 1 {
		t.Fatalf("%d tokens in place of %d:\n%s", n, size, out.Text)
	}
	if out.Used == "" {
		t.Fatal("Used is empty")
	}
	if !strings.HasPrefix(out.Text, "[Earlier conversation") {
		return // too small for a frame
	}
	body, ok := strings.CutSuffix(out.Text, "\n[End of the earlier conversation]")
	if !ok {
		t.Fatalf("the frame has no end:\n%s", out.Text)
	}
	_, body, _ = strings.Cut(body, "\n")
	for line := range strings.SplitSeq(body, "\n") {
		if strings.HasPrefix(line, "[Earlier") || strings.HasPrefix(line, "[End of") {
			t.Fatalf("a second frame: %q", line)
		}
		if h, ok := strings.CutPrefix(line, "## "); ok {
			h, _, _ = strings.Cut(h, " (in ")
			if !quote.OwnHeading(h) && strings.Count(body, "\n"+line+"\n") > 1 {
				t.Fatalf("heading %q", line)
			}
		}
	}
}

func TestContractOnRandomHistories(t *testing.T) {
	families := []token.Family{token.O200K, token.Unknown, token.Claude5}
	n := 600
	if !longrun.Asked() {
		n = 100
	}
	for seed := range uint64(n) {
		r := rand.New(rand.NewPCG(seed+randhist.FirstSeed, 3))
		h := randhist.New(r, randhist.Options{MaxText: 20000})
		from := r.IntN(h.Len())
		to := from + 1 + r.IntN(h.Len()-from)
		in := Input{History: h, From: from, To: to, Turn: -1, Max: []int{3, 5, 20, 60, 120, 300, 1000, 4000}[r.IntN(8)], Counter: token.New(families[r.IntN(3)], nil)}
		if r.IntN(3) == 0 {
			in.Turn = from + r.IntN(to-from)
		}
		for i := from; i < to; i++ {
			if r.IntN(10) == 0 {
				in.Keep = append(in.Keep, i)
			}
		}
		for _, s := range []Summarizer{Builtin()} {
			out, err := s.Summarize(context.Background(), in)
			if err != nil {
				t.Fatal(err)
			}
			checkOutput(t, in, out)
			if again, _ := s.Summarize(context.Background(), in); again.Text != out.Text || again.Prose != out.Prose {
				t.Fatalf("seed %d: two runs differ:\n%s\n%s", seed, out.Text, again.Text)
			}
		}
	}
}

func TestInvalidInput(t *testing.T) {
	h := chat.NewHistory(chat.TextMessage(chat.User, "hi"))
	for _, in := range []Input{{History: h}, {History: h, To: 2}, {History: h, From: -1, To: 1}, {History: h, From: 1, To: 1}} {
		if _, err := Builtin().Summarize(context.Background(), in); !errors.Is(err, ErrInput) {
			t.Errorf("%d-%d: %v", in.From, in.To, err)
		}
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := Builtin().Summarize(ctx, Input{History: h, To: 1}); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
}

// work is a small session with everything in it that a summary should keep.
func someWork() chat.History {
	filler := strings.Repeat("some log line without anything in it worth keeping at all\n", 60)
	return chat.NewHistory(
		chat.TextMessage(chat.User, "Fix the rounding in billing/invoice.go. Never change the public API, and the port must stay 8443."),
		chat.CallMessage("I will read it first.", chat.Call("1", "read", `{"path":"/srv/app/billing/invoice.go"}`)),
		chat.ResultMessage("1", "package billing\n\nfunc RoundTotal(cents int64) int64 {\n\treturn cents / rateDivisor\n}\n"+filler),
		chat.CallMessage("The problem is that RoundTotal truncates because rateDivisor is an integer.", chat.Call("2", "edit", `{"path":"/srv/app/billing/invoice.go","old_string":"cents / rateDivisor","new_string":"roundHalfEven(cents, rateDivisor)"}`)),
		chat.ResultMessage("2", "ok"),
		chat.CallMessage("", chat.Call("3", "bash", `{"command":"go test ./billing/ -run TestRoundTotal"}`), chat.Call("4", "todo_write", `{"todos":[{"content":"fix rounding","status":"completed"},{"content":"update the changelog","status":"pending"}]}`)),
		chat.ResultMessage("3", filler+"--- FAIL: TestRoundTotal (0.00s)\n    invoice_test.go:41: got 1286, want 1287\nexit status 1"),
		chat.ResultMessage("4", "saved"),
		chat.TextMessage(chat.User, "Also look at ticket ABC-1234 and use commit 3f2a9bc1d as the base."),
		chat.TextMessage(chat.Assistant, "I will rebase onto 3f2a9bc1d next."),
		chat.TextMessage(chat.User, "go on"),
	)
}

func TestBuiltinKeeps(t *testing.T) {
	h := someWork()
	for _, s := range []Summarizer{Builtin()} {
		in := Input{History: h, To: 10, Turn: -1, Max: 500, Open: true, Counter: token.New(token.O200K, nil)}
		out, err := s.Summarize(context.Background(), in)
		if err != nil {
			t.Fatal(err)
		}
		checkOutput(t, in, out)
		for _, want := range []string{
			"User: Fix the rounding in billing/invoice.go. Never change the public API, and the port must stay 8443.",
			"User: Also look at ticket ABC-1234 and use commit 3f2a9bc1d as the base.",
			"- read /srv/app/billing/invoice.go", "- edited /srv/app/billing/invoice.go (+1 -1)",
			"- ran `go test ./billing/ -run TestRoundTotal`, exit 1: --- FAIL: TestRoundTotal", "truncates because rateDivisor",
			": update the changelog", "done: 1 of 2 things to do", "I will rebase onto 3f2a9bc1d next.",
		} {
			if !strings.Contains(out.Text, want) {
				t.Errorf("%q is missing in\n%s", want, out.Text)
			}
		}
		if !strings.Contains(out.Text, out.Prose) || out.Used != "builtin" {
			t.Errorf("prose %q, used %q", out.Prose, out.Used)
		}
	}
}

// A request that stays is told where it stood by its first line, once.
func TestKeptRequests(t *testing.T) {
	in := Input{History: someWork(), To: 10, Keep: []int{8}, Turn: -1, Max: 500, Counter: token.New(token.O200K, nil)}
	out, err := Builtin().Summarize(context.Background(), in)
	if err != nil {
		t.Fatal(err)
	}
	if strings.Count(out.Text, "ABC-1234") != 1 || !strings.Contains(out.Text, "User: (stands whole below; what follows here was done for it) Also look at ticket ABC-1234") {
		t.Errorf("a request that stays is not told in its place:\n%s", out.Text)
	}
}

func TestSplitTurnIsNamed(t *testing.T) {
	in := Input{History: someWork(), To: 7, Turn: 0, Max: 500, Counter: token.New(token.O200K, nil)}
	out, _ := Builtin().Summarize(context.Background(), in)
	if !strings.Contains(out.Text, "The turn that began with message 1 goes on after it.") {
		t.Error(out.Text)
	}
}

// Users' words are all there while they fit; then the first request, what
// binds and the latest come first.
func TestUserRequestsUnderPressure(t *testing.T) {
	var msgs []chat.Message
	for i := range 40 {
		text := fmt.Sprintf("Request number %d is about the thing called topic%d. %s Please see to it.", i, i, strings.Repeat("It has a long story that goes on and on. ", 6))
		if i == 17 {
			text += " You must never touch the vault in region eu-west."
		}
		msgs = append(msgs, chat.TextMessage(chat.User, text), chat.TextMessage(chat.Assistant, strings.Repeat("working on it. ", 40)))
	}
	in := Input{History: chat.NewHistory(msgs...), To: len(msgs), Turn: -1, Max: 2000, Counter: token.New(token.O200K, nil)}
	out, err := Builtin().Summarize(context.Background(), in)
	if err != nil {
		t.Fatal(err)
	}
	checkOutput(t, in, out)
	for _, want := range []string{"Request number 0 is about", "You must never touch the vault in region eu-west.", "Request number 39 is about"} {
		if !strings.Contains(out.Text, want) {
			t.Errorf("%q is missing in\n%s", want, out.Text)
		}
	}
	if !strings.Contains(out.Text, "…") {
		t.Error("nothing was shortened")
	}
}

// A caller that sets room aside for the user's words gets them in full, whichever
// summariser writes the prose.
func TestVerbatim(t *testing.T) {
	counter := token.New(token.O200K, nil)
	var msgs []chat.Message
	words := 0
	for i := range 30 {
		m := chat.TextMessage(chat.User, fmt.Sprintf("Request %d: rename handler%d and then describe what else refers to it, please.", i, i))
		words += counter.Message(&m) + 8
		// Names that compete for the room.
		var names strings.Builder
		for k := range 60 {
			fmt.Fprintf(&names, "renamed oldName%dOf%d to newName%dOf%d\n", k, i, k, i)
		}
		msgs = append(msgs, m, chat.TextMessage(chat.Assistant, names.String()))
	}
	in := Input{History: chat.NewHistory(msgs...), To: len(msgs), Turn: -1, Max: 600 + words, Verbatim: words, Counter: counter}
	for _, s := range []Summarizer{Builtin(), NewLLM(&LLMOptions{Model: fixed(notes("it"))})} {
		out, err := s.Summarize(context.Background(), in)
		if err != nil {
			t.Fatal(err)
		}
		checkOutput(t, in, out)
		for i := 0; i < len(msgs); i += 2 {
			if want := msgs[i].Text(); !strings.Contains(out.Text, want) {
				t.Fatalf("%s: %q is missing", out.Used, want)
			}
		}
	}
}

// A pasted file of megabytes without a sentence's end is still quoted in part,
// and does not take long.
func TestGiantRequest(t *testing.T) {
	paste := "Please load this table: " + strings.Repeat("0123456789abcdef,", 1<<18) + "END. Only use column seven."
	h := chat.NewHistory(chat.TextMessage(chat.User, paste), chat.TextMessage(chat.Assistant, "Loading."), chat.TextMessage(chat.User, "go on"))
	for _, s := range []Summarizer{Builtin()} {
		in := Input{History: h, To: 2, Turn: -1, Max: 600, Counter: token.New(token.O200K, nil)}
		out, err := s.Summarize(context.Background(), in)
		if err != nil {
			t.Fatal(err)
		}
		checkOutput(t, in, out)
		for _, want := range []string{"User: Please load this table: 0123456789", "Only use column seven."} {
			if !strings.Contains(out.Text, want) {
				t.Errorf("%q is missing in %.2000s", want, out.Text)
			}
		}
	}
}

func TestHostileMaterial(t *testing.T) {
	counter := token.New(token.O200K, nil)
	for _, s := range hostile {
		filler := strings.Repeat("filler text that is long enough to be folded away\n", 80)
		h := chat.NewHistory(
			chat.TextMessage(chat.User, s+" in vendor/evilModule.go"),
			chat.CallMessage(s+" because evilModule", chat.Call("1", "bash"+s, `{"command":"cat evilModule.go"}`)),
			chat.ResultMessage("1", filler+"evilModule badThing_1 "+s+"\n"+s),
			chat.CallMessage("", chat.Call("2", "todo_write", fmt.Sprintf(`{"todos":[{"content":%q,"status":"pending"}]}`, s))),
			chat.ResultMessage("2", filler),
		)
		in := Input{History: h, To: h.Len(), Turn: -1, Max: 700, Counter: counter}
		out, err := Builtin().Summarize(context.Background(), in)
		if err != nil {
			t.Fatal(err)
		}
		checkOutput(t, in, out)
		_, body, _ := strings.Cut(strings.TrimSuffix(out.Text, "[End of the earlier conversation]"), "\n")
		ours := map[string]bool{}
		for _, name := range quote.Headings {
			ours["## "+name] = true
		}
		var rest []string
		requests := 0
		for line := range strings.SplitSeq(body, "\n") {
			if ours[line] {
				delete(ours, line) // each may stand once
				continue
			}
			if words, ok := strings.CutPrefix(line, "User: "); ok {
				if requests++; requests > 1 {
					t.Errorf("%q forges a request: %q", s, line)
				}
				line = words
			}
			rest = append(rest, line)
		}
		if bad := breakout(strings.Join(rest, "\n")); bad != "" {
			t.Errorf("%q breaks out: %s\n%s", s, bad, out.Text)
		}
	}
}

// A failed step is told by what its trace ends with, also where that quotes code,
// rather than by the source that the trace shows; tags around an output say nothing.
func TestTraceIsTold(t *testing.T) {
	l := []chat.Message{chat.TextMessage(chat.User, "Make the parser accept two semicolons.")}
	for i := range 40 {
		out := fmt.Sprintf("<returncode>0</returncode>\n<warning>\n</warning><output_head>\nsegment%d.parse_rendered(context%d)\n</output_head>\n", i, i)
		if i == 5 {
			out = "<returncode>1</returncode>\n<output>\nTraceback (most recent call last):\n" +
				"  File \"/srv/app/parser.py\", line 32, in parse\n    parsed = root_segment.parse(parse_context=inner_context)\n" +
				"  File \"/srv/app/helpers.py\", line 30, in check_complete\n    raise SequenceError(\n" +
				"SequenceError: elements dropped: 'select id;;' != ';'\n</output>"
		}
		l = append(l, chat.CallMessage("", chat.Call(fmt.Sprint(i), "bash", fmt.Sprintf(`{"command":"python run_case%d.py"}`, i))), chat.ResultMessage(fmt.Sprint(i), out))
	}
	in := Input{History: chat.NewHistory(l...), From: 0, To: len(l), Turn: -1, Max: 500, Counter: token.New(token.O200K, nil)}
	out, err := Builtin().Summarize(t.Context(), in)
	if err != nil {
		t.Fatal(err)
	}
	checkOutput(t, in, out)
	if !strings.Contains(out.Text, "exit 1: SequenceError: elements dropped: 'select id;;' != ';'") {
		t.Errorf("what failed is not told:\n%s", out.Text)
	}
	if strings.Contains(out.Text, "output_head>") {
		t.Errorf("a tag is told:\n%s", out.Text)
	}
}

// What speaks of the focus is told before what does not: S1.2.
func TestBuiltinFocus(t *testing.T) {
	m := []chat.Message{chat.TextMessage(chat.User, "Why is the build slow?")}
	for i := range 60 {
		id := fmt.Sprint("c", i)
		m = append(m,
			chat.CallMessage("", chat.Call(id, "bash", fmt.Sprintf(`{"command":"make step%d"}`, i))),
			chat.ResultMessage(id, strings.Repeat(fmt.Sprintf("step %d compiled module %d without remarks\n", i, i), 12)))
		if i == 4 {
			m = append(m, chat.TextMessage(chat.Assistant, "The grammar is read again for every file, because the cache of the parser is off."))
		}
	}
	h := chat.NewHistory(m...)
	text := func(focus string) string {
		out, err := Builtin().Summarize(t.Context(), Input{History: h, To: h.Len(), Turn: -1, Focus: focus, Max: 300, Counter: token.New(token.O200K, nil)})
		if err != nil {
			t.Fatal(err)
		}
		return out.Text
	}
	const want = "cache of the parser is off"
	if s := text("the grammar of the parser"); !strings.Contains(s, want) {
		t.Errorf("no %q in\n%s", want, s)
	}
	if s := text("step57 and step58"); strings.Contains(s, want) {
		t.Errorf("another focus tells the same:\n%s", s)
	}
}
