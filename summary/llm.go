package summary

import (
	"cmp"
	"context"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/winnow-llm/winnow/chat"
	"github.com/winnow-llm/winnow/internal/quote"
	"github.com/winnow-llm/winnow/token"
)

// Model is a language model that completes one prompt.
type Model interface {
	// Complete answers the prompt, and tries again by itself where that is of use.
	// It should return when ctx is done; a model that does not is abandoned. An
	// error for a prompt that is too long has a method ContextLimit() int, with the
	// limit in tokens or 0 where it is not known.
	Complete(ctx context.Context, p Prompt) (Completion, error)
}

// ModelFunc makes a function a [Model].
type ModelFunc func(ctx context.Context, p Prompt) (Completion, error)

// Complete calls the function.
func (f ModelFunc) Complete(ctx context.Context, p Prompt) (Completion, error) { return f(ctx, p) }

// Completion is a model's answer.
type Completion struct {
	Text string

	// Model is the name of the model that answered.
	Model string

	// Stop is why it stopped, in the provider's words; see [CutOff].
	Stop string

	// ToolCalls is how many tools it called.
	ToolCalls int

	Usage chat.Usage
}

// LLMOptions say how a summariser asks its model. Only Model is required.
type LLMOptions struct {
	Model Model

	// Name is the model's name for reports where the model does not say it itself.
	Name string

	// Window is how many tokens the model takes, prompt and answer together.
	// The default is 128,000. A smaller window that an error reports is used instead.
	Window int

	// Output is the most tokens of one answer. The default is 8,192.
	Output int

	// Timeout is for one summary with all its calls. The default is five minutes.
	Timeout time.Duration

	// Sequential makes one call at a time, for providers that allow no more.
	Sequential bool

	// Counter counts for the summariser's model. The default is the input's.
	Counter *token.Counter
}

// NewLLM returns a summariser that asks a model for the prose, in one call, or two
// where a turn is split. The model reads what code makes of the messages: every
// word, every action in a line, every file once. That stands beside the prose
// too, so the prose tells only what code cannot. When the model fails or its answer is
// refused twice, the prose is the built-in one and Output.After says why: Summarize
// fails only when its own context is done.
func NewLLM(opts *LLMOptions) Summarizer {
	var o LLMOptions
	if opts != nil {
		o = *opts
	}
	o.Window = cmp.Or(max(o.Window, 0), 128_000)
	o.Output = cmp.Or(max(o.Output, 0), 8192)
	o.Timeout = cmp.Or(max(o.Timeout, 0), 5*time.Minute)
	o.Name = cmp.Or(o.Name, "unnamed")
	return &llm{o}
}

type llm struct{ o LLMOptions }

// smallest is the fewest tokens of a text for which a model is asked: less is
// too little for its sections.
const smallest = 400

func (l *llm) Summarize(ctx context.Context, in Input) (Output, error) {
	in, err := in.withDefaults()
	if err != nil {
		return Output{}, err
	}
	if err := ctx.Err(); err != nil {
		return Output{}, err
	}
	r := &run{o: &l.o, in: &in, window: l.o.Window, counter: cmp.Or(l.o.Counter, in.Counter), name: l.o.Name}
	reason := ""
	prose := ""
	switch limit := in.textLimit(); {
	case l.o.Model == nil:
		reason = "no model was given"
	case limit < smallest:
		reason = fmt.Sprintf("%d tokens are too few for its sections", limit)
	default:
		r.most = limit / 2
		inner, cancel := context.WithTimeout(ctx, l.o.Timeout)
		prose, err = r.writeProse(inner)
		cancel()
		if ctxErr := ctx.Err(); ctxErr != nil {
			return Output{}, ctxErr
		}
		if err != nil {
			reason, prose = err.Error(), ""
		}
	}
	r.mu.Lock()
	out := Output{Prose: prose, Used: "llm:" + r.name, Problems: r.problems, Calls: r.calls, Usage: r.usage}
	r.mu.Unlock()
	if reason != "" {
		out.Used, out.After = "builtin", "llm: "+quote.ClipLine(reason, 300)
	}
	if prose == "" {
		out.Text, out.Prose = in.builtinText()
		return out, nil
	}
	out.Text, out.Prose = composeFold(&in, prose)
	out.keepConstraints(&in)
	return out, nil
}

