package token

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/winnow-llm/winnow/internal/kit/race"
	"github.com/winnow-llm/winnow/internal/o200k"
	"github.com/winnow-llm/winnow/token/internal/boundary"
)

// eachPage calls f with the characters of every 128 code points that hold any:
// letters, marks, numbers, symbols, punctuation, joiners and private use. That is
// finer than Unicode's blocks, whose borders package unicode does not know.
func eachPage(f func(first rune, chars []rune)) {
	for page := rune(utf8.RuneSelf); page <= unicode.MaxRune; page += 128 {
		var chars []rune
		for r := page; r < page+128; r++ {
			if unicode.In(r, unicode.L, unicode.M, unicode.N, unicode.S, unicode.P, unicode.Co, unicode.Cf) {
				chars = append(chars, r)
			}
		}
		if len(chars) > 0 {
			f(page, chars)
		}
	}
}

// mixes put runs of characters into texts of several kinds.
var mixes = map[string]func(run string, i int) string{
	"alone": func(run string, _ int) string { return run },
	"words": func(run string, _ int) string { return run + " " },
	"lines": func(run string, _ int) string { return run + "\n" },
	"prose": func(run string, _ int) string { return "The word " + run + " stands in the text, " },
	"code": func(run string, i int) string {
		return fmt.Sprintf("\tif s[%d] == \"%s\" {\n\t\treturn %d\n\t}\n", i, run, i)
	},
	"log":   func(run string, i int) string { return fmt.Sprintf("%s building target %d of 40 %s\n", run, i%40, run) },
	"inner": func(run string, _ int) string { return "ab" + run + "cd" },
}

// drawn returns a text of about 600 bytes with runs of these characters.
func drawn(rng *rand.Rand, chars []rune, length int, mix func(string, int) string) string {
	var b strings.Builder
	for i := 0; b.Len() < 600; i++ {
		run := make([]rune, length)
		for k := range run {
			run[k] = chars[rng.IntN(len(chars))]
		}
		b.WriteString(mix(string(run), i))
	}
	return b.String()
}

// eachText calls f with texts of the pages whose number is a multiple of every,
// alone and mixed, in short and long runs, of the characters that tables do not
// know.
func eachText(every rune, f func(name, text string)) {
	rng := rand.New(rand.NewPCG(7, 7))
	eachPage(func(first rune, chars []rune) {
		if first>>7%every != 0 || first >= 0x20000 && first>>7%13 != 0 {
			return // tens of thousands of characters alike
		}
		chars = slices.DeleteFunc(chars, runes().Known)
		for _, name := range slices.Sorted(maps.Keys(mixes)) {
			for _, length := range []int{1, 4, 40} {
				if len(chars) > 0 {
					f(fmt.Sprintf("%U, %s, runs of %d", first, name, length), drawn(rng, chars, length, mixes[name]))
				}
			}
		}
	})
}

// TestNoCharacterIsUndercounted draws texts from all of Unicode but what tables
// were trained on, alone and among English, code and logs. The upper end of an
// estimate must be no less than the exact count, and the estimate not far above.
func TestNoCharacterIsUndercounted(t *testing.T) {
	race.Skip(t)
	c := New(O200K, nil)
	texts, sum, truth := 0, 0, 0
	eachText(1, func(name, s string) {
		exact, got := o200k.Count(s), c.Count(c.Text(s))
		if got.Upper() < exact || got.Band > 0.25 {
			t.Errorf("%s: %d tokens, at most %d, exactly %d", name, got.Tokens, got.Upper(), exact)
		}
		if float64(got.Tokens) > 1.9*float64(exact) {
			t.Errorf("%s: %d tokens, exactly %d", name, got.Tokens, exact)
		}
		texts, sum, truth = texts+1, sum+got.Tokens, truth+exact
	})
	t.Logf("%d texts, all together %+.1f %%", texts, 100*(float64(sum)/float64(truth)-1))
	if texts < 5000 || float64(sum) > 1.1*float64(truth) {
		t.Errorf("%d texts have %d tokens by the estimate, %d exactly", texts, sum, truth)
	}
}

// TestNoFamilyIsUndercounted does the same for the families whose vocabulary is
// not at hand: no vocabulary needs more than a token for each byte, and what
// o200k has to spell must count as much.
func TestNoFamilyIsUndercounted(t *testing.T) {
	race.Skip(t)
	for _, f := range append(allFamilies(), Unknown) {
		if f == O200K {
			continue
		}
		for _, exact := range []bool{false, true} {
			c := New(f, &Options{Exact: exact})
			eachText(31, func(name, s string) {
				spelled := 0
				for _, r := range s {
					if r >= utf8.RuneSelf && runes().Cost(r) > boundary.Single {
						spelled += utf8.RuneLen(r)
					}
				}
				got := c.Count(c.Text(s))
				if got.Upper() < spelled || got.Band > 0.25 {
					t.Errorf("%s, exact %v: %s: at most %d tokens, %d bytes must be spelled", f, exact, name, got.Upper(), spelled)
				}
			})
		}
	}
}

// TestSymbolsNeedNoVocabulary: the vocabulary takes some 30 ms to load. A text
// in English with ticks, arrows, spinners and boxes must not wait for it.
func TestSymbolsNeedNoVocabulary(t *testing.T) {
	for _, s := range []string{"done ✓ and → next ⠋ …", "├── cmd\n│   └── main.go\n" + strings.Repeat("─", 80), "🚀 shipped 🎉", "Łódź, naïve café", "ሰላም ለዓለም"} {
		runes().Each(s, func(from, to int) {
			if r := newRun(s, from, to); r.whole {
				t.Errorf("%q: %q is counted with the vocabulary", s, s[r.from:r.to])
			}
		}, func(int, int) int { return len(s) })
	}
}
