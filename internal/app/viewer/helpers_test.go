package viewer

import (
	"context"
	"fmt"
	"regexp"
	"strings"
	"testing"
	"time"
	"unicode"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"
	"github.com/winnow-llm/winnow"
	"github.com/winnow-llm/winnow/chat"
	"github.com/winnow-llm/winnow/internal/app/demo"
	"github.com/winnow-llm/winnow/internal/app/termsafe"
	"github.com/winnow-llm/winnow/session"
)

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// fixed is the clock of the tests.
func fixed() time.Time { return time.Date(2026, 11, 15, 12, 0, 0, 0, time.UTC) }

// imported returns a session of a request.
func imported(t testing.TB, req chat.Request, set winnow.Settings) *session.Session {
	t.Helper()
	s, err := session.Import(context.Background(), session.NewMemory(), session.Header{ID: "019a8c1f", Time: fixed()}, req, &session.Options{Settings: set, Now: fixed, Manual: true})
	must(t, err)
	t.Cleanup(func() { s.Close() })
	return s
}

// atWork is the long session of the demonstration in a small window.
func atWork(t testing.TB) *session.Session {
	t.Helper()
	return imported(t, demo.Request(), winnow.Settings{Model: demo.Model, Window: 60000})
}

// small is a session of a few turns with branches, a label, and things that
// must not reach a terminal.
func small(t testing.TB) *session.Session {
	t.Helper()
	ctx := context.Background()
	s := imported(t, chat.Request{System: []chat.Part{{Text: "You tend a garden."}}}, winnow.Settings{Window: 4000, OutputReserve: 1000, KeepRecent: 300, Systems: winnow.Systems{PruneProtect: 200, PruneMin: 50, Stages: []string{"prune"}}})
	turn := func(n int, ask, answer, result string) []string {
		ids, err := s.Append(ctx,
			chat.TextMessage(chat.User, ask),
			chat.CallMessage("I will look.", chat.Call(fmt.Sprintf("call%d", n), "read_file", fmt.Sprintf(`{"path":"beds/%d.txt","limit":40}`, n))),
			chat.ResultMessage(fmt.Sprintf("call%d", n), result),
			chat.TextMessage(chat.Assistant, answer))
		must(t, err)
		return ids
	}
	soil := strings.Repeat("row of beans, watered on Tuesday, 14 plants, error: slugs in beds/1.txt:7\n", 40)
	first := turn(1, "Water the beans.", "The beans are watered.", soil)
	turn(2, "And the roses?", "The roses have 世界 labels and \x1b[31mred\x1b[0m blooms.", soil)
	must(t, s.Label(ctx, first[3], "beans done"))
	_, err := s.Navigate(ctx, first[3], session.NavigateOptions{})
	must(t, err)
	turn(3, "Prune the hedge instead.", "The hedge is pruned\u202e, says \U0001f9d1\u200d\U0001f33e.", soil)
	return s
}

// viewing is a viewer in a test.
type viewing struct {
	*Model
	t testing.TB
}

func view(t testing.TB, s *session.Session, o Options, cols, rows int) *viewing {
	t.Helper()
	m := New(context.Background(), s, o)
	t.Cleanup(m.Stop)
	m.drive(tea.WindowSizeMsg{Width: cols, Height: rows})
	m.settle(m.Init())
	return &viewing{m, t}
}

// keys presses keys one after the other.
func (v *viewing) keys(keys ...string) *viewing {
	v.t.Helper()
	for _, k := range keys {
		v.press(k)
		v.whole()
	}
	return v
}

func (v *viewing) resize(cols, rows int) *viewing {
	v.t.Helper()
	v.drive(tea.WindowSizeMsg{Width: cols, Height: rows})
	v.whole()
	return v
}

var anID = regexp.MustCompile(`\b[0-9a-f]{8}\b`)

// screen returns the lines without colours, and with ids made equal.
func (v *viewing) screen() string {
	s := ansi.Strip(v.View().Content)
	return anID.ReplaceAllString(s, "xxxxxxxx")
}

// whole checks that the screen is exactly as large as it should be and holds
// nothing that a terminal would obey, save colours.
func (v *viewing) whole() {
	v.t.Helper()
	content := v.View().Content
	lines := strings.Split(content, "\n")
	if len(lines) != max(v.height, 1) && v.height >= 3 {
		v.t.Fatalf("%d lines on a screen of %d:\n%s", len(lines), v.height, ansi.Strip(content))
	}
	for n, l := range lines {
		if w := ansi.StringWidthWc(l); w > max(v.width, 8) {
			v.t.Fatalf("line %d is %d wide on a screen of %d: %q", n, w, v.width, l)
		}
		if bad := badControl(l); bad != "" {
			v.t.Fatalf("line %d has %s: %q", n, bad, l)
		}
	}
}

var colour = regexp.MustCompile("\x1b\\[[0-9;]*m")

// badControl names what a line must not hold.
func badControl(l string) string {
	for _, r := range colour.ReplaceAllString(l, "") {
		if termsafe.Hidden(r) || unicode.In(r, unicode.Cc, unicode.Cf, unicode.Zl, unicode.Zp) {
			return fmt.Sprintf("%U", r)
		}
	}
	return ""
}

func (v *viewing) has(want ...string) *viewing {
	v.t.Helper()
	for _, w := range want {
		if !strings.Contains(v.screen(), w) {
			v.t.Fatalf("%q is not on the screen:\n%s", w, v.screen())
		}
	}
	return v
}

func (v *viewing) hasNot(unwanted ...string) *viewing {
	v.t.Helper()
	for _, w := range unwanted {
		if strings.Contains(v.screen(), w) {
			v.t.Fatalf("%q is on the screen:\n%s", w, v.screen())
		}
	}
	return v
}
