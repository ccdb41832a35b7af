package o200k

// each calls f for every piece of s, in order, with the number of its tokens.
// The pieces together are s, except that bytes which are not valid UTF-8
// appear as U+FFFD. The numbers add up to what [Count] returns.
func each(s string, f func(piece string, tokens int)) {
	v := load()
	s = toValidUTF8(s)
	for i := 0; i < len(s); {
		end := v.nextPieceEnd(s, i)
		f(s[i:end], v.countPiece(s, i, end))
		i = end
	}
}
