package text

// Brief returns the first n characters of a text on one line.
func Brief(s string, n int) string {
	out := make([]rune, 0, n)
	space := false
	for _, r := range s {
		if r <= ' ' {
			space = len(out) > 0
			continue
		}
		if space {
			out, space = append(out, ' '), false
		}
		if len(out) >= n {
			return string(out[:n-1]) + "…"
		}
		out = append(out, r)
	}
	return string(out)
}
