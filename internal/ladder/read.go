package ladder

import (
	"regexp"
	"slices"
	"strings"

	"github.com/winnow-llm/winnow/chat"
	"github.com/winnow-llm/winnow/internal/guard"
	"github.com/winnow-llm/winnow/internal/quote"
	"github.com/winnow-llm/winnow/internal/typed"
	"github.com/winnow-llm/winnow/internal/work"
	"github.com/winnow-llm/winnow/internal/workset"
	"github.com/winnow-llm/winnow/token"
)

// Reading is a history read into the items of its natural form. Reading on
// after an append costs the new messages only. It is not safe for concurrent
// use.
type Reading struct {
	history chat.History
	counter *token.Counter
	kinds   *work.Kinds

	set    *workset.Set
	steps  []step
	first  int            // the first message that was read
	before []int32        // by message, from the first: the tokens of all that were read before it
	calls  map[string]int // by id: the step of a call that waits for its result
	runs   map[string]int // by id: the newest step of a command that runs in the background
	latest map[string]int // by command and folder: the newest step that ran it
	typed  int            // the step of the newest request, -1 where there is none
	notes  map[string]int // by name: the step of the newest notice
	names  map[int]string // by step: what a notice is
	sizes  map[*workset.File]*fileSizes
	sought sought         // what outlines show because the agent asked for it
	left   *guard.LeftOut // why the files are missing; nil where they are there

	// Lines and outlines made before, for the next try and the next rewrite.
	told     map[action]string // lines of actions, below folder
	outlines map[*workset.File]outline
	folder   string // below which paths are told
	usual    string // in which commands run unless they say so
	now      *present

	// Memory that every fill uses again.
	raises []raise // the most worth first
	acts   []action
}

// mostKept is how many steps keep what is told of them. In a session of a million steps
// that would take as much memory again as the steps themselves.
const mostKept = 1 << 14

// present is what is known of the end of a history. It is read anew when the
// history goes on.
type present struct {
	files  []*workset.File // without those that are gone or made by programs
	listed []*workset.File // all that are there
	lists  *lists
	errors []failure
	drives bool // tools name files as Windows does
}

// stepKind says what a step is.
type stepKind uint8

const (
	asked  stepKind = iota // the user typed it
	said                   // the agent said it
	did                    // the agent called a tool
	report                 // another agent reported it
	notice                 // a client put it there: a skill, standing instructions
)

// step is one thing that was said or done.
type step struct {
	kind    stepKind
	closing bool // said: the last words before the next request
	rules   bool // of a notice: it tells the agent how to work
	msg     int32
	text    string // the words; of a call nothing
	item    *item  // of the words, or of the result; nil while that may change
	*deed          // nil where nothing was called: a history may have a million steps
}

// deed is a call: what it does, and what came of it.
type deed struct {
	call, result *chat.Part
	access       work.Access
	polls        int     // 1 + the step whose command this one asks about again; 0 for none
	lines        int     // lines of files that its result showed
	read         *action // what is told of it; nil while that may change
	again        bool    // the same command ran again later
}

// Read returns the reading of a history. The counter counts its tokens; nil
// Kinds are the default.
func Read(h chat.History, counter *token.Counter, kinds *work.Kinds) *Reading {
	return ReadRegion(h, 0, h.Len(), counter, kinds)
}

// ReadRegion returns the reading of messages from to to-1 alone, for a text that
// tells of nothing else.
func ReadRegion(h chat.History, from, to int, counter *token.Counter, kinds *work.Kinds) *Reading {
	r := newReading(from, counter, kinds)
	r.Extend(h.Head(to))
	return r
}

// newReading returns a reading that begins at message from, and has read nothing.
func newReading(from int, counter *token.Counter, kinds *work.Kinds) *Reading {
	return &Reading{
		first: from, counter: counter, kinds: kinds, set: workset.New(kinds), before: []int32{0},
		sought: sought{}, calls: map[string]int{}, runs: map[string]int{}, latest: map[string]int{}, typed: -1, notes: map[string]int{}, names: map[int]string{}, sizes: map[*workset.File]*fileSizes{},
		told: map[action]string{}, outlines: map[*workset.File]outline{},
	}
}

// Extend reads on to the end of a history that starts with the one read so far.
func (r *Reading) Extend(h chat.History) {
	from := r.first + len(r.before) - 1
	r.history = h
	r.steps = slices.Grow(r.steps, h.Len()-from)
	r.before = slices.Grow(r.before, h.Len()-from)
	for i := from; i < h.Len(); i++ {
		r.before = append(r.before, r.before[i-r.first]+int32(r.counter.At(h, i)))
		r.readMessage(i)
	}
	if from < h.Len() {
		r.now = nil
	}
}

