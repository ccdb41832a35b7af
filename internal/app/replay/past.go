package replay

import (
	"context"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/winnow-llm/winnow"
	"github.com/winnow-llm/winnow/chat"
	"github.com/winnow-llm/winnow/model"
	"github.com/winnow-llm/winnow/transcript"
)

// Past is what one recorded session and its compactions cost, and what winnow
// would have kept and cost on the same session. It holds no messages.
//
// What it cost is added up from the usage that the file records, with an estimate
// for the calls that wrote summaries, which no file records. The session is then
// replayed with its pauses: as its client compacted it ([Recorded]), and as winnow
// would have with nothing set and thrifty. The bill with winnow is the recorded one,
// raised or lowered as the replays differ; where the file records no usage, dollars
// are those of the replays. Three more figures look at the calls after each compaction
// of the client, up to the 30th and not beyond the next compaction:
//
//   - a read is a re-read when at least half of its lines stood, under the same
//     path, in what the agent had been shown before the compaction, and less than
//     half in what the client still sent. It costs what a re-read costs in a
//     replay: one more request, and the text that was read;
//   - the lines of those reads that stood before are looked for in winnow's view
//     at the same request ([Past.Still]);
//   - an edit counts whose old text was ready before the compaction. It is looked
//     for, ready, in what the client sent right after it and in winnow's view at
//     that request ([Past.Ready]). Compactions whose summary the file does not
//     show are left out of this one.
//
// What the agent read again stands in the recorded history, so winnow's replays
// pay for it as well.
type Past struct {
	// Window is the client's, and winnow's; Fixed what every request carries beside
	// the messages, as the provider counts it.
	Window int `json:"window,omitempty"`
	Fixed  int `json:"fixed,omitempty"`

	// Compactions are those of the client after which work went on, Automatic
	// those that it made by itself, Unread those whose summary the file does not
	// show. Removed adds up the tokens that they took out of the context.
	Compactions int `json:"compactions"`
	Automatic   int `json:"automatic"`
	Unread      int `json:"summaries_not_shown"`
	Removed     int `json:"tokens_removed"`

	// Rereads are reads that the compactions made necessary, RereadTokens what
	// they brought.
	Rereads      int `json:"rereads"`
	RereadTokens int `json:"reread_tokens"`

	// Waited is how long the summaries and the re-reads took, by the times in the
	// file as far as it has them.
	Waited time.Duration `json:"-"`

	// Summaries and Again are dollars for the calls that wrote summaries and for
	// re-reads.
	Summaries float64 `json:"dollars_summaries"`
	Again     float64 `json:"dollars_rereads"`

	// Dollars is what the whole session cost, Ours and Thrifty what it would have
	// cost with winnow, the re-reads included that winnow would have caused. Billed
	// is 1 where the file records the usage.
	Dollars float64 `json:"dollars"`
	Ours    float64 `json:"winnow_dollars"`
	Thrifty float64 `json:"thrifty_dollars"`
	Billed  int     `json:"billed_by_records"`

	// Rewrites and OurRereads are winnow's, OurWaited the time that they took.
	Rewrites   int           `json:"winnow_rewrites"`
	OurRereads int           `json:"winnow_rereads"`
	OurWaited  time.Duration `json:"-"`

	// Still is how many of the lines that were read again winnow's view still
	// had.
	Still Tally `json:"winnow_still_had"`

	// Ready and OursReady are the edits after compactions that were ready in what
	// the client sent, and in winnow's view.
	Ready     Tally `json:"edits_ready"`
	OursReady Tally `json:"winnow_edits_ready"`
}

// Cost returns what the compactions themselves cost, in dollars.
func (p *Past) Cost() float64 { return p.Summaries + p.Again }

// Loss is one compaction of the client, and the files that the agent read again
// after it.
type Loss struct {
	Time    int64         `json:"time"` // of the first request after it, in milliseconds since 1970; 0 is unknown
	Message int           `json:"message"`
	Files   []string      `json:"files"` // names of the files that were read again
	Rereads int           `json:"rereads"`
	Tokens  int           `json:"tokens"`
	Waited  time.Duration `json:"-"`
}

// replayedFrom is the share of its window that a session has to reach to be replayed:
// below it no policy changes anything.
const replayedFrom = 0.3

