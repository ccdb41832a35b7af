package token

import (
	"encoding/base64"
	"fmt"
	"strings"
	"testing"

	"github.com/winnow-llm/winnow/chat"
	"github.com/winnow-llm/winnow/internal/kit/race"
)

func file(media, data string) *chat.Part {
	return &chat.Part{Kind: chat.Document, Media: media, Data: data}
}

// A file of text costs its text, however it comes.
func TestTextFilesCountAsText(t *testing.T) {
	c := New(O200K, nil)
	for name, text := range map[string]string{
		"small": "key: value\n", "code": mixedText(300_000), "one line": strings.Repeat("word ", 60_000),
		"Chinese": strings.Repeat("服务器因为磁盘已满而重新启动。", 5000), "Ethiopic": strings.Repeat("ሰላም ለዓለም ", 9000),
	} {
		std, url := base64.StdEncoding.EncodeToString([]byte(text)), base64.RawURLEncoding.EncodeToString([]byte(text))
		var mime strings.Builder
		for rest := std; rest != ""; rest = rest[min(76, len(rest)):] {
			mime.WriteString(rest[:min(76, len(rest))] + "\r\n")
		}
		want := c.Text(text)
		for what, p := range map[string]*chat.Part{
			"plain": file("text/plain", std), "charset": file("Text/Plain; charset=utf-8", std), "json": file("application/json", std),
			"yaml": file("application/x-yaml", std), "svg": file("image/svg+xml", std), "url alphabet": file("text/csv", url),
			"in lines": file("text/x-go", mime.String()), "data URL": file("", "data:text/plain;base64,"+std), "not encoded": file("text/plain", text),
			"known text": {Kind: chat.Document, Media: "text/plain", Text: text},
		} {
			if got := c.Part(p); got < want*99/100-1 || got > want*101/100+1 {
				t.Errorf("%s, %s: %d tokens, want %d", name, what, got, want)
			}
		}
		if name == "small" {
			continue
		}
		for what, p := range map[string]*chat.Part{"no type": file("", std), "bytes": file("application/octet-stream", std)} {
			if got := c.Part(p); got < want*99/100-1 || got > want*101/100+1 {
				t.Errorf("%s, %s: %d tokens, want %d", name, what, got, want)
			}
		}
		damaged := std[:len(std)/2] + "!" + std[len(std)/2+1:]
		if got := c.Part(file("text/plain", damaged)); got < want*9/10 {
			t.Errorf("%s, damaged: %d tokens, want about %d", name, got, want)
		}
	}
}

// What is not text keeps its fixed cost.
func TestOtherFilesHaveAFixedCost(t *testing.T) {
	c := New(O200K, nil)
	zip := base64.StdEncoding.EncodeToString([]byte("PK\x03\x04" + strings.Repeat("\x00\xff\x17", 50_000)))
	for name, p := range map[string]*chat.Part{
		"zip": file("application/zip", zip), "no type": file("", zip), "audio": file("audio/wav", zip), "nothing": file("", ""),
		"a name": file("", "file-abc123DEF456"), "an address": file("text/plain", "https://example.com/notes.txt"), "a bucket": file("text/csv", "gs://bucket/a.csv"),
	} {
		if got := c.Part(p); got != 1024 {
			t.Errorf("%s: %d tokens, want 1,024", name, got)
		}
	}
	if got := c.Part(&chat.Part{Kind: chat.Image, Media: "image/png", Data: zip}); got != 1024 {
		t.Errorf("an image has %d tokens", got)
	}
}

// A PDF costs its pages.
func TestPDFsCountByThePage(t *testing.T) {
	race.Skip(t)
	pdf := func(pages, each int, objects bool) string {
		var b strings.Builder
		fmt.Fprintf(&b, "%%PDF-1.7\n1 0 obj <</Type /Pages /Count %d>> endobj\n", pages)
		if !objects {
			b.Reset()
			b.WriteString("%PDF-1.7\n")
		}
		for i := range pages {
			if objects {
				fmt.Fprintf(&b, "%d 0 obj <</Type/Page /Parent 1 0 R>> endobj\n", i+2)
			}
			b.WriteString("stream\n" + strings.Repeat("\x9c\x01/", each/3) + "\nendstream\n")
		}
		return base64.StdEncoding.EncodeToString([]byte(b.String()))
	}
	for f, page := range map[Family]int{O200K: 2000, Claude: 3000, Gemma3: 258} {
		c := New(f, nil)
		for _, n := range []int{1, 7, 120} {
			want := max(n*page, 1024)
			if got := c.Part(file("application/pdf", pdf(n, 9000, true))); got != want {
				t.Errorf("%s: %d pages have %d tokens, want %d", f, n, got, want)
			}
			if got := c.Part(file("application/pdf", pdf(n, 60_000, false))); got < want {
				t.Errorf("%s: %d pages that cannot be seen have %d tokens, want at least %d", f, n, got, want)
			}
		}
	}
}
