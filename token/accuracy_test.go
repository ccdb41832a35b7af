package token

import (
	"bufio"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/winnow-llm/winnow/internal/kit/corpus"
)

// counted is a text with its true number of tokens by family.
type counted struct {
	Class  string         `json:"class"`
	Text   string         `json:"text"`
	Tokens map[string]int `json:"tokens"`
}

func readCounted(t testing.TB) []counted {
	t.Helper()
	f, err := os.Open(corpus.Dir(t, "tokens", "counted.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var all []counted
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, 1<<24)
	for lines.Scan() {
		var c counted
		if err := json.Unmarshal(lines.Bytes(), &c); err != nil {
			t.Fatal(err)
		}
		all = append(all, c)
	}
	if err := lines.Err(); err != nil {
		t.Fatal(err)
	}
	return all
}

// accuracy is how far estimates are from the truth.
type accuracy struct {
	texts      int
	mean       float64 // of the absolute relative error, all texts
	p95, worst float64 // of texts over 1 KB
	bias       float64 // of the sum
	class      string  // the kind of text whose sum is furthest off
	classBias  float64
}

func (a accuracy) String() string {
	return fmt.Sprintf("%5d %7.2f %7.2f %7.2f %+7.2f   %+6.1f %s", a.texts, 100*a.mean, 100*a.p95, 100*a.worst, 100*a.bias, 100*a.classBias, a.class)
}

const accuracyHead = "texts   mean%    p95%  worst%   bias%   worst class"

func measure(texts []counted, family string, count func(string) int) accuracy {
	var a accuracy
	var long []float64
	var sum, truth float64
	classes := map[string][2]float64{}
	for _, c := range texts {
		want, ok := c.Tokens[family]
		if !ok || want == 0 {
			continue
		}
		got := float64(count(c.Text))
		e := math.Abs(got/float64(want) - 1)
		a.texts++
		a.mean += e
		if len(c.Text) > 1024 {
			long = append(long, e)
		}
		sum += got
		truth += float64(want)
		k := classes[c.Class]
		classes[c.Class] = [2]float64{k[0] + got, k[1] + float64(want)}
	}
	if a.texts == 0 || len(long) == 0 {
		return a
	}
	slices.Sort(long)
	a.mean /= float64(a.texts)
	a.p95 = long[min(len(long)-1, int(math.Ceil(0.95*float64(len(long))))-1)]
	a.worst = long[len(long)-1]
	a.bias = sum/truth - 1
	for name, k := range classes {
		if b := k[0]/k[1] - 1; math.Abs(b) > math.Abs(a.classBias) {
			a.class, a.classBias = name, b
		}
	}
	return a
}

// publicFamilies are the families whose true counts are known.
var publicFamilies = []Family{O200K, CL100K, Claude2, Llama3, Gemma3, Tekken, Qwen3, DeepSeek3}

// TestTableAccuracy holds the boundary tables to their bars and prints what
// they reach (go test -v -run Accuracy).
func TestTableAccuracy(t *testing.T) {
	texts := readCounted(t)
	var report strings.Builder
	fmt.Fprintf(&report, "%-10s %s\n", "tables", accuracyHead)
	for _, f := range publicFamilies {
		a := measure(texts, string(f), New(f, nil).Text)
		fmt.Fprintf(&report, "%-10s %s\n", f, a)
		if a.mean > 0.033 {
			t.Errorf("%s: the mean error is %.2f %%, more than 3.3 %%", f, 100*a.mean)
		}
		if a.p95 > 0.085 {
			t.Errorf("%s: 95 %% of texts over 1 KB are within %.2f %% only, not 8.5 %%", f, 100*a.p95)
		}
	}
	t.Log("\n" + report.String())
}

// TestExactAccuracy does the same for counts with the o200k vocabulary.
func TestExactAccuracy(t *testing.T) {
	texts := readCounted(t)
	var report strings.Builder
	fmt.Fprintf(&report, "%-10s %s\n", "exact", accuracyHead)
	for _, f := range publicFamilies {
		a := measure(texts, string(f), New(f, &Options{Exact: true}).Text)
		fmt.Fprintf(&report, "%-10s %s\n", f, a)
		bar := 0.05
		if f == O200K {
			bar = 0
		}
		if a.p95 > bar {
			t.Errorf("%s: 95 %% of texts over 1 KB are within %.2f %% only, not %.0f %%", f, 100*a.p95, 100*bar)
		}
	}
	t.Log("\n" + report.String())
}

// TestUnknownIsTheWorst checks that an unknown model is hardly ever counted
// below the family that needs most tokens, and not absurdly above it.
func TestUnknownIsTheWorst(t *testing.T) {
	texts := readCounted(t)
	for _, exact := range []bool{false, true} {
		unknown := New(Unknown, &Options{Exact: exact})
		below, sum, truth := 0, 0.0, 0.0
		for _, c := range texts {
			worst := 1.56 * float64(c.Tokens["o200k"])
			for _, f := range publicFamilies {
				worst = max(worst, float64(c.Tokens[string(f)]))
			}
			got := float64(unknown.Text(c.Text))
			if got < 0.95*worst {
				below++
			}
			sum += got
			truth += worst
		}
		t.Logf("exact %v: %d of %d texts more than 5 %% below the worst family, all together %+.1f %%", exact, below, len(texts), 100*(sum/truth-1))
		if below > len(texts)/20 {
			t.Errorf("exact %v: %d of %d texts are counted more than 5 %% below the worst family", exact, below, len(texts))
		}
		if sum > 1.15*truth {
			t.Errorf("exact %v: an unknown model is counted %.0f %% above the worst family", exact, 100*(sum/truth-1))
		}
	}
}
