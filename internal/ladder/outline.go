package ladder

import (
	"fmt"
	"regexp"
	"strings"

	"github.com/winnow-llm/winnow/evidence"
	"github.com/winnow-llm/winnow/internal/workset"
)

// outlineLine is a line of a file that its outline shows.
type outlineLine struct {
	number int // 0 where it is not known
	text   string
}

// outlineOf returns the lines of a file that tell most about it, in at most that
// many tokens: what it is, what it defines with values and defaults, and the
// comments that somebody will look for. Where there is no room for all, later
// lines are left out first.
func (f *filler) outlineOf(file *workset.File, most int) (lines []outlineLine, tokens int) {
	for k := range file.Regions {
		g := &file.Regions[k]
		for i := range g.Lines {
			text := strings.TrimRight(g.Lines[i].Text, " \t\r")
			if len(text) > 240 || !outlines(file.Path, text) {
				continue
			}
			n := f.count(text) + 3
			if tokens+n > most {
				return lines, tokens
			}
			l := outlineLine{text: text}
			if g.From > 0 {
				l.number = g.From + i
			}
			lines = append(lines, l)
			tokens += n
		}
	}
	return lines, tokens
}

// marked are comments that somebody will look for.
var marked = regexp.MustCompile(`(TODO|FIXME|NOTE|XXX|HACK|BUG)\b|https?://|\b(port|timeout|limit|default|version|max|min)\b.*\d`)

// outlines reports whether a line belongs to its file's outline.
func outlines(file, line string) bool {
	code := strings.TrimLeft(line, " \t")
	if len(code) < 3 {
		return false
	}
	depth := len(line) - len(code)
	if isComment(code) {
		return marked.MatchString(code)
	}
	switch ext := file[strings.LastIndexByte(file, '.')+1:]; strings.ToLower(ext) {
	case "md", "mdx", "rst":
		return code[0] == '#'
	case "yaml", "yml", "toml", "ini", "cfg", "conf", "env", "properties":
		return depth <= 2
	case "json", "jsonc":
		return depth <= 2 && strings.Contains(code, `":`)
	case "sql":
		word, _, _ := strings.Cut(strings.ToLower(code), " ")
		return word == "create" || word == "alter" || depth <= 4 && strings.HasSuffix(code, ",")
	}
	for _, w := range [...]string{"package ", "module ", "namespace ", "import ", "from ", "use ", "require", "#include"} {
		if strings.HasPrefix(code, w) {
			return depth == 0
		}
	}
	if evidence.Defined(line) == "" {
		return depth == 0 && constant.MatchString(code)
	}
	return depth <= 8 && !localName(code, depth)
}

// constant is a name in capitals, or one at the line's start, that gets a value.
var constant = regexp.MustCompile(`^(export\s+|pub\s+|static\s+|final\s+)*(const\s+|let\s+|var\s+|val\s+)?[A-Za-z_][\w.]*\s*(:[^=]+)?(=|:=)\s*\S`)

// localName reports whether a line defines something for the lines around it
// only.
func localName(code string, depth int) bool {
	word, _, _ := strings.Cut(code, " ")
	switch word {
	case "const", "let", "var", "val", "auto", "final":
		return depth > 0
	}
	return false
}

func isComment(code string) bool {
	for _, w := range [...]string{"//", "#", "/*", "* ", "--", "<!--", `"""`, ";;", "%"} {
		if strings.HasPrefix(code, w) {
			return !strings.HasPrefix(code, "#include") && !strings.HasPrefix(code, "#define")
		}
	}
	return false
}

// writeOutline writes the outline of a file, without the lines that are shown.
func writeOutline(b *strings.Builder, v *fileView) {
	shown := map[int]bool{}
	for g, marks := range v.lines {
		for i, on := range marks {
			if on && g.From > 0 {
				shown[g.From+i] = true
			}
		}
	}
	var text strings.Builder
	for _, l := range v.outline {
		switch {
		case l.number == 0:
			text.WriteString(l.text + "\n")
		case !shown[l.number]:
			fmt.Fprintf(&text, "%d: %s\n", l.number, l.text)
		}
	}
	if text.Len() > 0 {
		fenced(b, "outline, with line numbers; read a range for its text", text.String())
	}
}
