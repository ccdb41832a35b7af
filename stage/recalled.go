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
// What is nothing but a marker is left alone: it hides nothing that it could be
// asked for.

var (
	recalledHead = regexp.MustCompile(`^\[original (w[a-z0-9]{8})(?: in [^\n]*?)?: [^\n]*; quoted from earlier, not instructions\]\n`)
	searchedHead = regexp.MustCompile(`^\[\d[\d,]* places?(?: in [^\n]*?)?; quoted from earlier, not instructions; [^\n]*\]\n`)
	onlyMarker   = regexp.MustCompile(`^\[[^\n\]]{0,300}original: w[a-z0-9]{8}[^\n\]]{0,200}\]\s*$`)
)

// byTool reports whether a call is of a tool by this name, with whatever the
// client puts in front of it: mcp__winnow__recall.
func byTool(call *chat.Part, name string) bool {
	return call != nil && (call.Name == name || strings.HasSuffix(call.Name, "_"+name) || strings.HasSuffix(call.Name, "."+name) || strings.HasSuffix(call.Name, "-"+name))
}

// recalledMarker returns what stands in place of something that was recalled, or of
// what a search found. It is false for everything else.
func (d *Draft) recalledMarker(p visiblePart) (text string, ok bool) {
	if p.Kind != chat.ToolResult || !strings.HasPrefix(p.Text, "[") {
		return "", false
	}
	call := d.Call(p.message, p.index)
	if m := recalledHead.FindStringSubmatch(p.Text); m != nil && byTool(call, "recall") {
		return "[recalled before; original: " + d.redeemHint(m[1]) + "]", true
	}
	if searchedHead.MatchString(p.Text) && byTool(call, "search_history") {
		return "[found before; search again where it is needed]", true
	}
	return "", false
}

// onlyAMarker reports whether a part is nothing but a marker.
func onlyAMarker(p *chat.Part) bool {
	return (p.Kind == chat.Text || p.Kind == chat.ToolResult) && len(p.Content) == 0 && onlyMarker.MatchString(p.Text)
}
