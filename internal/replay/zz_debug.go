package replay

import (
	"fmt"
	"os"
	"strings"

	"github.com/winnow-llm/winnow/chat"
)

func debugField(x *nextIndex, c *NextCut, name string, msgs []*chat.Message, words *fieldWords) {
	if os.Getenv("FIELDDEBUG") != name {
		return
	}
	dumpView(x, c, msgs)
	v := x.shown(msgs)
	for _, e := range c.Edits {
		if !v.ready(e.Path, e.Old) {
			fmt.Fprintf(os.Stderr, "MISS %s at %d age %d %s\n%q\n", x.session.File, c.At, e.Age, e.Path, firstRunes(e.Old, 300))
			calls := map[string]string{}
			h := x.session.History
			for i := range c.At {
				m := h.At(i)
				for k := range m.Parts {
					p := &m.Parts[k]
					if p.Kind == chat.ToolCall {
						calls[p.ID] = p.Name + " " + firstRunes(p.Args, 300)
					}
					for _, t := range partTexts(p) {
						if strings.Contains(t, strings.Trim(trimLines(e.Old), "\n")) {
							fmt.Fprintf(os.Stderr, "  IN %d %s %s: %s\n", i, m.Role, p.Kind, calls[p.ID])
							break
						}
					}
				}
			}
		}
	}
	var text string
	for _, m := range msgs {
		eachText(m, func(_ voice, t string) { text += t + "\n" })
	}
	lines := lineWords(text)
	for _, s := range words.binding {
		if !onOneLine(lines, s) {
			fmt.Fprintf(os.Stderr, "BIND %s at %d: %s\n", x.session.File, c.At, firstRunes(s, 200))
		}
	}
}

func dumpView(x *nextIndex, c *NextCut, msgs []*chat.Message) {
	dir := os.Getenv("FIELDDUMP")
	if dir == "" {
		return
	}
	out := ""
	for _, m := range msgs {
		if _, raw := x.raw[m]; !raw {
			out += "=====MADE " + string(m.Role) + "\n" + m.Text() + "\n"
		} else {
			n := 0
			eachText(m, func(_ voice, t string) { n += len(t) })
			out += fmt.Sprintf("=====RAW %s %d chars: %s\n", m.Role, n, firstRunes(m.Text(), 200))
		}
	}
	name := fmt.Sprintf("%s/%s-%d.txt", dir, pathBase(x.session.File), c.At)
	_ = os.WriteFile(name, []byte(out), 0o644)
}

func pathBase(p string) string {
	for i := len(p) - 1; i >= 0; i-- {
		if p[i] == '/' {
			return p[i+1:]
		}
	}
	return p
}
