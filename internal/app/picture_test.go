//go:build unix

package app

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"html"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/winnow-llm/winnow/internal/app/demo"
)

var picture = flag.String("picture", "", "draw the README's picture of winnow tree to `FILE`")

// TestPicture draws winnow tree on the demo's session, compacted, as it stands on the
// screen (make pictures).
func TestPicture(t *testing.T) {
	if *picture == "" {
		t.Skip("make pictures draws it")
	}
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "session.json"), demo.Session(), 0o600); err != nil {
		t.Fatal(err)
	}
	winnow := func(args ...string) *exec.Cmd { // away from the settings and sessions of this machine's user
		cmd := exec.Command("winnow", args...)
		cmd.Dir = dir
		cmd.Env = []string{"TERM=xterm-256color", "HOME=" + dir, "PATH=" + os.Getenv("PATH")}
		return cmd
	}
	text, err := winnow("session", "import", "session.json", "--json").Output()
	var imported struct {
		Sessions []struct{ Session string }
	}
	if err != nil || json.Unmarshal(text, &imported) != nil || len(imported.Sessions) != 1 {
		t.Fatalf("%v: %s", err, text)
	}
	id := imported.Sessions[0].Session
	if text, err := winnow("session", "compact", id).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, text)
	}
	term := startTerminal(t, 150, 36, winnow("tree", id))
	term.WaitFor("? help")
	term.WaitGone("reading")
	term.WaitFor("folded") // the summary and what it stands for are side by side
	term.WaitFor(" saved") // what is drawn last
	if err := os.WriteFile(*picture, drawSVG(term.Cells()), 0o644); err != nil {
		t.Fatal(err)
	}
	term.Send("q")
	if code := term.Wait(); code != 0 {
		t.Errorf("exit code %d", code)
	}
}

// Sizes of a character cell and of the frame, in SVG units.
const (
	cellWidth, cellHeight = 8.4, 18.0
	margin                = 14.0
	background            = "#16181d"
	foreground            = "#d5d8de"
)

// drawSVG writes a screen as SVG. Empty lines at the end are left out.
func drawSVG(cells [][]screenCell) []byte {
	for len(cells) > 0 && isBlank(cells[len(cells)-1]) {
		cells = cells[:len(cells)-1]
	}
	cols := 0
	for _, row := range cells {
		cols = max(cols, len(row))
	}
	width, height := float64(cols)*cellWidth+2*margin, float64(len(cells))*cellHeight+2*margin
	var b bytes.Buffer
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" width="%.0f" height="%.0f" viewBox="0 0 %.0f %.0f" font-family="ui-monospace, SFMono-Regular, Menlo, Consolas, 'DejaVu Sans Mono', monospace" font-size="14">`+"\n", width, height, width, height)
	fmt.Fprintf(&b, `<rect width="100%%" height="100%%" rx="8" fill="%s"/>`+"\n", background)
	for y, row := range cells {
		for x := 0; x < len(row); {
			end := x + 1
			for end < len(row) && sameStyle(row[x], row[end]) {
				end++
			}
			drawRun(&b, row[x:end], x, y)
			x = end
		}
	}
	b.WriteString("</svg>\n")
	return b.Bytes()
}

// drawRun draws cells of one line that look alike.
func drawRun(b *bytes.Buffer, run []screenCell, x, y int) {
	left, top := margin+float64(x)*cellWidth, margin+float64(y)*cellHeight
	width := float64(len(run)) * cellWidth
	if run[0].BG >= 0 {
		fmt.Fprintf(b, `<rect x="%.1f" y="%.1f" width="%.1f" height="%.1f" fill="%s"/>`+"\n", left, top, width, cellHeight, paletteColour(run[0].BG, background))
	}
	var text strings.Builder
	for _, c := range run {
		if c.Rune != 0 {
			text.WriteRune(c.Rune)
		}
	}
	if strings.TrimSpace(text.String()) == "" {
		return
	}
	style := ""
	if run[0].Bold {
		style += ` font-weight="bold"`
	}
	if run[0].Italic {
		style += ` font-style="italic"`
	}
	if run[0].Underline {
		style += ` text-decoration="underline"`
	}
	fmt.Fprintf(b, `<text x="%.1f" y="%.1f" textLength="%.1f" xml:space="preserve" fill="%s"%s>%s</text>`+"\n",
		left, top+cellHeight*.74, width, paletteColour(run[0].FG, foreground), style, html.EscapeString(text.String()))
}

func isBlank(row []screenCell) bool {
	return !slices.ContainsFunc(row, func(c screenCell) bool { return c.Rune != ' ' || c.BG >= 0 })
}

// sameStyle reports whether two cells are drawn in one go.
func sameStyle(a, b screenCell) bool {
	a.Rune, b.Rune = 0, 0
	return a == b
}

// paletteColour returns a colour of the palette of 256, or the default for -1.
func paletteColour(n int, otherwise string) string {
	basic := [16]string{
		"#16181d", "#e06c75", "#98c379", "#e5c07b", "#61afef", "#c678dd", "#56b6c2", "#abb2bf",
		"#5c6370", "#ef8b92", "#b5d89a", "#f0d39a", "#8cc8f7", "#d9a0ea", "#84d0da", "#ffffff",
	}
	level := func(v int) int {
		if v == 0 {
			return 0
		}
		return 55 + 40*v
	}
	switch {
	case n < 0 || n > 255:
		return otherwise
	case n < 16:
		return basic[n]
	case n < 232:
		n -= 16
		return fmt.Sprintf("#%02x%02x%02x", level(n/36), level(n/6%6), level(n%6))
	}
	grey := 8 + 10*(n-232)
	return fmt.Sprintf("#%02x%02x%02x", grey, grey, grey)
}
