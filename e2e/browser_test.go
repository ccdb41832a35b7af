package e2e

import (
	"context"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// needBrowser makes a missing browser a failure: e2e/run installs one.
var needBrowser = os.Getenv("WINNOW_NEED_BROWSER") != ""

// strictBars asks for times by the clock, which a busy machine does not keep.
var strictBars = os.Getenv("WINNOW_BARS") != ""

// All tests share one browser.
var browser struct {
	once sync.Once
	ctx  context.Context
	end  context.CancelFunc
	err  error
}

// tab opens a tab in a browser of its own profile: it shares no cookie with
// another test. Whatever the page writes to the console as a warning or an error,
// a report about its policy among it, fails the test.
func tab(t *testing.T) context.Context {
	t.Helper()
	path, err := exec.LookPath("chromium-headless-shell")
	if err != nil {
		if needBrowser {
			t.Fatal("chromium-headless-shell is not installed, and it is needed")
		}
		t.Skip("chromium-headless-shell is not installed: the page is not tried in a browser; apt-get install chromium-headless-shell")
	}
	browser.once.Do(func() {
		options := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(path))
		if os.Geteuid() == 0 {
			options = append(options, chromedp.NoSandbox)
		}
		ctx, end := chromedp.NewExecAllocator(context.Background(), options...)
		browser.ctx, browser.end = chromedp.NewContext(ctx)
		stop := browser.end
		browser.end = func() { stop(); end() }
		_, browser.err = chromedp.Run(browser.ctx, chromedp.Title()) // starts it
	})
	if browser.err != nil {
		t.Fatal(browser.err)
	}
	ctx, cancel := chromedp.NewContext(browser.ctx, chromedp.WithNewBrowserContext())
	ctx, stop := context.WithTimeout(ctx, 5*time.Minute) // for one that hangs
	said := &allowed{}
	ctx = context.WithValue(ctx, allowedKey{}, said)
	console := chromedp.Console(ctx)
	done := make(chan struct{})
	go func() {
		defer close(done)
		for m, err := range console {
			if err != nil {
				return
			}
			switch m.Type {
			case chromedp.ConsoleError, chromedp.ConsoleWarning, chromedp.ConsoleException:
				if !said.has(m.Text) {
					t.Errorf("the console says %s (%s)", m, m.URL)
				}
			}
		}
	}()
	leave := sync.OnceFunc(func() {
		stop()
		cancel()
		<-done
	})
	open.Lock()
	open.tabs[t] = append(open.tabs[t], leave)
	open.Unlock()
	t.Cleanup(func() { closeTabs(t) })
	return ctx
}

// open are the tabs of tests.
var open = struct {
	sync.Mutex
	tabs map[*testing.T][]func()
}{tabs: make(map[*testing.T][]func())}

// closeTabs closes a test's tabs, before what they are connected to goes away: the
// browser would write that to the console.
func closeTabs(t *testing.T) {
	open.Lock()
	all := open.tabs[t]
	delete(open.tabs, t)
	open.Unlock()
	for _, leave := range all {
		leave()
	}
}

// allowed is what a test lets the console say: the browser itself writes there
// that a request was refused.
type allowed struct {
	mu    sync.Mutex
	texts []string
}

type allowedKey struct{}

// expect lets the console say lines that contain a text.
func expect(ctx context.Context, text string) {
	a := ctx.Value(allowedKey{}).(*allowed)
	a.mu.Lock()
	defer a.mu.Unlock()
	a.texts = append(a.texts, text)
}

func (a *allowed) has(line string) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	return slices.ContainsFunc(a.texts, func(s string) bool { return strings.Contains(line, s) })
}

// plansTab leads to the timeline and the compactions.
const plansTab = ".tabs a[href$='/plans']"

// compact asks for a compaction with a focus, looks at what it would do, and applies
// it.
func compact(t *testing.T, ctx context.Context, focus string) {
	t.Helper()
	do(t, ctx, click(".tabs a:first-child"), shows("#focus"), chromedp.SendKeys(chromedp.ID("focus"), focus+kb.Enter), shows(".change"), click(".apply:not([disabled])"))
}

// do runs steps in the tab.
func do(t *testing.T, ctx context.Context, steps ...chromedp.Action[chromedp.Void]) {
	t.Helper()
	within, stop := context.WithTimeout(ctx, time.Minute)
	defer stop()
	if err := chromedp.Do(within, steps...); err != nil {
		shown, _ := chromedp.Run(ctx, chromedp.Evaluate[string]("location.href + '\\n' + (document.body ? document.body.innerText.slice(0, 1500) : '')"))
		t.Fatalf("%v\nthe page shows:\n%s", err, shown)
	}
}

// js returns what an expression is in the page.
func js[T any](t *testing.T, ctx context.Context, expression string) T {
	t.Helper()
	v, err := chromedp.Run(ctx, chromedp.Evaluate[T](expression))
	if err != nil {
		t.Fatalf("%s: %v", expression, err)
	}
	return v
}

// until waits for an expression to be true.
func until(t *testing.T, ctx context.Context, expression string) {
	t.Helper()
	if _, err := chromedp.Run(ctx, chromedp.Poll[bool](expression)); err != nil {
		shown, _ := chromedp.Run(ctx, chromedp.Evaluate[string]("document.body.innerText.slice(0, 1500)"))
		t.Fatalf("%s: %v\nthe page shows:\n%s", expression, err, shown)
	}
}

func shows(selector string) chromedp.Action[chromedp.Void] {
	return chromedp.WaitVisible(chromedp.CSS(selector))
}

// click clicks an element, which a CSS selector or an XPath finds. A page that still
// lays itself out moves it away from under the mouse; then it is clicked again.
func click(selector string) chromedp.Action[chromedp.Void] {
	found, press := "document.querySelector("+quoted(selector)+")", chromedp.Click(chromedp.CSS(selector))
	if strings.HasPrefix(selector, "//") {
		found, press = "document.evaluate("+quoted(selector)+", document, null, 9, null).singleNodeValue", chromedp.Click(chromedp.Search(selector))
	}
	listen := "window.hit = false; addEventListener('click', e => { window.hit = !!" + found + "?.contains(e.target) }, {capture: true, once: true}); true"
	return func(ctx context.Context, in *chromedp.Target) (none chromedp.Void, err error) {
		for hit := false; !hit && err == nil; {
			if _, err = chromedp.Evaluate[bool](listen)(ctx, in); err != nil {
				break
			}
			if _, err = press(ctx, in); err != nil {
				break
			}
			hit, err = chromedp.Evaluate[bool]("window.hit")(ctx, in)
		}
		return none, err
	}
}
