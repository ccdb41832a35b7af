package token

import (
	"encoding/ascii85"
	"encoding/base32"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unicode"

	"github.com/winnow-llm/winnow/internal/kit/race"
	"github.com/winnow-llm/winnow/internal/o200k"
)

// generators make texts of some hundred to some thousand bytes: what programs print
// and what is encoded for machines, of which no table was made.
var generators = map[string]func(*rand.Rand) string{
	"base64":           func(r *rand.Rand) string { return base64.StdEncoding.EncodeToString(randomBytes(r, 900)) },
	"base64, in lines": func(r *rand.Rand) string { return inLines(base64.StdEncoding.EncodeToString(randomBytes(r, 900)), 76) },
	"base64 for URLs":  func(r *rand.Rand) string { return base64.URLEncoding.EncodeToString(randomBytes(r, 900)) },
	"base64 of text": func(r *rand.Rand) string {
		return base64.StdEncoding.EncodeToString([]byte(mixedText(700 + r.IntN(99))))
	},
	"base32":           func(r *rand.Rand) string { return base32.StdEncoding.EncodeToString(randomBytes(r, 700)) },
	"base32, in lines": func(r *rand.Rand) string { return inLines(base32.StdEncoding.EncodeToString(randomBytes(r, 700)), 60) },
	"ascii85": func(r *rand.Rand) string {
		to := make([]byte, ascii85.MaxEncodedLen(700))
		return string(to[:ascii85.Encode(to, randomBytes(r, 700))])
	},
	"hex":             func(r *rand.Rand) string { return hex.EncodeToString(randomBytes(r, 500)) },
	"hex in capitals": func(r *rand.Rand) string { return strings.ToUpper(hex.EncodeToString(randomBytes(r, 500))) },
	"hex dump":        func(r *rand.Rand) string { return hex.Dump(randomBytes(r, 400)) },
	"UUIDs": each(30, func(r *rand.Rand, _ int) string {
		h := hex.EncodeToString(randomBytes(r, 16))
		return h[:8] + "-" + h[8:12] + "-" + h[12:16] + "-" + h[16:20] + "-" + h[20:] + "\n"
	}),
	"hashes of files": each(15, func(r *rand.Rand, i int) string {
		return hex.EncodeToString(randomBytes(r, 32)) + "  dist/pkg-" + strconv.Itoa(i) + ".tar.gz\n"
	}),
	"addresses": each(50, func(r *rand.Rand, _ int) string {
		return fmt.Sprintf("%d.%d.%d.%d:%d ", r.IntN(256), r.IntN(256), r.IntN(256), r.IntN(256), r.IntN(65536))
	}),
	"key ids":         each(60, func(r *rand.Rand, _ int) string { return draw(r, upper+"234567", 20) + "\n" }),
	"DNA":             func(r *rand.Rand) string { return inLines(draw(r, "ACGT", 1500), 70) },
	"proteins":        func(r *rand.Rand) string { return inLines(draw(r, "ACDEFGHIKLMNPQRSTVWY", 1200), 60) },
	"small letters":   func(r *rand.Rand) string { return draw(r, lower, 900) },
	"capitals":        func(r *rand.Rand) string { return draw(r, upper, 900) },
	"random words":    func(r *rand.Rand) string { return draw(r, lower+"     ", 900) },
	"passwords":       each(40, func(r *rand.Rand, _ int) string { return draw(r, lower+upper+digits+"!#%&*+-=?@^_", 16) + "\n" }),
	"digits":          func(r *rand.Rand) string { return draw(r, digits, 900) },
	"numbers":         each(80, func(r *rand.Rand, _ int) string { return strconv.FormatFloat(r.NormFloat64(), 'g', -1, 64) + ", " }),
	"printable ASCII": func(r *rand.Rand) string { return draw(r, printable, 900) },
	"percent-encoded": func(r *rand.Rand) string { return url.QueryEscape(string(randomBytes(r, 400))) },
	"escaped in JSON": each(60, func(r *rand.Rand, _ int) string { return fmt.Sprintf(`\u%04x`, 0x4e00+r.IntN(0x5000)) }),
	"coloured log": each(25, func(r *rand.Rand, i int) string {
		return fmt.Sprintf("\x1b[3%dmINFO\x1b[0m step %d \x1b[2K\x1b[1A\x1b[1mdone\x1b[22m\r\n", r.IntN(8), i)
	}),
	"spinner": each(40, func(r *rand.Rand, i int) string {
		return string([]rune("⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏")[i%10]) + " installing dependencies " + strconv.Itoa(i) + "\r"
	}),
	"spinners alone": each(400, func(r *rand.Rand, _ int) string { return string(rune(0x2800 + r.IntN(256))) }),
	"progress": each(20, func(r *rand.Rand, i int) string {
		return strings.Repeat("█", i) + strings.Repeat("░", 20-i) + fmt.Sprintf(" %d%% ▏▎▍\n", 5*i)
	}),
	"box table": each(15, func(r *rand.Rand, i int) string {
		return "├──────┼────────────┤\n│ " + strconv.Itoa(i) + " │ " + draw(r, lower, 8) + " │\n"
	}),
	"boxes, random": each(80, func(r *rand.Rand, _ int) string {
		return draw(r, "─│┌┐└┘├┤┬┴┼═║╔╗╚╝╠╣╦╩╬", 10) + "\n"
	}),
	"tree of files": each(30, func(r *rand.Rand, i int) string {
		return strings.Repeat("│   ", i%4) + "├── " + draw(r, lower, 3+i%9) + ".go\n"
	}),
	"test runner": each(20, func(r *rand.Rand, i int) string {
		return []string{"✓", "✗", "⚠", "●", "❯"}[i%5] + " renders the " + draw(r, lower, 6) + " (" + strconv.Itoa(r.IntN(900)) + " ms) → ok\n"
	}),
	"emoji": each(200, func(r *rand.Rand, _ int) string { return string(rune(0x1F300 + r.IntN(0x350))) }),
	"emoji in prose": each(30, func(r *rand.Rand, _ int) string {
		return "shipped it " + string(rune(0x1F300+r.IntN(0x350))) + " today. "
	}),
	"combining marks": each(200, func(r *rand.Rand, _ int) string {
		return string(rune('a'+r.IntN(26))) + string(rune(0x300+r.IntN(0x70)))
	}),
	"invalid UTF-8": func(r *rand.Rand) string { return string(randomBytes(r, 700)) },
	"mathematics": each(40, func(r *rand.Rand, _ int) string {
		return "∀" + draw(r, "αβγδεζηθλμπρστφψω", 2) + "∈ℝ: ∑ₙ x² ≤ ∫∂⟨" + draw(r, "𝐀𝐁𝐂𝐱𝐲𝐳", 3) + "⟩ "
	}),
	"scripts, mixed by words": func(r *rand.Rand) string {
		return drawMixed(r, " ")
	},
	"scripts, mixed by letters": func(r *rand.Rand) string { return drawMixed(r, "") },
	"one character":             func(r *rand.Rand) string { return strings.Repeat(draw(r, printable+"\t\n\r", 1), 900) },
	"few characters":            func(r *rand.Rand) string { return draw(r, draw(r, printable+"\t\n\r", 2+r.IntN(4)), 900) },
	"few letters":               func(r *rand.Rand) string { return draw(r, draw(r, everyLetter, 1+r.IntN(4))+" ", 300) },
	"few words": func(r *rand.Rand) string {
		words := strings.Fields(draw(r, lower+upper+digits+"_.:/|'`      ", 24))
		between := []string{" ", "\n", "\t", ", "}[r.IntN(4)]
		return each(150, func(r *rand.Rand, _ int) string { return words[r.IntN(len(words))] + between })(r)
	},
	"one line, again and again": func(r *rand.Rand) string {
		lines := strings.Split(mixedText(20_000), "\n")
		line := strings.Repeat("\t", r.IntN(3)) + lines[r.IntN(len(lines))] + "\n"
		return strings.Repeat(line, 1+2000/len(line))
	},
	"prose, then one character": func(r *rand.Rand) string { return mixedText(3000) + strings.Repeat(draw(r, printable, 1), 5000) },
}

