package app

import (
	"cmp"
	"errors"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"github.com/winnow-llm/winnow/internal/app/spelling"
)

// commandNames lists the commands below one that people should know of.
func commandNames(cmd *cobra.Command) []string {
	var names []string
	for _, c := range cmd.Commands() {
		if c.IsAvailableCommand() || c.IsAdditionalHelpTopicCommand() {
			names = append(names, c.Name())
		}
	}
	return names
}

// noCommand returns the error for an unknown command: perhaps a file, perhaps a
// slip.
func noCommand(root *cobra.Command, word string) error {
	if info, err := os.Stat(word); err == nil && !info.IsDir() {
		return usageErrorf("%s is a file, not a command; to see how full it is, run: winnow check %s", word, word)
	}
	if best := spelling.Nearest(word, commandNames(root)); best != "" {
		return usageErrorf("there is no command %q; did you mean winnow %s?", word, best)
	}
	return usageErrorf("there is no command %q; winnow help lists them", word)
}

// flagError says of a wrong flag what would be right.
func flagError(cmd *cobra.Command, err error) error {
	help := "winnow help" + strings.TrimPrefix(cmd.CommandPath(), "winnow")
	var unknown *pflag.NotExistError
	var invalid *pflag.InvalidValueError
	var missing *pflag.ValueRequiredError
	switch {
	case errors.As(err, &unknown):
		name := unknown.GetSpecifiedName()
		var names []string
		cmd.Flags().VisitAll(func(f *pflag.Flag) {
			if !f.Hidden {
				names = append(names, f.Name)
			}
		})
		best := spelling.Nearest(strings.Trim(name, "-"), names)
		if name == "max-tokens" && slices.Contains(names, "output-reserve") {
			best = "output-reserve" // as it was called before
		}
		if best != "" && len(name) > 1 {
			return usageErrorf("there is no flag --%s; did you mean --%s? See %s", name, best, help)
		}
		if unknown.GetSpecifiedShortnames() != "" {
			return usageErrorf("there is no flag -%s; flags have two dashes, such as --json; see %s", name, help)
		}
		return usageErrorf("there is no flag --%s; see %s", name, help)
	case errors.As(err, &invalid):
		f := invalid.GetFlag()
		return usageErrorf("--%s %s: must be %s; see %s", f.Name, invalid.GetValue(), cmp.Or(wantedValues[f.Value.Type()], "a "+f.Value.Type()), help)
	case errors.As(err, &missing):
		f := missing.GetFlag()
		word, _ := pflag.UnquoteUsage(f)
		return usageErrorf("--%s needs a value: --%s %s; see %s", f.Name, f.Name, word, help)
	}
	return usageErrorf("%v; see %s", err, help)
}

// wantedValues say what kind of value flags of a type take.
var wantedValues = map[string]string{
	"int": "a whole number", "uint64": "a whole number", "float64": "a number", "bool": "true or false", "duration": "a time such as 90s or 5m",
}

// argumentError says how a command is used whose arguments were wrong.
func argumentError(cmd *cobra.Command, err error) error {
	if !cmd.HasParent() {
		return err
	}
	how, help := cmd.UseLine(), "winnow help"+strings.TrimPrefix(cmd.CommandPath(), "winnow")
	if strings.HasPrefix(err.Error(), "unknown command ") { // cobra's words for arguments where there should be none
		return usageErrorf("%s takes no arguments; usage: %s; see %s", cmd.CommandPath(), how, help)
	}
	if slices.ContainsFunc([]string{"accepts ", "requires at least ", "invalid argument "}, func(words string) bool { return strings.HasPrefix(err.Error(), words) }) {
		return usageErrorf("usage: %s; see %s", how, help)
	}
	return err
}
