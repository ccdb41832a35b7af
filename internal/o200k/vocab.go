package o200k

import (
	_ "embed"
	"encoding/binary"
	"hash/maphash"
	"math/bits"
	"sync"
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

	// single and pairs are the tokens that merging starts with: of each byte, and of
	// two neighbouring bytes, or none.
	single [256]uint32
	pairs  [1 << 16]uint32

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

var seed = maphash.MakeSeed()

// load returns the vocabulary, which the first call unpacks.
var load = sync.OnceValue(unpackVocab)

func unpackVocab() *vocab {
	if packed[:4] != "o2k1" || uint32(load64(packed, 0)>>32) != size {
		panic("o200k: vocab.bin is not the vocabulary this package was written for: run go generate ./internal/o200k")
	}
	v := &vocab{cache: cache{counts: map[string]int{}}}
	v.classes.fill()
	for i := range v.pairs {
		v.pairs[i] = none
	}
	for id := range uint32(256) {
		b := packed[8+id]
		v.single[b] = id
		v.addShort(id, uint64(b), 1)
	}
	// Half of the work is entering the merges, which needs nothing of the rest.
	var wg sync.WaitGroup
	wg.Go(func() { eachMerge(v.addMerge) })
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
	var buf [8]byte
	copy(v.text[start:], v.tokenBytes(left, &buf))
	copy(v.text[start+int(v.lengths[left]):], v.tokenBytes(right, &buf))
	v.used += n
	v.indexLong(id)
}

func (v *vocab) indexLong(id uint32) {
	var buf [8]byte
	hash := maphash.Bytes(seed, v.tokenBytes(id, &buf))
	insertEntry(v.long[:], hash>>(64-longBits), hash&^idMask|uint64(id))
}

func insertEntry(table []uint64, slot, entry uint64) {
	for table[slot] != 0 {
		slot = (slot + 1) & uint64(len(table)-1)
	}
	table[slot] = entry
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
	return hasKey(v.common[:], hashKey(key)>>(64-commonBits), key)
}

func (v *vocab) isRare(key uint64) bool {
	return hasKey(v.rare[:], hashKey(key)>>(64-rareBits), key)
}

func hasKey(table []uint64, slot, key uint64) bool {
	for table[slot] != key && table[slot] != 0 {
		slot = (slot + 1) & uint64(len(table)-1)
	}
	return table[slot] != 0
}

// isLong tells whether p is one of the tokens that are in neither set.
func (v *vocab) isLong(p string) bool {
	if len(p) > longest {
		return false
	}
	var buf [8]byte
	hash := maphash.String(seed, p)
	for slot := hash >> (64 - longBits); ; slot = (slot + 1) % uint64(len(v.long)) {
		e := v.long[slot]
		if e == 0 {
			return false
		}
		if id := uint32(e & idMask); (e^hash)&^idMask == 0 && string(v.tokenBytes(id, &buf)) == p {
			return true
		}
	}
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
