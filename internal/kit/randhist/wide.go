package randhist

import (
	"encoding/base64"
	"maps"
	"slices"
	"sync"
	"unicode"

	"github.com/winnow-llm/winnow/chat"
)

// What [Options.Wide] adds: text of every script of Unicode and what terminals
// draw, files in base64, long runs of one role, loops that start with thinking.

// scripts are the letters of every script, and of blocks of symbols.
var scripts = sync.OnceValue(func() [][]rune {
	var all [][]rune
	for _, name := range slices.Sorted(maps.Keys(unicode.Scripts)) {
		var chars []rune
		t := unicode.Scripts[name]
		for _, r := range t.R16 {
			for c := rune(r.Lo); c <= rune(r.Hi); c += rune(r.Stride) {
				if !unicode.IsControl(c) {
					chars = append(chars, c)
				}
			}
		}
		for _, r := range t.R32 {
			for c := rune(r.Lo); c <= rune(r.Hi); c += rune(r.Stride) {
				chars = append(chars, c)
			}
		}
		all = append(all, chars)
	}
	for _, block := range [][2]rune{{0x2190, 0x21FF}, {0x2500, 0x257F}, {0x2580, 0x259F}, {0x2800, 0x28FF}, {0x1F300, 0x1F64F}, {0xE0A0, 0xE0D4}, {0xAC00, 0xD7A3}} {
		var chars []rune
		for c := block[0]; c <= block[1]; c++ {
			chars = append(chars, c)
		}
		all = append(all, chars)
	}
	return all
})

// appendForeign adds a line in one script.
func (g *gen) appendForeign() {
	chars := pick(g, scripts())
	for range 4 + g.IntN(30) {
		for range 1 + g.IntN(8) {
			g.buf = append(g.buf, string(pick(g, chars))...)
		}
		g.buf = append(g.buf, ' ')
	}
}

// filePart returns a document whose content is encoded: text mostly, or a PDF.
func (g *gen) filePart() chat.Part {
	if g.chance(0.2) {
		return chat.Part{Kind: chat.Document, Name: "scan.pdf", Media: "application/pdf", Data: base64.StdEncoding.EncodeToString([]byte("%PDF-1.7\n/Type /Page\n" + g.makeProse(400)))}
	}
	return chat.Part{Kind: chat.Document, Name: "notes.txt", Media: "text/plain", Data: base64.StdEncoding.EncodeToString([]byte(g.makeText(g.drawSize(1500))))}
}

// addRun adds many messages of one kind in a row.
func (g *gen) addRun() {
	kind := g.IntN(4)
	for k := 3 + g.IntN(40); k > 0 && len(g.out) < g.n; k-- {
		switch {
		case kind == 0 && g.sick:
			g.add(chat.TextMessage(chat.System, g.makeProse(60)))
		case kind == 1 && g.sick:
			g.add(g.assistantMessage())
		case kind <= 2:
			g.add(g.userMessage())
		default:
			g.addExchange()
		}
	}
}
