package summary

import (
	"context"
	"fmt"
	"math/rand"
	"strings"
	"testing"

	"github.com/winnow-llm/winnow/chat"
	"github.com/winnow-llm/winnow/token"
)

// session makes a coding session of about that many bytes: reads, searches,
// edits, commands and a few words of user and agent.
func session(bytes int, seed int64) chat.History {
	r := rand.New(rand.NewSource(seed))
	names := make([]string, 600)
	for i := range names {
		names[i] = fmt.Sprintf("%s%s%d", pick(r, "load", "parse", "render", "merge", "check", "write", "apply"), pick(r, "Config", "Plan", "Token", "Budget", "View", "Stage"), r.Intn(40))
	}
	files := make([]string, 80)
	for i := range files {
		files[i] = fmt.Sprintf("/home/dev/project/internal/%s/%s_%d.go", pick(r, "plan", "stage", "wire", "budget"), pick(r, "apply", "scan", "fold", "limit"), i)
	}
	var msgs []chat.Message
	size, id := 0, 0
	for size < bytes {
		if id%10 == 0 && (len(msgs) == 0 || !msgs[len(msgs)-1].StartsTurn()) {
			msgs = append(msgs, chat.TextMessage(chat.User, fmt.Sprintf("Please make %s in %s handle empty input. It must never panic, and keep port %d.", names[r.Intn(600)], files[r.Intn(80)], 1000+r.Intn(9000))))
			continue
		}
		id++
		call := fmt.Sprintf("call_%d", id)
		file := files[r.Intn(80)]
		var b strings.Builder
		var part chat.Part
		switch r.Intn(4) {
		case 0:
			part = chat.Call(call, "read", fmt.Sprintf(`{"path":%q,"offset":%d}`, file, r.Intn(300)))
			for i := range 40 + r.Intn(80) {
				fmt.Fprintf(&b, "%5d\tif err := %s(ctx, %s); err != nil { // %s the %s before returning\n", i, names[r.Intn(600)], names[r.Intn(600)], pick(r, "wrap", "report", "collect"), pick(r, "outcome", "remainder", "checksum", "cursor"))
			}
		case 1:
			part = chat.Call(call, "grep", fmt.Sprintf(`{"pattern":%q}`, names[r.Intn(600)]))
			for range 10 + r.Intn(30) {
				fmt.Fprintf(&b, "%s:%d: return %s(%s)\n", files[r.Intn(80)], r.Intn(900), names[r.Intn(600)], names[r.Intn(600)])
			}
		case 2:
			part = chat.Call(call, "bash", fmt.Sprintf(`{"command":"go test ./internal/... -run Test%s --count=%d"}`, names[r.Intn(600)], r.Intn(9)))
			for range 5 + r.Intn(20) {
				fmt.Fprintf(&b, "--- FAIL: Test%s (0.%02ds)\n    %s:%d: got %d, want %d\n", names[r.Intn(600)], r.Intn(99), file, r.Intn(900), r.Intn(10000), r.Intn(10000))
			}
			b.WriteString("exit status 1\n")
		case 3:
			part = chat.Call(call, "edit", fmt.Sprintf(`{"path":%q,"old_string":"return %s()\n","new_string":"if x == nil {\n\treturn %s\n}\nreturn %s()\n"}`, file, names[r.Intn(600)], names[r.Intn(600)], names[r.Intn(600)]))
			b.WriteString("The file was updated.")
		}
		text := ""
		if r.Intn(3) == 0 {
			text = fmt.Sprintf("The problem is that %s returns early because %s is nil. I will look at %s next.", names[r.Intn(600)], names[r.Intn(600)], file)
		}
		msgs = append(msgs, chat.CallMessage(text, part), chat.ResultMessage(call, b.String()))
		size += b.Len() + len(part.Args) + len(text)
	}
	return chat.NewHistory(msgs...)
}

func pick(r *rand.Rand, list ...string) string { return list[r.Intn(len(list))] }

func benchSummary(b *testing.B, s Summarizer, h chat.History, family token.Family) {
	c := token.New(family, nil)
	in := Input{History: h, To: h.Len() - 20, Turn: -1, Max: 4000, Counter: c}
	n := in.regionTokens(1 << 30)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := s.Summarize(context.Background(), in); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(n), "region-tokens")
}

func BenchmarkBuiltin150k(b *testing.B) {
	benchSummary(b, Builtin(), session(560_000, 1), token.O200K)
}

func BenchmarkBuiltin150kUnknown(b *testing.B) {
	benchSummary(b, Builtin(), session(560_000, 1), token.Unknown)
}

func BenchmarkBuiltin1M(b *testing.B) { benchSummary(b, Builtin(), session(4_000_000, 1), token.O200K) }
