package stage

import (
	"fmt"
	"slices"

	"github.com/winnow-llm/winnow/chat"
	"github.com/winnow-llm/winnow/internal/work"
	"github.com/winnow-llm/winnow/plan"
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

// leaveOutdated leaves out the files of the last request that were changed since: the
// state has them as they are, where they fit into half of the room.
func (r *run) leaveOutdated() {
	d := r.d
	if d.LastUser < 0 || !r.Says() {
		return
	}
	changed := d.ladderReading().ChangedParts(d.LastUser, (d.Target-d.fixed)/2)
	var edits []plan.Edit
	for p := range d.visibleParts(d.LastUser, d.LastUser+1) {
		name := changed[p.index]
		if name == "" || p.mask != nil || d.Pinned(p.message, p.index) {
			continue
		}
		text := fmt.Sprintf("[%s as it was when attached; it was changed since. Original: %s]", name, d.redeemPart(p))
		if e, ok := d.maskItem(d.asItem(p), text, "the file was changed since"); ok {
			edits = append(edits, e)
		}
	}
	r.acceptEdits("limit", edits)
}

// shrinkAttachments shortens attached files to their share of what remains.
func (r *run) shrinkAttachments() {
	d := r.d
	items := d.attachedFiles()
	total := tokensOf(items)
	if total == 0 || d.Config.FileShare <= 0 {
		return
	}
	live := r.fixed.Tokens + d.Tokens(d.Live, d.History.Len())
	if d.LastUser < d.Live {
		live += d.tokensAt(d.LastUser)
	}
	r.shortenFiles(items, r.goal.Available-max(live-total, 0), d.Config.FileShare)
}

// shortenFiles shortens files so that together they have a share of the tokens
// that remain.
func (r *run) shortenFiles(items []item, remaining int, share float64) {
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
		most := itemSize{work.KeepBoth, anySize, anySize, max(int(bytes+bytesPerToken-1)/bytesPerToken, 1)}
		if e, ok := d.shortenItem(items[i], most, "attached files are larger than what remains"); ok {
			edits = append(edits, e)
		}
	}
	if r.acceptEdits("limit", edits) {
		r.note("limit: %d attached files were shortened to %.0f %% of what remains", len(edits), 100*share)
	}
}

// Sizes that decide how a file is read into a conversation.
const (
	smallFile    = 100 << 10 // below this it is read whole if it fits into what remains
	LargeFile    = 5 << 20   // above this only a preview is read
	previewChars = 2000

	bytesPerToken = 4
)

// ReadBudget returns how many bytes of a file of that size to read when the given
// tokens remain: at most a share of them, such as 0.6. Small files that fit are
// read whole; of very large ones a preview is enough to decide what to look for.
func ReadBudget(size int64, remaining int, share float64) int64 {
	bytes := bytesFor(remaining, share)
	switch {
	case bytes > 0 && size < smallFile && size <= int64(remaining)*bytesPerToken:
		return size
	case size > LargeFile:
		return min(previewChars, bytes)
	}
	return min(size, bytes)
}

// bytesFor is how many bytes a share of the remaining tokens holds.
func bytesFor(remaining int, share float64) int64 {
	return int64(share*float64(max(remaining, 0))) * bytesPerToken
}

// Attachments returns how many bytes of each of several files to read, so that all
// together stay within a share of the remaining tokens. Small files come first:
// what they leave is divided among the larger ones.
func Attachments(sizes []int64, remaining int, share float64) []int64 {
	bytes := make([]int64, len(sizes))
	for i, size := range sizes {
		if bytes[i] = size; size > LargeFile {
			bytes[i] = previewChars
		}
	}
	most := equalShare(bytes, bytesFor(remaining, share))
	for i := range bytes {
		bytes[i] = min(bytes[i], most)
	}
	return bytes
}

// equalShare returns the most that each may have so that all together have at most
// room: what the small ones leave is divided among the larger ones.
func equalShare[N int | int64](sizes []N, room N) N {
	sizes = slices.Sorted(slices.Values(sizes))
	for i, s := range sizes {
		left := N(len(sizes) - i)
		if s*left >= room {
			return room / left
		}
		room -= s
	}
	return slices.Max(append(sizes, room))
}
