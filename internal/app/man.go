package app

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

func (a *app) manCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "man [DIR]",
		Short: "Write the manual pages",
		Example: `  winnow man ~/.local/share/man/man1     then: man winnow-check
  winnow man | man -l -                  the first page, without installing`,
		Long: `Writes a manual page for winnow, for each of its commands and for the topics of
its help into DIR, which is made where it does not exist. Without DIR the page of
winnow itself goes to standard output.`,
		Args: cobra.MaximumNArgs(1),
		RunE: a.work(func(cmd *cobra.Command, args []string) error { return a.man(cmd.Root(), args) }),
	}
}

// manPage is one page: its file's name and its text in the language of roff.
type manPage struct {
	Name string `json:"name"`
	Text string `json:"text,omitempty"`
}

func (a *app) man(root *cobra.Command, args []string) error {
	pages := manPages(root)
	if len(args) == 0 {
		if a.asJSON {
			return a.print(map[string]any{"pages": pages})
		}
		_, err := fmt.Fprint(a.stdout, pages[0].Text)
		return err
	}
	dir := args[0]
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return writeError(dir, err)
	}
	outs := newOutputs("")
	for i := range pages {
		if err := outs.add(filepath.Join(dir, pages[i].Name), []byte(pages[i].Text)); err != nil {
			return err
		}
		pages[i].Text = ""
	}
	if err := outs.write(); err != nil {
		return err
	}
	if a.asJSON {
		return a.print(map[string]any{"dir": dir, "pages": pages})
	}
	a.say("wrote %s to %s", plural(len(pages), "page"), dir)
	return nil
}

// manPages makes a page for a command and those for the commands below it.
func manPages(cmd *cobra.Command) []manPage {
	pages := []manPage{{manName(cmd) + ".1", manText(cmd)}}
	for _, c := range cmd.Commands() {
		if c.IsAvailableCommand() || c.IsAdditionalHelpTopicCommand() {
			pages = append(pages, manPages(c)...)
		}
	}
	return pages
}

func manName(cmd *cobra.Command) string { return strings.ReplaceAll(cmd.CommandPath(), " ", "-") }

// manText writes a page.
func manText(cmd *cobra.Command) string {
	var b strings.Builder
	section := func(name string) { fmt.Fprintf(&b, ".SH %s\n", name) }
	fmt.Fprintf(&b, ".TH %s 1 \"\" \"winnow %s\" \"winnow\"\n", roff(strings.ToUpper(manName(cmd))), roff(thisBuild().Version))
	section("NAME")
	fmt.Fprintf(&b, "%s \\- %s\n", roff(manName(cmd)), roff(cmd.Short))
	if cmd.Runnable() {
		section("SYNOPSIS")
		fmt.Fprintf(&b, "%s\n", roffBold(cmd.UseLine(), cmd.CommandPath()))
	}
	if cmd.HasExample() {
		section("EXAMPLES")
		b.WriteString(roffBlock(unindent(cmd.Example)))
	}
	section("DESCRIPTION")
	text := longText(cmd)
	if text == "" {
		text = cmd.Short + "."
	}
	b.WriteString(roffText(text))
	if names := commandNames(cmd); len(names) > 0 {
		section("COMMANDS")
		for _, c := range cmd.Commands() {
			if c.IsAvailableCommand() && c.Name() != "help" {
				fmt.Fprintf(&b, ".TP\n\\fB%s\\fR(1)\n%s\n", roff(manName(c)), roffLine(c.Short))
			}
		}
	}
	roffFlags(&b, section, "OPTIONS", cmd.NonInheritedFlags())
	roffFlags(&b, section, "GLOBAL OPTIONS", cmd.InheritedFlags())
	section("EXIT STATUS")
	b.WriteString("0 done, 1 failed, 2 wrong usage, 3 cannot fit, 130 interrupted.\n")
	if also := manAlso(cmd); len(also) > 0 {
		section("SEE ALSO")
		for i, name := range also {
			also[i] = "\\fB" + roff(name) + "\\fR(1)"
		}
		b.WriteString(strings.Join(also, ", ") + "\n")
	}
	return b.String()
}

// manAlso names the pages around one.
func manAlso(cmd *cobra.Command) []string {
	var also []string
	if cmd.HasParent() {
		also = append(also, manName(cmd.Parent()))
		for _, c := range cmd.Parent().Commands() {
			if c != cmd && cmd.Parent().HasParent() && c.IsAvailableCommand() {
				also = append(also, manName(c))
			}
		}
		return also
	}
	for _, c := range cmd.Commands() {
		if c.IsAdditionalHelpTopicCommand() {
			also = append(also, manName(c))
		}
	}
	return also
}

func roffFlags(b *strings.Builder, section func(string), title string, flags *pflag.FlagSet) {
	first := true
	flags.VisitAll(func(f *pflag.Flag) {
		if f.Hidden {
			return
		}
		if first {
			section(title)
			first = false
		}
		word, usage := pflag.UnquoteUsage(f)
		names := "\\fB" + roff("--"+f.Name) + "\\fR"
		if f.Shorthand != "" {
			names = "\\fB" + roff("-"+f.Shorthand) + "\\fR, " + names
		}
		if word != "" {
			names += " \\fI" + roff(word) + "\\fR"
		}
		fmt.Fprintf(b, ".TP\n%s\n%s\n", names, roffLine(usage))
	})
}

// roff escapes a text for the middle of a line.
func roff(s string) string {
	return strings.NewReplacer(`\`, `\e`, "-", `\-`, "…", "...").Replace(s)
}

// roffLine escapes a line, which must not begin like a request.
func roffLine(s string) string {
	s = roff(strings.TrimRight(s, " "))
	if strings.HasPrefix(s, ".") || strings.HasPrefix(s, "'") {
		return `\&` + s
	}
	return s
}

// roffBold makes the command's path bold and the rest as it is.
func roffBold(line, path string) string {
	return "\\fB" + roff(path) + "\\fR" + roff(strings.TrimPrefix(line, path))
}

// roffBlock keeps lines as they are.
func roffBlock(text string) string {
	var b strings.Builder
	b.WriteString(".nf\n")
	for line := range strings.SplitSeq(text, "\n") {
		b.WriteString(roffLine(line) + "\n")
	}
	b.WriteString(".fi\n")
	return b.String()
}

// roffText writes paragraphs; what is indented in the help stays as it is.
func roffText(text string) string {
	var b strings.Builder
	for i, part := range strings.Split(strings.TrimSpace(text), "\n\n") {
		if i > 0 {
			b.WriteString(".PP\n")
		}
		if indented(part) {
			b.WriteString(roffBlock(part))
			continue
		}
		for line := range strings.SplitSeq(part, "\n") {
			b.WriteString(roffLine(line) + "\n")
		}
	}
	return b.String()
}

// indented reports whether a paragraph is laid out by hand.
func indented(part string) bool {
	for line := range strings.SplitSeq(part, "\n") {
		if strings.HasPrefix(line, "  ") {
			return true
		}
	}
	return false
}

// unindent takes the two blanks away that examples start with.
func unindent(text string) string {
	lines := strings.Split(text, "\n")
	for i := range lines {
		lines[i] = strings.TrimPrefix(lines[i], "  ")
	}
	return strings.Join(lines, "\n")
}
