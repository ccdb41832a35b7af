package wire

import (
	"bytes"
	"testing"

	"github.com/winnow-llm/winnow/plan"
)

func TestIdentity(t *testing.T) {
	for _, d := range Dialects() {
		for seed := range uint64(200) {
			g := newGen(d, seed)
			raw := []byte(g.body(g.conversation(20)))
			b, err := Parse(d, raw)
			if err != nil {
				t.Fatalf("%s seed %d: %v\n%s", d, seed, err, raw)
			}
			if ps := Validate(d, raw); len(ps) > 0 {
				t.Fatalf("%s seed %d: a valid body is refused: %v\n%s", d, seed, ps, raw)
			}
			h := b.Request().History
			if h.Len() == 0 || len(b.Request().System) == 0 || b.MaxTokens() == 0 {
				t.Fatalf("%s: %d messages, system %v, max %d", d, h.Len(), b.Request().System, b.MaxTokens())
			}
			v, err := plan.Apply(h, nil)
			if err != nil {
				t.Fatal(err)
			}
			out, err := b.Encode(v)
			if err != nil || !bytes.Equal(out, raw) {
				t.Fatalf("%s seed %d: no plan changes the body (%v)", d, seed, err)
			}
			p, err := plan.Compose(nil, h, b.Request().Rules, nil)
			if err != nil {
				t.Fatal(err)
			}
			if v, err = plan.Apply(h, p); err != nil {
				t.Fatal(err)
			}
			if out, err = b.Encode(v); err != nil || !bytes.Equal(out, raw) {
				t.Fatalf("%s seed %d: an empty plan changes the body (%v)", d, seed, err)
			}
		}
	}
}
