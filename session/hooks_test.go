package session_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/winnow-llm/winnow"
	"github.com/winnow-llm/winnow/chat"
	"github.com/winnow-llm/winnow/session"
)

// events records which hooks were called.
type events struct {
	mu   sync.Mutex
	list []string
}

func (e *events) add(format string, args ...any) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.list = append(e.list, fmt.Sprintf(format, args...))
}

func (e *events) String() string {
	e.mu.Lock()
	defer e.mu.Unlock()
	return strings.Join(e.list, " ")
}

func recorder(e *events, name string, before func(session.BeforeCompact) (session.CompactDecision, error)) session.Hooks {
	return session.Hooks{
		Name: name,
		BeforeCompact: func(_ context.Context, ev session.BeforeCompact) (session.CompactDecision, error) {
			e.add("%s.before(%s)", name, ev.Reason)
			if before == nil {
				return session.CompactDecision{}, nil
			}
			return before(ev)
		},
		AfterCompact: func(_ context.Context, c session.Compacted) error {
			e.add("%s.after(%v)", name, c.Entry.Compaction.Supplied)
			return nil
		},
		CompactFailed: func(_ context.Context, f session.CompactFailure) error {
			e.add("%s.failed(%v)", name, f.Aborted)
			return nil
		},
		Failed: func(f session.HookFailure) { e.add("%s.told(%s)", name, f.Hook) },
	}
}

// secret is taken out of what hooks supply.
var secret = &session.Redactor{Values: []string{"my-secret"}}

func TestHooks(t *testing.T) { // A8
	cancel := func(session.BeforeCompact) (session.CompactDecision, error) {
		return session.CompactDecision{Cancel: true}, nil
	}
	supply := func(ev session.BeforeCompact) (session.CompactDecision, error) {
		return session.CompactDecision{Supply: &session.Supplied{Summary: "Mine: my-secret.", FirstKept: ev.Preparation.KeptID, TokensBefore: 999}}, nil
	}
	bad := func(ev session.BeforeCompact) (session.CompactDecision, error) {
		return session.CompactDecision{Supply: &session.Supplied{Summary: "Mine.", FirstKept: "nowhere"}}, nil
	}
	fails := func(session.BeforeCompact) (session.CompactDecision, error) {
		return session.CompactDecision{Cancel: true}, errors.New("broken")
	}
	panics := func(session.BeforeCompact) (session.CompactDecision, error) { panic("oh") }
	hangs := func(session.BeforeCompact) (session.CompactDecision, error) {
		time.Sleep(time.Hour)
		return session.CompactDecision{Cancel: true}, nil
	}
	for _, c := range []struct {
		name   string
		before func(session.BeforeCompact) (session.CompactDecision, error)
		want   string
		err    error
	}{
		{"watches", nil, "a.before(manual) b.before(manual) a.after(false) b.after(false)", nil},
		{"cancels", cancel, "a.before(manual) b.before(manual) a.failed(true) b.failed(true)", session.ErrCancelled},
		{"supplies", supply, "a.before(manual) b.before(manual) a.after(true) b.after(true)", nil},
		{"supplies nonsense", bad, "a.before(manual) b.before(manual) a.after(false) b.after(false)", nil},
		{"fails", fails, "a.before(manual) a.told(a) b.told(a) b.before(manual) a.after(false) b.after(false)", nil},
		{"panics", panics, "a.before(manual) a.told(a) b.told(a) b.before(manual) a.after(false) b.after(false)", nil},
		{"hangs", hangs, "a.before(manual) a.told(a) b.told(a) b.before(manual) a.after(false) b.after(false)", nil},
	} {
		// In a bubble, so that only the hook that hangs takes any time.
		test := func(t *testing.T) {
			defer time.Sleep(time.Hour) // no goroutine may outlive the bubble, not even a hanging one
			var e events
			s := create(t, &session.Options{HookTimeout: 50 * time.Millisecond, Redact: secret, Hooks: []session.Hooks{recorder(&e, "a", c.before), recorder(&e, "b", nil)}})
			turns(t, s, 0, 12, 2500)
			n := s.Len()
			got, err := s.Compact(t.Context(), "")
			if !errors.Is(err, c.err) || (err == nil) != (c.err == nil) {
				t.Fatalf("error %v, want %v", err, c.err)
			}
			if e.String() != c.want {
				t.Errorf("events %s, want %s", e.String(), c.want)
			}
			if c.err != nil && s.Len() != n {
				t.Error("something was written")
			}
			if c.name == "supplies" {
				k := got.Entry.Compaction
				r := got.Report
				if k := r.Kept.Before + r.Reduced.Before + r.Removed.Before; k != r.Before.Tokens || r.Before.Tokens != got.Before.Count.Tokens {
					t.Errorf("the report has %d tokens of %d, measured were %d", k, r.Before.Tokens, got.Before.Count.Tokens)
				}
				if k := r.Kept.After + r.Reduced.After + r.Removed.After; k != r.After.Tokens || r.After.Tokens != got.After.Count.Tokens {
					t.Errorf("the report leaves %d tokens of %d, measured were %d", k, r.After.Tokens, got.After.Count.Tokens)
				}
				if r.Removed.Messages == 0 || len(r.Stages) != 1 || r.Stages[0].Name != "hook" || r.Stages[0].Saved <= 0 || r.Evidence["files"].Kept >= r.Evidence["files"].Total {
					t.Errorf("report %+v", r)
				}
				if !strings.HasPrefix(k.Summary, "Mine: [redacted") || !k.FromHook || k.TokensBefore != 999 || !strings.Contains(words(t, s), k.Summary) {
					t.Errorf("supplied: %+v", k)
				}
			}
		}
		t.Run(c.name, func(t *testing.T) { synctest.Test(t, test) })
	}
}