// LeftOut says why the files could not be read; nil where they were.
func (r *Reading) LeftOut() *guard.LeftOut { return r.left }

// readMessage reads one message.
func (r *Reading) readMessage(i int) {
	m := r.history.At(i)
	if r.left == nil {
		r.left = guard.Do("files", func() { r.set.Add(r.history, i) })
	}
	if r.left != nil {
		r.set = workset.New(r.kinds) // what it knows cannot be trusted
	}
	r.readSpans(i, m)
	r.readMedia(i, m)
	for k := range m.Parts {
		p := &m.Parts[k]
		switch p.Kind {
		case chat.Text:
			t := strings.TrimSpace(p.Text)
			if t == "" || t == typed.NoResponse || m.Role != chat.Assistant {
				continue
			}
			r.addSaid(i, t)
		case chat.ToolCall:
			if t := thoughtIn(p); t != "" {
				r.addSaid(i, t)
				continue
			}
			r.calls[p.ID] = len(r.steps)
			s := step{kind: did, msg: int32(i), deed: &deed{call: p, access: r.kinds.Access(p)}}
			s.access.Ops = nil // nothing is told of them
			if id := r.polledRun(p); id != "" {
				s.polls = r.runs[id] + 1
				s.access = r.steps[s.polls-1].access
				r.runs[id] = len(r.steps)
			}
			r.sought.addQuery(s.access.Query)
			r.steps = append(r.steps, s)
		case chat.ToolResult:
			at, ok := r.calls[p.ID]
			if !ok {
				continue
			}
			delete(r.calls, p.ID)
			s := &r.steps[at]
			s.result, s.lines = asShown(p), r.set.Placed(p)
			if s.access.Command != "" {
				if id := runningID(p.Text); id != "" {
					r.runs[id] = at
				}
				if at < mostKept && !work.NotRun(p.Text) {
					key := s.access.Folder + "\x00" + fullCommand(&s.access)
					if old, ok := r.latest[key]; ok {
						r.steps[old].again, r.steps[old].item = true, nil
					}
					r.latest[key] = at
				}
			}
			switch t := strings.TrimSpace(p.Text); {
			case t == "":
			case work.StartsAgent(s.call.Name) && !onlyStarted(t) && !work.NotRun(t):
				r.steps = append(r.steps, step{kind: report, msg: int32(i), text: t})
			case isAnswered(s):
				r.steps = append(r.steps, step{kind: asked, msg: int32(i), text: withoutFrame(t)})
			}
		}
	}
}

// addSaid adds what the agent said in message i.
func (r *Reading) addSaid(i int, text string) {
	r.sought.addQuoted(text)
	if n := len(r.steps); n > 0 && r.steps[n-1].kind == said && int(r.steps[n-1].msg) == i {
		r.steps[n-1].text += "\n\n" + text
		return
	}
	r.steps = append(r.steps, step{kind: said, msg: int32(i), text: text})
}

// thoughtIn returns what the agent says in a call of a tool that does nothing else; "" for
// other calls.
func thoughtIn(call *chat.Part) (thought string) {
	if name := strings.ToLower(call.Name); strings.HasSuffix(name, "think") || strings.HasSuffix(name, "thinking") {
		work.Members(call.Args, func(key, raw string) bool {
			if key == "thought" {
				thought = strings.TrimSpace(work.Text(raw))
			}
			return thought == ""
		})
	}
	return thought
}

// isAnswered reports whether a step asked the user and got an answer, which is told as the
// user's words.
func isAnswered(s *step) bool {
	return work.AsksUser(s.call) && s.result != nil && !s.result.Failed && strings.TrimSpace(s.result.Text) != "" && refusalIn(s, true) == ""
}

// runningID returns the id under which a result says that a command still runs; ""
// where it says no such thing.
func runningID(text string) string {
	text = quote.Clip(text, 400)
	if !strings.Contains(text, "unning") { // an expression takes long for what few results say
		return ""
	}
	if id := stillRuns.FindStringSubmatch(text); id != nil {
		return id[1]
	}
	return ""
}

var stillRuns = regexp.MustCompile(`\b[Rr]unning\b[^\n]{0,40}\b(?i:id)[: "]{1,3}([\w-]+)`)

// polledRun returns the id of the command whose output a call asks for: it names the
// id and has nothing to say to the command.
func (r *Reading) polledRun(call *chat.Part) (id string) {
	if len(r.runs) == 0 {
		return ""
	}
	says := false
	work.Members(call.Args, func(key, raw string) bool {
		text := work.Text(raw)
		if _, ok := r.runs[text]; ok && strings.HasSuffix(key, "id") {
			id = text
		} else {
			says = says || work.IsString(raw) && strings.TrimSpace(quote.Clean(text)) != ""
		}
		return true
	})
	if says {
		return ""
	}
	return id
}

