package stage

import (
	"slices"

	"github.com/winnow-llm/winnow/chat"
)

// The user's newest images stay as they are beside a fold, at most mostImages, and
// in at most 1/imagesPart of the room: a line that names them cannot show their
// content.
const (
	mostImages = 4
	imagesPart = 6
)

// keepImages returns what must stay, and the messages with the user's newest images
// besides.
func (d *Draft) keepImages(w []int, room int) []bool {
	keep := slices.Clone(d.keep)
	images := make([]int, d.Live) // by message
	for p := range d.visibleParts(0, d.Live) {
		if m := d.History.At(p.message); p.Kind == chat.Image && p.mask == nil && m.Role == chat.User && !m.Has(chat.ToolResult) {
			images[p.message]++
		}
	}
	most, left := mostImages, room/imagesPart
	for i := d.Live - 1; i >= 0 && most > 0; i-- {
		if images[i] == 0 || keep[i] {
			continue
		}
		if images[i] > most || w[i] > left {
			break
		}
		keep[i] = true
		most -= images[i]
		left -= w[i]
	}
	return keep
}
