package token

import (
	"math"
	"sync"

	"github.com/winnow-llm/winnow/chat"
)

// # How the ledger counts
//
// Providers do not publish how they count, and a client does not see all that is
// counted: tool definitions are rewritten, reasoning is hidden, vocabularies are
// secret. But each answer reports what its prompt really was. The ledger keeps
// these reports and answers one question: how large will the next prompt be?
//
// The idea is to estimate only what is new. Whatever the counter gets wrong
// about the old part is in the last report already, so its error stays small
// however long the conversation becomes. Take a conversation with one message
// that the counter puts at 10,000 tokens. The provider reports a prompt of
// 13,000 and an answer of 320 tokens, which the counter puts at 300.
//
// Predict. The agent appends the answer and a tool's result; the counter now
// says 12,300, so the result is 2,000 of them. The next prompt is the last one,
// the answer as reported, and the estimate of the rest:
//
//	13,000 + 320 + 1.00*2,000 = 15,320
//
// Learn (calibrate.go). The provider reports 15,720. So the 2,000 were 2,400:
// this provider counts 1.2 tokens where the counter counts one. A single step
// is weak evidence, and 1.00 is believed as if it had been seen on 4,000 tokens:
//
//	factor = (4,000 + 2,400) / (4,000 + 2,000) = 1.07
//
// A step that something else explains is left out: the prompt shrank, or grew by
// several times what was added, because the client changed what it sent.
//
// Rewrite. The answer (210 reported, 200 estimated) and a result of 30,000 come
// in: 42,500 by the counter, and 47,930 by the ledger (15,720 + 210 + 32,000).
// That is too much, so a plan is proposed whose view the counter puts at 20,000.
// No prompt under that plan was ever reported. But two points are known, the
// smallest prompt (10,000 estimated, 13,000 reported: it holds the overhead that
// no rewrite removes) and the view as it is now, and 20,000 lies between:
//
//	13,000 + (20,000-10,000) * (47,930-13,000)/(42,500-10,000) = 23,748
//
// Scaling by the factor alone would say 21,333, and the request might be refused.
//
// Every answer has a band: half a percent and 100 tokens for what was reported, a
// tenth or so of what is estimated, less the longer the ledger has learned. Here
// the upper end is 51,491 for the prediction and 26,446 for the rewrite.
//
// What the ledger does not do: it keeps no list of calls, only the last one, the
// smallest one and five sums, and these as they were before the last call. It
// carries nothing to another conversation or another family of models. It
// corrects wholes, never the count of a single message. Bytes and images are not
// its business.

// Step is one call to a model: what was estimated before it and what its
// provider reported after it.
type Step struct {
	// Messages is how many messages the view had that was sent, Estimate the
	// counter's estimate of the whole prompt: system, tools, messages and framing.
	Messages, Estimate int

	// Usage is what the provider reported, Answer the counter's estimate of the
	// assistant message that the call produced.
	Usage  chat.Usage
	Answer int

	// Cut says that the answer ended because its limit was reached.
	Cut bool `json:",omitempty"`

	// Model answered; Plan is the id of the plan that made the view, "" for none.
	Model, Plan string
}

// Repeats reports whether two steps are about the same view for the same model:
// one call that was reported twice, or that was made again.
func (s *Step) Repeats(o *Step) bool {
	return s.Messages == o.Messages && s.Estimate == o.Estimate && s.Plan == o.Plan && s.Model == o.Model
}

// Ledger keeps what a provider reported for one conversation and predicts the
// next prompt from it: the last reported prompt and answer are facts, and only
// what came after them is estimated, with a factor learned on the way.
//
// A ledger belongs to one family. When a conversation moves to a model of
// another family it needs another ledger. It is safe for concurrent use.
type Ledger struct {
	family Family

	mu    sync.Mutex
	learn calibration
	last  Step // the anchor; valid if it has a prompt
	first Step // the smallest prompt of this model: mostly system and tools

	// before is the state that the last step was added to, so that a better
	// report of the same call can take its place.
	before struct {
		learn       calibration
		last, first Step
	}
}

// NewLedger returns an empty ledger for the family.
func NewLedger(f Family) *Ledger { return &Ledger{family: f} }

// Family returns the family the ledger was made for.
func (l *Ledger) Family() Family { return l.family }

