package providersim

import (
	"cmp"
	"encoding/json"
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
)

// A driver is a model that makes a real agent work, for as long as it is told
// to. The work has numbered parts. For each, the driver calls the agent's own
// shell tool with a command that prints some kilobytes, and reads the last line
// of what it prints before it goes on to the next.
//
// The driver is honest: it knows what stands in the prompt and nothing else. It
// has no memory of what it did. The next part is the one after the highest whose
// last line it sees, so a result that somebody hid from it is asked for again.
// Every second part plants a fact in the middle of its output: a number, a path
// in prose, a line of a file, and a line that looks like all others. Forty parts later the driver needs that fact, word for
// word. Where the fact is still in the prompt it is used; where it is gone, the
// driver asks winnow's tools for it, if the agent has them (drive_recall.go), and
// else has the old part printed again first.
//
// For example, with three parts and a lag of one: part 1, part 2 (which plants
// "retry_limit_002 = 77"), then part 3 is called with that line as an argument,
// or, where the line is gone, part 2 is printed again and then part 3 is called.
//
// Another driver reads source files instead: see drive_files.go.
//
// What the driver keeps is the account of all this, for [Driver.Report]: how
// often a part was asked for again, how many facts were still there. Tasks are
// told apart by credential and dialect, so agents that run at the same time need
// keys of their own.

// DriveOptions are the settings of a [Driver]. The zero value works.
type DriveOptions struct {
	Steps int // how many parts the work has; default 60
	Bytes int // how many bytes the command of a part prints; default 9,000
	Lag   int // after how many parts a fact is used; default 40

	// Recall has a fact that is gone asked for by winnow recall in the agent's shell,
	// where the prompt names that command, and files by winnow's tools. Parts are
	// asked for by the tools without it.
	Recall bool

	// Seed of what the parts print.
	Seed uint64

	// Pause is how long a command waits before it ends: some agents lose what a
	// program prints just before its end. Default 200 ms; negative is none.
	Pause time.Duration
}

// Driver makes real agents work. [NewDriver] makes one; [Options.Drive] gives
// it to a server.
type Driver struct {
	work  work
	files *sources // nil for a driver whose work is parts
	job   job      // the one that is done

	mu     sync.Mutex
	tasks  map[string]*driven
	order  []string
	sealed map[string]string // compactions that only the provider can read -> their text
}

// A job is what an agent is driven to do, part by part: what it prints, or files to read.
type job interface {
	lastLine() *regexp.Regexp  // how a part ends; the first group is its number
	finalLine(part int) string // with which this one ends: who sees it has seen the part
	need(part int) need        // what a part needs of an earlier one
	lostFact(part int) lost    // what is known of that where it is gone

	// writeSummary tells an agent what was done, as far as the prompt shows it.
	writeSummary(seen int, sees func(need) bool) string

	// callAgain calls for the part again whose fact another one needs, and says why.
	callAgain(a *Ask, shell Tool, part int, byShell bool) (call Block, why string)
}

// mostTasks bounds what a driver keeps.
const mostTasks = 1024

// DriveTask is the account of one agent's work.
type DriveTask struct {
	Name    string `json:"name"` // of the task: the dialect and a hash of the credential
	Dialect string `json:"dialect"`

	Steps int  `json:"steps"` // parts of the work
	Done  int  `json:"done"`  // the highest part whose result was seen
	Ended bool `json:"ended"` // the last answer said that all is done
	Calls int  `json:"calls"` // answers that called the shell tool

	// Repeats are calls for a part that had been called for before, because its
	// result was not in the prompt. Retries are the same prompt once more, as
	// after a broken connection: they do not count as repeats.
	Repeats int `json:"repeats"`
	Retries int `json:"retries"`

	// Rewrites are prompts that do not begin with the whole prompt before them:
	// for these the provider's cache has less than it could.
	Rewrites int `json:"rewrites"`

	// Due are facts that were needed. Kept were in the prompt, Recalled came back
	// by winnow's tools, Reread were read again first, Lost were not even there
	// after that.
	Due      int `json:"facts_due"`
	Kept     int `json:"facts_kept"`
	Recalled int `json:"facts_recalled"`
	Reread   int `json:"facts_reread"`
	Lost     int `json:"facts_lost"`

	// Markers are the handles that the prompts showed, Redeemed those of them by which
	// a fact came back.
	Markers  int `json:"markers"`
	Redeemed int `json:"redeemed"`

	// Facts are those by kind, of a driver that reads files.
	Facts []DriveFacts `json:"facts,omitempty"`

	// Missed are the facts that were not there, in words, of a driver that reads files.
	Missed []string `json:"missed,omitempty"`

	// FirstCut is the size of the prompt before the first that was shorter, in
	// tokens; 0 where none was.
	FirstCut int `json:"first_cut"`

	// What the requests were, all of them: also those for summaries and titles.
	Requests int     `json:"requests"`
	Refused  int     `json:"refused"`
	Input    int     `json:"input"` // tokens, those from the cache among them
	Read     int     `json:"cache_read"`
	Output   int     `json:"output"`
	Dollars  float64 `json:"dollars"` // with the cache

	Summaries int  `json:"summaries"` // the agent's own compactions: requests for a summary, or for one by the provider
	Others    int  `json:"others"`    // requests without a shell tool, such as for a title
	GaveUp    bool `json:"gave_up"`   // there were far more calls than parts
}

