package session

import (
	"time"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/winnow-llm/winnow/chat"
	"github.com/winnow-llm/winnow/internal/decode"
	"github.com/winnow-llm/winnow/plan"
)

// Type is the type of an entry, as it stands in its record.
type Type string

// The types of entries. Others are kept and passed over.
const (
	TypeMessage       Type = "message"
	TypeCompaction    Type = "compaction"
	TypeBranchSummary Type = "branch_summary"
	TypeModelChange   Type = "model_change"
	TypeThinking      Type = "thinking_level_change"
	TypeLabel         Type = "label"
	TypeName          Type = "session_info"
	TypeUsage         Type = "usage"
	TypeContextEdit   Type = "context_edit"
	TypeCustom        Type = "custom"
	TypeCustomMessage Type = "custom_message"
)

// What winnow keeps in entries of type custom, which pi passes over.
const (
	customMessage  = "winnow.message"  // what pi's form of a message cannot hold
	customPin      = "winnow.pin"      // a pin, set or taken off
	customPlan     = "winnow.plan"     // a plan that only mends
	customImport   = "winnow.import"   // when what follows was taken in from elsewhere
	customSettings = "winnow.settings" // a change of settings
	customLeaf     = "winnow.leaf"     // a bookmark: the leaf is its parent
)

// Entry is one entry of a session's tree. Which fields are set depends on its
// type. Entries are values: changing one changes nothing in the session.
type Entry struct {
	ID, Parent string // Parent is "" at a root
	Type       Type
	Time       time.Time

	// Message is set on entries that the model sees as a message.
	Message *chat.Message

	// Compaction is set on compactions, Branch on branch summaries.
	Compaction *Compaction
	Branch     *BranchSummary

	// Target is the entry that a label, pin or context edit is about, Label the
	// label ("" takes it off), Pinned whether a pin was set.
	Target string
	Label  string
	Pinned bool

	// Provider and Model are set on model changes; Name on names.
	Provider, Model string
	Name            string

	// Custom is the type of a custom entry, Data its content.
	Custom string
	Data   jsontext.Value

	// Raw is the record.
	Raw jsontext.Value
}

// Compaction is what a compaction entry says.
type Compaction struct {
	// Summary is the text that stands for what was folded, for readers that
	// know no plans. FirstKept is the first entry that stays; the entry's own
	// id keeps nothing.
	Summary   string
	FirstKept string

	TokensBefore, TokensAfter int

	// Read and Modified are the files of what was folded.
	Read, Modified []string

	// Reason is manual, threshold, overflow, rewind or import; "" where another
	// program wrote the entry. Focus is what was asked for.
	Reason, Focus string

	// Plan is the whole plan in force from here on; nil where another program
	// wrote the entry, and after a rewind that left no edits. Rewinds is the
	// entry that was taken back.
	Plan    *plan.Plan
	Rewinds string

	// FromHook says that the text was not made by the program that wrote it,
	// Supplied that one of our hooks made it.
	FromHook, Supplied bool

	ours  bool     // winnow wrote the entry
	edits []string // ids of the context edits that say the same to pi
}

// BranchSummary is what an entry at a branch says about the branch left.
type BranchSummary struct {
	Summary        string
	From           string // the leaf that was left
	Read, Modified []string
	FromHook       bool
}

// parseEntry decodes a record in full.
func parseEntry(raw jsontext.Value) Entry {
	e := Entry{Raw: raw}
	var message, data, content jsontext.Value
	for k, v := range decode.Members(raw) {
		switch k {
		case "type":
			e.Type = Type(text(v))
		case "id":
			e.ID = text(v)
		case "parentId":
			e.Parent = text(v)
		case "timestamp":
			e.Time = parseTime(v)
		case "message":
			message = v
		case "content":
			content = v
		case "data":
			data = v
		case "targetId":
			e.Target = text(v)
		case "label":
			e.Label = text(v)
		case "provider":
			e.Provider = text(v)
		case "modelId":
			e.Model = text(v)
		case "name":
			e.Name = text(v)
		case "customType":
			e.Custom = text(v)
		}
	}
	switch e.Type {
	case TypeMessage:
		e.Message = parseMessage(message, e.ID, e.Time)
	case TypeCustomMessage:
		m := chat.Message{Role: chat.User, Synthetic: true, ID: e.ID, Time: e.Time.UnixMilli()}
		m.Parts = parseContent(content)
		e.Message = spoken(m)
	case TypeBranchSummary:
		e.Branch = parseBranch(raw)
		m := chat.TextMessage(chat.User, branchText(e.Branch.Summary))
		m.Synthetic, m.ID, m.Time = true, e.ID, e.Time.UnixMilli()
		if e.Branch.Summary != "" {
			e.Message = &m
		}
	case TypeCompaction:
		e.Compaction = parseCompaction(raw)
	case TypeCustom:
		e.Data = data
		if e.Custom == customPin {
			e.Target = decode.Str(data, "targetId")
			e.Pinned, _ = decode.Bool(decode.Member(data, "pinned"))
		}
	}
	return e
}

