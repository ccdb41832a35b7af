package loop

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/winnow-llm/winnow/chat"
	"github.com/winnow-llm/winnow/llm"
	"github.com/winnow-llm/winnow/session"
	"github.com/winnow-llm/winnow/wire"
)

// Model answers requests and hands on the words as they come. [*llm.Client] is
// one.
type Model interface {
	// Stream is as [llm.Client.Stream]: where an answer breaks off, what came
	// so far is returned with the error; a request that is too long is an
	// [*llm.OverflowError].
	Stream(ctx context.Context, req *llm.Request, text func(words string) error) (*wire.Answer, error)
}

// Options say how the agent works. The zero value works.
type Options struct {
	// Output is the most tokens of an answer; 0 leaves that to the provider.
	Output int

	// Trust runs every call without asking.
	Trust bool
}

// maxSteps is how many answers with calls one turn may have.
const maxSteps = 100

// ErrInterrupted says that the person cancelled what ran.
var ErrInterrupted = errors.New("interrupted")

// answerMessage takes the user's message and works until the model has answered. With
// an empty text it goes on from where the session stands. It returns
// [ErrInterrupted] when ctx ends. finishTurn must follow in every case.
func (d *Driver) answerMessage(ctx context.Context, text string) error {
	d.session.Begin()
	if _, err := d.settleCalls(ctx); err != nil {
		return err
	}
	if text != "" {
		if _, err := d.session.Append(context.WithoutCancel(ctx), chat.TextMessage(chat.User, text)); err != nil {
			return err
		}
	}
	d.ui.Event(Event{Kind: Asked, Text: text})
	for range maxSteps {
		answer, err := d.askModel(ctx)
		if err != nil {
			return err
		}
		calls := callsIn(&answer.Message)
		if len(calls) == 0 {
			if say := unusualStops[answer.Stop]; say != "" {
				d.note("%s", say)
			}
			return nil
		}
		results := d.runCalls(ctx, calls)
		if _, err := d.session.Append(context.WithoutCancel(ctx), results...); err != nil {
			return err
		}
		if ctx.Err() != nil {
			return ErrInterrupted
		}
	}
	d.note("stopped after %d steps in one turn; say \"go on\" to continue", maxSteps)
	return nil
}

// unusualStops is what is told of an answer that ended in an unusual way.
var unusualStops = map[string]string{
	wire.StopLength:  "the answer reached the output limit and may be cut off; --max-tokens raises it",
	wire.StopFilter:  "the provider withheld the answer",
	wire.StopRefusal: "the model refused",
}

// askModel gets one answer and writes it into the session. A request that is too
// long is compacted and sent again.
func (d *Driver) askModel(ctx context.Context) (*wire.Answer, error) {
	for {
		call, err := d.prepareCall(ctx)
		if err != nil {
			return nil, d.keepPartial(ctx, nil, err)
		}
		l := call.Status.Limits
		answer, err := d.model.Stream(ctx, &llm.Request{
			System: call.Request.System, Tools: call.Request.Tools,
			Messages: chat.Messages(call.Messages), Output: d.o.Output,
			Room: max(l.Context-call.Status.Count.Upper(), l.Reserve), // what is kept free is never too much to ask for
		}, func(words string) error {
			d.ui.Event(Event{Kind: Words, Text: words})
			return nil
		})
		if err == nil {
			return answer, d.keepAnswer(ctx, answer)
		}
		var over *llm.OverflowError
		if ctx.Err() != nil || !errors.As(err, &over) {
			return nil, d.keepPartial(ctx, answer, err)
		}
		if err := d.recoverOverflow(ctx, over); err != nil {
			return nil, d.keepPartial(ctx, nil, err)
		}
	}
}

// prepareCall prepares the next call, which may mean a compaction.
func (d *Driver) prepareCall(ctx context.Context) (session.Call, error) {
	f, err := d.Measure()
	if err != nil {
		return session.Call{}, err
	}
	due := f.Next == NextCompacts || f.Next == NextStuck
	if due {
		if f.Next == NextCompacts {
			d.ui.Event(Event{Kind: Filled, Fill: f})
		}
		d.ui.Event(Event{Kind: Compacting, Text: "threshold"})
	}
	d.session.SetAuto(d.isAuto())
	call, err := d.session.Next(ctx)
	if err != nil {
		if due && ctx.Err() == nil {
			d.stuck.Store(true)
			d.told = true
		}
		return call, err
	}
	if call.Compacted != nil {
		d.reportCompaction(call.Compacted)
	} else if due {
		d.stuck.Store(true)
	}
	for _, n := range call.Notes {
		d.note("not compacted: %s", strings.TrimPrefix(n, "session "+d.session.ID()+": compact: "))
	}
	return call, nil
}

