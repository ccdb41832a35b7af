package token

import (
	"bytes"
	"encoding/base64"
	"io"
	"regexp"
	"slices"
	"strconv"
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
		return max(countPDFPages(decodeFile(data))*c.profile.page, unknownMedia)
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
		return strings.ToValidUTF8(decodeFile(data), "\uFFFD"), true
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

// decodeFile returns what data in base64 hold, as far as they can be decoded.
func decodeFile(data string) string {
	var b strings.Builder
	b.Grow(base64.StdEncoding.DecodedLen(len(data)))
	_, _ = io.Copy(&b, base64Reader(data)) // what is damaged ends it
	return b.String()
}

// encodedTextTokens returns the tokens of a text that comes in base64.
func (c *Counter) encodedTextTokens(data string) int {
	text := decodeFile(data)
	n, read := c.Text(text), base64.StdEncoding.EncodedLen(len(text))
	if whole := len(data) - strings.Count(data, "\n") - strings.Count(data, "\r"); read < whole {
		n = int(int64(n) * int64(whole) / int64(max(read, 1))) // damaged: the rest is taken to be like what could be read
	}
	return n
}

// countPDFPages estimates how many pages a PDF has: its page objects, or the
// count in its page tree. Where both are compressed, a page is taken to have
// pageBytes.
func countPDFPages(pdf string) int {
	n := len(pdfPage.FindAllStringIndex(pdf, -1))
	for _, m := range pdfCount.FindAllStringSubmatch(pdf, -1) {
		count, _ := strconv.Atoi(m[1])
		n = max(n, count)
	}
	if n == 0 {
		n = 1 + len(pdf)/pageBytes
	}
	return n
}

var (
	pdfPage  = regexp.MustCompile(`/Type[ \r\n]*/Page(?:[^s]|$)`)
	pdfCount = regexp.MustCompile(`/Count (\d{1,6})`)
)

// pageBytes is what a page of a PDF has at least where nothing tells its pages:
// few have less, so that the estimate is rather high.
const pageBytes = 50_000
