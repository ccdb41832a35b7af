// Package typed tells what a person typed from what a client put into a user's
// message: reminders, skill texts, reports of sub-agents, attached files, records
// of the client's own commands. A request body marks none of it, so it is known
// by its shape; shapes.go holds the shapes as data, with the clients that write
// them. What a session file marks itself arrives as [chat.Message.Synthetic].
//
// [Split] cuts a message into spans, [Words] returns the typed words in it. When in
// doubt, words are the user's: a shape counts only where its client puts it, at the
// start of a text or of a line and outside fenced code, and between tags only if they
// are closed.
package typed

import (
	"regexp"
	"strings"

	"github.com/winnow-llm/winnow/chat"
	"github.com/winnow-llm/winnow/internal/find"
)

// Kind says who put a span there, and what for.
type Kind uint8

// The kinds of spans.
const (
	Typed        Kind = iota // a person's words
	Client                   // what nobody needs later: reminders, records of its own commands, hooks, lists of tools
	Skill                    // the text of a skill, or of a command that stands for a longer prompt
	Report                   // what a sub-agent or a task in the background reported
	File                     // a file, or part of one, that was attached
	Instructions             // standing instructions: AGENTS.md, CLAUDE.md, rules of the repository
	Summary                  // a client's summary of what came before
	Told                     // what the agent said and did, as a fold of winnow tells it
)

var kindNames = [...]string{"typed", "client", "skill", "report", "file", "instructions", "summary", "told"}

// String returns the kind's name.
func (k Kind) String() string { return kindNames[k] }

// Span is a piece of a message that has one origin.
type Span struct {
	Kind Kind

	// Part is the index of the part it stands in; From and To are bytes of that
	// part's Text. Spaces around a span belong to no span.
	Part, From, To int

	// Name is the path of a File or Instructions, the name of a Skill, and the command
	// that typed words were given to as arguments; "" where the text does not tell.
	Name string
}

// Words returns what a person typed: a command stands before its arguments.
func (s *Span) Words(m *chat.Message) string {
	if s.Name == "" {
		return s.Text(m)
	}
	return s.Name + " " + s.Text(m)
}

// Text returns the span's text in the message it was split from.
func (s *Span) Text(m *chat.Message) string { return m.Parts[s.Part].Text[s.From:s.To] }

// Split cuts the texts of message i into spans, in order. It looks at the message
// before, because the text of a skill is known by the call that asked for it. A
// message of the assistant's or of the system has none. Of tool results it returns
// only what a person typed while the tool ran, which some clients append there.
func Split(h chat.Sequence, i int) []Span {
	m := h.At(i)
	if m.Role != chat.User && m.Role != chat.Tool {
		return nil
	}
	r := reader{m: m}
	if i > 0 && h.At(i-1).Role != chat.Assistant {
		before := h.At(i - 1)
		for k := range before.Parts {
			r.expectNext(&before.Parts[k])
		}
	}
	for k := range m.Parts {
		p := &m.Parts[k]
		switch p.Kind {
		case chat.Text:
			r.part = k
			r.readText(p.Text)
		case chat.ToolResult:
			r.part = k
			r.readAppended(p.Text)
		}
		r.expectNext(p)
	}
	return r.spans
}

// NoResponse is what Claude Code has the agent say to one of its own commands, such as
// /exit: it answers nothing that a person typed.
const NoResponse = "No response requested."

// Words returns what a person typed in message i, "" where nobody did.
func Words(h chat.Sequence, i int) string {
	var words []string
	for _, s := range Split(h, i) {
		if s.Kind == Typed {
			words = append(words, s.Words(h.At(i)))
		}
	}
	return strings.Join(words, "\n")
}

// reader reads the texts of one message.
type reader struct {
	m     *chat.Message
	part  int
	spans []Span

	next  Kind            // of the next text, if it has no shape of its own; Typed expects nothing
	given string          // the command whose arguments come next
	lost  map[string]bool // closing tags that do not come any more in this text
}

// expectNext notes that the next text is what a part has asked for.
func (r *reader) expectNext(p *chat.Part) {
	switch {
	case p.Kind == chat.ToolResult && strings.HasPrefix(p.Text, skillResult):
		r.next = Skill
	case p.Kind != chat.Text:
	case strings.HasPrefix(strings.TrimSpace(p.Text), commandWithText):
		r.next = Skill
	case resultHead.MatchString(p.Text):
		r.next = Client
	case find.AnyStart(strings.TrimSpace(p.Text), contentBelow, contentOf):
		r.next = File
	case strings.TrimSpace(p.Text) != "" && !strings.HasPrefix(p.Text, "<"):
		r.next = Typed
	}
}

