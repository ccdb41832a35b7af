package typed

import (
	"iter"
	"regexp"
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
			if r == '.' && slices.Contains(abbreviations, strings.ToLower(line[strings.LastIndexByte(line[:i], ' ')+1:i])) {
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

// abbreviations go on behind their dot.
var abbreviations = []string{"e.g", "i.e", "etc", "vs", "cf", "approx", "no", "z.b", "d.h", "p.ej"}

// What binds a reader: words and phrases, with a blank around each.
var (
	binding = spaced("must, mustn't, never, always, only, instead, shouldn't, mandatory, required, forbidden, avoid, ensure, prefer, strictly, "+
		"exactly, prohibited, shall, except, unless, don't, dont, do not, should not, may not, please not, i_don't want, i_dont want, i_don't ever, "+
		"you cannot, we cannot, you can't, we can't, rather than, make sure, at most, at least, stick to, we have to, no circumstances, "+
		// German, French, Spanish, Portuguese, Italian, Dutch
		"muss, müssen, musst, nie, niemals, nur, immer, statt, stattdessen, anstatt, keinesfalls, unbedingt, nicht, "+
		"doit, dois, doivent, jamais, toujours, uniquement, seulement, interdit, lieu de, lieu di, "+
		"debe, debes, deben, nunca, siempre, solamente, únicamente, prohibido, lugar de, lugar di, "+
		"deve, devem, sempre, apenas, somente, não, devi, devono, mai, soltanto, invece, vez de, vez di, "+
		"moet, nooit, altijd, alleen",
		// Scripts in which blanks do not tell, or in which words have many endings.
		"必须", "必須", "不要", "不能", "不得", "不可", "只能", "永远", "始终", "总是", "务必", "禁止", "而不是", "必ず", "絶対", "しないで", "のみ", "だけ", "代わりに", "ないでください",
		"반드시", "절대", "항상", "하지", "대신", "должен", "должна", "должны", "никогда", "всегда", "только", "нельзя", "вместо")

	// These bind unless the sentence tells of its writer, asks or supposes.
	bindingUnasked = spaced("have to, has to, need to, needs to, refrain, no new, cannot change, can't change, can not change, cannot break, " +
		"can't break, can not break, cannot modify, can't modify, can not modify, cannot be changed, can't be changed, " +
		"cannot be broken, can't be broken, cannot be modified, can't be modified")
	asking = []string{" i ", " i'", " me ", " my ", " we ", " if ", " no need ", " there ", " that ", " what ", " which ", " can ", " could "}

	bindingPair = regexp.MustCompile(` (?:(?:use|with) \S+ not|ne \S+ pas|n'\S+ pas) `)

	// What a writer does not do himself binds nobody.
	ownWords = strings.NewReplacer(" i do", " i_do", " i should", " i_should", " i may", " i_may", " i please", " i_please")
)

// spaced returns a finder of phrases with a blank around each, and of others as they stand.
func spaced(phrases string, others ...string) *find.Finder {
	return find.Words(append(others, strings.Split(" "+strings.ReplaceAll(phrases, ", ", " , ")+" ", ",")...)...)
}

// hasBindingWord reports whether a sentence has a word that binds.
func hasBindingWord(s string) bool {
	words := strings.FieldsFunc(strings.ToLower(strings.ReplaceAll(s, "’", "'")), func(r rune) bool { return !unicode.IsLetter(r) && r != '\'' })
	text := ownWords.Replace(" " + strings.Join(words, " ") + " ")
	return binding.In(text) || strings.Contains(text, "仅") ||
		find.Any(text, " not ", " pas ") && bindingPair.MatchString(text) ||
		bindingUnasked.In(text) && !strings.HasSuffix(s, "?") && !find.Any(text, asking...)
}