// keepConstraints looks once more, at the whole text: where a model's prose
// takes the room that the user's constraints need, the built-in prose, which
// gives way to them, stands in its place.
func (o *Output) keepConstraints(in *Input) {
	ask := asks{constraints: true, prose: o.Prose}
	lost := checkSummary(o.Text, *in, ask)
	if len(lost) == 0 {
		return
	}
	text, prose := composeFold(in, "")
	if len(checkSummary(text, *in, ask)) >= len(lost) {
		return
	}
	o.Problems = append(o.Problems, lost...)
	o.Used, o.After = "builtin", "llm: "+quote.ClipLine(lost[0], 300)
	o.Text, o.Prose = text, prose
}

// run is one summary being made.
type run struct {
	o       *LLMOptions
	in      *Input
	counter *token.Counter
	most    int // tokens of the prose

	mu       sync.Mutex
	window   int
	name     string
	calls    int
	usage    chat.Usage
	problems []string
}

// writeProse asks for a prose and holds it to the gate: once, and once more with the
// reasons for which the first was refused.
func (r *run) writeProse(ctx context.Context) (string, error) {
	var problems []string
	for range 2 {
		parts, err := r.askForParts(ctx, problems)
		if err != nil {
			return "", err
		}
		problems = r.judgeParts(parts)
		if len(problems) == 0 {
			return joinParts(parts), nil
		}
		r.mu.Lock()
		r.problems = append(r.problems, problems...)
		r.mu.Unlock()
	}
	return "", fmt.Errorf("refused: %s", problems[0])
}

// part is a prose with what the gate needs to know of it.
type part struct {
	text string
	turn bool
	asks asks
}

// judgeParts returns why the parts of an answer are refused.
func (r *run) judgeParts(parts []part) []string {
	in := *r.in
	in.Max = r.most + r.most/2
	var out []string
	for _, p := range parts {
		out = append(out, checkSummary(p.text, in, p.asks)...)
	}
	if n := in.Counter.Text(joinParts(parts)); len(out) == 0 && n > in.Max {
		out = append(out, fmt.Sprintf("larger: the notes have %d tokens, the limit is %d", n, in.Max))
	}
	return out
}

// joinParts puts the summaries of history and turn together.
func joinParts(parts []part) string {
	var b strings.Builder
	for _, p := range parts {
		body := joinSections(splitSections(p.text))
		if body == "" {
			continue
		}
		if p.turn && b.Len() > 0 {
			b.WriteString("\n" + quote.Divider + "\n")
		}
		b.WriteString(body)
	}
	return b.String()
}

// requiredSections returns the sections without which a prose is refused. The others may be
// missing: many models leave out a heading that they have nothing to say under.
func (in *Input) requiredSections(turn bool) []string {
	switch {
	case turn && in.Open:
		return []string{sectionState}
	case turn:
		return []string{sectionDecisions}
	case in.Open:
		return []string{sectionGoal, sectionDecisions, sectionOpen, sectionState}
	}
	return []string{sectionGoal, sectionDecisions}
}

// askForParts makes the calls for one prose: one, or two for a split turn.
func (r *run) askForParts(ctx context.Context, problems []string) ([]part, error) {
	from := r.in.Since
	if r.in.Turn < 0 {
		p, err := r.summarisePiece(ctx, from, r.in.To, false, r.most, problems)
		return []part{p}, err
	}
	parts := []part{{text: r.in.Previous}, {}}
	share := r.most * (r.in.Turn - from) / max(r.in.To-from, 1)
	share = min(max(share, r.most/4), r.most*3/4)
	var jobs []func() error
	if r.in.Turn > from {
		jobs = append(jobs, func() (err error) {
			parts[0], err = r.summarisePiece(ctx, from, r.in.Turn, false, share, problems)
			return err
		})
	}
	jobs = append(jobs, func() (err error) {
		parts[1], err = r.summarisePiece(ctx, max(r.in.Turn, from), r.in.To, true, r.most-share, problems)
		return err
	})
	if err := r.runJobs(jobs); err != nil {
		return nil, err
	}
	if strings.TrimSpace(parts[0].text) == "" {
		parts = parts[1:]
	}
	return parts, nil
}

// runJobs runs jobs, at once or one after the other, and returns the first error.
func (r *run) runJobs(jobs []func() error) error {
	var wg sync.WaitGroup
	errs := make([]error, len(jobs))
	for i, job := range jobs {
		wg.Go(func() { errs[i] = job() })
		if !r.o.Sequential {
			continue
		}
		if wg.Wait(); errs[i] != nil {
			break
		}
	}
	wg.Wait()
	return cmp.Or(errs...)
}
