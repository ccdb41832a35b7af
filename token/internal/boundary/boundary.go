// Package boundary estimates tokens without a vocabulary.
//
// A [Table] says how likely a token starts at a byte, given the classes of the
// byte before it, the byte itself and the byte after it. The sum over a text
// estimates its tokens. Tokenizers that split numbers in groups of three digits
// need more context than three bytes for that, so long numbers are counted
// exactly beside the sum.
package boundary

import "sync"

// The values of entries where a token never and always starts. Corrections
// may put entries a little outside of that.
const (
	Never  = 32
	Always = 223
)

// Entry returns the value for a likelihood.
func Entry(p float64) byte {
	return byte(min(max(Never+p*(Always-Never)+0.5, 0), 255))
}

// Likelihood returns how likely a token starts where the entry is.
func Likelihood(entry byte) float64 {
	return (float64(entry) - Never) / (Always - Never)
}

const (
	width = 6
	mask  = 1<<(3*width) - 1
)

// Table holds an entry for each three classes, see [Index].
type Table [mask + 1]byte

// Index returns the place of the entry for a byte of class cur between bytes
// of classes prev and next.
func Index(prev, cur, next uint8) int {
	return int(prev)<<(2*width) | int(cur)<<width | int(next)
}

// Kind is what [Table.Sum] notices about a text on its way.
type Kind struct {
	ASCII bool // all of it
	Long  bool // it seems to hold rows of letters and digits that make no words
}

// Sum adds up the entries of all bytes but the first, where a token always
// starts. A missing neighbour counts as byte 0. It also returns how many groups
// of three digits long numbers have beyond their first group, see
// [DigitsInThrees], and what kind of text it is.
func (t *Table) Sum(s string) (sum uint64, groups int, k Kind) {
	if len(s) < 2 {
		return 0, 0, Kind{ASCII: s == "" || s[0] < firstHigh}
	}
	high := s[0] | s[1]
	// w ends with the classes of the bytes just read, six bits each.
	w := uint64(class[s[0]])<<width | uint64(class[s[1]])
	run := numbers{}
	run.readByte(s[0])
	run.readByte(s[1])
	s = s[2:]
	if len(s) >= 64 {
		pair := pairs()
		var a, b, all uint64
		blocks, wordless := len(s)/64, 0
		for len(s) >= 64 {
			if len(s)&64 == 0 && noWords(s) { // every other block
				wordless++
			}
			var digits uint64
			for i := 0; i < 64; i += 8 {
				c := s[i : i+8]
				x := uint64(c[0]) | uint64(c[1])<<8 | uint64(c[2])<<16 | uint64(c[3])<<24 |
					uint64(c[4])<<32 | uint64(c[5])<<40 | uint64(c[6])<<48 | uint64(c[7])<<56
				w = w<<48 | uint64(pair[uint16(x)])<<36 | uint64(pair[uint16(x>>16)])<<24 |
					uint64(pair[uint16(x>>32)])<<12 | uint64(pair[x>>48])
				a += uint64(t[w>>42&mask])
				b += uint64(t[w>>36&mask])
				a += uint64(t[w>>30&mask])
				b += uint64(t[w>>24&mask])
				a += uint64(t[w>>18&mask])
				b += uint64(t[w>>12&mask])
				a += uint64(t[w>>6&mask])
				b += uint64(t[w&mask])
				digits = digits>>1 | digitFlags(x)
				all |= x
			}
			run.readBlock(digits)
			s = s[64:]
		}
		sum = a + b
		k.Long = wordless > 0 && 24*wordless >= blocks
		if all&highBits != 0 {
			high |= firstHigh
		}
	}
	for i := range len(s) {
		w = w<<width | uint64(class[s[i]])
		sum += uint64(t[w&mask])
		run.readByte(s[i])
		high |= s[i]
	}
	w = w<<width | uint64(class[0])
	k.ASCII = high < firstHigh
	return sum + uint64(t[w&mask]), run.total(), k
}

// noWords reports whether a text of at least 16 bytes begins with 16 letters and
// digits. Words that long are rare.
func noWords(s string) bool {
	c := s[:16]
	x := uint64(c[0]) | uint64(c[1])<<8 | uint64(c[2])<<16 | uint64(c[3])<<24 |
		uint64(c[4])<<32 | uint64(c[5])<<40 | uint64(c[6])<<48 | uint64(c[7])<<56
	y := uint64(c[8]) | uint64(c[9])<<8 | uint64(c[10])<<16 | uint64(c[11])<<24 |
		uint64(c[12])<<32 | uint64(c[13])<<40 | uint64(c[14])<<48 | uint64(c[15])<<56
	// Letters are the bytes with this bit, a few signs aside.
	const letter = highBits >> 1
	return (x|digitFlags(x)>>1)&(y|digitFlags(y)>>1)&letter == letter && (x|y)&highBits == 0
}

