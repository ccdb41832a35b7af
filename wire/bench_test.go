package wire

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/winnow-llm/winnow/chat"
	"github.com/winnow-llm/winnow/internal/jsonwrite"
	"github.com/winnow-llm/winnow/plan"
)

// largeBody returns a body of about that size, of messages as agents send them:
// calls with small arguments and results of a few kilobytes.
func largeBody(d Dialect, size int) []byte {
	g := newGen(d, 1)
	g.style, g.thinking = 0, true
	line := "src/module/file.go:123: func (s *Server) Handle(ctx context.Context, r *Request) (\"quoted\") error {\n"
	var elems []string
	total := 0
	for total < size {
		from := len(elems)
		elems = append(elems, g.user()...)
		for range 6 {
			calls := []genCall{{g.id("call_"), "read", g.args()}}
			elems = append(elems, g.assistant(calls)...)
			for _, r := range g.results(calls) {
				elems = append(elems, strings.ReplaceAll(r, `line of output\n`, strings.Trim(string(jsonwrite.AppendString(nil, line)), `"`)))
			}
		}
		for _, e := range elems[from:] {
			total += len(e)
		}
	}
	raw := g.body(append(elems, g.user()...))
	return []byte(strings.ReplaceAll(raw, `"type":"image"`, `"type":"search_result"`)) // more images than are allowed
}

var benchSizes = []struct {
	name string
	size int
}{{"1.5MB", 1_500_000}, {"5MB", 5_000_000}}

func BenchmarkParse(b *testing.B) {
	for _, d := range Dialects() {
		for _, s := range benchSizes {
			raw := largeBody(d, s.size)
			b.Run(fmt.Sprintf("%s/%s", d, s.name), func(b *testing.B) {
				b.SetBytes(int64(len(raw)))
				b.ReportAllocs()
				for b.Loop() {
					if _, err := Parse(d, raw); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}

// BenchmarkNext reads a body of which all but the last messages are known.
func BenchmarkNext(b *testing.B) {
	for _, d := range []Dialect{OpenAI, Anthropic, Responses} {
		raw := largeBody(d, 5_000_000)
		prev, err := Parse(d, raw)
		if err != nil {
			b.Fatal(err)
		}
		b.Run(string(d), func(b *testing.B) {
			next := bytes.Clone(raw) // the same bytes at another place, as they arrive
			b.SetBytes(int64(len(raw)))
			b.ReportAllocs()
			for b.Loop() {
				if _, err := prev.Next(next); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkEncode(b *testing.B) {
	for _, d := range Dialects() {
		for _, s := range benchSizes {
			for _, edits := range []int{0, 200} {
				raw := largeBody(d, s.size)
				body, err := Parse(d, raw)
				if err != nil {
					b.Fatal(err)
				}
				h := body.Request().History
				var masks []plan.Edit
				for i := 0; i < h.Len() && len(masks) < edits; i++ {
					for k := range h.At(i).Parts {
						if h.At(i).Parts[k].Kind == chat.ToolResult && len(masks) < edits {
							masks = append(masks, edit(plan.Mask, i, k, "[reduced]"))
						}
					}
				}
				p, err := plan.Compose(nil, h, body.Request().Rules, nil, masks...)
				if err != nil {
					b.Fatal(err)
				}
				v, err := plan.Apply(h, p)
				if err != nil {
					b.Fatal(err)
				}
				b.Run(fmt.Sprintf("%s/%s/%dedits", d, s.name, len(masks)), func(b *testing.B) {
					b.SetBytes(int64(len(raw)))
					b.ReportAllocs()
					for b.Loop() {
						if _, err := body.Encode(v); err != nil {
							b.Fatal(err)
						}
					}
				})
			}
		}
	}
}

func BenchmarkValidate(b *testing.B) {
	for _, d := range Dialects() {
		raw := largeBody(d, 5_000_000)
		b.Run(string(d), func(b *testing.B) {
			b.SetBytes(int64(len(raw)))
			for b.Loop() {
				if ps := Validate(d, raw); len(ps) > 0 {
					b.Fatal(ps[0])
				}
			}
		})
	}
}

func BenchmarkClassify(b *testing.B) {
	body := []byte(`{"error":{"message":"This model's maximum context length is 128000 tokens. However, your messages resulted in 204308 tokens. Please reduce the length of the messages.","type":"invalid_request_error","param":"messages","code":"context_length_exceeded"}}`)
	for b.Loop() {
		if v := Classify(400, nil, body); v.Actual != 204308 {
			b.Fatal(v)
		}
	}
}
