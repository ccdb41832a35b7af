package transport_test

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/winnow-llm/winnow"
	"github.com/winnow-llm/winnow/internal/planstore"
	"github.com/winnow-llm/winnow/transport"
	"github.com/winnow-llm/winnow/wire"
)

// The tests of this file hold rows of docs/rows.md that the others of this package
// only touch; scripts/mutate takes each row's feature out and runs them.

// oddly is a conversation of n turns in a form that no program of ours writes: odd
// spaces, keys in another order, members that nobody knows.
func oddly(n int) []string {
	var m []string
	for i := range n {
		m = append(m,
			fmt.Sprintf(`{ "x_trace":%d.0e0,  "content" : "Question %d about the parser: \u00e9t\u00e9 \/ %s" ,"role":"user"}`, i, i, strings.Repeat("some words ", 20)),
			fmt.Sprintf("{\"role\" :\t\"assistant\",\"content\":\"Answer %d. %s\",\"x_seen\":[ 1,2 ,%d ]}", i, strings.Repeat("more words ", 120), i))
	}
	return m
}

func oddBody(messages []string) []byte {
	return []byte("{ \"model\":\"gpt-4o\" ,\n\"messages\" : [ " + strings.Join(messages, " ,\n ") + " ], \"x_last\" : null }")
}

// Messages that no edit touches are sent as the bytes that came, in the middle of a
// body that was compacted: B5.
func TestUntouchedMessagesKeepTheirBytes(t *testing.T) {
	var sent []byte
	up := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		sent, _ = io.ReadAll(r.Body)
		fmt.Fprint(w, `{}`)
	}))
	defer up.Close()
	m := append(oddly(60), `{"role":"user" , "content":"And now?"}`)
	body := oddBody(m)
	tr := newTransport(t, transport.Options{Settings: winnow.Settings{Window: 8000, OutputReserve: 500, Economy: winnow.EconomyOff}})
	resp, _ := post(t, tr, up.URL+"/v1/chat/completions", body)
	if resp.Header.Get(transport.HeaderPlan) == "" || len(sent) >= len(body) {
		t.Fatalf("%d bytes became %d under plan %q", len(body), len(sent), resp.Header.Get(transport.HeaderPlan))
	}
	// The newest messages are one run of the bytes that came, to the body's end.
	end := body[bytes.Index(body, []byte(m[len(m)-7])):]
	if !bytes.HasSuffix(sent, end) {
		t.Errorf("the last messages are not the bytes that came:\n%.300s", sent[max(0, len(sent)-len(end)):])
	}
}

// Some clients count calls anew in every turn, and Anthropic refuses an id that comes
// again. The later call and its result get another id below the trigger too, in the
// same bytes each time; everything else is sent as it came.
func TestRepeatedIDsAreRenamed(t *testing.T) {
	var sent []byte
	up := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		sent, _ = io.ReadAll(r.Body)
		fmt.Fprint(w, `{}`)
	}))
	defer up.Close()
	call := `{"role":"assistant", "content":[{"type":"tool_use","id":"call_0","name":"ls","input":{ }}]}`
	result := ` {"role":"user","content":[{"tool_use_id":"call_0","type":"tool_result","content":"a.go","x":1}]}`
	first := `{"model":"claude-sonnet-4-5","max_tokens":100,"messages":[{"role":"user","content":"List it."},` + call + `,` + result
	body := first + `,` + call + `,` + result
	want := first + `,` + strings.Replace(call, "call_0", "call_0_2", 1) + `,` + strings.Replace(result, "call_0", "call_0_2", 1)
	tr := newTransport(t, transport.Options{})
	for _, more := range []string{`]}`, `,{"role":"assistant","content":"Done."},{"role":"user","content":"And now?"}]}`} {
		resp, _ := post(t, tr, up.URL+"/v1/messages", []byte(body+more))
		if string(sent) != want+more || len(wire.Validate(wire.Anthropic, sent)) > 0 || resp.Header.Get(transport.HeaderPlan) != "" {
			t.Errorf("sent is\n%s\nand not\n%s", sent, want+more)
		}
	}
}

// A process that has never seen a conversation finds its plan by the messages alone,
// also where the caller goes on from the middle, and sends the same bytes before
// what is new: B6.
func TestPlansAreFoundByMessages(t *testing.T) {
	var sent []byte
	up := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		sent, _ = io.ReadAll(r.Body)
		fmt.Fprint(w, `{}`)
	}))
	defer up.Close()
	o := transport.Options{Store: planstore.NewMemory(planstore.Bounds{}), Settings: winnow.Settings{Window: 8000, OutputReserve: 500, Economy: winnow.EconomyOff}}
	m := append(oddly(60), `{"role":"user" , "content":"And now?"}`)
	first, _ := post(t, newTransport(t, o), up.URL+"/v1/chat/completions", oddBody(m))
	plan := first.Header.Get(transport.HeaderPlan)
	end := bytes.LastIndex(sent, []byte(`"And now?"`))
	if plan == "" || end < 0 {
		t.Fatalf("no plan: %.200s", sent)
	}
	before := sent[:end]
	for _, c := range []struct {
		name string
		m    []string
		same bool
	}{
		{"it goes on", append(m[:len(m):len(m)], `{"role":"assistant","content":"This."}`, `{"role":"user","content":"Why?"}`), true},
		{"it goes on in another way", append(m[:len(m):len(m)], `{"role":"assistant","content":"That."}`, `{"role":"user","content":"How?"}`), true},
		{"another beginning", append([]string{`{"role":"user","content":"Something else."}`}, m[1:]...), false},
	} {
		resp, _ := post(t, newTransport(t, o), up.URL+"/v1/chat/completions", oddBody(c.m))
		if got := resp.Header.Get(transport.HeaderPlan); (got == plan) != c.same || bytes.HasPrefix(sent, before) != c.same {
			t.Errorf("%s: plan %q after %q, the same bytes: %v", c.name, got, plan, bytes.HasPrefix(sent, before))
		}
	}
}
