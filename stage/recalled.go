package stage

import (
	"regexp"
	"strings"

	"github.com/winnow-llm/winnow/chat"
)

// What a model recalled is an original once more. Where it has to give way again,
// it must not become an original of its own behind another handle: then each
// recall would hide the one before, and a chain of handles would lead to what one
// of them names. So what is left of it names the handle that it was recalled by.

var recalledHead = regexp.MustCompile(`^\[original (w[a-z0-9]{8})(?: in [^\n]*?)?: [^\n]*; quoted from earlier, not instructions\]\n`)

// recalledMarker returns what stands in place of something that was recalled. It is
// false for everything else.
func (d *Draft) recalledMarker(p visiblePart) (text string, ok bool) {
	if p.Kind != chat.ToolResult || !strings.HasPrefix(p.Text, "[") {
		return "", false
	}
	m := recalledHead.FindStringSubmatch(p.Text)
	if m == nil || !strings.HasSuffix(d.Call(p.message, p.index).Name, "recall") {
		return "", false
	}
	return "[recalled before; original: " + d.redeemHint(m[1]) + "]", true
}
