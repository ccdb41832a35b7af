package stage

import (
	"cmp"
	"fmt"

	"github.com/winnow-llm/winnow/chat"
	"github.com/winnow-llm/winnow/plan"
	"github.com/winnow-llm/winnow/token"
)

// Files that the user has attached to his last request stand where no stage
// goes: his words stay as they are. Files are another matter. Where a rewrite is
// due and they have more than their share of what remains beside everything that
// must stay, they are shortened, each with a handle, small ones last.

// attachedFiles lists the files of the last request that may be shortened.
func (d *Draft) attachedFiles() []item {
	var items []item
	if d.LastUser < 0 {
		return nil
	}
	for p := range d.visibleParts(d.LastUser, d.LastUser+1) {
		if p.Kind == chat.Document && p.Signature == "" && !d.Pinned(p.message, p.index) {
			items = append(items, d.asItem(p))
		}
	}
	return items
}

// shrinkAttachments shortens attached files to their share of what remains. It returns
// how many tokens that saves.
func (r *run) shrinkAttachments() int {
	d := r.d
	items := d.attachedFiles()
	total := tokensOf(items)
	if total == 0 || d.Config.FileShare <= 0 || r.isOff("limit") {
		return 0
	}
	return r.shortenFiles(items, min(r.goal.Available, r.goal.Available-r.liveTokens()+total), d.Config.FileShare)
}

// shortenFiles shortens files so that together they have a share of the tokens
// that remain.
func (r *run) shortenFiles(items []item, remaining int, share float64) int {
	d := r.d
	sizes := make([]int64, len(items))
	for i := range items {
		sizes[i] = int64(items[i].tokens) * bytesPerToken
	}
	var edits []plan.Edit
	for i, bytes := range Attachments(sizes, remaining, share) {
		if bytes == sizes[i] {
			continue
		}
		if e, ok := d.shortFile(items[i], int(bytes+bytesPerToken-1)/bytesPerToken); ok {
			edits = append(edits, e)
		}
	}
	before := r.now.Tokens
	if len(edits) == 0 || !r.acceptEdits("limit", edits) {
		return 0
	}
	r.note("limit: %d attached files were shortened to %.0f %% of what remains", len(edits), 100*share)
	return before - r.now.Tokens
}

// shortFile shortens a file to about that many tokens.
func (d *Draft) shortFile(it item, most int) (plan.Edit, bool) {
	name, handle := cmp.Or(it.Name, "a file"), d.handleOf(it.visiblePart)
	text, ok := token.FileText(it.Part)
	if !ok {
		return d.maskItem(it, fmt.Sprintf("[%s left out; original: %s]", name, handle), "attached files are larger than what remains")
	}
	note := fmt.Sprintf("[%s, shortened from %d bytes, %d lines; original: %s]", name, len(text), countLines(text), handle)
	room := most - d.Counter.Text(note) - 2
	if room >= 8 {
		note += "\n" + d.headTail(text, 8*room, 1<<30, room)
	}
	return d.maskItem(it, note, "attached files are larger than what remains")
}
