package replay

import (
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/winnow-llm/winnow/internal/app/plot"
)

// The frontier: who lost more time has the larger mark, and who spends much more
// than others stands at the edge.
func TestFrontPlot(t *testing.T) {
	row := func(policy string, dollars, v float64, lost int64) Row {
		return Row{File: All, Policy: policy, Window: 64000, DollarsAgain: dollars, EditsReady: &v, LostMS: lost, Competes: true}
	}
	b := &Board{Windows: []int{64000}, Rows: []Row{row("winnow", 10, 0.5, 60_000), row("pi", 12, 0.4, 600_000), row("umbra", 200, 0.3, 0)}}
	svg := string(b.frontPlot())
	marks := regexp.MustCompile(`cx="([\d.]+)" cy="[\d.]+" r="([\d.]+)"`).FindAllStringSubmatch(svg, -1)
	if len(marks) != 3 {
		t.Fatalf("%d marks in %s", len(marks), svg)
	}
	num := func(s string) float64 {
		f, err := strconv.ParseFloat(s, 64)
		if err != nil {
			t.Fatal(err)
		}
		return f
	}
	if !(num(marks[1][2]) > num(marks[0][2]) && num(marks[0][2]) > num(marks[2][2])) {
		t.Errorf("radii %s, %s, %s", marks[0][2], marks[1][2], marks[2][2])
	}
	if edge := float64(plot.Width - plot.MarginRight); num(marks[2][1]) != edge || num(marks[1][1]) >= edge {
		t.Errorf("places %s, %s, %s", marks[0][1], marks[1][1], marks[2][1])
	}
	if !strings.Contains(svg, "$200.00, 0.300 of the edits ready") {
		t.Error("the title does not tell the dollars")
	}
	if (&Board{}).frontPlot() != "" {
		t.Error("a plot of nothing")
	}
}
