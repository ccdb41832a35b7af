package boundary

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
		n.groups, n.run = n.total(), 0
	}
}

// total returns the groups of all numbers, the one just read included.
func (n *numbers) total() int { return n.groups + max(n.run-1, 0)/3 }

// digitFlags sets the highest bit of each byte that is a digit and clears the rest.
func digitFlags(x uint64) uint64 {
	const low, high = 0x7f7f7f7f7f7f7f7f, 0x8080808080808080
	x ^= 0x3030303030303030 // digits become 0 to 9
	return ^((x&low + 0x7676767676767676) | x) & high
}

// readBlock reads the first 64 bytes of a text, of which it gets the digits: bit j of
// byte i stands for place 8j+i, since that is cheap to gather. Most blocks hold no
// number of four digits and touch none outside: they need not be read.
func (n *numbers) readBlock(s string, digits uint64) {
	two := digits & shiftPlaces(digits)
	if two&shiftPlaces(shiftPlaces(two)) == 0 && n.run == 0 && digits>>63 == 0 {
		return
	}
	for i := range 64 {
		n.readByte(s[i])
	}
}

// shiftPlaces moves each place of a block to the one before it.
func shiftPlaces(m uint64) uint64 { return m>>8 | m<<56>>57<<56 }
