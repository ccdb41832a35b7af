package typed

import (
	"iter"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/winnow-llm/winnow/internal/find"
)

// BindingSentences returns the sentences of a text that bind its reader: with must,
// never, only, always, have to, do not, instead of, use this not that. It passes over
// code blocks.
func BindingSentences(text string) []string {
	// Nobody states a constraint in a sentence outside these lengths.
	const shortest, longest = 6, 500
	var all []string
	fenced := false
	for line := range strings.Lines(text) {
		t := strings.TrimSpace(line)
		if strings.HasPrefix(t, "```") || strings.HasPrefix(t, "~~~") {
			fenced = !fenced
			continue
		}
		if fenced || len(t) < shortest || strings.IndexByte("|>$", t[0]) >= 0 {
			continue
		}
		for s := range Sentences(t, ".!?;。！？；") {
			s = strings.TrimSpace(strings.TrimLeft(s, "-*•#>… \t"))
			if len(s) >= shortest && len(s) <= longest && hasBindingWord(s) {
				all = append(all, s)
			}
		}
	}
	return all
}

// Sentences divides a line after marks that end a sentence. After an ASCII mark a
// blank has to follow: 3.5 and a.go go on, and so do abbreviations.
func Sentences(line, marks string) iter.Seq[string] {
	return func(yield func(string) bool) {
		start := 0
		for i, r := range line {
			end := i + utf8.RuneLen(r)
			if !strings.ContainsRune(marks, r) || r < utf8.RuneSelf && end < len(line) && line[end] != ' ' && line[end] != '\t' {
				continue
			}
			if r == '.' && endsAbbreviation(line[start:i]) {
				continue
			}
			if !yield(strings.TrimSpace(line[start:end])) {
				return
			}
			start = end
		}
		if rest := strings.TrimSpace(line[start:]); rest != "" {
			yield(rest)
		}
	}
}

// endsAbbreviation reports whether the dot behind s belongs to e.g., i.e. and the like.
func endsAbbreviation(s string) bool {
	w := strings.ToLower(s[strings.LastIndexByte(s, ' ')+1:])
	switch w {
	case "e.g", "i.e", "etc", "vs", "cf", "approx", "no", "z.b", "d.h", "p.ej":
		return true
	}
	return false
}

// What binds a reader: words, and phrases of up to three. In a phrase * is any word, -i
// any but i, and n'* one that begins so.
const (
	binding = "must, mustn't, never, always, only, instead, shouldn't, mandatory, required, forbidden, avoid, ensure, prefer, strictly, " +
		"exactly, prohibited, shall, except, unless, -i don't, -i dont, -i do not, -i should not, -i may not, -i please not, use * not, " +
		"with * not, don't want, dont want, you cannot, we cannot, you can't, we can't, rather than, make sure, at most, at least, " +
		"stick to, we have to, no circumstances, don't ever, dont ever, not ever, " +
		// German, French, Spanish, Portuguese, Italian, Dutch
		"muss, müssen, musst, nie, niemals, nur, immer, statt, stattdessen, anstatt, keinesfalls, unbedingt, nicht, " +
		"doit, dois, doivent, jamais, toujours, uniquement, seulement, interdit, ne * pas, n'* pas, lieu de, lieu di, lieu of, " +
		"debe, debes, deben, nunca, siempre, solamente, únicamente, prohibido, lugar de, lugar di, lugar of, " +
		"deve, devem, sempre, apenas, somente, não, devi, devono, mai, soltanto, invece, vez de, vez di, vez of, " +
		"moet, nooit, altijd, alleen"

	// These bind unless the sentence asks.
	bindingUnasked = "have to, has to, need to, needs to, refrain, no new, cannot change, can't change, can not change, cannot break, " +
		"can't break, can not break, cannot modify, can't modify, can not modify, cannot be changed, can't be changed, " +
		"cannot be broken, can't be broken, cannot be modified, can't be modified"
)

// asking are words behind which a sentence tells of its writer, asks or supposes: it binds
// nobody by what has to be.
var asking = []string{"i", "i'm", "i'll", "i'd", "i've", "me", "my", "we", "if", "no", "there", "that", "what", "which", "can", "could"}

// phrase is a phrase that binds, without its last word.
type phrase struct {
	before  []string
	unasked bool
}

// phrases are what binds, by the last word.
var phrases = func() map[string][]phrase {
	table := map[string][]phrase{}
	for k, list := range [...]string{binding, bindingUnasked} {
		for p := range strings.SplitSeq(list, ", ") {
			words := strings.Fields(p)
			last := len(words) - 1
			table[words[last]] = append(table[words[last]], phrase{words[:last], k == 1})
		}
	}
	return table
}()

// follows reports whether the two words before the last one are those of the phrase.
func (p *phrase) follows(before [2]string) bool {
	for i, want := range p.before {
		w := before[len(before)-len(p.before)+i]
		start, open := strings.CutSuffix(want, "*")
		if w != want && !(open && strings.HasPrefix(w, start)) && !(want == "-i" && w != "i") {
			return false
		}
	}
	return true
}

// hasBindingWord reports whether a sentence has a word that binds.
func hasBindingWord(s string) bool {
	var before [2]string
	asks := strings.HasSuffix(s, "?")
	for w := range strings.FieldsFuncSeq(strings.ReplaceAll(s, "’", "'"), func(r rune) bool { return !unicode.IsLetter(r) && r != '\'' }) {
		low := strings.ToLower(w)
		asks = asks || slices.Contains(asking, before[0])
		binds := func(p phrase) bool { return !(p.unasked && asks) && p.follows(before) }
		if slices.ContainsFunc(phrases[low], binds) || w[0] >= utf8.RuneSelf && bindsInScript(low) {
			return true
		}
		before = [2]string{before[1], low}
	}
	return false
}

// bindsInScript looks for words of scripts that are not ASCII, some of which are
// written without blanks.
func bindsInScript(w string) bool {
	return find.Any(w,
		"必须", "必須", "不要", "不能", "不得", "不可", "只能", "仅", "永远", "始终", "总是", "务必", "禁止", "而不是", "必ず", "絶対", "しないで", "のみ", "だけ", "代わりに", "ないでください",
		"반드시", "절대", "항상", "하지", "대신", "должен", "должна", "должны", "никогда", "всегда", "только", "нельзя", "вместо",
	)
}
