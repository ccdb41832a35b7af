package session

import (
	"time"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/winnow-llm/winnow/chat"
	"github.com/winnow-llm/winnow/internal/decode"
	"github.com/winnow-llm/winnow/internal/pifile"
	"github.com/winnow-llm/winnow/plan"
)

// Type is the type of an entry, as it stands in its record.
type Type string

// The types of entries. Others are kept and passed over.
const (
	TypeMessage       Type = pifile.TypeMessage
	TypeCompaction    Type = pifile.TypeCompaction
	TypeBranchSummary Type = pifile.TypeBranchSummary
	TypeModelChange   Type = pifile.TypeModelChange
	TypeThinking      Type = pifile.TypeThinking
	TypeLabel         Type = pifile.TypeLabel
	TypeName          Type = pifile.TypeName
	TypeContextEdit   Type = pifile.TypeContextEdit
	TypeCustom        Type = pifile.TypeCustom
	TypeCustomMessage Type = pifile.TypeCustomMessage
)

// What winnow keeps in entries of type custom, which pi passes over.
const (
	customMessage = "winnow.message" // what pi's form of a message cannot hold
	customPin     = "winnow.pin"     // a pin, set or taken off
	customNote    = "winnow.note"    // a note, written or removed
	customPlan    = "winnow.plan"    // a plan that only mends
	customImport  = "winnow.import"  // when what follows was taken in from elsewhere
	customWindow  = "winnow.window"  // the window of the agent that a conversation was taken in from
	customLeaf    = "winnow.leaf"    // a bookmark: the leaf is its parent
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
	// Summary is the text that stands for the folded entries, for readers that know
	// no plans. FirstKept is the first entry that stays; the entry's own id keeps
	// nothing.
	Summary   string
	FirstKept string

	TokensBefore, TokensAfter int

	// Read and Modified are the files in the folded entries; Created and Deleted
	// are those of the modified that were new, and that are gone.
	Read, Modified, Created, Deleted []string

	// Reason is manual, threshold, overflow, rewind or import; "" where another
	// program wrote the entry. Focus is the subject that somebody asked to keep.
	Reason, Focus string

	// Plan is the plan in force from here on, as the entry has it: what it
	// replaced is in the entries before. It is nil where another program wrote
	// the entry, and after a rewind that left no edits. Rewinds is the
	// entry that was taken back.
	Plan    *plan.Plan
	Rewinds string

	// FromHook says that a hook or an extension made the text, and not the
	// program that wrote the entry; Supplied that it was one of our hooks.
	FromHook, Supplied bool

	// notLasted is how many rewrites in a row, up to this plan, did not last.
	notLasted int

	ours  bool     // winnow wrote the entry
	edits []string // ids of the context edits that say the same to pi
}

// BranchSummary is what an entry at a branch says about the branch left.
type BranchSummary struct {
	Summary        string
	From           string // the leaf that was left
	Read, Modified []string
	FromHook       bool

	created, deleted []string // among the modified
}

// parseEntry decodes a record in full.
func parseEntry(raw jsontext.Value) Entry {
	p := pifile.Parse(raw)
	e := Entry{
		ID: p.ID, Parent: p.Parent, Type: Type(p.Type), Time: pifile.Time(p.Time), Raw: raw,
		Target: decode.Str(p.Target), Label: decode.Str(p.Label), Provider: decode.Str(p.Provider), Model: decode.Str(p.Model),
		Name: decode.Str(p.Name), Custom: decode.Str(p.Custom),
	}
	switch e.Type {
	case TypeMessage:
		e.Message = parseMessage(p.Message, e.ID, e.Time)
	case TypeCustomMessage:
		m := chat.Message{Role: chat.User, Synthetic: true, ID: e.ID, Time: e.Time.UnixMilli()}
		m.Parts = parseContent(p.Content)
		e.Message = withoutEmptyTexts(m)
	case TypeBranchSummary:
		e.Branch = parseBranch(p)
		m := chat.TextMessage(chat.User, branchText(e.Branch.Summary))
		m.Synthetic, m.ID, m.Time = true, e.ID, e.Time.UnixMilli()
		if e.Branch.Summary != "" {
			e.Message = &m
		}
	case TypeCompaction:
		e.Compaction = parseCompaction(p)
	case TypeCustom:
		e.Data = p.Data
		if e.Custom == customPin {
			e.Target = decode.Str(p.Data, "targetId")
			e.Pinned = pifile.Set(decode.Member(p.Data, "pinned"))
		}
	}
	return e
}

func parseBranch(p pifile.Entry) *BranchSummary {
	b := &BranchSummary{Summary: decode.Str(p.Summary), From: decode.Str(p.From), FromHook: pifile.Set(p.FromHook)}
	b.Read, b.Modified = filesOf(p)
	b.created, b.deleted = changesOf(p)
	return b
}

func parseCompaction(p pifile.Entry) *Compaction {
	c := &Compaction{Summary: decode.Str(p.Summary), FirstKept: decode.Str(p.FirstKept), FromHook: pifile.Set(p.FromHook)}
	c.TokensBefore, _ = decode.Int(p.TokensBefore)
	c.Read, c.Modified = filesOf(p)
	own := decode.Member(p.Details, "winnow")
	if own.Kind() != '{' {
		return c
	}
	c.ours = true
	c.Reason, c.Focus, c.Rewinds = decode.Str(own, "reason"), decode.Str(own, "focus"), decode.Str(own, "rewinds")
	c.TokensAfter, _ = decode.Int(decode.Member(own, "tokensAfter"))
	c.notLasted, _ = decode.Int(decode.Member(own, "notLasted"))
	c.Supplied = pifile.Set(decode.Member(own, "supplied"))
	c.Created, c.Deleted = changesOf(p)
	c.edits = pifile.Strings(decode.Member(own, "edits"))
	if made := decode.Member(own, "plan"); made.Kind() == '{' {
		c.Plan, _ = plan.Decode(made)
		c.ours = c.Plan != nil
	}
	return c
}

// filesOf returns the files that a compaction or a branch summary names.
func filesOf(p pifile.Entry) (read, modified []string) {
	return pifile.Strings(decode.Member(p.Details, "readFiles")), pifile.Strings(decode.Member(p.Details, "modifiedFiles"))
}

// changesOf returns which of the files it names as modified were created and deleted.
func changesOf(p pifile.Entry) (created, deleted []string) {
	own := decode.Member(p.Details, "winnow")
	return pifile.Strings(decode.Member(own, "createdFiles")), pifile.Strings(decode.Member(own, "deletedFiles"))
}
