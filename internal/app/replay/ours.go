package replay

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"time"

	"github.com/winnow-llm/winnow"
	"github.com/winnow-llm/winnow/chat"
	"github.com/winnow-llm/winnow/model"
	"github.com/winnow-llm/winnow/plan"
	"github.com/winnow-llm/winnow/token"
)

// Ours returns the engine under some settings. The window, the counting and, save in
// the field, the trigger are the replay's; all else is the settings', and prices are
// those of the model that is charged.
func Ours(label string, set winnow.Settings) Policy {
	return Policy{Name: label, Begin: func(s Setup) (Step, error) { return beginEngine(s, set) }}
}

// beginEngine starts the engine on a session.
func beginEngine(s Setup, set winnow.Settings) (Step, error) {
	name := cmp.Or(s.run.price.Name, "unpriced") // nobody charges anything
	if s.run.works.Tokens == 0 {
		set.Window = s.Window
	}
	if !s.run.own {
		set.OutputReserve, set.Reserve = 1, -1
		if set.Threshold == 0 {
			set.Threshold = float64(s.Trigger) / float64(s.Window)
		}
		if set.Target == 0 || set.Target >= set.Threshold {
			set.Target = min(set.WithDefaults().Target, 0.9*set.Threshold)
		}
	}
	// The model's own prices, counted as everything is counted here.
	family := s.Counter().Family()
	w, err := engineFor(set, name, family, s.run.works)
	if err != nil {
		return nil, err
	}
	o := &oursRun{Setup: s, w: w, track: w.Track()}
	return o.fitNext, nil
}

type oursRun struct {
	Setup
	w     *winnow.Winnow
	track *winnow.Track

	sentAt int // length of the history at the last request; 0 before the first
	sent   Sent
	step   token.Step
}

func (o *oursRun) fitNext(ctx context.Context, h chat.History, idle time.Duration) (Sent, error) {
	req := chat.Request{System: o.run.session.System, Tools: o.run.session.Tools, History: h, Rules: Rules()}
	if o.sentAt > 0 {
		o.recordUsage(h)
	}
	s := o.track.State()
	s.Idle, s.ColdShare = idle, 0 // reports here say nothing of the cache
	r, err := o.w.Fit(ctx, req, s)
	var cannot *winnow.CannotFitError
	var short *winnow.NotLastingError
	switch {
	case errors.As(err, &cannot), errors.As(err, &short):
		s.RepairOnly = true
		why := err
		if r, err = o.w.Fit(ctx, req, s); err != nil {
			return Sent{}, err
		}
		err = giveUp{why}
	case err != nil:
		return Sent{}, err
	}
	o.track.Fitted(&r)
	o.sent, o.sentAt = Sent{Messages: viewMessages(h, r.View)}, h.Len()
	o.step = r.Sent()
	return o.sent, err
}

// recordUsage records what the provider would have reported for the last request.
func (o *oursRun) recordUsage(h chat.History) {
	o.step.Answer = o.Tokens(h.At(o.sentAt))
	o.step.Usage = chat.Usage{Input: o.Total(o.sent.Messages), Output: o.step.Answer}
	o.track.Record(o.step)
}

// engineFor makes an engine that counts in a vocabulary, for an agent's window.
func engineFor(set winnow.Settings, name string, f token.Family, agent model.Window) (*winnow.Winnow, error) {
	set.Model = name
	override, err := json.Marshal(map[string]any{"models": map[string]any{
		name: map[string]any{"family": f.String()},
	}})
	if err != nil {
		return nil, err
	}
	registry, err := model.Default().WithOverrides(override)
	if err != nil {
		return nil, err
	}
	return winnow.New(&winnow.Options{Settings: set, Registry: registry, Agent: agent})
}

// viewMessages returns a view's messages: the history's own where they stay as
// they are.
func viewMessages(h chat.History, v plan.View) []*chat.Message {
	msgs := make([]*chat.Message, v.Len())
	for i := range msgs {
		if raw := v.Raw(i); raw >= 0 {
			msgs[i] = h.At(raw)
		} else {
			msgs[i] = v.At(i)
		}
	}
	return msgs
}
