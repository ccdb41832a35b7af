package stage

import (
	"fmt"
	"slices"

	"github.com/winnow-llm/winnow/chat"
	"github.com/winnow-llm/winnow/evidence"
	"github.com/winnow-llm/winnow/plan"
)

// Texts that stand in for what is not there.
const (
	noResult  = "[no result: the call was interrupted or its result was lost]"
	noContent = "(no content)"
	noStart   = "[the conversation starts here; what came before is not available]"
	goOn      = "(continued)"
)

// Repair returns the edits that make a history acceptable under the rules:
// placeholders for calls that never got a result, quoted text for results and
// calls without a partner. A healthy history gives none. With pending set,
// calls of the last message that still wait for results get placeholders too.
func Repair(h chat.History, rules chat.Rules, pending bool) ([]plan.Edit, error) {
	d := &Draft{History: h, Outline: chat.NewOutline(h), Rules: rules.OrDefault(), LastUser: -1}
	view, err := plan.Apply(h, nil)
	if err != nil {
		return nil, err
	}
	d.View = view
	if err := d.repair(pending); err != nil {
		return nil, err
	}
	return d.added, nil
}

// repair is the pipeline's first step.
func (r *run) repair(pending bool) error {
	if err := r.d.repair(pending); err != nil {
		return err
	}
	if len(r.d.added) > 0 {
		r.now = r.Meter.Measure(r.d.View)
	}
	return nil
}

// repair adds answers until the view obeys the rules. Mending one thing can
// bring another to light (a call that is quoted leaves its result without a
// partner), so it goes round a few times.
func (d *Draft) repair(pending bool) error {
	const rounds = 6
	var problems []chat.Problem
	for range rounds {
		problems = broken(d.Rules, d.View)
		if pending {
			problems = slices.DeleteFunc(d.Rules.Check(d.View), isImages)
		}
		if len(problems) == 0 {
			return nil
		}
		edits := d.mend(problems)
		all := withoutVain(plan.Overlay(d.added, edits))
		p, err := plan.Compose(d.Base, d.History, d.Rules, d.release, all...)
		if err != nil {
			return fmt.Errorf("stage: repair: %w", err)
		}
		view, err := plan.Apply(d.History, p)
		if err != nil {
			return fmt.Errorf("stage: repair: %w", err)
		}
		d.added, d.View = all, view
	}
	if problems = broken(d.Rules, d.View); len(problems) > 0 {
		return fmt.Errorf("stage: repair: message %d: %s, and no edit mends it", problems[0].At, problems[0].Message)
	}
	return nil
}

// withoutVain leaves out results for calls that became text: nothing asks for
// them any more.
func withoutVain(edits []plan.Edit) []plan.Edit {
	text := make(map[plan.Ref]bool)
	for i := range edits {
		if e := &edits[i]; e.Kind == plan.Answer && e.CallID == "" {
			text[e.Ref()] = true
		}
	}
	return slices.DeleteFunc(edits, func(e plan.Edit) bool { return e.CallID != "" && text[e.Ref()] })
}

// mend returns an edit for each problem that an edit can solve.
func (d *Draft) mend(problems []chat.Problem) []plan.Edit {
	var edits []plan.Edit
	taken := make(map[plan.Ref]bool)
	add := func(e plan.Edit) {
		if ref := e.Ref(); !taken[ref] || e.CallID != "" {
			taken[ref] = true
			e.Stage = "repair"
			edits = append(edits, e)
		}
	}
	late := d.lateResults(problems)
	// Which calls lack a result is known only when all calls have proper ids.
	unclear := make(map[int]bool)
	for _, p := range problems {
		if p.Rule == chat.RuleCallID || p.Rule == chat.RuleRole {
			unclear[p.At] = true
		}
	}
	gone := make(map[plan.Ref]bool) // parts that no longer stand there as they were
	for _, e := range d.Edits() {
		if e.Kind == plan.Answer && e.CallID == "" || e.Kind == plan.Mask && e.Text == "" {
			gone[e.Ref()] = true
		}
	}
	for _, p := range problems {
		i, part, ok := d.source(p, gone)
		if !ok || p.Rule == chat.RuleUnanswered && unclear[p.At] {
			continue
		}
		m := d.History.At(i)
		switch p.Rule {
		case chat.RuleUnanswered:
			text, why := noResult, "the call has no result"
			if at, ok := late[p.Call]; ok && d.Base == nil {
				text = d.History.At(at.message).Parts[at.part].Text
				why = fmt.Sprintf("its result stands at message %d", at.message)
				add(plan.Edit{Kind: plan.Answer, From: at.message, To: at.message + 1, Part: at.part, Why: fmt.Sprintf("moved to its call at message %d", i)})
				delete(late, p.Call)
			}
			add(plan.Edit{Kind: plan.Answer, From: i, To: i + 1, Part: part, CallID: p.Call, Text: text, Why: why})
		case chat.RuleOrphan:
			add(plan.Edit{Kind: plan.Answer, From: i, To: i + 1, Part: part, Text: quoteResult(&m.Parts[part]), Why: "the result answers no call directly before it"})
		case chat.RuleDuplicate:
			add(plan.Edit{Kind: plan.Answer, From: i, To: i + 1, Part: part, Text: d.another(i, part), Why: "the call is answered twice"})
		case chat.RuleCallID:
			add(plan.Edit{Kind: plan.Answer, From: i, To: i + 1, Part: part, Text: d.quoteCall(&m.Parts[part]), Why: p.Message})
		case chat.RuleRole:
			for k := range m.Parts {
				switch {
				case m.Parts[k].Kind == chat.ToolCall && m.Role != chat.Assistant:
					add(plan.Edit{Kind: plan.Answer, From: i, To: i + 1, Part: k, Text: d.quoteCall(&m.Parts[k]), Why: p.Message})
				case m.Parts[k].Kind == chat.ToolResult && (m.Role == chat.Assistant || m.Role == chat.System):
					add(plan.Edit{Kind: plan.Answer, From: i, To: i + 1, Part: k, Text: quoteResult(&m.Parts[k]), Why: p.Message})
				}
			}
		case chat.RuleEmpty:
			add(plan.Edit{Kind: plan.Mask, From: i, To: i + 1, Part: 0, Text: noContent, Why: p.Message})
		case chat.RuleEmptyText:
			add(plan.Edit{Kind: plan.Mask, From: i, To: i + 1, Part: part, Why: p.Message})
		case chat.RuleUserFirst:
			if m.Role == chat.Tool && m.Has(chat.ToolResult) {
				continue // an orphan, which becomes a user's message
			}
			add(plan.Edit{Kind: plan.Drop, From: i, To: i, Part: -1, Text: noStart, Why: p.Message})
		case chat.RuleCallAfter:
			if d.View.Plan() != nil && d.View.Plan().Join != plan.JoinNone {
				add(plan.Edit{Kind: plan.Drop, From: i, To: i, Part: -1, Text: goOn, Why: p.Message})
			}
		}
	}
	return edits
}

