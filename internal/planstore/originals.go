package planstore

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/klauspost/compress/zstd"

	"github.com/winnow-llm/winnow/chat"
)

// Original is a conversation as it was sent: what plans hide is in it.
type Original struct {
	// Len and Prefix are the messages that it holds.
	Len    int
	Prefix chat.Hash

	// Dialect and Model are those of the request, Body is the request itself.
	Dialect, Model string
	Body           []byte
}

// MaxOriginals bounds what one [Store.Originals] returns.
const MaxOriginals = 16

// keptOriginal is a conversation in memory, packed.
type keptOriginal struct {
	key  Key
	used time.Time
	Original
}

// PutOriginal implements [Store].
func (m *Memory) PutOriginal(_ context.Context, k Key, o Original, before chat.Hash) error {
	body, err := Pack(o.Body)
	if err != nil {
		return fmt.Errorf("planstore: cannot keep a conversation: %w", err)
	}
	if int64(len(body)) > m.bounds.Originals {
		return nil
	}
	o.Body = body
	m.mu.Lock()
	defer m.mu.Unlock()
	now := m.bounds.Now()
	m.originals = slices.DeleteFunc(m.originals, func(x keptOriginal) bool {
		return x.key == k && (x.Prefix == o.Prefix || x.Prefix == before) || now.Sub(x.used) > m.bounds.Age
	})
	m.originals = append(m.originals, keptOriginal{k, now, o})
	var total int64
	for i := len(m.originals) - 1; i >= 0; i-- { // newest last
		if total += int64(len(m.originals[i].Body)); total > m.bounds.Originals {
			m.originals = slices.Delete(m.originals, 0, i+1)
			break
		}
	}
	return nil
}

// Originals implements [Store].
func (m *Memory) Originals(_ context.Context, k Key, atLeast int) ([]Original, error) {
	m.mu.Lock()
	var out []Original
	for i := len(m.originals) - 1; i >= 0; i-- {
		if x := m.originals[i]; x.key == k && x.Len >= atLeast && m.bounds.Now().Sub(x.used) <= m.bounds.Age {
			x.Body = bytes.Clone(x.Body)
			out = append(out, x.Original)
		}
	}
	m.mu.Unlock()
	slices.SortStableFunc(out, func(a, b Original) int { return a.Len - b.Len })
	out = out[:min(len(out), MaxOriginals)]
	for i := range out {
		var err error
		if out[i].Body, err = Unpack(out[i].Body); err != nil {
			return nil, fmt.Errorf("planstore: cannot read conversations: %w", err)
		}
	}
	return out, nil
}

// Pack returns a body, packed: conversations repeat themselves.
func Pack(body []byte) ([]byte, error) {
	w, err := zstd.NewWriter(nil, zstd.WithEncoderConcurrency(1))
	if err != nil {
		return nil, err
	}
	defer w.Close()
	return w.EncodeAll(body, nil), nil
}

// maxUnpacked is the largest body that is read back.
const maxUnpacked = 256 << 20

// Unpack returns what [Pack] was given. The error says that it is damaged, or
// too large.
func Unpack(packed []byte) ([]byte, error) {
	r, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxMemory(maxUnpacked))
	if err != nil {
		return nil, err
	}
	defer r.Close()
	return r.DecodeAll(packed, nil)
}
