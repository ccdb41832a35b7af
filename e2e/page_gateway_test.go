package e2e

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// talk is an agent's conversation through a gateway.
type talk struct {
	url, key, model string
	messages        []message
}

// gatewayFor starts a gateway of its own in front of the simulator.
func gatewayFor(t *testing.T) string {
	t.Helper()
	g, _ := gatewayOf(t, window, processes.provider)
	return g.url
}

// gatewayOf starts a gateway for a window in front of a provider, and returns the
// file that it keeps plans in.
func gatewayOf(t *testing.T, window int, provider string, more ...string) (g *process, store string) {
	t.Helper()
	dir := t.TempDir()
	store = filepath.Join(dir, "plans.db")
	g, err := begin(dir, append([]string{
		"serve", "--listen", "127.0.0.1:0", "--window", fmt.Sprint(window), "--store", store, "--keep-originals",
		"--upstream", "openai=" + provider,
	}, more...)...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		closeTabs(t)
		if err := g.end(); err != nil {
			t.Error(err)
		}
	})
	return g, store
}

// turn sends what there is and adds the answer, then what the session says next.
func (c *talk) turn(t *testing.T, script []message) {
	t.Helper()
	c.messages = append(c.messages, script...)
	body, err := json.Marshal(map[string]any{"model": cmp.Or(c.model, "gpt-5"), "messages": c.messages})
	if err != nil {
		t.Fatal(err)
	}
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, c.url+"/v1/chat/completions", bytes.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Authorization", "Bearer "+c.key)
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	text, _ := io.ReadAll(resp.Body)
	if resp.StatusCode != http.StatusOK {
		t.Fatalf("%s %.500s", resp.Status, text)
	}
}

// go on sends the session from message to message: each answer of the assistant
// in it is a request.
func (c *talk) run(t *testing.T, session []message) {
	t.Helper()
	var next []message
	for _, m := range session {
		if m["role"] == "assistant" {
			c.turn(t, next)
			next = nil
		}
		next = append(next, m)
	}
	c.messages = append(c.messages, next...)
}

// enter opens the page with an address that the credential's owner asked for.
func (c *talk) enter(t *testing.T, ctx context.Context) {
	t.Helper()
	do(t, ctx, chromedp.Navigate(c.address(t)))
}

// address asks for one that works once.
func (c *talk) address(t *testing.T) string {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, c.url+"/winnow/address", nil)
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+c.key)
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	text, _ := io.ReadAll(resp.Body)
	if resp.StatusCode != http.StatusOK {
		t.Fatalf("%s %s", resp.Status, text)
	}
	return strings.TrimSpace(string(text))
}

