package app

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"github.com/winnow-llm/winnow"
	"github.com/winnow-llm/winnow/internal/app/peers"
	"github.com/winnow-llm/winnow/model"
	"github.com/winnow-llm/winnow/wire"
)

func (a *app) completionCommand() *cobra.Command {
	cmd := newCommand("completion bash|zsh|fish|powershell", "Print a completion script for a shell", `
  winnow completion bash > ~/.local/share/bash-completion/completions/winnow
  winnow completion zsh > "${fpath[1]}/_winnow"
  winnow completion fish > ~/.config/fish/completions/winnow.fish
  winnow completion powershell >> $PROFILE

Prints a script that makes the shell complete commands, flags, formats, models,
presets, stages, policies, handles and session ids.

To install it, write it to the place shown above and start a new shell. bash needs
the package bash-completion; zsh needs the line "autoload -U compinit; compinit" in
~/.zshrc. To try it in the current shell only: source <(winnow completion bash), or
winnow completion fish | source.`, cobra.MatchAll(cobra.ExactArgs(1), cobra.OnlyValidArgs), func(cmd *cobra.Command, args []string) error {
		var b bytes.Buffer
		write := map[string]func(*cobra.Command) error{
			"bash":       func(root *cobra.Command) error { return root.GenBashCompletionV2(&b, true) },
			"zsh":        func(root *cobra.Command) error { return root.GenZshCompletion(&b) },
			"fish":       func(root *cobra.Command) error { return root.GenFishCompletion(&b, true) },
			"powershell": func(root *cobra.Command) error { return root.GenPowerShellCompletionWithDesc(&b) },
		}
		if err := write[args[0]](cmd.Root()); err != nil {
			return err
		}
		if a.asJSON {
			return a.printJSON(map[string]any{"shell": args[0], "script": b.String()})
		}
		_, err := a.dataWriter().Write(b.Bytes())
		return err
	})
	cmd.ValidArgs = []string{"bash", "zsh", "fish", "powershell"}
	return cmd
}

// addCompletions tells the shell what can stand where, for every command at once: by
// the name of a flag and by the words of a command's usage line.
func (a *app) addCompletions(root *cobra.Command) {
	for _, cmd := range root.Commands() {
		a.addCompletions(cmd)
	}
	if cmd := root; cmd.ValidArgsFunction == nil && len(cmd.ValidArgs) == 0 {
		cmd.ValidArgsFunction = a.argumentCompletion(cmd)
	}
	root.LocalFlags().VisitAll(func(f *pflag.Flag) {
		// One that the command registered itself stays: this returns an error then.
		if from := a.flagCompletion(f); from != nil {
			_ = root.RegisterFlagCompletionFunc(f.Name, from)
		}
	})
}

// flagCompletion returns what completes a flag's value; nil leaves it to the
// shell, which completes names of files.
func (a *app) flagCompletion(f *pflag.Flag) cobra.CompletionFunc {
	switch f.Name {
	case "format":
		return completeFrom(formatNames)
	case "to", "dialect":
		return completeFrom(func() []string {
			var names []string
			for _, d := range wire.Dialects() {
				names = append(names, string(d))
			}
			return names
		})
	case "model":
		if f.Value.Type() == "stringSlice" {
			return commaSeparated(modelNames)
		}
		return completeFrom(modelNames)
	case "estimator":
		return completeFrom(winnow.EstimatorNames)
	case "preset":
		return completeFrom(winnow.PresetNames)
	case "stages":
		return commaSeparated(winnow.StageNames)
	case "policy":
		if f.Value.Type() == "stringSlice" {
			return commaSeparated(policyNames)
		}
	case "summarizer":
		return completeFrom(func() []string { return []string{"builtin", "same", "openai/", "anthropic/", "gemini/"} })
	case "session":
		return a.completeFileSessions
	}
	if word, _ := pflag.UnquoteUsage(f); slices.Contains([]string{"FILE", "PATH", "DIR"}, word) || word == "string" {
		return nil
	}
	return cobra.NoFileCompletions // it is a number or a text, not a file
}

