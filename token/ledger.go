package token

import (
	"cmp"
	"math"
	"sync"

	"github.com/winnow-llm/winnow/chat"
)

// # How the ledger counts
//
// Providers do not publish how they count, and a client does not see all that is
// counted: system prompts and tools are not in an agent's file, reasoning is hidden,
// vocabularies are secret. But each answer reports what its prompt really was. The
// ledger keeps these reports and has one model of a prompt:
//
//	prompt = fixed + scale * conversation
//
// Fixed is what every request carries: system prompt, tools, and whatever else the
// provider counts that nobody shows. It is what the first report has beyond its
// conversation, and shifts when system prompt or tools do. Scale says what the
// provider counts for a token of the counter's; it is learned from the growth between
// reports, on text alone, for images and documents have prices of their own, and is 1
// where the vocabulary is known. Take a conversation of one message
// that the counter puts at 1,000 tokens, and nothing else in sight. The provider
// reports a prompt of 13,000 and an answer of 320, which the counter puts at 300:
//
//	fixed = 13,000 - 1.00*1,000 = 12,000
//
// Predict. The agent appends the answer and a tool's result; the counter now says
// 3,300, so the result is 2,000 of them. Only what is new is estimated, so an error
// about the old part does not grow with the conversation:
//
//	13,000 + 320 + 1.00*2,000 = 15,320
//
// Learn (calibrate.go). The provider reports 15,720. So the 2,000 were 2,400. A
// single step is weak evidence, and 1.00 is believed as if it had been seen on 4,000
// tokens:
//
//	scale = (4,000 + 2,400) / (4,000 + 2,000) = 1.07
//
// A step that something else explains is left out: the prompt shrank, or grew by
// several times the tokens added, because the client changed what it sent. With the
// scale the fixed part is seen better, too: 13,000 - 1.07*1,000 = 11,933.
//
// Rewrite. The answer and a result of 30,000 come in, and the provider reports 47,930
// for 33,500 by the counter. That is too much, so a plan is proposed that would leave
// 11,000. What is fixed stays, and of the rest the same share is left as of its estimate:
//
//	11,933 + 11,000 * (47,930-11,933)/33,500 = 23,753
//
// Every answer has a band: half a percent and 100 tokens for the reported part, a
// tenth or so of the estimated part, less the longer the ledger has learned. Here
// the upper end is 51,491 for the prediction and 24,832 for the rewrite.
//
// What the ledger does not do: it keeps no list of calls, only the last one, the one
// with the smallest conversation and five sums, and these as they were before the
// last call. It carries nothing to another conversation or another family of models.
// It corrects wholes, never the count of a single message. Bytes are not its business.

// Step is one call to a model: the estimate before it and its provider's report
// after it.
type Step struct {
	// Messages is how many messages the view had that was sent, Estimate the
	// counter's estimate of the whole prompt: system, tools, messages and framing.
	Messages, Estimate int

	// Fixed is the part of the estimate that every request carries, system prompt
	// and tools; Media that of images and documents. The rest is the conversation's
	// text.
	Fixed, Media int

	// Usage is what the provider reported, Answer the counter's estimate of the
	// assistant message that the call produced.
	Usage  chat.Usage
	Answer int

	// Cut says that the answer ended because its limit was reached.
	Cut bool `json:",omitempty"`

	// Model answered; Plan is the id of the plan that made the view, "" for none.
	Model, Plan string
}

// conversationEstimate returns the estimate of the conversation, textEstimate that of
// its text, without images and documents.
func (s *Step) conversationEstimate() float64 { return float64(max(0, s.Estimate-s.Fixed)) }
func (s *Step) textEstimate() float64         { return float64(max(0, s.Estimate-s.Fixed-s.Media)) }

// Repeats reports whether two steps are about the same view for the same model:
// one call that was reported twice, or that was made again.
func (s *Step) Repeats(o *Step) bool {
	return s.Messages == o.Messages && s.Estimate == o.Estimate && s.Plan == o.Plan && s.Model == o.Model
}

