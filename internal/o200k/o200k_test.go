package o200k

import (
	"encoding/json"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"unicode/utf8"

	"github.com/winnow-llm/winnow/internal/kit/corpus"
	"github.com/winnow-llm/winnow/internal/kit/longrun"
	"github.com/winnow-llm/winnow/internal/kit/race"
)

func TestPieces(t *testing.T) {
	for _, c := range []struct {
		text string
		want string // pieces between bars
	}{
		{"", ""},
		{"Hello, world!", "Hello|,| world|!"},
		{"HTTPServer myVarName", "HTTPServer| my|Var|Name"},
		{"don't DON'T we'LL x'sy", "don't| DON'T| we'LL| x's|y"},
		{"it'ſ it'K", "it'ſ| it|'K"},
		{"a'", "a|'"},
		{"1234567", "123|456|7"},
		{"a  b", "a| | b"},
		{"a   1", "a|  | |1"},
		{"\n \n", "\n \n"},
		{" \n \n  x", " \n \n| | x"},
		{"x  ", "x|  "},
		{"x \t", "x| \t"},
		{"\t\tx", "\t|\tx"},
		{"a\u00a0b\u3000\u3000c", "a|\u00a0b|\u3000|\u3000c"},
		{"f(x) //\n\ny", "f|(x|)| //\n\n|y"},
		{"!\n/\n?", "!\n/\n|?"},
		{"\t!", "\t|!"},
		{"日本語ABC", "日本語|ABC"},
		{"ABC日本語abc", "ABC日本語abc"},
		{"\u0301AB", "\u0301|AB"},
		{"\u0301Ab", "\u0301Ab"},
		{"!!\u0301a", "!!\u0301|a"},
		{"ǅab ǅA", "ǅab| ǅA"},
		{"٣٣٣٣Ⅷ½", "٣٣٣|٣Ⅷ½"},
		{"<|endoftext|>", "<|endoftext|>"},
		{"\u0085\u2028x", "\u0085|\u2028x"},
		{"a\x00b\x00\x00c", "a|\x00b|\x00\x00|c"},
	} {
		var got []string
		each(c.text, func(p string, _ int) { got = append(got, p) })
		want := strings.Split(c.want, "|")
		if c.text == "<|endoftext|>" {
			want = []string{"<|", "endoftext", "|>"}
		}
		if c.text == "" {
			want = nil
		}
		if !slices.Equal(got, want) {
			t.Errorf("%q splits into %q, want %q", c.text, got, want)
		}
		if ref := referencePieces(c.text); !slices.Equal(got, ref) {
			t.Errorf("%q splits into %q, the reference says %q", c.text, got, ref)
		}
	}
}

func TestInvalidUTF8CountsAsReplacement(t *testing.T) {
	for in, as := range map[string]string{
		"\xff":               "\uFFFD",
		"a\xe4\xbdb":         "a\uFFFD\uFFFDb",
		"\xf0\x9f\x98":       "\uFFFD\uFFFD\uFFFD",
		"x\xed\xa0\x80y":     "x\uFFFD\uFFFD\uFFFDy",
		"\xc0\x80 \xffwords": "\uFFFD\uFFFD \uFFFDwords",
	} {
		if got, want := Count(in), Count(as); got != want {
			t.Errorf("Count(%q) = %d, want that of %q, %d", in, got, as, want)
		}
	}
}

// Texts with true counts, made by the reference implementation.
func TestCountedTexts(t *testing.T) {
	texts := counted(t)
	for _, c := range texts {
		if got := Count(c.Text); got != c.Tokens["o200k"] {
			t.Errorf("%s %s: %d tokens, want %d", c.Class, c.Source, got, c.Tokens["o200k"])
		}
	}
	t.Logf("%d texts", len(texts))
}

type countedText struct {
	Class, Source, Text string
	Tokens              map[string]int
}