// everyLetter holds the letters of every script.
var everyLetter = func() string {
	var b strings.Builder
	for _, name := range slices.Sorted(maps.Keys(scripts)) {
		b.WriteString(string(scripts[name]))
	}
	return b.String()
}()

const (
	lower  = "abcdefghijklmnopqrstuvwxyz"
	upper  = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
	digits = "0123456789"
)

var printable = func() string {
	var b strings.Builder
	for c := byte(' '); c < 0x7f; c++ {
		b.WriteByte(c)
	}
	return b.String()
}()

func randomBytes(r *rand.Rand, n int) []byte {
	b := make([]byte, n)
	for i := range b {
		b[i] = byte(r.Uint32())
	}
	return b
}

// draw returns n random characters of an alphabet.
func draw(r *rand.Rand, alphabet string, n int) string {
	from := []rune(alphabet)
	to := make([]rune, n)
	for i := range to {
		to[i] = from[r.IntN(len(from))]
	}
	return string(to)
}

func inLines(s string, width int) string {
	var b strings.Builder
	for ; len(s) > width; s = s[width:] {
		b.WriteString(s[:width] + "\n")
	}
	return b.String() + s
}

// each joins n pieces.
func each(n int, piece func(r *rand.Rand, i int) string) func(*rand.Rand) string {
	return func(r *rand.Rand) string {
		var b strings.Builder
		for i := range n {
			b.WriteString(piece(r, i))
		}
		return b.String()
	}
}

