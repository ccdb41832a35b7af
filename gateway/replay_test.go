package gateway_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/winnow-llm/winnow"
	"github.com/winnow-llm/winnow/chat"
	"github.com/winnow-llm/winnow/gateway"
	"github.com/winnow-llm/winnow/internal/kit/agentclient"
	"github.com/winnow-llm/winnow/internal/kit/longrun"
	"github.com/winnow-llm/winnow/internal/kit/providersim"
	"github.com/winnow-llm/winnow/internal/kit/providersim/simtest"
	"github.com/winnow-llm/winnow/internal/kit/race"
	"github.com/winnow-llm/winnow/internal/kit/replaygen"
	"github.com/winnow-llm/winnow/internal/o200k"
	"github.com/winnow-llm/winnow/transport"
	"github.com/winnow-llm/winnow/wire"
)

// exactly counts as the vocabulary does, so that what the gateway says fits must
// fit by a true count and not by one that is made as its own.
func exactly(text []byte) int { return o200k.Count(string(text)) }

// replay is a session that a client sends again, request by request, the whole
// history each time.
type replay struct {
	d       wire.Dialect
	model   string
	request chat.Request
	from    int    // the first message that is answered
	most    int    // requests
	marks   int    // cache markers that were sent
	body    []byte // the last one
}

// tally is what came of a replay. Mended are requests that were answered after
// the provider had called them too long, broken those that no provider takes as they came.
type tally struct{ sent, answered, cannotFit, mended, broken, plans, rewrites int }

func (y tally) String() string {
	return fmt.Sprintf("%d of %d answered, %d whose floor does not fit, %d mended, %d plans, %d rewrites", y.answered, y.sent, y.cannotFit, y.mended, y.plans, y.rewrites)
}

