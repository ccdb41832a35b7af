package control

import (
	"time"

	"github.com/winnow-llm/winnow/chat"
	"github.com/winnow-llm/winnow/internal/notes"
	"github.com/winnow-llm/winnow/plan"
)

// Detail is all that is known of a conversation.
type Detail struct {
	Conversation

	// Next says what to do now.
	Next Next `json:"next"`

	// Requests are the newest, oldest first, at most [MaxRequests]; Earlier is
	// how many there were before them.
	Requests []Request `json:"requests"`
	Earlier  int       `json:"earlier"`

	// Plans are those that came into force, oldest first.
	Plans []PlanInfo `json:"plans"`

	// Pinned are the pins in force, in order.
	Pinned []Pin `json:"pinned"`

	// Notes are the conversation's notes, oldest first.
	Notes []Note `json:"notes"`

	// Forks are conversations that branched off from this one.
	Forks []Fork `json:"forks"`

	// Readable says that the history is at hand, so that reports, patches,
	// searches and actions work; Why says what to do where it is not.
	Readable bool   `json:"readable"`
	Why      string `json:"why,omitempty"`
}

// MaxRequests is how many requests of a conversation are kept one by one.
const MaxRequests = 1000

// Next says what is going to happen.
type Next struct {
	// Do is "nothing", "soon" where a compaction is less than ten requests away,
	// "now" where the next request is going to be compacted, or "unknown". Say
	// is that in a sentence for people.
	Do  string `json:"do"`
	Say string `json:"say"`

	// Tokens is the prompt of the next request before anything is added to it,
	// under the plan in force.
	Tokens int `json:"tokens"`

	// Requests is about how many requests are left before the next compaction;
	// nil where the prompt does not grow or too little is known.
	Requests *int `json:"requests"`

	// Growth is how many tokens the prompt grew by with each request lately.
	Growth int `json:"growth"`
}

// PlanInfo is a plan that came into force.
type PlanInfo struct {
	ID     plan.ID   `json:"id"`
	Parent plan.ID   `json:"parent,omitempty"`
	Time   time.Time `json:"time"`

	// By is "request", "compact" or "undo", Request the request it came into
	// force with, or before which it was made. Why says for what reason, Focus
	// which subject somebody asked to keep.
	By      string  `json:"by"`
	Request int     `json:"request"`
	Why     string  `json:"why,omitempty"`
	Focus   string  `json:"focus,omitempty"`
	Undid   plan.ID `json:"undid,omitempty"` // what an undo took back

	Messages int `json:"messages"` // that it covers
	Edits    int `json:"edits"`    // that it added to the plan before

	// Before and After are the prompt's tokens without and with what this plan
	// added to the one before; Saved is the difference, negative after an undo.
	Before int `json:"tokens_before"`
	After  int `json:"tokens_after"`
	Saved  int `json:"saved"`

	// InForce says that it is the one in force, Undone that it was taken back.
	InForce bool `json:"in_force,omitempty"`
	Undone  bool `json:"undone,omitempty"`
}

// Pin is a message, or with Part >= 0 one of its parts, that no stage may edit.
type Pin struct {
	Message int `json:"message"`
	Part    int `json:"part"` // -1 is the whole message

	// From is the conversation that it was pinned in, where that is not this one.
	From string `json:"from,omitempty"`
}

// Note is something that was written down in a conversation: the model sees it with
// how things stand, from the next rewrite on.
type Note = notes.Note

// Fork is a conversation that branched off.
type Fork struct {
	ID     string `json:"id"`
	Shared int    `json:"shared"` // messages
}

// Message is a message of a history, and what became of it.
type Message struct {
	Message int       `json:"message"`
	Role    chat.Role `json:"role"`
	Tokens  int       `json:"tokens"`
	Parts   []Part    `json:"parts"`

	// Shown is "kept", "reduced" where parts of it are masked, or "hidden" where
	// a fold or drop took it. Edit is the handle of that fold or drop.
	Shown  string `json:"shown"`
	Edit   string `json:"edit,omitempty"`
	Pinned bool   `json:"pinned,omitempty"`
}

// Part is a part of a message.
type Part struct {
	Part   int    `json:"part"`
	Kind   string `json:"kind"`
	Name   string `json:"name,omitempty"` // of the tool
	Tokens int    `json:"tokens"`

	// Text is how it begins, at most [MaxText] bytes; Bytes is all of it.
	Text   string `json:"text,omitempty"`
	Bytes  int    `json:"bytes"`
	Handle string `json:"handle,omitempty"` // of the mask on it
	Pinned bool   `json:"pinned,omitempty"`
}

// MaxText is how much of a text a list shows, in bytes.
const MaxText = 400

// Wanted says which messages of a history are wanted. The zero value is all of
// them, from the first on.
type Wanted struct {
	From, Limit int

	Role   chat.Role // "" is any
	Tool   string    // messages that call it or hold its results; "" is any
	Shown  string    // as [Message.Shown]; "" is any
	Pinned bool      // only what a pin is on
}

// Messages is a stretch of a history.
type Messages struct {
	Messages []Message `json:"messages"`
	Total    int       `json:"total"`
	Fits     int       `json:"fits"`           // of them are wanted
	Next     int       `json:"next,omitempty"` // to go on from; 0 at the end
	Tools    []string  `json:"tools"`          // that were called
}

// Files are the files of a conversation as they stand.
type Files struct {
	Files []File `json:"files"`

	// Note says why files are missing; "" where none are.
	Note string `json:"note,omitempty"`
}

// File is a file as the history shows it.
type File struct {
	Path string `json:"path"`

	// Lines is how many of its lines are known, Touched the message that last
	// showed or changed it, Edited whether the conversation changed it, Whole
	// that all of it is known.
	Lines   int  `json:"lines"`
	Touched int  `json:"touched"`
	Edited  bool `json:"edited,omitempty"`
	Whole   bool `json:"whole,omitempty"`
	Unsure  bool `json:"unsure,omitempty"` // something may have changed it since

	// Shown is how many of its known lines the model sees now.
	Shown int `json:"shown"`
}