// Ledger keeps what a provider reported for one conversation and predicts the
// next prompt from it: the last reported prompt and answer are facts, and only
// what came after them is estimated, with a scale learned on the way.
//
// A ledger belongs to one family. When a conversation moves to a model of
// another family it needs another ledger. It is safe for concurrent use. No
// ledger is one that nothing was reported to.
type Ledger struct {
	family Family

	mu sync.Mutex
	known

	// before is the state that the last step was added to, so that a better
	// report of the same call can take its place.
	before known
}

// known is what a ledger has learned.
type known struct {
	learn calibration
	last  Step // the anchor; valid if it has a prompt
	first Step // with the smallest conversation: it tells what is fixed

	// moved is by how much the fixed part is larger now than the first step and the
	// estimates of system prompt and tools say.
	moved float64
}

// NewLedger returns an empty ledger for the family.
func NewLedger(f Family) *Ledger { return &Ledger{family: f} }

// Family returns the family the ledger was made for.
func (l *Ledger) Family() Family {
	if l == nil {
		return ""
	}
	return l.family
}

// Record adds a step. Steps without usage (aborted or failed calls) are left
// out. Logs repeat the usage of a call for each block of its answer, the first
// ones with partial numbers: of several reports of one call the largest counts.
// Another plan or model starts afresh, but the learned scale stays.
func (l *Ledger) Record(s Step) {
	if l == nil || s.Usage.Prompt() <= 0 || s.Estimate < 0 {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.last.Usage.Prompt() > 0 && s.Repeats(&l.last) {
		if s.Usage.Context() < l.last.Usage.Context() {
			return
		}
		l.known = l.before
	}
	l.before = l.known

	follows := l.last.Usage.Prompt() > 0 && l.last.Model == s.Model && l.last.Plan == s.Plan && s.Messages > l.last.Messages && !s.isPartial()
	switch {
	case follows && l.last.Fixed != s.Fixed:
		// The conversation has the expected tokens; the rest of the report is
		// fixed.
		expected, _ := l.predictNext(&s)
		if d := float64(s.Usage.Prompt()) - expected; l.fixedPart(&s)+d >= 0 {
			l.moved += d
		}
	case follows:
		l.learn.add(&l.last, &s)
	}
	if l.first.Usage.Prompt() == 0 || l.first.Model != s.Model || (s.conversationEstimate() < l.first.conversationEstimate() || l.first.isImplausible()) && !s.isImplausible() {
		l.first, l.moved = s, 0
	}
	l.last = s
}

// isPartial reports whether far less was reported than was sent: some servers
// report only what their cache did not have.
func (s *Step) isPartial() bool {
	return float64(s.Usage.Prompt())+unsureStep < leastSlope*float64(s.Estimate)
}

// isImplausible reports whether a report is so far from the estimate that it must
// be about something else.
func (s *Step) isImplausible() bool {
	return s.isPartial() || s.Usage.Prompt() > mostSlope*s.Estimate+mostFixed
}

// Last returns the step that predictions start from, and whether there is one.
func (l *Ledger) Last() (Step, bool) {
	if l == nil {
		return Step{}, false
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.last, l.last.Usage.Prompt() > 0
}

// Factor returns what an estimate of text is multiplied by to give what the provider
// counts: 1 at first, then learned from the growth of reported prompts.
func (l *Ledger) Factor() float64 {
	if l == nil {
		return 1
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	f, _ := l.solveFactors()
	return f
}

// solveFactors returns the scale and the share of reasoning that is kept. A known
// vocabulary needs no scale.
func (l *Ledger) solveFactors() (factor, kept float64) {
	factor, kept = l.learn.solve()
	if p := profiles[l.family]; p != nil && p.public {
		factor = 1
	}
	return factor, kept
}

// Fixed returns how many tokens of a prompt the provider counts whatever the
// conversation is, given the counter's estimate of system prompt and tools. It
// returns that estimate until usage was reported.
func (l *Ledger) Fixed(estimate int) int {
	if l == nil {
		return estimate
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	return int(math.Round(l.fixedPart(&Step{Fixed: estimate})))
}

// fixedPart returns the fixed part of a prompt: what the first report has beyond its
// conversation, and what the estimate of system prompt and tools has gained since.
func (l *Ledger) fixedPart(s *Step) float64 {
	if l.first.Usage.Prompt() <= 0 || l.first.isImplausible() {
		return float64(s.Fixed)
	}
	factor, _ := l.solveFactors()
	at := float64(l.first.Usage.Prompt()) - factor*l.first.textEstimate() - float64(l.first.Media)
	return max(0, max(at, 0)+l.moved+float64(s.Fixed-l.first.Fixed))
}

// Predict returns the next prompt of a view; of the step, messages, estimates and
// plan are looked at. It returns false if no usage was reported under that plan, or
// only for a longer view, or far less than was sent: then the counter's own count is
// the best there is, or [Ledger.Rewritten].
func (l *Ledger) Predict(s Step) (Count, bool) {
	if l == nil {
		return Count{}, false
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.last.Usage.Prompt() <= 0 || l.last.Plan != s.Plan || s.Messages < l.last.Messages || l.last.isPartial() {
		return Count{}, false
	}
	total, unsure := l.predictNext(&s)
	return l.countWithBand(total, unsure), true
}

// Rewritten returns the prompt of a view under a plan that no usage was reported for
// yet, or that is only proposed. It returns false without usage to start from, or
// if that must be about something else.
//
// What is fixed stays, and the conversation has the share of its tokens that it has
// of its estimate; what it has more than the last reported one is an estimate. The
// count and both its ends never fall when the estimate rises, save by a token of
// rounding.
func (l *Ledger) Rewritten(s Step) (Count, bool) {
	if l == nil {
		return Count{}, false
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.last.Usage.Prompt() <= 0 || l.last.isImplausible() {
		return Count{}, false
	}
	last := float64(l.last.Usage.Prompt())
	slope, _ := l.solveFactors()
	if talk := l.last.conversationEstimate(); s.conversationEstimate() < talk {
		slope = min(max((last-l.fixedPart(&l.last))/talk, leastSlope), mostSlope)
	}
	total := last + slope*(s.conversationEstimate()-l.last.conversationEstimate()) + float64(s.Fixed-l.last.Fixed)
	// The conversation is estimated, and so is what the first report had of it; but a
	// view that hardly differs from a known one is nearly as sure as that.
	unsure := min(slope*(s.conversationEstimate()+l.first.conversationEstimate()), 2*math.Abs(total-last))
	return l.countWithBand(max(total, 1), unsure), true
}

// Bounds of what the provider counts for a token of an estimate, and of what is fixed.
// Beyond them a report is about something else.
const leastSlope, mostSlope, mostFixed = 0.25, 4, 100_000

// predictNext returns the next prompt and how many tokens of it are an estimate.
func (l *Ledger) predictNext(s *Step) (total, unsure float64) {
	factor, kept := l.solveFactors()
	total = float64(l.last.Usage.Prompt())
	added := s.textEstimate() - l.last.textEstimate()
	beside := float64(s.Media - l.last.Media + s.Fixed - l.last.Fixed)
	if s.Messages > l.last.Messages {
		visible, hidden, counted := l.last.reportedAnswer()
		total += visible + kept*hidden
		added -= counted
		unsure = visible + hidden
	}
	return max(total+factor*added+beside, 1), unsure + factor*math.Abs(added) + math.Abs(beside)
}

// reportedAnswer returns what the provider reported of the answer, in two parts: what
// the next prompt surely holds, and reasoning, which some providers drop; and
// the estimate that these numbers stand for. Some logs keep only the first
// number of a stream, far below what the answer visibly holds; then nothing is
// taken as reported.
func (s *Step) reportedAnswer() (visible, hidden, counted float64) {
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

// countWithBand makes a count of a prediction in which unsure tokens are estimated.
// The longer the ledger has learned, the more such an estimate is trusted.
func (l *Ledger) countWithBand(total, unsure float64) Count {
	band := max(cmp.Or(profiles[l.family], profiles[Unknown]).tableBand, 0.10) // of estimated tokens
	learned := l.learn.weight() / (l.learn.weight() + priorFactor)
	return Count{
		Tokens: int(math.Round(total)),
		Method: Anchored,
		Band:   min(anchoredBand+(band*(1-0.5*learned)*unsure+unsureStep)/total, band),
	}
}
