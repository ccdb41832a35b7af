package app

import (
	"cmp"
	"fmt"
	"reflect"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"github.com/winnow-llm/winnow/internal/app/config"
	"github.com/winnow-llm/winnow/internal/app/spelling"
	"github.com/winnow-llm/winnow/transcript"
)

// topics are pages of help that belong to no command. They are in the tree of commands as
// commands that cannot be run.
var topics = []struct {
	name, short, example string
	text                 func() string // made only when someone reads it
}{
	{"formats", "What winnow can read, and how it detects formats", "  winnow check session.jsonl --format claude-code", formatsHelp},
	{"settings", "Every setting with its type and default", "  winnow config print", settingsHelp},
	{"exit-codes", "What the exit codes and the JSON of errors mean", "  winnow compact body.json --json || echo $?", func() string { return exitHelp }},
}

// longText returns the text of a command's or topic's help.
func longText(cmd *cobra.Command) string {
	for _, t := range topics {
		if t.name == cmd.Name() && cmd.IsAdditionalHelpTopicCommand() {
			return t.text()
		}
	}
	return cmd.Long
}

const exitHelp = `Every command ends with one of these:

    0  done
    1  failed: a file that cannot be read or written, a mistake in a settings
       file or in a WINNOW_ variable, a provider that refused
    2  wrong usage: a flag or an argument that makes no sense
    3  cannot fit: what must stay is larger than the room that the window leaves
    4  over the limit: a session takes more than the share of check --fail-over
  130  interrupted by Ctrl-C; no file is left half written

An error is one line on standard error: what went wrong, why, and what to do. With
--json, standard output has {"error": {"code": …, "message": …}} instead of the
usual document; the code is failed, usage, cannot_fit, stage_off (it would fit if the
setting systems.stages did not leave some out) or interrupted. For cannot_fit and stage_off,
compact prints its document with the error in it, and lists what must stay under
error.floor, largest first.

If the reader of a pipe stops early (winnow check FILE | head -1), the command ends
quietly.

validate exits with 1 if it finds a problem. check without --fail-over exits with 0
whatever it finds: read "fits" in its document, which it prints with exit code 4 too.`

// formatNotes says what a format is, for people.
var formatNotes = map[transcript.Format]string{
	transcript.OpenAI:       "request body or array of messages of OpenAI's chat completions",
	transcript.Responses:    "request body or input items of OpenAI's responses",
	transcript.Anthropic:    "request body or array of messages of Anthropic's API",
	transcript.Gemini:       "request body or contents of Gemini's API",
	transcript.NeuroLink:    "messages with NeuroLink's tags",
	transcript.Pi:           "sessions of pi: .jsonl, versions 1 to 3",
	transcript.ClaudeCode:   "sessions of Claude Code: .jsonl, with its sub-agents",
	transcript.Codex:        "rollouts of Codex: .jsonl",
	transcript.OpenCode:     "sessions that OpenCode exported",
	transcript.GeminiCLI:    "chats that Gemini CLI saved",
	transcript.OpenHandsV0:  "evaluation output of OpenHands with its history of events",
	transcript.OpenHandsV1:  "events of OpenHands, one on each line",
	transcript.SWEAgent:     "trajectories of SWE-agent: .traj",
	transcript.MiniSWEAgent: "trajectories of mini-swe-agent: .traj.json",
	transcript.TauBench:     "lists of trajectories of tau-bench",
	transcript.Tau2Bench:    "simulations of tau2-bench",
}

func formatsHelp() string {
	var b strings.Builder
	b.WriteString(`winnow detects the format from the content, not from the name, and says what it
found. --format names the format if detection goes wrong. Files compressed with gzip
are read directly, and "-" is standard input.

`)
	for _, f := range transcript.Formats() {
		note := cmp.Or(formatNotes[f], "session file")
		fmt.Fprintf(&b, "  %-15s %s\n", f, note)
	}
	b.WriteString(`
winnow can also write the first four: --to names one of them for the view of a
session file. The view of a request body keeps every byte that no edit touches. If a
file has several sessions, winnow takes all of them where that makes sense, else the
longest; --session names another by its number or id.

Messages are numbered from 0, not counting the system prompt, in all reports and in
--pin. Only the text of a summary, which a model reads, numbers them from 1.`)
	return b.String()
}