func TestNavigationHooks(t *testing.T) {
	decision := session.NavigateDecision{Cancel: true}
	var e events
	s := create(t, &session.Options{Redact: secret, Hooks: []session.Hooks{{
		BeforeNavigate: func(_ context.Context, ev session.BeforeNavigate) (session.NavigateDecision, error) {
			e.add("before(%d,%v)", len(ev.Left), ev.Summarise)
			return decision, nil
		},
		AfterNavigate: func(_ context.Context, n session.Navigated) error { e.add("after"); return nil },
	}}})
	ids := say(t, s, user("u"), answer("a"), user("v"), answer("b"))
	if _, err := s.Navigate(t.Context(), ids[1], session.NavigateOptions{}); !errors.Is(err, session.ErrCancelled) || s.Leaf() != ids[3] {
		t.Errorf("cancelled: %v, leaf %s", err, s.Leaf())
	}
	decision = session.NavigateDecision{Summary: &session.BranchSummary{Summary: "my-secret from the hook"}}
	n, err := s.Navigate(t.Context(), ids[1], session.NavigateOptions{Summarise: true})
	must(t, err)
	if got := n.Summary.Branch.Summary; !strings.HasPrefix(got, "[redacted") || !strings.HasSuffix(got, " from the hook") || !n.Summary.Branch.FromHook || e.String() != "before(2,false) before(2,true) after" {
		t.Errorf("%+v, events %s", n.Summary.Branch, e.String())
	}
}

func TestBeforeCall(t *testing.T) {
	s := create(t, &session.Options{Hooks: []session.Hooks{
		{BeforeCall: func(_ context.Context, c session.Call) ([]chat.Message, error) {
			return append(c.Messages, user("a note")), nil
		}},
		{BeforeCall: func(context.Context, session.Call) ([]chat.Message, error) { return nil, errors.New("broken") }},
	}})
	say(t, s, user("u"))
	call, err := s.Next(t.Context())
	must(t, err)
	if len(call.Messages) != 2 || call.View.Len() != 1 {
		t.Errorf("%d messages, view of %d", len(call.Messages), call.View.Len())
	}
}

// A hook that the caller cancelled is told as that, and not as one that was too slow.
func TestHookIsCancelled(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	var failure error
	s := create(t, &session.Options{Hooks: []session.Hooks{{
		BeforeCall: func(context.Context, session.Call) ([]chat.Message, error) {
			cancel()
			<-t.Context().Done() // it does not listen
			return nil, nil
		},
		Failed: func(f session.HookFailure) { failure = f.Err },
	}}})
	say(t, s, user("u"))
	_, _ = s.Next(ctx)
	if !errors.Is(failure, context.Canceled) {
		t.Errorf("the hook failed with %v", failure)
	}
}

// script writes a program that answers with a text.
func script(t *testing.T, body string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "hook.sh")
	must(t, os.WriteFile(path, []byte("#!/bin/sh\n"+body), 0o700))
	return path
}

func TestCommandHooks(t *testing.T) {
	seen := filepath.Join(t.TempDir(), "seen.json")
	for _, c := range []struct {
		name, on, body string
		timeout        time.Duration
		want           string // in the view
		err            error
	}{
		{"supplies", "before_compact", `cat > ` + seen + `; echo '{"summary":"From a script."}'`, 0, "From a script.", nil},
		{"cancels", "before_compact", `cat >/dev/null; echo '{"cancel":true}'`, 0, "", session.ErrCancelled},
		{"says nothing", "before_compact", `cat >/dev/null`, 0, "", nil},
		{"reads nothing", "before_compact", `exit 0`, 0, "", nil},
		{"fails", "before_compact", `echo '{"cancel":true}'; exit 3`, 0, "", nil},
		{"talks nonsense", "before_compact", `echo hello`, 0, "", nil},
		{"hangs", "before_compact", `sleep 600`, 100 * time.Millisecond, "", nil},
		{"after fails", "after_compact", `exit 1`, 0, "", nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			hook := session.Command{On: c.on, Run: []string{script(t, c.body)}, Timeout: c.timeout}
			s := create(t, &session.Options{Live: func(string, string) session.Live {
				return session.Live{Settings: winnow.Settings{Window: 12_000, OutputReserve: 1000, KeepRecent: 1500, Systems: winnow.Systems{Reserve: 500}}, Hooks: []session.Command{hook}}
			}})
			say(t, s, user("look"), chat.CallMessage("", chat.Call("c", "bash", "make all")), chat.ResultMessage("c", strings.Repeat("b", 9000)), answer("long"))
			turns(t, s, 0, 12, 2500)
			start := time.Now()
			_, err := s.Compact(t.Context(), "look")
			if !errors.Is(err, c.err) || (err == nil) != (c.err == nil) {
				t.Fatalf("error %v, want %v", err, c.err)
			}
			if d := time.Since(start); d > 5*time.Minute {
				t.Errorf("it took %v", d)
			}
			if !strings.Contains(words(t, s), c.want) {
				t.Errorf("the view has no %q", c.want)
			}
		})
	}
	data, err := os.ReadFile(seen)
	must(t, err)
	for _, want := range []string{`"event":"before_compact"`, `"reason":"manual"`, `"focus":"look"`, `"first_kept":"`, `"conversation":"`, `"session":"`, `bash(make all)`} {
		if !strings.Contains(string(data), want) {
			t.Errorf("the question has no %s", want)
		}
	}
	if !strings.Contains(string(data), strings.Repeat("b", 2000)) || strings.Contains(string(data), strings.Repeat("b", 2001)) {
		t.Error("a long result has not its first 2,000 characters")
	}
}