// firstHigh is the first byte that is not ASCII, highBits are its bit in eight.
const firstHigh, highBits = 0x80, 0x8080808080808080

// Estimate returns the tokens of a text that is not empty, for a tokenizer
// that splits numbers in threes or for one that does not. It also returns
// what kind of text it is.
func (t *Table) Estimate(s string, threes bool) (tokens float64, k Kind) {
	sum, groups, k := t.Sum(s)
	n := 1 + float64(int64(sum)-Never*int64(len(s)-1))/(Always-Never)
	if threes {
		n += float64(groups)
	}
	return max(n, 1), k
}

// Each calls f with the classes around each byte that [Table.Sum] adds an entry for.
func Each(s string, f func(prev, cur, next uint8)) {
	for i := 1; i < len(s); i++ {
		next := class[0]
		if i+1 < len(s) {
			next = class[s[i+1]]
		}
		f(class[s[i-1]], class[s[i]], next)
	}
}

// Classes that need to be known by name.
const (
	digit       = 34
	firstOther  = 51 // bytes from here on are not ASCII
	insideLast  = 54 // bytes from firstOther to here continue a character
	otherScript = 58 // starts a character of a script that no table was trained on
)

// ClearDigits makes no token start inside a number: [Table.Sum] counts them apart.
func (t *Table) ClearDigits() {
	for next := range uint8(1 << width) {
		t[Index(digit, digit, next)] = Never
	}
}

// SetOtherScripts sets the entries of scripts that the table was not trained
// on, so that a text in one of them has about that many tokens per byte.
func (t *Table) SetOtherScripts(perByte float64) {
	// Only the entries beside a first byte are theirs alone, two thirds or more
	// of all; what stands further inside a character is shared with others.
	entry := Entry(perByte)
	for a := range uint8(1 << width) {
		for b := range uint8(1 << width) {
			t[Index(a, otherScript, b)] = entry
			if a >= firstOther && a <= insideLast {
				t[Index(otherScript, a, b)] = entry
			}
			if a >= firstOther && a <= insideLast && b >= firstOther && b <= insideLast {
				t[Index(a, b, otherScript)] = entry
			}
		}
	}
}

// SetRepeats makes sure that no run of white space is free, however long: the
// longest tokens are 128 spaces or 16 line ends and tabs.
func (t *Table) SetRepeats() {
	for _, r := range []struct {
		class   uint8
		longest float64
	}{{35, 128}, {36, 16}, {37, 16}} {
		i := Index(r.class, r.class, r.class)
		t[i] = max(t[i], Entry(1/r.longest))
	}
}

// ASCII reports whether an entry is about a byte that is ASCII and follows one.
func ASCII(index int) bool {
	prev, cur := index>>(2*width), index>>width&(1<<width-1)
	return prev < firstOther && cur < firstOther
}

// Inside reports whether an entry is about ASCII alone, the next byte included.
func Inside(index int) bool { return ASCII(index) && index&(1<<width-1) < firstOther }

// Lower reports whether an entry is about lower case letters alone.
func Lower(index int) bool {
	const letters = 26
	return index>>(2*width) < letters && index>>width&(1<<width-1) < letters && index&(1<<width-1) < letters
}

// Digit reports whether an entry is about a digit.
func Digit(index int) bool { return index>>width&(1<<width-1) == digit }

// class maps a byte to its class.
var class = func() (t [256]uint8) {
	named := map[uint8]string{
		26: "AEIOU", 27: "ST", 28: "CPR", 29: "DLMN", 30: "BFG", 31: "HWY", 32: "KV", 33: "JQXZ",
		digit: "0123456789", 35: " ", 36: "\n\r", 37: "\t", 38: "\"'`", 39: ".", 40: ",", 41: "_", 42: "-",
		43: "/\\", 44: "([{<", 45: ")]}>", 46: ":;", 47: "=", 48: "*#+|~",
	}
	for b := range t {
		switch {
		case 'a' <= b && b <= 'z':
			t[b] = uint8(b - 'a')
		case ' ' < b && b < 0x7f:
			t[b] = 49
		case b < 0x80:
			t[b] = 50
		default:
			t[b] = firstOther
			for _, from := range []int{0x90, 0xa0, 0xb0, 0xc0, 0xc4, 0xd0, 0xd4, 0xe2, 0xe3, 0xe4, 0xea, 0xf0} {
				if b >= from {
					t[b]++
				}
			}
		}
	}
	for c, members := range named {
		for i := range len(members) {
			t[members[i]] = c
		}
	}
	return t
}()

// pairs maps two bytes, the first one lower, to both their classes: half as
// many lookups as one by one.
var pairs = sync.OnceValue(func() *[1 << 16]uint16 {
	t := new([1 << 16]uint16)
	for i := range t {
		t[i] = uint16(class[i&0xff])<<width | uint16(class[i>>8])
	}
	return t
})
