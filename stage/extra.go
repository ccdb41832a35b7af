package stage

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/winnow-llm/winnow/chat"
	"github.com/winnow-llm/winnow/internal/guard"
	"github.com/winnow-llm/winnow/plan"
	"github.com/winnow-llm/winnow/summary"
)

// proposeGuarded asks a stage for edits, and turns a panic of it into an error.
func proposeGuarded(ctx context.Context, s Stage, d *Draft, need chat.Size) (edits []plan.Edit, err error) {
	if left := guard.Do(s.Name(), func() { edits, err = s.Propose(ctx, d, need) }); left != nil {
		d.left.names = append(d.left.names, left.Part)
		return nil, errors.New("skipped: it panicked: " + strings.TrimPrefix(left.Why, guard.Fault))
	}
	return edits, err
}

// checkAllowed says why an edit must not be made; nil where it may.
func (d *Draft) checkAllowed(e *plan.Edit) error {
	if e.From < 0 || e.To > d.History.Len() || e.From > e.To {
		return fmt.Errorf("rolled back: there are no messages %d to %d", e.From, e.To)
	}
	if !isRun(e) {
		removes := e.Kind == plan.Mask && e.Text == "" && e.From < d.Live && d.mayMask(e.From, e.Part)
		if removes || d.Editable(e.From, e.Part) {
			return nil
		}
		return fmt.Errorf("rolled back: part %d of message %d must stay as it is", e.Part, e.From)
	}
	if e.To > d.Live {
		return fmt.Errorf("rolled back: messages from %d on are what the next call is about", d.Live)
	}
	for i := e.From; i < e.To; i++ {
		if d.keep[i] && !containsSorted(e.Keep, i) {
			return fmt.Errorf("rolled back: message %d must stay", i)
		}
	}
	return nil
}

// noteAuthor returns who wrote a summary, and notes that another summariser than
// the one asked did.
func (d *Draft) noteAuthor(out *summary.Output) string {
	if out.After == "" {
		return out.Used
	}
	d.notes = append(d.notes, "the built-in summary was used instead of "+out.After)
	return out.Used + " after " + out.After
}
