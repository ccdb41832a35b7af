package e2e

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
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

// hostileName is one for files, models and a focus.
const hostileName = "<img src=x onerror=window.broken=8>"

// TestPageShowsHostileTextAsText looks at every view of a session whose every
// field is hostile: of a file, as a file, of a gateway and of a store.
func TestPageShowsHostileTextAsText(t *testing.T) {
	t.Run("served", func(t *testing.T) {
		ctx := tab(t)
		do(t, ctx, chromedp.Navigate(served(t, written(t, hostileName+".json", hostileSession()), "--window", "16000")))
		hostileViews(t, ctx, 0, hostileName)
	})
	t.Run("file", func(t *testing.T) {
		ctx := tab(t)
		out := filepath.Join(t.TempDir(), "page.html")
		if said, err := run1(binary, "page", written(t, hostileName+".json", hostileSession()), "--window", "16000", "--html", out); err != nil {
			t.Fatalf("%v\n%s", err, said)
		}
		do(t, ctx, chromedp.Navigate("file://"+out))
		hostileViews(t, ctx, 1, hostileName)
	})
	t.Run("gateway", func(t *testing.T) {
		g, _ := gatewayOf(t, window, processes.provider)
		ctx := tab(t)
		mallory := &talk{url: g.url, key: "sk-mallory-0123456789abcdef", model: hostileName}
		mallory.run(t, hostileSession())
		var list struct {
			Conversations []struct{ ID, Plan, Model string }
		}
		getJSON(t, g.url+"/winnow/conversations", http.Header{"Authorization": {"Bearer " + mallory.key}}, &list)
		if len(list.Conversations) != 1 || list.Conversations[0].Model != hostileName {
			t.Fatalf("%+v", list)
		}
		focus, _ := json.Marshal(map[string]string{"plan": list.Conversations[0].Plan, "focus": strings.Join(hostile, " ")})
		post(t, mallory, list.Conversations[0].ID, "compact", string(focus))
		mallory.enter(t, ctx)
		hostileViews(t, ctx, 0, "") // text that begins like markup does not become a title
		if text := js[string](t, ctx, "document.querySelector('.list').textContent"); !strings.Contains(text, hostileName) {
			t.Errorf("the list says %q", text)
		}
	})
	t.Run("store", func(t *testing.T) {
		ctx := tab(t)
		store := filepath.Join(t.TempDir(), "sessions.db")
		winnow := func(args ...string) string {
			t.Helper()
			said, err := run1(binary, append(args, "--store", store)...)
			if err != nil {
				t.Fatalf("winnow %s: %v\n%s", strings.Join(args, " "), err, said)
			}
			return said
		}
		winnow("session", "import", written(t, hostileName+".json", hostileSession()))
		var list struct{ Sessions []struct{ ID string } }
		if err := json.Unmarshal([]byte(winnow("session", "ls", "--json")), &list); err != nil || len(list.Sessions) != 1 {
			t.Fatalf("%v %+v", err, list)
		}
		winnow("session", "compact", list.Sessions[0].ID, hostileName, "--window", "16000")
		do(t, ctx, chromedp.Navigate(served(t, list.Sessions[0].ID, "--store", store, "--window", "16000")))
		hostileViews(t, ctx, 0, "<")
	})
}

// hostileViews goes through all views. The page itself has that number of scripts,
// and its title holds that text.
func hostileViews(t *testing.T, ctx context.Context, scripts int, title string) {
	t.Helper()
	do(t, ctx, shows(".bar"))
	safe := func(view string) {
		t.Helper()
		until(t, ctx, "!document.body.innerText.includes('Reading…')")
		if js[bool](t, ctx, fmt.Sprintf("window.broken !== undefined || document.querySelectorAll('script:not([src]):not([type])').length > %d || !!document.querySelector('main img, main iframe, main svg, main style, nav img, base, main form[action]')", scripts)) {
			t.Errorf("%s: a text became markup or code", view)
		}
	}
	safe("overview")
	if text := js[string](t, ctx, "document.querySelector('h1').textContent"); !strings.Contains(text, title) {
		t.Errorf("the title is %q", text)
	}
	base := js[string](t, ctx, "location.hash.split('/').slice(0, 3).join('/')")
	do(t, ctx, click(plansTab), shows(".drop"))
	safe("timeline")
	do(t, ctx, click(".drop:last-of-type"), shows(".hunk"))
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
	do(t, ctx, click(`//a[starts-with(., "Messages")]`), shows("#m3"))
	safe("messages")
	do(t, ctx, click(`//nav[@class="tabs"]/a[.="Files"]`), shows("#files-title"))
	safe("files")
	do(t, ctx, shows(".rows .path a"), click(".rows .path a"), shows(".file .line"))
	safe("a file")
	do(t, ctx, click(`//nav[@class="tabs"]/a[.="Search"]`), shows("#words"), chromedp.SendKeys(chromedp.ID("words"), "marker3 <script"+kb.Enter), shows(".hits li a"), click(".hits li a"), shows(".original .mark"))
	safe("search")
	js[string](t, ctx, "location.hash = "+quoted(base))
	do(t, ctx, shows(".bar"), click(plansTab), shows("#plans-title"))
	safe("compactions")
	for _, bad := range []string{`#/c/<img src=x onerror=window.broken=9>`, `#/c/%E0%A4%A/plan/"><script>window.broken=10</script>`, `#/c/x/files/javascript:window.broken=11`} {
		expect(ctx, "404")
		js[string](t, ctx, "location.hash = "+quoted(bad))
		until(t, ctx, "document.querySelector('main').innerText.includes('nothing to show')")
		safe(bad)
	}
}
