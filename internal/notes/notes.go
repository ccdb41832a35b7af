// Package notes is what a model, or a person for it, writes down in a conversation
// so that it outlives every rewrite: what a note is, how many there may be, and how
// the model reads them. Where they are kept is the matter of each kind of
// conversation.
package notes

import (
	"cmp"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/winnow-llm/winnow/internal/quote"
)

// Bounds of the notes of one conversation: all of them are a few thousand tokens.
const (
	Most      = 40
	MostBytes = 600
)

// Note is something that was written down in a conversation.
type Note struct {
	ID string `json:"id"`

	// Message is how many messages the conversation had then.
	Message int       `json:"message"`
	Time    time.Time `json:"time"` // zero where it is not known
	Text    string    `json:"text"`
}

// Change is what it takes to write a note: one that goes, one that comes, or both.
type Change struct {
	Gone  *Note
	Added *Note
	Say   string // a sentence for the note's author
}

// ErrNothing says that a note stands there already.
var ErrNothing = errors.New("this is noted already")

// Write decides what a note changes. Replaces is the id of one that goes, "" for
// none; a text of "" adds none. The note is written now, after that number of
// messages.
func Write(have []Note, replaces, text string, message int, now time.Time) (Change, error) {
	var c Change
	if replaces != "" {
		i := slices.IndexFunc(have, func(n Note) bool { return n.ID == replaces })
		if i < 0 {
			return c, fmt.Errorf("there is no note %q; the notes are %s", quote.ClipLine(replaces, 20), listNotes(have))
		}
		c.Gone = &have[i]
	}
	text = strings.TrimSpace(quote.Line(text))
	switch {
	case text == "" && c.Gone == nil:
		return c, errors.New("the note has no text")
	case len(text) > MostBytes:
		return c, fmt.Errorf("the note has %d bytes, and one may have %d; write it shorter, or in two", len(text), MostBytes)
	case text == "":
		c.Say = "Removed the note " + c.Gone.ID + "."
		return c, nil
	case c.Gone == nil && len(have) >= Most:
		return c, fmt.Errorf("there are %d notes, which is the most; replace one that is settled: %s", len(have), listNotes(have))
	case slices.ContainsFunc(have, func(n Note) bool { return n.Text == text && n.ID != replaces }):
		return c, ErrNothing
	}
	// A note that is written again stands where it was written first.
	if c.Gone != nil {
		message = c.Gone.Message
	}
	h := sha256.Sum256([]byte(strconv.Itoa(message) + "\n" + text))
	c.Added = &Note{ID: IDOf(int(binary.BigEndian.Uint32(h[:]) >> 2)), Message: message, Time: now.UTC(), Text: text}
	c.Say = fmt.Sprintf("Noted as %s. From the next compaction on it stands with how things stand (%d of %d notes).", c.Added.ID, len(have)+1, Most)
	if c.Gone != nil {
		c.Say = fmt.Sprintf("Noted as %s, in place of %s.", c.Added.ID, c.Gone.ID)
	}
	return c, nil
}

// Apply returns notes after a change.
func (c *Change) Apply(have []Note) []Note {
	have = slices.Clone(have)
	if c.Gone != nil {
		have = slices.DeleteFunc(have, func(n Note) bool { return n.ID == c.Gone.ID })
	}
	if c.Added != nil {
		have = append(have, *c.Added)
	}
	slices.SortStableFunc(have, func(a, b Note) int { return a.Message - b.Message })
	return have
}

// listNotes names notes in one line.
func listNotes(have []Note) string {
	var all []string
	for _, n := range have {
		all = append(all, fmt.Sprintf("%s (%s)", n.ID, quote.ClipLine(n.Text, 40)))
	}
	return cmp.Or(strings.Join(all, ", "), "none")
}

// IDOf returns the id that a number stands for.
func IDOf(n int) string { return "n" + strconv.FormatInt(int64(n), 36) }

// Number returns the number behind an id, which is below 2^30; -1 for none.
func Number(id string) int {
	n, err := strconv.ParseInt(strings.TrimPrefix(id, "n"), 36, 32)
	if err != nil || n < 0 {
		return -1
	}
	return int(n)
}

// Head stands above the notes in a view.
const Head = "## Notes written down so far (the agent's own, not the user's words)"

// Lines returns the notes as the model reads them, oldest first.
func Lines(have []Note) []string {
	lines := make([]string, len(have))
	for i, n := range have {
		when := ""
		if !n.Time.IsZero() {
			when = n.Time.UTC().Format(", 2006-01-02 15:04")
		}
		lines[i] = fmt.Sprintf("- %s (after message %d%s): %s", n.ID, n.Message, when, n.Text)
	}
	return lines
}
