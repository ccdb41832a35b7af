package app

import (
	"fmt"
	"io"
	"strings"

	"github.com/charmbracelet/x/ansi"
	"github.com/winnow-llm/winnow"
	"github.com/winnow-llm/winnow/budget"
	"github.com/winnow-llm/winnow/chat"
	"github.com/winnow-llm/winnow/evidence"
	"github.com/winnow-llm/winnow/internal/source"
	"github.com/winnow-llm/winnow/plan"
)

// showCompacted is the report that a person reads in ten seconds.
func showCompacted(out io.Writer, st style, d *compacted, w *winnow.Winnow, s *source.Session, r *winnow.Result) {
	fmt.Fprintf(out, "%s: %s\n%s\n", st.bold(d.File), plural(d.MessagesBefore, "message"), modelLine(d.Model, string(w.Model().Source), r.Before.Limits))
	st.window(out, r.Before.Limits.Context, w.Window().Why)
	fmt.Fprintln(out)
	showBars(out, st, w, &s.Request, r)
	if d.Own != nil {
		fmt.Fprintln(out)
		st.prose(out, "", d.Own.String(), st.dim)
	}
	if !d.Compacted {
		showNothing(out, st, d, r)
	} else {
		fmt.Fprintln(out)
		showTallies(out, st, d)
		fmt.Fprintln(out)
		showStages(out, st, d.Stages)
		showEvidence(out, st, &d.Report)
	}
	notes := d.Report.Notes
	if d.forced && d.Compacted && d.Fits && d.After > d.Target {
		notes = append([]string{fmt.Sprintf("it fits, but the target of %s tokens was not reached: recent messages, pins and the system prompt stay", number(d.Target))}, notes...)
	}
	if len(notes) > 0 {
		fmt.Fprintln(out)
	}
	for _, n := range notes {
		for i, line := range wrap(n, st.columns()-6) {
			fmt.Fprintf(out, "%-5s %s\n", [2]string{"note:", ""}[min(i, 1)], line)
		}
	}
	showPlaces(out, st, d)
}

// showPlaces says where things are and how to go on from here.
func showPlaces(out io.Writer, st style, d *compacted) {
	viewed := d.Out != "" && d.Out != "-"
	switch {
	case d.DryRun:
		fmt.Fprintln(out, "\ndry run: no file was written")
		return
	case d.Plan == nil && !viewed && d.Out == "" && d.Compacted:
		fmt.Fprintln(out, "\nno file was written; --out names one for the view, --plan one for the plan")
		return
	case d.Plan == nil && !viewed:
		return
	}
	fmt.Fprintln(out)
	if viewed {
		fmt.Fprintf(out, "view  %s\n", st.bold(d.Out))
	}
	if d.Plan != nil {
		fmt.Fprintf(out, "plan  %s\n", st.bold(*d.Plan))
		fmt.Fprintf(out, "read  winnow plan show %s %s\n", *d.Plan, d.File)
		fmt.Fprintf(out, "undo  winnow plan undo %s %s\n", *d.Plan, d.File)
	}
	fmt.Fprintf(out, "      %s\n", st.dim(d.File+" was not changed"))
}

// showBars draws the meter before and after.
func showBars(out io.Writer, st style, w *winnow.Winnow, req *chat.Request, r *winnow.Result) {
	l := r.Before.Limits
	before, _ := spend(w.Meter(), req, whole(req.History), l, 0, 0)
	after, _ := spend(w.Meter(), req, r.View, l, 0, 0)
	whole := max(l.Context, before.Sum()+before.Reserve, 1)
	width := min(st.columns()-32, 80)
	line := func(name string, s spent, status *budget.Status) {
		share := percent(status.Tokens.Total, l.Available)
		switch {
		case !status.Fits:
			share = st.red(share)
		case !status.ShouldCompact:
			share = st.green(share)
		default:
			share = st.warm(share)
		}
		fmt.Fprintf(out, "%-6s [%s] %11s %s%s\n", name, st.fill(s, whole, width), number(status.Tokens.Total), strings.Repeat(" ", max(0, 6-ansi.StringWidth(share))), share)
	}
	line("before", before, &r.Before)
	line("after", after, &r.After)
	for _, s := range []*budget.Status{&r.Before, &r.After} {
		if mayFit(s) { // the number alone would look as if it did
			st.prose(out, "       ", fmt.Sprintf("%s tokens (%s) are %s: %s", number(s.Tokens.Total), countNote(s.Count), fullness(s), st.verdict(s)), nil)
		}
	}
	for _, l := range st.key(st.columns()-7, before, after) {
		fmt.Fprintf(out, "       %s\n", l)
	}
}

