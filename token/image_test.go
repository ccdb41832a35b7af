package token_test

import (
	"bytes"
	"encoding/base64"
	"image"
	"image/color"
	"image/gif"
	"image/jpeg"
	"image/png"
	"testing"

	"github.com/winnow-llm/winnow/chat"
	"github.com/winnow-llm/winnow/token"
)

// TestPictures: a picture costs what its provider charges for its width and height,
// which stand in its header, and a fixed number where they are not known.
func TestPictures(t *testing.T) {
	webp := append([]byte("RIFF\x00\x00\x00\x00WEBPVP8X\x0a\x00\x00\x00\x00\x00\x00\x00"), 0xe7, 3, 0, 0xe7, 3, 0)
	file := func(kind string, w, h int) string {
		var b bytes.Buffer
		m := image.NewPaletted(image.Rect(0, 0, w, h), color.Palette{color.Black, color.White})
		var err error
		switch kind {
		case "png":
			err = png.Encode(&b, m)
		case "jpeg":
			err = jpeg.Encode(&b, m, nil)
		case "gif":
			err = gif.Encode(&b, m, nil)
		case "webp":
			b.Write(webp)
		}
		if err != nil {
			t.Fatal(err)
		}
		return base64.StdEncoding.EncodeToString(b.Bytes())
	}
	for _, c := range []struct {
		family token.Family
		data   string
		want   int
	}{
		{token.Claude, file("png", 64, 64), 6},
		{token.Claude, "data:image/jpeg;base64," + file("jpeg", 1000, 1000), 1334},
		{token.Claude5, file("gif", 2000, 1500), 4001},
		{token.Claude, file("webp", 0, 0), 1334},
		{token.Claude, file("png", 4000, 3000), 1771},
		{token.O200K, file("png", 1024, 1024), 85 + 4*170},
		{token.O200K, file("png", 32, 32), 85 + 170},
		{token.Gemma3, file("png", 32, 32), 1120},
		{token.Claude, "https://example.org/a.png", 1024},
		{token.Claude, "aGk=", 1024},
	} {
		if got := token.New(c.family, nil).Part(&chat.Part{Kind: chat.Image, Data: c.data}); got != c.want {
			t.Errorf("%s: %d tokens, want %d (%.30s)", c.family, got, c.want, c.data)
		}
	}
}
