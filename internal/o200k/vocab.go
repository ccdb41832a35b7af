package o200k

import (
	_ "embed"
	"encoding/binary"
	"math/bits"
	"sync"
	"unicode/utf8"
)

// packed is the vocabulary as the command tools/vocab writes it: for every
// token the two tokens whose merge makes it. Its comment has the format.
//
//go:embed vocab.bin
var packed string

const (
	size    = 199998 // tokens in the vocabulary
	common  = 40000  // of them, those counted as common
	longest = 128    // bytes of the longest token
	header  = 8 + 256
	none    = 1<<32 - 1
)

// The sizes of the hash tables, which use open addressing.
const (
	commonBits = 16
	rareBits   = 18
	longBits   = 17
	mergeBits  = 18
	maybeBits  = 21

	idBits = 18
	idMask = 1<<idBits - 1
)

// vocab is the unpacked vocabulary. Only its cache changes after loading.
type vocab struct {
	classes

	// common and rare are the tokens of up to eight bytes, by their keys: two
	// sets, so that most look-ups stay in memory that is near the processor.
	common [1 << commonBits]uint64
	rare   [1 << rareBits]uint64

	// long is the index of the other tokens: hash &^ idMask | token.
	long [1 << longBits]uint64

	cache cache

	// single, pairs and runes are the tokens that merging starts with: of each
	// byte, of two neighbouring bytes, of each character that UTF-8 writes in
	// three bytes; or none. torn has the bit before<<8 | after where a token
	// holds these two bytes with a border of characters between them, and a
	// part of a character at one of its ends.
	single [256]uint32
	pairs  [1 << 16]uint32
	runes  [1 << 16]uint32
	torn   [1 << 16 / 64]uint64

	// merges holds left<<36 | right<<18 | merge for every merge there is;
	// maybe, which is small, rules most other pairs out.
	merges [1 << mergeBits]uint64
	maybe  [1 << maybeBits / 64]uint64

	// lengths is the length of each token. words is its bytes, the first one
	// lowest, where they are up to eight, and otherwise where they are in text.
	lengths [size]uint8
	words   [size]uint64
	text    [1 << 20]byte
	used    int // bytes of text
}

// load returns the vocabulary, which the first call unpacks.
var load = sync.OnceValue(unpackVocab)

func unpackVocab() *vocab {
	if packed[:4] != "o2k1" || uint32(load64(packed, 0)>>32) != size {
		panic("o200k: vocab.bin is not the vocabulary this package was written for: run go generate ./internal/o200k")
	}
	v := new(vocab)
	v.classes.fill()
	// These are zero already. Writing to fresh memory before it is read, here
	// and below, saves one of two page faults for every page.
	clear(v.common[:])
	clear(v.rare[:])
	clear(v.long[:])
	for i := range v.pairs {
		v.pairs[i], v.runes[i] = none, none
	}
	for id := range uint32(256) {
		b := packed[8+id]
		v.single[b] = id
		v.addShort(id, uint64(b), 1)
	}
	// Half of the work is entering the merges, which needs nothing of the rest.
	var wg sync.WaitGroup
	wg.Go(func() {
		clear(v.merges[:])
		eachMerge(v.addMerge)
	})
	eachMerge(v.addToken)
	wg.Wait()
	return v
}

// eachMerge calls f for every token of more than one byte, in the order of
// their ranks, with the two tokens that make it.
func eachMerge(f func(left, right, id uint32)) {
	at := uint(8 * header)
	for id := uint32(256); id < size; id++ {
		width := bits.Len32(id - 1)
		word := load64(packed, int(at/8)) >> (at % 8)
		f(uint32(word)&(1<<width-1), uint32(word>>width)&(1<<width-1), id)
		at += uint(2 * width)
	}
}

func (v *vocab) addMerge(left, right, id uint32) {
	if left < 256 && right < 256 {
		v.pairs[int(packed[8+left])<<8|int(packed[8+right])] = id
	}
	pair := uint64(left)<<idBits | uint64(right)
	hash := hashPair(pair)
	bit := hash >> (64 - maybeBits)
	v.maybe[bit/64] |= 1 << (bit % 64)
	insertEntry(v.merges[:], hash>>(64-mergeBits), pair<<idBits|uint64(id))
}

func (v *vocab) addToken(left, right, id uint32) {
	n := int(v.lengths[left]) + int(v.lengths[right])
	if n <= 8 {
		v.addShort(id, v.words[left]|v.words[right]<<(8*v.lengths[left]), n)
	} else {
		v.addLong(id, left, right, n)
	}
}

// addShort adds a token of n <= 8 bytes.
func (v *vocab) addShort(id uint32, word uint64, n int) {
	v.lengths[id], v.words[id] = uint8(n), word
	if word&(0x80|0x80<<(8*n-8)) != 0 {
		v.addRunes(id)
	}
	key, ok := shortKey(word, n)
	switch {
	case !ok:
		v.indexLong(id)
	case id < common:
		insertEntry(v.common[:], hashKey(key)>>(64-commonBits), key)
	default:
		insertEntry(v.rare[:], hashKey(key)>>(64-rareBits), key)
	}
}

// addLong adds a token of n > 8 bytes.
func (v *vocab) addLong(id, left, right uint32, n int) {
	start := v.used
	v.lengths[id], v.words[id] = uint8(n), uint64(start)
	v.copyToken(v.text[start:], left)
	v.copyToken(v.text[start+int(v.lengths[left]):], right)
	v.used += n
	if v.text[start] >= utf8.RuneSelf || v.text[start+n-1] >= utf8.RuneSelf {
		v.addRunes(id)
	}
	v.indexLong(id)
}

