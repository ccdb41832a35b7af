package ladder

import "strings"

// Section is a stretch of a text that a rewrite wrote, told apart by what it holds.
type Section struct {
	Band  string // "files", "words" or "actions"
	About string // the file's path, or who speaks; "" for what stands between
	Text  string
}

// openings are the beginnings of lines that open a section of a dialogue.
var openings = []struct {
	begin string
	Section
}{
	{"User: ", Section{Band: "words", About: "user"}},
	{"Agent: ", Section{Band: "words", About: "agent"}},
	{"Report of a sub-agent: ", Section{Band: "words", About: "sub-agent"}},
	{"- ", Section{Band: "actions"}},
}

// Sections reads a fold or a state back into what it was written from. A summary
// of another kind is words. Lines that begin like an action may also stand in what
// somebody said: said reports whether they do.
func Sections(text string, said func(line string) bool) (out []Section) {
	ours := strings.HasPrefix(text, "[Earlier conversation, ") || strings.HasPrefix(text, stateHead)
	now, fence, from, at := Section{Band: "words"}, "", 0, 0 // the fence that the lines stand in, "" for none
	put := func(next Section) {
		if now.Text = text[from:at]; strings.TrimSpace(now.Text) != "" {
			out = append(out, now)
		}
		now, from = next, at
	}
	for line := range strings.Lines(text) {
		bare, files := strings.TrimSuffix(line, "\n"), now.Band == "files"
		switch {
		case !ours:
		case fence != "":
			if bare == fence {
				fence = ""
			}
		case files && strings.HasPrefix(bare, "```"):
			fence = bare
		case bare == filesHead, files && strings.HasPrefix(bare, "Not shown, though "):
			put(Section{Band: "files"})
		case files && strings.HasPrefix(bare, "### "):
			put(Section{Band: "files", About: pathOf(bare[len("### "):])})
		case files && bare == standsHead:
			put(Section{Band: "actions"})
		case bare == frameEnd, bare == stateEnd, !files && strings.HasPrefix(bare, "[") && strings.Contains(bare, " left out, messages "):
			put(Section{Band: "words"})
		case !files:
			for _, x := range openings {
				list := x.Band == "actions" && (now.Band == "actions" || said(bare)) // it goes on
				if strings.HasPrefix(bare, x.begin) && !list {
					put(x.Section)
				}
			}
		}
		at += len(line)
	}
	put(Section{})
	return out
}

// pathOf returns the path in a file's heading.
func pathOf(head string) string {
	for _, end := range []string{" (changed ", " (written here", ", may have changed since"} {
		head, _, _ = strings.Cut(head, end)
	}
	return head
}
