package stage

import (
	"fmt"
	"slices"

	"github.com/winnow-llm/winnow/chat"
	"github.com/winnow-llm/winnow/internal/work"
	"github.com/winnow-llm/winnow/plan"
)

// Texts that stand in for what is not there.
const (
	noResult  = "[no result: the call was interrupted, or its result was lost or came late]"
	noContent = "(no content)"
	noStart   = "[the conversation starts here]"
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
	if err := d.repairView(pending); err != nil {
		return nil, err
	}
	return d.added, nil
}

// repairView adds answers until the view obeys the rules, and ends a loop that an
// earlier plan took the thinking of. Mending one thing can bring another to light (a call that is quoted leaves its result without a
// partner), so it goes round a few times.
func (d *Draft) repairView(pending bool) error {
	const rounds = 6
	var problems []chat.Problem
	for range rounds {
		problems = brokenRules(d.Rules, d.View)
		if pending {
			problems = slices.DeleteFunc(d.Rules.Check(d.View), isImages)
		}
		if _, open := d.View.CloseLoop(d.Rules); len(problems) == 0 && !open {
			return nil
		}
		all := withoutVain(plan.Overlay(d.added, d.mendProblems(problems)))
		view, all, err := d.composeView(all)
		if err != nil {
			return fmt.Errorf("stage: repair: %w", err)
		}
		d.added, d.View = all, view
	}
	if problems = brokenRules(d.Rules, d.View); len(problems) > 0 {
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

// mendProblems returns an edit for each problem that an edit can solve.
func (d *Draft) mendProblems(problems []chat.Problem) []plan.Edit {
	var edits []plan.Edit
	taken := make(map[plan.Ref]bool)
	add := func(e plan.Edit) {
		if ref := e.Ref(); !taken[ref] || e.CallID != "" {
			taken[ref] = true
			e.Stage = "repair"
			edits = append(edits, e)
		}
	}
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
		i, part, ok := d.findSource(p, gone)
		if !ok || p.Rule == chat.RuleUnanswered && unclear[p.At] {
			continue
		}
		m := d.History.At(i)
		e := plan.Edit{Kind: plan.Answer, From: i, To: i + 1, Part: part, Why: p.Message}
		switch p.Rule {
		case chat.RuleUnanswered:
			e.CallID, e.Text, e.Why = p.Call, noResult, "the call has no result"
		case chat.RuleOrphan:
			e = d.quoteOrphan(i, part, &d.View.At(p.At).Parts[p.Part])
		case chat.RuleDuplicate:
			e.Text, e.Why = d.secondResult(i, part), "the call is answered twice"
		case chat.RuleCallID:
			e.Text = d.quoteCall(&m.Parts[part])
		case chat.RuleRole:
			for k := range m.Parts {
				switch q := &m.Parts[k]; {
				case q.Kind == chat.ToolCall && m.Role != chat.Assistant:
					e.Part, e.Text = k, d.quoteCall(q)
					add(e)
				case q.Kind == chat.ToolResult && (m.Role == chat.Assistant || m.Role == chat.System):
					e.Part, e.Text = k, quoteResult(q, q)
					add(e)
				}
			}
			continue
		case chat.RuleEmpty:
			e.Part = 0
			if i == 0 || m.Role != chat.Assistant || !m.Empty() { // else words in its place would open a loop that must start with thinking
				e.Kind, e.Text = plan.Mask, noContent
			}
		case chat.RuleEmptyText:
			e.Kind = plan.Mask
		case chat.RuleUserFirst, chat.RuleCallAfter:
			e.Kind, e.To, e.Part, e.Text = plan.Drop, i, -1, goOn
			if p.Rule == chat.RuleUserFirst {
				e.Text = noStart
			}
			if of := d.View.Plan(); e.Text == goOn && (of == nil || of.Join == plan.JoinNone) || m.Role == chat.Tool && m.Has(chat.ToolResult) {
				continue // an orphan becomes a user's message
			}
		default:
			continue
		}
		add(e)
	}
	return edits
}

// findSource finds the message and part of the history that a problem of the view
// is about. Messages of the view may have lost parts, which gone lists, or been
// joined.
func (d *Draft) findSource(p chat.Problem, gone map[plan.Ref]bool) (message, part int, ok bool) {
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

// mendParted returns the edits for a view in which calls and the results that answer
// them were parted; none where something else is wrong with it.
func (d *Draft) mendParted(v plan.View, problems []chat.Problem) []plan.Edit {
	if slices.ContainsFunc(problems, func(p chat.Problem) bool { return p.Rule != chat.RuleOrphan && p.Rule != chat.RuleUnanswered }) {
		return nil
	}
	was := d.View
	d.View = v
	defer func() { d.View = was }()
	return d.mendProblems(problems)
}

// quoteOrphan turns a result that has no call before it into text, where it
// stands and as it is seen: it may be shortened already.
func (d *Draft) quoteOrphan(i, part int, seen *chat.Part) plan.Edit {
	p := &d.History.At(i).Parts[part]
	e := plan.Edit{Kind: plan.Answer, From: i, To: i + 1, Part: part, Why: "the result answers no call directly before it"}
	of := p
	if c := d.Call(i, part); c.ID != "" {
		of = c
	}
	e.Text = quoteResult(of, seen)
	for _, m := range d.Edits() {
		if m.Kind == plan.Mask && m.Ref() == e.Ref() {
			e.Handle, e.Before, e.After = m.Handle, m.Before, m.After
		}
	}
	if n := len(seen.Content); n > 0 {
		e.Handle = plan.Handle(d.History, i, i+1, part)
		e.Text += fmt.Sprintf("\n[%d attachments left out; original: %s]", n, d.redeemHint(e.Handle))
	}
	return e
}

// secondResult returns what a second result for a call says that the first did
// not: nothing when they are the same.
func (d *Draft) secondResult(i, part int) string {
	p := &d.History.At(i).Parts[part]
	if x := d.Outline.ExchangeOf(i); x >= 0 {
		if first := d.resultOf(d.Outline.Exchanges[x].From, p.ID); first != nil && first != p && first.Text == p.Text {
			return ""
		}
	}
	return quoteResult(p, p)
}

// quoteResult returns what a result says as text, with the call that it answers
// where that is known: of is that call, or else the result itself.
func quoteResult(of, p *chat.Part) string {
	switch {
	case of.Kind == chat.ToolCall:
		return fmt.Sprintf("[late result of %s]\n%s", work.Headline(of, 200), p.Text)
	case of.Name != "":
		return fmt.Sprintf("[result of %s whose call is not shown]\n%s", of.Name, p.Text)
	}
	return "[result of a tool whose call is not shown]\n" + p.Text
}

func (d *Draft) quoteCall(p *chat.Part) string {
	call := p.Name
	d.makePart(partCalls, func() { call = work.Headline(p, 400) })
	return "[call without a valid id: " + call + "]"
}
