package providersim

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"strings"
)

// signer makes and checks the opaque strings that providers hand out with
// thinking: Anthropic's signatures, OpenAI's encrypted reasoning, Gemini's
// thought signatures. They are keyed by the seed, so that servers with one seed
// accept each other's and refuse all others.
type signer struct {
	key  [sha256.Size]byte
	mark string // what the own strings start with
}

// Purposes keep one kind of signature from passing as another.
const (
	forText   = "thinking text"
	forPrefix = "thinking prefix"
	forOpaque = "opaque"
	forMark   = "mark"
)

func newSigner(seed uint64) *signer {
	var b [8]byte
	binary.BigEndian.PutUint64(b[:], seed)
	s := &signer{key: sha256.Sum256(append([]byte("providersim "), b[:]...))}
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

// sealHalves returns the bytes of a string of two halves that this server hands out.
func (s *signer) sealHalves(first, second []byte) []byte {
	return append(append([]byte(s.mark), first...), second...)
}

// splitHalves takes such bytes apart. It is false for those of others.
func (s *signer) splitHalves(b []byte, err error) (first, second []byte, own bool) {
	if err != nil || len(b) != len(s.mark)+32 || string(b[:len(s.mark)]) != s.mark {
		return nil, nil, false
	}
	b = b[len(s.mark):]
	return b[:16], b[16:], true
}

// signThinking signs a block of thinking that was written after a prefix.
func (s *signer) signThinking(text []byte, prefix digest) string {
	return base64.StdEncoding.EncodeToString(s.sealHalves(s.mac(forText, text), s.mac(forPrefix, text, prefix[:])))
}

// verdict is what a signature is worth.
type verdict int

const (
	sound   verdict = iota
	altered         // changed since it was signed, or signed by somebody else
	moved           // signed, but for another prefix
)

// checkThinking judges a block that stands after prefix. Where bound is false, only
// the block itself must be whole.
func (s *signer) checkThinking(sig string, text []byte, prefix digest, bound bool) verdict {
	first, second, own := s.splitHalves(base64.StdEncoding.DecodeString(sig))
	if !own || !hmac.Equal(first, s.mac(forText, text)) {
		return altered
	}
	if bound && !hmac.Equal(second, s.mac(forPrefix, text, prefix[:])) {
		return moved
	}
	return sound
}

// encryptedPrefix is how OpenAI's encrypted strings start.
const encryptedPrefix = "gAAAA"

// opaqueToken makes a string that only this server can check. The nonce says what it
// belongs to.
func (s *signer) opaqueToken(nonce []byte) []byte {
	n := sha256.Sum256(nonce)
	return s.sealHalves(n[:16], s.mac(forOpaque, n[:16]))
}

func (s *signer) encryptedToken(nonce []byte) string {
	return encryptedPrefix + base64.RawURLEncoding.EncodeToString(s.opaqueToken(nonce))
}

func (s *signer) thoughtSignature(nonce []byte) string {
	return base64.StdEncoding.EncodeToString(s.opaqueToken(nonce))
}

func (s *signer) checkOpaque(b []byte, err error) bool {
	first, second, own := s.splitHalves(b, err)
	return own && hmac.Equal(second, s.mac(forOpaque, first))
}

// checkEncrypted tells whether this server made the string.
func (s *signer) checkEncrypted(text string) bool {
	rest, ok := strings.CutPrefix(text, encryptedPrefix)
	return ok && s.checkOpaque(base64.RawURLEncoding.DecodeString(rest))
}

func (s *signer) checkThought(text string) bool {
	b, err := base64.StdEncoding.DecodeString(text)
	if err != nil {
		b, err = base64.RawURLEncoding.DecodeString(strings.TrimRight(text, "="))
	}
	return s.checkOpaque(b, err)
}
