package evidence

import (
	"strconv"
	"strings"

	"github.com/winnow-llm/winnow/chat"
)

// extractor reads messages in order.
type extractor struct {
	e     *Evidence
	kinds *Kinds
	at    int
	open  map[string]*chat.Part // calls without a result yet, by id
	scan  entityScanner
	seen  map[string]bool // keys of one text that occur twice
}

func (x *extractor) part(role chat.Role, p *chat.Part) {
	switch p.Kind {
	case chat.Text:
		if role == chat.Assistant {
			x.names(p.Text, false, said)
		}
	case chat.ToolCall:
		x.open[p.ID] = p
		x.args(p)
	case chat.ToolResult:
		call := x.open[p.ID]
		delete(x.open, p.ID)
		x.result(call, p)
	}
}

// args reads what the agent wrote into a call: the values, since the names of
// arguments are the tool's. Numbers count where the tool is about things rather
// than files and commands, where they are line numbers and limits.
func (x *extractor) args(call *chat.Part) {
	v := called
	if k := x.kinds.Of(call.Name); k == Other {
		v = said
	}
	if !members(call.Args, func(_, raw string) bool {
		x.names(raw, true, v)
		return true
	}) {
		x.names(call.Args, false, v)
	}
}

// user reads what a user typed.
func (x *extractor) user(text string) {
	x.e.addRequest(Statement{x.at, text})
	constraints(text, func(s string) { x.e.addConstraint(Statement{x.at, s}) })
	x.names(text, false, asked)
}

// result reads a call together with its result.
func (x *extractor) result(call, res *chat.Part) {
	var a Access
	if call != nil {
		a = x.kinds.Access(call)
	}
	failed, exit, known := Status(res)
	source, piped := "", false
	if call != nil {
		source = sourceOf(call, &a)
		if a.Command != "" {
			source, piped = coreCommand(a.Command)
		}
	}
	if piped && exit == 0 {
		known = false // the status of the filter, not of the command
	}
	shows := a.Kind == Read || a.Kind == Search
	if !failed || a.Kind == Shell {
		a.Each(func(o Op) { x.file(o, failed) })
	}
	clear := x.errors(res, source, failed, shows, known)
	failed = failed || clear
	if a.Kind == Shell && a.Command != "" {
		x.e.addCommand(Command{Text: source, Exit: exit, Known: known, Failed: failed, Times: 1, At: x.at})
	}
	if !failed && source != "" {
		x.e.succeeded(source, x.at)
	}
	if call != nil {
		x.todos(call, res)
		x.agents(call, res)
	}
	switch {
	case a.Path != "" || shows && a.Command != "":
		// What files say can be read again.
	case a.Kind == Shell:
		x.names(res.Text, false, printed)
	default:
		x.names(res.Text, strings.HasPrefix(res.Text, "{") || strings.HasPrefix(res.Text, "["), looked)
	}
}

// errors adds the lines that say what went wrong, and reports whether they do so
// clearly where no exit status tells.
func (x *extractor) errors(res *chat.Part, source string, failed, shows, known bool) bool {
	least, most := 4, 2
	if failed {
		least, most = 2, 3
	} else if shows || known {
		return false // the exit status says that all went well
	}
	text := plainText(body(unwrap(strings.TrimSpace(res.Text), 0)))
	lines := errorLines(text, least, most)
	if failed && len(lines) == 0 {
		if first, _ := cutLine(text); first != "" {
			if _, ok := exitOf(first); !ok {
				lines = []string{errorClip(first)}
			}
		}
	}
	for _, l := range lines {
		x.e.addError(Failure{Line: l, Source: source, At: x.at})
		x.names(l, false, failedHere)
	}
	return len(lines) > 0 && !failed
}

// sourceOf names a call by what it is about.
func sourceOf(call *chat.Part, a *Access) string {
	switch {
	case a.Path != "":
		return call.Name + " " + a.Path
	case a.Query != "":
		return call.Name + " " + clip(oneLine(a.Query, 80), 160)
	}
	return clip(Headline(call, 0), 160)
}

// coreCommand returns a command without a change of folder at its start and
// without filters of its output at its end, on one line, and whether there
// were such filters.
func coreCommand(s string) (core string, piped bool) {
	s = strings.TrimSpace(s)
	if i := strings.Index(s, "<<"); i >= 0 {
		if n := strings.IndexByte(s[i:], '\n'); n >= 0 {
			s = s[:i+n] + " " + ellipsis // here documents are not part of the name
		}
	}
	for strings.HasPrefix(s, "cd ") {
		i := strings.Index(s, "&&")
		if i < 0 || strings.ContainsAny(s[:i], "|;\n") {
			break
		}
		s = strings.TrimSpace(s[i+2:])
	}
	for {
		s = strings.TrimSpace(strings.TrimSuffix(strings.TrimSpace(s), "2>&1"))
		i := lastPipe(s)
		if i < 0 {
			break
		}
		filter, _, _ := strings.Cut(strings.TrimSpace(s[i+1:]), " ")
		switch filter {
		case "tail", "head", "grep", "egrep", "rg", "cat", "sed", "awk", "sort", "uniq", "wc", "cut", "less", "more", "tee":
			s, piped = s[:i], true
			continue
		}
		break
	}
	return oneLine(s, 240), piped
}