// Record adds a step. Steps without usage (aborted or failed calls) are left
// out. Logs repeat the usage of a call for each block of its answer, the first
// ones with partial numbers: of several reports of one call the largest counts.
// Another plan or model starts afresh, but what was learned stays.
func (l *Ledger) Record(s Step) {
	if s.Usage.Prompt() <= 0 || s.Estimate < 0 {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.last.Usage.Prompt() > 0 && s.Repeats(&l.last) {
		if s.Usage.Context() < l.last.Usage.Context() {
			return
		}
		l.learn, l.last, l.first = l.before.learn, l.before.last, l.before.first
	}
	l.before.learn, l.before.last, l.before.first = l.learn, l.last, l.first

	if l.last.Usage.Prompt() > 0 && l.last.Model == s.Model && l.last.Plan == s.Plan && s.Messages > l.last.Messages && !s.partial() {
		l.learn.add(&l.last, &s)
	}
	if l.first.Usage.Prompt() == 0 || l.first.Model != s.Model || s.Estimate < l.first.Estimate {
		l.first = s
	}
	l.last = s
}

// partial reports whether far less was reported than was sent: some servers
// report only what their cache did not have.
func (s *Step) partial() bool {
	return float64(s.Usage.Prompt())+unsureStep < leastSlope*float64(s.Estimate)
}

// Last returns the step that predictions start from, and whether there is one.
func (l *Ledger) Last() (Step, bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.last, l.last.Usage.Prompt() > 0
}

// Factor returns what an estimate is multiplied by to give what the provider
// counts: 1 at first, then learned from the growth of reported prompts.
func (l *Ledger) Factor() float64 {
	l.mu.Lock()
	defer l.mu.Unlock()
	f, _ := l.learn.solve()
	return f
}

// Unseen returns how many tokens of every prompt the provider counts that were in
// no estimate, by its smallest prompt; 0 where nothing shows that.
func (l *Ledger) Unseen() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	factor, _ := l.learn.solve()
	return max(0, l.first.Usage.Prompt()-int(max(factor, 1)*float64(l.first.Estimate)))
}

// Predict returns the next prompt of a view under a plan, given how many
// messages it has and the counter's estimate of the whole prompt. It returns
// false if no usage was reported under that plan, or only for a longer view, or
// far less than was sent: then the counter's own count is the best there is, or
// [Ledger.Rewritten].
func (l *Ledger) Predict(messages, estimate int, plan string) (Count, bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.last.Usage.Prompt() <= 0 || l.last.Plan != plan || messages < l.last.Messages || l.last.partial() {
		return Count{}, false
	}
	total, unsure := l.next(messages, estimate)
	return l.count(total, unsure), true
}

// Rewritten returns the prompt that a rewrite would make of the view that the
// next [Ledger.Predict] is for: messages and before describe that view, after
// is the counter's estimate of the whole prompt once it is rewritten. Both
// estimates must come from one counter. It returns false if there is no usage
// to start from.
//
// Two reports bound the answer, the last one and the smallest, which holds the
// fixed overhead: what lies between their estimates lies between them. Beyond
// them, until growth has shown how estimates relate to what is counted, what a
// report says of its own prompt is taken to hold for a part of it too. The count
// and both its ends never fall when the estimate rises, save by a token of rounding.
func (l *Ledger) Rewritten(messages, before, after int) (Count, bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.last.Usage.Prompt() <= 0 || messages < l.last.Messages {
		return Count{}, false
	}
	now, unsure := l.next(messages, before)
	small, prompt := float64(l.first.Estimate), float64(l.first.Usage.Prompt())
	from, to := float64(before), float64(after)
	slope := l.slope()
	rise := slope
	if from > small {
		rise = (now - prompt) / (from - small)
	}
	total := now
	switch {
	case rise < leastSlope || rise > mostSlope: // they do not go together
		slope = min(max(now/max(from, 1), leastSlope), mostSlope)
		total += slope * (to - from)
		unsure += slope * math.Abs(to-from)
	case to >= from:
		total += slope * (to - from)
		unsure += slope * (to - from)
	default:
		total, unsure = l.between(to, line{small, prompt, from, unsure, slope, rise})
	}
	return l.count(max(total, 1), unsure), true
}

// line leads from the smallest prompt to the next one.
type line struct {
	small, prompt float64 // the estimate of the smallest, and what was reported for it
	from, unsure  float64 // the estimate of the next, and how many tokens of it are one
	slope, rise   float64 // the factors below the smallest and between the two
}