// driven is a task and what tells repeats from retries.
type driven struct {
	DriveTask
	last           digest          // the prompt before
	size           int             // of the prompt before, in tokens
	called         map[int]digest  // part -> the prompt that it was called for in
	reread         map[int]int     // part or file -> how often another was called for again for its sake
	asked          map[int][]place // part or file -> how the fact that it needs was asked for
	used           map[int]bool    // part or file -> the fact that it needs was accounted for
	seen, redeemed map[string]bool // handles
	looked         int             // how often the agent was asked for tools that it did not declare
}

// NewDriver returns a driver.
func NewDriver(o DriveOptions) *Driver {
	w := work{
		steps: cmp.Or(o.Steps, 60), bytes: cmp.Or(o.Bytes, 9_000), lag: cmp.Or(o.Lag, 40),
		recalls: o.Recall, seed: int64(o.Seed % 1_000_000), pause: cmp.Or(o.Pause, 200*time.Millisecond),
	}
	return &Driver{work: w, job: w, tasks: map[string]*driven{}, sealed: map[string]string{}}
}

// Report returns the account of every task, in the order in which they began.
func (d *Driver) Report() []DriveTask {
	d.mu.Lock()
	defer d.mu.Unlock()
	out := []DriveTask{}
	for _, name := range d.order {
		t := d.tasks[name].DriveTask
		t.Facts, t.Missed = slices.Clone(t.Facts), slices.Clone(t.Missed)
		out = append(out, t)
	}
	return out
}

// summaryRequest knows the words by which agents ask for a summary of a
// conversation, in order to put it in the conversation's place.
var summaryRequest = regexp.MustCompile(`(?i)detailed summary|summary of (the|our|this) conversation|summari[sz]e (the|our|this) (conversation|session|history|context)|state_snapshot|context checkpoint|handoff summary|context window|compact(ion|ed)? (the )?(conversation|history)|anchored summary|concise checkpoint of|update the existing structured summary`)

// Answer returns the driver as the agent of a server: see [Options.Agent].
func (d *Driver) Answer(a *Ask) []Block {
	d.mu.Lock()
	defer d.mu.Unlock()
	t := d.findTask(a.owner, a.Dialect)
	tool, ok := shellTool(a)
	if d.files != nil && !ok {
		_, _, ok = readTool(a)
	}
	var out []Block
	if a.Thinking {
		out = append(out, Block{Kind: Thinking, Text: writeProse(a.Rand, a.LastText, 2)})
	}
	say := func(format string, args ...any) []Block {
		return append(out, Block{Kind: Text, Text: fmt.Sprintf(format, args...)})
	}
	seen := d.highestSeen(a)
	switch {
	case summaryRequest.MatchString(a.LastAsked):
		t.Summaries++
		return say("%s", d.writeSummary(a, seen))
	case a.form.ok():
		t.Others++
		return say("%s", encodeJSON(fillSchema(nil, "", a.form, 0)))
	case !ok || a.Choice == "none":
		t.Others++
		return say("%s", writeProse(a.Rand, a.LastText, 1))
	case a.Choice != "" && a.Choice != "auto" && a.Choice != "any" && a.Choice != tool.Name:
		t.Others++
		for _, named := range a.Tools {
			if named.Name == a.Choice {
				return append(out, named.callWith(object{}))
			}
		}
	}
	if t.last != (digest{}) && !a.extendsPrompt(t.last) {
		t.Rewrites++
		if t.FirstCut == 0 && a.promptTokens() < t.size {
			t.FirstCut = t.size
		}
	}
	t.last, t.size = a.sum, a.promptTokens()
	t.Done = max(t.Done, seen)
	t.countMarkers(a)
	if seen >= d.work.steps {
		t.Ended = true
		return say("All %d parts are done.", d.work.steps)
	}
	if t.Calls > 3*d.work.steps+20 {
		t.GaveUp = true
		return say("I give up: part %d comes again and again.", seen+1)
	}
	t.Calls++
	call, text := d.callNext(a, t, tool, seen)
	if text != "" {
		out = say("%s", text)
	}
	return append(out, call)
}

