package gateway_test

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/winnow-llm/winnow"
	"github.com/winnow-llm/winnow/chat"
	"github.com/winnow-llm/winnow/gateway"
	"github.com/winnow-llm/winnow/internal/agentclient"
	"github.com/winnow-llm/winnow/internal/corpus"
	"github.com/winnow-llm/winnow/internal/providersim"
	"github.com/winnow-llm/winnow/internal/replaygen"
	"github.com/winnow-llm/winnow/transcript"
	"github.com/winnow-llm/winnow/transport"
	"github.com/winnow-llm/winnow/wire"
)

// replay is a session that a client sends again, request by request, the whole
// history each time.
type replay struct {
	d       wire.Dialect
	model   string
	request chat.Request
	from    int // the first message that is answered
	most    int // requests
}

// tally is what came of a replay.
type tally struct{ sent, answered, cannotFit, plans, rewrites int }

func (y tally) String() string {
	return fmt.Sprintf("%d of %d answered, %d whose floor does not fit, %d plans, %d rewrites", y.answered, y.sent, y.cannotFit, y.plans, y.rewrites)
}

// run sends every request of a session.
func (p *replay) run(t testing.TB, url string, stats func() transport.Stats) tally {
	t.Helper()
	var y tally
	path := (&agentclient.Client{Dialect: p.d, Model: p.model}).Path()
	h := p.request.History
	for i, m := range h.All() {
		if i < max(1, p.from) || m.Role != chat.Assistant || h.At(i-1).Role == chat.Assistant || y.sent >= p.most {
			continue
		}
		body, err := wire.Render(p.d, p.model, p.request, h.Head(i))
		if err != nil {
			t.Fatal(err)
		}
		var before transport.Stats
		if stats != nil {
			before = stats()
		}
		resp, err := http.Post(url+path, "application/json", bytes.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		text, err := io.ReadAll(resp.Body)
		resp.Body.Close()
		if err != nil {
			t.Fatal(err)
		}
		y.sent++
		switch {
		case resp.StatusCode == http.StatusOK:
			y.answered++
		case stats == nil:
			return y
		case stats().CannotFit > before.CannotFit:
			y.cannotFit++
		default:
			t.Fatalf("request before message %d: %d %.400s\n%+v", i, resp.StatusCode, text, stats())
		}
	}
	return y
}

// plain is a request without thinking, whose signatures no provider here made,
// and with everything answered.
func plain(r chat.Request) chat.Request {
	var out []chat.Message
	for _, m := range r.History.All() {
		n := *m
		n.Parts = nil
		for _, p := range m.Parts {
			if p.Kind != chat.Thinking && p.Kind != chat.Opaque {
				p.Signature = ""
				n.Parts = append(n.Parts, p)
			}
		}
		if len(n.Parts) > 0 {
			out = append(out, n)
		}
	}
	r.History = chat.NewHistory(out...)
	r.Output = 1024
	return r
}

var models = map[wire.Dialect]string{wire.OpenAI: "gpt-4.1", wire.Responses: "gpt-5.4", wire.Anthropic: "claude-sonnet-4-5", wire.Gemini: "gemini-2.5-pro"}

// through replays a session through a gateway and checks what must hold.
func through(t *testing.T, p *replay, window int) tally {
	t.Helper()
	s, upstream, got := sim(t, providersim.Options{Seed: 3, Window: window})
	g, url := start(t, gateway.Options{Upstreams: everywhere(upstream), Transport: transport.Options{Settings: winnow.Settings{Window: window}}})
	y := p.run(t, url, g.Stats)
	stats := g.Stats()
	y.plans = int(stats.Plans)
	before := ""
	for _, r := range got.list() {
		now := span(t, r.body)
		if !strings.HasPrefix(now, before) {
			y.rewrites++
		}
		before = now
	}
	if y.rewrites > y.plans+y.cannotFit {
		t.Errorf("what is sent changed %d times for %d plans", y.rewrites, y.plans)
	}
	refused := s.Report().Refused - y.cannotFit
	if y.answered+y.cannotFit != y.sent || refused > int(stats.Recovered) || stats.Failed+stats.Invalid+stats.Unreadable+stats.StoreFails > 0 {
		t.Errorf("%v; refused %v; %+v", y, s.Report().RefusedBy, stats)
	}
	return y
}

// TestReplay sends generated sessions through the gateway at three windows in
// every dialect, and the same without it.
func TestReplay(t *testing.T) {
	for _, size := range []struct{ window, requests, from int }{{16_000, 50, 0}, {64_000, 110, 60}, {200_000, 300, 490}} {
		if testing.Short() && size.window > 16_000 {
			continue
		}
		session := replaygen.Session(uint64(size.window), replaygen.Options{Requests: size.requests})
		for _, d := range wire.Dialects() {
			t.Run(fmt.Sprintf("%s/%d", d, size.window), func(t *testing.T) {
				p := &replay{d: d, model: models[d], request: plain(session.Request()), from: size.from, most: 80}
				y := through(t, p, size.window)
				if y.plans == 0 || y.cannotFit > y.sent/10 {
					t.Errorf("%v", y)
				}
				_, bare, _ := sim(t, providersim.Options{Seed: 3, Window: size.window})
				alone := p.run(t, bare, nil)
				if alone.answered == alone.sent {
					t.Error("without the gateway nothing overflows: the session is too short")
				}
				t.Logf("with the gateway %v; without it %d of %d before it overflows", y, alone.answered, y.sent)
			})
		}
	}
}

// TestReplayCorpus does the same with real sessions, where they are at hand.
func TestReplayCorpus(t *testing.T) {
	dir := corpus.Dir(t)
	if testing.Short() {
		t.Skip("takes a while")
	}
	files, err := corpus.Sessions(filepath.Join(dir, "sessions"))
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for _, file := range files {
		info, err := os.Stat(file)
		if err != nil || info.Size() < 300_000 || info.Size() > 1_500_000 {
			continue
		}
		sessions, err := transcript.ReadFile(file, nil)
		if err != nil {
			continue
		}
		for i := range sessions {
			s := &sessions[i]
			if s.History.Len() < 40 || n >= 12 {
				continue
			}
			d := wire.Dialects()[n%4]
			window := []int{16_000, 64_000, 200_000}[n%3]
			n++
			t.Run(fmt.Sprintf("%s/%d/%s", d, window, filepath.Base(file)), func(t *testing.T) {
				t.Log(through(t, &replay{d: d, model: models[d], request: plain(s.Request()), most: 60}, window))
			})
			break
		}
	}
	if n == 0 {
		t.Error("no session was replayed")
	}
}
