//go:build unix

package main

import (
	"fmt"
	"io"
	"math"
	"slices"
)

// printSummary prints what came of the runs, for each way: solved with the range in which
// 95 of 100 such series would have it, the others as the median with the least and the
// most.
func printSummary(w io.Writer, rows []row) {
	fmt.Fprintln(w, "\n| | runs | solved | 95 % | dollars | steps | minutes | stopped in the middle | compacted there |")
	fmt.Fprintln(w, "|---|--:|--:|--:|--:|--:|--:|--:|--:|")
	for _, arm := range []string{alone, withWinnow} {
		var runs, solved, stopped, compacted int
		var dollars, steps, minutes []float64
		for _, r := range rows {
			if r.Arm != arm || r.Error != "" {
				continue
			}
			runs++
			solved += boolToInt(r.Solved)
			stopped += boolToInt(r.Stopped)
			compacted += boolToInt(r.Compacted)
			steps, minutes = append(steps, float64(r.Steps)), append(minutes, r.Minutes)
			if r.Priced {
				dollars = append(dollars, r.Dollars)
			}
		}
		low, high := wilsonRange(solved, runs)
		fmt.Fprintf(w, "| %s | %d | %d | %.0f to %.0f %% | %s | %s | %s | %d | %d |\n", arm, runs, solved, 100*low, 100*high,
			formatSpread(dollars, "%.2f"), formatSpread(steps, "%.0f"), formatSpread(minutes, "%.1f"), stopped, compacted)
	}
	only := map[string]int{}
	for _, r := range rows {
		other := func(o row) bool {
			return o.Error == "" && o.Task == r.Task && o.Round == r.Round && o.Arm != r.Arm && !o.Solved
		}
		if r.Error == "" && r.Solved && slices.ContainsFunc(rows, other) {
			only[r.Arm]++
		}
	}
	fmt.Fprintf(w, "\nSolved only alone: %d, only with winnow: %d.\n", only[alone], only[withWinnow])
}

func boolToInt(b bool) int {
	if b {
		return 1
	}
	return 0
}

// formatSpread writes the median of numbers with the least and the most of them.
func formatSpread(list []float64, format string) string {
	if len(list) == 0 {
		return "unknown"
	}
	slices.Sort(list)
	middle := (list[(len(list)-1)/2] + list[len(list)/2]) / 2
	return fmt.Sprintf(format+" ("+format+" to "+format+")", middle, list[0], list[len(list)-1])
}

// wilsonRange returns the range of a share with 95 % confidence, which holds for few runs, too.
func wilsonRange(hits, of int) (low, high float64) {
	if of == 0 {
		return 0, 1
	}
	const z = 1.96
	n, p := float64(of), float64(hits)/float64(of)
	center, half := p+z*z/(2*n), z*math.Sqrt(p*(1-p)/n+z*z/(4*n*n))
	return max(0, (center-half)/(1+z*z/n)), min(1, (center+half)/(1+z*z/n))
}
