package e2e

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"
)

func quoted(s string) string {
	b, _ := json.Marshal(s)
	return string(b)
}

// serious returns what axe finds that is serious or worse.
func serious(t *testing.T, ctx context.Context) []string {
	t.Helper()
	axe, err := os.ReadFile(filepath.Join("node_modules", "axe-core", "axe.min.js"))
	if err != nil {
		if needBrowser {
			t.Fatal("axe-core is not installed, and it is needed: npm ci")
		}
		t.Skip("axe-core is not installed: npm ci")
	}
	// In a world of its own, which the page's policy does not bind.
	if _, err := chromedp.Run(ctx, chromedp.Evaluate[any](string(axe)+"\n;0")); err != nil {
		t.Fatal(err)
	}
	found, err := chromedp.Run(ctx, chromedp.Evaluate[[]string](`axe.run(document, {resultTypes: ["violations"]}).then(r =>
		r.violations.filter(v => v.impact === "serious" || v.impact === "critical").map(v =>
			v.id + ": " + v.help + ": " + v.nodes.slice(0, 4).map(n => n.target.join(" ") + " " + (n.any[0] ? n.any[0].message : "")).join("; ")))`, chromedp.EvalAwaitPromise))
	if err != nil {
		t.Fatal(err)
	}
	return found
}

// TestPageIsAccessible lets axe look at every view, in light and dark, wide and
// narrow.
func TestPageIsAccessible(t *testing.T) {
	ctx := tab(t)
	if _, err := chromedp.Call(ctx, page.SetBypassCSP, page.SetBypassCSPParams{Enabled: true}); err != nil { // axe sets styles
		t.Fatal(err)
	}
	do(t, ctx, chromedp.Navigate(served(t, written(t, "session.json", work(60, 2)), "--window", "24000")), shows(".bar"), click(plansTab), shows(".drop"))
	base := js[string](t, ctx, "location.hash.split('/').slice(0, 3).join('/')")
	plan := js[string](t, ctx, "document.querySelector('.drop:last-of-type').getAttribute('href')")
	file := func() string {
		js[string](t, ctx, "location.hash = "+quoted(base+"/files"))
		do(t, ctx, shows(".rows .path a"))
		return js[string](t, ctx, "document.querySelector('.rows .path a').getAttribute('href')")
	}()
	for _, scheme := range []string{"light", "dark"} {
		if _, err := chromedp.Call(ctx, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: scheme}}}); err != nil {
			t.Fatal(err)
		}
		for _, width := range []int64{1400, 420} {
			do(t, ctx, chromedp.EmulateViewport(width, 900))
			for hash, ready := range map[string]string{
				base: ".bar", base + "/plans": "#plans-title", plan: ".hunk", base + "/messages/4": "#m4", base + "/files": ".rows .path a", file: ".file .line", base + "/search?find=part3_1_7": ".hits li a",
			} {
				js[string](t, ctx, "location.hash = "+quoted(hash))
				do(t, ctx, shows(ready))
				for _, f := range serious(t, ctx) {
					t.Errorf("%s, %d wide, %s: %s", scheme, width, hash, f)
				}
				if over := js[int](t, ctx, "document.documentElement.scrollWidth - document.documentElement.clientWidth"); over > 0 {
					t.Errorf("%s, %d wide: the page is %d pixels wider than the window", hash, width, over)
				}
			}
		}
	}
}

// TestPageOfALongSession opens a session of 10,000 messages and 500 requests.
func TestPageOfALongSession(t *testing.T) {
	ctx := tab(t)
	messages := work(500, 19)
	if len(messages) < 10_000 {
		t.Fatalf("only %d messages", len(messages))
	}
	do(t, ctx, chromedp.Navigate(served(t, written(t, "long.json", messages), "--window", "200000")), shows(".bar"))
	base := strings.SplitN(js[string](t, ctx, "location.href"), "#", 2)[0]
	bar := 1000.0
	if !strictBars {
		bar = 8000 // for a machine that does other things too
	}
	open := func(hash, ready string) {
		t.Helper()
		do(t, ctx, chromedp.Navigate("about:blank"), chromedp.Navigate(base+hash), shows(ready))
		took := js[float64](t, ctx, "performance.getEntriesByName('winnow-shown')[0].startTime")
		t.Logf("%s: shown after %.0f ms", hash, took)
		if took > bar {
			t.Errorf("%s opens in %.0f ms, more than %.0f", hash, took, bar)
		}
	}
	open("", ".bar")
	id := js[string](t, ctx, "location.hash")
	open(id+"/plans", ".timeline canvas")
	drop := js[string](t, ctx, "document.querySelector('.drop').getAttribute('href')")
	open(id+"/messages/9000", "#m9000")
	open(drop, ".hunk")
	if n := js[int](t, ctx, "document.querySelectorAll('*').length"); n > 6000 {
		t.Errorf("the page has %d elements: all of the session is in it", n)
	}
}