// addSpan adds the span s[from:to] without the spaces around it.
func (r *reader) addSpan(k Kind, name, s string, from, to int) {
	from = to - len(strings.TrimLeft(s[from:to], spaces))
	to = from + len(strings.TrimRight(s[from:to], spaces))
	if from == to {
		return
	}
	if k == Typed && r.m.Synthetic {
		k, name = markedKind(s[from:to])
	}
	if k == Typed {
		name, r.given = r.given, ""
	}
	r.spans = append(r.spans, Span{Kind: k, Part: r.part, From: from, To: to, Name: name})
}

const spaces = " \n\t\r"

// readText reads one text part.
func (r *reader) readText(s string) {
	r.lost = map[string]bool{}
	at := 0
	for head := true; at < len(s); {
		at = len(s) - len(strings.TrimLeft(s[at:], spaces))
		if end := r.readShape(s, at, head); end > at {
			at = end
			continue
		}
		end := r.typedUntil(s, at)
		kind := Typed
		if head {
			kind, r.next = r.next, Typed
		}
		r.addSpan(kind, "", s, at, end)
		at, head = end, false
	}
}

// typedUntil returns where the typed text that starts at at ends: before the next
// line that starts a closed shape.
func (r *reader) typedUntil(s string, at int) int {
	start, fenced := at, false
	for line := range strings.Lines(s[at:]) {
		if !fenced && at > start && line[0] == '<' && r.isClosedTag(s, at) {
			break
		}
		if find.AnyStart(strings.TrimLeft(line, " \t"), "```", "~~~") {
			fenced = !fenced
		}
		at += len(line)
	}
	return at
}

// isClosedTag reports whether a tag that may stand anywhere starts at at and is closed.
func (r *reader) isClosedTag(s string, at int) bool {
	name, t := tagAt(s[at:])
	return t != nil && !t.head && r.closingTag(s, at, name) >= 0
}

// closingTag returns where the closing tag of that name starts after at, or -1.
func (r *reader) closingTag(s string, at int, name string) int {
	if r.lost[name] {
		return -1
	}
	if end := strings.Index(s[at:], "</"+name+">"); end >= 0 {
		return at + end
	}
	r.lost[name] = true
	return -1
}

// readShape reads the shape that starts at at and returns its end, 0 where there is
// none. Head says that nothing was typed before it in the same text.
func (r *reader) readShape(s string, at int, head bool) int {
	if strings.HasPrefix(s[at:], "<") {
		if end := r.readTagged(s, at, head); end > 0 {
			return end
		}
	}
	if !head {
		return 0
	}
	rest := s[at:]
	if strings.HasPrefix(rest, foldHead) {
		if k := strings.Index(rest, foldEnd); k >= 0 {
			end := at + k + len(foldEnd)
			r.readFold(s[:end], at)
			return end
		}
	}
	if hookLine.MatchString(rest) || at == 0 && clientCommand.MatchString(strings.TrimSpace(s)) {
		r.addSpan(Client, "", s, at, len(s))
		return len(s)
	}
	for k := range starts {
		if b := &starts[k]; strings.HasPrefix(rest, b.text) && strings.Contains(rest[:min(len(rest), 400)], b.also) {
			if end := r.readStarted(s, at, b); end > 0 {
				return end
			}
		}
	}
	if resultHead.MatchString(rest) {
		end := at + endOfLine(rest)
		r.addSpan(Client, "", s, at, end)
		return end
	}
	if heads := requestHead.FindAllStringIndex(rest, -1); heads != nil {
		if last := heads[len(heads)-1]; last[0] >= leastPreamble {
			r.addSpan(Instructions, strings.Trim(rest[:endOfLine(rest)], `"# `), s, at, at+last[1])
			return at + last[1]
		}
	}
	return 0
}

// readStarted reads a shape that is known by how it starts.
func (r *reader) readStarted(s string, at int, b *start) int {
	rest := s[at:]
	name := nameAfter(rest, b.name)
	end := len(s)
	if b.end == "\n" {
		end = at + endOfLine(rest)
	} else if k := strings.Index(rest, b.end); k >= 0 && b.end != "" {
		end = at + k + len(b.end)
	} else if b.must {
		return 0
	}
	r.addSpan(b.kind, name, s, at, end)
	return end
}

