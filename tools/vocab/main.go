// Command vocab packs the o200k vocabulary into the file that package
// internal/o200k embeds. Run it through `go generate ./internal/o200k`.
//
// The published vocabulary lists 199,998 byte strings by rank. Byte-pair
// encoding reaches every one of them by a last merge of two tokens with lower
// ranks, so a token can be written down as those two ranks instead of as its
// bytes. That is smaller than the deflated list of byte strings, needs no
// inflating, and hands the reader the merge table that it would otherwise have
// to compute. The command refuses a vocabulary for which this does not hold.
//
// The file is: "o2k1"; the number of tokens as a little-endian uint32; the 256
// bytes that tokens 0 to 255 stand for; then, for every further token, the
// ranks of its left and right half, each as bits.Len(rank-1) bits, least
// significant bit first, in one continuous stream; then zeros, at least eight
// bytes of them, so that a reader may always load a whole word.
package main

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"flag"
	"fmt"
	"math/bits"
	"os"
	"strconv"
	"strings"

	"github.com/pkoukk/tiktoken-go-loader/assets"
)

const (
	source = "o200k_base.tiktoken"

	// published is the SHA-256 of the vocabulary as its authors publish it.
	published = "446a9538cb6c348e3516120d7c08b09f57c36495e2acfffe59a5bf8b0cfb1a2d"
)

func main() {
	out := flag.String("o", "", "the `file` to write")
	flag.Parse()
	if err := run(*out); err != nil {
		fmt.Fprintln(os.Stderr, "vocab:", err)
		os.Exit(1)
	}
}

func run(out string) error {
	if out == "" {
		return errors.New("no output file: name one with -o")
	}
	tokens, err := readTokens()
	if err != nil {
		return err
	}
	packed, err := packTokens(tokens)
	if err != nil {
		return err
	}
	return os.WriteFile(out, packed, 0o644)
}

// readTokens returns the tokens of the published vocabulary by rank.
func readTokens() ([]string, error) {
	text, err := assets.Assets.ReadFile(source)
	if err != nil {
		return nil, err
	}
	if sum := sha256.Sum256(text); hex.EncodeToString(sum[:]) != published {
		return nil, fmt.Errorf("%s has SHA-256 %x, not the published %s: check the version of the loader module", source, sum, published)
	}
	var tokens []string
	for line := range strings.Lines(string(text)) {
		word, rank, ok := strings.Cut(strings.TrimSuffix(line, "\n"), " ")
		if !ok {
			return nil, fmt.Errorf("%s: line %d is not a token and its rank", source, len(tokens)+1)
		}
		token, err := base64.StdEncoding.DecodeString(word)
		if err != nil {
			return nil, fmt.Errorf("%s: line %d: %w", source, len(tokens)+1, err)
		}
		if n, err := strconv.Atoi(rank); err != nil || n != len(tokens) {
			return nil, fmt.Errorf("%s: line %d has rank %s: ranks must count up from 0", source, len(tokens)+1, rank)
		}
		tokens = append(tokens, string(token))
	}
	return tokens, nil
}

// packTokens writes the vocabulary in the form that the package comment describes.
func packTokens(tokens []string) ([]byte, error) {
	ranks := make(map[string]int, len(tokens))
	for rank, token := range tokens {
		ranks[token] = rank
	}
	if len(tokens) < 256 || len(ranks) != len(tokens) {
		return nil, fmt.Errorf("%d tokens, %d different: want all different and one for every byte", len(tokens), len(ranks))
	}
	var b bytes.Buffer
	b.WriteString("o2k1")
	b.Write(binary.LittleEndian.AppendUint32(nil, uint32(len(tokens))))
	for rank, token := range tokens[:256] {
		if len(token) != 1 {
			return nil, fmt.Errorf("token %d is %q: the first 256 must be single bytes", rank, token)
		}
		b.WriteString(token)
	}
	var acc uint64
	var held int
	put := func(v, width int) {
		acc |= uint64(v) << held
		for held += width; held >= 8; held -= 8 {
			b.WriteByte(byte(acc))
			acc >>= 8
		}
	}
	for rank, token := range tokens[256:] {
		rank += 256
		left, right, err := lastMerge(token, rank, ranks)
		if err != nil {
			return nil, err
		}
		width := bits.Len(uint(rank - 1))
		put(left, width)
		put(right, width)
	}
	put(0, 8+64)
	return b.Bytes(), nil
}

// lastMerge encodes a token's bytes until two tokens are left and returns
// their ranks.
func lastMerge(token string, rank int, ranks map[string]int) (left, right int, err error) {
	parts := make([]string, len(token))
	for i := range parts {
		parts[i] = token[i : i+1]
	}
	if len(parts) < 2 {
		return 0, 0, fmt.Errorf("token %d, %q, is a single byte: those must come first", rank, token)
	}
	for len(parts) > 2 {
		best, at := rank, -1
		for i := range len(parts) - 1 {
			if r, ok := ranks[parts[i]+parts[i+1]]; ok && r < best {
				best, at = r, i
			}
		}
		if at < 0 {
			return 0, 0, fmt.Errorf("token %d, %q, cannot be reached by merging: this format cannot hold it", rank, token)
		}
		parts[at] += parts[at+1]
		parts = append(parts[:at+1], parts[at+2:]...)
	}
	left, right = ranks[parts[0]], ranks[parts[1]]
	if left >= rank || right >= rank {
		return 0, 0, fmt.Errorf("token %d, %q, is made of %d and %d: parts must have lower ranks", rank, token, left, right)
	}
	return left, right, nil
}
