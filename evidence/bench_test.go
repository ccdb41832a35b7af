package evidence

import (
	"testing"

	"github.com/winnow-llm/winnow/chat"
)

// benchOutputs is tool output as sessions have it: source that was read, test
// runs, searches, JSON, in results of about 0.5 to 20 kB.
func benchOutputs() (calls, results []*chat.Part, bytes int64) {
	read := call("read", `{"path":"internal/plan/apply.go","offset":1,"limit":200}`)
	run := call("bash", `{"command":"cd /w && go test ./internal/plan 2>&1 | tail -50","description":"Run the tests"}`)
	find := call("grep", `{"pattern":"applyStep","path":"internal"}`)
	look := call("get_booking", `{"id":"K1NW8N"}`)
	add := func(c *chat.Part, text string) {
		calls, results = append(calls, c), append(results, result(text))
		bytes += int64(len(text))
	}
	for i := range 40 {
		add(read, goSource(2+i))
		add(run, "Exit code 1\n"+testLog(4+i*4))
		add(run, testLog(3))
		add(find, goSource(1+i/8))
		add(look, `{"booking_id":"K1NW8N","user":{"id":"mia_li_3668"},"flights":[{"number":"HAT028","date":"2024-05-20","price":101},{"number":"HAT277","date":"2024-05-21","price":128}],"total":1286.5,"status":"confirmed, paid in full"}`)
	}
	return calls, results, bytes
}

func BenchmarkSkeleton(b *testing.B) {
	calls, results, bytes := benchOutputs()
	b.SetBytes(bytes)
	b.ReportAllocs()
	for b.Loop() {
		for i := range calls {
			Skeleton(results[i], 100, thirds)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Microseconds())/float64(b.N*len(calls)), "µs/result")
}

func BenchmarkErrorLines(b *testing.B) {
	_, results, bytes := benchOutputs()
	b.SetBytes(bytes)
	for b.Loop() {
		for i := range results {
			ErrorLines(results[i].Text, 10)
		}
	}
}

func BenchmarkAccess(b *testing.B) {
	calls, _, _ := benchOutputs()
	b.ReportAllocs()
	for b.Loop() {
		for _, c := range calls {
			DefaultKinds().Access(c)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*len(calls)), "ns/call")
}
