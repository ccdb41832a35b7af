// Package app is the command winnow: one file for each command or subject. What
// it is made of besides stands below it: the terminal loop, the viewer and the
// demo.
package app

import (
	"context"
	"errors"
	"io"
	"os"
	"os/signal"
	"strings"

	"github.com/spf13/cobra"
	"github.com/winnow-llm/winnow/internal/app/spelling"
	"github.com/winnow-llm/winnow/internal/app/termsafe"
	"github.com/winnow-llm/winnow/transcript"
)

// Exit codes of the command.
const (
	exitDone      = 0
	exitFailed    = 1
	exitUsage     = 2
	exitCannotFit = 3
	exitOver      = 4   // a session is over the share of --fail-over
	exitStopped   = 130 // as shells say it of a program that Ctrl-C ended
)

// Run runs the whole command, for main and for tests, and returns the exit code.
func Run(args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	var out *sink
	if !isTerminal(stdout) {
		out = &sink{w: stdout}
		stdout = out
	}
	// Nothing in a file steers the terminal: all that is printed for people goes
	// through these two.
	people, notes := termsafe.NewWriter(stdout), termsafe.NewWriter(stderr)
	defer people.Flush() //nolint:errcheck // half a character; the sink remembers its error
	defer notes.Flush()  //nolint:errcheck // nobody is left to be told
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	context.AfterFunc(ctx, stop) // a second Ctrl-C ends the process at once
	a := &app{stdin: stdin, stdout: people, stderr: notes, getenv: os.Getenv, environ: os.Environ, ctx: ctx}
	root := a.rootCommand()
	root.SetArgs(args)
	root.SetIn(stdin)
	root.SetOut(people)
	root.SetErr(notes)
	cmd, err := root.ExecuteContextC(ctx)
	switch {
	case err == nil:
		err = out.writeFailure()
	case out != nil && out.err != nil && errors.Is(err, out.err):
		err = out.writeFailure() // the same, with what to do about it
	case ctx.Err() != nil && errors.Is(err, context.Canceled):
		err = errStopped
	case !a.started:
		err = argumentError(cmd, err)
	}
	if out != nil && pipeClosed(out.err) {
		return exitFailed // quietly: the reader has seen enough
	}
	if out != nil && out.err != nil {
		a.started = true // help that cannot be written is not wrong usage
	}
	return a.reportOutcome(err, args)
}

// helpTemplate shows an example before anything else.
const helpTemplate = `{{if .HasExample}}{{.Example}}

{{end}}{{with (or .Long .Short)}}{{. | trimTrailingWhitespaces}}

{{end}}{{if or .Runnable .HasAvailableSubCommands}}{{.UsageString}}{{end}}`

const usageTemplate = `Usage:{{if .HasAvailableSubCommands}}
  {{.CommandPath}} COMMAND [flags]{{$all := .Commands}}{{if .Groups}}{{range $group := .Groups}}

{{.Title}}:{{range $all}}{{if and .IsAvailableCommand (eq .GroupID $group.ID)}}
  {{rpad .Name .NamePadding}} {{.Short}}{{end}}{{end}}{{end}}{{else}}

Commands:{{range $all}}{{if .IsAvailableCommand}}
  {{rpad .Name .NamePadding}} {{.Short}}{{end}}{{end}}{{end}}{{else if .Runnable}}
  {{.UseLine}}{{end}}{{if .HasHelpSubCommands}}

Topics (winnow help TOPIC):{{range .Commands}}{{if .IsAdditionalHelpTopicCommand}}
  {{rpad .Name .NamePadding}} {{.Short}}{{end}}{{end}}{{end}}{{if .HasAvailableLocalFlags}}

Flags:
{{.LocalFlags.FlagUsages | trimTrailingWhitespaces}}{{end}}{{if .HasAvailableInheritedFlags}}

Global flags:
{{.InheritedFlags.FlagUsages | trimTrailingWhitespaces}}{{end}}
`

func init() { cobra.EnableCommandSorting = false } // commands stand in the order in which they are of use

