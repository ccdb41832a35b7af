// Package pack makes conversations small enough to keep: they repeat themselves.
package pack

import "github.com/klauspost/compress/zstd"

// Pack returns a body, packed.
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
