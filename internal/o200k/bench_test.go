package o200k

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"strings"
	"testing"

	"github.com/winnow-llm/winnow/internal/kit/corpus"
)

// benchText returns the counted texts whose class starts with one of the
// prefixes, or generated text of that kind where the corpus is absent.
func benchText(b *testing.B, kind string, prefixes ...string) string {
	dir, ok := corpus.Path()
	if _, err := os.Stat(dir + "/tokens/counted.jsonl"); !ok || err != nil {
		return generated(kind, 1<<20)
	}
	var text strings.Builder
	for _, c := range counted(b) {
		for _, p := range prefixes {
			if strings.HasPrefix(c.Class, p) {
				text.WriteString(c.Text)
				text.WriteByte('\n')
				break
			}
		}
	}
	return text.String()
}

var benchKinds = []struct {
	name     string
	prefixes []string
}{
	{"mixed", []string{""}},
	{"prose", []string{"prose", "agent_chat", "md_docs"}},
	{"code", []string{"code"}},
	{"json", []string{"json", "agent_args"}},
}

func BenchmarkCount(b *testing.B) {
	for _, k := range benchKinds {
		b.Run(k.name, func(b *testing.B) {
			text := benchText(b, k.name, k.prefixes...)
			b.SetBytes(int64(len(text)))
			for b.Loop() {
				Count(text)
			}
		})
	}
	b.Run("generated", func(b *testing.B) {
		text := generated("mixed", 1<<20)
		b.SetBytes(int64(len(text)))
		for b.Loop() {
			Count(text)
		}
	})
}

// The cache is emptied before every run: what a text costs at first sight.
func BenchmarkCountCold(b *testing.B) {
	text := benchText(b, "mixed", "")
	b.SetBytes(int64(len(text)))
	v := load()
	for b.Loop() {
		for i := range v.cache {
			v.cache[i][0].state.Store(0)
			v.cache[i][1].state.Store(0)
		}
		Count(text)
	}
}

func BenchmarkEach(b *testing.B) {
	text := benchText(b, "mixed", "")
	b.SetBytes(int64(len(text)))
	sum := 0
	for b.Loop() {
		each(text, func(_ string, n int) { sum += n })
	}
}

func BenchmarkLoad(b *testing.B) {
	for b.Loop() {
		unpackVocab()
	}
}

var words = strings.Fields(`the of a window and context model that keeps long sessions readable when agents work
for hours compaction is plan over history every edit can be shown taken back again tokens counted exactly because
vocabulary public nothing else depends on it however some implementation details remain undocumented interoperability
characteristically misunderstanding reproducible benchmarks Kubernetes PostgreSQL refactoring TypeScript naïve café`)

// generated returns n bytes of text of a kind, always the same.
func generated(kind string, n int) string {
	r := rand.New(rand.NewPCG(7, 8))
	word := func() string { return words[r.IntN(len(words))] }
	prose := func() string {
		var b strings.Builder
		for i := range 8 + r.IntN(12) {
			if i > 0 {
				b.WriteString([]string{" ", " ", " ", " ", ", "}[r.IntN(5)])
			}
			b.WriteString(word())
		}
		return b.String() + ".\n"
	}
	code := func() string {
		return fmt.Sprintf("\tif err := %s.%s%s(ctx, %q, %d); err != nil {\n\t\treturn fmt.Errorf(\"%s: %%w\", err)\n\t}\n",
			word(), strings.ToUpper(word()[:1]), word(), word(), r.IntN(5000), word())
	}
	record := func() string {
		b, _ := json.Marshal(map[string]any{"id": r.Uint32(), "name": word(), "path": "/src/" + word() + "/" + word() + ".go", "ok": r.IntN(2) == 0, "score": r.Float64()})
		return string(b) + "\n"
	}
	other := func() string {
		switch r.IntN(4) {
		case 0:
			return fmt.Sprintf("2026-11-%02dT%02d:%02d:%02d.%03dZ INFO [%s] request %x took %d ms\n", 1+r.IntN(28), r.IntN(24), r.IntN(60), r.IntN(60), r.IntN(1000), word(), r.Uint64(), r.IntN(900))
		case 1:
			return base64.StdEncoding.EncodeToString([]byte(prose())) + "\n"
		case 2:
			var b strings.Builder
			for range 20 + r.IntN(20) {
				b.WriteRune(rune(0x4E00 + r.IntN(2000)))
			}
			return b.String() + "。\n"
		default:
			return "Каждая правка истории видна и обратима, а окно остаётся свободным.\n"
		}
	}
	makers := map[string][]func() string{
		"mixed": {prose, code, record, other},
		"prose": {prose},
		"code":  {code},
		"json":  {record},
	}[kind]
	var b strings.Builder
	for b.Len() < n {
		b.WriteString(makers[r.IntN(len(makers))]())
	}
	return b.String()
}
