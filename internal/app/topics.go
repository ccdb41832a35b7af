package app

import (
	"cmp"
	"fmt"
	"reflect"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"github.com/winnow-llm/winnow/internal/config"
	"github.com/winnow-llm/winnow/internal/spelling"
	"github.com/winnow-llm/winnow/transcript"
)

// topics are pages of help that belong to no command.
var topics = []struct {
	name, short, example string
	text                 func() string // made only when someone reads it
}{
	{"formats", "What winnow can read, and how it tells what it reads", "  winnow check session.jsonl --format claude-code", formatsHelp},
	{"settings", "Every setting with its kind and default", "  winnow config print", settingsHelp},
	{"exit-codes", "What the exit codes and the JSON of errors mean", "  winnow compact body.json --json || echo $?", func() string { return exitHelp }},
}

// addTopics makes the topics part of the tree of commands, as commands that
// cannot be run.
func addTopics(root *cobra.Command) {
	for _, t := range topics {
		root.AddCommand(&cobra.Command{Use: t.name, Short: t.short, Example: t.example})
	}
}

// longText is the text of a command's or topic's help.
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
    3  cannot fit: what must stay is larger than the window leaves room for
  130  interrupted by Ctrl-C; no file is left half written

What went wrong is one line on standard error: what, why, what to do. With --json
the document on standard output is then {"error": {"code": …, "message": …}} with
the code failed, usage, cannot_fit, stage_off (it would fit, but for stages that
the setting stages leaves out) or interrupted. compact adds to cannot_fit and
stage_off what must stay, largest first, under error.floor.

A pipe that is closed before all is written (winnow check FILE | head -1) ends
the command quietly.

validate ends with 1 where it finds a problem. check ends with 0 whatever it
finds: read fits from its document.`

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
	b.WriteString(`winnow looks at the content, not at the name, and says what it saw. --format names
the format where that goes wrong. .gz is read as it is, "-" is standard input.

`)
	for _, f := range transcript.Formats() {
		note := cmp.Or(formatNotes[f], "session file")
		fmt.Fprintf(&b, "  %-15s %s\n", f, note)
	}
	b.WriteString(`
The first four are also written: --to names one of them for the view of a session
file. A view of a request body keeps every byte that no edit touches. A file with
several sessions is read whole where that makes sense, else the longest is taken;
--session names another by its number or id.

Messages are numbered from 0, after the system prompt, in all reports and in
--pin. The text of a summary, which a model reads, numbers them from 1.`)
	return b.String()
}

func settingsHelp() string {
	var b strings.Builder
	b.WriteString(`Settings are read in this order; what comes later wins: winnow/winnow.yaml (or
winnow.yaml) in the user's configuration folder, .winnow.yaml in the project,
variables, flags. --config FILE takes the place of both files. A variable has the
name of the setting in capitals after WINNOW_. winnow config print shows what is
in force and where it comes from. In numbers 0 stands for the default.

`)
	standard := config.File{}.WithDefaults()
	for _, k := range config.Keys() {
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
	return &cobra.Command{
		Use:     "help [COMMAND|TOPIC]",
		Short:   "Show the help of a command or topic",
		Example: "  winnow help compact\n  winnow help formats",
		ValidArgsFunction: func(_ *cobra.Command, args []string, _ string) ([]cobra.Completion, cobra.ShellCompDirective) {
			at, _, err := root.Find(args)
			if err != nil {
				return nil, cobra.ShellCompDirectiveNoFileComp
			}
			return commandNames(at), cobra.ShellCompDirectiveNoFileComp
		},
		RunE: func(_ *cobra.Command, args []string) error {
			at, rest, err := root.Find(args)
			if err != nil || len(rest) > 0 {
				if at == nil || len(rest) == 0 {
					at, rest = root, args
				}
				if best := spelling.Nearest(rest[0], commandNames(at)); best != "" {
					return usagef("there is no help for %q; did you mean winnow help%s %s?", rest[0], strings.TrimPrefix(at.CommandPath(), "winnow"), best)
				}
				return usagef("there is no help for %q; winnow help lists what there is", rest[0])
			}
			at.InitDefaultHelpFlag()
			return at.Help()
		},
	}
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
