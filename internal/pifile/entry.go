package pifile

import (
	"time"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/winnow-llm/winnow/internal/decode"
)

// Version is the newest version, in which entries are written.
const Version = 3

// The types of entries that have a meaning.
const (
	TypeSession       = "session" // the header
	TypeMessage       = "message"
	TypeCompaction    = "compaction"
	TypeBranchSummary = "branch_summary"
	TypeModelChange   = "model_change"
	TypeThinking      = "thinking_level_change"
	TypeLabel         = "label"
	TypeName          = "session_info"
	TypeContextEdit   = "context_edit"
	TypeCustom        = "custom"
	TypeCustomMessage = "custom_message"
)

// Entry is an entry, or a header, with its members found. Which of them are there
// depends on the type; those that are not are nil.
type Entry struct {
	Type, ID, Parent string
	Time             jsontext.Value

	Message jsontext.Value // of a message
	Content jsontext.Value // of a custom message

	// Of compactions and branch summaries.
	Summary, Details, FromHook jsontext.Value
	FirstKept                  jsontext.Value
	TokensBefore, System       jsontext.Value
	From                       jsontext.Value // the leaf that was left

	Provider, Model, Thinking jsontext.Value // of changes of model and thinking
	Name                      jsontext.Value // of a name
	Target, Label             jsontext.Value // of labels and context edits
	Replacement               jsontext.Value // of a context edit
	Custom, Data              jsontext.Value // of a custom entry: its own type and content
}

// Parse finds the members of an entry, which must be valid JSON.
func Parse(raw jsontext.Value) Entry {
	var e Entry
	decode.Find(
		raw, decode.To("type", &e.Type), decode.To("id", &e.ID), decode.To("parentId", &e.Parent), decode.To("timestamp", &e.Time),
		decode.To("message", &e.Message), decode.To("content", &e.Content), decode.To("summary", &e.Summary), decode.To("details", &e.Details),
		decode.To("fromHook", &e.FromHook), decode.To("firstKeptEntryId", &e.FirstKept),
		decode.To("tokensBefore", &e.TokensBefore), decode.To("systemMessage", &e.System), decode.To("fromId", &e.From),
		decode.To("provider", &e.Provider), decode.To("modelId", &e.Model), decode.To("thinkingLevel", &e.Thinking), decode.To("name", &e.Name),
		decode.To("targetId", &e.Target), decode.To("label", &e.Label), decode.To("replacement", &e.Replacement),
		decode.To("customType", &e.Custom), decode.To("data", &e.Data),
	)
	return e
}

// Header is what a session's first record says.
type Header struct {
	ID, Dir, Parent string
	Time            time.Time
	Version         int // 1 where none is given
}

// ParseHeader reads a header. It is false for any other record.
func ParseHeader(raw jsontext.Value) (Header, bool) {
	h := Header{Version: 1}
	kind, named := "", false
	for k, v := range decode.Members(raw) {
		switch k {
		case "type":
			kind = decode.Str(v)
		case "id":
			h.ID, named = decode.Str(v), v.Kind() == '"'
		case "cwd":
			h.Dir = decode.Str(v)
		case "parentSession":
			h.Parent = decode.Str(v)
		case "timestamp":
			h.Time = Time(v)
		case "version":
			if v.Kind() == '0' {
				h.Version, _ = decode.Int(v)
			}
		}
	}
	return h, kind == TypeSession && named
}

// Strings returns the strings of a list.
func Strings(v jsontext.Value) []string {
	var out []string
	for _, e := range decode.Elements(v) {
		out = append(out, decode.Str(e))
	}
	return out
}

// TimeForm is how times stand in records.
const TimeForm = "2006-01-02T15:04:05.000Z"

// Time returns the time in a record: a text, or milliseconds since 1970. What it
// cannot read is the zero time.
func Time(v jsontext.Value) time.Time {
	if v.Kind() == '0' {
		n, _ := decode.Int(v)
		return time.UnixMilli(int64(n)).UTC()
	}
	t, err := time.Parse(time.RFC3339Nano, decode.Str(v))
	if err != nil {
		return time.Time{}
	}
	return t.UTC()
}
