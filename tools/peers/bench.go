package main

import (
	"fmt"
	"io"
	"os"
	"runtime"
	"time"
)

// bench collects the rows of the table.
type bench struct {
	rounds int
	node   *node
	dirs   []string
	rows   []row
	notes  []string
}

// row is one thing that was measured.
type row struct {
	what, unit string
	more       bool    // more is better
	bar        float64 // 0 for none
	figures    []figure
}

// figure is what one program reached.
type figure struct {
	name  string
	value float64
	err   error
}

// contender is a program that can do the work of a row.
type contender struct {
	name string
	run  func() (float64, error)
}

// compare measures the contenders in turns, ours first, and keeps each one's
// best. A peer that fails keeps its row, with the reason; one that takes
// seconds is not asked again.
func (b *bench) compare(what, unit string, more bool, bar float64, ours func() (float64, error), peers ...contender) error {
	all := append([]contender{{"winnow", ours}}, peers...)
	figures := make([]figure, len(all))
	slow := make([]bool, len(all))
	for i, c := range all {
		figures[i].name = c.name
	}
	for round := range b.rounds {
		for i, c := range all {
			if figures[i].err != nil || slow[i] {
				continue
			}
			runtime.GC()
			start := time.Now()
			v, err := c.run()
			slow[i] = time.Since(start) > 2*time.Second
			switch {
			case err != nil:
				figures[i].err = err
			case round == 0, more && v > figures[i].value, !more && v < figures[i].value:
				figures[i].value = v
			}
		}
		if figures[0].err != nil {
			return fmt.Errorf("%s: %w", what, figures[0].err)
		}
	}
	b.rows = append(b.rows, row{what, unit, more, bar, figures})
	return nil
}

// timed returns how long f takes, in milliseconds, on average over n runs.
func timed(n int, f func() error) (float64, error) {
	start := time.Now()
	for range n {
		if err := f(); err != nil {
			return 0, err
		}
	}
	return float64(time.Since(start).Nanoseconds()) / 1e6 / float64(n), nil
}

// temp returns a new folder that is removed at the end.
func (b *bench) temp() (string, error) {
	dir, err := os.MkdirTemp("", "peers")
	if err == nil {
		b.dirs = append(b.dirs, dir)
	}
	return dir, err
}

func (b *bench) close() {
	b.node.close()
	for _, d := range b.dirs {
		_ = os.RemoveAll(d)
	}
}

// print writes the table.
func (b *bench) print(w io.Writer) {
	fmt.Fprintf(w, "Best of %d rounds, measured in turns; %s, %s, %d cores.\n\n", b.rounds, time.Now().UTC().Format("2006-01-02"), runtime.Version(), runtime.NumCPU())
	fmt.Fprintln(w, "| what | unit | winnow | bar | | peer | peer's figure | winnow is |")
	fmt.Fprintln(w, "|---|---|---:|---:|---|---|---:|---:|")
	for _, r := range b.rows {
		ours := r.figures[0].value
		bar, verdict := "", ""
		if r.bar != 0 {
			sign := "≤"
			met := ours <= r.bar
			if r.more {
				sign, met = "≥", ours >= r.bar
			}
			bar, verdict = sign+" "+short(r.bar), "MISSED"
			if met {
				verdict = "met"
			}
		}
		head := fmt.Sprintf("| %s | %s | %s | %s | %s |", r.what, r.unit, short(ours), bar, verdict)
		if len(r.figures) == 1 {
			fmt.Fprintln(w, head+" | | |")
		}
		for _, f := range r.figures[1:] {
			if f.err != nil {
				fmt.Fprintf(w, "%s %s | %s | |\n", head, f.name, f.err)
			} else {
				fmt.Fprintf(w, "%s %s | %s | %s |\n", head, f.name, short(f.value), ratio(ours, f.value, r))
			}
			head = "| | | | | |"
		}
	}
	for _, n := range b.notes {
		fmt.Fprintf(w, "\n%s\n", n)
	}
}

// ratio says how ours compares: the factor between the two figures.
func ratio(ours, theirs float64, r row) string {
	if ours == 0 || theirs == 0 {
		return ""
	}
	better, worse := "× faster", "× slower"
	if r.unit == "%" {
		better, worse = "× closer", "× farther off"
	}
	f := theirs / ours
	if r.more {
		f = 1 / f
	}
	if f < 1 {
		return short(1/f) + worse
	}
	return short(f) + better
}

// short writes a number with three digits or so.
func short(v float64) string {
	switch {
	case v == 0:
		return "0"
	case v >= 100:
		return fmt.Sprintf("%.0f", v)
	case v >= 10:
		return fmt.Sprintf("%.1f", v)
	case v >= .1:
		return fmt.Sprintf("%.2f", v)
	}
	return fmt.Sprintf("%.2g", v)
}
