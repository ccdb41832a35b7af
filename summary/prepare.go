package summary

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/winnow-llm/winnow/chat"
	"github.com/winnow-llm/winnow/internal/work"
	"github.com/winnow-llm/winnow/token"
)

// The defaults of [PrepareOptions].
const (
	DefaultKeepRecent = 16384
	defaultSnap       = 2000
)

// PrepareOptions say what [Prepare] keeps and what came before. The zero value
// prepares the first compaction of a history with the default sizes.
type PrepareOptions struct {
	// KeepRecent is how many tokens at the end of the history stay as they are,
	// at least. The default is 16,384; a negative value keeps as little as the rules allow.
	KeepRecent int

	// Snap is how many tokens more may stay to keep the turn whole that the cut
	// falls into. The default is 2,000; a negative value never does that.
	Snap int

	// Start is the first message that no earlier summary covers; Previous is
	// the prose of that summary.
	Start    int
	Previous string

	// Compacted is how long the history was at the last compaction, 0 before
	// the first. A history that has not grown since is not compacted again.
	Compacted int

	// Focus is what the summary should pay attention to.
	Focus string

	// Counter and Kinds are as in [Input].
	Counter *token.Counter
	Kinds   *work.Kinds
}

// Preparation is everything that a summary needs to be made of.
type Preparation struct {
	// From is the first message to be summarised. KeptFrom is the first one
	// that stays, KeptID its id.
	From, KeptFrom int
	KeptID         string

	// Split says that the cut falls inside a turn. Turn is then the turn's
	// start, else -1: messages From to Turn-1 are history, and Turn to
	// KeptFrom-1 are the first part of the turn that goes on.
	Split bool
	Turn  int

	// TokensBefore is what all messages count, TokensKept what those count that
	// stay.
	TokensBefore, TokensKept int

	// Previous is the prose of the summary that is updated.
	Previous string

	// Read and Modified are the files before KeptFrom, from the history's start,
	// so that they accumulate over compactions. Footer is their list as text.
	Read, Modified []string
	Footer         string

	// Options are the ones that were used, with their defaults filled in.
	Options PrepareOptions

	history chat.History
	keep    []int
	end     int // of what is summarised: more may go than that
}

// Preparation tells people and hooks what a summariser gets. Kept is the first
// message that stays.
func (in Input) Preparation(kept int) Preparation {
	p := Preparation{From: in.From, KeptFrom: kept, Turn: -1, Previous: in.Previous, history: in.History, keep: in.Keep, end: in.To}
	p.Options = PrepareOptions{Previous: in.Previous, Start: in.Since, Focus: in.Focus, Counter: in.Counter, Kinds: in.Kinds}
	if in.Previous != "" {
		p.From = max(in.From, in.Since)
	}
	h := in.History
	for i := range h.Len() {
		n := in.Counter.At(h, i)
		p.TokensBefore += n
		if i >= kept {
			p.TokensKept += n
		}
	}
	if kept < h.Len() {
		p.KeptID = h.At(kept).ID
		outline := chat.NewOutline(h)
		if turn := outline.Turns[outline.TurnOf(min(p.end, kept))]; turn.From < p.end && !turn.Headless { // the cut falls into it
			p.Split, p.Turn = true, max(turn.From, p.From)
		}
	}
	files := Files(h, 0, kept, in.Kinds)
	p.Read, p.Modified, p.Footer = files.Read, files.Modified, files.Footer()
	return p
}

// History returns the messages to be summarised before a split turn.
func (p *Preparation) History() chat.Messages {
	to := p.end
	if p.Split {
		to = p.Turn
	}
	return p.summarisedMessages(p.From, to)
}

// TurnPrefix returns the messages of a split turn that are to be summarised.
func (p *Preparation) TurnPrefix() chat.Messages {
	if !p.Split {
		return nil
	}
	return p.summarisedMessages(p.Turn, p.end)
}

// summarisedMessages returns those that are summarised: what stays in the view is not.
func (p *Preparation) summarisedMessages(from, to int) chat.Messages {
	list := make(chat.Messages, 0, max(to-from, 0))
	for i := from; i < to; i++ {
		if !slices.Contains(p.keep, i) {
			list = append(list, *p.history.At(i))
		}
	}
	return list
}

// Prepare finds what to summarise so that the end of the history stays as it
// is. The cut is made at a user's or an assistant's message and never between a call and
// its results; at least KeepRecent tokens stay. When there is nothing to do,
// the reason says why, and else it is empty.
func Prepare(h chat.History, o PrepareOptions) (p Preparation, reason string) {
	o.KeepRecent, o.Snap = cmp.Or(o.KeepRecent, DefaultKeepRecent), cmp.Or(o.Snap, defaultSnap)
	if o.Counter == nil {
		o.Counter = token.New(token.Unknown, nil)
	}
	o.Start = max(o.Start, 0)
	p = Preparation{From: o.Start, KeptFrom: o.Start, Turn: -1, Previous: o.Previous, Options: o, history: h}
	n := h.Len()
	tokens := func(from, to int) (sum int) {
		for i := from; i < to; i++ {
			sum += o.Counter.At(h, i)
		}
		return sum
	}
	p.TokensBefore = tokens(0, n)
	switch {
	case n == 0:
		return p, "nothing to compact: the conversation has no messages"
	case o.Compacted >= n:
		return p, "already compacted: nothing was added since"
	case o.Start >= n:
		return p, "nothing to compact: an earlier summary covers every message"
	}

	outline := chat.NewOutline(h)
	cut, kept := n, 0
	for cut > o.Start && (kept < o.KeepRecent || cut == n || !cutHere(h, outline, cut)) {
		cut--
		kept += o.Counter.At(h, cut)
	}
	if turn := outline.Turns[outline.TurnOf(cut)]; cut > o.Start && !turn.Headless && turn.From >= o.Start {
		if more := tokens(turn.From, cut); more <= o.Snap {
			cut, kept = turn.From, kept+more
		}
	}
	if cut <= o.Start {
		p.KeptFrom, p.TokensKept = cut, kept
		return p, fmt.Sprintf("nothing to compact: the %d tokens since message %d are what has to stay (keep-recent is %d)", kept, o.Start+1, o.KeepRecent)
	}
	p = Input{History: h, From: o.Start, To: cut, Counter: o.Counter, Kinds: o.Kinds}.Preparation(cut)
	p.Previous, p.Options = o.Previous, o
	return p, ""
}

// cutHere reports whether what stays may start with message i.
func cutHere(h chat.History, outline *chat.Outline, i int) bool {
	m := h.At(i)
	return outline.CanCut(i) && (m.Role == chat.User || m.Role == chat.Assistant) && !m.Has(chat.ToolResult)
}