// source finds the message and part of the history that a problem of the view
// is about. Messages of the view may have lost parts, which gone lists, or been
// joined.
func (d *Draft) source(p chat.Problem, gone map[plan.Ref]bool) (message, part int, ok bool) {
	o := d.View.Origin(p.At)
	if o.Message < 0 {
		return 0, 0, false
	}
	if o.Untouched() && p.Rule != chat.RuleUnanswered {
		return o.Message, p.Part, true
	}
	seen := d.View.At(p.At)
	nth := 0
	match := func(q *chat.Part) bool { return q.Kind == chat.ToolCall && q.ID == p.Call }
	if p.Rule != chat.RuleUnanswered {
		if p.Part < 0 {
			return o.Message, p.Part, true
		}
		want := &seen.Parts[p.Part]
		match = func(q *chat.Part) bool {
			return q.Kind == want.Kind && q.ID == want.ID && (want.Kind != chat.Text || q.Text == want.Text)
		}
		for k := range p.Part {
			if match(&seen.Parts[k]) {
				nth++
			}
		}
	}
	for _, i := range append([]int{o.Message}, o.Joined...) {
		parts := d.History.At(i).Parts
		for k := range parts {
			if !match(&parts[k]) || gone[plan.Ref{From: i, Part: k}] {
				continue
			}
			if nth == 0 {
				return i, k, true
			}
			nth--
		}
	}
	return 0, 0, false
}

// lateResults finds results that stand away from their calls, by call id.
func (d *Draft) lateResults(problems []chat.Problem) map[string]callAt {
	late := make(map[string]callAt)
	for _, p := range problems {
		o := d.View.Origin(p.At)
		if p.Rule != chat.RuleOrphan || !o.Untouched() {
			continue
		}
		part := &d.History.At(o.Message).Parts[p.Part]
		if _, ok := late[part.ID]; !ok && part.ID != "" && len(part.Content) == 0 {
			late[part.ID] = callAt{o.Message, p.Part}
		}
	}
	// A result before its call belongs to another call with the same id.
	for _, p := range problems {
		if p.Rule == chat.RuleUnanswered {
			if at, ok := late[p.Call]; ok && at.message < d.View.Origin(p.At).Message {
				delete(late, p.Call)
			}
		}
	}
	return late
}

// another returns what a second result for a call says that the first did
// not: nothing when they are the same.
func (d *Draft) another(i, part int) string {
	p := &d.History.At(i).Parts[part]
	x := d.Outline.ExchangeOf(i)
	if x < 0 {
		return quoteResult(p)
	}
	for m := d.Outline.Exchanges[x].From; m <= i; m++ {
		parts := d.History.At(m).Parts
		for k := range parts {
			if (m < i || k < part) && parts[k].Kind == chat.ToolResult && parts[k].ID == p.ID && parts[k].Text == p.Text {
				return ""
			}
		}
	}
	return quoteResult(p)
}

func quoteResult(p *chat.Part) string {
	name := p.Name
	if name == "" {
		name = "a tool"
	}
	text := p.Text
	if text == "" && len(p.Content) > 0 {
		text = fmt.Sprintf("(%d attachments)", len(p.Content))
	}
	return fmt.Sprintf("[result of %s whose call is not shown]\n%s", name, text)
}

func (d *Draft) quoteCall(p *chat.Part) string {
	call := p.Name
	d.enrich(partCalls, func() { call = evidence.Headline(p, 400) })
	return "[call without a valid id: " + call + "]"
}