// rootCommand builds the tree of commands.
func (a *app) rootCommand() *cobra.Command {
	root := newCommand("winnow", "Keeps conversations with language models inside their context window", `
  winnow demo                                the whole story, no key, no network
  winnow wrap claude                         run an agent behind winnow
  winnow check session.jsonl                 how full is it
  winnow compact session.jsonl --out v.json  make it fit; the input stays as it is
  winnow plan show session.jsonl.plan.json   what was done, like a patch
  winnow plan undo session.jsonl.plan.json session.jsonl

winnow keeps conversations with language models inside their context window.

It reads request bodies (openai, responses, anthropic, gemini) and the session
files of agents, plain or .gz; "-" is standard input. winnow help COMMAND explains
a command, starting with an example.
Exit codes: 0 done, 1 failed, 2 wrong usage, 3 cannot fit, 4 over the
share of check --fail-over, 130 interrupted.`, func(cmd *cobra.Command, args []string) error {
		if len(args) > 0 {
			return noCommand(cmd, args[0])
		}
		return nil
	}, nil)
	root.SilenceErrors, root.SilenceUsage = true, true
	asked := root.Flags().Bool("version", false, "print the version")
	root.RunE = func(cmd *cobra.Command, args []string) error {
		if *asked {
			return a.showVersion()
		}
		return cmd.Help()
	}
	root.SetHelpTemplate(helpTemplate)
	root.SetUsageTemplate(usageTemplate)
	root.SetFlagErrorFunc(flagError)
	help := root.HelpFunc()
	root.SetHelpFunc(func(cmd *cobra.Command, args []string) {
		if a.asJSON {
			_ = a.printJSON(helpDocument(cmd)) // what cannot be written is noticed at the end
			return
		}
		cmd.Long = longText(cmd)
		help(cmd, args)
	})
	root.SetHelpCommand(a.helpCommand(root))
	root.CompletionOptions.DisableDefaultCmd = true
	f := root.PersistentFlags()
	f.BoolVar(&a.asJSON, "json", false, "print one JSON document to standard output")
	f.StringVar(&a.config, "config", "", "settings `FILE` to read instead of the user's and the project's")
	f.BoolVar(&a.noColor, "no-color", false, "print no colours (also: NO_COLOR)")
	f.BoolVar(&a.quiet, "quiet", false, "print no hints, warnings or reports")
	add := func(title string, commands ...*cobra.Command) {
		root.AddGroup(&cobra.Group{ID: title, Title: title})
		for _, c := range commands {
			c.GroupID = title
		}
		root.AddCommand(commands...)
	}
	add("See what it does", a.demoCommand(), a.initCommand(), a.insightsCommand(), a.watchCommand(), a.doctorCommand())
	add("Run agents and programs behind it", a.wrapCommand(), a.serveCommand(), a.addressCommand(), a.mcpCommand(), a.planStoreCommand(), a.workCommand(), a.simCommand())
	add("Compact a session file or a request", a.checkCommand(), a.compactCommand(), a.planCommand(), a.recallCommand(), a.noteCommand(), a.pageCommand(), a.treeCommand(),
		a.validateCommand(), a.repairCommand(), a.tokensCommand())
	add("Keep conversations in a store", a.loopCommand(), a.sessionCommand())
	add("Look things up, and set them up", a.modelsCommand(), a.classifyCommand(), a.replayCommand(), a.configCommand(), a.versionCommand(),
		a.completionCommand(), a.manCommand())
	for _, t := range topics {
		root.AddCommand(newCommand(t.name, t.short, t.example, nil, nil))
	}
	a.addCompletions(root)
	a.noteStart(root)
	return root
}

// newCommand returns a command. Its help has the examples, which are indented, and after
// the first empty line what the command does.
func newCommand(use, short, help string, args cobra.PositionalArgs, run func(*cobra.Command, []string) error) *cobra.Command {
	example, long, _ := strings.Cut(strings.TrimPrefix(help, "\n"), "\n\n")
	return &cobra.Command{Use: use, Short: short, Example: example, Long: long, Args: args, RunE: run}
}

// groupCommand returns a command that only holds others.
func groupCommand(use, short, help string, children ...*cobra.Command) *cobra.Command {
	names := make([]string, len(children))
	for i, c := range children {
		names[i] = c.Name()
	}
	g := newCommand(use, short, help, nil, func(_ *cobra.Command, args []string) error {
		if len(args) == 0 {
			return usageErrorf("%s: which one? %s; see winnow help %s", use, strings.Join(names, ", "), use)
		}
		if best := spelling.Nearest(args[0], names); best != "" {
			return usageErrorf("%s: there is no %q; did you mean winnow %s %s?", use, args[0], use, best)
		}
		return usageErrorf("%s: there is no %q; there are %s", use, args[0], strings.Join(names, ", "))
	})
	g.AddCommand(children...)
	return g
}

// inputFlags are the flags of commands that read a session.
type inputFlags struct{ session, format string }

func (f *inputFlags) addTo(cmd *cobra.Command) {
	cmd.Flags().StringVar(&f.session, "session", "", "which session, if the file has several, by `NUMBER` (from 1) or id")
	cmd.Flags().StringVar(&f.format, "format", "", "`FORMAT` of the input instead of detecting it")
}

// formatNames lists the formats that --format accepts.
func formatNames() []string {
	all := transcript.Formats()
	names := make([]string, len(all))
	for i, f := range all {
		names[i] = string(f)
	}
	return names
}
