package demo

import (
	"fmt"
	"math/rand/v2"
	"strings"

	"github.com/winnow-llm/winnow/chat"
	"github.com/winnow-llm/winnow/wire"
)

// Large returns the body of a request of n messages, in the OpenAI dialect: a
// session in many small steps, for measuring. With 10,000 messages it has
// about 5 MB and a million tokens.
func Large(n int) []byte {
	r := seeded("large")
	paths := make([]string, 0, 64)
	files := make(map[string][]string)
	for i := range 64 {
		path := fmt.Sprintf("internal/%s/%s.go", packages[i%len(packages)], nouns[i%len(nouns)])
		paths = append(paths, path)
		files[path] = strings.Split(goFile(path, 12), "\n")
	}
	msgs := make([]chat.Message, 0, n+2)
	for turn := 0; len(msgs) < n; {
		if len(msgs)%101 == 0 {
			turn++
			msgs = append(msgs, chat.TextMessage(chat.User, fmt.Sprintf("Step %d: make the %s %s in %s. Keep the public API as it is.", turn, pick(r, nouns), pick(r, adjectives), pick(r, paths))))
			continue
		}
		id := fmt.Sprintf("call_%d", len(msgs))
		path := pick(r, paths)
		lines := files[path]
		from := r.IntN(max(1, len(lines)-24))
		call := chat.Call(id, "read_file", fmt.Sprintf(`{"path":%q,"offset":%d,"limit":24}`, path, from+1))
		result := strings.Join(lines[from:min(len(lines), from+10+r.IntN(11))], "\n")
		if r.IntN(3) == 0 {
			pkg := pick(r, packages)
			call = chat.Call(id, "bash", fmt.Sprintf(`{"command":"go test ./internal/%s/"}`, pkg))
			result = prose(r, 7+r.IntN(7)) + "ok  \texample.com/parcelhub/internal/" + pkg + "\t0.412s\n"
		}
		msgs = append(msgs, chat.CallMessage("Next I look at "+path+".", call), chat.ResultMessage(id, result))
	}
	body, err := wire.Render(wire.OpenAI, Model, chat.Request{History: chat.NewHistory(msgs[:min(n, len(msgs))]...)}, nil)
	if err != nil {
		panic("demo: " + err.Error())
	}
	return body
}

// prose is what a chatty test run prints.
func prose(r *rand.Rand, lines int) string {
	var b strings.Builder
	for i := range lines {
		fmt.Fprintf(&b, "checking that the %s %s of the %s is still the one that the %s returned before the %s was changed\n",
			pick(r, adjectives), pick(r, fields), pick(r, nouns), pick(r, nouns), pick(r, nouns))
		if i%5 == 4 {
			fmt.Fprintf(&b, "internal/%s/%s_test.go:%d: the %s is %s\n", pick(r, packages), pick(r, nouns), 10+r.IntN(400), pick(r, nouns), pick(r, adjectives))
		}
	}
	return b.String()
}
