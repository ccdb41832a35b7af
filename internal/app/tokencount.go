package app

import (
	"strconv"
	"strings"

	"github.com/spf13/pflag"
)

// parseTokens reads a number of tokens as people write it: 200000, 200k or 1.5m.
func parseTokens(text string) (int, error) {
	text = strings.ToLower(strings.TrimSpace(text))
	var unit float64
	switch {
	case strings.HasSuffix(text, "k"):
		text, unit = text[:len(text)-1], 1e3
	case strings.HasSuffix(text, "m"):
		text, unit = text[:len(text)-1], 1e6
	default:
		return strconv.Atoi(text)
	}
	n, err := strconv.ParseFloat(text, 64)
	if err == nil && (n != n || n < -1e6 || n > 1e6) {
		err = strconv.ErrRange
	}
	return int(n * unit), err
}

// tokenCount is a flag whose value is a number of tokens.
type tokenCount int

func (n *tokenCount) String() string { return strconv.Itoa(int(*n)) }

func (n *tokenCount) Type() string { return "number of tokens such as 64000, 200k or 1m" }

func (n *tokenCount) Set(text string) error {
	v, err := parseTokens(text)
	*n = tokenCount(v)
	return err
}

// tokensVar declares a flag that takes a number of tokens.
func tokensVar(fs *pflag.FlagSet, p *int, name string, value int, usage string) {
	*p = value
	fs.Var((*tokenCount)(p), name, usage)
}
