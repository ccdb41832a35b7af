package replay

import (
	"fmt"
	"testing"
	"time"

	"github.com/winnow-llm/winnow/chat"
	"github.com/winnow-llm/winnow/transcript"
)

// TestMoments: a session with a pause of an hour shortly before its trigger is rewritten
// there, which costs less than to wait, and the task that ends at 85 % is found.
func TestMoments(t *testing.T) {
	place := Place{Window: 60_000}
	now := time.Date(2026, 1, 1, 9, 0, 0, 0, time.UTC)
	var h []chat.Message
	put := func(m chat.Message) {
		now = now.Add(10 * time.Second)
		m.Time = now.UnixMilli()
		h = append(h, m)
	}
	put(chat.TextMessage(chat.User, "Find out what is slow."))
	for share := 1; share <= 130; share++ {
		switch share {
		case 88:
			now = now.Add(time.Hour)
		case 86:
			put(chat.TextMessage(chat.Assistant, "The reader was slow; it is mended."))
			put(chat.TextMessage(chat.User, "Now the writer."))
		}
		id := fmt.Sprint(share)
		put(chat.CallMessage("", chat.Call(id, "bash", `{"command":"measure `+id+`"}`)))
		put(chat.ResultMessage(id, padding(place.Room()/100)))
	}
	d := &Data{Sessions: []Session{{File: "slow", Session: transcript.Session{History: chat.NewHistory(h...)}}}}
	b, err := Moments(t.Context(), d, &PlaceOptions{Places: []Place{place}})
	if err != nil {
		t.Fatal(err)
	}
	if p := b.Pauses[0]; p.Sessions != 1 || p.Late != 1 || p.Cold != 1 || p.LateToo >= p.TriggerOnly {
		t.Errorf("%+v", p)
	}
	if e := b.Ends[0]; e.Sessions != 1 || e.Closed != 1 || e.Commits != 0 {
		t.Errorf("%+v", e)
	}
}
