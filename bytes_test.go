package winnow_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"unicode/utf16"

	"github.com/winnow-llm/winnow"
	"github.com/winnow-llm/winnow/chat"
	"github.com/winnow-llm/winnow/internal/kit/randhist"
	"github.com/winnow-llm/winnow/wire"
)

// quoting returns a text that is much longer in JSON than by itself.
func quoting(r *rand.Rand, n int) string {
	units := []string{"\"quoted\" ", "a\\b\\c\n", "\t{\"k\": \"v\"}\n", "plain words here ", "<b>&amp;</b>\r\n", "\x1b[31mred\x1b[0m ", "日本語 ", "é… ✓ "}
	var b strings.Builder
	for b.Len() < n {
		b.WriteString(units[r.IntN(len(units))])
	}
	return b.String()
}

// sentAs returns a body as different clients write it: close together,
// indented, or with everything that is not ASCII escaped.
func sentAs(t *testing.T, r *rand.Rand, raw []byte) []byte {
	t.Helper()
	switch r.IntN(3) {
	case 1:
		var b bytes.Buffer
		if err := json.Indent(&b, raw, "", "    "); err != nil {
			t.Fatal(err)
		}
		return b.Bytes()
	case 2:
		var b strings.Builder
		for _, c := range string(raw) {
			switch {
			case c < 0x80:
				b.WriteRune(c)
			case c < 0x10000:
				fmt.Fprintf(&b, `\u%04x`, c)
			default:
				hi, lo := utf16.EncodeRune(c)
				fmt.Fprintf(&b, `\u%04x\u%04x`, hi, lo)
			}
		}
		return []byte(b.String())
	}
	return raw
}

// TestMaxBytesHoldsForTheBody: whenever a request is said to fit, the body that
// is sent is within the limit in bytes, in every dialect.
func TestMaxBytesHoldsForTheBody(t *testing.T) {
	n := 400
	if testing.Short() {
		n = 80
	}
	planned, cannot := 0, 0
	for seed := range uint64(n) {
		r := rand.New(rand.NewPCG(seed, 77))
		d := []wire.Dialect{wire.OpenAI, wire.Responses, wire.Anthropic, wire.Gemini}[seed%4]
		msgs := randhist.Messages(r, randhist.Options{Healthy: true, Messages: 10 + r.IntN(40), MaxText: 600})
		for i := range msgs {
			for k := range msgs[i].Parts {
				if p := &msgs[i].Parts[k]; p.Text != "" && r.IntN(2) == 0 {
					p.Text = quoting(r, 20+r.IntN(800))
				}
			}
		}
		msgs = append(msgs, user("Go on."))
		req := chat.Request{
			System:  []chat.Part{{Kind: chat.Text, Text: quoting(r, 50+r.IntN(2000))}},
			Tools:   []chat.ToolDef{{Name: "bash", Description: quoting(r, 100), Schema: `{"type":"object"}`}},
			History: chat.NewHistory(msgs...), Output: 1000,
		}
		raw, err := wire.Render(d, "gpt-4o", req, nil)
		if err != nil {
			t.Fatal(err)
		}
		body, err := wire.Parse(d, sentAs(t, r, raw))
		if err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		size := len(body.Raw())
		limit := size/3 + r.IntN(size*3/4)
		w := mustNew(winnow.Settings{Model: "gpt-4o", Window: 1_000_000, MaxBytes: limit})
		state := winnow.State{Encoded: body.Size}
		before, err := w.Check(body.Request(), state)
		if err != nil || before.Bytes != size || before.Fits != (size <= limit) {
			t.Errorf("seed %d, %s: %d bytes and fits %v, the body has %d of %d: %v", seed, d, before.Bytes, before.Fits, size, limit, err)
		}
		res, err := w.Fit(context.Background(), body.Request(), state)
		var e *winnow.CannotFitError
		if errors.As(err, &e) {
			if cannot++; e.Bytes <= e.MaxBytes || e.MaxBytes != limit {
				t.Errorf("seed %d, %s: %d of %d bytes: %v", seed, d, e.Bytes, limit, e)
			}
			continue
		}
		if err != nil {
			t.Fatalf("seed %d, %s: %v", seed, d, err)
		}
		out, err := body.Encode(res.View)
		if err != nil {
			t.Fatalf("seed %d, %s: %v", seed, d, err)
		}
		if !res.After.Fits || len(out) > limit || res.After.Bytes != len(out) {
			t.Errorf("seed %d, %s: fits %v with %d bytes, the body has %d, the limit is %d", seed, d, res.After.Fits, res.After.Bytes, len(out), limit)
		}
		if res.Changed {
			planned++
		}
	}
	t.Logf("%d planned, %d cannot fit", planned, cannot)
	if planned < n/4 || cannot > n/4 {
		t.Errorf("%d of %d planned, %d cannot fit: the limits are not where they matter", planned, n, cannot)
	}
}
