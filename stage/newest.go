package stage

import (
	"strings"

	"github.com/winnow-llm/winnow/chat"
	"github.com/winnow-llm/winnow/plan"
)

// newestCut counts the results that the next call is about, those of the
// exchange at the history's end, which the view does not show whole. A model
// that cannot see what its call returned repeats the call, so somebody must hear
// of it.
func (d *Draft) newestCut() int {
	n := d.History.Len()
	for n > 0 && d.History.At(n-1).Role == chat.System {
		n--
	}
	if n == 0 || !d.History.At(n-1).Has(chat.ToolResult) {
		return 0
	}
	from := n - 1
	if x := d.Outline.ExchangeOf(from); x >= 0 {
		from = d.Outline.Exchanges[x].From
	}
	whole := make(map[plan.Ref]bool)
	for p := range d.visibleParts(from, n) {
		whole[plan.Ref{From: p.message, Part: p.index}] = p.mask == nil || p.mask.Stage == "repair" || strings.Contains(p.mask.Text, p.Text)
	}
	cut := 0
	for i := from; i < n; i++ {
		m := d.History.At(i)
		for k := range m.Parts {
			if p := &m.Parts[k]; p.Kind == chat.ToolResult && !whole[plan.Ref{From: i, Part: k}] && !d.quotesText(i, p.Text) {
				cut++
			}
		}
	}
	return cut
}

// quotesText reports whether the run that takes message i in quotes the text.
func (d *Draft) quotesText(i int, text string) bool {
	for _, e := range d.Edits() {
		if isRun(&e) && e.From <= i && i < e.To {
			return strings.Contains(e.Text, text)
		}
	}
	return false
}