func parseBranch(raw jsontext.Value) *BranchSummary {
	b := &BranchSummary{}
	for k, v := range decode.Members(raw) {
		switch k {
		case "summary":
			b.Summary = text(v)
		case "fromId":
			b.From = text(v)
		case "details":
			b.Read, b.Modified = texts(v, "readFiles"), texts(v, "modifiedFiles")
		case "fromHook":
			b.FromHook, _ = decode.Bool(v)
		}
	}
	return b
}

func parseCompaction(raw jsontext.Value) *Compaction {
	c := &Compaction{}
	for k, v := range decode.Members(raw) {
		switch k {
		case "summary":
			c.Summary = text(v)
		case "firstKeptEntryId":
			c.FirstKept = text(v)
		case "tokensBefore":
			c.TokensBefore, _ = decode.Int(v)
		case "fromHook":
			c.FromHook, _ = decode.Bool(v)
		case "details":
			c.Read, c.Modified = texts(v, "readFiles"), texts(v, "modifiedFiles")
			if own := decode.Member(v, "winnow"); own.Kind() == '{' {
				c.ours = true
				c.Reason, c.Focus, c.Rewinds = decode.Str(own, "reason"), decode.Str(own, "focus"), decode.Str(own, "rewinds")
				c.TokensAfter, _ = decode.Int(decode.Member(own, "tokensAfter"))
				c.Supplied, _ = decode.Bool(decode.Member(own, "supplied"))
				c.edits = texts(own, "edits")
				if p := decode.Member(own, "plan"); p.Kind() == '{' {
					c.Plan, _ = plan.Decode(p)
					c.ours = c.Plan != nil
				}
			}
		}
	}
	return c
}

// text reads a JSON string; other values are "".
func text(v jsontext.Value) string {
	if v.Kind() != '"' {
		return ""
	}
	s, _ := decode.String(v)
	return s
}

func texts(v jsontext.Value, name string) []string {
	var out []string
	for _, e := range decode.Elements(decode.Member(v, name)) {
		out = append(out, text(e))
	}
	return out
}

// timeForm is how times stand in records.
const timeForm = "2006-01-02T15:04:05.000Z"

func parseTime(v jsontext.Value) time.Time {
	if n := len(v); n == len(timeForm)+2 && v[0] == '"' && v[n-2] == 'Z' {
		if t, ok := quickTime(v[1 : n-1]); ok {
			return t
		}
	}
	if v.Kind() == '0' {
		n, _ := decode.Int(v)
		return time.UnixMilli(int64(n)).UTC()
	}
	t, err := time.Parse(time.RFC3339Nano, text(v))
	if err != nil {
		return time.Time{}
	}
	return t.UTC()
}

// quickTime reads the usual form, which takes a third of opening a long
// session otherwise.
func quickTime(b []byte) (time.Time, bool) {
	num := func(from, to int) int {
		n := 0
		for _, c := range b[from:to] {
			if c < '0' || c > '9' {
				return -1
			}
			n = 10*n + int(c-'0')
		}
		return n
	}
	if b[4] != '-' || b[7] != '-' || b[10] != 'T' || b[13] != ':' || b[16] != ':' || b[19] != '.' {
		return time.Time{}, false
	}
	y, mo, d, h, mi, s, ms := num(0, 4), num(5, 7), num(8, 10), num(11, 13), num(14, 16), num(17, 19), num(20, 23)
	if y < 0 || mo < 1 || mo > 12 || d < 1 || d > 31 || h < 0 || h > 23 || mi < 0 || mi > 59 || s < 0 || s > 59 || ms < 0 {
		return time.Time{}, false
	}
	return time.Date(y, time.Month(mo), d, h, mi, s, ms*1e6, time.UTC), true
}
