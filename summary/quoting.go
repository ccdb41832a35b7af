package summary

import "github.com/winnow-llm/winnow/internal/quote"

const dividerLine = quote.Divider

func quoteLine(s string) string     { return quote.Line(s) }
func clean(s string) string         { return quote.Clean(s) }
func hasFold(s, prefix string) bool { return quote.HasFold(s, prefix) }
func isLetter(c byte) bool          { return 'a' <= c|0x20 && c|0x20 <= 'z' }
