package app

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/charmbracelet/x/ansi"
	"github.com/winnow-llm/winnow"
	"github.com/winnow-llm/winnow/chat"
	"github.com/winnow-llm/winnow/internal/app/show"
	"github.com/winnow-llm/winnow/internal/app/source"
	"github.com/winnow-llm/winnow/internal/budget"
	"github.com/winnow-llm/winnow/internal/text"
)

// showCompacted prints a report that a person reads in ten seconds.
func (a *app) showCompacted(out io.Writer, d *compacted, w *winnow.Winnow, s *source.Session, r *winnow.Result) {
	st := a.styleFor(out)
	fmt.Fprintf(out, "%s: %s\n", st.Bold(d.File), plural(d.MessagesBefore, "message"))
	st.Model(out, d.Model, string(w.Model().Source), r.Before.Limits)
	st.Window(out, r.Before.Limits.Context, w.Window().Why)
	fmt.Fprintln(out)
	showBars(out, st, w, &s.Request, r)
	if d.Own != nil {
		fmt.Fprintln(out)
		st.Prose(out, "", d.Own.String(), st.Dim)
	}
	if !d.Compacted {
		showNothing(out, st, d, r)
	} else {
		fmt.Fprintln(out)
		show.Tallies(out, st, d)
		fmt.Fprintln(out)
		show.Stages(out, st, d.Stages)
		showEvidence(out, st, &d.Report)
	}
	notes := d.Report.Notes
	said := slices.ContainsFunc(notes, func(n string) bool { return strings.HasPrefix(n, "the target is out of reach") })
	if d.Forced && d.Compacted && d.Fits && d.After > d.Target && !said {
		notes = append([]string{fmt.Sprintf("it fits, but the target of %s tokens was not reached: recent messages, pins and the system prompt must stay", number(d.Target))}, notes...)
	}
	if len(notes) > 0 {
		fmt.Fprintln(out)
	}
	for _, n := range notes {
		for i, line := range show.Wrap(n, st.Columns()-6) {
			fmt.Fprintf(out, "%-5s %s\n", [2]string{"note:", ""}[min(i, 1)], line)
		}
	}
	a.showPlaces(out, st, d)
}

// showPlaces says where things are and how to go on from here.
func (a *app) showPlaces(out io.Writer, st style, d *compacted) {
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
		fmt.Fprintf(out, "view  %s\n", st.Bold(a.pathAsTyped(d.Out)))
	}
	file := a.pathAsTyped(d.File)
	if d.Plan != nil {
		planPath, back := a.pathAsTyped(*d.Plan), ""
		if viewed && d.Continue == nil {
			back = " --out " + a.pathAsTyped(d.Out)
		}
		fmt.Fprintf(out, "plan  %s\n", st.Bold(planPath))
		fmt.Fprintf(out, "read  winnow plan show %s %s\n", planPath, file)
		fmt.Fprintf(out, "undo  winnow plan undo %s %s%s\n", planPath, file, back)
	}
	fmt.Fprintf(out, "      %s\n", st.Dim(file+" was not changed"))
}

// showNext says how an agent goes on from the view that was written for it.
func (a *app) showNext(out io.Writer, o *outFlags) {
	if a.quiet || o.next == nil {
		return
	}
	if o.next.Move != "" && o.out != "-" {
		fmt.Fprintf(out, "first mkdir -p %s && cp %s %s\n", a.pathAsTyped(filepath.Dir(o.next.Move)), a.pathAsTyped(o.out), a.pathAsTyped(o.next.Move))
	}
	cd := ""
	if here, err := os.Getwd(); err != nil || here != o.next.Folder {
		cd = "cd " + a.pathAsTyped(o.next.Folder) + " && "
	}
	fmt.Fprintf(out, "next  %s%s\n", cd, o.next.Command)
}