// MeasurePast measures a session whose client worked in a window, at the prices of a
// model. It also returns the compactions after which something was read again.
func MeasurePast(ctx context.Context, s *Session, works model.Window, prices model.Model) (Past, []Loss, error) {
	b := billOf(s, &prices)
	prices = b.pricesOf(prices)
	prompt, err := PromptOf(&s.Session, prices.Name)
	if err != nil {
		return Past{}, nil, err
	}
	p := Past{Window: works.Tokens, Fixed: prompt.Fixed}
	if b.isComplete() {
		p.Dollars, p.Billed = b.dollars, 1
	}
	p.Ours, p.Thrifty = p.Dollars, p.Dollars
	compacted := len(Summarised(s.Compactions)) > 0
	if !compacted && p.Billed > 0 && float64(prompt.Next) < replayedFrom*float64(works.Tokens) {
		return p, nil, nil
	}
	d := driver{
		index: newHeardIndex(s, prompt), window: works.Tokens, works: works, price: prices, own: true, clock: true,
		next: newNextIndex(s), step: medianStep(s.History),
	}
	v := &hindsight{driver: &d, past: &p, left: Summarised(s.Compactions), asked: map[int][]wanted{}}
	d.look = v.seeClientRequest
	was, err := d.run(ctx, Recorded())
	if err != nil {
		return p, nil, err
	}
	d.look = v.seeOwnRequest
	ours, err := d.run(ctx, Ours("winnow", winnow.Settings{}))
	if err != nil {
		return p, nil, err
	}
	d.look = nil
	thrifty, err := d.run(ctx, Ours("thrifty", winnow.Settings{Preset: "thrifty"}))
	if err != nil {
		return p, nil, err
	}
	p.Summaries = was.Summaries
	p.Dollars += p.Summaries
	if p.Billed == 0 {
		p.Dollars = was.Timed
	}
	if was.Timed > 0 {
		p.Ours = p.Dollars / was.Timed * (ours.Timed + ours.Again)
		p.Thrifty = p.Dollars / was.Timed * (thrifty.Timed + thrifty.Again)
	}
	p.Rewrites, p.OurRereads, p.OurWaited = ours.Rewrites, ours.Rereads, ours.Lost()
	for _, c := range Summarised(s.Compactions)[:was.Calls] {
		if c.Automatic() {
			p.Automatic++
		}
		if c.Summary == "" {
			p.Unread++
		}
	}
	p.Compactions = was.Calls
	losses := v.groupLosses(was.Step)
	p.Waited = was.Blocked
	for i := range losses {
		p.Waited += losses[i].Waited
	}
	p.Rereads = len(v.reads)
	for i := range v.reads {
		r := &v.reads[i]
		p.RereadTokens += r.tokens
		p.Again += rereadCost(&prices, r.prompt, r.tokens)
	}
	return p, losses, nil
}

