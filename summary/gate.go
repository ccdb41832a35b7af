package summary

import (
	"fmt"
	"strings"
	"unicode"

	"github.com/winnow-llm/winnow/evidence"
	"github.com/winnow-llm/winnow/internal/quote"
	"github.com/winnow-llm/winnow/internal/typed"
)

// Names of the rules that [Check] holds a summary to.
const (
	RuleEmpty       = "empty"
	RuleCutOff      = "cut_off"
	RuleToolCall    = "tool_call"
	RuleRefusal     = "refusal"
	RuleLarger      = "larger"
	RuleSections    = "missing_sections"
	RuleConstraints = "lost_constraints"
	RulePinned      = "lost_pin"
	RuleDegenerate  = "degenerate"
	RuleInvented    = "invented"
)

// Problem is one reason to refuse a summary.
type Problem struct {
	Rule    string `json:"rule"`
	Message string `json:"message"`
}

// String returns the problem as one line.
func (p Problem) String() string { return p.Rule + ": " + p.Message }

// Meta is what is known of a summary besides its text.
type Meta struct {
	// Stop is why the model stopped. CutOff, or a provider's own word for it,
	// means that it ran out of room.
	Stop string

	// ToolCalls is how many tools the model called instead of writing.
	ToolCalls int

	// Sections are the sections that must be there.
	Sections []string

	// Constraints asks whether the user's constraints are there. It is meant for
	// the text of a whole fold; prose stands beside the user's words.
	Constraints bool

	// Pinned is text that must be there, word for word.
	Pinned []string
}

// Check returns every reason to refuse a summary of in's region, nil when
// there is none. The text is a model's prose or, with the questions
// that Meta asks, the text of a whole fold.
func Check(text string, in Input, meta Meta) []Problem {
	in, err := in.normal()
	if err != nil {
		return []Problem{{RuleLarger, err.Error()}}
	}
	var ps []Problem
	bad := func(rule, format string, args ...any) {
		ps = append(ps, Problem{rule, fmt.Sprintf(format, args...)})
	}
	if meta.ToolCalls > 0 {
		bad(RuleToolCall, "the answer calls %d tools; only text was asked for", meta.ToolCalls)
	}
	words := strings.TrimSpace(text)
	if words == "" || !strings.ContainsFunc(words, unicode.IsLetter) {
		bad(RuleEmpty, "the answer has no words")
		return ps
	}
	if cutOff(meta.Stop) {
		bad(RuleCutOff, "the answer stops in the middle (%s); it has to be shorter", meta.Stop)
	}
	if looksLikeCall(words) {
		bad(RuleToolCall, "the answer is a tool call written as text")
	}
	if phrase := refusal(words); phrase != "" {
		bad(RuleRefusal, "the answer declines the task (%q)", phrase)
	}
	n := in.Counter.Text(words)
	if most := in.regionTokens(n); n >= most {
		bad(RuleLarger, "the answer has %d tokens, what it replaces has %d", n, most)
	} else if n > in.Max {
		bad(RuleLarger, "the answer has %d tokens, the limit is %d", n, in.Max)
	}
	if degenerate(words) {
		bad(RuleDegenerate, "the answer repeats itself or is not text")
	}
	if names := invented(words, &in); len(names) > 0 {
		bad(RuleInvented, "%d names that it gives stand nowhere in the conversation: %s", len(names), clipLine(strings.Join(names, ", "), 160))
	}
	if missing := missingSections(words, meta.Sections); len(missing) > 0 {
		bad(RuleSections, "these sections are missing: %s", strings.Join(missing, ", "))
	}
	if meta.Constraints {
		if lost := lostConstraints(words, &in); len(lost) > 0 {
			bad(RuleConstraints, "%d constraints of the user are missing, the first is: %s", len(lost), clipLine(lost[0], 160))
		}
	}
	for _, pin := range meta.Pinned {
		if !strings.Contains(text, pin) {
			bad(RulePinned, "pinned text is missing: %s", clipLine(pin, 160))
		}
	}
	return ps
}

// CutOff is the stop reason for an answer that ran out of room.
const CutOff = "length"

// cutOff reports whether a provider's stop reason means that the answer ran
// out of room.
func cutOff(stop string) bool {
	switch strings.ToLower(stop) {
	case CutOff, "max_tokens", "max_output_tokens", "model_length", "token_limit", "incomplete", "model_context_window_exceeded":
		return true
	}
	return false
}

// looksLikeCall reports whether an answer is nothing but a call of a tool that
// was written down as text.
func looksLikeCall(s string) bool {
	s = strings.TrimPrefix(strings.TrimSpace(s), "```json")
	s = strings.TrimSpace(strings.Trim(s, "`"))
	for _, p := range [...]string{"<tool_call", "<function", "<invoke", "<antml", "<|tool", "[tool_calls]", "[assistant tool calls]", "<tool_use"} {
		if quote.HasFold(s, p) {
			return true
		}
	}
	if s == "" || s[0] != '{' && s[0] != '[' || s[len(s)-1] != '}' && s[len(s)-1] != ']' {
		return false
	}
	named := strings.Contains(s, `"name"`) || strings.Contains(s, `"tool"`) || strings.Contains(s, `"function"`)
	return named && (strings.Contains(s, `"arguments"`) || strings.Contains(s, `"input"`) || strings.Contains(s, `"parameters"`))
}

