package summary

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/winnow-llm/winnow/chat"
	"github.com/winnow-llm/winnow/internal/kit/cputime"
)

// A state is read and written in little time from histories that make careless
// programs slow.
func TestStateIsLinear(t *testing.T) {
	const bound = 5 * time.Second
	read := func(i int, p, text string) []chat.Message {
		id := fmt.Sprint(i)
		return []chat.Message{chat.CallMessage("", chat.Call(id, "Read", fmt.Sprintf(`{"file_path":%q}`, p))), chat.ResultMessage(id, text)}
	}
	for name, msgs := range map[string]func() []chat.Message{
		"many files and long talk": func() (all []chat.Message) {
			for i := range 5000 {
				all = append(all, read(i, fmt.Sprintf("/w/f%d.go", i), fmt.Sprintf("     1→line %d\n", i))...)
			}
			for range mentionsBack {
				all = append(all, chat.TextMessage(chat.User, strings.Repeat("nobody speaks of them ", 20_000)))
			}
			return all
		},
		"one long file": func() []chat.Message {
			var b strings.Builder
			for i := range 30_000 {
				fmt.Fprintf(&b, "%6d→line %d of it\n", i+1, i)
			}
			return read(1, "/w/a.go", b.String())
		},
		"one file of empty lines": func() []chat.Message {
			return []chat.Message{
				chat.CallMessage("", chat.Call("1", "Write", fmt.Sprintf(`{"file_path":"/w/a.go","content":%q}`, strings.Repeat("\n", 200_000)))),
				chat.ResultMessage("1", "Written."),
			}
		},
		"one file, read line by line": func() (all []chat.Message) {
			for i := range 10_000 {
				id := fmt.Sprint(i)
				all = append(all,
					chat.CallMessage("", chat.Call(id, "Read", fmt.Sprintf(`{"file_path":"/w/a.go","offset":%d,"limit":1}`, i+1))),
					chat.ResultMessage(id, fmt.Sprintf("%6d→line %d of it\n", i+1, i)))
			}
			return all
		},
	} {
		h := chat.NewHistory(msgs()...)
		if d := cputime.Of(func() {
			s := NewState(h, 0, nil, nil)
			for _, most := range []int{300, 3000, 30_000} {
				s.Size(Beside{Tail: h.Len()}, most)
				s.Text(Beside{Tail: h.Len()}, most)
			}
		}); d > bound {
			t.Errorf("%s: it took %v", name, d)
		}
	}
}