// scripts are the letters of every script of Unicode.
var scripts = func() map[string][]rune {
	m := make(map[string][]rune)
	for name, t := range unicode.Scripts {
		for _, r := range t.R16 {
			for c := rune(r.Lo); c <= rune(r.Hi); c += rune(r.Stride) {
				m[name] = append(m[name], c)
			}
		}
		for _, r := range t.R32 {
			for c := rune(r.Lo); c <= rune(r.Hi); c += rune(r.Stride) {
				m[name] = append(m[name], c)
			}
		}
	}
	return m
}()

// drawMixed returns runs of letters, each of another script.
func drawMixed(r *rand.Rand, between string) string {
	names := slices.Sorted(maps.Keys(scripts))
	var b strings.Builder
	for range 120 {
		chars := scripts[names[r.IntN(len(names))]]
		for range 1 + r.IntN(6) {
			b.WriteRune(chars[r.IntN(len(chars))])
		}
		b.WriteString(between)
	}
	return b.String()
}

// banded is how the interval of counts lies to exact counts.
type banded struct {
	texts       int
	upper       float64 // the least upper end, relative to the exact count
	least, most float64 // estimates, relative to the exact count
	worst       string
}

func (b *banded) add(name string, c Count, exact int) {
	of := func(n int) float64 { return float64(n) / float64(exact) }
	if b.texts == 0 || of(c.Upper()) < b.upper {
		b.upper, b.worst = of(c.Upper()), name
	}
	if b.texts == 0 || of(c.Tokens) < b.least {
		b.least = of(c.Tokens)
	}
	b.most = max(b.most, of(c.Tokens))
	b.texts++
}

