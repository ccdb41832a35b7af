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
type signer struct{ key [sha256.Size]byte }

// Purposes keep one kind of signature from passing as another.
const (
	forText   = "thinking text"
	forPrefix = "thinking prefix"
	forOpaque = "opaque"
)

func newSigner(seed uint64) *signer {
	return &signer{sha256.Sum256(binary.BigEndian.AppendUint64([]byte("providersim "), seed))}
}

func (s *signer) mac(purpose string, parts ...[]byte) []byte {
	h := hmac.New(sha256.New, s.key[:])
	h.Write([]byte(purpose))
	for _, p := range parts {
		h.Write(binary.BigEndian.AppendUint64(nil, uint64(len(p))))
		h.Write(p)
	}
	return h.Sum(nil)[:half]
}

// half is the length of the two halves that each string has, in bytes.
const half = 16

// splitHalves takes the bytes of such a string apart.
func splitHalves(b []byte, err error) (first, second []byte, ok bool) {
	if err != nil || len(b) != 2*half {
		return nil, nil, false
	}
	return b[:half], b[half:], true
}

// signThinking signs a block of thinking that was written after a prefix.
func (s *signer) signThinking(text []byte, prefix digest) string {
	return base64.StdEncoding.EncodeToString(append(s.mac(forText, text), s.mac(forPrefix, text, prefix[:])...))
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
	first, second, ok := splitHalves(base64.StdEncoding.DecodeString(sig))
	if !ok || !hmac.Equal(first, s.mac(forText, text)) {
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
	return append(n[:half:half], s.mac(forOpaque, n[:half])...)
}

func (s *signer) encryptedToken(nonce []byte) string {
	return encryptedPrefix + base64.RawURLEncoding.EncodeToString(s.opaqueToken(nonce))
}

func (s *signer) thoughtSignature(nonce []byte) string {
	return base64.StdEncoding.EncodeToString(s.opaqueToken(nonce))
}

func (s *signer) checkOpaque(b []byte, err error) bool {
	first, second, ok := splitHalves(b, err)
	return ok && hmac.Equal(second, s.mac(forOpaque, first))
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
