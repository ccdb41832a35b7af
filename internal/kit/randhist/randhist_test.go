package randhist

import (
	"math/rand/v2"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/winnow-llm/winnow/chat"
)

func source(seed uint64) *rand.Rand { return rand.New(rand.NewPCG(seed, 7)) }

func TestHealthyIsAcceptedEverywhere(t *testing.T) {
	for seed := range uint64(1000) {
		for _, style := range []Style{ToolRole, UserRole} {
			rules := chat.AllDialects()
			rules.Alternate = true
			rules.ResultsJoined = style == UserRole
			h := New(source(seed), Options{Healthy: true, Style: style})
			if ps := rules.Check(h); len(ps) > 0 {
				t.Fatalf("seed %d, style %d: %v", seed, style, ps[0])
			}
		}
	}
}

func TestSameSourceSameHistory(t *testing.T) {
	for seed := range uint64(50) {
		a, b := New(source(seed), Options{}), New(source(seed), Options{})
		if a.Chain(a.Len()) != b.Chain(b.Len()) || a.Len() == 0 {
			t.Fatalf("seed %d: %d messages, then %d others", seed, a.Len(), b.Len())
		}
	}
}

func TestOptions(t *testing.T) {
	for seed := range uint64(200) {
		o := Options{Messages: 1 + int(seed), MaxText: 300}
		msgs := Messages(source(seed), o)
		if len(msgs) < o.Messages || len(msgs) > o.Messages+5 {
			t.Fatalf("seed %d: asked for %d messages, got %d", seed, o.Messages, len(msgs))
		}
		for i, m := range msgs {
			for _, p := range m.Parts {
				if len(p.Text) > o.MaxText || len(p.Data) > 2*o.MaxText {
					t.Fatalf("seed %d: message %d has a text of %d bytes", seed, i, max(len(p.Text), len(p.Data)))
				}
			}
		}
	}
}

// traits names what a history has that tests want to meet.
func traits(h chat.History) map[string]bool {
	has := map[string]bool{}
	has["one message"] = h.Len() == 1
	has["assistant first"] = h.At(0).Role == chat.Assistant
	rules := chat.AllDialects()
	rules.NonEmptyText = true
	for _, p := range rules.Check(h) {
		has[p.Rule] = true
		has["empty id"] = has["empty id"] || strings.Contains(p.Message, "no id")
		has["duplicate id"] = has["duplicate id"] || strings.Contains(p.Message, "two calls")
	}
	calls := map[string]bool{}
	for i, m := range h.All() {
		has["synthetic"] = has["synthetic"] || m.Synthetic
		has["no parts"] = has["no parts"] || len(m.Parts) == 0
		has["system between"] = has["system between"] || m.Role == chat.System && i > 0 && h.At(i-1).Has(chat.ToolCall)
		n, results := 0, 0
		for _, p := range m.Parts {
			has[p.Kind.String()] = true
			has["signed thinking"] = has["signed thinking"] || p.Kind == chat.Thinking && p.Signature != ""
			has["plain thinking"] = has["plain thinking"] || p.Kind == chat.Thinking && p.Signature == ""
			has["image in a result"] = has["image in a result"] || len(p.Content) > 0
			has["giant"] = has["giant"] || len(p.Text) > 100<<10
			has["bad UTF-8"] = has["bad UTF-8"] || !utf8.ValidString(p.Text)
			has["CJK"] = has["CJK"] || strings.Contains(p.Text, "租约")
			has["emoji"] = has["emoji"] || strings.Contains(p.Text, "📦")
			switch p.Kind {
			case chat.ToolCall:
				n++
				has["repeated id"] = has["repeated id"] || calls[p.ID]
				calls[p.ID] = true
			case chat.ToolResult:
				results++
			}
		}
		has["parallel calls"] = has["parallel calls"] || n > 1
		has["tool role"] = has["tool role"] || m.Role == chat.Tool
		has["user role"] = has["user role"] || m.Role == chat.User && results > 1 && m.Text() != ""
	}
	return has
}

func TestEverythingTurnsUp(t *testing.T) {
	seen := map[string]int{}
	for seed := range uint64(3000) {
		for trait, has := range traits(New(source(seed), Options{})) {
			if has {
				seen[trait]++
			}
		}
	}
	for _, trait := range []string{
		"one message", "assistant first", "empty id", "duplicate id", "repeated id", "synthetic", "no parts", "system between",
		"text", "thinking", "tool_call", "tool_result", "image", "document", "opaque", "signed thinking", "plain thinking", "image in a result",
		"giant", "bad UTF-8", "CJK", "emoji", "parallel calls", "tool role", "user role",
		chat.RuleUnanswered, chat.RuleOrphan, chat.RuleDuplicate, chat.RuleUserFirst, chat.RuleCallAfter, chat.RuleEmpty, chat.RuleEmptyText,
	} {
		if seen[trait] < 3 {
			t.Errorf("%q turned up in %d of 3000 histories", trait, seen[trait])
		}
	}
}

func BenchmarkNew(b *testing.B) {
	r := source(1)
	bytes := 0
	for b.Loop() {
		h := New(r, Options{})
		for _, m := range h.All() {
			bytes += m.Size().Bytes
		}
	}
	b.ReportMetric(float64(bytes)/float64(b.N), "bytes/history")
}
