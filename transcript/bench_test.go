package transcript

import (
	"fmt"
	"strings"
	"testing"
)

// claudeLog makes a Claude Code log of about size bytes.
func claudeLog(size int) []byte {
	var b strings.Builder
	output := strings.Repeat("func sail(at time.Time) error {\\n\\treturn errors.New(\\\"no tide\\\")\\n}\\n", 40)
	parent := "null"
	for i := 0; b.Len() < size; i++ {
		fmt.Fprintf(&b, `{"parentUuid":%s,"isSidechain":false,"type":"assistant","sessionId":"s","message":{"id":"m%d","role":"assistant","model":"claude-opus-5","content":[{"type":"tool_use","id":"t%d","name":"Read","input":{"file_path":"/srv/%d.go"}}],"usage":{"input_tokens":1,"output_tokens":9}},"uuid":"a%d","timestamp":"2026-02-10T09:00:00.000Z"}`+"\n", parent, i, i, i, i)
		fmt.Fprintf(&b, `{"parentUuid":"a%d","isSidechain":false,"type":"user","sessionId":"s","message":{"role":"user","content":[{"tool_use_id":"t%d","type":"tool_result","content":"%s"}]},"uuid":"r%d","timestamp":"2026-02-10T09:00:01.000Z"}`+"\n", i, i, output, i)
		parent = fmt.Sprintf(`"r%d"`, i)
	}
	return []byte(b.String())
}

// openAIBody makes a request body of about size bytes.
func openAIBody(size int) []byte {
	var b strings.Builder
	output := strings.Repeat("func sail(at time.Time) error {\\n\\treturn errors.New(\\\"no tide\\\")\\n}\\n", 40)
	b.WriteString(`{"model":"m","messages":[{"role":"user","content":"go"}`)
	for i := 0; b.Len() < size; i++ {
		fmt.Fprintf(&b, `,{"role":"assistant","content":null,"tool_calls":[{"id":"t%d","type":"function","function":{"name":"read","arguments":"{\"path\":\"/srv/%d.go\"}"}}]},{"role":"tool","tool_call_id":"t%d","content":"%s"}`, i, i, i, output)
	}
	b.WriteString(`]}`)
	return []byte(b.String())
}

func BenchmarkRead(b *testing.B) {
	for name, data := range map[string][]byte{"claude-code-5MB": claudeLog(5 << 20), "openai-5MB": openAIBody(5 << 20)} {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(data)))
			b.ReportAllocs()
			for b.Loop() {
				if _, err := Read(data, nil); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
