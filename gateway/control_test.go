package gateway_test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"net/http"
	"path/filepath"
	"strings"
	"testing"

	"github.com/winnow-llm/winnow"
	"github.com/winnow-llm/winnow/control"
	"github.com/winnow-llm/winnow/gateway"
	"github.com/winnow-llm/winnow/internal/kit/agentclient"
	"github.com/winnow-llm/winnow/internal/kit/providersim"
	"github.com/winnow-llm/winnow/internal/kit/providersim/simtest"
	"github.com/winnow-llm/winnow/recall"
	"github.com/winnow-llm/winnow/transport"
	"github.com/winnow-llm/winnow/transport/planstore/sqlite"
	"github.com/winnow-llm/winnow/wire"
)

const alice, bob = "Bearer alice", "Bearer bob"

// board is a gateway with its control interface, as one caller sees it.
type board struct {
	url  string
	auth []string
}

func (b board) get(t *testing.T, path string, to any) int {
	t.Helper()
	status, text := get(t, b.url+path, b.auth...)
	if to != nil && status == http.StatusOK {
		if err := json.Unmarshal([]byte(text), to); err != nil {
			t.Fatalf("%s: %v in %s", path, err, text)
		}
	}
	return status
}

func (b board) act(t *testing.T, id, what, body string, to any) (int, string) {
	t.Helper()
	resp, text := ask(t, http.MethodPost, b.url+"/winnow/conversations/"+id+"/"+what, body, append([]string{"Content-Type", "application/json"}, b.auth...)...)
	if to != nil && resp.StatusCode == http.StatusOK {
		if err := json.Unmarshal([]byte(text), to); err != nil {
			t.Fatalf("%s: %v in %s", what, err, text)
		}
	}
	return resp.StatusCode, text
}

// only returns the one conversation that a caller has.
func (b board) only(t *testing.T) control.Conversation {
	t.Helper()
	var list struct{ Conversations []control.Conversation }
	if status := b.get(t, "/winnow/conversations", &list); status != http.StatusOK || len(list.Conversations) != 1 {
		t.Fatalf("%d: %d conversations", status, len(list.Conversations))
	}
	return list.Conversations[0]
}

