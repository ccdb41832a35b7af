package replay

import (
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

func TestFlatten(t *testing.T) {
	for _, c := range []struct{ in, keys, values string }{
		{`{"a":"x\ny","b":[1,{"c":"z"}],"d":null}`, "a: x\ny\nb: 1\nc: z\n", "x\ny\n1\nz\n"},
		{"plain text", "plain text", "plain text"},
		{`{"cut":"off`, `{"cut":"off`, `{"cut":"off`},
		{"{\"a\":1}\n{\"a\":2}", "{\"a\":1}\n{\"a\":2}", "{\"a\":1}\n{\"a\":2}"},
	} {
		if got := flattenJSON(c.in, true); got != c.keys {
			t.Errorf("%q with keys: %q", c.in, got)
		}
		if got := flattenJSON(c.in, false); got != c.values {
			t.Errorf("%q: %q", c.in, got)
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
	d := driver{index: newIndex(s, k), window: 64000, price: o.Model}
	got, err := d.run(t.Context(), None())
	if err != nil {
		t.Fatal(err)
	}
	size := func(i int) float64 { return float64(k.At(h, i)) }
	fixed := float64(k.Conversation())
	p := o.Model.Prices
	want := ((fixed+size(0))*p.CacheWrite + size(1)*p.Output +
		(fixed+size(0))*p.CacheRead + (size(1)+size(2))*p.CacheWrite + size(3)*p.Output) / 1e6
	if diff := got.Dollars - want; diff > 1e-9 || diff < -1e-9 {
		t.Errorf("%.6f dollars, want %.6f", got.Dollars, want)
	}
}