func (v *vocab) indexLong(id uint32) {
	var buf [8]byte
	hash := hashBytes(v.tokenBytes(id, &buf))
	insertEntry(v.long[:], hash>>(64-longBits), hash&^idMask|uint64(id))
}

func insertEntry(table []uint64, slot, entry uint64) {
	for table[slot] != 0 {
		slot = (slot + 1) & uint64(len(table)-1)
	}
	table[slot] = entry
}

// addRunes enters a token in runes and torn, where it belongs there.
func (v *vocab) addRunes(id uint32) {
	var buf [8]byte
	token := v.tokenBytes(id, &buf)
	if utf8.Valid(token) {
		if r, n := utf8.DecodeRune(token); n == 3 && n == len(token) {
			v.runes[r] = id
		}
		return
	}
	for i := 1; i < len(token); i++ {
		if utf8.RuneStart(token[i]) {
			v.torn[uint(token[i-1])<<2|uint(token[i])>>6] |= 1 << (token[i] % 64)
		}
	}
}

// tokenBytes returns the bytes of a token, for which it may use buf.
func (v *vocab) tokenBytes(id uint32, buf *[8]byte) []byte {
	n, word := int(v.lengths[id]), v.words[id]
	if n > 8 {
		return v.text[word : int(word)+n]
	}
	binary.LittleEndian.PutUint64(buf[:], word)
	return buf[:n]
}

// copyToken copies a token to b. It may write up to eight bytes more.
func (v *vocab) copyToken(b []byte, id uint32) {
	if n, word := int(v.lengths[id]), v.words[id]; n > 8 {
		copy(b, v.text[word:int(word)+n])
	} else {
		binary.LittleEndian.PutUint64(b, word)
	}
}

// isTorn tells whether a token may start or end inside one of the characters
// that meet between these two bytes, and reach into the other.
func (v *vocab) isTorn(before, after byte) bool {
	return v.torn[uint(before)<<2|uint(after)>>6]>>(after%64)&1 != 0
}

// mergedToken returns the token that two neighbours merge into, or none.
func (v *vocab) mergedToken(left, right uint32) uint32 {
	pair := uint64(left)<<idBits | uint64(right)
	hash := hashPair(pair)
	if bit := hash >> (64 - maybeBits); v.maybe[bit/64]>>(bit%64)&1 == 0 {
		return none
	}
	for slot := hash >> (64 - mergeBits); ; slot = (slot + 1) % uint64(len(v.merges)) {
		m := v.merges[slot]
		if m>>idBits == pair && m != 0 {
			return uint32(m & idMask)
		}
		if m == 0 {
			return none
		}
	}
}

func hashPair(pair uint64) uint64 { return pair * 0x9E3779B97F4A7C15 }

// shortKey packs up to eight bytes, the first one lowest and zeros above the
// last, so that different tokens have different keys and no key is zero. Eight
// bytes with a control character last could be taken for fewer: not ok.
func shortKey(x uint64, n int) (key uint64, ok bool) {
	if n < 8 {
		return x | uint64(n)<<56, true
	}
	return x, x>>56 >= 8
}

func hashKey(key uint64) uint64 { return (key ^ key>>29) * 0x9E3779B97F4A7C15 }

// isCommon and isRare tell whether a key is in one of the sets.
func (v *vocab) isCommon(key uint64) bool {
	for slot := hashKey(key) >> (64 - commonBits); ; slot = (slot + 1) % uint64(len(v.common)) {
		switch v.common[slot] {
		case key:
			return true
		case 0:
			return false
		}
	}
}

func (v *vocab) isRare(key uint64) bool {
	for slot := hashKey(key) >> (64 - rareBits); ; slot = (slot + 1) % uint64(len(v.rare)) {
		switch v.rare[slot] {
		case key:
			return true
		case 0:
			return false
		}
	}
}

// isLong tells whether p is one of the tokens that are in neither set.
func (v *vocab) isLong(p string) bool {
	if len(p) > longest {
		return false
	}
	hash := hashBytes(p)
	for slot := hash >> (64 - longBits); ; slot = (slot + 1) % uint64(len(v.long)) {
		e := v.long[slot]
		if e == 0 {
			return false
		}
		if id := uint32(e & idMask); (e^hash)&^idMask == 0 && v.tokenIs(id, p) {
			return true
		}
	}
}

// tokenIs tells whether a token is p, which has at least eight bytes.
func (v *vocab) tokenIs(id uint32, p string) bool {
	n, word := int(v.lengths[id]), v.words[id]
	if n <= 8 {
		return n == len(p) && word == load64(p, 0)
	}
	return string(v.text[word:int(word)+n]) == p
}

// hashBytes is a hash of at least eight bytes.
func hashBytes[T string | []byte](p T) uint64 {
	h := uint64(len(p))
	for i := 0; i < len(p)-8; i += 8 {
		h = mixHash(h, load64(p, i))
	}
	return mixHash(h, load64(p, len(p)-8))
}

func mixHash(h, x uint64) uint64 {
	hi, lo := bits.Mul64(h^x^0x9E3779B97F4A7C15, 0xD6E8FEB86659FD93)
	return hi ^ lo
}

// Tokens calls f with the bytes of every token, in the order of their ranks. Some
// begin or end inside a character.
func Tokens(f func(token string)) {
	v := load()
	for id := range uint32(size) {
		var buf [8]byte
		f(string(v.tokenBytes(id, &buf)))
	}
}