func counted(t testing.TB) (texts []countedText) {
	data, err := os.ReadFile(corpus.Dir(t, "tokens", "counted.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(data)) {
		var c countedText
		if err := json.Unmarshal([]byte(line), &c); err != nil {
			t.Fatal(err)
		}
		texts = append(texts, c)
	}
	if len(texts) == 0 {
		t.Fatal("counted.jsonl is empty")
	}
	return texts
}

// check holds one text against the reference in every way there is.
func check(t *testing.T, s string) {
	t.Helper()
	fixed := string([]rune(s))
	want := referencePieces(fixed)
	var got []string
	total, i := 0, 0
	each(s, func(p string, n int) {
		got = append(got, p)
		total += n
		if i < len(want) && want[i] == p {
			if ref := referenceCount(p); n != ref {
				t.Errorf("piece %q of %q has %d tokens, the reference says %d", p, s, n, ref)
			}
		}
		i++
	})
	if !slices.Equal(got, want) {
		t.Fatalf("%q splits into %q, the reference says %q", s, got, want)
	}
	if n := Count(s); n != total {
		t.Errorf("Count(%q) = %d, its pieces have %d", s, n, total)
	}
}

// alphabet is what random texts are made of: every border between the pattern's
// alternatives, and characters that behave unlike others of their kind.
var alphabet = []string{
	"a", "b", "e", "s", "S", "T", "the", "ing", "Ab", "HTTP", "Z", "'", "'s", "'LL", "'re", "'ſ", "K", "ſ", "ß", "é", "É", "e\u0301", "\u0301", "\u20DD",
	" ", " ", "  ", "\t", "\n", "\r", "\r\n", "\v", "\f", "\u0085", "\u00A0", "\u2003", "\u2028", "\u3000", "\u200B", "\uFEFF", "\u180E",
	"0", "12", "3456", "٣", "Ⅷ", "½", "²", "𝟘", ".", ",", "/", "//", "-", "---", "_", "!", "(", ")", "{", "\"", "<|endoftext|>", "\x00", "\x01", "\x7f",
	"ǅ", "ʰ", "ª", "א", "ع", "ก", "ำ", "न", "मि", "中", "文字", "日本", "ひら", "カナ", "한국", "Привет", "ЖЖ", "ж", "α", "Ω",
	"😀", "👩‍👩‍👧", "🇩🇪", "\uFE0F", "𠀀", "\U000E0100", "\U0010FFFF", "\uE000", "\u0378", "\uFFFD", "\xff", "\xe4\xbd", "\xed\xa0\x80",
}

func randomText(r *rand.Rand, n int) string {
	var b strings.Builder
	for b.Len() < n {
		switch r.IntN(12) {
		case 0: // one thing over and over
			b.WriteString(strings.Repeat(alphabet[r.IntN(len(alphabet))], 1+r.IntN(20)))
		case 1: // letters that make no word
			for range 1 + r.IntN(30) {
				b.WriteByte(byte('a' + r.IntN(26)))
			}
		case 2: // any character
			b.WriteRune(rune(r.IntN(0x30000)))
		case 3: // any bytes
			for range r.IntN(6) {
				b.WriteByte(byte(r.IntN(256)))
			}
		case 4: // a token
			b.WriteString(tokenText(uint32(r.IntN(size))))
		default:
			b.WriteString(alphabet[r.IntN(len(alphabet))])
		}
	}
	return b.String()
}

func TestRandomTextsAgreeWithReference(t *testing.T) {
	n := 6000
	if !longrun.Asked() || race.Enabled {
		n = 600
	}
	r := rand.New(rand.NewPCG(1, 2))
	for range n {
		check(t, randomText(r, 1+r.IntN(120)))
		if t.Failed() {
			return
		}
	}
}

// Everything beside everything, at the end of a text and far from it.
func TestNeighboursAgreeWithReference(t *testing.T) {
	step := 1
	if !longrun.Asked() || race.Enabled {
		step = 7
	}
	for i := 0; i < len(alphabet); i += step {
		for _, b := range alphabet {
			check(t, alphabet[i]+b)
			check(t, alphabet[i]+b+alphabet[i]+"   tail long enough for the fast path")
		}
		if t.Failed() {
			return
		}
	}
}

// Every character, in the places where its class decides.
func TestEveryCharacterAgreesWithReference(t *testing.T) {
	step := rune(1)
	if !longrun.Asked() || race.Enabled {
		step = 97
	}
	for r := rune(0); r <= utf8.MaxRune; r += step {
		if r == 0x30000 && step == 1 {
			step = 61 // nothing but ideographs, private use and a few selectors
		}
		s := "A" + string(r) + "b!" + string(r)
		if got, want := pieces(s), referencePieces(string([]rune(s))); !slices.Equal(got, want) {
			t.Fatalf("%q splits into %q, the reference says %q", s, got, want)
		}
	}
}

func pieces(s string) (p []string) {
	each(s, func(piece string, _ int) { p = append(p, piece) })
	return p
}

// Every token is one token, and both ways of merging reach it.
func TestEveryTokenIsReached(t *testing.T) {
	v := load()
	step := 1
	if !longrun.Asked() || race.Enabled {
		step = 50
	}
	for id := 0; id < size; id += step {
		p := tokenText(uint32(id))
		if n := v.countPiece(p, 0, len(p)); n != 1 {
			t.Fatalf("token %d, %q, has %d tokens", id, p, n)
		}
		if n := v.sweep(p); n != 1 {
			t.Fatalf("token %d, %q, is merged into %d tokens by sweep", id, p, n)
		}
		if len(p) <= scanned {
			var buf [scanned]part
			if parts, ok := v.scan(p, &buf); !ok || len(parts) != 1 || parts[0].id() != uint32(id) {
				t.Fatalf("token %d, %q, is not reached by scan", id, p)
			}
		}
	}
}

// scan and sweep are two ways to the same count; the reference is a third.
func TestScanAndSweepAgree(t *testing.T) {
	v := load()
	r := rand.New(rand.NewPCG(3, 4))
	for range 5000 {
		p := toValidUTF8(randomText(r, 1+r.IntN(scanned/2)))
		if len(p) > scanned {
			continue
		}
		var buf [scanned]part
		parts, ok := v.scan(p, &buf)
		if n := v.sweep(p); ok && n != len(parts) {
			t.Fatalf("%q: sweep gives %d tokens, scan %d", p, n, len(parts))
		}
	}
	for _, unit := range []string{"a", " ", "=", "ab", "aab", "-=", "的", "\n", "哈哈", "😀"} {
		for _, n := range []int{scanned + 1, 200, 333, 1000} {
			p := strings.Repeat(unit, n)[:n/len(unit)*len(unit)]
			if got, want := v.sweep(p), referenceCount(p); got != want {
				t.Errorf("%d bytes of %q have %d tokens, the reference says %d", len(p), unit, got, want)
			}
		}
	}
}

func TestConcurrentCallsAgree(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	texts := make([]string, 200)
	want := make([]int, len(texts))
	for i := range texts {
		texts[i] = randomText(r, 400)
		for _, p := range referencePieces(string([]rune(texts[i]))) {
			want[i] += referenceCount(p)
		}
	}
	var wg sync.WaitGroup
	for g := range 8 {
		wg.Go(func() {
			for round := range 10 {
				for i := range texts {
					i := (i*7 + g*31 + round) % len(texts)
					if got := Count(texts[i]); got != want[i] {
						t.Errorf("%q: %d tokens, want %d", texts[i], got, want[i])
						return
					}
				}
			}
		})
	}
	wg.Wait()
}

func TestCountDoesNotAllocate(t *testing.T) {
	if race.Enabled {
		t.Skip("the race detector allocates")
	}
	text := generated("mixed", 20_000)
	Count(text)
	if n := testing.AllocsPerRun(10, func() { Count(text) }); n != 0 {
		t.Errorf("Count allocates %v times", n)
	}
}

func FuzzCount(f *testing.F) {
	for _, s := range []string{"", "Hello, world", "\n \n", "it'ſ", "日本語ABC", "\u0301AB", "a\xffb", "   x", "<|endoftext|>"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		if len(s) > 2000 {
			t.Skip("the reference is quadratic")
		}
		check(t, s)
	})
}
