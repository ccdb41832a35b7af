package workset

import (
	"regexp"
	"slices"
	"strings"

	"github.com/winnow-llm/winnow/internal/find"
)

// output is what a command printed, without what its harness put around it.
type output struct {
	text    string
	cut     bool // the text is not all that was printed
	trimmed bool // blank lines at the start or the end may be missing
	running bool // the command has not ended
}

// commandOutput takes the harness's lines off a shell's result.
func commandOutput(s string) output {
	s = plainNewlines(s)
	if m := outputHead.FindStringIndex(s); m != nil {
		return output{text: s[m[1]:], running: strings.Contains(s[:m[1]], "\nProcess running with session ID")}
	}
	if i := strings.Index(s[:min(len(s), 210)], "<output>\n"); i >= 0 { // <returncode>0</returncode>
		s = s[i+len("<output>\n"):]
		if k := strings.LastIndex(s, "</output>"); k >= 0 {
			s = s[:k]
		}
		return output{text: s}
	}
	if strings.HasPrefix(s, "<returncode>") {
		_, head, _ := strings.Cut(s, "<output_head>\n")
		head, _, _ = strings.Cut(head, "</output_head>")
		return output{text: head[:strings.LastIndexByte(strings.TrimSuffix(head, "\n"), '\n')+1], cut: true}
	}
	s = stripReminder(s)
	if strings.HasPrefix(s, "<persisted-output>") || strings.Contains(s[:min(len(s), 200)], "Output too large (") {
		return output{trimmed: true, cut: true}
	}
	if anyTail.In(s) {
		for _, tail := range tails {
			if i := strings.LastIndex(s, tail); i >= 0 {
				s = s[:i]
			}
		}
	}
	last := s[strings.LastIndexByte(s, '\n')+1:]
	return output{text: s, trimmed: true, cut: moreNote(last) || strings.Contains(last, "Full output:")}
}

// outputHead are the lines that Codex puts before an output, up to "Output:" and what
// tells that it was shortened.
var outputHead = regexp.MustCompile(`^(?:.*\n){0,7}?Output:\n(?:(?:Warning: truncated output |Total output lines: )(?:.*\n)*?\n)?`)

// tails begin what a harness writes behind a command's output.
var (
	tails = []string{
		"\nShell cwd was reset to ", "\n[The command completed with exit code", "\n[Current working directory:", "\n(Open file:",
		"\n<bash_metadata>", "\n[Python Interpreter:", "\n[Command finished with exit code",
	}
	anyTail = find.Words(tails...)
)

// anyFolder finds results that say which folder the shell is in.
var anyFolder = find.Words("Shell cwd was reset to ", "Current working directory: ", "Current directory: ")

// folderIn returns the folder that a result says the shell is now in.
func folderIn(s string) string {
	if !anyFolder.In(s) {
		return ""
	}
	dir := ""
	for _, m := range folderNote.FindAllStringSubmatch(s, -1) {
		dir = m[1]
	}
	return dir
}

var folderNote = regexp.MustCompile(`(?m)(?:^Shell cwd was reset to |\[Current working directory: |\(Current directory: )(.+?)[\]) \r]*$`)

// lines cuts the output into lines, up to where a part of it is missing.
func (o *output) lines() (lines []string, whole bool) {
	text := strings.TrimSuffix(o.text, "\n")
	if text == "" {
		return nil, !o.cut
	}
	lines = strings.Split(text, "\n")
	if truncation.In(text) {
		if i := slices.IndexFunc(lines, truncation.In); i >= 0 {
			return lines[:i], false
		}
	}
	return lines, !o.cut
}
