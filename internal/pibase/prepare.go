package pibase

import "slices"

// KeepRecent is how many tokens pi keeps where nothing else is set.
const KeepRecent = 20000

// Cut is a place where a path is cut.
type Cut struct {
	Kept int // index of the first entry that stays
	Turn int // index of the entry that starts the turn that is split, or -1
}

// estimate returns the tokens of an entry.
func (p *Projected) estimate() (tokens int) {
	for _, m := range p.Messages {
		tokens += m.Estimate()
	}
	return tokens
}

// has reports whether a message of an entry, which is no compaction, is of some kind.
func (p *Projected) has(is func(*Message) bool) bool {
	return p.Entry.Type != "compaction" && slices.ContainsFunc(p.Messages, is)
}

// findCut walks back until enough is kept, then to a place where a cut is
// allowed: the first one after that point, else the last one there is. Entries
// before it that the model does not see are kept too.
func findCut(items []Projected, from, keepRecent int, advance func(cut int) bool) Cut {
	var allowed []int
	for i := from; i < len(items); i++ {
		if items[i].has((*Message).cutPoint) {
			allowed = append(allowed, i)
		}
	}
	if len(allowed) == 0 {
		return Cut{Kept: from, Turn: -1}
	}
	cut, sum, reached := allowed[0], 0, false
	for i := len(items) - 1; i >= from && !reached; i-- {
		n := items[i].estimate()
		if sum += n; n == 0 || sum < keepRecent {
			continue
		}
		next, _ := slices.BinarySearch(allowed, i)
		reached, cut = true, allowed[min(next, len(allowed)-1)]
	}
	if reached && advance(cut) {
		cut++
	}
	for cut > from && items[cut-1].Entry.Type != "compaction" && len(items[cut-1].Messages) == 0 {
		cut--
	}
	c := Cut{cut, -1}
	if cut < len(items) && !items[cut].has((*Message).startsTurn) {
		for i := cut; i >= from && c.Turn < 0; i-- {
			if items[i].has((*Message).startsTurn) {
				c.Turn = i
			}
		}
	}
	return c
}

// Preparation is what pi would summarise.
type Preparation struct {
	FirstKept       string
	Split           bool
	History, Prefix []*Message
	TokensBefore    int
	Previous        string
	HasPrevious     bool
	Files           FileOps
}

// The reasons why there is nothing to prepare, in pi's words.
const (
	AlreadyCompacted = "Already compacted"
	TooSmall         = "Nothing to compact (session too small)"
)

// Prepare returns what a compaction of the path would summarise, or the reason
// why there is nothing to do.
func Prepare(path []*Entry, keepRecent int) (*Preparation, string) {
	if n := len(path); n > 0 && path[n-1].Type == "compaction" {
		return nil, AlreadyCompacted
	}
	items := Project(path)
	p := &Preparation{Files: FileOps{}}
	from := 0
	if len(items) > 0 && items[0].Entry.Type == "compaction" {
		c := items[0].Entry
		p.Previous, p.HasPrevious = c.Summary, true
		from = 1
		if !c.FromHook {
			p.Files.addPaths(false, c.Read...)
			p.Files.addPaths(true, c.Modified...)
		}
	}
	p.TokensBefore = estimateProjected(items, path).Tokens
	cut := findCut(items, from, keepRecent, func(at int) bool { return onlyRecovery(items[at+1:]) })
	if cut.Kept >= len(items) || items[cut.Kept].Entry.ID == "" {
		return nil, TooSmall
	}
	p.FirstKept, p.Split = items[cut.Kept].Entry.ID, cut.Turn >= 0
	end := cut.Kept
	if p.Split {
		end = cut.Turn
		p.Prefix = spokenMessages(items[cut.Turn:cut.Kept])
	}
	if end > from {
		p.History = spokenMessages(items[from:end])
	}
	if len(p.History) == 0 && len(p.Prefix) == 0 {
		return nil, TooSmall
	}
	for _, m := range slices.Concat(p.History, p.Prefix) {
		p.Files.AddMessage(m)
	}
	return p, ""
}

// spokenMessages returns the messages that are summarised: neither summaries of
// compactions nor system messages.
func spokenMessages(entries []Projected) []*Message {
	var out []*Message
	for i := range entries {
		if entries[i].Entry.Type == "compaction" {
			continue
		}
		for _, m := range entries[i].Messages {
			if m.Role != "system" {
				out = append(out, m)
			}
		}
	}
	return out
}

// onlyRecovery reports whether a suffix holds nothing but attempts that an
// edit took out of the context, and what the model never sees.
func onlyRecovery(suffix []Projected) bool {
	omitted := make(map[string]bool)
	attempt := false
	for _, it := range suffix {
		e := it.Entry
		visible := e.Type != "context_edit" && len(e.ownMessages()) > 0
		switch {
		case e.Type == "compaction" || visible && len(it.Messages) > 0:
			return false
		case visible:
			omitted[e.ID] = true
			attempt = attempt || e.Type == "message" && e.Message.Role == "assistant"
		}
	}
	if !attempt {
		return false
	}
	return !slices.ContainsFunc(suffix, func(it Projected) bool {
		return it.Entry.Type == "context_edit" && it.Entry.Replacement.Kind() == '{' && !omitted[it.Entry.Target]
	})
}