// at returns the prompt for an estimate up to that of the next prompt, and how many
// tokens of it are an estimate: none at the smallest, most in the middle.
func (n *line) at(to float64) (total, unsure float64) {
	if to <= n.small {
		return n.prompt + n.slope*(to-n.small), n.slope * (n.small - to)
	}
	share := (to - n.small) / (n.from - n.small)
	return n.prompt + n.rise*(to-n.small), share*n.unsure + 2*n.rise*share*(n.from-to)
}

// between returns what at does, and counts more tokens as unsure where the lower end
// would otherwise fall further up the line. It would where the two prompts are close
// and the next one is mostly an estimate: then the report of the smallest one tells
// little about a view of that size.
func (l *Ledger) between(to float64, n line) (total, unsure float64) {
	total, unsure = n.at(to)
	share, d := l.share(), n.from-n.small
	// Where the lower end is least: total less anchoredBand of it and share of unsure.
	least := (n.from + n.small - d*(1-anchoredBand)/(2*share) + n.unsure/(2*n.rise)) / 2
	least = min(max(least, n.small), n.from)
	if to < least {
		far, most := n.at(least)
		unsure = max(unsure, most-(far-total)*(1-anchoredBand)/(2*share))
	}
	return total, unsure
}

// Bounds of what the provider counts for a token of an estimate. Beyond them a
// report is about something else.
const leastSlope, mostSlope = 0.25, 4

// Other returns the prompt of a view under a plan that no usage was reported
// for yet, given the counter's estimate of it: as [Ledger.Rewritten] would have
// told before the plan was made. It returns false if there is no usage to start
// from, or if that is so far from its own estimate that it must be about
// something else.
func (l *Ledger) Other(estimate int) (Count, bool) {
	last, ok := l.Last()
	prompt := last.Usage.Prompt()
	if share := float64(prompt) / float64(max(last.Estimate, 1)); !ok || share < leastSlope || share > mostSlope {
		return Count{}, false
	}
	return l.Rewritten(last.Messages, last.Estimate, estimate)
}

// slope is the factor for what a rewrite removes.
func (l *Ledger) slope() float64 {
	factor, _ := l.learn.solve()
	if l.first.Estimate <= 0 {
		return factor
	}
	whole := min(max(float64(l.first.Usage.Prompt())/float64(l.first.Estimate), leastSlope), mostSlope)
	seen := l.learn.weight()
	return (seen*factor + priorFactor*whole) / (seen + priorFactor)
}

// next returns the next prompt and how many tokens of it are an estimate.
func (l *Ledger) next(messages, estimate int) (total, unsure float64) {
	factor, kept := l.learn.solve()
	total = float64(l.last.Usage.Prompt())
	added := float64(estimate - l.last.Estimate)
	if messages > l.last.Messages {
		visible, hidden, counted := l.last.answer()
		total += visible + kept*hidden
		added -= counted
		unsure = visible + hidden
	}
	return max(total+factor*added, 1), unsure + factor*math.Abs(added)
}

// answer returns what the provider reported of the answer, in two parts: what
// the next prompt surely holds, and reasoning, which some providers drop; and
// the estimate that these numbers stand for. Some logs keep only the first
// number of a stream, far below what the answer visibly holds; then nothing is
// taken as reported.
func (s *Step) answer() (visible, hidden, counted float64) {
	if 2*s.Usage.Output < s.Answer {
		return 0, 0, 0
	}
	h := min(max(s.Usage.Thinking, 0), s.Usage.Output)
	return float64(s.Usage.Output - h), float64(h), float64(s.Answer)
}

// How sure predictions are. Reported prompts are facts, but clients put small
// reminders in, and not all of an answer comes back as it was counted.
const (
	anchoredBand = 0.005
	unsureStep   = 100.0 // tokens
)

// count makes a count of a prediction in which unsure tokens are estimated.
// The longer the ledger has learned, the more such an estimate is trusted.
func (l *Ledger) count(total, unsure float64) Count {
	return Count{
		Tokens: int(math.Round(total)),
		Method: Anchored,
		Band:   min(anchoredBand+(l.share()*unsure+unsureStep)/total, l.raw()),
	}
}

// raw is the band of what is only estimated.
func (l *Ledger) raw() float64 {
	p := profiles[l.family]
	if p == nil {
		p = profiles[Unknown]
	}
	return max(p.tableBand, 0.10)
}

// share is the band of unsure tokens in a prediction.
func (l *Ledger) share() float64 {
	return l.raw() * (1 - 0.5*l.learn.weight()/(l.learn.weight()+priorFactor))
}