// lastPipe returns the index of the last pipe outside quotes, or -1.
func lastPipe(s string) int {
	at, quote := -1, byte(0)
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case quote != 0:
			if c == quote {
				quote = 0
			} else if c == '\\' && quote == '"' {
				i++
			}
		case c == '\'' || c == '"':
			quote = c
		case c == '\\':
			i++
		case c == '|':
			if i+1 < len(s) && s[i+1] == '|' {
				i++
				at = -1
			} else {
				at = i
			}
		case c == ';' || c == '&' && i+1 < len(s) && s[i+1] == '&' || c == '\n':
			at = -1 // a pipe inside an earlier command
		}
	}
	return at
}

// voice says whose words a text is: what counts in it depends on that.
type voice uint8

const (
	asked      voice = iota // a user's
	said                    // the agent's
	called                  // the agent's, in calls about files and commands
	printed                 // a command's output
	looked                  // the answer of a tool that is no file and no command
	failedHere              // a line that says what went wrong
)

// names adds the names, places and values of a text.
func (x *extractor) names(text string, escaped bool, v voice) {
	x.seen = nil
	for i := 0; ; {
		end := nextName(text, i)
		if end < 0 {
			return
		}
		start := behindEscape(text, tokenStart(text, i, end), end, escaped)
		if start == end {
			i = end
			continue
		}
		start, end = wholeNumber(text, i, start, end)
		i = x.scan.token(text, start, end, maskOf(text[start:end]))
		for k := range x.scan.n {
			x.entity(&x.scan.found[k], text, start, v)
		}
	}
}

func (x *extractor) entity(f *entity, text string, start int, v voice) {
	switch f.kind {
	case PathEntity:
		if f.line > 0 && v != printed && v != looked {
			x.e.addPlace(Place{f.whole, f.line, x.at})
		}
	case IdentEntity, ErrorEntity, FlagEntity, TickEntity:
		n := 0
		if v == asked || v == said || v == called {
			n = 1
		} else if v != failedHere {
			return
		}
		x.e.addSymbol(Symbol{Name: f.value, Kind: f.kind, Times: 1, Said: n, At: x.at})
	case IDEntity, URLEntity:
		x.e.addValue(Value{Key: x.keyOf(text, start, v), Text: f.value, Kind: f.kind, Times: 1, At: x.at})
	case NumberEntity:
		if v == printed || v == called || v == failedHere {
			return // timings, sizes and line numbers
		}
		name := x.keyOf(text, start, v)
		if v == looked && name == "" {
			return
		}
		x.e.addValue(Value{Key: name, Text: f.value, Kind: f.kind, Times: 1, At: x.at})
	}
}

// keyOf returns the name that a value at text[start:] stands under: port: 8443,
// MAX=200000, "id": "K1NW8N", and in a user's words: the port is 8443. A name
// that occurs twice in one text names nothing.
func (x *extractor) keyOf(text string, start int, v voice) string {
	i := start
	for i > 0 && strings.IndexByte(" \"'`$", text[i-1]) >= 0 {
		i--
	}
	if i == 0 {
		return ""
	}
	var end int
	switch {
	case text[i-1] == ':' || text[i-1] == '=':
		end = i - 1
		for end > 0 && strings.IndexByte(" \"'`", text[end-1]) >= 0 {
			end--
		}
	case v == asked || v == said:
		w := text[wordStart(text, i):i]
		if w != "is" && w != "to" && w != "be" && w != "at" && w != "was" {
			return ""
		}
		end = i - len(w)
		for end > 0 && strings.IndexByte(" \"'`", text[end-1]) >= 0 {
			end--
		}
	default:
		return ""
	}
	name := text[wordStart(text, end):end]
	if len(name) < 2 || len(name) > 40 || maskOf(name)&cLetters == 0 || name == "it" || name == "that" || name == "this" {
		return ""
	}
	if x.seen == nil {
		x.seen = make(map[string]bool)
	}
	if x.seen[name] {
		return ""
	}
	x.seen[name] = true
	return name
}

// wordStart returns where the word that ends at end starts.
func wordStart(s string, end int) int {
	i := end
	for i > 0 && end-i < 64 && class[s[i-1]]&(cLetters|cDigit|cUnder|cDash|cDot) != 0 {
		i--
	}
	return i
}

func placeText(p Place) string { return p.Path + ":" + strconv.Itoa(p.Line) }
