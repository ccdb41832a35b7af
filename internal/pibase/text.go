package pibase

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf16"

	"github.com/winnow-llm/winnow/internal/decode"
)

// contentText returns the words of a message, blocks joined by sep.
func contentText(m *Message, sep string) string {
	if m.IsText {
		return m.Text
	}
	var parts []string
	for i := range m.Blocks {
		if m.Blocks[i].Type == "text" {
			parts = append(parts, m.Blocks[i].Text)
		}
	}
	return strings.Join(parts, sep)
}

// The sentences with which pi hands summaries to the model. They stand in real
// sessions and in every text that pi hashes.
const (
	compactionIntro = "The conversation history before this point was compacted into the following summary:\n\n<summary>\n"
	compactionEnd   = "\n</summary>"
	branchIntro     = "The following is a summary of a branch that this conversation came back from:\n\n<summary>\n"
	branchEnd       = "</summary>"
)

// ToLLM returns the messages as they are sent: pi's own roles become user
// messages, and commands that the user kept out of the context are left out.
func ToLLM(msgs []*Message) []*Message {
	user := func(text string) *Message {
		return &Message{Role: "user", Blocks: []Block{{Type: "text", Text: text}}}
	}
	var out []*Message
	for _, m := range msgs {
		switch m.Role {
		case "bashExecution":
			if !m.Excluded {
				out = append(out, user(m.bashText()))
			}
		case "custom":
			c := *m
			c.Role = "user"
			out = append(out, &c)
		case "branchSummary":
			out = append(out, user(branchIntro+m.Summary+branchEnd))
		case "compactionSummary":
			out = append(out, user(compactionIntro+m.Summary+compactionEnd))
		case "user", "assistant", "toolResult", "system":
			out = append(out, m)
		}
	}
	return out
}

func (m *Message) bashText() string {
	s := "Ran `" + m.Command + "`\n"
	if m.Output != "" {
		s += "```\n" + m.Output + "\n```"
	} else {
		s += "(no output)"
	}
	if m.Cancelled {
		s += "\n\n(command cancelled)"
	} else if m.Exit != "" && m.Exit != "0" {
		s += "\n\nCommand exited with code " + m.Exit
	}
	if m.Truncated && m.FullOutput != "" {
		s += "\n\n[Output truncated. Full output: " + m.FullOutput + "]"
	}
	return s
}

// resultUnits is how much of a tool result is serialised.
const resultUnits = 2000

// Serialize returns messages as the text that pi has summarised.
func Serialize(msgs []*Message) string {
	var text strings.Builder
	add := func(who, words string) {
		if text.Len() > 0 {
			text.WriteString("\n\n")
		}
		text.WriteString(who)
		text.WriteString(words)
	}
	for _, m := range ToLLM(msgs) {
		switch m.Role {
		case "user":
			if t := contentText(m, "\n"); t != "" {
				add("[User]: ", t)
			}
		case "assistant":
			var calls []string
			said := false
			for i := range m.Blocks {
				switch b := &m.Blocks[i]; b.Type {
				case "text":
					said = true
				case "toolCall":
					var args []string
					for _, a := range orderedMembers(b.Arguments) {
						args = append(args, a.name+"="+stringify(a.value))
					}
					calls = append(calls, b.Name+"("+strings.Join(args, ", ")+")")
				}
			}
			if said {
				add("[Assistant]: ", contentText(m, "\n"))
			}
			if len(calls) > 0 {
				add("[Assistant tool calls]: ", strings.Join(calls, "; "))
			}
		case "toolResult":
			if t := contentText(m, "\n"); t != "" {
				if n := utf16Units(t); n > resultUnits {
					t = fmt.Sprintf("%s\n\n[... %d more characters truncated]", headUnits(t, resultUnits), n-resultUnits)
				}
				add("[Tool result]: ", t)
			}
		}
	}
	return text.String()
}

// FileOps are the files that were read, written and edited: true is those that were
// not only read.
type FileOps map[string]bool

// AddMessage adds what a message's calls did. Only the tools read, write and
// edit count, by their argument path.
func (f FileOps) AddMessage(m *Message) {
	blocks := m.Nested
	if m.Role == "assistant" {
		blocks = m.Blocks
	} else if m.Role != "toolResult" {
		return
	}
	for i := range blocks {
		b := &blocks[i]
		path, modifies := decode.Str(b.Arguments, "path"), b.Name == "write" || b.Name == "edit"
		if b.Type == "toolCall" && path != "" && (b.Name == "read" || modifies) {
			f.addPaths(modifies, path)
		}
	}
}

// addPaths adds files, modified ones or such that were read.
func (f FileOps) addPaths(modified bool, paths ...string) {
	for _, path := range paths {
		f[path] = f[path] || modified
	}
}

// Lists returns the files that were only read and those that were modified, in
// the order of JavaScript's sort.
func (f FileOps) Lists() (read, modified []string) {
	for path, is := range f {
		if is {
			modified = append(modified, path)
		} else {
			read = append(read, path)
		}
	}
	sortUnits(read)
	sortUnits(modified)
	return read, modified
}

// sortUnits sorts by 16-bit units, in which characters beyond the first plane
// stand before the private ones of it.
func sortUnits(list []string) {
	units := func(s string) []uint16 { return utf16.Encode([]rune(s)) }
	slices.SortFunc(list, func(a, b string) int { return slices.Compare(units(a), units(b)) })
}

// Footer returns the lists of files as pi puts them under a summary.
func Footer(read, modified []string) string {
	s := ""
	if len(read) > 0 {
		s += "\n\n<read-files>\n" + strings.Join(read, "\n") + "\n</read-files>"
	}
	if len(modified) > 0 {
		s += "\n\n<modified-files>\n" + strings.Join(modified, "\n") + "\n</modified-files>"
	}
	return s
}
