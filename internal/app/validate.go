package app

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/winnow-llm/winnow/internal/app/show"
	"github.com/winnow-llm/winnow/internal/app/source"
	"github.com/winnow-llm/winnow/transcript"
	"github.com/winnow-llm/winnow/wire"
)

func (a *app) validateCommand() *cobra.Command {
	var in inputFlags
	var dialect string
	cmd := newCommand("validate FILE", "Check whether the provider would accept a request", `
  winnow validate body.json
  winnow validate session.jsonl --dialect anthropic

Checks a request body against the provider's rules and lists every reason for which
it would be refused. A session file is first turned into a request body, in the
dialect of its agent's provider or the one that --dialect names. "at" is an index,
from 0, into that body's array of messages. The exit code is 1 if there is a
problem.`,
		cobra.ExactArgs(1), func(_ *cobra.Command, args []string) error { return a.runValidate(args[0], &in, dialect) })
	in.addTo(cmd)
	cmd.Flags().StringVar(&dialect, "dialect", "", "`DIALECT` to check for: openai, responses, anthropic or gemini")
	return cmd
}

// problem is a problem of one session of a file.
type problem struct {
	wire.Problem
	Session int `json:"session,omitempty"`
}

func (a *app) runValidate(path string, in *inputFlags, name string) error {
	var dialect wire.Dialect
	if name != "" {
		d, err := wire.ParseDialect(name)
		if err != nil {
			return usageErrorf("--dialect %s: there is no such dialect; use openai, responses, anthropic or gemini", name)
		}
		dialect = d
	}
	input, err := a.loadToValidate(path, in.format, dialect)
	if err != nil {
		return err
	}
	if d := dialectOf(input, dialect); input.Sessions == nil || input.Refused != nil && d == dialectOf(input, "") {
		found := wire.Validate(d, input.Data)
		if len(found) == 0 && input.Refused != nil {
			found = []wire.Problem{{Rule: wire.RuleShape, At: -1, Message: input.Refused.Problem + "; " + input.Refused.Hint}}
		}
		return a.showProblems(input, sessionProblems(found, 0), map[wire.Dialect]bool{d: true})
	}
	sessions := input.Sessions
	if in.session != "" {
		s, err := a.chooseSession(input, in.session)
		if err != nil {
			return err
		}
		sessions = []source.Session{*s}
	}
	problems := []problem{}
	dialects := map[wire.Dialect]bool{}
	for i := range sessions {
		s := &sessions[i]
		d := cmp.Or(dialect, s.Dialect())
		dialects[d] = true
		raw, err := s.Encoded(d)
		if err != nil {
			return fmt.Errorf("%s: %w", input.Name, err)
		}
		number := s.Number
		if len(input.Sessions) == 1 {
			number = 0
		}
		problems = append(problems, sessionProblems(wire.Validate(d, raw), number)...)
	}
	return a.showProblems(input, problems, dialects)
}

func sessionProblems(found []wire.Problem, session int) []problem {
	all := []problem{}
	for _, p := range found {
		all = append(all, problem{p, session})
	}
	return all
}

// loadToValidate reads an input as every command does. A body that cannot be
// read is what this command is asked about: where its dialect is known, it is
// returned without sessions, for the validator to say what is wrong.
func (a *app) loadToValidate(path, format string, dialect wire.Dialect) (*source.Input, error) {
	in, err := a.loadInput(path, format)
	if err == nil {
		a.sayWarnings(in)
		return in, nil
	}
	if _, other := wire.ParseDialect(format); in == nil || format != "" && other != nil {
		return nil, err
	}
	if in.Format = transcript.Format(format); dialectOf(in, dialect) == "" {
		return nil, err
	}
	in.Sessions = nil
	return in, nil
}

// dialectOf returns the dialect that an unreadable body is meant to be in: named,
// else the one it looks like.
func dialectOf(in *source.Input, named wire.Dialect) wire.Dialect {
	told, _ := wire.ParseDialect(string(in.Format)) // none where it is the format of a session
	seen, _ := wire.Detect(in.Data)
	return cmp.Or(named, told, seen)
}

func (a *app) showProblems(in *source.Input, problems []problem, dialects map[wire.Dialect]bool) error {
	var names []string
	for _, d := range wire.Dialects() {
		if dialects[d] {
			names = append(names, string(d))
		}
	}
	var refused error
	if n := len(problems); n > 0 {
		refused = fmt.Errorf("%s: a provider would refuse it for %s", in.Name, plural(n, "problem"))
	}
	if a.asJSON {
		return errors.Join(a.printJSON(map[string]any{
			"valid": refused == nil, "problems": problems, "format": in.Format, "dialect": strings.Join(names, ","),
			"sessions": len(in.Sessions),
		}), refused)
	}
	st := a.styleFor(a.stdout)
	if refused == nil {
		fmt.Fprintf(a.stdout, "%s: %s as %s\n", in.Name, st.Green("valid"), strings.Join(names, ", "))
		return nil
	}
	fmt.Fprintf(a.stdout, "%s: %s as %s: %s\n", in.Name, st.Red("not valid"), strings.Join(names, ", "), plural(len(problems), "problem"))
	for i, p := range problems {
		if i == 50 {
			fmt.Fprintf(a.stdout, "  … %d more (--json lists them)\n", len(problems)-i)
			break
		}
		where := ""
		if p.Session > 0 {
			where = fmt.Sprintf("session %d: ", p.Session)
		}
		for k, line := range show.Wrap(fmt.Sprintf("%s%s (%s)", where, brief(p.String(), 300), p.Rule), st.Columns()-4) {
			fmt.Fprintf(a.stdout, "  %s%s\n", strings.Repeat(" ", min(2*k, 2)), line)
		}
	}
	if slices.ContainsFunc(problems, func(p problem) bool {
		return p.Rule == wire.RuleUnanswered || p.Rule == wire.RuleOrphan || p.Rule == wire.RuleDuplicate
	}) {
		fmt.Fprintf(a.stdout, "winnow repair %s --out FILE repairs calls without results and results without calls\n", in.Name)
	}
	return refused
}
