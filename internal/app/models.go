package app

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/spf13/cobra"
	"github.com/winnow-llm/winnow/internal/app/spelling"
	"github.com/winnow-llm/winnow/model"
)

func (a *app) modelsCommand() *cobra.Command {
	all := false
	cmd := newCommand("models [NAME]", "List models with their windows, limits and prices", `
  winnow models
  winnow models claude-sonnet
  winnow models openai/gpt-5 --json

Lists the models in the registry whose names contain the words of NAME; a star marks
the one that a session with exactly that name gets. If there are none, it shows the
limits that winnow would assume for that name, and why. Without NAME it lists the
families of models; --all and --json list every model. Prices are dollars per million
tokens.`, cobra.MaximumNArgs(1), func(_ *cobra.Command, args []string) error {
		l, err := a.loadSettings()
		if err != nil {
			return err
		}
		r, err := l.modelRegistry()
		switch {
		case err != nil:
			return err
		case len(args) == 0 && !all && !a.asJSON:
			a.listFamilies(r)
			return nil
		}
		return a.listModels(r, strings.Join(args, " "), l.Model)
	})
	cmd.Flags().BoolVar(&all, "all", false, "without NAME: list every model of every provider")
	return cmd
}

// listFamilies lists the lines of models, so that one can be asked for.
func (a *app) listFamilies(r *model.Registry) {
	var rows [][]string
	models := 0
	for _, f := range r.Lines() {
		models += f.Models
		rows = append(rows, []string{cmp.Or(f.Name, "(others)"), number(f.Models), number(f.Providers), formatRange(formatLimit(f.Smallest), formatLimit(f.Largest)), formatRange(formatPrice(f.Cheapest, f.Cheapest != 0), formatPrice(f.Dearest, f.Dearest != 0))})
	}
	a.styleFor(a.stdout).Table(a.stdout, []string{"family<", "models", "providers", "context", "$ in"}, rows)
	a.say("%s; winnow models FAMILY lists the models of one, winnow models --all lists every model", plural(models, "model"))
}

// formatRange writes a range, or its only value.
func formatRange(low, high string) string {
	if low == high {
		return low
	}
	return low + " - " + high
}

// listModels lists the models that match a name, or what would be assumed for it, and
// marks the model that is taken for the name or else for the one in the settings.
func (a *app) listModels(r *model.Registry, name, standard string) error {
	list := r.List(name)
	if len(list) == 0 {
		m := r.Lookup(name)
		list = []model.Model{m}
		a.say("no model is called %q, so winnow would assume these limits (%s)%s", name, m.Source, meantModel(name))
	}
	if a.asJSON {
		return a.printJSON(list)
	}
	wanted := cmp.Or(name, standard)
	taken, marked := r.Lookup(wanted), false
	rows := make([][]string, len(list))
	for i := range list {
		m := &list[i]
		mark, known := "", m.Prices.Known()
		if wanted != "" && m.Provider == taken.Provider && m.Name == taken.Name {
			mark, marked = " *", true
		}
		rows[i] = []string{
			m.Provider, m.Name + mark, formatLimit(m.Context), formatLimit(m.Input), formatLimit(m.Output),
			formatPrice(m.Prices.Input, known), formatPrice(m.Prices.Output, known), formatPrice(m.Prices.CacheRead, known),
		}
	}
	titles := []string{"provider<", "model<", "context", "input", "output", "$ in", "$ out", "$ cached"}
	a.styleFor(a.stdout).Table(a.stdout, titles, rows)
	if marked && len(list) > 1 {
		fmt.Fprintf(a.stdout, "* winnow takes this one for %q\n", wanted)
	}
	return nil
}

func formatLimit(n int) string {
	if n == 0 {
		return "-"
	}
	return number(n)
}

func formatPrice(x float64, known bool) string {
	if !known {
		return "-"
	}
	return strings.TrimSuffix(fmt.Sprintf("%.2f", x), ".00")
}

// meantModel asks whether a person meant a model with a similar name; "" where
// there is none.
func meantModel(name string) string {
	if best := spelling.Nearest(name, modelNames()); best != "" {
		return fmt.Sprintf("; did you mean %s?", best)
	}
	return ""
}

// doubtModel tells people when limits are not those of the model that they named.
func (a *app) doubtModel(name, doubt string) {
	if doubt != "" {
		a.sayOnce(doubt + meantModel(name))
	}
}