// showBars draws the meter before and after.
func showBars(out io.Writer, st style, w *winnow.Winnow, req *chat.Request, r *winnow.Result) {
	l := r.Before.Limits
	before, _ := show.Spend(w.Meter(), show.Whole(req.History), &r.Before, 0)
	after, _ := show.Spend(w.Meter(), r.View, &r.After, 0)
	whole := max(l.Context, before.Sum()+before.Reserve, 1)
	width := min(st.Columns()-32, 80)
	line := func(name string, s show.Spent, status *budget.Status) {
		share := show.Percent(status.Tokens.Total, l.Available)
		switch {
		case !status.Fits:
			share = st.Red(share)
		case !status.ShouldCompact:
			share = st.Green(share)
		default:
			share = st.Warm(share)
		}
		fmt.Fprintf(out, "%-6s [%s] %11s %s%s\n", name, st.Fill(s, whole, width), number(status.Tokens.Total), strings.Repeat(" ", max(0, 6-ansi.StringWidth(share))), share)
	}
	line("before", before, &r.Before)
	line("after", after, &r.After)
	for _, s := range []*budget.Status{&r.Before, &r.After} {
		if show.MayFit(s) { // the number alone would look as if it did
			st.Prose(out, "       ", fmt.Sprintf("%s tokens (%s) are %s: %s", number(s.Tokens.Total), show.CountNote(s.Count), show.Fullness(s), st.Verdict(s)), nil)
		}
	}
	for _, l := range st.Key(st.Columns()-7, before, after) {
		fmt.Fprintf(out, "       %s\n", l)
	}
}

func showNothing(out io.Writer, st style, d *compacted, r *winnow.Result) {
	switch {
	case d.Waited:
		fmt.Fprintln(out, "\ncompaction is due, but waits for the end of the turn, because thinking in the open tool loop depends on what would be rewritten")
	case d.Repaired:
		fmt.Fprintln(out, "\nnot compacted; calls without results and results without calls were repaired")
	case r.Before.ShouldCompact, d.Forced && d.Before > d.Target:
		fmt.Fprintf(out, "\n%s: nothing could be made smaller\n", st.Warm("not compacted"))
	case d.Forced:
		fmt.Fprintf(out, "\n%s: it is already below the target of %s tokens (--target sets a lower one)\n", st.Green("nothing to do"), number(d.Target))
	default:
		fmt.Fprintln(out)
		due, why := r.Before.Due()
		st.Prose(out, "", fmt.Sprintf("%s: it is below the %s tokens at which compaction starts, %s (--force compacts anyway)",
			st.Green("nothing to do"), number(due), why), nil)
	}
}

// showEvidence says what of the evidence can still be read in the view. What
// survived whole needs no number each.
func showEvidence(out io.Writer, st style, r *show.PlanReport) {
	var whole, partly []string
	for _, class := range [...]string{"requests", "constraints", "files"} {
		switch s := r.Evidence[class]; {
		case s.Total == 0:
		case s.Kept == s.Total:
			whole = append(whole, class)
		default:
			partly = append(partly, fmt.Sprintf("%s of %s", show.Percent(s.Kept, s.Total), class))
		}
	}
	var said []string
	if len(whole) > 0 {
		said = append(said, "all "+joinWords(whole))
	}
	said = append(said, partly...)
	if len(said) == 0 {
		return
	}
	fmt.Fprintln(out)
	rest := ""
	if len(partly) > 0 {
		rest = "; the rest by recall, with the handles of the plan"
	}
	st.Prose(out, "", "still there to read: "+strings.Join(said, ", ")+rest, nil)
}

// joinWords joins words as people do.
func joinWords(words []string) string {
	if n := len(words); n > 1 {
		return strings.Join(words[:n-1], ", ") + " and " + words[n-1]
	}
	return strings.Join(words, "")
}

// What reports are made of; see package show.
type (
	style     = show.Style
	checked   = show.Checked
	compacted = show.Compacted
)

// How numbers, sizes and texts are written for people.
var (
	number   = text.Number
	plural   = text.Plural
	brief    = show.Brief
	sizeText = show.Size
)

// pluralWithVerb writes a count with its noun and the verb that goes with it.
func pluralWithVerb(n int, noun, one, many string) string {
	if n == 1 {
		many = one
	}
	return plural(n, noun) + " " + many
}
