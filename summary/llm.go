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
	out := Output{Prose: prose, Used: "llm:" + r.name, Problems: r.problems, Calls: r.calls, Usage: r.usage}
	if reason != "" {
		out.Used, out.After = "builtin", "llm: "+quote.ClipLine(reason, 300)
	}
	if prose == "" {
		out.Text, out.Prose = in.builtinText()
		return out, nil
	}
	var lost int
	if out.Text, out.Prose, lost = composeFold(&in, prose); lost > 0 {
		// The notes take the room of what binds: where more of it fits without them, they go.
		if text, _, fewer := composeFold(&in, ""); fewer < lost {
			problem := fmt.Sprintf("lost_constraints: %d sentences of the user that bind have no room beside the notes", lost)
			out.Text, out.Prose, out.Problems = text, "", append(out.Problems, problem)
			out.Used, out.After = "builtin", "llm: "+problem
		}
	}
	return out, nil
}

// run is one summary being made.
type run struct {
	o       *LLMOptions
	in      *Input
	counter *token.Counter
	most    int // tokens of the prose

	problems []string

	mu     sync.Mutex
	window int
	name   string
	calls  int
	usage  chat.Usage
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
		r.problems = append(r.problems, problems...)
	}
	return "", fmt.Errorf("refused: %s", problems[0])
}

// piece is a stretch of messages that one call summarises, and its prose.
type piece struct {
	from, to int
	turn     bool // the first part of a turn that goes on
	most     int  // tokens of its prose

	text string
	asks asks // what the gate needs to know of it
}

// judgeParts returns why the parts of an answer are refused.
func (r *run) judgeParts(parts []piece) []string {
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
func joinParts(parts []piece) string {
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

// askForParts makes the calls for one prose: one, or two for a split turn, at once or one
// after the other.
func (r *run) askForParts(ctx context.Context, problems []string) ([]piece, error) {
	from, turn, to := r.in.Since, r.in.Turn, r.in.To
	pieces := []piece{{from: from, to: to, most: r.most}}
	if turn >= 0 {
		share := r.most * (turn - from) / max(to-from, 1)
		share = min(max(share, r.most/4), r.most*3/4)
		pieces = []piece{{from: from, to: turn, most: share}, {from: max(turn, from), to: to, turn: true, most: r.most - share}}
		if turn <= from {
			pieces = pieces[1:]
		}
	}
	errs := make([]error, len(pieces))
	var wg sync.WaitGroup
	for i := range pieces {
		ask := func() { errs[i] = r.summarisePiece(ctx, &pieces[i], problems) }
		if !r.o.Sequential {
			wg.Go(ask)
		} else if ask(); errs[i] != nil {
			break
		}
	}
	wg.Wait()
	if pieces[0].turn && strings.TrimSpace(r.in.Previous) != "" {
		pieces = append([]piece{{text: r.in.Previous}}, pieces...)
	}
	return pieces, cmp.Or(errs...)
}
