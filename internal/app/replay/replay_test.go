package replay

import (
	"slices"
	"strings"
	"testing"

	"github.com/winnow-llm/winnow/chat"
	"github.com/winnow-llm/winnow/internal/kit/replaygen"
	"github.com/winnow-llm/winnow/token"
	"github.com/winnow-llm/winnow/transcript"
)

// generated returns sessions of as many sources.
func generated(n int, o replaygen.Options) *Data {
	d := &Data{Fingerprint: "generated"}
	for i := range n {
		s := replaygen.Session(uint64(i+1), o)
		d.Sessions = append(d.Sessions, Session{Session: s, File: s.ID, Source: s.ID})
	}
	return d
}

// What a session demands, on one small enough to see it.
func TestDemand(t *testing.T) {
	h := chat.NewHistory(
		chat.TextMessage(chat.User, "Fix it. Never touch the vendor folder."),
		chat.CallMessage("", chat.Call("1", "read", `{"path":"internal/plan/apply.go"}`)),
		chat.ResultMessage("1", `{"output":"maxRetries = 4821\nsee also shownLater and kaleidoscope","exit":0}`),
		chat.TextMessage(chat.Assistant, "In the tail: tailName."),
		chat.TextMessage(chat.User, "Go on."),
		// The future.
		chat.CallMessage("I set maxRetries to 4821 in internal/plan/apply.go, a kaleidoscope; tailName.", chat.Call("2", "read", `{"path":"x.go"}`)),
		chat.ResultMessage("2", "shownLater"),
		chat.TextMessage(chat.Assistant, "shownLater and neverSeen"),
	)
	d := demand(h, 0, 3, 5, h.Len(), &Common{})
	var got []string
	for _, e := range d.Entities {
		got = append(got, e.Kind.String()+" "+e.Value)
	}
	want := []string{"num 4821", "ident maxRetries", "path plan/apply.go"}
	if !slices.Equal(got, want) {
		t.Errorf("entities %q, want %q", got, want)
	}
	if !slices.Equal(d.Words, []string{"kaleidoscope"}) {
		t.Errorf("words %q", d.Words)
	}
	if !slices.Equal(d.Constraints, []string{"Never touch the vendor folder."}) {
		t.Errorf("constraints %q", d.Constraints)
	}
	if len(d.Pairs) != 3 {
		t.Errorf("pairs %v, want all three: they stand within three lines", d.Pairs)
	}
	for _, c := range []struct {
		text       string
		e, p, w, c int
	}{
		{"", 0, 0, 0, 0},
		{"plan/apply.go: maxRetries 4821", 3, 3, 0, 0},
		{"maxRetries\n\n\n\n" + strings.Repeat("filler ", 50) + "\n\n4821", 2, 0, 0, 0},
		{"the user said: never touch the vendor folder. Kaleidoscope", 0, 0, 1, 1},
		{"maxRetriesMore 48210 plan/apply.gox", 0, 0, 0, 0},
		{"`maxRetries`=4821; /root/internal/plan/apply.go:3", 3, 3, 0, 0},
	} {
		r, _ := d.Score(c.text)
		if got := [4]int{r.E.Hit, r.P.Hit, r.W.Hit, r.C.Hit}; got != [4]int{c.e, c.p, c.w, c.c} {
			t.Errorf("%q: E, P, W, C %v, want %v", c.text, got, [4]int{c.e, c.p, c.w, c.c})
		}
	}
}

// The prototype's rule: an entity of four sources is common, one of three is not.
func TestCommon(t *testing.T) {
	var sessions []Session
	for i, text := range []string{"inAll inThree kaleidoscope", "inAll inThree kaleidoscope", "inAll inThree", "inAll"} {
		s := transcript.Session{History: chat.NewHistory(chat.TextMessage(chat.User, text), chat.TextMessage(chat.Assistant, text))}
		sessions = append(sessions, Session{Session: s, Source: string(rune('a' + i))})
	}
	c := NewCommon(sessions)
	if !c.Entity("inAll") || c.Entity("inThree") || c.Word("kaleidoscope") {
		t.Errorf("inAll %v, inThree %v, kaleidoscope %v", c.Entity("inAll"), c.Entity("inThree"), c.Word("kaleidoscope"))
	}
}

func TestFlatten(t *testing.T) {
	for _, c := range []struct{ in, keys, values string }{
		{`{"a":"x\ny","b":[1,{"c":"z"}],"d":null}`, "a: x\ny\nb: 1\nc: z\n", "x\ny\n1\nz\n"},
		{"plain text", "plain text", "plain text"},
		{`{"cut":"off`, `{"cut":"off`, `{"cut":"off`},
		{"{\"a\":1}\n{\"a\":2}", "{\"a\":1}\n{\"a\":2}", "{\"a\":1}\n{\"a\":2}"},
	} {
		if got := flatten(c.in, true); got != c.keys {
			t.Errorf("%q with keys: %q", c.in, got)
		}
		if got := flatten(c.in, false); got != c.values {
			t.Errorf("%q: %q", c.in, got)
		}
	}
}

// Summaries keep to their size.
func TestSummariserSizes(t *testing.T) {
	d := generated(2, replaygen.Options{})
	k := token.New(counting, nil)
	common := NewCommon(d.Sessions)
	for i := range d.Sessions {
		for _, c := range Cuts(&d.Sessions[i], k, common) {
			for _, s := range Summarisers() {
				if s.Simulated > 0 {
					continue
				}
				text, err := s.Write(&c, 1000, k)
				if err != nil {
					t.Fatal(err)
				}
				if n := k.Text(text); n > 1020 {
					t.Errorf("%s wrote %d tokens", s.Name, n)
				}
			}
		}
	}
}

// The cost of a request by hand: what it shares with the one before is read.
func TestCost(t *testing.T) {
	h := chat.NewHistory(
		chat.TextMessage(chat.User, strings.Repeat("some words here ", 2000)),
		chat.TextMessage(chat.Assistant, "one"),
		chat.TextMessage(chat.User, "and now"),
		chat.TextMessage(chat.Assistant, "two"),
	)
	s := &Session{Session: transcript.Session{History: h}}
	o := (&Options{}).orDefault()
	k := token.New(counting, nil)
	d := driver{index: newIndex(s, k), window: 64000, trigger: 0.8, prices: o.Models[:1]}
	got, err := d.run(t.Context(), none{})
	if err != nil {
		t.Fatal(err)
	}
	size := func(i int) float64 { return float64(k.At(h, i)) }
	fixed := float64(k.Conversation())
	p := o.Models[0].Prices
	want := ((fixed+size(0))*p.CacheWrite + size(1)*p.Output +
		(fixed+size(0))*p.CacheRead + (size(1)+size(2))*p.CacheWrite + size(3)*p.Output) / 1e6
	if diff := got.Dollars[0] - want; diff > 1e-9 || diff < -1e-9 {
		t.Errorf("%.6f dollars, want %.6f", got.Dollars[0], want)
	}
}
