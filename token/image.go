package token

import (
	"bytes"
	"encoding/binary"
	"image"
	"image/gif"
	"image/jpeg"
	"image/png"
	"io"

	"github.com/winnow-llm/winnow/chat"
)

// Pictures. Providers charge for what a picture measures, not for its bytes: an icon
// costs a few tokens, a screenshot some thousand. The measure stands in the file's
// header.

// imageTokens returns the tokens of an image: by its size where the header is in the
// request, else a fixed number.
func (c *Counter) imageTokens(p *chat.Part) int {
	_, data, elsewhere := fileData(p)
	if elsewhere {
		return unknownMedia
	}
	w, h := imageSize(base64Reader(data[:min(len(data), mostHeader*4/3)]))
	if w <= 0 || h <= 0 {
		return unknownMedia
	}
	return c.profile.pictureTokens(float64(w), float64(h))
}

// pictureTokens returns what a picture of w times h points costs, as far as providers say.
func (p *profile) pictureTokens(w, h float64) int {
	switch long, short := max(w, h), min(w, h); {
	case p.tile > 0: // OpenAI: fits into 2048, the short side into 768, then tiles of 512
		shrink := min(1, 2048/long)
		shrink *= min(1, 768/(shrink*short))
		tiles := (int(shrink*long+511) / 512) * (int(shrink*short+511) / 512)
		return p.tile/2 + p.tile*max(tiles, 1)
	case p.image > 0: // Gemini: one price
		return p.image
	default: // Claude: a token for 750 points, shrunk to fit
		shrink := min(1, p.side/long)
		return min(int(shrink*w*shrink*h/750)+1, int(p.side*p.side/750/1.85))
	}
}

// mostHeader is how many bytes are looked through for the size: photographs have
// some ten thousand of notes before it.
const mostHeader = 192 << 10

// imageSize reads the size of a PNG, JPEG, GIF or WebP picture; 0 is unknown.
func imageSize(r io.Reader) (w, h int) {
	head := make([]byte, 30)
	n, err := io.ReadFull(r, head)
	if err != nil && n < 24 {
		return 0, 0
	}
	head = head[:n]
	all := io.LimitReader(io.MultiReader(bytes.NewReader(head), r), mostHeader)
	var size image.Config
	switch {
	case bytes.HasPrefix(head, []byte("\x89PNG")):
		size, err = png.DecodeConfig(all)
	case bytes.HasPrefix(head, []byte("\xff\xd8")):
		size, err = jpeg.DecodeConfig(all)
	case bytes.HasPrefix(head, []byte("GIF8")):
		size, err = gif.DecodeConfig(all)
	case bytes.HasPrefix(head, []byte("RIFF")) && n == len(head) && n >= 30 && string(head[8:12]) == "WEBP":
		return webpSize(head)
	default:
		return 0, 0
	}
	if err != nil {
		return 0, 0
	}
	return size.Width, size.Height
}

// webpSize reads the size from the three kinds of headers that WebP has.
func webpSize(b []byte) (w, h int) {
	le := binary.LittleEndian
	switch string(b[12:16]) {
	case "VP8X":
		return 1 + int(b[24]) + int(b[25])<<8 + int(b[26])<<16, 1 + int(b[27]) + int(b[28])<<8 + int(b[29])<<16
	case "VP8L":
		bits := le.Uint32(b[21:])
		return 1 + int(bits&0x3fff), 1 + int(bits>>14&0x3fff)
	case "VP8 ":
		return int(le.Uint16(b[26:]) & 0x3fff), int(le.Uint16(b[28:]) & 0x3fff)
	}
	return 0, 0
}