// readFold reads the fold s[at:], in which only what the user said was typed.
func (r *reader) readFold(s string, at int) {
	for at < len(s) {
		kind, name, next := Told, "", nextMark(s, at, foldSpeaker)
		switch s[at] {
		case 'U':
			kind, next = Typed, nextMark(s[:next], at, foldAction)
			if at += len(foldUser); strings.HasPrefix(s[at:], foldBelow) {
				kind = Client
			}
		case '[', '#':
			kind, next = Client, nextMark(s[:next], at, foldAction)
		case '(':
			what, _, _ := strings.Cut(s[at+1:next], foldNotice)
			for _, k := range [...]Kind{Skill, Instructions} {
				if of, ok := strings.CutPrefix(what, k.String()+" "); ok {
					kind, name, next = k, of, nextMark(s[:next], at, foldAction)
					at += len("(") + len(what) + len(foldNotice)
				}
			}
		}
		r.addSpan(kind, name, s, at, next)
		at = next
	}
}

// nextMark returns where the next line after the one at at starts that has a mark.
func nextMark(s string, at int, mark *regexp.Regexp) int {
	at += endOfLine(s[at:])
	if m := mark.FindStringIndex(s[at:]); m != nil {
		return at + m[0]
	}
	return len(s)
}

func endOfLine(s string) int {
	if k := strings.IndexByte(s, '\n'); k >= 0 {
		return k
	}
	return len(s)
}

// readTagged reads a shape between tags.
func (r *reader) readTagged(s string, at int, head bool) int {
	name, t := tagAt(s[at:])
	if t == nil || t.head && !head || !strings.Contains(s[at:min(len(s), at+600)], t.also) {
		return 0
	}
	inner := at + len(name) + 1 + strings.IndexByte(s[at+len(name)+1:], '>') + 1
	stop := r.closingTag(s, at, name)
	if stop < inner {
		return 0
	}
	end := stop + len(name) + 3
	if t.rest {
		end = len(s)
	}
	if name == commandName && commandArgs.MatchString(s[end:]) {
		r.given = strings.TrimSpace(s[inner:stop])
		r.addSpan(Client, "", s, at, end)
		return end
	}
	if t.typed || name == commandName && strings.HasPrefix(strings.TrimSpace(s), commandWithText) {
		r.addAround(s, at, inner, stop, end)
		return end
	}
	kind, label := t.kind, nameAfter(s[at:stop], t.name)
	if name == reminderTag {
		if from, to := queuedIn(s, inner, stop); to > 0 {
			r.addAround(s, at, from, to, end)
			return end
		}
		kind, label = reminderKind(strings.TrimSpace(s[inner:stop]))
		if n := len(r.spans); kind == File && label == "" && n > 0 && r.spans[n-1].Kind == File { // the result of the call before it
			label = r.spans[n-1].Name
		}
	}
	r.addSpan(kind, label, s, at, end)
	if kind == Skill && strings.Contains(s[at:inner], " location=") { // pi's: what follows was typed behind its name
		r.given = "/skill:" + label
	}
	return end
}

// addAround adds a record of the client around the typed words in it.
func (r *reader) addAround(s string, at, from, to, end int) {
	if strings.TrimSpace(s[from:to]) == "" {
		r.addSpan(Client, "", s, at, end)
		return
	}
	r.addSpan(Client, "", s, at, from)
	r.addSpan(Typed, "", s, from, to)
	r.addSpan(Client, "", s, to, end)
}

// readAppended reads words typed while a tool ran, at the end of its result.
func (r *reader) readAppended(s string) {
	const open, end = "<" + reminderTag + ">", "</" + reminderTag + ">"
	if !strings.HasSuffix(strings.TrimRight(s, " \n"), end) {
		return
	}
	if at := strings.LastIndex(s, open); at >= 0 {
		if from, to := queuedIn(s, at+len(open), strings.LastIndex(s, end)); to > 0 {
			r.addSpan(Typed, "", s, from, to)
		}
	}
}

// queuedIn returns where the typed words in the reminder s[from:to] stand; 0, 0
// where it has none.
func queuedIn(s string, from, to int) (int, int) {
	m := queued.FindStringSubmatchIndex(s[from:to])
	if m == nil {
		return 0, 0
	}
	from, to = from+m[2], from+m[3]
	return from, to
}