func showNothing(out io.Writer, st style, d *compacted, r *winnow.Result) {
	switch {
	case d.Waited:
		fmt.Fprintln(out, "\ncompaction is due, but waits for the end of the turn: the thinking in the open tool loop is bound to what would be rewritten")
	case d.Repaired:
		fmt.Fprintln(out, "\nnot compacted; calls and results without their partner were mended")
	case r.Before.ShouldCompact, d.forced && d.Before > d.Target:
		fmt.Fprintf(out, "\n%s: nothing could be made smaller\n", st.warm("not compacted"))
	case d.forced:
		fmt.Fprintf(out, "\n%s: it is below the target of %s tokens (--target asks for less)\n", st.green("nothing to do"), number(d.Target))
	default:
		fmt.Fprintln(out)
		due, why := r.Before.Due()
		st.prose(out, "", fmt.Sprintf("%s: it is below the %s tokens from which on it is compacted, %s (--force compacts all the same)",
			st.green("nothing to do"), number(due), why), nil)
	}
}

// showTallies says what was kept, reduced, removed and left out. The columns
// add up to the history and to the view.
func showTallies(out io.Writer, st style, d *compacted) {
	r := &d.Report
	fmt.Fprintln(out, st.dim(fmt.Sprintf("%-8s %9s %12s %12s", "", "messages", "tokens", "now")))
	row := func(name, messages string, t plan.Tally, note string) {
		line := fmt.Sprintf("%s %9s %12s %12s  %s", name, messages, number(t.Before), number(t.After), st.dim(note))
		fmt.Fprintln(out, strings.TrimRight(line, " "))
	}
	// Kept messages include placeholders for calls without a result. They no longer
	// include signed thinking that was bound to what was rewritten.
	kept, left, added := r.Kept, 0, r.Kept.After-r.Kept.Before
	if added < 0 {
		left, added = -added, 0
		kept.Before = r.Kept.After
	}
	kept.After = kept.Before
	row(st.green("kept    "), number(kept.Messages), kept, "as they were")
	row(st.warm("reduced "), number(r.Reduced.Messages), r.Reduced, "shorter, each with a handle")
	if r.Removed.Messages > 0 {
		row(st.red("removed "), number(r.Removed.Messages), r.Removed, "behind summaries and markers")
	}
	if left > 0 {
		row(st.red("left out"), "", plan.Tally{Before: left}, "thinking bound to what is gone")
	}
	if added > 0 {
		fmt.Fprintf(out, "%-8s %9s %12s %12s  %s\n", "added", "", "", number(added), st.dim("results for calls that have none"))
	}
}

// showEvidence says what of the evidence can still be read in the view. What
// survived whole needs no number each.
func showEvidence(out io.Writer, st style, r *planReport) {
	var whole, partly []string
	for class := range evidence.Classes {
		switch s := r.Evidence[class.String()]; {
		case s.Total == 0:
		case s.Kept == s.Total:
			whole = append(whole, class.String())
		default:
			partly = append(partly, fmt.Sprintf("%s of %s", percent(s.Kept, s.Total), class))
		}
	}
	var said []string
	if len(whole) > 0 {
		said = append(said, "all "+list(whole))
	}
	said = append(said, partly...)
	if len(said) == 0 {
		return
	}
	fmt.Fprintln(out)
	st.prose(out, "", "still there to read: "+strings.Join(said, ", "), nil)
}

// list joins words as people do.
func list(words []string) string {
	if n := len(words); n > 1 {
		return strings.Join(words[:n-1], ", ") + " and " + words[n-1]
	}
	return strings.Join(words, "")
}

// showStages lists which stage saved what.
func showStages(out io.Writer, st style, stages []plan.StageReport) {
	most := 1
	for _, s := range stages {
		most = max(most, s.Saved)
	}
	fmt.Fprintln(out, st.dim(fmt.Sprintf("%-11s %6s %12s", "stage", "edits", "saved")))
	for _, s := range stages {
		length := (s.Saved*24 + most - 1) / most
		line := fmt.Sprintf("%-11s %6s %12s  %s", s.Name, number(s.Edits), number(s.Saved), st.paint("33", strings.Repeat(st.block(), max(0, length))))
		fmt.Fprintln(out, strings.TrimRight(line, " "))
	}
}

// block is what plain bars are made of.
func (st style) block() string {
	if st.color {
		return "▪"
	}
	return "="
}
