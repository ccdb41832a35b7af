package session

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os/exec"
	"slices"
	"strings"
	"time"

	"github.com/winnow-llm/winnow/chat"
	plain "github.com/winnow-llm/winnow/internal/text"
	"github.com/winnow-llm/winnow/summary"
)

// Command is a hook in a settings file: a program that is run at an event. It
// gets one JSON object on standard input and may answer with one on standard
// output; nothing is an answer too. A program that cannot be run, fails, takes
// too long or answers nonsense counts as one that has nothing to say.
//
// Every object has event and session. Answers:
//
//	before_compact   {"cancel": true} or {"summary": "…", "first_kept": "ID"}
//	before_navigate  {"cancel": true} or {"summary": "…"}
//	before_call      {"append": "…"}: a note for this one call
//	after_compact, compact_failed, after_navigate: nothing is read
type Command struct {
	// On is the event.
	On string `json:"on" yaml:"on"`

	// Run is the program and its arguments. No shell is involved.
	Run []string `json:"run" yaml:"run"`

	// Timeout is how long it may take; the default is 10 seconds.
	Timeout time.Duration `json:"timeout,omitempty" yaml:"timeout,omitempty"`

	// Dir is where it runs; by default where the program runs.
	Dir string `json:"dir,omitempty" yaml:"dir,omitempty"`
}

// events are the events that commands can be run at.
var events = []string{"before_compact", "after_compact", "compact_failed", "before_navigate", "after_navigate", "before_call"}

// Validate says what is wrong with the command.
func (c *Command) Validate() error {
	switch {
	case !slices.Contains(events, c.On):
		return fmt.Errorf("hook on %q: there is no such event; there are %s", c.On, strings.Join(events, ", "))
	case len(c.Run) == 0 || c.Run[0] == "":
		return fmt.Errorf("hook on %s: run is empty; name the program and its arguments as a list", c.On)
	case c.Timeout < 0:
		return fmt.Errorf("hook on %s: timeout %v is negative", c.On, c.Timeout)
	}
	return nil
}

// maxAnswer is the most that is read of a program's answer.
const maxAnswer = 16 << 20

// limited keeps what fits and drops the rest.
type limited struct {
	bytes.Buffer
	over bool
}

func (l *limited) Write(b []byte) (int, error) {
	if l.Len()+len(b) > maxAnswer {
		l.over = true
		return len(b), nil
	}
	return l.Buffer.Write(b)
}

// runProgram runs the program with a question and reads its answer into answer.
func (c *Command) runProgram(ctx context.Context, question map[string]any, answer any) error {
	question["event"] = c.On
	in, err := marshalPlain(question)
	if err != nil {
		return err
	}
	cmd := exec.CommandContext(ctx, c.Run[0], c.Run[1:]...)
	separate(cmd)
	cmd.Dir = c.Dir
	cmd.Stdin = bytes.NewReader(append(in, '\n'))
	var out, said limited
	cmd.Stdout, cmd.Stderr = &out, &said
	cmd.WaitDelay = 500 * time.Millisecond // for children that keep the pipes open
	err = cmd.Run()
	switch {
	case errors.Is(ctx.Err(), context.DeadlineExceeded):
		return fmt.Errorf("%s did not answer within %v", c.Run[0], cmp.Or(c.Timeout, hookTimeout))
	case ctx.Err() != nil:
		return fmt.Errorf("%s: %w", c.Run[0], ctx.Err())
	}
	if err != nil && !errors.Is(err, exec.ErrWaitDelay) {
		if msg := plain.Brief(said.String(), 200); msg != "" {
			return fmt.Errorf("%s: %w: %s", c.Run[0], err, msg)
		}
		return fmt.Errorf("%s: %w", c.Run[0], err)
	}
	if out.over {
		return fmt.Errorf("%s: the answer is longer than %d bytes", c.Run[0], maxAnswer)
	}
	if answer == nil || len(bytes.TrimSpace(out.Bytes())) == 0 {
		return nil
	}
	if err := json.Unmarshal(out.Bytes(), answer); err != nil {
		return fmt.Errorf("%s: the answer is not the JSON that is expected: %w", c.Run[0], err)
	}
	return nil
}

