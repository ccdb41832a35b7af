package neurolink_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/winnow-llm/winnow/chat"
	"github.com/winnow-llm/winnow/internal/neurolink"
	"github.com/winnow-llm/winnow/internal/sessiontest"
	"github.com/winnow-llm/winnow/plan"
	"github.com/winnow-llm/winnow/session"
	"github.com/winnow-llm/winnow/transcript"
)

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// said is what messages say, for comparison.
func said(msgs chat.Sequence) []string {
	var out []string
	for i := range msgs.Len() {
		m := msgs.At(i)
		s := string(m.Role)
		for k := range m.Parts {
			p := &m.Parts[k]
			s += "|" + p.Kind.String() + " " + p.Name + " " + p.Text + p.Args
		}
		out = append(out, s)
	}
	return out
}

func same(t *testing.T, what string, got, want []string) {
	t.Helper()
	if a, b := strings.Join(got, "\n"), strings.Join(want, "\n"); a != b {
		t.Errorf("%s:\n%s\nwant:\n%s", what, a, b)
	}
}

// importTagged makes a session of messages with tags.
func importTagged(ctx context.Context, store session.Store, h session.Header, req chat.Request, list []neurolink.Tagged, o *session.Options) (*session.Session, error) {
	history, p, err := neurolink.Import(list, chat.Rules{})
	if err != nil {
		return nil, err
	}
	req.History = history
	return session.ImportPlan(ctx, store, h, req, p, o)
}

// export returns the messages of a session with tags.
func export(s *session.Session) ([]neurolink.Tagged, int, error) {
	c, err := s.Context()
	if err != nil {
		return nil, 0, err
	}
	return exportTags(c.Request.History, c.View.Plan())
}

func exportTags(h chat.History, p *plan.Plan) ([]neurolink.Tagged, int, error) {
	tagged, left, err := neurolink.Export(h, p)
	if err != nil {
		return nil, left, err
	}
	return slices.Collect(tagged), left, nil
}

func encode(c neurolink.Conversation) []byte {
	data, _ := neurolink.Encode(c.ID, c.Title, c.System, slices.Values(c.Messages), 0)
	return data
}

const stored = `{"sessionId":"nl-1","title":"ferries","messages":[
 {"id":"s","role":"system","content":"Be brief."},
 {"id":"m1","role":"user","content":"How many sailings?","timestamp":"2026-02-01T08:00:00Z","condenseParent":"c-1"},
 {"id":"m2","role":"assistant","content":"Let me count.","condenseParent":"c-1"},
 {"id":"m3","role":"tool_call","content":"","tool":"count","args":{"day":"Mon"},"condenseParent":"c-1"},
 {"id":"m4","role":"tool_result","content":"12","tool":"count","result":{"success":true,"result":12},"condenseParent":"c-1"},
 {"id":"m5","role":"assistant","content":"Twelve.","condenseParent":"c-1"},
 {"id":"sum","role":"system","content":"Earlier: 12 sailings on Monday.","condenseId":"c-1","metadata":{"isSummary":true}},
 {"id":"m6","role":"user","content":"And on Sunday?","truncationParent":"t-1"},
 {"id":"m7","role":"assistant","content":"Six.","truncationParent":"t-1"},
 {"id":"cut","role":"system","content":"[earlier messages were left out]","truncationId":"t-1","isTruncationMarker":true},
 {"id":"m8","role":"user","content":"Thanks. And in winter?"},
 {"id":"m9","role":"tool_call","content":"","tool":"count","args":{"day":"Sun","season":"winter"}},
 {"id":"m10","role":"tool_result","content":"no such table","tool":"count","result":{"success":false,"error":"no such table"}}
]}`

// The five tags come in as a plan, and go out as tags again. (S4.7)
func TestTags(t *testing.T) {
	ctx := t.Context()
	list, err := neurolink.Decode([]byte(stored))
	must(t, err)
	c := list[0]
	if len(list) != 1 || c.ID != "nl-1" || c.Title != "ferries" || len(c.System) != 1 || len(c.Messages) != 11 {
		t.Fatalf("%d conversations: %+v", len(list), c)
	}
	store := session.NewMemory()
	s, err := importTagged(ctx, store, session.Header{ID: "nl-1"}, chat.Request{System: c.System}, c.Messages, nil)
	must(t, err)
	defer s.Close()
	x, err := s.Context()
	must(t, err)
	if x.Request.History.Len() != 9 || len(x.Request.System) != 1 {
		t.Errorf("%d messages", x.Request.History.Len())
	}
	sent := effective(c.Messages)
	if got, want := x.View.Len(), len(sent); got != want {
		t.Fatalf("the model sees %d messages, want %d: %v", got, want, said(x.View))
	}
	for i := range sent {
		if got := x.View.At(i).Text(); !strings.Contains(got, sent[i].Text()) {
			t.Errorf("message %d of the view is %q, want %q", i, got, sent[i].Text())
		}
	}
	// What came in as untagged reads the same in package transcript.
	plain, err := transcript.Read([]byte(stored), nil)
	must(t, err)
	same(t, "the history", said(x.Request.History), said(plain[0].History))

	// And out again.
	tags, left, err := export(s)
	must(t, err)
	if left != 0 {
		t.Errorf("%d edits have no tags", left)
	}
	data := encode(neurolink.Conversation{ID: "nl-1", Title: c.Title, System: c.System, Messages: tags})
	for _, tag := range []string{`"condenseId":"c-1"`, `"condenseParent":"c-1"`, `"truncationId":"t-1"`, `"truncationParent":"t-1"`, `"isTruncationMarker":true`, `"isSummary":true`} {
		if !strings.Contains(string(data), tag) {
			t.Errorf("what was written has no %s:\n%s", tag, data)
		}
	}
	back, err := neurolink.Decode(data)
	must(t, err)
	if back[0].ID != c.ID || back[0].Title != c.Title || len(back[0].System) != 1 {
		t.Errorf("%+v", back[0])
	}
	count := func(list []neurolink.Tagged) map[neurolink.Tags]int {
		n := make(map[neurolink.Tags]int)
		for i := range list {
			n[list[i].Tags]++
		}
		return n
	}
	a, b := count(c.Messages), count(back[0].Messages)
	for tags, n := range a {
		if b[tags] != n {
			t.Errorf("%+v stands on %d messages, want %d", tags, b[tags], n)
		}
	}
	again, err := importTagged(ctx, store, session.Header{ID: "nl-2"}, chat.Request{System: c.System}, back[0].Messages, nil)
	must(t, err)
	defer again.Close()
	y, err := again.Context()
	must(t, err)
	same(t, "the view of the copy", said(y.View), said(x.View))

	// What the tags hid comes back when the compaction is rewound.
	last, ok := s.LastCompaction()
	if !ok || last.Compaction.Reason != "import" {
		t.Fatalf("no compaction: %+v", last)
	}
	_, err = s.Rewind(ctx, last.ID)
	must(t, err)
	z, err := s.Context()
	must(t, err)
	same(t, "after the rewind", said(z.View), said(plain[0].History))
}

