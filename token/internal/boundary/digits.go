package boundary

import "math/bits"

// DigitsInThrees reports whether a family's tokenizer splits numbers in groups
// of up to three digits. The others take digits one by one.
func DigitsInThrees(family string) bool {
	switch family {
	case "o200k", "cl100k", "llama3", "deepseek3", "claude":
		return true
	}
	return false
}

// numbers counts the groups of three digits beyond the first of each number.
type numbers struct {
	run    int // digits just read
	groups int // of the numbers before them
}

// readByte reads one byte.
func (n *numbers) readByte(b byte) {
	if b-'0' <= 9 {
		n.run++
	} else if n.run > 0 {
		n.endNumber(n.run)
		n.run = 0
	}
}

// endNumber adds a number of that many digits.
func (n *numbers) endNumber(digits int) { n.groups += max(digits-1, 0) / 3 }

// total ends the text.
func (n *numbers) total() int { return n.groups + max(n.run-1, 0)/3 }

// digitFlags sets the highest bit of each byte that is a digit and clears the rest.
func digitFlags(x uint64) uint64 {
	const low, high = 0x7f7f7f7f7f7f7f7f, 0x8080808080808080
	x ^= 0x3030303030303030 // digits become 0 to 9
	return ^((x&low + 0x7676767676767676) | x) & high
}

// readBlock reads 64 bytes, of which it gets the digits: bit j of byte i stands for
// place 8j+i, since that is cheap to gather. Most blocks hold no number of four
// digits and touch none outside; they are done at once.
func (n *numbers) readBlock(digits uint64) {
	two := digits & shiftPlaces(digits)
	if two&shiftPlaces(shiftPlaces(two)) == 0 && n.run == 0 && digits>>63 == 0 {
		return
	}
	n.readMask(transpose(digits))
}

// shiftPlaces moves each place of a block to the one before it.
func shiftPlaces(m uint64) uint64 { return m>>8 | m<<56>>57<<56 }

// transpose turns a block's digits into a mask in the order of the text.
func transpose(x uint64) uint64 {
	t := (x ^ x>>7) & 0x00aa00aa00aa00aa
	x ^= t ^ t<<7
	t = (x ^ x>>14) & 0x0000cccc0000cccc
	x ^= t ^ t<<14
	t = (x ^ x>>28) & 0x00000000f0f0f0f0
	return x ^ t ^ t<<28
}

// readMask reads 64 bytes given as a mask of digits, the first one lowest.
func (n *numbers) readMask(m uint64) {
	if m == ^uint64(0) {
		n.run += 64
		return
	}
	k := bits.TrailingZeros64(^m)
	n.endNumber(n.run + k)
	m = m >> k << k
	n.run = bits.LeadingZeros64(^m)
	m = m << n.run >> n.run
	for m != 0 {
		m >>= bits.TrailingZeros64(m)
		k = bits.TrailingZeros64(^m)
		n.endNumber(k)
		m >>= k
	}
}