// TestControl drives an agent through a gateway and then steers it: the page shows
// the request as sent, and an action holds for the next request, also after a
// restart.
func TestControl(t *testing.T) {
	t.Parallel()
	for _, d := range wire.Dialects() {
		t.Run(string(d), func(t *testing.T) {
			t.Parallel()
			_, upstream, _ := simtest.Start(t, providersim.Options{Seed: 3, Window: window})
			path := filepath.Join(t.TempDir(), "plans.db")
			var end func()
			serve := func() string {
				store, err := sqlite.Open(path, transport.Bounds{})
				if err != nil {
					t.Fatal(err)
				}
				g, url := start(t, gateway.Options{
					Upstreams: everywhere(upstream),
					Transport: transport.Options{Settings: winnow.Settings{Window: window}, Store: store, KeepOriginals: true},
				})
				end = func() {
					g.Close()
					if err := store.Close(); err != nil {
						t.Error(err)
					}
				}
				return url
			}
			url := serve()
			defer func() { end() }()
			c := &agentclient.Client{Dialect: d, URL: url, Header: http.Header{"Authorization": {alice}}, Result: agentclient.Output}
			c.Drive(t, 25, nil)
			b := board{url, []string{"Authorization", alice}}
			conv := b.only(t)
			var det control.Detail
			if status := b.get(t, "/winnow/conversations/"+conv.ID[:8], &det); status != http.StatusOK {
				t.Fatal(status)
			}
			if det.ID != conv.ID || det.Plan == "" || !det.Readable || len(det.Requests) != det.Totals.Requests || len(det.Plans) == 0 || det.Title == "" || det.Next.Say == "" {
				t.Fatalf("%+v, %d requests, plans %+v", det.Conversation, len(det.Requests), det.Plans)
			}
			for _, r := range det.Requests {
				if r.Kinds.Sum() != r.Tokens || r.Tokens <= 0 || r.Available <= 0 || r.CompactAt <= 0 || r.Usage == nil || r.CacheShare == nil {
					t.Fatalf("request %+v", r)
				}
			}
			if last := det.Plans[len(det.Plans)-1]; !last.InForce || last.ID != det.Plan || last.Saved <= 0 || last.Why == "" {
				t.Errorf("the last plan is %+v", last)
			}

			// The patch, and an original behind one of its handles.
			var patch control.Patch
			if status := b.get(t, "/winnow/plans/"+string(det.Plan)+"/patch", &patch); status != http.StatusOK || patch.Saved <= 0 {
				t.Fatalf("%d %+v", status, patch)
			}
			at, handle := 0, ""
			for _, h := range patch.Hunks {
				if h.From > at {
					t.Errorf("messages %d to %d are in no hunk", at, h.From)
				}
				at = max(at, h.To)
				if h.Handle != "" {
					handle = h.Handle
				}
			}
			if at != patch.Messages {
				t.Errorf("the hunks end at %d of %d", at, patch.Messages)
			}
			var page recall.Page
			if status := b.get(t, "/winnow/recall/"+handle+"?lines=3", &page); status != http.StatusOK || len(page.Lines) == 0 {
				t.Errorf("recall %s: %d", handle, status)
			}
			var found recall.Results
			if status := b.get(t, "/winnow/conversations/"+conv.ID+"/search?q=result", &found); status != http.StatusOK {
				t.Errorf("search: %d", status)
			}

			// An action on another plan than the one in force is refused.
			status, text := b.act(t, conv.ID, "undo", `{"plan":"p-other"}`, nil)
			if status != http.StatusConflict || !strings.Contains(text, string(det.Plan)) {
				t.Errorf("undo on another plan: %d %s", status, text)
			}
			if status, _ := b.act(t, conv.ID, "undo", `{}`, nil); status != http.StatusBadRequest {
				t.Errorf("undo on nothing: %d", status)
			}

			// Pin a message that is hidden, take the plan back, compact with a focus.
			var msgs control.Messages
			b.get(t, "/winnow/conversations/"+conv.ID+"/messages", &msgs)
			hidden := -1
			for _, m := range msgs.Messages {
				if m.Shown != "kept" && hidden < 0 && m.Message > 0 {
					hidden = m.Message
				}
			}
			if hidden < 0 || msgs.Total != det.Messages {
				t.Fatalf("message %d is hidden of %d; the conversation has %d", hidden, msgs.Total, det.Messages)
			}
			var done control.Done
			if status, text := b.act(t, conv.ID, "pin", fmt.Sprintf(`{"plan":%q,"message":%d}`, det.Plan, hidden), &done); status != http.StatusOK || done.Conversation.Pins != 1 {
				t.Fatalf("pin: %d %s", status, text)
			}
			if status, _ := b.act(t, conv.ID, "pin", fmt.Sprintf(`{"plan":%q,"message":%d}`, det.Plan, hidden), nil); status != http.StatusUnprocessableEntity {
				t.Errorf("pinned twice: %d", status)
			}
			if status, text := b.act(t, conv.ID, "undo", fmt.Sprintf(`{"plan":%q}`, det.Plan), &done); status != http.StatusOK {
				t.Fatalf("undo: %d %s", status, text)
			}
			if done.Conversation.Waiting != "" { // for the end of the turn, which is here
				if done.Plan != det.Plan {
					t.Errorf("an undo that waits put %s in force", done.Plan)
				}
				c.Say("Stop. What was that about?")
				if _, err := c.Step(t.Context()); err != nil {
					t.Fatal(err)
				}
				b.get(t, "/winnow/conversations/"+conv.ID, &det)
				undo := det.Plans[len(det.Plans)-2]
				if last := det.Plans[len(det.Plans)-1]; last.By == "undo" {
					undo = last
				}
				if undo.By != "undo" || undo.Saved >= 0 || det.Waiting != "" {
					t.Fatalf("the next request did not take it back: %+v, waiting %q", undo, det.Waiting)
				}
				done.Plan = det.Plan
			} else if done.After <= done.Before || done.Plan == det.Plan {
				t.Fatalf("undo: %+v", done)
			}
			undone := done.Plan
			if status, text := b.act(t, conv.ID, "compact", `{"plan":"p-before","focus":"the tests"}`, nil); status != http.StatusConflict {
				t.Errorf("compact on what was taken back: %d %s", status, text)
			}
			if status, text := b.act(t, conv.ID, "compact", fmt.Sprintf(`{"plan":%q,"focus":"the tests"}`, undone), &done); status != http.StatusOK || done.After >= done.Before {
				t.Fatalf("compact: %d %s", status, text)
			}

			// The gateway starts again: the plan holds for the next request, the pin
			// for all that follow.
			end()
			url = serve()
			b.url, c.URL = url, url
			c.Drive(t, 2, nil)
			b.get(t, "/winnow/conversations/"+conv.ID, &det)
			if len(det.Pinned) != 1 || det.Pinned[0].Message != hidden || det.Totals.Requests != len(det.Requests) {
				t.Errorf("after a restart: pins %v, %d requests of %d", det.Pinned, len(det.Requests), det.Totals.Requests)
			}
			first := det.Requests[len(det.Requests)-2]
			if first.Plan != done.Plan && !first.New {
				t.Errorf("the next request was sent under %s, want %s; settled %+v; overflows %d, tries %d", first.Plan, done.Plan, det.Plans[max(0, len(det.Plans)-4):], first.Overflows, first.Status)
			}
			c.Drive(t, 15, nil)
			b.get(t, "/winnow/conversations/"+conv.ID+"/messages", &msgs)
			if m := msgs.Messages[hidden]; m.Shown != "kept" || !m.Pinned {
				t.Errorf("the pinned message is %s", m.Shown)
			}

			// Nobody else sees any of it.
			for _, who := range [][]string{{"Authorization", bob}, nil} {
				o := board{url, who}
				var list struct{ Conversations []control.Conversation }
				if o.get(t, "/winnow/conversations", &list); len(list.Conversations) != 0 {
					t.Errorf("%v sees %v", who, list)
				}
				for _, p := range []string{"/winnow/conversations/" + conv.ID, "/winnow/plans/" + string(det.Plan) + "/patch", "/winnow/recall/" + handle} {
					if status := o.get(t, p, nil); status != http.StatusNotFound && status != http.StatusForbidden {
						t.Errorf("%v sees %s: %d", who, p, status)
					}
				}
				if status, _ := o.act(t, conv.ID, "undo", fmt.Sprintf(`{"plan":%q}`, det.Plan), nil); status != http.StatusNotFound && status != http.StatusForbidden {
					t.Errorf("%v undoes: %d", who, status)
				}
			}
			resp, _ := ask(t, http.MethodDelete, url+"/winnow/conversations/"+conv.ID, "", b.auth...)
			if resp.StatusCode != http.StatusOK || b.get(t, "/winnow/conversations/"+conv.ID, nil) != http.StatusNotFound {
				t.Errorf("deleted: %d", resp.StatusCode)
			}
			if status := b.get(t, "/winnow/recall/"+handle, nil); status != http.StatusNotFound {
				t.Errorf("an original of what was deleted: %d", status)
			}
		})
	}
}

