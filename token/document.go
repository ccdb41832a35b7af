package token

import (
	"bytes"
	"encoding/base64"
	"errors"
	"io"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/winnow-llm/winnow/chat"
)

// Files that are handed over as such. Providers put the text of a text file
// into the prompt and charge for it as for any text, however it was encoded on
// the way; of a PDF they charge for pages. Only files whose content is not in
// the request, or that are neither, have a fixed cost.

// documentTokens returns the tokens of a document without its name.
func (c *Counter) documentTokens(p *chat.Part) int {
	if p.Text != "" {
		return c.Text(p.Text)
	}
	media, data, elsewhere := fileData(p)
	switch head := decodeHead(data); {
	case elsewhere, strings.HasPrefix(media, "image/") && media != "image/svg+xml", strings.HasPrefix(media, "audio/"), strings.HasPrefix(media, "video/"):
	case bytes.HasPrefix(head, []byte("%PDF")):
		return max(countPDFPages(data)*c.profile.page, unknownMedia)
	case len(head) > 0 && isText(head) && (isTextMedia(media) || len(data) >= leastFile):
		return c.encodedTextTokens(data)
	case isTextMedia(media): // not base64, or not quite
		return c.Text(data)
	}
	return unknownMedia
}

// FileText returns the text of a file that is handed over as such, decoded where
// it comes in base64. It is false for a file that is not text, or is not in the
// request.
func FileText(p *chat.Part) (string, bool) {
	if p.Text != "" {
		return p.Text, true
	}
	media, data, elsewhere := fileData(p)
	switch head := decodeHead(data); {
	case elsewhere, bytes.HasPrefix(head, []byte("%PDF")):
	case len(head) > 0 && isText(head) && (isTextMedia(media) || len(data) >= leastFile):
		var b bytes.Buffer
		eachChunk(data, func(chunk []byte, _ bool) int { b.Write(chunk); return 0 })
		return strings.ToValidUTF8(b.String(), "\uFFFD"), true
	case isTextMedia(media) && data != "":
		return data, true
	}
	return "", false
}

// fileData returns the media type and the data of a file; elsewhere says that the data
// are only its address.
func fileData(p *chat.Part) (media, data string, elsewhere bool) {
	media, data = p.Media, p.Data
	if rest, ok := strings.CutPrefix(data, "data:"); ok {
		if head, body, ok := strings.Cut(rest, ","); ok {
			media, data = head, body
		}
	}
	media, _, _ = strings.Cut(strings.ToLower(media), ";")
	return media, data, strings.Contains(data[:min(len(data), 16)], "://")
}

// leastFile is the length from which data of no known type are taken for a file
// and not for the name of one.
const leastFile = 64

// isTextMedia reports whether a media type says that a file is text.
func isTextMedia(media string) bool {
	return strings.HasPrefix(media, "text/") || slices.ContainsFunc(textMedia, func(kind string) bool { return strings.Contains(media, kind) })
}

var textMedia = []string{"json", "xml", "yaml", "javascript", "ecmascript", "typescript", "csv", "toml", "sql", "graphql", "x-sh"}

// isText reports whether bytes, perhaps cut in a character, read as text.
func isText(b []byte) bool {
	for len(b) > 0 {
		r, n := utf8.DecodeRune(b)
		if r == utf8.RuneError && n == 1 && utf8.FullRune(b) || r < ' ' && !strings.ContainsRune("\t\n\r\f\x1b", r) {
			return false
		}
		b = b[n:]
	}
	return true
}

// base64Reader decodes base64 of either alphabet, padded or not.
func base64Reader(data string) io.Reader {
	alphabet := base64.RawStdEncoding
	if strings.ContainsAny(data, "-_") {
		alphabet = base64.RawURLEncoding
	}
	return base64.NewDecoder(alphabet, strings.NewReader(strings.TrimRight(data, "=\r\n ")))
}

// decodeHead returns how decoded data begin. It is nil for what is not base64.
func decodeHead(data string) []byte {
	head := strings.NewReplacer("\r", "", "\n", "").Replace(data[:min(len(data), 1024)])
	if len(data) > 1024 {
		head = head[:len(head)/4*4]
	}
	b, err := io.ReadAll(base64Reader(head))
	if err != nil {
		return nil
	}
	return b
}

// eachChunk decodes data piece by piece, so that a file of many megabytes needs
// little room. Each piece starts with what f left of the one before. It returns
// the number of bytes that could not be decoded.
func eachChunk(data string, f func(b []byte, last bool) (left int)) int {
	r := base64Reader(data)
	buf := make([]byte, 64<<10)
	kept, read := 0, 0
	for {
		n, err := io.ReadFull(r, buf[kept:])
		read += n
		b := buf[:kept+n]
		left := f(b, err != nil)
		if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
			return 0
		}
		if err != nil {
			return max(0, base64.RawStdEncoding.DecodedLen(len(data))-read)
		}
		kept = copy(buf, b[len(b)-min(left, len(b)/2):])
	}
}

// encodedTextTokens returns the tokens of a text that comes in base64.
func (c *Counter) encodedTextTokens(data string) int {
	tokens, read := 0, 0
	rest := eachChunk(data, func(b []byte, last bool) (left int) {
		if !last { // no character and, if possible, no line is cut
			if end := bytes.LastIndexByte(b, '\n') + 1; end > len(b)/2 {
				left = len(b) - end
			} else {
				for left < utf8.UTFMax && !utf8.RuneStart(b[len(b)-1-left]) {
					left++
				}
				left++
			}
			b = b[:len(b)-left]
		}
		read += len(b)
		tokens += c.Text(string(b))
		return left
	})
	if rest > 0 { // damaged: the rest is taken to be like what could be read
		tokens += int(int64(tokens) * int64(rest) / int64(max(read, 1)))
	}
	return tokens
}

// countPDFPages estimates how many pages a PDF in base64 has: its page objects, or the
// count in its page tree. Where both are compressed, a page is taken to have
// pageBytes.
func countPDFPages(data string) int {
	n, most, size := 0, 0, 0
	eachChunk(data, func(b []byte, last bool) int {
		const overlap = 32
		size += len(b)
		scan := len(b)
		if !last {
			scan = max(0, len(b)-overlap)
			size -= overlap
		}
		for at := 0; ; {
			i := bytes.IndexByte(b[at:scan], '/')
			if i < 0 {
				break
			}
			at += i + 1
			word := b[at:]
			switch {
			case bytes.HasPrefix(word, []byte("Type")):
				word = bytes.TrimLeft(word[4:min(len(word), overlap)], " \r\n")
				if bytes.HasPrefix(word, []byte("/Page")) && !bytes.HasPrefix(word, []byte("/Pages")) {
					n++
				}
			case bytes.HasPrefix(word, []byte("Count ")):
				most = max(most, leadingNumber(word[6:]))
			}
		}
		return overlap
	})
	if n = max(n, most); n == 0 {
		n = 1 + size/pageBytes
	}
	return n
}

// pageBytes is what a page of a PDF has at least where nothing tells its pages:
// few have less, so that the estimate is rather high.
const pageBytes = 50_000

// leadingNumber reads the digits at the beginning, up to a million.
func leadingNumber(b []byte) int {
	n := 0
	for _, d := range b {
		if d < '0' || d > '9' || n > 100_000 {
			break
		}
		n = 10*n + int(d-'0')
	}
	return n
}
