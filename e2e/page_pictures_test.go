package e2e

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"
)

// folder is where pictures go.
var folder = flag.String("pictures", "", "take the documents' pictures of the page into `FOLDER`")

// picture is taken of the page once wait is seen and, one after the other, all of click
// were clicked. Top is what stands at its upper edge; "" is the page's own.
type picture struct {
	name, wait, top string
	click           []string
}

var pictures = []picture{
	{name: "page", wait: ".bar"},
	{name: "page-patch", wait: ".tabs", click: []string{".tabs a[href$='/plans']", ".drop:last-of-type"}, top: "#plan-title"},
}

// TestPictures takes the pictures of the documents: the page about the demo's session in
// a headless browser, light and dark (make pictures).
func TestPictures(t *testing.T) {
	if *folder == "" {
		t.Skip("make pictures takes them")
	}
	dir := t.TempDir()
	session, html := filepath.Join(dir, "session.json"), filepath.Join(dir, "page.html")
	for _, args := range [][]string{{"demo", "--out", session}, {"page", session, "--html", html}} {
		cmd := exec.Command(binary, args...)
		cmd.Env = append(os.Environ(), "HOME="+dir, "XDG_CONFIG_HOME="+dir)
		if text, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%v: %s", err, text)
		}
	}
	for _, p := range pictures {
		if err := p.take("file://"+html, *folder); err != nil {
			t.Fatal(err)
		}
	}
}

// take takes a picture in both colour schemes, by a browser of its own.
func (p *picture) take(address, folder string) error {
	options := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath("chromium-headless-shell"), chromedp.Flag("hide-scrollbars", true))
	if os.Geteuid() == 0 {
		options = append(options, chromedp.NoSandbox)
	}
	ctx, cancel := chromedp.NewExecAllocator(context.Background(), options...)
	defer cancel()
	ctx, cancel = chromedp.NewContext(ctx)
	defer cancel()
	ctx, cancel = context.WithTimeout(ctx, 2*time.Minute)
	defer cancel()
	console := chromedp.Console(ctx)
	go func() {
		for m, err := range console {
			if err == nil {
				fmt.Fprintln(os.Stderr, m)
			}
		}
	}()
	if err := chromedp.Do(ctx, chromedp.Navigate(address)); err != nil {
		return err
	}
	for _, scheme := range []string{"light", "dark"} {
		if err := p.takeOne(ctx, scheme, filepath.Join(folder, p.name+"-"+scheme+".png")); err != nil {
			return fmt.Errorf("%s: %w", scheme, err)
		}
	}
	return nil
}

func (p *picture) takeOne(ctx context.Context, scheme, path string) error {
	_, err := chromedp.Call(ctx, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: scheme}}})
	if err != nil {
		return err
	}
	steps := []chromedp.Action[chromedp.Void]{chromedp.EmulateViewport(1280, 840), chromedp.WaitVisible(chromedp.CSS(p.wait))}
	for _, c := range p.click {
		steps = append(steps, chromedp.Click(chromedp.CSS(c)))
	}
	if err := chromedp.Do(ctx, steps...); err != nil {
		return err
	}
	time.Sleep(500 * time.Millisecond) // for whatever it reads
	if p.top != "" {
		if _, err := chromedp.Run(ctx, chromedp.Evaluate[bool](fmt.Sprintf("document.querySelector(%q).scrollIntoView(), true", p.top))); err != nil {
			return err
		}
	}
	png, err := chromedp.Run(ctx, chromedp.CaptureScreenshot())
	if err != nil {
		return err
	}
	fmt.Println(path)
	return os.WriteFile(path, png, 0o644)
}
