package pibase

import "slices"

// KeepRecent is how many tokens pi keeps where nothing else is set.
const KeepRecent = 20000

// Cut is a place where a path is cut.
type Cut struct {
	Kept  int // index of the first entry that stays
	Turn  int // index of the entry that starts the turn that is split, or -1
	Split bool
}

// item is an entry as the search for a cut sees it.
type item struct {
	entry  *Entry
	tokens int
	shown  int  // how many messages the model sees
	cut    bool // what is kept may start here
	turn   bool
}

func newItem(e *Entry, msgs []*Message) item {
	it := item{entry: e, shown: len(msgs)}
	for _, m := range msgs {
		it.tokens += m.Estimate()
		if e.Type != "compaction" {
			it.cut = it.cut || m.cutPoint()
			it.turn = it.turn || m.startsTurn()
		}
	}
	return it
}

// findCut walks back until enough is kept, then to a place where a cut is
// allowed: the first one after that point, else the last one there is. Entries
// before it that the model does not see are kept too.
func findCut(items []item, from, to, keepRecent int, advance func(cut int, reached bool) bool) Cut {
	first, last := -1, -1
	for i := from; i < to; i++ {
		if items[i].cut {
			if first < 0 {
				first = i
			}
			last = i
		}
	}
	if first < 0 {
		return Cut{Kept: from, Turn: -1}
	}
	cut, sum, reached := first, 0, false
	for i := to - 1; i >= from && !reached; i-- {
		if sum += items[i].tokens; items[i].tokens == 0 || sum < keepRecent {
			continue
		}
		reached, cut = true, last
		for k := i; k < to; k++ {
			if items[k].cut {
				cut = k
				break
			}
		}
	}
	if advance != nil && advance(cut, reached) {
		cut++
	}
	for cut > from && items[cut-1].entry.Type != "compaction" && items[cut-1].shown == 0 {
		cut--
	}
	c := Cut{Kept: cut, Turn: -1}
	if cut < to && !items[cut].turn {
		for i := cut; i >= from && c.Turn < 0; i-- {
			if items[i].turn {
				c.Turn = i
			}
		}
		c.Split = c.Turn >= 0
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
	proj := Project(path)
	items := make([]item, len(proj.Entries))
	for i := range proj.Entries {
		items[i] = newItem(proj.Entries[i].Entry, proj.Entries[i].Messages)
	}
	p := &Preparation{Files: FileOps{}}
	from := 0
	if len(items) > 0 && items[0].entry.Type == "compaction" {
		c := items[0].entry
		p.Previous, p.HasPrevious = c.Summary, true
		from = 1
		if !c.FromHook {
			p.Files.addPaths(false, c.Read...)
			p.Files.addPaths(true, c.Modified...)
		}
	}
	p.TokensBefore = estimateProjected(proj, path).Tokens
	to := len(items)
	cut := findCut(items, from, to, keepRecent, func(at int, reached bool) bool {
		return reached && onlyRecovery(items[at+1:to])
	})
	if cut.Kept >= len(items) || items[cut.Kept].entry.ID == "" {
		return nil, TooSmall
	}
	p.FirstKept, p.Split = items[cut.Kept].entry.ID, cut.Split
	end := cut.Kept
	if cut.Split {
		end = cut.Turn
		p.Prefix = spokenMessages(proj.Entries[cut.Turn:cut.Kept])
	}
	if end > from {
		p.History = spokenMessages(proj.Entries[from:end])
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
func onlyRecovery(suffix []item) bool {
	omitted := make(map[string]bool)
	attempt := false
	for _, it := range suffix {
		e := it.entry
		visible := e.Type != "context_edit" && len(e.ownMessages()) > 0
		switch {
		case e.Type == "compaction" || visible && it.shown > 0:
			return false
		case visible:
			omitted[e.ID] = true
			attempt = attempt || e.Type == "message" && e.Message.Role == "assistant"
		}
	}
	if !attempt {
		return false
	}
	return !slices.ContainsFunc(suffix, func(it item) bool {
		return it.entry.Type == "context_edit" && it.entry.Replacement.Kind() == '{' && !omitted[it.entry.Target]
	})
}
