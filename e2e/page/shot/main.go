// Command shot takes pictures of the page in a headless browser, light and dark,
// wide and narrow. scripts/pictures makes those of the README with it.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"
)

// picture says what is taken.
type picture struct {
	address, folder, name, hash, wait, click, only string
	full                                           bool
	height                                         int64
}

func main() {
	var p picture
	flag.StringVar(&p.wait, "wait", ".timeline canvas", "a `SELECTOR` to wait for")
	flag.StringVar(&p.name, "name", "page", "how the files are called")
	flag.StringVar(&p.hash, "hash", "", "the part of the address behind #")
	flag.StringVar(&p.click, "click", "", "`SELECTORS` to click first, separated by ;")
	flag.StringVar(&p.only, "only", "", "the pictures that are taken: light-1280,dark-390 for example")
	flag.BoolVar(&p.full, "full", false, "the whole page, not only what fits")
	flag.Int64Var(&p.height, "height", 800, "the window's height")
	flag.Parse()
	if flag.NArg() != 2 {
		fmt.Fprintln(os.Stderr, "usage: shot [flags] ADDRESS FOLDER")
		os.Exit(2)
	}
	p.address, p.folder = flag.Arg(0), flag.Arg(1)
	if err := p.take(); err != nil {
		fmt.Fprintln(os.Stderr, "shot:", err)
		os.Exit(1)
	}
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
		for _, width := range []int64{1280, 390} {
			name := fmt.Sprintf("%s-%d", scheme, width)
			if p.only != "" && !strings.Contains(","+p.only+",", ","+name+",") {
				continue
			}
			if err := p.one(ctx, scheme, width, filepath.Join(p.folder, p.name+"-"+name+".png")); err != nil {
				return fmt.Errorf("%s: %w", name, err)
			}
		}
	}
	return nil
}

func (p *picture) one(ctx context.Context, scheme string, width int64, path string) error {
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
