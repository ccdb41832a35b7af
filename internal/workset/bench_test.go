package workset

import (
	"fmt"
	"strings"
	"testing"

	"github.com/winnow-llm/winnow/chat"
)

// longHistory is a session of reads, edits and commands on some files: n
// messages of about 400 bytes each.
func longHistory(n int) chat.History {
	var msgs []chat.Message
	const files, lines = 40, 400
	text := func(f, line, version int) string {
		return fmt.Sprintf("\tvalue%d := compute(file%d, line%d) // version %d", line, f, line, version)
	}
	for i := 0; len(msgs) < n; i++ {
		f, at := i*7%files, i*13%(lines-40)+1
		id := fmt.Sprintf("call%d", i)
		name := fmt.Sprintf("/srv/src/file%d.go", f)
		switch i % 4 {
		case 0, 1:
			var b strings.Builder
			for k := range 16 {
				fmt.Fprintf(&b, "%6d→%s\n", at+k, text(f, at+k, 0))
			}
			msgs = append(msgs, chat.CallMessage("", chat.Call(id, "Read", fmt.Sprintf(`{"file_path":%q,"offset":%d,"limit":16}`, name, at))), chat.ResultMessage(id, b.String()))
		case 2:
			args := fmt.Sprintf(`{"file_path":%q,"old_string":%s,"new_string":%s}`, name, quoted(text(f, at, 0)), quoted(text(f, at, 0)+" // changed"))
			msgs = append(msgs, chat.CallMessage("", chat.Call(id, "Edit", args)), chat.ResultMessage(id, "The file has been updated successfully."))
		case 3:
			command := "cd /srv && go test ./... 2>&1 | tail -20 && sed -n '10,20p' src/file3.go"
			msgs = append(msgs, chat.CallMessage("", chat.Call(id, "Bash", `{"command":`+quoted(command)+`}`)), chat.ResultMessage(id, "ok\n"))
		}
	}
	return chat.NewHistory(msgs[:n]...)
}

func BenchmarkAdd(b *testing.B) {
	for _, n := range []int{1000, 10000} {
		h := longHistory(n)
		size := 0
		for _, m := range h.All() {
			size += m.Size().Bytes
		}
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			b.SetBytes(int64(size))
			b.ReportAllocs()
			for b.Loop() {
				s := New(nil)
				for i := range h.Len() {
					s.Add(h, i)
				}
			}
		})
	}
}
