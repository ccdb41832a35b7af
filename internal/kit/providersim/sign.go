package providersim

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"strings"
	"sync"
)

// signer makes and checks the opaque strings that providers hand out with
// thinking: Anthropic's signatures, OpenAI's encrypted reasoning, Gemini's
// thought signatures. They are keyed by the seed, so that servers with one seed
// accept each other's and refuse all others.
type signer struct {
	key  [sha256.Size]byte
	mark string // what the own strings start with

	foreign Foreign
	mu      sync.Mutex
	adopted *bounded[[16]byte] // foreign signature and content -> its prefix
	known   *bounded[digest]   // prompts that were accepted
}

// Purposes keep one kind of signature from passing as another.
const (
	forText    = "thinking text"
	forPrefix  = "thinking prefix"
	forOpaque  = "opaque"
	forSummary = "compaction"
	forMark    = "mark"
)

func newSigner(seed uint64, foreign Foreign) *signer {
	var b [8]byte
	binary.BigEndian.PutUint64(b[:], seed)
	s := &signer{
		key:     sha256.Sum256(append([]byte("providersim "), b[:]...)),
		foreign: foreign,
		adopted: newBounded[[16]byte](1 << 16),
		known:   newBounded[digest](1 << 16),
	}
	s.mark = string(s.mac(forMark)[:6])
	return s
}

func (s *signer) mac(purpose string, parts ...[]byte) []byte {
	h := hmac.New(sha256.New, s.key[:])
	h.Write([]byte(purpose))
	for _, p := range parts {
		var n [8]byte
		binary.BigEndian.PutUint64(n[:], uint64(len(p)))
		h.Write(n[:])
		h.Write(p)
	}
	return h.Sum(nil)[:16]
}

// thinking signs a block of thinking that was written after a prefix.
func (s *signer) thinking(text []byte, prefix digest) string {
	b := append([]byte(s.mark), s.mac(forText, text)...)
	b = append(b, s.mac(forPrefix, text, prefix[:])...)
	return base64.StdEncoding.EncodeToString(b)
}

// verdict is what a signature is worth.
type verdict int

const (
	sound   verdict = iota
	altered         // not what was signed, or signed by somebody else
	moved           // signed, but for another prefix
)

// checkThinking judges a block that stands after prefix, in an answer that
// starts after start. Where bound is false, only the block itself must be whole.
func (s *signer) checkThinking(sig string, text []byte, prefix, start digest, bound bool) verdict {
	b, err := base64.StdEncoding.DecodeString(sig)
	if err != nil || len(b) != len(s.mark)+32 || string(b[:len(s.mark)]) != s.mark {
		return s.checkForeign(sig, text, prefix, start, bound)
	}
	b = b[len(s.mark):]
	if !hmac.Equal(b[:16], s.mac(forText, text)) {
		return altered
	}
	if bound && !hmac.Equal(b[16:], s.mac(forPrefix, text, prefix[:])) {
		return moved
	}
	return sound
}

func (s *signer) checkForeign(sig string, text []byte, prefix, start digest, bound bool) verdict {
	if sig == "" {
		return altered
	}
	switch s.foreign {
	case ForeignAdopt:
		k := [16]byte(s.mac(forText, []byte(sig), text))
		s.mu.Lock()
		defer s.mu.Unlock()
		if was, ok := s.adopted.get(k); ok {
			if bound && was != prefix {
				return moved
			}
			return sound
		}
		s.adopted.put(k, prefix)
		return sound
	case ForeignFollows:
		if !bound || s.answered(start) {
			return sound
		}
		return moved
	}
	return altered
}

// accept remembers a prompt that gets an answer.
func (s *signer) accept(p digest) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.known.put(p, digest{})
}

func (s *signer) answered(p digest) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	_, ok := s.known.get(p)
	return ok
}

// encryptedPrefix is how OpenAI's encrypted strings start.
const encryptedPrefix = "gAAAA"

// opaque makes a string that only this server can check. The nonce says what it
// belongs to.
func (s *signer) opaque(nonce []byte) []byte {
	n := sha256.Sum256(nonce)
	b := append([]byte(s.mark), n[:16]...)
	return append(b, s.mac(forOpaque, n[:16])...)
}

func (s *signer) encrypted(nonce []byte) string {
	return encryptedPrefix + base64.RawURLEncoding.EncodeToString(s.opaque(nonce))
}

func (s *signer) thought(nonce []byte) string {
	return base64.StdEncoding.EncodeToString(s.opaque(nonce))
}

func (s *signer) checkOpaque(b []byte) bool {
	return len(b) == len(s.mark)+32 && string(b[:len(s.mark)]) == s.mark &&
		hmac.Equal(b[len(s.mark)+16:], s.mac(forOpaque, b[len(s.mark):len(s.mark)+16]))
}

// checkEncrypted tells whether this server made the string, or accepts those of
// others.
func (s *signer) checkEncrypted(text string) bool {
	if s.foreign != ForeignRefuse && text != "" {
		return true
	}
	rest, ok := strings.CutPrefix(text, encryptedPrefix)
	if !ok {
		return false
	}
	b, err := base64.RawURLEncoding.DecodeString(rest)
	return err == nil && s.checkOpaque(b)
}

func (s *signer) checkThought(text string) bool {
	if s.foreign != ForeignRefuse && text != "" {
		return true
	}
	b, err := base64.StdEncoding.DecodeString(text)
	if err != nil {
		b, err = base64.RawURLEncoding.DecodeString(strings.TrimRight(text, "="))
	}
	return err == nil && s.checkOpaque(b)
}

// summary signs the content of a compaction block.
func (s *signer) summary(content []byte) string {
	b := append([]byte(s.mark), s.mac(forSummary)...)
	return base64.StdEncoding.EncodeToString(append(b, s.mac(forSummary, content)...))
}

// checkSummary judges a compaction block's signature: altered is one that this
// server did not make, moved one for another content.
func (s *signer) checkSummary(sig string, content []byte) verdict {
	b, err := base64.StdEncoding.DecodeString(sig)
	if err != nil || len(b) != len(s.mark)+32 || !hmac.Equal(b[len(s.mark):len(s.mark)+16], s.mac(forSummary)) {
		if s.foreign != ForeignRefuse {
			return sound
		}
		return altered
	}
	if !hmac.Equal(b[len(s.mark)+16:], s.mac(forSummary, content)) {
		return moved
	}
	return sound
}

// bounded is a map from K to a digest that forgets its oldest entries.
type bounded[K comparable] struct {
	m    map[K]digest
	ring []K
	next int
	room int
}

func newBounded[K comparable](n int) *bounded[K] {
	return &bounded[K]{m: map[K]digest{}, room: n}
}

func (b *bounded[K]) get(k K) (digest, bool) {
	d, ok := b.m[k]
	return d, ok
}

func (b *bounded[K]) put(k K, d digest) {
	if _, ok := b.m[k]; ok {
		b.m[k] = d
		return
	}
	if len(b.ring) < b.room {
		b.ring = append(b.ring, k)
	} else {
		delete(b.m, b.ring[b.next])
		b.ring[b.next] = k
		b.next = (b.next + 1) % b.room
	}
	b.m[k] = d
}
