package stage

import (
	"cmp"
	"context"
	"fmt"
	"strings"

	"github.com/winnow-llm/winnow/chat"
	"github.com/winnow-llm/winnow/internal/work"
	"github.com/winnow-llm/winnow/plan"
	"github.com/winnow-llm/winnow/token"
)

// limitItems shortens single items that are too large for any conversation: a tool
// result, the arguments of a call, a document, a model's own text. What is left
// is the head, the tail and the lines that report errors. Items that the next call is
// about are shortened only where they do not fit at all. It also takes the oldest images
// away when there are more than the limit, and the oldest images and documents when the
// request has too many bytes.
func (d *Draft) limitItems(_ context.Context, need chat.Size) ([]plan.Edit, error) {
	var edits []plan.Edit
	most := d.Config.itemSize()
	most.tokens = max(d.Available/4, 64)
	images, bytes := need.Images, need.Bytes
	for p := range d.visibleParts(0, d.History.Len()) {
		if p.mask != nil || !d.mayMask(p.message, p.index) {
			continue
		}
		if n := imagesIn(p.Part); n > 0 && images > 0 || bytes > 0 && mediaIn(p.Part) > 0 {
			if e, ok := d.withoutMedia(p); ok {
				images -= n
				bytes -= e.Before.Bytes - e.After.Bytes
				edits = append(edits, e)
				continue
			}
		}
		size, lines := len(p.Text)+len(p.Args), countLines(p.Text)
		if p.message >= d.Live || p.Signature != "" || size <= min(most.bytes, most.tokens) && lines <= most.lines {
			continue // a token has at least one byte
		}
		it := d.asItem(p)
		if p.Kind == chat.Thinking || it.tokens <= most.tokens && size <= most.bytes && lines <= most.lines {
			continue
		}
		if e, ok := d.shortenItem(it, most, fmt.Sprintf("%d tokens, %d bytes in one item", it.tokens, size)); ok {
			edits = append(edits, e)
		}
	}
	return edits, nil
}

func imagesIn(p *chat.Part) int { return p.Size().Images }

// mediaIn returns the bytes of images and documents in a part.
func mediaIn(p *chat.Part) int {
	n := 0
	if p.Kind == chat.Image || p.Kind == chat.Document {
		n = len(p.Data)
	}
	for i := range p.Content {
		n += mediaIn(&p.Content[i])
	}
	return n
}

// withoutMedia returns a mask that leaves the words of a part and takes its
// images and documents away.
func (d *Draft) withoutMedia(p visiblePart) (plan.Edit, bool) {
	if p.Signature != "" {
		return plan.Edit{}, false
	}
	what := "file"
	if n := imagesIn(p.Part); n > 0 {
		what = fmt.Sprintf("%d image(s)", n)
	}
	text := fmt.Sprintf("[%s left out; original: %s]", what, d.redeemPart(p))
	if p.Text != "" {
		text = p.Text + "\n" + text
	}
	return d.maskPart("limit", p, text, "more images or bytes than the limit")
}

// itemSize is the most that what is left of an item may have, and which end of it that is.
type itemSize struct {
	keep                 string
	bytes, lines, tokens int
}

// shortenItem returns a mask that leaves so much of an item, its framing included: of a text
// head, tail and the lines between that report errors, of arguments their short values. With
// no tokens it leaves the handle. ok is false when that is no less than stands in the view.
func (d *Draft) shortenItem(it item, most itemSize, why string) (plan.Edit, bool) {
	p, redeem := it.Part, d.redeemPart(it.visiblePart)
	text, name := p.Text, ""
	switch p.Kind {
	case chat.ToolCall:
		if most.tokens == 0 {
			return d.maskItem(it, fmt.Sprintf(`{"shortened":%q}`, d.handleOf(it.visiblePart)), why)
		}
		return d.maskItem(it, shortArgs(p.Args, max(2*most.tokens, 40), redeem), why)
	case chat.Document:
		text, _ = token.FileText(p)
		name = cmp.Or(p.Name, "a file") + ", "
	case chat.Opaque:
		return plan.Edit{}, false
	case chat.Thinking:
		if d.lead >= 0 && it.index == 0 && it.message >= d.lead || len(d.History.At(it.message).Parts) == 1 {
			return plan.Edit{}, false
		}
		return d.maskItem(it, "", why)
	}
	if most.tokens == 0 {
		return d.maskItem(it, fmt.Sprintf("[shortened; original: %s]", d.handleOf(it.visiblePart)), why)
	}
	note := fmt.Sprintf("[%sshortened from %d bytes, %d lines; original: %s]", name, len(text), countLines(text), redeem)
	if most.tokens < 64 || text == "" {
		note = fmt.Sprintf("[%sshortened; original: %s]", name, redeem)
	}
	room := most.tokens - d.Counter.Text(note) - 2
	if p.Kind == chat.ToolResult {
		room -= d.Counter.Part(&chat.Part{Kind: p.Kind, ID: p.ID, Name: p.Name})
	}
	if room >= 8 && text != "" {
		most.tokens = room
		note = d.cutText(text, most) + "\n" + note
	}
	return d.maskItem(it, note, why)
}

// maskItem returns a mask of an item that makes it smaller than it stands in the view.
func (d *Draft) maskItem(it item, text, why string) (plan.Edit, bool) {
	e, ok := d.maskPart("limit", it.visiblePart, text, why)
	return e, ok && e.After.Tokens < it.tokens
}

// cutText shortens a text to that size, and not much further.
func (d *Draft) cutText(text string, most itemSize) string {
	limit := min(most.bytes, 6*most.tokens)
	best, bytes := "", limit
	for range 8 {
		s, _ := work.LimitTo(most.keep, text, bytes, most.lines)
		n := d.Counter.Text(s)
		if n > most.tokens {
			bytes = min(bytes, len(s))
		} else if len(s) <= len(best) {
			break // no line between its ends reports an error
		} else if best = s; bytes == limit || n >= most.tokens-most.tokens/16 {
			break
		}
		bytes = min(limit, bytes*most.tokens/(n+n/32+1))
	}
	if best != "" {
		return best
	}
	return d.Counter.Truncate(text, most.tokens)
}

func countLines(s string) int { return strings.Count(s, "\n") + 1 }