// refusal returns the words with which an answer declines, or "". Only the
// beginning is looked at: a summary may well report that somebody declined.
func refusal(s string) string {
	s = s[:runes(s, 300)]
	if sectionName(firstLine(s)) != "" {
		return ""
	}
	low := strings.ToLower(strings.ReplaceAll(s, "’", "'"))
	for _, p := range [...]string{
		"i can't help", "i cannot help", "i can't assist", "i cannot assist", "i'm unable to", "i am unable to", "i'm not able to", "i am not able to",
		"i can't provide", "i cannot provide", "i can't summar", "i cannot summar", "i won't be able", "i must decline", "i'm sorry, but", "i am sorry, but",
		"sorry, i can", "as an ai", "i don't have access to", "i do not have access to", "there is no conversation", "no conversation was provided",
		"please provide the conversation", "what would you like me to",
	} {
		if strings.Contains(low, p) {
			return p
		}
	}
	return ""
}

func firstLine(s string) string {
	line, _, _ := strings.Cut(strings.TrimSpace(s), "\n")
	return line
}

// degenerate reports text that repeats itself over and over, or is mostly not
// words at all.
func degenerate(s string) bool {
	if len(s) < 400 {
		return false
	}
	lines, seen, long := 0, map[string]int{}, 0
	most := 0
	letters, all := 0, 0
	for rest := s; rest != "" && lines < 4000; {
		var line string
		line, rest, _ = strings.Cut(rest, "\n")
		line = strings.TrimSpace(line)
		if line == "" {
			continue
		}
		lines++
		seen[line]++
		if len(line) > 8 {
			most = max(most, seen[line])
		}
		long = max(long, len(line))
	}
	if lines > 12 && most > lines/3 {
		return true
	}
	grams, distinct := 0, map[string]bool{}
	fields := strings.FieldsFunc(s[:min(len(s), 32<<10)], func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
	for i := 0; i+4 <= len(fields); i++ {
		grams++
		distinct[strings.Join(fields[i:i+4], " ")] = true
	}
	if grams > 60 && len(distinct) < grams/4 {
		return true
	}
	for _, r := range s[:runes(s, 8192)] {
		all++
		if unicode.IsLetter(r) || unicode.IsSpace(r) {
			letters++
		}
	}
	if letters*3 < all {
		return true
	}
	// One run of letters without an end is noise: no language writes like that.
	run, ascii := 0, true
	for i := 0; i < len(s) && run < 600; i++ {
		if s[i] <= ' ' {
			run, ascii = 0, true
			continue
		}
		ascii = ascii && s[i] < 0x80
		if run++; !ascii {
			run = 0
		}
	}
	return run >= 600
}

// missingSections returns the sections that a prose lacks. One that says that
// there is nothing to say is there.
func missingSections(prose string, want []string) []string {
	if len(want) == 0 {
		return nil
	}
	have := splitSections(prose)
	var missing []string
	for _, w := range want {
		found := false
		for _, s := range have {
			found = found || s.name == w
		}
		if !found {
			missing = append(missing, w)
		}
	}
	return missing
}

// mostConstraints is how many sentences are compared word by word: a pasted
// manual has thousands.
const mostConstraints = 1000

// lostConstraints returns the constraints that the user stated in the region
// and that the text lacks: no line of it has 80 % of their words.
func lostConstraints(text string, in *Input) []string {
	var lost []string
	var lines []map[string]bool
	checked := 0
	keep := in.keeps()
	for i := in.From; i < in.To; i++ {
		if keep(i) {
			continue
		}
		for _, c := range evidence.BindingSentences(typed.Words(in.History, i)) {
			if strings.Contains(text, c) || checked == mostConstraints {
				continue
			}
			checked++
			if lines == nil {
				lines = wordLines(text)
			}
			if !onOneLine(lines, c) {
				lost = append(lost, c)
			}
		}
	}
	return lost
}

// wordLines returns the set of words of each line.
func wordLines(text string) []map[string]bool {
	var out []map[string]bool
	for line := range strings.SplitSeq(text, "\n") {
		set := map[string]bool{}
		for w := range wordsOf(line) {
			set[w] = true
		}
		if len(set) > 0 {
			out = append(out, set)
		}
	}
	return out
}

func onOneLine(lines []map[string]bool, sentence string) bool {
	var words []string
	for w := range wordsOf(sentence) {
		words = append(words, w)
	}
	for _, l := range lines {
		n := 0
		for _, w := range words {
			if l[w] {
				n++
			}
		}
		if n*5 >= len(words)*4 {
			return true
		}
	}
	return len(words) == 0
}

// clipLine returns text on one line of at most n characters.
func clipLine(s string, n int) string {
	s = quote.Line(s)
	if k := runes(s, n); k < len(s) {
		return s[:k] + "…"
	}
	return s
}