// groupLosses puts the re-reads together by the compaction before them. Reads of one
// answer went on side by side, so their time counts once.
func (v *hindsight) groupLosses(step time.Duration) []Loss {
	h := v.session.History
	var out []Loss
	last := -1 // the answer whose time was added
	for i := range v.reads {
		r := &v.reads[i]
		if len(out) == 0 || out[len(out)-1].Message != r.after {
			out = append(out, Loss{Time: h.At(r.after).Time, Message: r.after})
		}
		l := &out[len(out)-1]
		l.Rereads++
		l.Tokens += r.tokens
		if name := path.Base(strings.ReplaceAll(r.path, `\`, "/")); !slices.Contains(l.Files, name) {
			l.Files = append(l.Files, name)
		}
		if r.at != last {
			l.Waited += tookUntilNext(h, r.at, step)
		}
		last = r.at
	}
	return out
}

// tookUntilNext returns the time from an answer to the next one, at most a step:
// more was spent on something else.
func tookUntilNext(h chat.History, answer int, step time.Duration) time.Duration {
	for i := answer + 1; i < h.Len(); i++ {
		if h.At(i).Role != chat.Assistant {
			continue
		}
		if d := time.Duration(h.At(i).Time-h.At(answer).Time) * time.Millisecond; h.At(answer).Time > 0 && d > 0 {
			return min(d, step)
		}
		break
	}
	return step
}

// hindsight looks at the requests after the client's compactions, first as the
// client made them and then as winnow would have.
type hindsight struct {
	*driver
	past *Past

	left []transcript.Compaction // at which no request was looked at yet
	last int                     // tokens of the request before
	from int                     // the answer to the first request after the last one
	stop int                     // message after the calls that are looked at

	before *shownView // the view before the compaction

	asked map[int][]wanted // edits by the request that they are looked for in
	reads []reread
}

// reread is a read of what had been shown before a compaction.
type reread struct {
	at     int // message with the call
	after  int // the answer to the first request after the compaction
	path   string
	lines  []string // that stood before
	tokens int
	prompt int
}

// seeClientRequest looks at a request as the client made it.
func (v *hindsight) seeClientRequest(answer, prompt int, now []*chat.Message) {
	h := v.session.History
	if len(v.left) > 0 && v.left[0].At <= answer {
		c := v.left[0]
		for len(v.left) > 0 && v.left[0].At <= answer {
			c, v.left = v.left[0], v.left[1:]
		}
		end := h.Len()
		if len(v.left) > 0 {
			end = v.left[0].At
		}
		v.past.Removed += max(0, v.last-prompt)
		v.seeCompaction(&c, answer, end, now)
	}
	v.last = prompt
	if answer < v.stop {
		v.findRereads(answer, prompt, now)
	}
}

// seeCompaction looks at the first request after a compaction.
func (v *hindsight) seeCompaction(c *transcript.Compaction, answer, end int, now []*chat.Message) {
	h := v.session.History
	v.before = v.next.readView(messagesOf(h.Head(c.At)))
	calls, view := 0, v.next.readViewOnce(now)
	v.from, v.stop = answer, answer
	for ; v.stop < end && calls < nextCalls; v.stop++ {
		for k := range h.At(v.stop).Parts {
			if h.At(v.stop).Parts[k].Kind == chat.ToolCall {
				calls++
			}
		}
		for _, w := range v.next.wanted[v.stop] {
			if c.Summary == "" || !v.before.isReady(w.path, w.old) {
				continue
			}
			v.past.Ready.put(view().isReady(w.path, w.old))
			v.asked[answer] = append(v.asked[answer], w)
		}
	}
}

// findRereads finds the re-reads among the calls of an answer.
func (v *hindsight) findRereads(answer, prompt int, now []*chat.Message) {
	h := v.session.History
	m := h.At(answer)
	for k := range m.Parts {
		call := &m.Parts[k]
		if call.Kind != chat.ToolCall {
			continue
		}
		path, lines, result := v.next.readBy(answer, call)
		stood := keepPresent(lines, v.before.linesOfFile(path))
		if len(lines) == 0 || 2*len(stood) < len(lines) || 2*len(keepPresent(lines, v.next.readView(now).linesOfFile(path))) >= len(lines) {
			continue
		}
		tokens := v.partTokens(result)
		v.reads = append(v.reads, reread{answer, v.from, path, stood, tokens, prompt})
	}
}

// resultOf returns what a call brought, and its texts in the forms that are
// compared.
func (x *nextIndex) resultOf(answer int, call *chat.Part) (*chat.Part, []string) {
	h := x.session.History
	for i := answer + 1; i < h.Len() && h.At(i).Role != chat.Assistant; i++ {
		for k := range h.At(i).Parts {
			if p := &h.At(i).Parts[k]; p.Kind == chat.ToolResult && p.ID == call.ID {
				return p, x.texts[i][k]
			}
		}
	}
	return nil, nil
}

// seeOwnRequest looks at the same requests as winnow would have made them.
func (v *hindsight) seeOwnRequest(answer, _ int, now []*chat.Message) {
	shown := v.next.readViewOnce(now)
	for _, w := range v.asked[answer] {
		v.past.OursReady.put(shown().isReady(w.path, w.old))
	}
	for i := range v.reads {
		if r := &v.reads[i]; r.at == answer {
			v.past.Still = v.past.Still.plus(Tally{len(keepPresent(r.lines, shown().linesOfFile(r.path))), len(r.lines)})
		}
	}
}

// linesOfFile returns the lines that a view shows of a file.
func (v *shownView) linesOfFile(file string) map[string]bool {
	set := map[string]bool{}
	for i := range v.places {
		if s := &v.places[i]; s.standsUnder(file) {
			for _, t := range s.texts {
				for l := range strings.SplitSeq(t, "\n") {
					set[l] = true
				}
			}
		}
	}
	return set
}

// linesOf returns the lines of a text, without its line numbers where it has
// any. Lines that stand in every file say nothing and are left out.
func linesOf(texts []string) []string {
	if len(texts) == 0 {
		return nil
	}
	var out []string
	for l := range strings.SplitSeq(texts[len(texts)-1], "\n") {
		if len(strings.TrimSpace(l)) > 2 {
			out = append(out, l)
		}
	}
	return out
}

// keepPresent returns those of the lines that are in a set.
func keepPresent(lines []string, in map[string]bool) []string {
	return slices.DeleteFunc(slices.Clone(lines), func(l string) bool { return !in[l] })
}

// Add adds the figures of another session. The window is nobody's then.
func (p *Past) Add(q *Past) {
	p.Window, p.Fixed = 0, 0
	p.Compactions += q.Compactions
	p.Automatic += q.Automatic
	p.Unread += q.Unread
	p.Removed += q.Removed
	p.Rereads += q.Rereads
	p.RereadTokens += q.RereadTokens
	p.Waited += q.Waited
	p.Summaries += q.Summaries
	p.Again += q.Again
	p.Dollars += q.Dollars
	p.Ours += q.Ours
	p.Thrifty += q.Thrifty
	p.Billed += q.Billed
	p.Rewrites += q.Rewrites
	p.OurRereads += q.OurRereads
	p.OurWaited += q.OurWaited
	p.Still = p.Still.plus(q.Still)
	p.Ready = p.Ready.plus(q.Ready)
	p.OursReady = p.OursReady.plus(q.OursReady)
}