// readSpans reads what stands in a user's message: what a person typed, and of what a
// client put there the newest copy of each thing.
func (r *Reading) readSpans(i int, m *chat.Message) {
	if m.Role == chat.Assistant || m.Role == chat.System {
		return
	}
	for _, s := range typed.Split(r.history, i) {
		text := strings.TrimSpace(s.Text(m))
		x := step{kind: notice, msg: int32(i), text: text}
		switch s.Kind {
		case typed.Typed:
			r.closeTurn()
			r.typed = len(r.steps)
			x.kind, x.text = asked, s.Words(m)
		case typed.Told:
			x.kind, x.text = said, strings.TrimPrefix(text, "Agent: ")
		case typed.Report:
			x.kind, x.text = report, reportText(text)
		case typed.Skill, typed.Instructions, typed.File, typed.Summary:
			if f := r.set.File(s.Name); s.Kind == typed.File && f != nil && f.Touched == i {
				continue // it stands among the files
			}
			key := s.Kind.String() + " " + s.Name
			if old, ok := r.notes[key]; ok {
				r.steps[old].text = "" // this copy takes its place
			}
			r.notes[key], r.names[len(r.steps)] = len(r.steps), key
			x.rules = s.Kind != typed.File && (s.Kind != typed.Summary || !slices.ContainsFunc(r.steps, func(x step) bool { return x.kind == did })) // else what came before is here
			x.text = strings.TrimSpace(rulesTag.ReplaceAllString(text, ""))
			if s.Kind == typed.File && r.attachSpan(s.Name, text) {
				x.text = "attached; it stands among the files"
			}
		case typed.Client:
			if n := len(r.steps); n > 0 && r.steps[n-1].kind == asked && strings.HasPrefix(text, "[Request interrupted") {
				r.steps[n-1].text += "\n[interrupted by the user before anything was done]"
			}
			continue
		default:
			continue
		}
		if text != "" {
			r.steps = append(r.steps, x)
		}
	}
}

// rulesTag is a tag that clients put around instructions.
var rulesTag = regexp.MustCompile(`(?i)</?[a-z_ ]*instructions>\n?`)

// closeTurn marks the agent's last words as those that end a turn. The skills that the
// turn used do not bind the next one.
func (r *Reading) closeTurn() {
	for k := len(r.steps) - 1; k >= 0 && r.steps[k].kind != asked; k-- {
		if r.steps[k].kind != said {
			continue
		}
		if strings.HasPrefix(r.steps[k].text, "API Error") { // the client's words, and the turn goes on
			return
		}
		r.steps[k].closing, r.steps[k].item = true, nil
		for name, at := range r.notes {
			if at < k && strings.HasPrefix(name, typed.Skill.String()) {
				r.steps[at].rules, r.steps[at].item = false, nil
			}
		}
		return
	}
}

// asShown returns a result with what a terminal shows of it in the end: a line that was
// written over, as progress bars are, has its last state.
func asShown(p *chat.Part) *chat.Part {
	if !strings.ContainsAny(p.Text, "\b\r") {
		return p
	}
	shown := *p
	shown.Text = strings.ReplaceAll(writtenOver.ReplaceAllString(p.Text, "$1"), "\r", "")
	return &shown
}

var writtenOver = regexp.MustCompile(`[^\n]*[\r\x08]([^\n\r\x08])`)

// readPresent reads the end of the history, once.
func (r *Reading) readPresent() *present {
	if r.now != nil {
		return r.now
	}
	p, usual := &present{lists: r.readLists()}, r.usualFolder()
	folder := r.commonRoot()
	for _, file := range r.set.Files() {
		if file.Deleted {
			continue
		}
		p.listed = append(p.listed, file)
		p.drives = p.drives || work.HasDrive(file.Path)
		if !isMade(file) && copiedFrom(file) == nil {
			p.files = append(p.files, file)
		}
	}
	if r.folder != folder || r.usual != usual {
		r.folder, r.usual = folder, usual
		clear(r.told)
		for k := range min(len(r.steps), mostKept) {
			r.steps[k].item = nil
		}
	}
	p.errors = r.unsettledFailures(3)
	r.now = p
	return p
}

// tokensAfter returns how many tokens the history has after message i.
func (r *Reading) tokensAfter(i int) int {
	n := len(r.before) - 1
	return int(r.before[n] - r.before[min(max(i-r.first, 0)+1, n)])
}

func (r *Reading) countTokens(s string) int {
	if s == "" {
		return 0
	}
	return r.counter.Text(s)
}
