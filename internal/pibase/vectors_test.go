package pibase

import (
	"fmt"
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/winnow-llm/winnow/internal/decode"
)

func user(text string) *Message { return &Message{Role: "user", IsText: true, Text: text} }

func assistant(text string, in, out int) *Message {
	return &Message{
		Role: "assistant", Stop: "stop",
		Blocks: []Block{{Type: "text", Text: text}}, Usage: &Usage{Input: in, Output: out},
	}
}

func result(text string) *Message {
	return &Message{Role: "toolResult", Blocks: []Block{{Type: "text", Text: text}}}
}

func call(name, args string) *Message {
	return &Message{Role: "assistant", Stop: "toolUse", Blocks: []Block{{Type: "toolCall", Name: name, Arguments: jsontext.Value(args)}}}
}

// chain makes entries of messages, each the parent of the next.
func chain(msgs ...any) []Entry {
	var list []Entry
	for i, m := range msgs {
		e := Entry{Type: "message", ID: fmt.Sprint(i + 1)}
		switch m := m.(type) {
		case *Message:
			e.Message = m
		case Entry:
			id := e.ID
			e = m
			if e.ID == "" {
				e.ID = id
			}
		}
		if i > 0 && e.Parent == "" {
			e.Parent = list[i-1].ID
		}
		list = append(list, e)
	}
	return list
}

func compaction(summary, kept string) Entry {
	return Entry{Type: "compaction", Change: &Change{Summary: summary, FirstKept: kept}}
}

func texts(msgs []*Message) string {
	var out []string
	for _, m := range msgs {
		switch {
		case m.Summary != "":
			out = append(out, m.Summary)
		default:
			out = append(out, contentText(m, ""))
		}
	}
	return strings.Join(out, ",")
}

func contextOf(entries []Entry, leaf string) string {
	return texts(Project(Path(entries, leaf)).Messages())
}

func TestUsage(t *testing.T) { // A1.1 to A1.8
	if got := (Usage{1000, 500, 200, 100, 0}).Context(); got != 1800 {
		t.Errorf("context of usage is %d, want 1800", got)
	}
	if got := (Usage{1, 1, 1, 1, 900}).Context(); got != 900 {
		t.Errorf("the total is not preferred: %d", got)
	}
	if got := (Usage{}).Context(); got != 0 {
		t.Errorf("no usage gives %d", got)
	}
	last := assistant("b", 200, 100)
	msgs := []*Message{user("u"), assistant("a", 100, 50), user("v"), last}
	if c := EstimateContext(msgs); c.Usage != 300 || c.Index != 3 {
		t.Errorf("last usage: %+v", c)
	}
	last.Stop = "aborted"
	if c := EstimateContext(msgs); c.Usage != 150 || c.Index != 1 {
		t.Errorf("an aborted message counts: %+v", c)
	}
	if c := EstimateContext(msgs[:1]); c.Index != -1 {
		t.Errorf("users report usage: %+v", c)
	}
}

// cutOf finds the cut in entries as they stand in the file, without any projection.
func cutOf(path []*Entry, keepRecent int) Cut {
	items := make([]Projected, len(path))
	for i, e := range path {
		items[i] = Projected{e, e.ownMessages()}
	}
	return findCut(items, 0, keepRecent, func(int) bool { return false })
}

func TestCut(t *testing.T) { // A1.9 to A1.12
	var many []any
	for range 10 {
		many = append(many, user("hi"), assistant("ho", 0, 0))
	}
	for _, c := range []struct {
		name    string
		entries []Entry
		keep    int
		want    Cut
	}{
		{"ten small turns", chain(many...), 2500, Cut{0, -1}},
		{"one assistant", chain(assistant("a", 0, 0)), 1000, Cut{0, -1}},
		{"all fits", chain(user("u"), assistant("a", 0, 0), user("u"), assistant("a", 0, 0)), 50000, Cut{0, -1}},
		{"split turn", chain(user("u"), assistant("a", 0, 0), user("u"), assistant(long(400), 0, 0), assistant(long(400), 0, 0), assistant(long(400), 0, 0)), 150, Cut{4, 2}},
		{"no entries", nil, 10, Cut{0, -1}},
	} {
		path := Path(c.entries, "")
		if got := cutOf(path, c.keep); got != c.want {
			t.Errorf("%s: %+v, want %+v", c.name, got, c.want)
		}
	}
}