// TestPageOfAGateway looks at a running gateway: what its agents do shows up when
// the reader asks for it, and what is done on the page holds for the agent.
func TestPageOfAGateway(t *testing.T) {
	url := gatewayFor(t)
	alice := &talk{url: url, key: "sk-alice-0123456789abcdef"}
	bob := &talk{url: url, key: "sk-bob-0123456789abcdef"}
	session := work(40, 2)
	alice.run(t, session[:90])
	bob.run(t, []message{{"role": "user", "content": "Bob's own business, which nobody else sees."}, {"role": "assistant", "content": "Yes."}, {"role": "user", "content": "Good."}})

	// Two tenants: each sees their own.
	hers, his, nobody := tab(t), tab(t), tab(t)
	alice.enter(t, hers)
	do(t, hers, shows(".bar"), click(plansTab), shows(".timeline canvas"), shows(".drop"))
	bob.enter(t, his)
	do(t, his, shows(".bar"))
	for who, ctx := range map[string]context.Context{"Rename the field": hers, "Bob's own": his} {
		text := js[string](t, ctx, "document.body.innerText")
		if strings.Contains(text, "Bob's own") != (who == "Bob's own") || strings.Contains(text, "Rename the field") != (who == "Rename the field") {
			t.Errorf("%s: the page shows %.600s", who, text)
		}
	}
	id := js[string](t, hers, "location.hash.split('/')[2]")
	if status := js[int](t, his, "0"); status != 0 {
		t.Fatal(status)
	}
	expect(his, "404")
	js[string](t, his, "location.hash = "+quoted("#/c/"+id))
	until(t, his, "document.querySelector('main').innerText.includes('nothing to show')")
	expect(nobody, "403")
	do(t, nobody, chromedp.Navigate(url+"/winnow/"))
	if text := js[string](t, nobody, "document.body.innerText"); !strings.Contains(text, "works once") || strings.Contains(text, "Rename") {
		t.Errorf("without a cookie the page shows %.300s", text)
	}

	// What comes in is counted, and nothing moves before the reader asks.
	before := js[string](t, hers, "document.querySelector('.overview').innerText")
	alice.run(t, session[90:120])
	until(t, hers, "/[0-9]+ new request/.test(document.querySelector('main .fresh').textContent)")
	if now := js[string](t, hers, "document.querySelector('.overview').innerText"); now != before {
		t.Error("the page changed under its reader")
	}
	do(t, hers, click("main .fresh button"))
	until(t, hers, "document.querySelector('main .fresh').textContent === ''")
	if now := js[string](t, hers, "document.querySelector('.overview').innerText"); now == before {
		t.Error("what is new is not shown when the reader asks for it")
	}

	// Undo, pin and compact with a focus; the next request is sent that way.
	do(t, hers, click(".drop:last-of-type"), shows(".hunk .side.plus"), click(`//button[text()="Show the original"]`), shows(".original .line"))
	until(t, hers, "[...document.querySelectorAll('button')].some(b => b.textContent === 'Undo this compaction')")
	do(t, hers, click(`//button[text()="Undo this compaction"]`))
	until(t, hers, "document.querySelector('.said').textContent !== ''")
	until(t, hers, "document.querySelector('.acts').innerText.includes('was taken back')")
	undone := js[string](t, hers, "document.querySelector('.facts-row .value').textContent")
	compact(t, hers, "the vendor folder")
	until(t, hers, "document.querySelector('.said').textContent.includes('Compacted')")
	if now := js[string](t, hers, "document.querySelector('.facts-row .value').textContent"); now == undone {
		t.Errorf("the next prompt has %s tokens before and after a compaction", now)
	}
	do(t, hers, click(plansTab), shows("#plans-title"))
	plan := js[string](t, hers, "document.querySelector('.rows a').getAttribute('href').split('/')[4]")
	do(t, hers, click(`//a[starts-with(., "Messages")]`), shows("#m3 .pin"), click("#m3 .pin"))
	until(t, hers, "document.querySelector('#m3 .pin').getAttribute('aria-pressed') === 'true'")
	alice.run(t, session[120:126])
	var d struct {
		Plan     string
		Requests []struct{ Plan string }
		Pinned   []struct{ Message int }
	}
	getJSON(t, url+"/winnow/conversations/"+id, http.Header{"Authorization": {"Bearer " + alice.key}}, &d)
	if n := len(d.Requests); n == 0 || d.Requests[n-1].Plan != plan || len(d.Pinned) != 1 || d.Pinned[0].Message != 3 {
		t.Errorf("the request after it was sent under %+v, want plan %s; pins %v", d.Requests[len(d.Requests)-1], plan, d.Pinned)
	}

	// Another one acts on the same conversation meanwhile: no action is lost.
	expect(hers, "409")
	do(t, hers, click(".tabs a:first-child"), shows("#focus"), chromedp.SendKeys(chromedp.ID("focus"), "too late"+kb.Enter), shows(".apply:not([disabled])"))
	post(t, alice, id, "undo", fmt.Sprintf(`{"plan":%q}`, d.Plan))
	do(t, hers, click(".apply"))
	until(t, hers, "document.querySelector('.said').textContent.startsWith('Not done')")

	// Search and files work there too.
	do(t, hers, chromedp.Reload(), shows(".tabs"), click(`//nav[@class="tabs"]/a[.="Files"]`), shows(".rows .path a"), click(".rows .path a"), shows(".file .line"))
}

// TestPageNotes: what a person writes down on the page, changes and removes is what the
// conversation has.
func TestPageNotes(t *testing.T) {
	c := &talk{url: gatewayFor(t), key: "sk-alice-0123456789abcdef"}
	c.run(t, work(4, 2))
	ctx := tab(t)
	c.enter(t, ctx)
	do(t, ctx, shows(".notes summary"), click(".notes summary"), shows("#note"))
	id := js[string](t, ctx, "location.hash.split('/')[2]")
	noted := func(want ...string) {
		t.Helper()
		until(t, ctx, fmt.Sprintf("document.querySelectorAll('.notes li').length === %d", len(want)))
		var d struct{ Notes []struct{ Text string } }
		getJSON(t, c.url+"/winnow/conversations/"+id, http.Header{"Authorization": {"Bearer " + c.key}}, &d)
		if len(d.Notes) != len(want) {
			t.Fatalf("%+v, want %q", d.Notes, want)
		}
		for i := range want {
			if d.Notes[i].Text != want[i] || !strings.Contains(js[string](t, ctx, "document.querySelector('.notes ul').innerText"), want[i]) {
				t.Errorf("%+v, want %q", d.Notes, want)
			}
		}
	}
	do(t, ctx, chromedp.SendKeys(chromedp.ID("note"), "the relay listens on port 7319"+kb.Enter))
	noted("the relay listens on port 7319")
	do(t, ctx, click(`//button[text()="Change"]`))
	until(t, ctx, "document.querySelector('#note').value.endsWith('7319')")
	do(t, ctx, chromedp.SendKeys(chromedp.ID("note"), kb.End+" over TLS"+kb.Enter))
	until(t, ctx, "document.querySelector('.notes ul').innerText.includes('over TLS')")
	noted("the relay listens on port 7319 over TLS")
	do(t, ctx, click(`//button[text()="Remove"]`))
	noted()
}

// post acts on a conversation over HTTP.
func post(t *testing.T, c *talk, id, what, body string) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, c.url+"/winnow/conversations/"+id+"/"+what, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Authorization", "Bearer "+c.key)
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	if text, _ := io.ReadAll(resp.Body); resp.StatusCode != http.StatusOK {
		t.Fatalf("%s: %s %s", what, resp.Status, text)
	}
}
