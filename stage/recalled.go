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

// byTool reports whether a call is of a tool by this name, with whatever the
// client puts in front of it: mcp__winnow__recall.
func byTool(call *chat.Part, name string) bool {
	return call.Name == name || strings.HasSuffix(call.Name, "_"+name) || strings.HasSuffix(call.Name, "."+name) || strings.HasSuffix(call.Name, "-"+name)
}

// recalledMarker returns what stands in place of something that was recalled. It is
// false for everything else.
func (d *Draft) recalledMarker(p visiblePart) (text string, ok bool) {
	if p.Kind != chat.ToolResult || !strings.HasPrefix(p.Text, "[") {
		return "", false
	}
	m := recalledHead.FindStringSubmatch(p.Text)
	if m == nil || !byTool(d.Call(p.message, p.index), "recall") {
		return "", false
	}
	return "[recalled before; original: " + d.redeemHint(m[1]) + "]", true
}
