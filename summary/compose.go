package summary

import (
	"fmt"
	"strings"

	"github.com/winnow-llm/winnow/internal/ladder"
	"github.com/winnow-llm/winnow/internal/quote"
)

// compose writes the text of a fold: the dialogue of the region, after a
// summariser's prose if there is one. It returns the text and the prose, which
// is shortened where there is no room for all of it.
func compose(in *Input, prose string) (string, string) {
	limit := in.limit()
	if prose != "" {
		prose = in.trimProse(prose, limit*3/5)
	}
	r := ladder.ReadRegion(in.History, in.From, in.To, in.Counter, in.Kinds)
	text := r.Fill(ladder.Room{
		Tokens: limit, From: in.From, To: in.To, Keep: in.Keep, Turn: in.Turn, Prose: prose, Focus: in.Focus,
		Typed: max(limit*3/10, min(in.Verbatim, limit*9/10)), NoState: true, Open: in.Open,
	}).Fold
	if text == "" || in.Counter.Text(text) > limit {
		return in.tiny(limit), prose
	}
	return text, prose
}

// tiny is the text where there is room for a line only.
func (in *Input) tiny(limit int) string {
	text := fmt.Sprintf("[Earlier messages %d-%d are left out.]", in.From+1, in.To)
	if in.Counter.Text(text) <= limit {
		return text
	}
	if text = in.Counter.Truncate(text, limit); text != "" {
		return text
	}
	return "." // no counter counts less for anything
}

// trimProse shortens a model's prose to that many tokens. The longest sections
// give way first, so that none is lost while another is long.
func (in *Input) trimProse(prose string, most int) string {
	count := in.Counter.Text
	const gap = "\n" + quote.Divider + "\n"
	for range 64 {
		if count(prose) <= most {
			return prose
		}
		var halves []map[string][]string
		longest, tokens := []string(nil), 0
		for half := range strings.SplitSeq(prose, gap) {
			found := splitSections(half)
			halves = append(halves, found)
			for _, s := range sections {
				body := []string{strings.Join(found[s.name], "\n")}
				found[s.name] = body
				if n := count(body[0]); n > tokens {
					longest, tokens = body, n
				}
			}
		}
		if tokens == 0 {
			break
		}
		longest[0] = in.Counter.Truncate(longest[0], tokens*3/4)
		var parts []string
		for _, found := range halves {
			parts = append(parts, joinSections(found))
		}
		prose = strings.Join(parts, gap)
	}
	return in.Counter.Truncate(prose, most)
}
