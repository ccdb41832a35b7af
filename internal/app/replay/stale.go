package replay

import (
	"maps"
	"regexp"
	"strconv"
	"strings"

	"github.com/winnow-llm/winnow/chat"
	"github.com/winnow-llm/winnow/internal/work"
)

// fileLines are lines of a file by their numbers.
type fileLines map[int]string

// countStale counts the lines that a view shows as current and the next read of their
// file covers, and of those the ones that it contradicts. A file that is changed
// before it is read again says nothing.
func (x *nextIndex) countStale(c *NextCut, msgs []*chat.Message) Tally {
	var t Tally
	current := x.currentLines(msgs)
	h := x.session.History
	done := map[string]bool{}
	for i := c.At; i < h.Len() && len(done) < len(current); i++ {
		m := h.At(i)
		for k := range m.Parts {
			p := &m.Parts[k]
			switch p.Kind {
			case chat.ToolCall:
				for _, e := range x.edits[p] {
					x.eachSame(current, e.Path, func(file string) { done[file] = true })
				}
			case chat.ToolResult:
				file, now := x.readLines(p)
				if len(now) == 0 {
					continue
				}
				x.eachSame(current, file, func(file string) {
					if done[file] {
						return
					}
					done[file] = true
					for n, shown := range current[file] {
						if is, ok := now[n]; ok && strings.TrimSpace(shown) != "" {
							t.put(bareLine(is) != bareLine(shown))
						}
					}
				})
			}
		}
	}
	return t
}

// bareLine leaves off what an outline leaves off: indentation, and the brace that
// opens a body.
func bareLine(l string) string {
	return strings.TrimSpace(strings.TrimSuffix(strings.TrimSpace(l), "{"))
}

func (x *nextIndex) eachSame(current map[string]fileLines, file string, f func(string)) {
	for name := range current {
		if samePath(name, file) {
			f(name)
		}
	}
}

// currentLines returns the lines of files that a view shows as they stand: those of
// reads after which the view has no edit of the file, and those of messages that
// say how files stand, in blocks under a path with a range or with numbers.
func (x *nextIndex) currentLines(msgs []*chat.Message) map[string]fileLines {
	out := map[string]fileLines{}
	put := func(file string, lines fileLines) {
		if out[file] == nil {
			out[file] = fileLines{}
		}
		maps.Copy(out[file], lines)
	}
	for pass := range 2 { // what says how files stand now comes last
		for _, m := range msgs {
			_, raw := x.raw[m]
			now := !raw && isCurrent(m)
			if now != (pass == 1) {
				continue
			}
			for k := range m.Parts {
				switch p := &m.Parts[k]; p.Kind {
				case chat.Text:
					if now {
						x.eachBlock(p.Text, func(file, header string, lines []string) { put(file, blockLines(header, lines)) })
					}
				case chat.ToolCall:
					for _, s := range x.callChanges(p) {
						x.eachSame(out, s.edit.Path, func(file string) { delete(out, file) })
					}
				case chat.ToolResult:
					if file, lines := x.readLines(p); len(lines) > 0 {
						put(file, lines)
					}
				}
			}
		}
	}
	return out
}

// readLines returns the lines that a result of reading one file shows, where
// their numbers are known: they stand there, or the call asked for a range with
// a tool that shows nothing else.
func (x *nextIndex) readLines(p *chat.Part) (string, fileLines) {
	call := x.callOf(p)
	if call == nil || p.Failed {
		return "", nil
	}
	a := x.access[call]
	if a.Kind != work.ToolRead || a.Path == "" || len(a.Paths) > 0 || a.Command != "" {
		return "", nil
	}
	return a.Path, numberedLines(strings.Split(trimLines(p.Text), "\n"))
}

// numberedLines returns the lines that have numbers.
func numberedLines(lines []string) fileLines {
	out := fileLines{}
	for i, l := range lines {
		n, ok := numberOf(l)
		if !ok || n.mark == 0 {
			continue
		}
		// A number counts on from the line before or to the one after.
		for _, k := range [...]int{i - 1, i + 1} {
			if k >= 0 && k < len(lines) {
				if o, ok := numberOf(lines[k]); ok && o.n-n.n == k-i {
					out[n.n] = n.rest
				}
			}
		}
	}
	return out
}

// blockRange finds the lines that a header names: 12-40, L12-L40, lines 12 to 40.
var blockRange = regexp.MustCompile(`\bL?(\d+)(?:-|–| to )L?(\d+)\b`)

// blockLines returns the lines of a block by their numbers: their own, or those
// that its header names. It is the one place that knows how a made text shows
// lines of a file.
func blockLines(header string, lines []string) fileLines {
	if out := numberedLines(lines); len(out) > 0 {
		return out
	}
	r := blockRange.FindStringSubmatch(header)
	if r == nil {
		return nil
	}
	from, _ := strconv.Atoi(r[1])
	to, _ := strconv.Atoi(r[2])
	out := fileLines{}
	fence := ""
	for _, l := range lines {
		if f := fenceOf(l); f != "" && (fence == "" || strings.HasPrefix(f, fence)) {
			if fence != "" {
				break
			}
			fence = f
			continue
		}
		if fence != "" && from <= to {
			out[from] = strings.TrimRight(l, " \t\r")
			from++
		}
	}
	return out
}
