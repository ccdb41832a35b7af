// Package fold brings the spellings of a model's name together. The registry is
// written with it and read with it.
package fold

import "strings"

// Name folds a name: "Claude-Opus-4.5", "anthropic/claude-opus-4-5" and
// "anthropic.claude-opus-4.5" are one. What stands before the last slash, and
// regions and makers before a dot, are taken away; everything that separates
// words becomes a hyphen.
func Name(name string) string {
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
		case c == 'p' && i > 0 && i+1 < len(s) && Digit(s[i-1]) && Digit(s[i+1]):
			c = '-' // 5p1 is 5.1
		case c >= 'a' && c <= 'z', Digit(c), c == '+', c >= 0x80:
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

// HasDotted reports whether a name starts with a region or maker and a dot, as
// names on Bedrock do.
func HasDotted(name string) bool {
	s := name[strings.LastIndexByte(name, '/')+1:]
	head, rest, ok := strings.Cut(s, ".")
	return ok && rest != "" && dotted[strings.ToLower(head)]
}

// Dots puts dots between the digits of a folded name: gpt-5-2 is gpt-5.2.
func Dots(key string) string {
	b := []byte(key)
	for i := 1; i+1 < len(b); i++ {
		if b[i] == '-' && Digit(b[i-1]) && Digit(b[i+1]) {
			b[i] = '.'
		}
	}
	return string(b)
}

// Digit reports whether a byte is a digit.
func Digit(c byte) bool { return c >= '0' && c <= '9' }

// dotted are the words that stand before a model's name with a dot.
var dotted = map[string]bool{
	"us": true, "eu": true, "ap": true, "apac": true, "jp": true, "au": true, "ca": true, "sa": true, "global": true, "us-gov": true,
	"anthropic": true, "amazon": true, "meta": true, "mistral": true, "cohere": true, "ai21": true, "deepseek": true, "openai": true,
	"qwen": true, "google": true, "minimax": true, "moonshot": true, "moonshotai": true, "nvidia": true, "zai": true, "writer": true,
	"xai": true, "twelvelabs": true,
}