// TestBandHoldsExactCounts prints, with -v, how the estimate for o200k and the
// upper end of its band lie to exact counts: every script of Unicode, all of its
// letters and those that the table was made of, alone and in prose, code and
// logs; encoded and random text; what programs draw on terminals; mixed scripts.
// No exact count may be above the upper end. Estimates may be far above where
// letters stand that nobody writes in a row, such as one Armenian one between spaces.
func TestBandHoldsExactCounts(t *testing.T) {
	race.Skip(t)
	c := New(O200K, nil)
	rng := rand.New(rand.NewPCG(14, 1))
	rows := map[string]*banded{}
	add := func(row, name, s string) {
		b := rows[row]
		if b == nil {
			b = new(banded)
			rows[row] = b
		}
		b.add(name, c.Count(c.Text(s)), o200k.Count(s))
	}
	sets := maps.Clone(scripts)
	for name, chars := range scripts {
		if known := slices.DeleteFunc(slices.Clone(chars), func(r rune) bool { return !runes().Known(r) }); len(known) > 0 {
			sets[name+", common"] = known
		}
	}
	for _, name := range slices.Sorted(maps.Keys(sets)) {
		for _, mix := range slices.Sorted(maps.Keys(mixes)) {
			for _, length := range []int{1, 2, 4, 10, 40} {
				add(name, fmt.Sprintf("%s, runs of %d", mix, length), drawn(rng, sets[name], length, mixes[mix]))
			}
		}
	}
	for _, name := range slices.Sorted(maps.Keys(generators)) {
		for range 40 {
			add(name, "", generators[name](rng))
		}
	}
	var report strings.Builder
	fmt.Fprintf(&report, "%-28s %5s %9s %9s %9s  %s\n", "relative to the exact count", "texts", "least", "most", "upper end", "where that is least")
	for _, row := range slices.Sorted(maps.Keys(rows)) {
		b := rows[row]
		fmt.Fprintf(&report, "%-28s %5d %9.3f %9.3f %9.3f  %s\n", row, b.texts, b.least, b.most, b.upper, b.worst)
		if b.upper < 1 {
			t.Errorf("%s: the upper end is %.3f of the exact count (%s)", row, b.upper, b.worst)
		}
		if b.most > 1.9 {
			t.Errorf("%s: an estimate is %.2f times the exact count", row, b.most)
		}
	}
	t.Log("\n" + report.String())
}

// TestSpreadHoldsEveryModel: a count for no model in particular is within its spread
// of what any vocabulary says.
func TestSpreadHoldsEveryModel(t *testing.T) {
	c := New(Unknown, nil)
	for _, x := range readCounted(t) {
		for f, n := range x.Tokens {
			if got := float64(c.Text(x.Text)); len(x.Text) > 1024 && math.Abs(got-float64(n)) > c.Spread()*got {
				t.Errorf("%s has %d tokens by %s, %v are said", x.Class, n, f, got)
			}
		}
	}
}

// TestBandHoldsKnownCounts does the same with texts of people and programs, for
// every vocabulary whose counts are at hand, by both ways of counting. Texts under a
// kilobyte are left out: there a few tokens are many per cent.
func TestBandHoldsKnownCounts(t *testing.T) {
	texts := readCounted(t)
	var report strings.Builder
	fmt.Fprintf(&report, "%-10s %-10s %5s %6s %9s %9s %9s  %s\n", "family", "method", "texts", "band", "least", "most", "upper end", "where that is least")
	for _, exact := range []bool{false, true} {
		for _, f := range append(publicFamilies, Unknown) {
			c := New(f, &Options{Exact: exact})
			var b banded
			for _, x := range texts {
				want := x.Tokens[string(f)]
				if f == Unknown {
					for _, n := range x.Tokens {
						want = max(want, n)
					}
				}
				if len(x.Text) > 1024 {
					b.add(x.Class, c.Count(c.Text(x.Text)), want)
				}
			}
			fmt.Fprintf(&report, "%-10s %-10s %5d %6.2f %9.3f %9.3f %9.3f  %s\n", f, c.Method(), b.texts, c.Band(), b.least, b.most, b.upper, b.worst)
			if b.upper < 1 {
				t.Errorf("%s, %s: the upper end is %.3f of a true count (%s)", f, c.Method(), b.upper, b.worst)
			}
		}
	}
	for _, f := range append(allFamilies(), Unknown) {
		for _, exact := range []bool{false, true} {
			if b := New(f, &Options{Exact: exact}).Band(); b > 0.25 {
				t.Errorf("%s: the band is %.2f", f, b)
			}
		}
	}
	t.Log("\n" + report.String())
}
