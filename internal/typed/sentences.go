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

// hasBindingWord reports whether a sentence has a word that binds.
func hasBindingWord(s string) bool {
	var prev, prev2 string
	asks := strings.HasSuffix(s, "?")
	for w := range strings.FieldsFuncSeq(strings.ReplaceAll(s, "’", "'"), func(r rune) bool { return !unicode.IsLetter(r) && r != '\'' }) {
		low := strings.ToLower(w)
		asks = asks || slices.Contains(asking, prev2)
		if bindingWord(low, prev, prev2) || bindsAgent(low, prev, prev2, asks) || w[0] >= utf8.RuneSelf && bindsInScript(low) {
			return true
		}
		prev2, prev = prev, low
	}
	return false
}

// bindingWord judges a word with the two before it.
func bindingWord(w, prev, prev2 string) bool {
	switch w {
	case "must", "mustn't", "never", "always", "only", "instead", "shouldn't", "mandatory", "required", "forbidden",
		"avoid", "ensure", "prefer", "strictly", "exactly", "prohibited", "shall", "except", "unless",
		// German, French, Spanish, Portuguese, Italian, Dutch
		"muss", "müssen", "musst", "nie", "niemals", "nur", "immer", "statt", "stattdessen", "anstatt", "keinesfalls", "unbedingt", "nicht",
		"doit", "dois", "doivent", "jamais", "toujours", "uniquement", "seulement", "interdit",
		"debe", "debes", "deben", "nunca", "siempre", "solamente", "únicamente", "prohibido",
		"deve", "devem", "sempre", "apenas", "somente", "não", "devi", "devono", "mai", "soltanto", "invece",
		"moet", "nooit", "altijd", "alleen":
		return true
	case "don't", "dont":
		return prev != "i" // I don't know
	case "not":
		switch prev {
		case "do", "must", "should", "shall", "may", "please":
			return prev2 != "i"
		}
		return prev2 == "use" || prev2 == "with"
	case "pas":
		return prev2 == "ne" || strings.HasPrefix(prev, "n'")
	}
	return slices.Contains(bindsAfter[w], prev)
}

// asking are words behind which a sentence tells of its writer, asks or supposes: it binds
// nobody by what has to be.
var asking = []string{"i", "i'm", "i'll", "i'd", "i've", "me", "my", "we", "if", "no", "there", "that", "what", "which", "can", "could"}

// bindsAgent judges a word that binds the agent unless the sentence asks.
func bindsAgent(w, prev, prev2 string, asks bool) bool {
	switch w {
	case "circumstances":
		return prev == "no"
	case "ever":
		return prev == "don't" || prev == "dont" || prev == "not"
	case "to":
		must := prev == "have" || prev == "has" || prev == "need" || prev == "needs"
		return must && (!asks || prev == "have" && prev2 == "we")
	case "refrain":
		return !asks
	case "new":
		return prev == "no" && !asks
	case "change", "break", "modify":
		return !asks && (prev == "cannot" || prev == "can't" || prev == "not" && prev2 == "can")
	case "changed", "broken", "modified":
		return !asks && prev == "be" && (prev2 == "cannot" || prev2 == "can't")
	}
	return false
}

// bindsAfter are words that bind behind certain others.
var bindsAfter = map[string][]string{
	"want": {"don't", "dont"}, "cannot": {"you", "we"}, "can't": {"you", "we"},
	"than": {"rather"}, "sure": {"make"}, "most": {"at"}, "least": {"at"}, "to": {"stick"},
	"of": {"lugar", "lieu", "vez"}, "de": {"lugar", "lieu", "vez", "invece"}, "di": {"lugar", "lieu", "vez", "invece"},
}

// bindsInScript looks for words of scripts that are not ASCII, some of which are
// written without blanks.
func bindsInScript(w string) bool {
	return find.Any(w,
		"必须", "必須", "不要", "不能", "不得", "不可", "只能", "仅", "永远", "始终", "总是", "务必", "禁止", "而不是", "必ず", "絶対", "しないで", "のみ", "だけ", "代わりに", "ないでください",
		"반드시", "절대", "항상", "하지", "대신", "должен", "должна", "должны", "никогда", "всегда", "только", "нельзя", "вместо",
	)
}
