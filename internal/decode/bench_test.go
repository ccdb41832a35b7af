package decode

import (
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"
)

func BenchmarkAnthropic(b *testing.B) {
	line := `{"role":"user","content":[{"type":"tool_result","tool_use_id":"t1","content":"` + strings.Repeat(`func main() {\n\tfmt.Println(\"hello\")\n}\n`, 100) + `"}]}`
	raw := jsontext.Value(line)
	b.SetBytes(int64(len(raw)))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := Anthropic(raw); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkOpenAIImage(b *testing.B) {
	raw := jsontext.Value(`{"role":"user","content":[{"type":"text","text":"look"},{"type":"image_url","image_url":{"url":"data:image/png;base64,` + strings.Repeat("QUJD", 1<<18) + `"}}]}`)
	b.SetBytes(int64(len(raw)))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := OpenAI(raw); err != nil {
			b.Fatal(err)
		}
	}
}
