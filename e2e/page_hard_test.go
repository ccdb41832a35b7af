package e2e

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"
)

// hostile are texts that would do something where they are taken for markup,
// code, addresses or templates.
var hostile = []string{
	`<script>window.broken = 1</script>`,
	`<img src=x onerror="window.broken=2">`,
	`"><svg/onload=window.broken=3>`,
	`</script><script>window.broken=4</script>`,
	`javascript:window.broken=5`,
	`{{constructor.constructor("window.broken=6")()}}`,
	"\x1b[31mred\x1b]0;title\x07 \u202egnp.exe\u202c \u0000 </pre></textarea></style><style>*{display:none}</style>",
	`<iframe srcdoc="<script>parent.broken=7</script>"></iframe><base href="http://evil.example/"><form action="http://evil.example/">`,
	`__proto__`, `<!--`, `]]>`, "a\u2028b",
}

// hostileSession has such texts in every field.
func hostileSession() []message {
	out := []message{{"role": "user", "content": strings.Join(hostile, "\n")}}
	for i := range 60 {
		bad := hostile[i%len(hostile)]
		id := fmt.Sprintf("call_%d", i)
		args, _ := json.Marshal(map[string]any{"path": bad + fmt.Sprint(i) + ".go", "note": bad})
		out = append(out,
			message{"role": "assistant", "content": bad, "tool_calls": []any{map[string]any{"id": id, "type": "function", "function": map[string]any{"name": "read_file", "arguments": string(args)}}}},
			message{"role": "tool", "tool_call_id": id, "content": strings.Repeat("1\t"+bad+"\n2\tmarker"+fmt.Sprint(i)+" "+bad+"\n", 40)})
	}
	return append(out, message{"role": "assistant", "content": hostile[0]}, message{"role": "user", "content": hostile[1]}, message{"role": "assistant", "content": "ok"})
}

// TestPageShowsHostileTextAsText looks at every view of a session whose every
// field is hostile, served and as a file.
func TestPageShowsHostileTextAsText(t *testing.T) {
	session := written(t, "<img src=x onerror=window.broken=8>.json", hostileSession())
	out := filepath.Join(t.TempDir(), "page.html")
	if said, err := run1(binary, "page", session, "--window", "16000", "--html", out); err != nil {
		t.Fatalf("%v\n%s", err, said)
	}
	for name, address := range map[string]string{"served": served(t, session, "--window", "16000"), "file": "file://" + out} {
		t.Run(name, func(t *testing.T) {
			ctx := tab(t)
			do(t, ctx, chromedp.Navigate(address), shows(".drop"))
			safe := func(view string) {
				t.Helper()
				until(t, ctx, "!document.body.innerText.includes('Reading…')")
				if js[bool](t, ctx, "window.broken !== undefined || [...document.querySelectorAll('script:not([src]):not([type])')].length > "+map[string]string{"served": "0", "file": "1"}[name]+" || !!document.querySelector('main img, main iframe, main svg, main style, base, main form[action]')") {
					t.Errorf("%s: a text became markup or code", view)
				}
			}
			safe("overview")
			if text := js[string](t, ctx, "document.querySelector('h1').textContent"); !strings.Contains(text, "<img src=x") {
				t.Errorf("the title is %q", text)
			}
			do(t, ctx, click(".drop"), shows(".hunk"))
			for range 3 {
				js[int](t, ctx, "[...document.querySelectorAll('.hunk button')].filter(b => /more lines|Show the original|as before|Its messages/.test(b.textContent)).map(b => b.click()).length")
				safe("patch")
			}
			// A fold shows its originals or its messages; it was left with the latter.
			js[int](t, ctx, "[...document.querySelectorAll('.hunk button')].filter(b => /Show the original/.test(b.textContent)).map(b => b.click()).length")
			do(t, ctx, shows(".original .line"))
			safe("originals")
			if text := js[string](t, ctx, "document.querySelector('.hunks').textContent"); !strings.Contains(text, hostile[0]) {
				t.Errorf("the patch does not show the text as it is: %.500q", text)
			}
			do(t, ctx, chromedp.Click(chromedp.Search(`//a[starts-with(., "Messages")]`)), shows("#m3"))
			safe("messages")
			do(t, ctx, chromedp.Click(chromedp.Search(`//nav[@class="tabs"]/a[.="Files"]`)), shows("#files-title"))
			safe("files")
			do(t, ctx, shows(".rows .path a"), click(".rows .path a"), shows(".file .line"))
			safe("a file")
			do(t, ctx, chromedp.Click(chromedp.Search(`//nav[@class="tabs"]/a[.="Search"]`)), shows("#words"), chromedp.SendKeys(chromedp.ID("words"), "marker3 <img\r"), shows(".hits li a"), click(".hits li a"), shows(".original .mark"))
			safe("search")
			for _, bad := range []string{`#/c/<img src=x onerror=window.broken=9>`, `#/c/%E0%A4%A/plan/"><script>window.broken=10</script>`, `#/c/x/files/javascript:window.broken=11`} {
				expect(ctx, "404")
				js[string](t, ctx, "location.hash = "+quoted(bad))
				until(t, ctx, "document.querySelector('main').innerText.includes('nothing to show')")
				safe(bad)
			}
		})
	}
}

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
	do(t, ctx, chromedp.Navigate(served(t, written(t, "session.json", work(60, 2)), "--window", "24000")), shows(".drop"))
	base := js[string](t, ctx, "location.hash")
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
		for _, width := range []int64{1280, 390} {
			do(t, ctx, chromedp.EmulateViewport(width, 900))
			for hash, ready := range map[string]string{
				base: "#plans-title", plan: ".hunk", base + "/messages/4": "#m4", base + "/files": ".rows .path a", file: ".file .line", base + "/search?find=part3_1_7": ".hits li a",
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
	do(t, ctx, chromedp.Navigate(served(t, written(t, "long.json", messages), "--window", "200000")), shows(".timeline canvas"))
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
	open("", ".timeline canvas")
	id := js[string](t, ctx, "location.hash")
	drop := js[string](t, ctx, "document.querySelector('.drop').getAttribute('href')")
	open(id+"/messages/9000", "#m9000")
	open(drop, ".hunk")
	if n := js[int](t, ctx, "document.querySelectorAll('*').length"); n > 6000 {
		t.Errorf("the page has %d elements: all of the session is in it", n)
	}
}
