package winnow_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/winnow-llm/winnow"
	"github.com/winnow-llm/winnow/chat"
	"github.com/winnow-llm/winnow/token"
)

// "Fits" must be true by the model's own count, not only by ours.

// Output that the vocabulary has to spell byte by byte: scripts that tables
// were not made for, spinners, boxes, formulas.
func TestUnmeasuredTextFits(t *testing.T) {
	exact := token.New(token.O200K, &token.Options{Exact: true})
	w := newWinnow(t, small)
	for name, unit := range map[string]string{
		"Amharic":  "ሰርቨሩ እንደገና ተነሳ ምክንያቱም ዲስኩ ሞልቶ ነበር ከዚያም ፈተናው እንደገና ወደቀ። ",
		"Cherokee": "ᏣᎳᎩ ᎦᏬᏂᎯᏍᏗ ᎠᏂᏴᏫᏯ ᎤᎾᏓᏤᎵᏛ ",
		"Tibetan":  "བོད་ཀྱི་སྐད་ཡིག་ནི་བོད་རིགས་ཀྱི་སྐད་ཡིག་ཡིན། ",
		"Braille":  "⠓⠑⠇⠇⠕ ⠺⠕⠗⠇⠙ ",
		"spinner":  "⠋ building ⠙ building ⠹ building ⠸ building ⠼ building\r",
		"boxes":    "┏━┳━━┓╭╮╰╯▖▗▘▙▚▛▜▝▞▟\n",
		"letters":  "𝓕𝓲𝓽 𝕞𝕖𝕒𝕟𝕤 𝖿𝗂𝗍 ",
		"emoji":    "👩‍👩‍👧‍👦🧑🏽‍🚀🏴‍☠️ ",
		"icons":    "\ue0b0\ue0b1\uf113\uf09b ",
	} {
		var msgs []chat.Message
		for i := range 20 {
			msgs = append(msgs, user(fmt.Sprintf("Step %d", i)))
			msgs = append(msgs, did(fmt.Sprint("c", i), "bash", `{"command":"make"}`, strings.Repeat(unit, 1200/len(unit)+1))...)
			msgs = append(msgs, said("Done."))
		}
		msgs = append(msgs, user("Go on."))
		req := chat.Request{History: chat.NewHistory(msgs...)}
		if before, err := w.Check(req, winnow.State{}); err != nil || before.Count.Upper() < exact.Request(&req) {
			t.Errorf("%s: counted at up to %d tokens, exactly %d (%v)", name, before.Count.Upper(), exact.Request(&req), err)
		}
		r := fit(t, w, req, winnow.State{})
		if n := exact.Messages(r.View); n > r.After.Limits.Available {
			t.Errorf("%s: the view that fits in %d has exactly %d tokens", name, r.After.Limits.Available, n)
		}
	}
}
