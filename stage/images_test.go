package stage_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/winnow-llm/winnow/chat"
	"github.com/winnow-llm/winnow/internal/kit/race"
	"github.com/winnow-llm/winnow/stage"
)

// Of the images that the user sent, the newest four stay as they are; the others
// are named, and without room all of them.
func TestNewestImagesStay(t *testing.T) {
	race.Skip(t)
	h := chat.NewHistory()
	work := turns(600).Messages()
	for i := range 6 {
		h = h.Append(chat.Message{Role: chat.User, Parts: []chat.Part{
			{Kind: chat.Text, Text: fmt.Sprintf("What is wrong in picture %d?", i)},
			{Kind: chat.Image, Name: fmt.Sprintf("shot%d.png", i), Media: "image/png", Data: "AAAA"},
		}}, chat.TextMessage(chat.Assistant, fmt.Sprintf("The margin of %d.", i)))
		h = h.Append(work[i*100*turnLen : (i+1)*100*turnLen]...)
	}
	for _, c := range []struct{ target, want int }{{40_000, 4}, {4000, 0}} {
		j := job{stages: stage.Named("ladder"), config: with(func(*stage.Config) {})}
		j.available, j.target = c.target*2, c.target
		out := j.run(t, h)
		whole, named := 0, 0
		for i := range out.View.Len() {
			m := out.View.At(i)
			if m.Has(chat.Image) {
				whole++
			}
			for k := range 6 {
				named += strings.Count(m.Text(), fmt.Sprintf("[image shot%d.png image/png", k))
			}
		}
		if whole != c.want || whole == 4 && named == 0 {
			t.Errorf("target %d: %d images stay, %d are named; %v", j.target, whole, named, out.Notes)
		}
	}
}