// asHooks makes hooks of the command.
func (c *Command) asHooks() Hooks {
	h := Hooks{Name: strings.Join(c.Run, " "), limit: cmp.Or(c.Timeout, hookTimeout)}
	switch c.On {
	case "before_compact":
		h.BeforeCompact = func(ctx context.Context, ev BeforeCompact) (CompactDecision, error) {
			var a struct {
				Cancel bool `json:"cancel"`
				Supplied
			}
			p := &ev.Preparation
			err := c.runProgram(ctx, map[string]any{
				"session": ev.Session, "reason": ev.Reason, "focus": ev.Focus,
				"tokens": ev.Status.Count.Tokens, "available": ev.Status.Limits.Available,
				"possible": ev.Nothing == "", "nothing": ev.Nothing,
				"first_kept": p.KeptID, "split_turn": p.Split, "tokens_before": p.TokensBefore, "previous_summary": p.Previous,
				"messages_to_summarize": len(p.History()), "turn_prefix_messages": len(p.TurnPrefix()),
				"conversation": summary.Serialize(append(p.History(), p.TurnPrefix()...), 0, len(p.History())+len(p.TurnPrefix())),
				"files":        p.Footer,
			}, &a)
			d := CompactDecision{Cancel: a.Cancel}
			if a.Summary != "" {
				s := a.Supplied
				if s.FirstKept == "" {
					s.FirstKept = p.KeptID
				}
				d.Supply = &s
			}
			return d, err
		}
	case "after_compact":
		h.AfterCompact = func(ctx context.Context, ev Compacted) error {
			return c.runProgram(ctx, map[string]any{"session": ev.Session, "entry": json.RawMessage(ev.Entry.Raw), "tokens_before": ev.Before.Count.Tokens, "tokens_after": ev.After.Count.Tokens}, nil)
		}
	case "compact_failed":
		h.CompactFailed = func(ctx context.Context, ev CompactFailure) error {
			return c.runProgram(ctx, map[string]any{"session": ev.Session, "reason": ev.Reason, "error": ev.Err.Error(), "aborted": ev.Aborted}, nil)
		}
	case "before_navigate":
		h.BeforeNavigate = func(ctx context.Context, ev BeforeNavigate) (NavigateDecision, error) {
			var a struct {
				Cancel   bool     `json:"cancel"`
				Summary  string   `json:"summary"`
				Read     []string `json:"read_files"`
				Modified []string `json:"modified_files"`
			}
			var said chat.Messages
			for i := range ev.Left {
				if m := ev.Left[i].Message; m != nil {
					said = append(said, *m)
				}
			}
			err := c.runProgram(ctx, map[string]any{
				"session": ev.Session, "target": ev.Target, "old_leaf": ev.OldLeaf, "ancestor": ev.Ancestor, "summarise": ev.Summarise,
				"focus": ev.Focus, "label": ev.Label, "entries": len(ev.Left), "conversation": summary.Serialize(said, 0, len(said)),
			}, &a)
			d := NavigateDecision{Cancel: a.Cancel}
			if a.Summary != "" {
				d.Summary = &BranchSummary{Summary: a.Summary, Read: a.Read, Modified: a.Modified}
			}
			return d, err
		}
	case "after_navigate":
		h.AfterNavigate = func(ctx context.Context, ev Navigated) error {
			q := map[string]any{"session": ev.Session, "old_leaf": ev.OldLeaf, "leaf": ev.Leaf, "ancestor": ev.Ancestor}
			if ev.Summary != nil {
				q["entry"] = json.RawMessage(ev.Summary.Raw)
			}
			return c.runProgram(ctx, q, nil)
		}
	case "before_call":
		h.BeforeCall = func(ctx context.Context, ev Call) ([]chat.Message, error) {
			var a struct {
				Append string `json:"append"`
			}
			if err := c.runProgram(ctx, map[string]any{
				"session": ev.Session, "leaf": ev.Leaf, "model": ev.Model, "messages": len(ev.Messages), "tokens": ev.Status.Count.Tokens, "available": ev.Status.Limits.Available,
			}, &a); err != nil || a.Append == "" {
				return nil, err
			}
			note := chat.TextMessage(chat.User, a.Append)
			note.Synthetic = true
			return append(slices.Clip(ev.Messages), note), nil
		}
	}
	return h
}
