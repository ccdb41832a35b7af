package chat

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"hash"
	"iter"
	"slices"
	"sync"
	"sync/atomic"
	"unsafe"
)

// Hash identifies content: of one message, or of a history's prefix.
type Hash [sha256.Size]byte

// String returns the hash in hexadecimal.
func (h Hash) String() string { return hex.EncodeToString(h[:]) }

// MarshalText returns the hash in hexadecimal.
func (h Hash) MarshalText() ([]byte, error) { return hex.AppendEncode(nil, h[:]), nil }

// UnmarshalText reads a hash in hexadecimal.
func (h *Hash) UnmarshalText(b []byte) error {
	if hex.DecodedLen(len(b)) != len(h) {
		return fmt.Errorf("chat: a hash has %d hexadecimal digits, not %d", 2*len(h), len(b))
	}
	_, err := hex.Decode(h[:], b)
	return err
}

// History is the messages of one conversation, oldest first. The zero value is
// an empty history. A history never changes; copies are cheap and share memory.
type History struct {
	msgs    []Message
	digests []Hash
	chains  []Hash // of every whole run of stride messages
	own     *owner
}

// stride is for how many messages a history holds one chain. The others are computed:
// a million small messages would take 24 MB more for theirs.
const stride = 4

// owner says how much of a backing array is taken, so that of two histories
// that grow from one prefix only the first grows in place. So all histories with
// one owner and one length have the same messages, and the owner keeps the outline
// that it returned last for the next caller.
type owner struct {
	taken   atomic.Int64
	outline atomic.Pointer[Outline]
}

// NewHistory returns a history of these messages. The caller must not change
// them, or anything they refer to, afterwards.
func NewHistory(msgs ...Message) History { return History{}.appendAll(msgs) }

// OwnHistory is [NewHistory] of a slice that belongs to the history from now on:
// the messages of a long conversation are not there twice while it is made.
func OwnHistory(msgs []Message) History {
	n := len(msgs)
	h := History{own: &owner{}, msgs: msgs[:n:n], digests: make([]Hash, n), chains: make([]Hash, n/stride)}
	h.own.taken.Store(int64(n))
	h.link(0)
	return h
}

// Append returns the history with messages added at its end. The receiver
// stays as it is, and both may be appended to again.
func (h History) Append(msgs ...Message) History {
	if len(msgs) == 0 {
		return h
	}
	return h.appendAll(msgs)
}

func (h History) appendAll(msgs []Message) History {
	n, m := len(h.msgs), len(h.msgs)+len(msgs)
	next := History{own: h.own}
	if h.own == nil || m > cap(h.msgs) || m > cap(h.digests) || !h.own.taken.CompareAndSwap(int64(n), int64(m)) {
		room := m
		if n > 0 {
			room = max(n+n/8+8, m) // twice as much would stay empty in most conversations
		}
		next.own = &owner{}
		next.own.taken.Store(int64(m))
		next.msgs = append(make([]Message, 0, room), h.msgs...)
		next.digests = append(make([]Hash, 0, room), h.digests...)
		next.chains = append(make([]Hash, 0, room/stride), h.chains...)
	} else {
		next.msgs, next.digests, next.chains = h.msgs, h.digests, h.chains
	}
	next.msgs, next.digests, next.chains = append(next.msgs, msgs...), next.digests[:m], next.chains[:m/stride]
	next.link(n)
	return next
}

// link digests the messages from n on.
func (h History) link(n int) {
	for i := n; i < len(h.msgs); i++ {
		h.msgs[i].Parts = boundDepth(h.msgs[i].Parts, 0)
	}
	digestAll(h.msgs[n:], h.digests[n:])
	for k := n / stride; k < len(h.chains); k++ {
		h.chains[k] = h.linkFrom(k, (k+1)*stride)
	}
}

// maxDepth is how many levels of content a part may have.
const maxDepth = 16

// boundDepth returns parts without what stands deeper in their content than
// maxDepth, so that nobody who reads a history goes deeper. The caller's parts
// stay as they are.
func boundDepth(parts []Part, depth int) []Part {
	if depth > maxDepth {
		return nil
	}
	own := false
	for i := range parts {
		if len(parts[i].Content) == 0 {
			continue
		}
		in := boundDepth(parts[i].Content, depth+1)
		if len(in) == len(parts[i].Content) && &in[0] == &parts[i].Content[0] {
			continue
		}
		if !own {
			parts, own = slices.Clone(parts), true
		}
		parts[i].Content = in
	}
	return parts
}

