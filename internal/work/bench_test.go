package work

import (
	"testing"

	"github.com/winnow-llm/winnow/chat"
)

func BenchmarkAccess(b *testing.B) {
	var calls []*chat.Part
	for name, args := range map[string]string{
		"read": `{"path":"internal/plan/apply.go","offset":1,"limit":200}`,
		"bash": `{"command":"cd /w && go test ./internal/plan 2>&1 | tail -50","description":"Run the tests"}`,
		"grep": `{"pattern":"applyStep","path":"internal"}`,
	} {
		calls = append(calls, call(name, args))
	}
	b.ReportAllocs()
	for b.Loop() {
		for _, c := range calls {
			DefaultKinds().Access(c)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*len(calls)), "ns/call")
}

func result(text string) *chat.Part { return &chat.Part{Kind: chat.ToolResult, Text: text} }

func call(name, args string) *chat.Part {
	c := chat.Call("1", name, args)
	return &c
}
