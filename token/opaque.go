package token

// longRun is the length from which an unbroken run of base64 characters is
// taken for encoded bytes. Words, paths and hashes are shorter.
const longRun = 256

// opaqueTokens returns the tokens of raw JSON that only the provider understands.
// Long base64 in it is encrypted reasoning or media, not text.
func (c *Counter) opaqueTokens(data string) int {
	n, from := 0, 0
	for i := 0; i < len(data); {
		if !base64Byte[data[i]] {
			i++
			continue
		}
		end := i + 1
		for end < len(data) && base64Byte[data[end]] {
			end++
		}
		if end-i >= longRun {
			n += c.Text(data[from:i]) + blobTokens(end-i)
			from = end
		}
		i = end
	}
	return n + c.Text(data[from:])
}

// blobTokens returns the cost of n base64 characters that stand for something else:
// hidden reasoning is about a token per four bytes of what they decode to, and
// nothing costs more than a picture.
func blobTokens(n int) int {
	return min(n*3/16, unknownMedia)
}

var base64Byte = func() (t [256]bool) {
	for b := range t {
		switch {
		case 'a' <= b && b <= 'z', 'A' <= b && b <= 'Z', '0' <= b && b <= '9',
			b == '+', b == '/', b == '-', b == '_', b == '=':
			t[b] = true
		}
	}
	return t
}()