// highestSeen returns how far the work has come: the highest part whose last line, with the
// right code, stands in the prompt.
func (d *Driver) highestSeen(a *Ask) int {
	most := 0
	d.eachText(a, func(text []byte) {
		for _, m := range d.job.lastLine().FindAllSubmatch(text, -1) {
			part, err := strconv.Atoi(string(m[1]))
			if err == nil && part > most && part <= d.work.steps && string(m[0]) == d.job.finalLine(part) {
				most = part
			}
		}
	})
	return most
}

// writeSummary returns the answer to an agent that asks for a summary.
func (d *Driver) writeSummary(a *Ask, seen int) string {
	return d.job.writeSummary(seen, func(u need) bool { return d.seesFact(a, u) })
}

// writeCompaction writes a compaction that the agent has the provider make: it asks no model
// for a summary then. The agent gets it sealed, and only the driver reads it.
func (d *Driver) writeCompaction(a *Ask, sealed string) string {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.findTask(a.owner, a.Dialect).Summaries++
	text := d.writeSummary(a, d.highestSeen(a))
	d.sealed[sealed] = text
	return text
}

// countRequest adds a request to the account of who sent it.
func (d *Driver) countRequest(owner string, r Record) {
	d.mu.Lock()
	defer d.mu.Unlock()
	t := d.findTask(owner, r.Dialect)
	t.Requests++
	if r.Reason != "" {
		t.Refused++
	}
	t.Input += r.Input
	t.Read += r.Read
	t.Output += r.Output
	t.Dollars += r.Dollars
}

// callNext calls for the next part or file, or first for an older one again whose fact is
// needed and gone. As people do before a detour, it says where it stands.
func (d *Driver) callNext(a *Ask, t *driven, shell Tool, seen int) (call Block, say string) {
	part := seen + 1
	u := d.job.need(part)
	visible := u.from > 0 && d.seesFact(a, u)
	if d.files != nil {
		say = d.files.decisionsAfter(seen)
	}
	if u.from > 0 && !t.used[part] {
		mayAsk := d.work.recalls
		if d.files == nil { // what was printed again is not asked for
			mayAsk = t.reread[part] == 0
		}
		if !visible && mayAsk {
			if call, ok := d.recallCall(a, t, d.job.lostFact(part)); ok {
				return call, fmt.Sprintf("%s.%s I need what is hidden, so I ask for it.", d.job.finalLine(seen), say)
			}
		}
		if !visible && t.reread[part] < 2 {
			t.reread[part]++
			call, why := d.job.callAgain(a, shell, part, t.reread[part] > 1)
			return call, fmt.Sprintf("%s.%s %s", d.job.finalLine(seen), say, why)
		}
		t.used[part] = true
		d.countFact(a, t, part, visible)
		if visible && d.files != nil {
			say += fmt.Sprintf(" File %d goes with this of %s: %s %s.", part, d.files.paths[u.from-1], u.name, u.value)
		}
	}
	again := t.noteCall(part, a.sum)
	if d.files != nil {
		return d.files.readCall(a, shell, part, false), strings.TrimSpace(say)
	}
	fact := u.name
	if u.from > 0 && !visible {
		fact = "unknown"
	}
	if a.Rand.IntN(3) == 0 {
		say = writeProse(a.Rand, a.LastText, 1)
	}
	return shell.shellCall(d.work.partCommand(part, fact, again || part == 1)), say
}

// noteCall notes that a part is called for in a prompt, and reports whether it was
// before: a retry in the same prompt, a repeat in another.
func (t *driven) noteCall(part int, prompt digest) (again bool) {
	was, again := t.called[part]
	t.called[part] = prompt
	switch {
	case again && was == prompt:
		t.Retries++
	case again:
		t.Repeats++
	}
	return again
}

// findTask finds the account that a request belongs to.
func (d *Driver) findTask(owner, dialect string) *driven {
	t := d.tasks[owner]
	if t != nil {
		return t
	}
	if len(d.order) == mostTasks {
		delete(d.tasks, d.order[0])
		d.order = slices.Delete(d.order, 0, 1)
	}
	t = &driven{
		DriveTask: DriveTask{Name: owner, Dialect: dialect, Steps: d.work.steps},
		called:    map[int]digest{}, reread: map[int]int{}, asked: map[int][]place{}, used: map[int]bool{},
		seen: map[string]bool{}, redeemed: map[string]bool{},
	}
	if d.files != nil {
		for _, name := range factNames {
			t.Facts = append(t.Facts, DriveFacts{Kind: name})
		}
	}
	d.tasks[owner] = t
	d.order = append(d.order, owner)
	return t
}

func (s *Server) serveDrive(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(map[string]any{"tasks": s.opts.Drive.Report()}) // a client that went away
}
