package summary

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"unicode"

	"github.com/winnow-llm/winnow/internal/quote"
)

// asks is what the gate is asked about a text besides the text itself.
type asks struct {
	stop      string   // why the model stopped
	toolCalls int      // how many tools the model called instead of writing
	sections  []string // that must be there
	prose     string   // what of the text was written and not put together by code
}

// checkSummary returns every reason to refuse a summary of in's region, each with the
// name of its rule in front; nil when there is none. An answer that declines the task, or
// calls a tool in words, lacks the sections.
func checkSummary(text string, in Input, ask asks) (problems []string) {
	in, err := in.withDefaults()
	if err != nil {
		return []string{"larger: " + err.Error()}
	}
	refuse := func(format string, args ...any) { problems = append(problems, fmt.Sprintf(format, args...)) }
	if ask.toolCalls > 0 {
		refuse("tool_call: the answer calls %d tools; only text was asked for", ask.toolCalls)
	}
	text = strings.TrimSpace(text)
	if !strings.ContainsFunc(text, unicode.IsLetter) {
		refuse("empty: the answer has no words")
		return problems
	}
	if ranOut(ask.stop) {
		refuse("cut_off: the answer stops in the middle (%s); it has to be shorter", ask.stop)
	}
	n := in.Counter.Text(text)
	if most := in.regionTokens(n); n >= most {
		refuse("larger: the answer has %d tokens, what it replaces has %d", n, most)
	} else if n > in.Max {
		refuse("larger: the answer has %d tokens, the limit is %d", n, in.Max)
	}
	if isDegenerate(cmp.Or(ask.prose, text)) { // the writer is not at fault for a user's repetitions
		refuse("degenerate: the answer repeats itself or is not text")
	}
	if names := inventedNames(text, &in); len(names) > 0 {
		refuse("invented: %d names that it gives stand nowhere in the conversation: %s", len(names), quote.ClipLine(strings.Join(names, ", "), 160))
	}
	have := splitSections(text)
	if missing := slices.DeleteFunc(slices.Clone(ask.sections), func(name string) bool { return have[name] != nil }); len(missing) > 0 {
		refuse("missing_sections: these sections are missing: %s", strings.Join(missing, ", "))
	}
	return problems
}

// CutOff is the stop reason for an answer that ran out of room.
const CutOff = "length"

// ranOut reports whether a provider's stop reason means that the answer ran out
// of room.
func ranOut(stop string) bool {
	switch strings.ToLower(stop) {
	case CutOff, "max_tokens", "max_output_tokens", "model_length", "token_limit", "incomplete", "model_context_window_exceeded":
		return true
	}
	return false
}

// isDegenerate reports text that repeats itself over and over, or is mostly not
// words at all.
func isDegenerate(s string) bool {
	if len(s) < 400 {
		return false
	}
	s = quote.Clip(s, 32<<10)
	words := strings.FieldsFunc(s, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
	fours := map[string]bool{}
	for i := 4; i <= len(words); i++ {
		fours[strings.Join(words[i-4:i], " ")] = true
	}
	letters, all := 0, 0
	for _, r := range s {
		all++
		if unicode.IsLetter(r) || unicode.IsSpace(r) {
			letters++
		}
	}
	// One run of letters without an end is noise: no language with blanks writes
	// like that.
	endless := slices.ContainsFunc(words, func(w string) bool { return len(w) >= 600 && w[0] < 0x80 })
	return len(words) > 64 && len(fours) < len(words)/3 || letters*3 < all || endless
}