// digestAll digests messages, on two goroutines when there is enough to do.
func digestAll(msgs []Message, out []Hash) {
	const few = 512
	run := func(from, to int) {
		d := newDigester()
		for i := from; i < to; i++ {
			out[i] = d.digestMessage(&msgs[i])
		}
	}
	if len(msgs) < few {
		run(0, len(msgs))
		return
	}
	var wg sync.WaitGroup
	half := len(msgs) / 2
	wg.Go(func() { run(0, half) })
	run(half, len(msgs))
	wg.Wait()
}

// Len returns the number of messages.
func (h History) Len() int { return len(h.msgs) }

// At returns message i, which must not be changed.
func (h History) At(i int) *Message { return &h.msgs[i] }

// Messages returns a copy of the messages.
func (h History) Messages() []Message { return append([]Message(nil), h.msgs...) }

// All ranges over the messages, which must not be changed.
func (h History) All() iter.Seq2[int, *Message] {
	return func(yield func(int, *Message) bool) {
		for i := range h.msgs {
			if !yield(i, &h.msgs[i]) {
				return
			}
		}
	}
}

// Head returns the history of the first n messages.
func (h History) Head(n int) History {
	return History{msgs: h.msgs[:n], digests: h.digests[:n], chains: h.chains[:n/stride], own: h.own}
}

// Digest returns the hash of message i's content.
func (h History) Digest(i int) Hash { return h.digests[i] }

// Chain returns the hash of the first n messages; Chain(0) is the zero hash.
func (h History) Chain(n int) Hash {
	if n > 0 && n%stride == 0 {
		return h.chains[n/stride-1]
	}
	return h.linkFrom(n/stride, n)
}

// linkFrom computes the hash of the first n messages from the first k chains.
func (h History) linkFrom(k, n int) (chain Hash) {
	if k > 0 {
		chain = h.chains[k-1]
	}
	for i := k * stride; i < n; i++ {
		chain = linkHash(chain, h.digests[i])
	}
	return chain
}

// StartsWith reports whether the first n messages have that hash.
func (h History) StartsWith(n int, chain Hash) bool {
	return n <= h.Len() && h.Chain(n) == chain
}

// Digest returns the hash of the message's content: role and parts. Where a
// message came from (its id, time, model and usage) is left out.
func (m *Message) Digest() Hash { return newDigester().digestMessage(m) }

func linkHash(prev, digest Hash) Hash {
	var b [2 * sha256.Size]byte
	copy(b[:], prev[:])
	copy(b[sha256.Size:], digest[:])
	return sha256.Sum256(b[:])
}

// digester hashes messages. Small fields are gathered in buf, large ones are
// handed to the hash where they lie.
type digester struct {
	h   hash.Hash
	buf []byte
}

func newDigester() *digester {
	return &digester{h: sha256.New(), buf: make([]byte, 0, 2048)}
}

func (d *digester) digestMessage(m *Message) (out Hash) {
	d.h.Reset()
	d.buf = d.buf[:0]
	d.digestString(string(m.Role))
	synthetic := byte(0) // always a byte, or a message could pass for another
	if m.Synthetic {
		synthetic = 1
	}
	d.buf = append(d.buf, synthetic)
	d.digestParts(m.Parts)
	d.h.Write(d.buf)
	d.buf = d.h.Sum(d.buf[:0])
	copy(out[:], d.buf)
	return out
}

func (d *digester) digestParts(parts []Part) {
	d.buf = binary.AppendUvarint(d.buf, uint64(len(parts)))
	for i := range parts {
		p := &parts[i]
		flags := byte(p.Kind) << 1
		if p.Failed {
			flags |= 1
		}
		d.buf = append(d.buf, flags)
		for _, s := range [...]string{p.Text, p.ID, p.Name, p.Args, p.Media, p.Data, p.Signature} {
			d.digestString(s)
		}
		d.digestParts(p.Content)
	}
}

func (d *digester) digestString(s string) {
	d.buf = binary.AppendUvarint(d.buf, uint64(len(s)))
	if len(s) <= cap(d.buf)-len(d.buf)-binary.MaxVarintLen64 {
		d.buf = append(d.buf, s...)
		return
	}
	d.h.Write(d.buf)
	d.buf = d.buf[:0]
	if len(s) < 1024 {
		d.buf = append(d.buf, s...)
		return
	}
	d.h.Write(unsafe.Slice(unsafe.StringData(s), len(s)))
}
