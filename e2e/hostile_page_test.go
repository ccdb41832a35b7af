package e2e

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
)

// hostilePage tries to read what a gateway on this machine has, by every kind of
// request that a page may make, and says what came of each try.
const hostilePage = `<!doctype html><title>a page of somebody else</title><script>
async function tries(base) {
  const out = {};
  const ask = async (name, path, options) => {
    try {
      const r = await fetch(base + path, options);
      out[name] = r.type + " " + r.status + " " + (await r.text()).slice(0, 400);
    } catch (e) { out[name] = "refused: " + e.message; }
  };
  for (const path of ["/", "/metrics", "/readyz", "/winnow/conversations", "/winnow/search?q=timeout", "/winnow/recall/wk3ptjzmt"]) {
    await ask("get " + path, path, {});
    await ask("no-cors " + path, path, {mode: "no-cors"});
    await ask("with credentials " + path, path, {credentials: "include"});
  }
  const call = '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"search_history","arguments":{"words":"timeout","all":true}}}';
  await ask("mcp", "/mcp", {method: "POST", body: call, headers: {"Content-Type": "application/json", "Accept": "application/json, text/event-stream"}});
  await ask("mcp as text", "/mcp", {method: "POST", body: call, headers: {"Content-Type": "text/plain"}});
  await ask("delete", "/winnow/conversations", {method: "DELETE"});
  await ask("model", "/v1/messages", {method: "POST", body: '{"model":"m","max_tokens":9,"messages":[{"role":"user","content":"hi"}]}', headers: {"Content-Type": "text/plain"}});
  for (const tag of ["script", "img", "iframe"]) {
    const e = document.createElement(tag);
    e.src = base + "/metrics";
    const done = new Promise(r => { e.onload = () => r("loaded"); e.onerror = () => r("refused"); setTimeout(() => r("nothing"), 3000); });
    document.body.append(e);
    let saw = await done;
    if (tag === "iframe") { try { saw = "read " + e.contentDocument.body.innerText; } catch (_) { saw = "refused"; } }
    out[tag] = saw;
  }
  return JSON.stringify(out);
}
</script><body></body>`

// TestHostilePage: a web page of another origin, in a real browser on the
// machine of the gateway, reads nothing of it, whichever way it asks; nor does one
// whose name was pointed at the gateway's address after it was loaded
// (rebinding).
func TestHostilePage(t *testing.T) {
	chromium := ""
	for _, name := range []string{"chromium-headless-shell", "chromium", "google-chrome"} {
		if path, err := exec.LookPath(name); err == nil {
			chromium = path
			break
		}
	}
	if chromium == "" {
		t.Skip("there is no Chromium (Debian: chromium-headless-shell): no browser is tried")
	}
	page := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		fmt.Fprint(w, hostilePage)
	}))
	defer page.Close()
	gateway, err := url.Parse(processes.gateway)
	if err != nil {
		t.Fatal(err)
	}
	at, err := url.Parse(page.URL)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Minute)
	defer cancel()
	ctx, cancel = chromedp.NewExecAllocator(ctx, append(chromedp.DefaultExecAllocatorOptions[:],
		chromedp.ExecPath(chromium), chromedp.NoSandbox, chromedp.UserDataDir(t.TempDir()),
		// The name belongs to somebody else, and leads to this machine.
		chromedp.Flag("host-resolver-rules", "MAP evil.test 127.0.0.1"))...)
	defer cancel()
	ctx, cancel = chromedp.NewContext(ctx)
	defer cancel()

	for name, origin := range map[string]string{"another host": "http://evil.test:" + at.Port(), "another port": page.URL} {
		t.Run(name, func(t *testing.T) {
			if _, err := chromedp.Run(ctx, chromedp.Navigate(origin)); err != nil {
				t.Fatal(err)
			}
			text, err := chromedp.Run(ctx, chromedp.Evaluate[string](fmt.Sprintf("tries(%q)", processes.gateway), chromedp.EvalAwaitPromise))
			if err != nil {
				t.Fatal(err)
			}
			readNothing(t, text, nil)
		})
	}
	t.Run("rebinding", func(t *testing.T) {
		// The page's own name and port now lead to the gateway, so that to the
		// browser all of the gateway is of the page's origin.
		rebound := "http://evil.test:" + gateway.Port()
		if _, err := chromedp.Run(ctx, chromedp.Navigate(rebound+"/metrics")); err != nil {
			t.Fatal(err)
		}
		shown, err := chromedp.Run(ctx, chromedp.Evaluate[string]("document.documentElement.innerText"))
		if err != nil {
			t.Fatal(err)
		}
		text, err := chromedp.Run(ctx, chromedp.Evaluate[string](program(hostilePage)+fmt.Sprintf("\ntries(%q)", rebound), chromedp.EvalAwaitPromise))
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(shown, "winnow_") {
			t.Errorf("the page shows %.200s", shown)
		}
		// Whether the gateway is up is told under any name, for those who watch over
		// it. A call of a model is passed on with the caller's own credential, of
		// which the page has none; it learns nothing of anybody else's.
		readNothing(t, text, []string{"get /readyz", "no-cors /readyz", "with credentials /readyz", "model"})
	})
}

// readNothing fails where a try was answered with anything of the gateway's, but
// for tries that may be answered.
func readNothing(t *testing.T, text string, but []string) {
	t.Helper()
	var out map[string]string
	if err := json.Unmarshal([]byte(text), &out); err != nil || len(out) < 25 {
		t.Fatalf("%d tries, %v: %.300s", len(out), err, text)
	}
	for name, got := range out {
		refused := slices.Contains(but, name) || strings.HasPrefix(got, "refused") || strings.TrimSpace(got) == "opaque 0" ||
			strings.HasPrefix(got, "basic 403 ") || strings.HasPrefix(got, `read {"error":{"code":403,`) || got == "loaded" || got == "nothing"
		if strings.Contains(got, "winnow_") || strings.Contains(got, "[original:") || !refused {
			t.Errorf("%s: %s", name, got)
		}
	}
}

// program is the script of a page.
func program(page string) string {
	_, rest, _ := strings.Cut(page, "<script>")
	text, _, _ := strings.Cut(rest, "</script>")
	return text
}
