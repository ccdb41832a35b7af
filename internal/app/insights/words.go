package insights

import (
	"fmt"
	"math"
	"strings"
	"time"

	"github.com/winnow-llm/winnow/internal/app/replay"
	"github.com/winnow-llm/winnow/internal/text"
)

// Headline says in words what the sessions cost and would have cost with winnow, and what
// was read again.
func (r *Report) Headline() []string {
	t := &r.Total
	source := "by the usage that their files record"
	if left := r.Sessions - t.Billed; left > 0 {
		source += fmt.Sprintf(" (%s: estimated)", text.Plural(left, "session"))
	}
	lines := []string{
		fmt.Sprintf("The sessions cost %s, %s.", formatDollars(t.Dollars), source),
		fmt.Sprintf("With winnow: %s%s; with --preset thrifty: %s%s.", formatDollars(t.Ours), percentChange(t.Dollars, t.Ours), formatDollars(t.Thrifty), percentChange(t.Dollars, t.Thrifty)),
	}
	if t.Ours > t.Dollars && t.Compactions > 0 {
		lines[1] += " With nothing set winnow keeps more in the context than your agents did, which is what the difference pays for."
	}
	if t.Compactions > 0 {
		lines = append(lines, fmt.Sprintf("After compactions text was read again %s; with winnow %s.", timesInWords(t.Rereads), timesInWords(t.OurRereads)))
	}
	return lines
}

// percentChange returns a difference of dollars in per cent.
func percentChange(was, now float64) string {
	if was <= 0 || math.Abs(now/was-1) < 0.0005 {
		return ""
	}
	return fmt.Sprintf(" (%+.1f %%)", 100*(now/was-1))
}

// Lines say in words what compaction did; none where nothing was compacted.
func (r *Report) Lines() []string {
	t := &r.Total
	if r.Compacted == 0 {
		return nil
	}
	lines := []string{
		fmt.Sprintf("Your agents compacted %s %s (%s automatically), which removed %s tokens from their contexts.",
			text.Plural(r.Compacted, "session"), timesInWords(t.Compactions), text.Number(t.Automatic), text.Number(t.Removed)),
		fmt.Sprintf("You waited %s for that, and it cost %s: %s for summaries, %s for %s of text that had been shown before. With winnow: %s, %s of waiting.",
			formatMinutes(t.Minutes), formatDollars(t.Spent), formatDollars(t.Summaries), formatDollars(t.Again), text.Plural(t.Rereads, "re-read"),
			text.Plural(t.Rewrites, "rewrite"), formatMinutes(t.OurMinutes)),
	}
	if t.Ready.Of > 0 {
		lines = append(lines, fmt.Sprintf("Of %s right after a compaction to text that the agent had seen, %s could be made from what was left. With winnow it would have been %s.",
			text.Plural(t.Ready.Of, "edit"), shareOf(t.Ready), shareOf(t.OursReady)))
	}
	if t.Still.Of > 0 {
		lines = append(lines, fmt.Sprintf("Of %s that were read again, winnow would still have shown %s.", text.Plural(t.Still.Of, "line"), shareOf(t.Still)))
	}
	return lines
}

// Say tells a moment in a sentence.
func (m *Moment) Say() string {
	when := "After a compaction"
	if m.Time > 0 {
		when = time.UnixMilli(m.Time).Format("2 Jan 15:04") + ": after the compaction"
	}
	files := strings.Join(m.Files[:min(len(m.Files), 3)], ", ")
	if more := len(m.Files) - 3; more > 0 {
		files += fmt.Sprintf(" and %d more", more)
	}
	return fmt.Sprintf("%s %s read %s again, %s tokens in %s: %s.", when, m.Agent, text.Plural(len(m.Files), "file"), text.Number(m.Tokens), formatMinutes(m.Waited.Minutes()), files)
}

func timesInWords(n int) string {
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

func formatDollars(v float64) string { return fmt.Sprintf("$%.2f", v) }

// formatMinutes writes a time for people.
func formatMinutes(m float64) string {
	n := int(math.Round(m))
	switch {
	case m > 0 && m < 1:
		return fmt.Sprintf("%.0f s", m*60)
	case n < 60:
		return fmt.Sprintf("%d min", n)
	}
	return fmt.Sprintf("%d h %02d min", n/60, n%60)
}
