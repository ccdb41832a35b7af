package insights

import (
	"fmt"
	"math"

	"github.com/winnow-llm/winnow/internal/app/replay"
	"github.com/winnow-llm/winnow/internal/text"
)

// Lines say in words what the report found; none where nothing was compacted.
func (r *Report) Lines() []string {
	t := &r.Total
	if r.Compacted == 0 {
		return nil
	}
	lines := []string{
		fmt.Sprintf("Your agents compacted %s %s (%s automatically), which removed %s tokens from their contexts.",
			text.Plural(r.Compacted, "session"), times(t.Compactions), text.Number(t.Automatic), text.Number(t.Removed)),
		fmt.Sprintf("You waited %s for that, and it cost %s: %s for summaries, %s for %s of text that had been shown before.",
			minutes(t.Minutes), dollars(t.Spent), dollars(t.Summaries), dollars(t.Again), text.Plural(t.Rereads, "re-read")),
	}
	if t.Ready.Of > 0 {
		lines = append(lines, fmt.Sprintf("Of %s right after a compaction to text that the agent had seen, %s could be made from what was left. With winnow it would have been %s.",
			text.Plural(t.Ready.Of, "edit"), shareOf(t.Ready), shareOf(t.OursReady)))
	}
	if t.Still.Of > 0 {
		lines = append(lines, fmt.Sprintf("Of %s that were read again, winnow would still have shown %s.", text.Plural(t.Still.Of, "line"), shareOf(t.Still)))
	}
	lines = append(lines, fmt.Sprintf("The sessions cost %s as they were. With winnow: %s, %s without a call to a model, %s, %s of waiting.",
		dollars(t.Dollars), dollars(t.Ours), text.Plural(t.Rewrites, "rewrite"), text.Plural(t.OurRereads, "re-read"), minutes(t.OurMinutes)))
	return lines
}

func times(n int) string {
	switch n {
	case 1:
		return "once"
	case 2:
		return "twice"
	}
	return text.Number(n) + " times"
}

func shareOf(t replay.Tally) string {
	return fmt.Sprintf("%s (%.0f %%)", text.Number(t.Hit), 100*t.Share())
}

func dollars(v float64) string { return fmt.Sprintf("$%.2f", v) }

// minutes writes a time for people.
func minutes(m float64) string {
	n := int(math.Round(m))
	switch {
	case m > 0 && m < 1:
		return fmt.Sprintf("%.0f s", m*60)
	case n < 60:
		return fmt.Sprintf("%d min", n)
	}
	return fmt.Sprintf("%d h %02d min", n/60, n%60)
}
