package main

import (
	"fmt"
	"io"
	"strings"

	"github.com/winnow-llm/winnow"
	"github.com/winnow-llm/winnow/chat"
	"github.com/winnow-llm/winnow/evidence"
	"github.com/winnow-llm/winnow/internal/source"
	"github.com/winnow-llm/winnow/plan"
)

// showCompacted is the report that a person reads in ten seconds.
func showCompacted(out io.Writer, st style, d *compacted, w *winnow.Winnow, s *source.Session, r *winnow.Result) {
	fmt.Fprintf(out, "%s: %s\n%s\n\n", st.bold(d.File), plural(d.MessagesBefore, "message"), modelLine(d.Model, string(w.Model().Source), r.Before.Limits))
	showBars(out, st, w, &s.Request, r)
	if !d.Compacted {
		showNothing(out, st, d, r)
	} else {
		fmt.Fprintln(out)
		showTallies(out, st, &d.Report)
		fmt.Fprintln(out)
		showStages(out, st, d.Stages)
	}
	if d.forced && d.Compacted && d.Fits && d.After > d.Target {
		fmt.Fprintf(out, "note: it fits, but the target of %s tokens was not reached: recent messages, pins and the system prompt stay\n", number(d.Target))
	}
	for _, n := range d.Report.Notes {
		fmt.Fprintf(out, "note: %s\n", n)
	}
	switch {
	case d.DryRun:
		fmt.Fprintln(out, "\ndry run: no file was written")
	case d.Plan != nil:
		fmt.Fprintf(out, "\nplan  %s  (read it: winnow plan show %s %s)\n", st.bold(*d.Plan), *d.Plan, d.File)
		if d.Out != "" && d.Out != "-" {
			fmt.Fprintf(out, "view  %s\n", st.bold(d.Out))
		}
		fmt.Fprintf(out, "undo  winnow plan undo %s %s; %s was not changed\n", *d.Plan, d.File, d.File)
	case d.Out != "" && d.Out != "-":
		fmt.Fprintf(out, "\nview  %s\n", st.bold(d.Out))
	case d.Out == "" && d.Compacted:
		fmt.Fprintln(out, "\nno file was written; --out names one for the view, --plan one for the plan")
	}
}

// showBars draws the meter before and after.
func showBars(out io.Writer, st style, w *winnow.Winnow, req *chat.Request, r *winnow.Result) {
	l := r.Before.Limits
	before, _ := spend(w.Meter(), req, req.History, l, 0)
	after, _ := spend(w.Meter(), req, r.View, l, 0)
	whole := max(l.Context, before.used()+before.Reserve)
	line := func(name string, s spent, tokens int) {
		fmt.Fprintf(out, "%-7s %s %s, %s\n", name, st.bar(s, whole), st.bold(number(tokens)), percent(tokens, l.Available))
	}
	line("before", before, r.Before.Tokens.Total)
	line("after", after, r.After.Tokens.Total)
	var key []string
	for i := range kinds {
		if kinds[i].of(&before) == 0 && kinds[i].of(&after) == 0 {
			continue
		}
		mark := string(kinds[i].letter)
		if st.color {
			mark = st.paint(kinds[i].color, "█")
		}
		key = append(key, mark+" "+kinds[i].name)
	}
	fmt.Fprintf(out, "        %s\n", strings.Join(key, "  "))
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
		fmt.Fprintf(out, "\n%s: it is below the threshold (--force compacts all the same)\n", st.green("nothing to do"))
	}
}

// showTallies says what was kept, reduced and removed.
func showTallies(out io.Writer, st style, r *planReport) {
	fmt.Fprintf(out, "%s %5d messages  %9s tokens as they were\n", st.green("kept    "), r.Kept.Messages, number(r.Kept.After))
	fmt.Fprintf(out, "%s %5d messages  %9s -> %s tokens\n", st.warm("reduced "), r.Reduced.Messages, number(r.Reduced.Before), number(r.Reduced.After))
	fmt.Fprintf(out, "%s %5d messages  %9s -> %s tokens, behind summaries and markers\n", st.red("removed "), r.Removed.Messages, number(r.Removed.Before), number(r.Removed.After))
	var shares []string
	for class := range evidence.Classes {
		if s := r.Evidence[class.String()]; s.Total > 0 {
			shares = append(shares, fmt.Sprintf("%s %s", class, percent(s.Kept, s.Total)))
		}
	}
	if len(shares) > 0 {
		fmt.Fprintf(out, "evidence that can still be read: %s\n", strings.Join(shares, ", "))
	}
}

// showStages lists which stage saved what.
func showStages(out io.Writer, st style, stages []plan.StageReport) {
	fmt.Fprintln(out, st.dim(fmt.Sprintf("%-11s %6s  %9s", "stage", "edits", "saved")))
	for _, s := range stages {
		fmt.Fprintf(out, "%-11s %6d  %9s\n", s.Name, s.Edits, number(s.Saved))
	}
}
