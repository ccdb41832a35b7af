package e2e

import (
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// TestPageOfAFile opens the page on a recorded session, and does there what a
// person would.
func TestPageOfAFile(t *testing.T) {
	ctx := tab(t)
	address := served(t, written(t, "session.json", work(60, 2)), "--window", "24000")
	do(t, ctx, chromedp.Navigate(address), shows(".bar"), click(plansTab), shows(".timeline canvas"), shows(".drop"))

	// The address works once, and leaves nothing of itself behind.
	if at := js[string](t, ctx, "location.href"); strings.Contains(at, "open/") {
		t.Errorf("the one-time address stays in sight: %s", at)
	}
	if c := js[string](t, ctx, "document.cookie"); c != "" {
		t.Errorf("a script can read the cookie: %s", c)
	}
	if r, err := http.Get(address); err != nil || r.StatusCode != http.StatusForbidden {
		t.Errorf("the address worked twice: %v %v", r.Status, err)
	}
	if say := js[string](t, ctx, "document.querySelector('.next').textContent"); !strings.Contains(say, "What should I do now?") || !strings.Contains(say, "tokens") {
		t.Errorf("the first line says %q", say)
	}
	drops := js[int](t, ctx, "document.querySelectorAll('.drop').length")
	if drops < 2 {
		t.Fatalf("there are %d drops", drops)
	}

	// A drop opens the plan as a patch.
	do(t, ctx, click(".drop:last-of-type"), shows(".hunk .side.plus"))
	patch := js[string](t, ctx, "document.querySelector('.hunks').innerText")
	for _, want := range []string{"messages", "tokens", "+ ", "Asked", "Left in the view", "the answer whole"} {
		if !strings.Contains(patch, want) {
			t.Errorf("the patch lacks %q:\n%.800s", want, patch)
		}
	}
	// The original, on demand.
	do(t, ctx, click(`//button[text()="Show the original"]`), shows(".original .line"))
	if text := js[string](t, ctx, "document.querySelector('.original .text').innerText"); !strings.Contains(text, "read_file") && !strings.Contains(text, "func part") {
		t.Errorf("the original is %.300q", text)
	}

	// Every state has an address.
	before := js[string](t, ctx, "location.hash + ' ' + document.querySelector('#plan-title').textContent")
	do(t, ctx, chromedp.Reload(), shows(".hunk .side.plus"))
	if after := js[string](t, ctx, "location.hash + ' ' + document.querySelector('#plan-title').textContent"); after != before {
		t.Errorf("after a reload it is %q, was %q", after, before)
	}

	// Undo: the effect is visible at once.
	do(t, ctx, click(`//button[text()="Undo this compaction"]`))
	until(t, ctx, "document.querySelector('.said').textContent.includes('Undone')")
	until(t, ctx, "document.querySelectorAll('.drop').length === "+itoa(drops+1))
	if say := js[string](t, ctx, "document.querySelector('.acts').innerText"); !strings.Contains(say, "was taken back") {
		t.Errorf("what was taken back says %q", say)
	}

	// Compact with a focus.
	compact(t, ctx, "the vendor folder")
	until(t, ctx, "document.querySelector('.said').textContent.includes('Compacted')")
	do(t, ctx, click(plansTab), shows("#plans-title"), click(".rows a"), shows("#plan-title"))
	if say := js[string](t, ctx, "document.querySelector('.plan').innerText"); !strings.Contains(say, "Focus: the vendor folder") {
		t.Errorf("the plan does not name its focus: %.400s", say)
	}

	// Hide less: what comes back is told before it is done, and then seen.
	do(t, ctx, click(".tabs a:first-child"), shows("#hide"))
	seen := js[string](t, ctx, "document.querySelector('#view-title').textContent")
	js[int](t, ctx, "(e => { e.value = 0; e.dispatchEvent(new Event('input', {bubbles: true})); return 0 })(document.querySelector('#hide'))")
	do(t, ctx, shows(".change"), shows(".apply:not([disabled])"))
	if say := js[string](t, ctx, "document.querySelector('.change').innerText"); !strings.Contains(say, "→") || !strings.Contains(say, "Comes back:") {
		t.Errorf("the preview says %q", say)
	}
	if now := js[string](t, ctx, "document.querySelector('#view-title').textContent"); now != seen {
		t.Errorf("the preview changed %q to %q", seen, now)
	}
	do(t, ctx, click(".apply"))
	until(t, ctx, "document.querySelector('#view-title').textContent !== "+quoted(seen))

	// Pin a message and take the pin off.
	do(t, ctx, chromedp.Navigate(strings.SplitN(js[string](t, ctx, "location.href"), "#", 2)[0]), shows(".tabs"))
	do(t, ctx, click(`//a[starts-with(., "Messages")]`), shows("#m3 .pin"), click("#m3 .pin"))
	until(t, ctx, "document.querySelector('#m3 .pin').getAttribute('aria-pressed') === 'true'")
	do(t, ctx, click("#m3 .pin"))
	until(t, ctx, "document.querySelector('#m3 .pin').getAttribute('aria-pressed') === 'false'")

	// Search what is hidden, and read the place.
	do(t, ctx, click(`//nav[@class="tabs"]/a[.="Search"]`), shows("#words"), chromedp.SendKeys(chromedp.ID("words"), "part3_1_7"+kb.Enter), shows(".hits li a"), click(".hits li a"), shows(".original .mark"))
	if line := js[string](t, ctx, "document.querySelector('.original .mark').innerText"); !strings.Contains(line, "part3_1_7") {
		t.Errorf("the place that was found says %q", line)
	}

	// Files as they stand.
	do(t, ctx, click(`//nav[@class="tabs"]/a[.="Files"]`), shows(".rows .path a"), click(".rows .path a"), shows(".file .line"))
	if text := js[string](t, ctx, "document.querySelector('.text.file').innerText"); !strings.Contains(text, "func part") {
		t.Errorf("the file is %.300q", text)
	}
}

// TestPageWithKeysAlone opens a compaction, reads its original and takes it back
// without a mouse.
func TestPageWithKeysAlone(t *testing.T) {
	ctx := tab(t)
	do(t, ctx, chromedp.Navigate(served(t, written(t, "session.json", work(60, 2)), "--window", "24000")), shows(".bar"), click(plansTab), shows(".drop"))
	press := func(keys string) { do(t, ctx, chromedp.KeyEvent(keys)) }
	// to moves the focus on until it stands on what an expression is true for.
	to := func(what, test string) {
		t.Helper()
		for range 120 {
			if js[bool](t, ctx, "(e => !!e && ("+test+"))(document.activeElement)") {
				if js[string](t, ctx, "getComputedStyle(document.activeElement).outlineStyle") == "none" {
					t.Errorf("nobody sees that the focus is on %s", what)
				}
				return
			}
			press(kb.Tab)
		}
		t.Fatalf("%s cannot be reached by keys", what)
	}
	to("a drop", "e.classList.contains('drop')")
	press(kb.Enter)
	do(t, ctx, shows(".hunk"))
	to("the original", "e.textContent === 'Show the original'")
	press(kb.Enter)
	do(t, ctx, shows(".original .line"))
	do(t, ctx, chromedp.Reload(), shows(".hunk"))
	to("undo", "e.textContent === 'Undo this compaction'")
	press(kb.Enter)
	until(t, ctx, "document.querySelector('.said').textContent.includes('Undone')")
	press("/")
	if id := js[string](t, ctx, "document.activeElement.id"); id != "" && id != "find" {
		t.Errorf("/ leads to %q", id)
	}
}

// TestPageAsAFile writes the page as one file, which has everything and no
// secrets.
func TestPageAsAFile(t *testing.T) {
	ctx := tab(t)
	messages := work(60, 2)
	const secret = "sk-ant-api03-Zm9vYmFyYmF6cXV4Zm9vYmFyYmF6cXV4Zm9vYmFyYmF6cXV4Zm9vYmFyYmF6cXV4-AAAAAAAA"
	messages[1]["content"] = "The key is " + secret
	session := written(t, "session.json", messages)
	out := filepath.Join(t.TempDir(), "page.html")
	write := func(more ...string) string {
		t.Helper()
		cmd := exec.Command(binary, append([]string{"page", session, "--window", "24000", "--html", out, "--force"}, more...)...)
		if said, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, said)
		}
		data, err := os.ReadFile(out)
		if err != nil {
			t.Fatal(err)
		}
		return string(data)
	}
	if !strings.Contains(write("--no-redact"), secret) {
		t.Error("--no-redact takes the secret out; then this test shows nothing")
	}
	if strings.Contains(write(), secret) {
		t.Error("the file holds a secret")
	}
	do(t, ctx, chromedp.Navigate("file://"+out), shows(".bar"), click(plansTab), shows(".timeline canvas"), shows(".drop"), click(".drop"), shows(".hunk .side.plus"),
		click(`//button[text()="Show the original"]`), shows(".original .line"))
	if n := js[int](t, ctx, `[...document.querySelectorAll("button")].filter(b => /Undo|Compact now|^Pin$/.test(b.textContent)).length`); n != 0 {
		t.Errorf("a file offers %d actions", n)
	}
	do(t, ctx, click(`//nav[@class="tabs"]/a[.="Search"]`), shows("#words"), chromedp.SendKeys(chromedp.ID("words"), "part3_1_7"+kb.Enter), shows(".hits li a"))
	do(t, ctx, click(`//nav[@class="tabs"]/a[.="Files"]`), shows(".rows .path a"), click(".rows .path a"), shows(".file .line"))
	do(t, ctx, click(`//a[starts-with(., "Messages")]`), shows("#m3"))
	if n := js[int](t, ctx, "performance.getEntriesByType('resource').length"); n != 0 {
		t.Errorf("the file loads %d things from elsewhere", n)
	}
}
