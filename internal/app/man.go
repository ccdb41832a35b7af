package app

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/cobra/doc"
)

func (a *app) manCommand() *cobra.Command {
	return newCommand("man [DIR]", "Write the manual pages", `
  winnow man ~/.local/share/man/man1     then: man winnow-check
  winnow man | man -l -                  the first page, without installing

Writes manual pages for winnow, its commands and its help topics into DIR, which is
created if it does not exist. Without DIR, the page of winnow itself goes to standard
output.`, cobra.MaximumNArgs(1), func(cmd *cobra.Command, args []string) error { return a.runMan(cmd.Root(), args) })
}

// manPage is one page: its file's name and its text in the language of roff.
type manPage struct {
	Name string `json:"name"`
	Text string `json:"text,omitempty"`
}

func (a *app) runMan(root *cobra.Command, args []string) error {
	pages, err := manPages(root)
	if err != nil {
		return err
	}
	if len(args) == 0 {
		if a.asJSON {
			return a.printJSON(map[string]any{"pages": pages})
		}
		_, err = fmt.Fprint(a.stdout, pages[0].Text)
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
	return a.printResult(map[string]any{"dir": dir, "pages": pages}, func() { a.say("wrote %s to %s", plural(len(pages), "page"), dir) })
}

// manPages makes a page for a command and those for the commands below it.
func manPages(cmd *cobra.Command) ([]manPage, error) {
	text, err := manText(cmd)
	pages := []manPage{{manName(cmd) + ".1", text}}
	for _, c := range cmd.Commands() {
		if err == nil && (c.IsAvailableCommand() || c.IsAdditionalHelpTopicCommand()) {
			var below []manPage
			below, err = manPages(c)
			pages = append(pages, below...)
		}
	}
	return pages, err
}

func manName(cmd *cobra.Command) string { return strings.ReplaceAll(cmd.CommandPath(), " ", "-") }

// manText writes a page with cobra's own generator, which takes a command's long
// text for Markdown. That text gets the sections that the generator does not
// write: examples in front, the commands below and the exit status behind.
func manText(cmd *cobra.Command) (string, error) {
	var b strings.Builder
	if cmd.HasExample() {
		b.WriteString("# EXAMPLES\n" + manBlock(unindent(cmd.Example)) + "# DESCRIPTION\n")
	}
	text := cmp.Or(longText(cmd), cmd.Short+".")
	for part := range strings.SplitSeq(strings.TrimSpace(text), "\n\n") {
		if strings.HasPrefix(part, "  ") || strings.Contains(part, "\n  ") { // laid out by hand
			b.WriteString(manBlock(part))
		} else {
			b.WriteString(manEscape.Replace(part) + "\n\n")
		}
	}
	if cmd.HasSubCommands() {
		b.WriteString("# COMMANDS\n")
		for _, c := range cmd.Commands() {
			if c.IsAvailableCommand() && c.Name() != "help" || c.IsAdditionalHelpTopicCommand() {
				fmt.Fprintf(&b, "**%s**(1)\n: %s\n\n", manName(c), manEscape.Replace(c.Short))
			}
		}
	}
	b.WriteString("# EXIT STATUS\n0 done, 1 failed, 2 wrong usage, 3 cannot fit, 4 over the share of check --fail-over, 130 interrupted.\n")
	page := *cmd
	page.Long, page.Example, page.DisableAutoGenTag = b.String(), "", true
	var out strings.Builder
	undated := time.Time{} // the same program writes the same pages on any day
	header := doc.GenManHeader{Date: &undated, Source: "winnow " + thisBuild().Version, Manual: "winnow"}
	err := doc.GenMan(&page, &header, &out)
	return manMend.Replace(out.String()), err
}

// manEscape makes Markdown show what it would take for its own.
var manEscape = strings.NewReplacer(`\`, `\\`, "*", `\*`, "_", `\_`, "`", "\\`", "<", `\<`, "[", `\[`, "#", `\#`)

// manMend takes the date away and the heading before the examples, and makes
// dashes the character that a shell knows, so that what is copied from a page runs.
var manMend = strings.NewReplacer(`"Jan 0001"`, `""`, ".SH DESCRIPTION\n\n.SH EXAMPLES\n", ".SH EXAMPLES\n", "-", `\-`)

// manBlock keeps lines as they are.
func manBlock(text string) string { return "```\n" + text + "\n```\n\n" }

// unindent takes the two blanks away that examples start with.
func unindent(text string) string {
	lines := strings.Split(text, "\n")
	for i := range lines {
		lines[i] = strings.TrimPrefix(lines[i], "  ")
	}
	return strings.Join(lines, "\n")
}
