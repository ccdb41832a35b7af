package summary

import (
	"cmp"
	"fmt"

	"github.com/winnow-llm/winnow/internal/ladder"
)

// composeFold writes the text of a fold: the dialogue of the region, after a
// summariser's prose if there is one. It returns the text and the prose, which it
// shortens where not all of it fits, and how many sentences of the user that bind have
// no room.
func composeFold(in *Input, prose string) (text, notes string, unbound int) {
	limit := in.textLimit()
	prose = in.Counter.Truncate(prose, limit*3/5)
	r := ladder.ReadRegion(in.History, in.From, in.To, in.Counter, in.Kinds)
	form := r.Fill(ladder.Room{
		Tokens: limit, From: in.From, To: in.To, Keep: in.Keep, Turn: in.Turn, Prose: prose, Focus: in.Focus,
		Typed: max(limit*3/10, min(in.Verbatim, limit*9/10)), NoState: true, Open: in.Open,
	})
	if form.Fold == "" || in.Counter.Text(form.Fold) > limit {
		return in.tinyText(limit), prose, form.Unbound
	}
	return form.Fold, prose, form.Unbound
}

// tinyText returns the text where there is room for a line only.
func (in *Input) tinyText(limit int) string {
	text := fmt.Sprintf("[Earlier messages %d-%d are left out.]", in.From+1, in.To)
	return cmp.Or(in.Counter.Truncate(text, limit), ".") // no counter counts less for anything
}