// requests sends every request of the session, to one address after the other,
// and calls each with its answer, until that returns false.
func (p *replay) requests(t testing.TB, urls []string, each func(i, status int, text []byte) bool) {
	t.Helper()
	path := (&agentclient.Client{Dialect: p.d, Model: p.model}).Path()
	h := p.request.History
	sent := 0
	for i, m := range h.All() {
		if i < max(1, p.from) || m.Role != chat.Assistant || h.At(i-1).Role == chat.Assistant || sent >= p.most {
			continue
		}
		body, err := wire.Render(p.d, p.model, p.request, h.Head(i))
		if err != nil {
			t.Fatal(err)
		}
		if p.d == wire.Anthropic {
			body = withMarks(t, body)
			p.marks += bytes.Count(body, []byte(mark))
		}
		p.body = body
		resp, err := http.Post(urls[sent%len(urls)]+path, "application/json", bytes.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		text, err := io.ReadAll(resp.Body)
		resp.Body.Close()
		if err != nil {
			t.Fatal(err)
		}
		sent++
		if !each(i, resp.StatusCode, text) {
			break
		}
	}
}

// alone sends the session to a provider without a gateway, until it is refused:
// for its length, or because the recorded session is not one that a provider
// takes as it is.
func (p *replay) alone(t testing.TB, window int) (answered int, refused wire.Kind) {
	t.Helper()
	_, bare, _ := simtest.Start(t, providersim.Options{Seed: 3, Window: window, Count: exactly})
	p.requests(t, []string{bare}, func(_, status int, text []byte) bool {
		if status == http.StatusOK {
			answered++
			return true
		}
		refused = wire.Classify(status, nil, text).Kind
		return false
	})
	return answered, refused
}

// mark is a cache marker, as clients of Anthropic's put them on the newest
// messages and take them off the older ones.
const mark = `"cache_control":{"type":"ephemeral"},`

// withMarks puts markers on the last two messages.
func withMarks(t testing.TB, body []byte) []byte {
	t.Helper()
	var doc struct{ Messages []json.RawMessage }
	if err := json.Unmarshal(body, &doc); err != nil {
		t.Fatal(err)
	}
	for _, m := range doc.Messages[max(0, len(doc.Messages)-2):] {
		if at := bytes.Index(m, []byte(`"content":[{`)); at >= 0 {
			at += len(`"content":[{`)
			marked := slices.Concat(m[:at], []byte(mark), m[at:])
			body = bytes.Replace(body, m, marked, 1)
		}
	}
	if !json.Valid(body) {
		t.Fatalf("no JSON any more: %.300s", body)
	}
	return body
}

// unmarked is the messages' span of a body, cache markers aside.
func unmarked(t testing.TB, body []byte) string {
	t.Helper()
	return strings.ReplaceAll(simtest.Span(t, body), mark, "")
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

// through replays a session through a gateway and checks what must hold: every
// request is answered, save those whose floor does not fit; the provider refuses
// no other; and unless a plan was made for it, each request sent extends the one
// before, byte for byte.
func through(t *testing.T, p *replay, window int) tally {
	t.Helper()
	s, upstream, got := simtest.Start(t, providersim.Options{Seed: 3, Window: window, Count: exactly})
	g, url := start(t, gateway.Options{Upstreams: everywhere(upstream), Transport: transport.Options{Settings: winnow.Settings{Window: window}}})
	return p.through(t, []string{url}, g.Stats, s, got)
}

// through replays the session through gateways at these addresses, one after the
// other, whose counts added up are stats.
func (p *replay) through(t *testing.T, urls []string, stats func() transport.Stats, s *providersim.Server, got *simtest.Bodies) tally {
	t.Helper()
	var y tally
	var was transport.Stats
	refused, before := 0, ""
	p.requests(t, urls, func(i, status int, text []byte) bool {
		now := stats()
		cannot := now.CannotFit > was.CannotFit
		broken := status == http.StatusBadRequest && len(wire.Validate(p.d, p.body)) > 0
		y.sent++
		if n := s.Report().Refused; n > refused {
			refused = n
			if now.Recovered > was.Recovered {
				y.mended++
			}
			if !cannot && !broken {
				t.Errorf("the request before message %d was refused: %v", i, s.Report().RefusedBy)
			}
		}
		switch {
		case status == http.StatusOK:
			y.answered++
		case cannot:
			y.cannotFit++
		case broken:
			y.broken++
		default:
			t.Fatalf("request before message %d: %d %.400s\n%+v", i, status, text, now)
		}
		sent := unmarked(t, got.Last())
		if !strings.HasPrefix(sent, before) {
			y.rewrites++
			if now.Plans == was.Plans && !cannot && !broken {
				t.Errorf("the request before message %d is sent otherwise than the one before it, at %d of %d, without a new plan", i, differ(before, sent), len(before))
			}
		}
		before, was = sent, now
		return true
	})
	y.plans = int(was.Plans)
	if y.answered+y.cannotFit+y.broken != y.sent || was.Failed+was.Invalid+was.Unreadable+was.StoreFails > 0 {
		t.Errorf("%v; refused %v; %+v", y, s.Report().RefusedBy, was)
	}
	return y
}

// TestReplay sends generated sessions through the gateway at three windows in
// every dialect, and the same without it.
func TestReplay(t *testing.T) {
	t.Parallel()
	for _, size := range []struct{ window, requests, from int }{{16_000, 50, 0}, {64_000, 110, 60}, {200_000, 300, 490}} {
		if !longrun.Asked() && size.window > 16_000 {
			continue
		}
		session := replaygen.Session(uint64(size.window), replaygen.Options{Requests: size.requests})
		for _, d := range wire.Dialects() {
			t.Run(fmt.Sprintf("%s/%d", d, size.window), func(t *testing.T) {
				p := &replay{d: d, model: models[d], request: plain(session.Request()), from: size.from, most: 80}
				y := through(t, p, size.window)
				if y.plans == 0 || y.cannotFit > 0 || (d == wire.Anthropic) != (p.marks > 0) {
					t.Errorf("%v, %d cache markers", y, p.marks)
				}
				alone, refused := p.alone(t, size.window)
				if refused != wire.KindOverflow {
					t.Errorf("without the gateway nothing overflows, but %q: the session is too short", refused)
				}
				t.Logf("with the gateway %v; without it %d of %d before it overflows", y, alone, y.sent)
			})
		}
	}
}

// TestReplayTight does the same where the system prompt leaves little of the
// window: still every request is answered and none refused, and a rewrite lasts
// for some requests, unless there is room for hardly more than one. Each size is
// tried in two dialects; in a long run, in all.
func TestReplayTight(t *testing.T) {
	t.Parallel()
	const window = 16_000
	for i, system := range []int{9_000, 11_000, 12_000} {
		session := replaygen.Session(uint64(system), replaygen.Options{Requests: 60, System: system, Growth: 300})
		for k, d := range driveDialects() {
			if !longrun.Asked() && !race.Enabled && (i+k)%2 == 1 {
				continue
			}
			t.Run(fmt.Sprintf("%s/%d", d, system), func(t *testing.T) {
				y := through(t, &replay{d: d, model: models[d], request: plain(session.Request()), most: 60}, window)
				if y.plans == 0 || y.cannotFit > 0 || system < 12_000 && y.rewrites > y.sent/3 {
					t.Error(y)
				}
				t.Log(y)
			})
		}
	}
}
