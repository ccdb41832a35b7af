package session_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/winnow-llm/winnow/chat"
	"github.com/winnow-llm/winnow/session"
)

// Records that are copied lose their secrets too, and nothing else.
func TestRedactRecord(t *testing.T) {
	var r session.Redactor
	const plain = `{"type":"message", "id":"a" ,"x":1.50,"message":{"role":"user","content":"no \u00e9 secret"}}`
	if got := string(r.Record([]byte(plain))); got != plain {
		t.Errorf("changed: %s", got)
	}
	const secret = `{"type":"message", "id":"a" ,"x":1.50,"message":{"role":"user","content":[{"type":"text","text":"key AKIAQWERTYUIOPASDFGH, \"quoted\""}]},"n":null}`
	const want = `{"type":"message", "id":"a" ,"x":1.50,"message":{"role":"user","content":[{"type":"text","text":"key [redacted: AWS key], \"quoted\""}]},"n":null}`
	if got := string(r.Record([]byte(secret))); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	ctx := t.Context()
	from := create(t, nil)
	say(t, from, user("AKIAQWERTYUIOPASDFGH"))
	to := session.NewMemory()
	for _, copyOf := range []func(*session.Options) (*session.Session, error){
		func(o *session.Options) (*session.Session, error) { return from.CopyTo(ctx, to, o) },
		func(o *session.Options) (*session.Session, error) { return from.Fork(ctx, to, "", o) },
		func(o *session.Options) (*session.Session, error) {
			o.Redact, o.Live = nil, func(string, string) session.Live { return session.Live{Redact: true} }
			return from.Fork(ctx, to, "", o)
		},
	} {
		s, err := copyOf(&session.Options{Redact: &r})
		must(t, err)
		if got := words(t, s); strings.Contains(got, "AKIA") || !strings.Contains(got, "redacted") {
			t.Errorf("the copy says %q", got)
		}
		must(t, s.Close())
	}
}

// The settings say how many sessions are kept; the oldest go when a new one is
// begun, and the new one tells.
func TestKeep(t *testing.T) {
	ctx := t.Context()
	st := session.NewMemory()
	o := &session.Options{Live: func(string, string) session.Live { return session.Live{Keep: session.Retention{Sessions: 2}} }}
	for _, id := range []string{"a", "b", "c"} {
		s, err := session.Create(ctx, st, session.Header{ID: id}, o)
		must(t, err)
		if told := strings.Join(s.Notes(), " "); (id == "c") != strings.Contains(told, "session a was deleted") {
			t.Errorf("%s: %q", id, told)
		}
		must(t, s.Close())
	}
	// Taking sessions in deletes nothing.
	s, err := session.Import(ctx, st, session.Header{ID: "d"}, chat.Request{History: chat.NewHistory(user("x"))}, o)
	must(t, err)
	must(t, s.Close())
	list, err := st.List(ctx, 0, 0)
	must(t, err)
	var ids []string
	for i := range list {
		ids = append(ids, list[i].ID)
	}
	slices.Sort(ids)
	if got := strings.Join(ids, " "); got != "b c d" {
		t.Errorf("kept: %s", got)
	}
}
