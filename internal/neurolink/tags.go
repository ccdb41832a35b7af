package neurolink

import (
	"cmp"
	"errors"
	"fmt"
	"iter"
	"slices"

	"github.com/winnow-llm/winnow/chat"
	"github.com/winnow-llm/winnow/plan"
)

// ErrTags says that the tags of messages make no sense: one points to a summary
// that is not there, for example.
var ErrTags = errors.New("the tags make no sense")

// Tags are the five fields with which NeuroLink marks hidden messages in place,
// instead of keeping a plan.
type Tags struct {
	CondenseID         string `json:"condenseId,omitempty"`         // on a summary
	CondenseParent     string `json:"condenseParent,omitempty"`     // on what it replaces
	TruncationID       string `json:"truncationId,omitempty"`       // on a marker
	TruncationParent   string `json:"truncationParent,omitempty"`   // on what it hides
	IsTruncationMarker bool   `json:"isTruncationMarker,omitempty"` // on a marker
}

// Tagged is a message with tags.
type Tagged struct {
	chat.Message
	Tags

	// Truncated is on a message that was made to stand for what is gone: a call's
	// result that never came, for example.
	Truncated bool
}

// stateID is the id of the summary that tells how things stand. It hides
// nothing, and by its id it is known again for what it is.
const stateID = "winnow-state"

// Export writes a plan's folds and drops as tags on the messages of the
// history, with summaries and markers in their places, and its state as a summary
// that hides nothing. An answer becomes a result that is marked as truncated.
// Masks have no tags: left says how many edits could not be exported. The messages
// are made one by one, since there may be a million.
func Export(h chat.History, p *plan.Plan) (tagged iter.Seq[Tagged], left int, err error) {
	p = cmp.Or(p, &plan.Plan{})
	if !h.StartsWith(p.Len, p.Prefix) {
		return nil, 0, fmt.Errorf("neurolink: plan %s: %w", p.ID(), plan.ErrMismatch)
	}
	left = putTags(h, p, func(Tagged) bool { return true })
	return func(yield func(Tagged) bool) { putTags(h, p, yield) }, left, nil
}

// putTags puts the messages with their tags, until somebody has enough of them.
func putTags(h chat.History, p *plan.Plan, put func(Tagged) bool) (left int) {
	next := 0
	for i := 0; i <= h.Len(); {
		var answers []Tagged
		for next < len(p.Edits) && p.Edits[next].From == i && p.Edits[next].Part >= 0 {
			if e := &p.Edits[next]; e.Kind == plan.Answer && e.CallID != "" {
				answers = append(answers, Tagged{Message: answerMessage(h, e), Truncated: true})
			} else {
				left++
			}
			next++
		}
		if next == len(p.Edits) || p.Edits[next].From != i {
			if i < h.Len() && !put(Tagged{Message: *h.At(i)}) || slices.ContainsFunc(answers, func(t Tagged) bool { return !put(t) }) {
				return left
			}
			i++
			continue
		}
		left += len(answers) // the run takes them in
		e := &p.Edits[next]
		next++
		name := e.Handle
		switch {
		case e.Kind == plan.State:
			name = stateID
		case name == "":
			name = plan.Handle(h, e.From, e.To, -1)
		}
		stand := chat.TextMessage(chat.User, e.Text)
		stand.Synthetic = true
		t := Tagged{Message: stand}
		var parent Tags
		if e.Kind != plan.Drop {
			t.CondenseID, parent.CondenseParent = name, name
		} else {
			t.TruncationID, t.IsTruncationMarker, parent.TruncationParent = name, true, name
		}
		if !put(t) {
			return left
		}
		for ; i < e.To; i++ {
			m := Tagged{Message: *h.At(i)}
			if !slices.Contains(e.Keep, i) {
				m.Tags = parent
			}
			if !put(m) {
				return left
			}
		}
		for next < len(p.Edits) && p.Edits[next].From < e.To {
			next++
			left++
		}
	}
	return left
}

// answerMessage returns the result that an edit gives a call.
func answerMessage(h chat.History, e *plan.Edit) chat.Message {
	m := chat.ResultMessage(e.CallID, e.Text)
	m.Synthetic = true
	m.Parts[0].Name, m.Parts[0].Failed = h.At(e.From).Parts[e.Part].Name, true
	return m
}

