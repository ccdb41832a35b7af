package ladder

import (
	"fmt"
	"maps"
	"strings"

	"github.com/winnow-llm/winnow/chat"
	"github.com/winnow-llm/winnow/internal/find"
	"github.com/winnow-llm/winnow/internal/guard"
	"github.com/winnow-llm/winnow/internal/quote"
	"github.com/winnow-llm/winnow/internal/typed"
	"github.com/winnow-llm/winnow/token"
)

// attachFile reads a file that stands in a user's message into the working set, and
// reports whether it is there.
func (r *Reading) attachFile(name, text string, whole bool) bool {
	lines := 0
	if r.left == nil {
		r.left = guard.Do("files", func() { lines = r.set.Attach(name, text, whole) })
	}
	return lines > 0
}

// attachSpan reads an attached file out of the text with which a client framed
// it.
func (r *Reading) attachSpan(name, text string) bool {
	open, end := strings.IndexByte(text, '>'), strings.LastIndex(text, "</")
	if !strings.HasPrefix(text, "<") || open < 0 || end <= open {
		return r.attachFile(name, text, false)
	}
	whole := find.AnyStart(text, "<file_content", "<final_file_content", "<file ") // the tags in which clients put a file as it is
	return r.attachFile(name, strings.TrimPrefix(text[open+1:end], "\n"), whole)
}

// ChangedParts names the parts of a user's message that are nothing but a file, by its path:
// one that was changed since, and of which at most that many tokens are known now.
func (r *Reading) ChangedParts(msg, most int) map[int]string {
	m, names := r.history.At(msg), map[int]string{}
	for _, s := range typed.Split(r.history, msg) {
		if s.Kind == typed.File && len(strings.TrimSpace(m.Parts[s.Part].Text)) == s.To-s.From {
			names[s.Part] = s.Name
		}
	}
	for k := range m.Parts {
		if p := &m.Parts[k]; p.Kind == chat.Document {
			names[k] = p.Name
		}
	}
	maps.DeleteFunc(names, func(_ int, name string) bool {
		file := r.set.File(name)
		return file == nil || file.Deleted || file.Edited <= msg || r.knownTokens(file) > most
	})
	return names
}

// readMedia reads the images and documents of a user's message: a file joins the
// working set, anything else has its line.
func (r *Reading) readMedia(i int, m *chat.Message) {
	if m.Role == chat.Assistant || m.Role == chat.System {
		return
	}
	for k := range m.Parts {
		p := &m.Parts[k]
		if p.Kind != chat.Image && p.Kind != chat.Document {
			continue
		}
		line := MediaLine(p)
		if p.Kind == chat.Document && p.Name != "" {
			if text, ok := token.FileText(p); ok && r.attachFile(p.Name, text, true) {
				line = "[attached " + quote.Line(p.Name) + ": it stands among the files]"
			}
		}
		if r.typed >= 0 && int(r.steps[r.typed].msg) == i {
			r.steps[r.typed].text += "\n" + line
			continue
		}
		r.names[len(r.steps)] = p.Kind.String()
		r.steps = append(r.steps, step{kind: notice, msg: int32(i), text: line})
	}
}

// MediaLine names an image or document: what it is, its name, its size.
func MediaLine(p *chat.Part) string {
	what := []string{p.Kind.String()}
	for _, s := range [...]string{p.Name, p.Media} {
		if s = quote.Line(quote.ClipLine(s, 120)); s != "" {
			what = append(what, s)
		}
	}
	text := "[" + strings.Join(what, " ")
	if n := len(p.Data) + len(p.Text); n > 0 {
		text += fmt.Sprintf(", %d KB", (n+1023)/1024)
	}
	return text + "]"
}

// mediaOf names the images and documents in a result; "" where there are none.
func mediaOf(p *chat.Part) string {
	var list []string
	for i := range p.Content {
		list = append(list, MediaLine(&p.Content[i]))
	}
	return strings.Join(list, " ")
}