// TestEvents: a reader hears of each request, and one who was away goes on where
// it stopped.
func TestEvents(t *testing.T) {
	_, upstream, _ := simtest.Start(t, providersim.Options{Seed: 3, Window: window})
	_, url := start(t, gateway.Options{Upstreams: everywhere(upstream), Transport: transport.Options{Settings: winnow.Settings{Window: window}}})
	c := &agentclient.Client{Dialect: wire.Anthropic, URL: url, Header: http.Header{"Authorization": {alice}}, Result: agentclient.Output}
	c.Drive(t, 3, nil)
	b := board{url, []string{"Authorization", alice}}
	conv := b.only(t)
	read := func(since string) (*bufio.Scanner, func()) {
		req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url+"/winnow/conversations/"+conv.ID+"/events", nil)
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Authorization", alice)
		if since != "" {
			req.Header.Set("Last-Event-ID", since)
		}
		resp, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		if kind := resp.Header.Get("Content-Type"); kind != "text/event-stream" {
			t.Fatalf("%d %s", resp.StatusCode, kind)
		}
		return bufio.NewScanner(resp.Body), func() { _ = resp.Body.Close() }
	}
	next := func(s *bufio.Scanner) (id, event, data string) {
		for s.Scan() {
			name, value, _ := strings.Cut(s.Text(), ": ")
			switch name {
			case "id":
				id = value
			case "event":
				event = value
			case "data":
				return id, event, value
			}
		}
		t.Fatal("the stream ended")
		return "", "", ""
	}
	s, stop := read("")
	defer stop()
	if _, event, data := next(s); event != "conversation" || !strings.Contains(data, conv.ID) {
		t.Fatalf("%s %s", event, data)
	}
	c.Drive(t, 1, nil)
	id, event, data := next(s)
	var r control.Request
	if err := json.Unmarshal([]byte(data), &r); err != nil || event != "request" || r.N <= conv.Totals.Requests {
		t.Fatalf("%s %s %v", event, data, err)
	}
	late, stop := read(fmt.Sprint(conv.Revision))
	defer stop()
	if again, event, same := next(late); again != id || event != "request" || same != data {
		t.Errorf("who was away hears %s %s %s", again, event, same)
	}
	for {
		_, event, data := next(late)
		if event == "conversation" {
			var now control.Conversation
			if err := json.Unmarshal([]byte(data), &now); err != nil || now.Totals.Requests < r.N {
				t.Errorf("%s %v", data, err)
			}
			break
		}
	}
}
