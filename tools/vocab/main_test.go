package main

import (
	"bytes"
	"encoding/binary"
	"math/bits"
	"os"
	"testing"
)

// The committed file must be what the generator makes, byte for byte.
func TestCommittedFileIsReproducible(t *testing.T) {
	tokens, err := readTokens()
	if err != nil {
		t.Fatal(err)
	}
	first, err := packTokens(tokens)
	if err != nil {
		t.Fatal(err)
	}
	second, err := packTokens(tokens)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(first, second) {
		t.Error("two runs gave different bytes")
	}
	committed, err := os.ReadFile("../../internal/o200k/vocab.bin")
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(first, committed) {
		t.Error("internal/o200k/vocab.bin is not what the generator makes: run go generate ./internal/o200k")
	}
}

// Reading the file back, bit by bit, gives the published list.
func TestPackedFileHoldsTheVocabulary(t *testing.T) {
	tokens, err := readTokens()
	if err != nil {
		t.Fatal(err)
	}
	packed, err := packTokens(tokens)
	if err != nil {
		t.Fatal(err)
	}
	if n := binary.LittleEndian.Uint32(packed[4:]); int(n) != len(tokens) {
		t.Fatalf("the header says %d tokens, the vocabulary has %d", n, len(tokens))
	}
	stream, bit := packed[8+256:], 0
	get := func(width int) (v int) {
		for i := range width {
			v |= int(stream[bit/8]>>(bit%8)&1) << i
			bit++
		}
		return v
	}
	for rank, want := range tokens {
		got := ""
		if rank < 256 {
			got = string(packed[8+rank : 9+rank])
		} else {
			width := bits.Len(uint(rank - 1))
			left, right := get(width), get(width)
			got = tokens[left] + tokens[right]
		}
		if got != want {
			t.Fatalf("token %d reads back as %q, not %q", rank, got, want)
		}
	}
}

func TestPackRefusesWhatItCannotHold(t *testing.T) {
	bytesOnly := make([]string, 256)
	for i := range bytesOnly {
		bytesOnly[i] = string([]byte{byte(i)})
	}
	with := func(more ...string) []string { return append(bytesOnly[:256:256], more...) }
	for name, tokens := range map[string][]string{
		"too few":       {"a"},
		"twice":         with("ab", "ab"),
		"not reachable": with("abc"),
		"late part":     with("abc", "ab"),
		"bytes later":   append([]string{"zz"}, bytesOnly...),
	} {
		if _, err := packTokens(tokens); err == nil {
			t.Errorf("%s: packed without an error", name)
		}
	}
	if _, err := packTokens(with("ab", "abc")); err != nil {
		t.Errorf("a proper vocabulary was refused: %v", err)
	}
}