// argumentCompletion completes a command's arguments by the words in its usage
// line: FILE and PLAN are left to the shell.
func (a *app) argumentCompletion(cmd *cobra.Command) cobra.CompletionFunc {
	words := strings.Fields(cmd.Use)[1:]
	if len(words) == 0 {
		return cobra.NoFileCompletions
	}
	return func(cmd *cobra.Command, args []string, toComplete string) ([]cobra.Completion, cobra.ShellCompDirective) {
		word := strings.Trim(words[min(len(args), len(words)-1)], "[]….")
		if len(args) >= len(words) && !strings.HasSuffix(cmd.Use, "…") {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		switch {
		case word == "NAME" && cmd.Name() == "models":
			return modelNames(), cobra.ShellCompDirectiveNoFileComp
		case word == "HANDLE":
			return a.completeHandles(cmd, args), cobra.ShellCompDirectiveNoFileComp
		case word == "ID", strings.Contains(word, "SESSION"):
			directive := cobra.ShellCompDirectiveNoFileComp
			if strings.Contains(word, "FILE") {
				directive = cobra.ShellCompDirectiveDefault
			}
			return a.completeSessions(cmd), directive
		}
		return nil, cobra.ShellCompDirectiveDefault
	}
}

// completeFrom completes from a list that is made when it is asked for.
func completeFrom(names func() []string) cobra.CompletionFunc {
	return func(*cobra.Command, []string, string) ([]cobra.Completion, cobra.ShellCompDirective) {
		return names(), cobra.ShellCompDirectiveNoFileComp
	}
}

// commaSeparated completes the last word of a list, with those that are not in
// it yet.
func commaSeparated(names func() []string) cobra.CompletionFunc {
	return func(_ *cobra.Command, _ []string, typed string) ([]cobra.Completion, cobra.ShellCompDirective) {
		before := typed[:strings.LastIndexByte(typed, ',')+1]
		have := strings.Split(before, ",")
		var out []cobra.Completion
		for _, n := range names() {
			if !slices.Contains(have, n) {
				out = append(out, before+n)
			}
		}
		return out, cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveNoSpace
	}
}

// modelNames lists the registry's models, each once.
func modelNames() []string {
	var names []string
	for _, m := range model.Default().List("") {
		names = append(names, m.Name)
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// policyNames lists what winnow replay can compare.
func policyNames() []string {
	var names []string
	for _, p := range peers.Policies() {
		names = append(names, strings.ToLower(strings.ReplaceAll(p.Name, " ", "-")))
	}
	return names
}

// completeFileSessions completes --session from the file on the command line.
func (a *app) completeFileSessions(cmd *cobra.Command, args []string, _ string) ([]cobra.Completion, cobra.ShellCompDirective) {
	if len(args) == 0 {
		return a.completeSessions(cmd), cobra.ShellCompDirectiveNoFileComp
	}
	const most = 64 << 20 // a larger file would keep the person waiting
	info, err := os.Stat(args[0])
	if err != nil || info.Size() > most {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	a.quiet = true
	in, err := a.loadWithWarnings(args[0], "")
	if err != nil {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	var ids []cobra.Completion
	for i := range in.Sessions {
		if s := &in.Sessions[i]; s.ID != "" {
			ids = append(ids, cobra.CompletionWithDesc(s.ID, plural(s.Request.History.Len(), "message")))
		}
	}
	return ids, cobra.ShellCompDirectiveNoFileComp
}

// completeSessions lists the latest sessions of the store. It makes no store
// where there is none.
func (a *app) completeSessions(cmd *cobra.Command) []cobra.Completion {
	var f storeFlags
	if flag := cmd.Flag("store"); flag != nil {
		f.path = flag.Value.String()
	}
	store, _, err := a.openExistingStore(f)
	if err != nil {
		return nil
	}
	defer store.Close() //nolint:errcheck // nothing was written
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Second)
	defer cancel()
	all, err := store.List(ctx, 0, 100)
	if err != nil {
		return nil
	}
	ids := make([]cobra.Completion, 0, len(all))
	for i := range all {
		title := cmp.Or(all[i].Name, all[i].Title)
		ids = append(ids, cobra.CompletionWithDesc(all[i].ID, brief(title, 50)))
	}
	return ids
}

// completeHandles lists the handles of the plan that belongs to the file.
func (a *app) completeHandles(cmd *cobra.Command, args []string) []cobra.Completion {
	path := ""
	if f := cmd.Flag("plan"); f != nil {
		path = f.Value.String()
	}
	if path == "" && len(args) > 0 {
		path = args[0] + ".plan.json"
	}
	p, err := a.readPlan(path)
	if err != nil {
		return nil
	}
	var handles []cobra.Completion
	for i := range p.Edits {
		if e := &p.Edits[i]; e.Handle != "" {
			hint := fmt.Sprintf("%s %s, %s tokens", e.Kind, describePlace(e), number(e.Before.Tokens))
			handles = append(handles, cobra.CompletionWithDesc(e.Handle, hint))
		}
	}
	return handles
}
