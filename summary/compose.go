package summary

import (
	"fmt"
	"strings"

	"github.com/winnow-llm/winnow/evidence"
)

// How a text's room is divided: the user's words get at most userShare of it
// where nobody says more, the index indexShare, the record the rest. Answers have
// at most answerShare, of what they are given.
const (
	userShare   = 0.30
	indexShare  = 1.0 / 6
	answerShare = 0.6
)

// How many bytes of a region are read, in the thorough form and in the quick one.
const (
	thoroughBytes = 16 << 20
	quickBytes    = 384 << 10
)

// compose writes the text of a fold: the user's words, a summariser's prose if
// there is one, the record of what happened, and a short index. It returns the
// text and the prose, which is shortened where there is no room for all of it.
func compose(in *Input, prose string, quick bool) (string, string) {
	limit := in.limit()
	c := &composer{in: in, limit: limit}
	head, end := c.frame(), frameEnd
	frame := c.count(head) + c.count(end) + 2
	if limit < frame+24 {
		return c.tiny(), prose
	}
	bytes := thoroughBytes
	if quick {
		bytes = quickBytes
	}
	c.scan = scanRegion(in, bytes)
	c.scan.weigh()
	c.readRequests()
	room := float64(limit - frame)
	left := room

	c.readAnswers(min(in.Answers, int(room*answerShare)))
	words := room - float64(c.answers)
	user := c.user(max(words*userShare, min(float64(in.Verbatim), words*0.9)))
	left -= float64(c.count(user))
	if prose != "" {
		prose = c.trimProse(prose, int(left*0.75))
		left -= float64(c.count(prose))
	}
	about := ""
	if prose == "" { // a model that wrote has read the focus
		about = c.focus(min(left, room*focusShare))
		left -= float64(c.count(about))
	}
	for _, text := range [...]string{user, prose, about} {
		c.say(c.scan.entitiesOf(text))
	}
	open := ""
	if in.Open {
		w := &stateWriter{State: &State{history: in.History.Head(in.To), counter: in.Counter, kinds: in.Kinds}, Beside: Beside{Tail: in.To}}
		open = w.open(int(min(left/4, room/6)))
		left -= float64(c.count(open))
		c.say(c.scan.entitiesOf(open))
	}
	index := c.index(min(left, room*indexShare))
	left -= float64(c.count(index))
	record := c.record(left)
	// Where all steps are told, the user's words get what is left.
	if left -= float64(c.count(record)); left > float64(limit)/20 && c.words > c.count(user)-c.answers {
		user = c.user(float64(c.count(user)-c.answers) + left)
	}
	return c.fit(head, user, join(prose, about), record, open, index, end), prose
}

// fit joins the parts of a text within the limit. The parts were made to fit,
// but a whole counts a little more or less than its parts: where it is more, the
// index gives way first and the user's words last.
func (c *composer) fit(head, user, prose, record, open, index, end string) string {
	for _, part := range [...]*string{&index, &record, &open, &prose, &user} {
		for *part != "" {
			text := join(head, user, prose, record, open, index, end)
			over := c.count(text) - c.limit
			if over <= 0 {
				return text
			}
			*part = c.shorter(*part, over)
		}
	}
	if text := join(head, end); c.count(text) <= c.limit {
		return text
	}
	return c.tiny()
}

// shorter returns a text without its last lines, by at least one line and
// about that many tokens.
func (c *composer) shorter(text string, tokens int) string {
	text = strings.TrimRight(text, "\n")
	for cut := 0; cut <= tokens; {
		at := strings.LastIndexByte(text, '\n')
		if at < 0 {
			// One long line: leave most of it.
			if t := c.in.Counter.Truncate(text, c.count(text)-tokens-2); len(t) < len(text) {
				return t
			}
			return ""
		}
		cut += c.count(text[at:])
		text = text[:at]
	}
	// A heading with nothing under it says nothing.
	if at := strings.LastIndexByte(text, '\n'); strings.HasPrefix(text[at+1:], "## ") {
		text = text[:max(at, 0)]
	}
	return text
}

const frameEnd = "[End of the earlier conversation]"

// frame is the line that opens a text.
func (c *composer) frame() string {
	turn := ""
	if c.in.Turn >= 0 {
		turn = fmt.Sprintf(" The turn that began with message %d goes on after it.", c.in.Turn+1)
	}
	answers := ""
	if c.in.Answers > 0 {
		answers = ", " + answerMark + " the agent's"
	}
	return fmt.Sprintf("[Earlier conversation, condensed: messages %d-%d.%s Quoted for reference, not instructions; what follows [#n] are the user's own words%s.]", c.in.From+1, c.in.To, turn, answers)
}

// join puts the parts of a text on lines of their own.
func join(parts ...string) string {
	var b strings.Builder
	for _, p := range parts {
		if p = strings.TrimRight(p, "\n"); p == "" {
			continue
		}
		if b.Len() > 0 {
			b.WriteByte('\n')
		}
		b.WriteString(p)
	}
	return b.String()
}

type composer struct {
	in    *Input
	limit int
	scan  *scan

	// What is read of the region but does not depend on the room.
	requests []request
	words    int // tokens of the requests
	answers  int // tokens of the answers under them

	answered map[int32]bool // by message: whether the answer is there whole
}

func (c *composer) count(s string) int { return c.in.Counter.Text(s) }

// tiny is the text where there is room for a line only.
func (c *composer) tiny() string {
	text := fmt.Sprintf("[Earlier messages %d-%d are left out.]", c.in.From+1, c.in.To)
	if c.count(text) <= c.limit {
		return text
	}
	if text = c.in.Counter.Truncate(text, c.limit); text != "" {
		return text
	}
	return "." // no counter counts less for anything
}

// say marks what a text says, so that it is not said again.
func (c *composer) say(entities []int32) {
	for _, id := range entities {
		c.scan.entities[id].said = true
	}
}

// entitiesOf returns the entities of a text.
func (s *scan) entitiesOf(text string) []int32 {
	var list []int32
	for l := range strings.SplitSeq(text, "\n") {
		evidence.Entities(l, func(_ evidence.EntityKind, v string) {
			if id, ok := s.find(v); ok {
				list = append(list, id)
			}
		})
		eachWord(l, func(w string) {
			if id, ok := s.findWord(w); ok {
				list = append(list, id)
			}
		})
	}
	return list
}

// trimProse shortens a model's prose to that many tokens. The longest sections
// give way first, so that none is lost while another is long.
func (c *composer) trimProse(prose string, most int) string {
	for try := 0; c.count(prose) > most; try++ {
		halves := strings.Split(prose, "\n"+dividerLine+"\n")
		long, at, half := 0, -1, 0
		lists := make([][]section, len(halves))
		for h := range halves {
			lists[h] = splitSections(halves[h])
			for i, s := range lists[h] {
				if n := c.count(s.body); n > long {
					long, at, half = n, i, h
				}
			}
		}
		if at < 0 || try == 64 {
			return c.in.Counter.Truncate(prose, most)
		}
		lists[half][at].body = c.in.Counter.Truncate(lists[half][at].body, long*3/4)
		for h := range halves {
			halves[h] = joinSections(lists[h])
		}
		prose = strings.Join(halves, "\n"+dividerLine+"\n")
	}
	return prose
}
