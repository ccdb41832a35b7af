package control

import "github.com/winnow-llm/winnow/plan"

// View is what the model sees, as one text in the order in which it reads it, or
// what it would see after a compaction.
type View struct {
	Plan plan.ID `json:"plan"`

	// Tokens is the prompt's size, of which Fixed is the system prompt, the tools
	// and what only the provider sees. Whole is what it would be with nothing hidden.
	Tokens int `json:"tokens"`
	Fixed  int `json:"fixed"`
	Whole  int `json:"whole"`

	// Available is what the prompt may have, CompactAt where it is compacted.
	Available int `json:"available"`
	CompactAt int `json:"compact_at"`

	// Next is what the prompt of the next request costs in dollars, Later that of
	// those after it, whose cache holds it; nil where the prices are not known.
	Next  *float64 `json:"next"`
	Later *float64 `json:"later"`

	// Files are how many lines of each file the model sees, as in [File.Shown].
	Files map[string]int `json:"files"`

	// Runs are the text. A preview has them without it.
	Runs []Run `json:"runs"`
}

// Run is a stretch of a view.
type Run struct {
	// Band is "fixed", "files", "words", "actions" or "tail", which is what stands
	// as it was said. About is the path of a file, who speaks, or the call.
	Band  string `json:"band"`
	About string `json:"about,omitempty"`

	// Message is the one of the history, -1 where a compaction wrote the text.
	Message int `json:"message"`

	Tokens int `json:"tokens"`
	Lines  int `json:"lines"`

	// Text is how it begins, at most [MaxRun] bytes, of Bytes.
	Text  string `json:"text,omitempty"`
	Bytes int    `json:"bytes"`
}

// MaxRun is how much of one stretch of a view is shown, in bytes.
const MaxRun = 16 << 10