// recoverOverflow makes room after a request that was too long.
func (d *Driver) recoverOverflow(ctx context.Context, over *llm.OverflowError) error {
	if !d.isAuto() {
		return fmt.Errorf("%w; automatic compaction is off: /compact makes room, then /retry", over)
	}
	d.ui.Event(Event{Kind: Compacting, Text: "overflow"})
	c, err := d.session.Overflowed(ctx, d.overflowLimit(over))
	if err != nil {
		return err
	}
	d.reportCompaction(c)
	return nil
}

// overflowLimit returns the provider's limit in the session's own tokens: where the
// provider says how many it has counted, that count and the session's give the
// proportion. The session deals with a limit that is unknown, or above that count.
func (d *Driver) overflowLimit(over *llm.OverflowError) int {
	limit, actual := over.ContextLimit(), over.Err.Verdict.Actual
	_, st, err := d.session.NeedsCompaction()
	if err != nil || limit <= 0 || actual <= limit {
		return limit
	}
	return int(float64(limit) * float64(st.Count.Tokens) / float64(actual))
}

// keepAnswer writes a whole answer into the session.
func (d *Driver) keepAnswer(ctx context.Context, answer *wire.Answer) error {
	m := &answer.Message
	// Thinking and blank words alone are nothing that a provider accepts.
	if !slices.ContainsFunc(m.Parts, func(p chat.Part) bool {
		return p.Kind != chat.Thinking && (p.Kind != chat.Text || strings.TrimSpace(p.Text) != "")
	}) {
		m.Parts = append(m.Parts, chat.Part{Kind: chat.Text, Text: "(no answer)"})
	}
	if _, err := d.session.Answered(context.WithoutCancel(ctx), *m, answer.Usage); err != nil {
		return err
	}
	d.ui.Event(Event{Kind: Answered, Text: m.Text()})
	return nil
}

// Marks at the end of answers that are not whole.
const (
	cutByUser  = "[The user interrupted this answer.]"
	cutByError = "[This answer broke off.]"
)

// keepPartial keeps what came of an answer that did not come to its end, and
// returns the error to report. Thinking and calls are left out: half of them
// means nothing, and a provider would refuse it.
func (d *Driver) keepPartial(ctx context.Context, part *wire.Answer, err error) error {
	text := ""
	if part != nil {
		text = strings.TrimSpace(part.Message.Text())
	}
	mark := cutByError
	if ctx.Err() != nil {
		mark, err = cutByUser, ErrInterrupted
	}
	if text == "" && ctx.Err() == nil {
		return err // nothing came: the message can be asked again
	}
	if text != "" {
		text += "\n\n"
	}
	m := chat.TextMessage(chat.Assistant, text+mark)
	if part != nil {
		m.Model = part.Message.Model
	}
	if _, werr := d.session.Append(context.WithoutCancel(ctx), m); werr != nil {
		return errors.Join(err, werr)
	}
	return err
}

func callsIn(m *chat.Message) []chat.Part {
	return slices.DeleteFunc(slices.Clone(m.Parts), func(p chat.Part) bool { return p.Kind != chat.ToolCall })
}

// settleCalls answers calls at the session's end that never got a result, as after
// a crash, so that the conversation can go on. It returns how many there were.
func (d *Driver) settleCalls(ctx context.Context) (int, error) {
	c, err := d.session.Context()
	if err != nil {
		return 0, err
	}
	h := c.Request.History
	all := chat.NewOutline(h).Exchanges
	if len(all) == 0 || all[len(all)-1].To != h.Len() {
		return 0, nil
	}
	last := all[len(all)-1]
	var results []chat.Message
	for _, call := range callsIn(h.At(last.From)) {
		if slices.Contains(last.Open, call.ID) {
			results = append(results, callResult(call, "not known: the session ended before this call returned", true))
		}
	}
	if len(results) > 0 {
		_, err = d.session.Append(context.WithoutCancel(ctx), results...)
	}
	return len(results), err
}

// callResult returns the answer to a call.
func callResult(call chat.Part, text string, failed bool) chat.Message {
	m := chat.ResultMessage(call.ID, text)
	m.Parts[0].Name, m.Parts[0].Failed = call.Name, failed
	return m
}
