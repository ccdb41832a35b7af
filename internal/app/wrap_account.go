package app

import (
	"fmt"
	"strings"

	"github.com/winnow-llm/winnow/transport"
)

// mostCuts is how many cuts are told one by one.
const mostCuts = 12

// accountLines say what became of an agent's conversations: the window, the cuts
// and their reasons, the re-reads, the cache's share, and the dollars beside those
// of the same requests uncut, whichever are more.
func accountLines(a *transport.Account, s *transport.Stats) []string {
	var windows []string
	for _, w := range a.Windows {
		windows = append(windows, number(w))
	}
	line := "window: " + strings.Join(windows, ", ")
	switch n := len(a.Cuts); n {
	case 0:
		line += "; nothing was cut"
	default:
		line += fmt.Sprintf("; %s; files were read again %s after that", plural(n, "cut"), howOften(a.Again))
	}
	lines := []string{line}
	for i := max(0, len(a.Cuts)-mostCuts); i < len(a.Cuts); i++ {
		c := &a.Cuts[i]
		line := fmt.Sprintf("cut %d: from %s to %s tokens", i+1, number(c.Before), number(c.After))
		if c.Why != "" {
			line += ": " + c.Why
		}
		lines = append(lines, line)
	}
	if t := &a.Totals; t.CacheShare != nil {
		lines = append(lines, fmt.Sprintf("from the provider's cache: %.0f %% of the prompts", 100**t.CacheShare)+dollarsLine(a))
	}
	if s.SummaryCalls > 0 {
		lines = append(lines, fmt.Sprintf("not in these dollars: %s for summaries, with %s tokens of input and %s of output",
			plural(int(s.SummaryCalls), "call"), number(int(s.SummaryInput)), number(int(s.SummaryOutput))))
	}
	return lines
}

// dollarsLine compares the price with that of the same requests uncut.
func dollarsLine(a *transport.Account) string {
	t := &a.Totals
	if t.Dollars == nil {
		return "; no prices are known for the model"
	}
	line := fmt.Sprintf("; $%.2f at list prices", *t.Dollars)
	if len(a.Cuts) > 0 || t.Saved != 0 {
		line += fmt.Sprintf(", uncut $%.2f", a.Uncut)
		if *t.Dollars > a.Uncut {
			line += fmt.Sprintf(": winnow cost $%.2f more", *t.Dollars-a.Uncut)
		}
		if a.Beyond > 0 {
			line += fmt.Sprintf("; uncut, %s would not have fitted the window", plural(a.Beyond, "request"))
		}
	}
	if n := t.Requests + a.Left - t.Priced; n > 0 {
		line += fmt.Sprintf("; without %s for which nothing was reported or kept", plural(n, "request"))
	}
	return line
}

// howOften says how often.
func howOften(n int) string {
	if n == 1 {
		return "once"
	}
	return plural(n, "time")
}