// Import reads tags back into a history and a plan. Summaries and markers are not
// part of the history, unless they hide nothing and do not stand for the state;
// where a later one hides one, the later one counts. Import leaves out calls and
// results that stand for lost ones: the sender of the history mends it. The error
// wraps [ErrTags].
func Import(tagged []Tagged, r chat.Rules) (chat.History, *plan.Plan, error) {
	tagged = slices.DeleteFunc(slices.Clone(tagged), func(t Tagged) bool { return t.Truncated && standKey(&t) == "" })
	stands := make(map[string]*Tagged)
	up := func(t *Tagged) string {
		if t.CondenseParent != "" {
			return "c" + t.CondenseParent
		}
		if t.TruncationParent != "" {
			return "t" + t.TruncationParent
		}
		return ""
	}
	for i := range tagged {
		t := &tagged[i]
		key := standKey(t)
		if key == "" {
			continue
		}
		if stands[key] != nil {
			return chat.History{}, nil, fmt.Errorf("%w: message %d: a second summary or marker has the id %q", ErrTags, i, key[1:])
		}
		stands[key] = t
	}
	// top follows summaries of summaries to the visible one.
	top := func(key string) (string, error) {
		for steps := 0; ; steps++ {
			t := stands[key]
			switch {
			case t == nil:
				return "", fmt.Errorf("%w: messages are hidden by %q, but no summary or marker has that id", ErrTags, key[1:])
			case up(t) == "":
				return key, nil
			case steps > len(stands):
				return "", fmt.Errorf("%w: the summary %q is hidden by itself", ErrTags, key[1:])
			}
			key = up(t)
		}
	}

	roots := make([]string, len(tagged)) // what hides each message in the end
	hides := make(map[string]bool)
	for i := range tagged {
		t := &tagged[i]
		if key := up(t); key != "" && standKey(t) == "" {
			root, err := top(key)
			if err != nil {
				return chat.History{}, nil, err
			}
			roots[i], hides[root] = root, true
		}
	}

	var msgs []chat.Message
	runs := make(map[string]*plan.Edit)
	var order []string
	var state *plan.Edit
	for i := range tagged {
		t := &tagged[i]
		if key := standKey(t); hides[key] || key != "" && up(t) != "" {
			continue
		}
		at := len(msgs)
		if t.CondenseID == stateID {
			state = importEdit(standKey(t), t)
			state.Kind, state.Handle, state.From, state.To = plan.State, "", at, at
			continue
		}
		msgs = append(msgs, t.Message)
		key := roots[i]
		if key == "" {
			continue
		}
		e := runs[key]
		if e == nil {
			e = importEdit(key, stands[key])
			e.From = at
			runs[key] = e
			order = append(order, key)
		} else {
			for k := e.To; k < at; k++ {
				e.Keep = append(e.Keep, k)
			}
		}
		e.To = at + 1
	}
	h := chat.NewHistory(msgs...)
	edits := make([]plan.Edit, 0, len(order))
	for _, key := range order {
		e := runs[key]
		edits = append(edits, *e)
		if state != nil && e.From < state.From && state.From < e.To { // it stands after the hidden messages around it
			state.From, state.To = e.To, e.To
		}
	}
	if state != nil {
		edits = append(edits, *state)
	}
	if len(edits) == 0 {
		return h, nil, nil
	}
	p, err := plan.Compose(nil, h, r, nil, edits...)
	if err != nil {
		return chat.History{}, nil, fmt.Errorf("%w: %w", ErrTags, err)
	}
	return h, p, nil
}

// standKey names a summary or marker among all of them; "" for other messages.
func standKey(t *Tagged) string {
	switch {
	case t.CondenseID != "":
		return "c" + t.CondenseID
	case t.IsTruncationMarker:
		return "t" + t.TruncationID
	}
	return ""
}

// importEdit returns the edit for a summary or marker.
func importEdit(key string, t *Tagged) *plan.Edit {
	e := &plan.Edit{Kind: plan.Fold, Part: -1, Text: t.Text(), Stage: "import", Handle: key[1:]}
	if key[0] == 't' {
		e.Kind = plan.Drop
	}
	e.Text = cmp.Or(e.Text, "(no content)")
	return e
}
