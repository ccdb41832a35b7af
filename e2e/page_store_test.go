package e2e

import (
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// TestPageOfAStore opens the page on a session of winnow's own store: what is done
// there is kept, and what a command does meanwhile is told as new.
func TestPageOfAStore(t *testing.T) {
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
	winnow("session", "import", written(t, "one.json", work(60, 2)))
	winnow("session", "import", written(t, "two.json", []message{{"role": "user", "content": "Another matter altogether."}, {"role": "assistant", "content": "Yes."}}))
	var list struct{ Sessions []struct{ ID, Title string } }
	if err := json.Unmarshal([]byte(winnow("session", "ls", "--json")), &list); err != nil || len(list.Sessions) != 2 {
		t.Fatalf("%v %+v", err, list)
	}
	id := list.Sessions[0].ID
	if !strings.HasPrefix(list.Sessions[0].Title, "Rename") {
		id = list.Sessions[1].ID
	}
	winnow("session", "compact", id, "--window", "24000")
	do(t, ctx, chromedp.Navigate(served(t, id[:18], "--store", store, "--window", "24000")), shows(".bar"), click(plansTab), shows(".timeline canvas"), shows(".drop"))
	if title := js[string](t, ctx, "document.querySelector('h1').textContent"); !strings.HasPrefix(title, "Rename") {
		t.Errorf("the page opens on %q", title)
	}

	// All sessions, found by text.
	until(t, ctx, "document.querySelectorAll('.list li').length === 2")
	do(t, ctx, chromedp.SendKeys(chromedp.ID("find"), "altogether"))
	until(t, ctx, "document.querySelectorAll('.list li').length === 1 && document.querySelector('.list li').textContent.includes('Another matter')")
	do(t, ctx, chromedp.SendKeys(chromedp.ID("find"), strings.Repeat(kb.Backspace, len("altogether"))))
	until(t, ctx, "document.querySelectorAll('.list li').length === 2")

	// What a command does is told, and shown when the reader asks.
	winnow("session", "rewind", id)
	until(t, ctx, "document.querySelector('main .fresh').textContent.includes('something was done elsewhere')")
	do(t, ctx, click("main .fresh button"))
	until(t, ctx, "document.querySelectorAll('.drop').length === 2")

	// What is done here, a command sees.
	compact(t, ctx, "the vendor folder")
	until(t, ctx, "document.querySelector('.said').textContent.includes('tokens')")
	do(t, ctx, click(`//a[starts-with(., "Messages")]`), shows("#m3 .pin"), click("#m3 .pin"))
	until(t, ctx, "document.querySelector('#m3 .pin').getAttribute('aria-pressed') === 'true'")
	var stats struct{ Compactions, Rewinds, Pins int }
	if err := json.Unmarshal([]byte(winnow("session", "stats", id, "--json", "--window", "24000")), &stats); err != nil || stats.Pins != 1 || stats.Compactions != 2 || stats.Rewinds != 1 {
		t.Errorf("the session has %+v, %v", stats, err)
	}
}