func settingsHelp() string {
	var b strings.Builder
	b.WriteString(`Settings are read in this order, and later ones win: winnow/winnow.yaml (or
winnow.yaml) in your configuration folder, .winnow.yaml in the project, variables,
flags. --config FILE replaces both files. The variable of a setting is WINNOW_
followed by its name in capitals, with _ for a point. winnow config print shows the
settings in force and where each comes from. A number of 0 means not set: the
preset's value or the default holds. -1 switches a thing off.

`)
	standard, question := config.File{}.WithDefaults(), ""
	for _, k := range config.Keys() {
		if q := config.QuestionOf(k.Name); q != question {
			question = q
			fmt.Fprintf(&b, "\n%s\n", q)
		}
		value := "-"
		if f := reflect.ValueOf(k.Value(&standard)); !f.IsZero() || f.Kind() == reflect.Bool {
			if text, err := yamlValue(f.Interface()); err == nil {
				value = text
			}
		}
		kind, _, _ := strings.Cut(k.Kind, " such as")
		fmt.Fprintf(&b, "  %-26s %-17s %s\n", k.Name, kind, value)
	}
	return strings.TrimRight(b.String(), "\n")
}

// helpCommand is "winnow help": of a command, or of a topic.
func (a *app) helpCommand(root *cobra.Command) *cobra.Command {
	cmd := newCommand("help [COMMAND|TOPIC]", "Show the help of a command or topic", `
  winnow help compact
  winnow help formats`, nil, func(_ *cobra.Command, args []string) error {
		at, rest, err := root.Find(args)
		if err != nil || len(rest) > 0 {
			if at == nil || len(rest) == 0 {
				at, rest = root, args
			}
			if best := spelling.Nearest(rest[0], commandNames(at)); best != "" {
				return usageErrorf("there is no help for %q; did you mean winnow help%s %s?", rest[0], strings.TrimPrefix(at.CommandPath(), "winnow"), best)
			}
			return usageErrorf("there is no help for %q; winnow help lists what there is", rest[0])
		}
		at.InitDefaultHelpFlag()
		return at.Help()
	})
	cmd.ValidArgsFunction = func(_ *cobra.Command, args []string, _ string) ([]cobra.Completion, cobra.ShellCompDirective) {
		at, _, err := root.Find(args)
		if err != nil {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		return commandNames(at), cobra.ShellCompDirectiveNoFileComp
	}
	return cmd
}

// commandHelp is the help of a command as a JSON document.
type commandHelp struct {
	Command  string     `json:"command"`
	Short    string     `json:"short"`
	Example  string     `json:"example"`
	Text     string     `json:"text"`
	Usage    string     `json:"usage"`
	Flags    []flagHelp `json:"flags"`
	Commands []string   `json:"commands"`
}

type flagHelp struct {
	Name    string `json:"name"`
	Value   string `json:"value,omitempty"`
	Default string `json:"default,omitempty"`
	Text    string `json:"text"`
}

// helpDocument describes a command for programs.
func helpDocument(cmd *cobra.Command) commandHelp {
	d := commandHelp{
		Command: cmd.CommandPath(), Short: cmd.Short, Example: unindent(cmd.Example), Text: longText(cmd),
		Usage: cmd.UseLine(), Flags: []flagHelp{}, Commands: append([]string{}, commandNames(cmd)...),
	}
	add := func(f *pflag.Flag) {
		if !f.Hidden {
			word, text := pflag.UnquoteUsage(f)
			d.Flags = append(d.Flags, flagHelp{f.Name, word, f.DefValue, text})
		}
	}
	cmd.LocalFlags().VisitAll(add)
	cmd.InheritedFlags().VisitAll(add)
	return d
}
