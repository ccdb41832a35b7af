package main

import "strings"

// fold brings the spellings of a model's name together: "Claude-Opus-4.5",
// "anthropic/claude-opus-4-5" and "anthropic.claude-opus-4.5" are one. Package
// model has the same function and a test there holds the two together: each
// key of the registry is the fold of its name.
func fold(name string) string {
	s := strings.ToLower(name)
	s = s[strings.LastIndexByte(s, '/')+1:]
	for {
		head, rest, ok := strings.Cut(s, ".")
		if !ok || !dotted[head] || rest == "" {
			break
		}
		s = rest
	}
	b := make([]byte, 0, len(s))
	for i := 0; i < len(s); i++ {
		c := s[i]
		switch {
		case c == 'p' && i > 0 && i+1 < len(s) && digit(s[i-1]) && digit(s[i+1]):
			c = '-' // 5p1 is 5.1
		case c >= 'a' && c <= 'z', digit(c), c == '+', c >= 0x80:
		default:
			c = '-'
		}
		if c == '-' && (len(b) == 0 || b[len(b)-1] == '-') {
			continue
		}
		b = append(b, c)
	}
	return strings.TrimRight(string(b), "-")
}

func digit(c byte) bool { return c >= '0' && c <= '9' }

// dotted are the words that stand before a model's name with a dot: regions
// and makers, as on Bedrock.
var dotted = set("us eu ap apac jp au ca sa global us-gov " +
	"anthropic amazon meta mistral cohere ai21 deepseek openai qwen google minimax moonshot moonshotai nvidia zai writer xai twelvelabs")

func set(words string) map[string]bool {
	m := map[string]bool{}
	for _, w := range strings.Fields(words) {
		m[w] = true
	}
	return m
}
