// Command pictures takes pictures of the page in a headless browser, light and
// dark, wide and narrow. With a folder alone it takes those of the documents, of
// the page about the demo's session:
//
//	go run ./page/pictures ../docs
//	go run ./page/pictures -hash /c/ID/files -wait .path ADDRESS FOLDER
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"
)

// picture says what is taken.
type picture struct {
	address, folder, name, hash, wait, click, only, top string
	full                                                bool
	height                                              int64
}

func main() {
	var p picture
	flag.StringVar(&p.wait, "wait", ".bar", "a `SELECTOR` to wait for")
	flag.StringVar(&p.name, "name", "page", "how the files are called")
	flag.StringVar(&p.hash, "hash", "", "the part of the address behind #")
	flag.StringVar(&p.click, "click", "", "`SELECTORS` to click first, separated by ;")
	flag.StringVar(&p.only, "only", "", "the pictures that are taken: light-1400,dark-420 for example; 1280 and 390 where nothing is said")
	flag.BoolVar(&p.full, "full", false, "the whole page, not only what fits")
	flag.Int64Var(&p.height, "height", 800, "the window's height")
	flag.Parse()
	var err error
	switch flag.NArg() {
	case 1:
		err = takeDocuments(flag.Arg(0))
	case 2:
		p.address, p.folder = flag.Arg(0), flag.Arg(1)
		err = p.take()
	default:
		fmt.Fprintln(os.Stderr, "usage: pictures [flags] [ADDRESS] FOLDER")
		os.Exit(2)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "pictures:", err)
		os.Exit(1)
	}
}

// takeDocuments takes the pictures of the documents.
func takeDocuments(folder string) error {
	dir, err := os.MkdirTemp("", "pictures")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	session, html, bin := filepath.Join(dir, "session.json"), filepath.Join(dir, "page.html"), filepath.Join(dir, "winnow")
	build := exec.Command("go", "build", "-o", bin, "./cmd/winnow")
	build.Dir = ".."
	for _, cmd := range []*exec.Cmd{build, exec.Command(bin, "demo", "--out", session), exec.Command(bin, "page", session, "--html", html)} {
		cmd.Env = append(os.Environ(), "HOME="+dir, "XDG_CONFIG_HOME="+dir)
		if cmd == build {
			cmd.Env = os.Environ()
		}
		if text, err := cmd.CombinedOutput(); err != nil {
			return fmt.Errorf("%w: %s", err, text)
		}
	}
	for _, p := range []picture{
		{name: "page", wait: ".bar", height: 840},
		{name: "page-patch", wait: ".tabs", click: ".tabs a[href$='/plans'];.drop:last-of-type", top: "#plan-title", height: 840},
	} {
		p.address, p.folder, p.only = "file://"+html, folder, "light-1280,dark-1280"
		if err := p.take(); err != nil {
			return err
		}
	}
	return nil
}

func (p *picture) take() error {
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
	if err := chromedp.Do(ctx, chromedp.Navigate(p.address)); err != nil {
		return err
	}
	for _, scheme := range []string{"light", "dark"} {
		for _, width := range []int64{1280, 1400, 420, 390} {
			name := fmt.Sprintf("%s-%d", scheme, width)
			if p.only == "" && width != 1280 && width != 390 {
				continue
			}
			if p.only != "" && !strings.Contains(","+p.only+",", ","+name+",") {
				continue
			}
			if err := p.takeOne(ctx, scheme, width, filepath.Join(p.folder, p.name+"-"+strings.TrimSuffix(name, "-1280")+".png")); err != nil {
				return fmt.Errorf("%s: %w", name, err)
			}
		}
	}
	return nil
}

func (p *picture) takeOne(ctx context.Context, scheme string, width int64, path string) error {
	_, err := chromedp.Call(ctx, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: scheme}}})
	if err != nil {
		return err
	}
	steps := []chromedp.Action[chromedp.Void]{chromedp.EmulateViewport(width, p.height)}
	if p.hash != "" {
		if _, err := chromedp.Run(ctx, chromedp.Evaluate[string](fmt.Sprintf("location.hash = %q", p.hash))); err != nil {
			return err
		}
	}
	steps = append(steps, chromedp.WaitVisible(chromedp.CSS(p.wait)))
	for c := range strings.SplitSeq(p.click, ";") {
		if c != "" {
			steps = append(steps, chromedp.Click(chromedp.CSS(c)))
		}
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
	take := chromedp.CaptureScreenshot()
	if p.full {
		take = chromedp.FullScreenshot(100)
	}
	png, err := chromedp.Run(ctx, take)
	if err != nil {
		return err
	}
	fmt.Println(path)
	return os.WriteFile(path, png, 0o644)
}
