package source

import (
	"slices"

	"github.com/winnow-llm/winnow"
	"github.com/winnow-llm/winnow/chat"
	"github.com/winnow-llm/winnow/model"
	"github.com/winnow-llm/winnow/plan"
	"github.com/winnow-llm/winnow/transcript"
)

// Known is what the file says of the conversation for the engine: what the
// provider reported for the last prompt. An agent's file has neither its system
// prompt nor its tools, which may be a tenth of the window; the report has them.
//
// A report says nothing where the agent had left something out that the file
// still has, or where another kind of model is asked about than the one that
// counted.
func (s *Session) Known(w *winnow.Winnow) winnow.State {
	req, name := s.Request, s.Model
	h := req.History
	compacted := slices.ContainsFunc(s.Compactions, func(c transcript.Compaction) bool { return c.At < h.Len() })
	if s.Body != nil || compacted {
		return winnow.State{}
	}
	for i := h.Len() - 1; i >= max(0, h.Len()-usageBack); i-- {
		m := h.At(i)
		if m.Role != chat.Assistant || m.Usage == nil || m.Usage.Prompt() == 0 {
			continue
		}
		if m.Model != "" {
			name = m.Model
		}
		v, err := plan.Apply(h.Head(i), nil)
		if err != nil || model.Default().Lookup(name).Family != w.Model().Family {
			break
		}
		req.History = h.Head(i)
		step := w.Step(&req, v)
		if m.Usage.Prompt() < step.Estimate/2 {
			break // less was sent than the file has
		}
		step.Usage, step.Answer, step.Model = *m.Usage, w.Meter().Counter().At(h, i), name
		t := winnow.NewTrack(w.Model().Family)
		t.LearnAnswers(req.History)
		t.Record(step)
		return t.State()
	}
	return winnow.State{}
}

// usageBack is how many messages back a report is looked for.
const usageBack = 64
