package o200k

// Tokens calls f with the bytes of every token, in the order of their ranks. Some
// begin or end inside a character.
func Tokens(f func(token string)) {
	v := load()
	for id := range uint32(size) {
		var buf [8]byte
		f(string(v.tokenBytes(id, &buf)))
	}
}
