package stage

import (
	"context"
	"fmt"
	"strings"

	"github.com/winnow-llm/winnow/chat"
	"github.com/winnow-llm/winnow/internal/work"
	"github.com/winnow-llm/winnow/plan"
)

// limitItems shortens single items that are too large for any conversation: a tool
// result, the arguments of a call, a document, a model's own text. What is left
// is the head, the tail, the lines that report errors and those that the agent edited
// later, with what stands around them. Items that the next call is about are shortened
// only where they do not fit at all. It also takes the oldest images away when there are
// more than the limit, and the oldest images and documents when the request has too
// many bytes.
func (d *Draft) limitItems(_ context.Context, need chat.Size) ([]plan.Edit, error) {
	var edits []plan.Edit
	maxBytes, maxLines := d.Config.itemLimits()
	maxTokens := max(d.Available/4, 64)
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
		size := len(p.Text) + len(p.Args)
		if p.message >= d.Live || size <= min(maxBytes, maxTokens) && (size < maxLines || countLines(p.Text) <= maxLines) {
			continue // a token has at least one byte
		}
		if e, ok := d.shortenPart(p, maxTokens); ok {
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

// shortenPart returns a mask that cuts a part to the limits for one item.
func (d *Draft) shortenPart(p visiblePart, maxTokens int) (plan.Edit, bool) {
	maxBytes, maxLines := d.Config.itemLimits()
	if p.Signature != "" || p.Kind == chat.Thinking || p.Kind == chat.Opaque || p.Kind == chat.Image {
		return plan.Edit{}, false
	}
	lines := 0
	if p.Kind != chat.ToolCall {
		lines = countLines(p.Text)
	}
	tokens := d.Counter.Part(p.Part)
	if tokens <= maxTokens && len(p.Text)+len(p.Args) <= maxBytes && lines <= maxLines {
		return plan.Edit{}, false
	}
	redeem := d.redeemPart(p)
	why := fmt.Sprintf("%d tokens, %d bytes in one item", tokens, len(p.Text)+len(p.Args))
	if p.Kind == chat.ToolCall {
		return d.maskPart("limit", p, shortArgs(p.Args, 8*maxTokens/3, redeem), why)
	}
	note := fmt.Sprintf("\n[shortened from %d bytes, %d lines; original: %s]", len(p.Text), lines, redeem)
	var worked []block
	if d.Config.ItemKeep != work.KeepHead && d.Config.ItemKeep != work.KeepTail {
		worked = d.workedOn(p.message, p.Text)
	}
	text := d.cutText(d.Config.ItemKeep, p.Text, worked, min(maxBytes, 4*maxTokens), maxLines, maxTokens)
	return d.maskPart("limit", p, text+note, why)
}

// headTail cuts a text to bytes, lines and tokens: head, tail and the lines
// between that report errors.
func (d *Draft) headTail(text string, bytes, lines, tokens int) string {
	return d.cutText(work.KeepBoth, text, nil, bytes, lines, tokens)
}

// cutText makes a text shorter until it has nearly as many bytes, lines or tokens as it
// may have, and no more; keep says which end of it is left, worked which parts matter.
func (d *Draft) cutText(keep, text string, worked []block, bytes, lines, tokens int) string {
	best, most, limit := "", -1, bytes
	for range 8 {
		s, cut := work.LimitTo(keep, text, bytes, lines)
		if len(worked) > 0 {
			s, cut = limitAround(text, bytes, lines, worked)
		}
		n := d.Counter.Text(s)
		if n <= tokens && n > most {
			best, most = s, n
			if !cut || n >= tokens-tokens/16 || bytes == limit {
				break
			}
		} else if n <= tokens {
			break
		}
		if n > tokens { // else what the text has is less than it may have: no line between its ends reports an error
			bytes = min(bytes, len(s))
		}
		if bytes = min(limit, bytes*tokens/(n+n/32+1)); bytes < 32 {
			break
		}
	}
	if most >= 0 {
		return best
	}
	return d.Counter.Truncate(text, tokens)
}

func countLines(s string) int { return strings.Count(s, "\n") + 1 }
