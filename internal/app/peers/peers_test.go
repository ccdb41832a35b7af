package peers_test

import (
	"bytes"
	"context"
	"encoding/json"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/winnow-llm/winnow"
	"github.com/winnow-llm/winnow/chat"
	"github.com/winnow-llm/winnow/internal/app/peers"
	"github.com/winnow-llm/winnow/internal/app/replay"
	"github.com/winnow-llm/winnow/internal/kit/replaygen"
)

// generated returns sessions of as many sources.
func generated(n int, o replaygen.Options) *replay.Data {
	d := &replay.Data{Fingerprint: "generated"}
	for i := range n {
		s := replaygen.Session(uint64(i+1), o)
		d.Sessions = append(d.Sessions, replay.Session{Session: s, File: s.ID, Source: s.ID})
	}
	return d
}

// The same sessions give the same board on any number of workers.
func TestDeterministic(t *testing.T) {
	d := generated(3, replaygen.Options{Requests: 60, Growth: 700})
	var boards [2][]byte
	for i, workers := range []int{1, 3} {
		b, err := replay.Run(t.Context(), d, &replay.Options{Policies: peers.Policies(), Windows: []int{16000}, Crew: replay.Crew{Workers: workers}})
		if err != nil {
			t.Fatal(err)
		}
		var out bytes.Buffer
		if err := json.NewEncoder(&out).Encode(b); err != nil {
			t.Fatal(err)
		}
		if err := b.Markdown(&out, replay.Made{Date: "today"}); err != nil {
			t.Fatal(err)
		}
		boards[i] = out.Bytes()
	}
	if !bytes.Equal(boards[0], boards[1]) {
		t.Error("one worker and three gave different boards")
	}
}

// Every policy in every table: what is sent ends with the newest message, is
// never empty, and repeats pointers for what did not change.
func TestPolicies(t *testing.T) {
	s := replaygen.Session(7, replaygen.Options{Requests: 80, Growth: 800})
	d := &replay.Data{Sessions: []replay.Session{{Session: s, File: "generated", Source: "generated"}}}
	var policies []replay.Policy
	seen := map[string]bool{}
	for _, p := range peers.Policies() {
		if seen[p.Name] {
			t.Errorf("two policies are called %s", p.Name)
		}
		seen[p.Name] = true
		policies = append(policies, check(t, p))
	}
	b, err := replay.Run(t.Context(), d, &replay.Options{Policies: policies, Windows: []int{20000}})
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range policies {
		r := b.Row(p.Name, 20000)
		if r == nil || r.Requests != 80 {
			t.Fatalf("%s: %+v", p.Name, r)
		}
		if p.Name == "none" && (r.Rewrites != 0 || r.Invalid != 0 || r.Overflows == 0) {
			t.Errorf("none: %+v", r)
		}
		if replay.IsOurs(p.Name) && (r.Invalid != 0 || r.Overflows != 0 || r.Failed != 0 || r.Rewrites == 0) {
			t.Errorf("%s: %+v", p.Name, r)
		}
	}
}

// check looks at what a policy sends.
func check(t *testing.T, p replay.Policy) replay.Policy {
	checked := p
	checked.Begin = func(s replay.Setup) (replay.Step, error) {
		next, err := p.Begin(s)
		return func(ctx context.Context, h chat.History, idle time.Duration) (replay.Sent, error) {
			sent, err := next(ctx, h, idle)
			if len(sent.Messages) == 0 || slices.Contains(sent.Messages, nil) {
				t.Errorf("%s sent nothing, or nil, at message %d", p.Name, h.Len())
			}
			return sent, err
		}, err
	}
	return checked
}

func TestByName(t *testing.T) {
	p, err := peers.ByName("winnow", "Sliding window")
	if err != nil {
		t.Fatal(err)
	}
	if len(p) != 2 {
		t.Errorf("%d policies", len(p))
	}
	if _, err := peers.ByName("nobody"); err == nil || !strings.Contains(err.Error(), "winnow-thrifty") {
		t.Errorf("an unknown name: %v", err)
	}
}

// The row "winnow" is the engine with nothing set: what the library, the
// gateway and sessions run then.
func TestNothingSet(t *testing.T) {
	p, err := peers.ByName("winnow")
	if err != nil || len(p) != 1 {
		t.Fatalf("%d policies, %v", len(p), err)
	}
	o := &replay.Options{Policies: append(p, replay.Ours("winnow again", winnow.Settings{})), Windows: []int{20000}}
	b, err := replay.Run(t.Context(), generated(1, replaygen.Options{Requests: 80}), o)
	if err != nil {
		t.Fatal(err)
	}
	row, same := b.Row("winnow", 20000), b.Row("winnow again", 20000)
	same.Policy = row.Policy
	if !reflect.DeepEqual(row, same) || row.Rewrites == 0 || !replay.IsOurs(p[0].Name) {
		t.Errorf("%+v is not %+v", row, same)
	}
}