// A session that winnow compacted goes out with tags and comes back with the
// same view.
func TestRoundTrip(t *testing.T) {
	ctx := t.Context()
	store := session.NewMemory()
	for _, stages := range [][]string{{"fold"}, {"truncate"}} {
		set := sessiontest.Settings()
		set.Stages = stages
		s, err := session.Create(ctx, store, session.Header{}, &session.Options{Settings: set})
		must(t, err)
		for i := range 24 {
			_, err := s.Append(ctx, sessiontest.Turn(i, 2500)...)
			must(t, err)
		}
		_, err = s.Compact(ctx, "")
		must(t, err)
		tags, left, err := export(s)
		must(t, err)
		back, err := neurolink.Decode(encode(neurolink.Conversation{ID: s.ID(), Messages: tags}))
		must(t, err)
		copied, err := importTagged(ctx, store, session.Header{}, chat.Request{}, back[0].Messages, &session.Options{Settings: set})
		must(t, err)
		a, err := s.Context()
		must(t, err)
		b, err := copied.Context()
		must(t, err)
		if left != 0 {
			t.Errorf("%v: %d edits have no tags", stages, left)
		}
		same(t, "the history", said(b.Request.History), said(a.Request.History))
		same(t, "the view", said(b.View), said(a.View))
		must(t, errors.Join(s.Close(), copied.Close()))
	}
}

func TestBadTags(t *testing.T) {
	ctx := t.Context()
	store := session.NewMemory()
	for name, text := range map[string]string{
		"no such summary": `[{"role":"user","content":"a","condenseParent":"x"},{"role":"assistant","content":"b"}]`,
		"twice":           `[{"role":"system","content":"s","condenseId":"x"},{"role":"system","content":"s2","condenseId":"x"},{"role":"user","content":"a","condenseParent":"x"}]`,
		"by itself":       `[{"role":"system","content":"s","condenseId":"x","condenseParent":"x"},{"role":"user","content":"a","condenseParent":"x"}]`,
	} {
		list, err := neurolink.Decode([]byte(text))
		must(t, err)
		s, err := importTagged(ctx, store, session.Header{}, chat.Request{}, list[0].Messages, nil)
		if !errors.Is(err, neurolink.ErrTags) || s != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	if all, err := store.List(ctx, 0, 0); err != nil || len(all) != 0 {
		t.Errorf("%d sessions are left behind", len(all))
	}
	for _, text := range []string{"", "x", "3", `"a"`, "{", `{"role":"user"`} {
		if list, err := neurolink.Decode([]byte(text)); err == nil && len(list) > 0 && len(list[0].Messages) > 0 {
			t.Errorf("%q has messages: %+v", text, list)
		}
	}
}

// FuzzDecode reads arbitrary data, and what it finds must survive being written.
func FuzzDecode(f *testing.F) {
	f.Add([]byte(stored))
	f.Add([]byte(`[{"role":"user","content":[{"type":"text","text":"a"},{"type":"image_url","image_url":{"url":"data:image/png;base64,AA=="}}]}]`))
	f.Add([]byte("{\"role\":\"user\",\"content\":\"a\"}\n{\"role\":\"assistant\",\"content\":\"b\"}\n"))
	if data, err := os.ReadFile(filepath.Join("..", "..", "transcript", "testdata", "neurolink.json")); err == nil {
		f.Add(data)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		list, err := neurolink.Decode(data)
		if err != nil {
			return
		}
		for i := range list {
			out := encode(list[i])
			back, err := neurolink.Decode(out)
			if err != nil || len(back) != 1 {
				t.Fatalf("what was written cannot be read: %v\n%s", err, out)
			}
			words := func(c *neurolink.Conversation) string {
				var b strings.Builder
				for k := range c.Messages {
					m := c.Messages[k].Message
					b.WriteString(strings.ToValidUTF8(m.Text(), "\uFFFD"))
				}
				return b.String()
			}
			if a, b := words(&list[i]), words(&back[0]); a != b {
				t.Errorf("%q became %q", a, b)
			}
		}
	})
}