func long(n int) string { return strings.Repeat("x", n) }

func TestContext(t *testing.T) { // A1.13 to A1.16, A4
	turns := func(more ...any) []Entry {
		return chain(append([]any{user("u1"), assistant("a1", 1, 1)}, more...)...)
	}
	for _, c := range []struct {
		name    string
		entries []Entry
		leaf    string
		want    string
	}{
		{"A1.13", turns(user("u2"), assistant("a2", 1, 1)), "", "u1,a1,u2,a2"},
		{"A1.14", turns(user("u2"), assistant("a2", 1, 1), compaction("S", "3"), user("u3"), assistant("a3", 1, 1)), "", "S,u2,a2,u3,a3"},
		{"A1.15", turns(compaction("S1", "1"), user("u2"), assistant("b", 1, 1), user("u3"), assistant("c", 1, 1), compaction("S2", "6"), user("u4"), assistant("d", 1, 1)), "", "S2,u3,c,u4,d"},
		{"A1.16", turns(compaction("S", "1"), user("u2"), assistant("b", 1, 1)), "", "S,u1,a1,u2,b"},
		{"A4.1", nil, "", ""},
		{"A4.5", turns(), "nowhere", "u1,a1"},
		{"A4.7", chain(user("u1"), Entry{Type: "message", Parent: "gone", Message: user("u2")}), "", "u2"},
		{"A4.8", chain(user("u1"), compaction("S1", "gone"), user("u3")), "", "S1,u3"},
		{"A4.9", turns(compaction("S1", "1"), user("u2"), assistant("a2", 1, 1), compaction("S2", "2")), "", "S2,a1,u2,a2"},
	} {
		if got := contextOf(c.entries, c.leaf); got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
	tree := chain(user("1"), assistant("2", 1, 1), user("A"), Entry{Type: "message", Parent: "2", Message: user("B")})
	if a, b := contextOf(tree, "3"), contextOf(tree, "4"); a != "1,2,A" || b != "1,2,B" {
		t.Errorf("A4.2: %q and %q", a, b)
	}
	branch := chain(user("1"), assistant("2", 1, 1), user("abandoned"), Entry{Type: "branch_summary", Parent: "2", Change: &Change{Summary: "BS"}}, user("5"))
	if got := contextOf(branch, "5"); got != "1,2,BS,5" {
		t.Errorf("A4.3: %q", got)
	}
	both := chain(user("start"), assistant("r1", 1, 1), user("q2"), assistant("r2", 1, 1), compaction("S", "3"), user("q3"), assistant("r3", 1, 1),
		Entry{Type: "message", Parent: "3", Message: assistant("wrong", 1, 1)}, user("x"),
		Entry{Type: "branch_summary", Parent: "3", Change: &Change{Summary: "BS"}}, user("better"))
	if a, b := contextOf(both, "7"), contextOf(both, "11"); a != "S,q2,r2,q3,r3" || b != "start,r1,q2,BS,better" {
		t.Errorf("A4.4: %q and %q", a, b)
	}
	circle := []Entry{{Type: "message", ID: "a", Parent: "b", Message: user("a")}, {Type: "message", ID: "b", Parent: "a", Message: user("b")}}
	if got := contextOf(circle, ""); got != "a,b" {
		t.Errorf("A4.10: %q", got)
	}
}

func TestPrepareVectors(t *testing.T) { // A1.18 to A1.21, A10
	texts := func(n int) []any {
		rep := func(s string) string { return strings.Repeat(s+" text ", n) }
		return []any{
			user(rep("u1")), assistant(rep("a1"), 0, 0), user(rep("u2")), assistant(rep("a2"), 0, 0), user(rep("u3")), assistant(rep("a3"), 0, 0),
			compaction("First summary", "3"), user(rep("u4")), assistant(rep("a4"), 0, 0),
		}
	}
	if p, why := Prepare(Path(chain(texts(1)...), ""), KeepRecent); p != nil || why != TooSmall {
		t.Errorf("A1.18: %+v %q", p, why)
	}
	p, _ := Prepare(Path(chain(texts(12)...), ""), 40)
	if p == nil {
		t.Fatal("A1.19: nothing prepared")
	}
	if text := Serialize(p.History); !strings.Contains(text, "u2 text") || !strings.Contains(text, "u3 text") || strings.Contains(text, "First summary") || p.Previous != "First summary" {
		t.Errorf("A1.19: previous %q, text %q", p.Previous, text)
	}
	if p, why := Prepare(Path(chain(user("u"), assistant("a", 0, 0)), ""), KeepRecent); p != nil || why != TooSmall {
		t.Errorf("A1.20: %+v %q", p, why)
	}
	if p, why := Prepare(Path(chain(user("u"), compaction("S", "1")), ""), KeepRecent); p != nil || why != AlreadyCompacted {
		t.Errorf("A1.21: %+v %q", p, why)
	}
	big := strings.Repeat("y", 400000)
	kept := func(p *Preparation) string {
		if p == nil {
			return "undefined"
		}
		roles := func(msgs []*Message) string {
			var out []string
			for _, m := range msgs {
				out = append(out, m.Role)
			}
			return strings.Join(out, ",")
		}
		return fmt.Sprintf("%s %v [%s] [%s]", p.FirstKept, p.Split, roles(p.History), roles(p.Prefix))
	}
	for _, c := range []struct{ name, got, want string }{
		{"giant result", kept(prepared(user("u"), call("read", `{}`), result(big))), "2 true [] [user]"},
		{"giant paste", kept(prepared(user(big))), "undefined"},
		{"giant paste, answer", kept(prepared(user(big), assistant("a", 0, 0))), "undefined"},
		{"turn, giant paste", kept(prepared(user("u"), assistant("a", 0, 0), user(big))), "3 false [user,assistant] []"},
		{"giant result in the last turn", kept(prepared(user("u"), assistant("a", 0, 0), user("v"), call("read", `{}`), result(big))), "4 true [user,assistant] [user]"},
		{"giant middle of three", kept(prepared(user("u"), assistant("a", 0, 0), user("v"), call("read", `{}`), result("s"), result(big), result("s"))), "4 true [user,assistant] [user]"},
		{"empty", kept(prepared()), "undefined"},
	} {
		if c.got != c.want {
			t.Errorf("%s: %s, want %s", c.name, c.got, c.want)
		}
	}
}

func prepared(msgs ...any) *Preparation {
	p, _ := Prepare(Path(chain(msgs...), ""), KeepRecent)
	return p
}

func TestProbes(t *testing.T) { // pi-1.5.0-edge-cases.txt 10 to 15
	image := Block{Type: "image"}
	for _, c := range []struct {
		name string
		m    *Message
		want int
	}{
		{"emoji", user("😀😀😀😀"), 2},
		{"cjk", user(strings.Repeat("字", 80)), 20},
		{"html in arguments", call("a", `{"x":"<b>&"}`), 4},
		{"image", &Message{Role: "user", Blocks: []Block{image}}, 1200},
		{"image and text", &Message{Role: "toolResult", Blocks: []Block{image, {Type: "text", Text: "x"}}}, 1201},
		{"command", &Message{Role: "bashExecution", Bash: &Bash{Command: "ls", Output: "abcd"}}, 2},
		{"command kept out", &Message{Role: "bashExecution", Bash: &Bash{Command: "ls", Output: long(400), Excluded: true}}, 101},
	} {
		if got := c.m.Estimate(); got != c.want {
			t.Errorf("%s: %d, want %d", c.name, got, c.want)
		}
	}
	mixed := []*Message{
		user("hi"),
		{Role: "assistant", Blocks: []Block{
			{Type: "thinking", Text: "hm"},
			{Type: "text", Text: "one"},
			{Type: "text", Text: "two"},
			{Type: "toolCall", Name: "read", Arguments: jsontext.Value(`{"path": "a b", "n": 1.0, "o": {"k": [1]}}`)},
			{Type: "toolCall", Name: "bash", Arguments: jsontext.Value(`{"command":"ls"}`)},
		}},
		result(strings.Repeat("z", 2005)), result(""),
		{Role: "bashExecution", Bash: &Bash{Command: "ls", Exit: "1"}},
		{Role: "bashExecution", Bash: &Bash{Command: "secret", Output: "s", Excluded: true}},
		{Role: "custom", IsText: true, Text: "cc"},
		{Role: "branchSummary", Summary: "bs"},
		{Role: "compactionSummary", Summary: "cs"},
	}
	want := "[User]: hi\n\n[Assistant]: one\ntwo\n\n[Assistant tool calls]: read(path=\"a b\", n=1, o={\"k\":[1]}); bash(command=\"ls\")\n\n[Tool result]: " +
		strings.Repeat("z", 2000) + "\n\n[... 5 more characters truncated]\n\n[User]: Ran `ls`\n(no output)\n\nCommand exited with code 1\n\n[User]: cc\n\n[User]: The following is a summary of a branch that this conversation came back from:\n\n<summary>\nbs</summary>\n\n[User]: The conversation history before this point was compacted into the following summary:\n\n<summary>\ncs\n</summary>"
	if got := Serialize(mixed); got != want {
		t.Errorf("serialised:\n%s\nwant:\n%s", got, want)
	}
	if got := Footer([]string{"a"}, []string{"b", "c"}); got != "\n\n<read-files>\na\n</read-files>\n\n<modified-files>\nb\nc\n</modified-files>" || Footer(nil, nil) != "" {
		t.Errorf("footer %q", got)
	}
}

func TestRead(t *testing.T) { // A5, A6
	for _, bad := range []string{"", "\n", "{}\n", `{"type":"message"}`, `{"type":"session","id":7}`, "not json\n"} {
		if _, err := Read([]byte(bad)); err == nil {
			t.Errorf("%q is read as a session", bad)
		}
	}
	f, err := Read([]byte(`{"type":"session","id":"s"}
{"type":"message","message":{"role":"user","content":"a"}}
broken
{"type":"message","message":{"role":"hookMessage","content":"b"}}
{"type":"compaction","summary":"S","firstKeptEntryIndex":2}
{"type":"compaction","summary":"T","firstKeptEntryIndex":0}
`))
	if err != nil {
		t.Fatal(err)
	}
	if len(f.Entries) != 4 || f.Entries[0].Parent != "" || f.Entries[1].Parent != f.Entries[0].ID || f.Entries[1].Message.Role != "custom" ||
		f.Entries[2].FirstKept != f.Entries[1].ID || f.Entries[3].FirstKept != "" {
		t.Errorf("migrated: %+v", f.Entries)
	}
}

func TestJavaScript(t *testing.T) {
	for in, want := range map[string]string{
		`1.0`: "1", `-0`: "0", `1e21`: "1e+21", `1.5e-7`: "1.5e-7", `100000000000000000000`: "100000000000000000000",
		`123456789012345678`: "123456789012345680", `1e400`: "null", `0.000001`: "0.000001",
		`{"b":1,"10":2,"2":3,"b":4}`: `{"2":3,"10":2,"b":4}`,
		`"\u00e9\/\u2028<&>\u0001"`:  "\"é/\u2028<&>\\u0001\"",
		`"\ud83d"`:                   `"\ud83d"`, `"\ud83d\ude00"`: `"😀"`, `[ 1 , null ]`: "[1,null]",
	} {
		if got := stringify(jsontext.Value(in)); got != want {
			t.Errorf("stringify(%s) is %s, want %s", in, got, want)
		}
	}
	if s := decode.Str(jsontext.Value(`"a\ud83dz"`)); utf16Units(s) != 3 || s != "a\uFFFDz" {
		t.Errorf("half a pair: %q has %d units", s, utf16Units(s))
	}
	if got := headUnits("ab😀", 3); got != "ab\uFFFD" {
		t.Errorf("cut pair: %q", got)
	}
}

func FuzzRead(f *testing.F) {
	f.Add([]byte(`{"type":"session","id":"s","version":3}` + "\n" + `{"type":"message","id":"a","parentId":"b","message":{"role":"assistant","content":[{"type":"toolCall","arguments":{"1":"\ud800"}}]}}`))
	f.Add([]byte(`{"type":"session","id":"s"}` + "\n" + `{"type":"compaction","firstKeptEntryIndex":1e9}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		file, err := Read(data)
		if err != nil {
			return
		}
		path := Path(file.Entries, "")
		if p, why := Prepare(path, 10); (p == nil) == (why == "") {
			t.Fatal("a preparation and a reason, or neither")
		} else if p != nil && utf16Units(Serialize(p.History)) < 0 {
			t.Fatal("negative length")
		}
	})
}
