package replay

import (
	"cmp"
	"context"
	"time"

	"github.com/winnow-llm/winnow/chat"
	"github.com/winnow-llm/winnow/transcript"
)

// Recorded returns the policy that repeats what the client of a session did: it
// sends everything until the client compacted, and then the client's summary
// with the messages that the client kept.
//
// A summary that the file does not show, as Codex's are encrypted, is taken to
// have [StandInTokens] tokens and to say nothing.
func Recorded() Policy {
	return Policy{Name: "recorded", Happened: true, Begin: func(s Setup) (Step, error) {
		w, left := NewWorking(s), Summarised(s.run.session.Compactions)
		return func(_ context.Context, h chat.History, _ time.Duration) (Sent, error) {
			var calls []SummaryCall
			for ; len(left) > 0 && left[0].At <= h.Len(); left = left[1:] {
				w.Grow(h.Head(left[0].At))
				calls = append(calls, w.applySummary(h, &left[0]))
			}
			w.Grow(h)
			return w.Sent(calls...), nil
		}, nil
	}}
}

// applySummary puts the client's summary in the place of what it replaced.
func (w *Working) applySummary(h chat.History, c *transcript.Compaction) SummaryCall {
	call := w.Asked()
	m := chat.TextMessage(chat.User, cmp.Or(c.Summary, "[a summary that the file does not show]"))
	m.Synthetic = true
	if c.Summary == "" {
		w.Declare(&m, StandInTokens)
	}
	call.Output, call.Took = w.Tokens(&m), c.Took
	msgs, from := []*chat.Message{&m}, []int{-1}
	for i := c.At - c.Kept; i < c.At; i++ {
		msgs, from = append(msgs, h.At(i)), append(from, i)
	}
	w.Set(msgs, from)
	return call
}

// usualWait returns the median of the times that a session records for summaries, or
// that of the field where it records none.
func usualWait(s *Session) time.Duration {
	var known []time.Duration
	for _, c := range Summarised(s.Compactions) {
		if c.Took > 0 {
			known = append(known, c.Took)
		}
	}
	return cmp.Or(medianOf(known), llmBlocks)
}

// Summarised returns those compactions for which a client had a summary
// written. Claude Code also clears old results ("micro"), which costs no call; the
// file does not say which.
func Summarised(all []transcript.Compaction) []transcript.Compaction {
	var out []transcript.Compaction
	for _, c := range all {
		if c.At > 0 && c.Trigger != "micro" && c.Trigger != "truncation" {
			out = append(out, c)
		}
	}
	return out
}
