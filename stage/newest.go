package stage

import (
	"slices"
	"strings"

	"github.com/winnow-llm/winnow/chat"
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
	from, _ := d.exchangeAround(n - 1)
	var shown strings.Builder // by the view, of this exchange and in texts
	for i := range d.View.Len() {
		o := d.View.Origin(i)
		if o.Message < 0 || slices.Max(append([]int{o.Message}, o.Joined...)) >= from {
			for _, p := range d.View.At(i).Parts {
				shown.WriteString(p.Text)
			}
		}
	}
	cut := 0
	for i := from; i < n; i++ {
		for _, p := range d.History.At(i).Parts {
			if p.Kind == chat.ToolResult && !strings.Contains(shown.String(), p.Text) {
				cut++
			}
		}
	}
	return cut
}
