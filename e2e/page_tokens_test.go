package e2e

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"
)

// TestPageKeepsNoToken: neither the one-time address nor the cookie is in anything
// that is answered, in the list of visited pages, where a script reads, or in what
// the gateway prints and logs.
func TestPageKeepsNoToken(t *testing.T) {
	g, _ := gatewayOf(t, window, processes.provider)
	alice := &talk{url: g.url, key: "sk-alice-0123456789abcdef"}
	alice.run(t, work(40, 2)[:90])
	ctx := tab(t)
	address := alice.address(t)
	do(t, ctx, chromedp.Navigate(address), shows(".bar"), click(plansTab), shows(".drop"), click(".drop:last-of-type"), shows(".hunk"))
	cookies, err := chromedp.Call(ctx, network.GetCookies, network.GetCookiesParams{URLs: []string{g.url + "/winnow/"}})
	if err != nil || len(cookies.Cookies) != 1 {
		t.Fatalf("%+v, %v", cookies, err)
	}
	c := cookies.Cookies[0]
	if !c.HTTPOnly || c.SameSite != "Strict" || c.Path != "/winnow/" {
		t.Errorf("the cookie is %+v", c)
	}
	secrets := map[string]string{"address": address[strings.LastIndex(address, "/")+1:], "cookie": c.Value, "key": alice.key}
	clean := func(where, text string) {
		t.Helper()
		for what, secret := range secrets {
			if strings.Contains(text, secret) {
				t.Errorf("%s holds the %s", where, what)
			}
		}
	}
	history, err := chromedp.Call(ctx, page.GetNavigationHistory, cdp.Empty{})
	if err != nil || len(history.Entries) == 0 {
		t.Fatalf("%+v, %v", history, err)
	}
	for _, e := range history.Entries { // what a person typed the browser knows, and it is spent
		clean("the list of visited pages", e.URL+" "+e.Title)
	}
	clean("what a script reads", js[string](t, ctx, "[document.cookie, document.referrer, location.href, JSON.stringify({...localStorage}), JSON.stringify({...sessionStorage}), document.documentElement.outerHTML, JSON.stringify(performance.getEntries())].join(' ')"))

	// All that the page can ask for, asked with its cookie.
	var d struct {
		ID    string
		Plans []struct{ ID string }
	}
	own := http.Header{"Cookie": {c.Name + "=" + c.Value}}
	var list struct{ Conversations []struct{ ID string } }
	getJSON(t, g.url+"/winnow/conversations", own, &list)
	at := "/winnow/conversations/" + list.Conversations[0].ID
	getJSON(t, g.url+at, own, &d)
	plan := "/winnow/plans/" + d.Plans[len(d.Plans)-1].ID
	for _, path := range []string{"/winnow/conversations", at, at + "/messages", at + "/files", at + "/file?path=services/part00/handler0.go", at + "/hints", at + "/search?q=total", "/winnow/search?q=total", plan, plan + "/report", plan + "/patch"} {
		var doc json.RawMessage
		getJSON(t, g.url+path, own, &doc)
		clean(path, string(doc))
	}
	refused, err := http.Get(address)
	if err != nil || refused.StatusCode != http.StatusForbidden {
		t.Fatalf("%v %v", refused, err)
	}
	defer refused.Body.Close()
	closeTabs(t)
	clean("what the gateway prints", g.stop(t))
}
