package app

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/spf13/cobra"
	"github.com/winnow-llm/winnow/internal/app/show"
	"github.com/winnow-llm/winnow/internal/app/spelling"
	"github.com/winnow-llm/winnow/model"
)

func (a *app) modelsCommand() *cobra.Command {
	all := false
	cmd := &cobra.Command{
		Use:   "models [NAME]",
		Short: "List models with their windows, limits and prices",
		Example: `  winnow models
  winnow models claude-sonnet
  winnow models openai/gpt-5 --json`,
		Long: `Lists the models in the registry whose names contain the words of NAME; a star marks
the one that a session with exactly that name gets. If there are none, it shows the
limits that winnow would assume for that name, and why. Without NAME it lists the
families of models; --all and --json list every model. Prices are dollars per million
tokens.`,
		Args: cobra.MaximumNArgs(1),
		RunE: a.work(func(_ *cobra.Command, args []string) error {
			if len(args) == 0 && !all && !a.asJSON {
				return a.families()
			}
			return a.models(strings.Join(args, " "))
		}),
	}
	cmd.Flags().BoolVar(&all, "all", false, "without NAME: list every model of every provider")
	return cmd
}

// families lists the lines of models, so that one can be asked for.
func (a *app) families() error {
	l, err := a.loadSettings()
	if err != nil {
		return err
	}
	r, err := l.registry()
	if err != nil {
		return err
	}
	var rows [][]string
	models := 0
	for _, f := range r.Lines() {
		models += f.Models
		rows = append(rows, []string{cmp.Or(f.Name, "(others)"), number(f.Models), number(f.Providers), between(limit(f.Smallest), limit(f.Largest)), between(inputPrice(f.Cheapest), inputPrice(f.Dearest))})
	}
	a.style(a.stdout).Table(a.stdout, []show.Column{
		{Title: "family", Words: true},
		{Title: "models"},
		{Title: "providers"},
		{Title: "context"},
		{Title: "$ in"},
	}, rows)
	a.say("%s; winnow models FAMILY lists the models of one, winnow models --all lists every model", plural(models, "model"))
	return nil
}

// between is a range, or the one value that it is.
func between(low, high string) string {
	if low == high {
		return low
	}
	return low + " - " + high
}

func inputPrice(x float64) string {
	if x == 0 {
		return "-"
	}
	return strings.TrimSuffix(fmt.Sprintf("%.2f", x), ".00")
}

func (a *app) models(name string) error {
	l, err := a.loadSettings()
	if err != nil {
		return err
	}
	r, err := l.registry()
	if err != nil {
		return err
	}
	list := r.List(name)
	if len(list) == 0 {
		m := r.Lookup(name)
		list = []model.Model{m}
		a.say("no model is called %q, so winnow would assume these limits (%s)%s", name, m.Source, meantModel(name))
	}
	if a.asJSON {
		return a.print(list)
	}
	wanted := cmp.Or(name, l.Model)
	taken, marked := r.Lookup(wanted), false
	rows := make([][]string, len(list))
	for i := range list {
		m := &list[i]
		mark := ""
		if wanted != "" && m.Provider == taken.Provider && m.Name == taken.Name {
			mark, marked = " *", true
		}
		rows[i] = []string{
			m.Provider, m.Name + mark, limit(m.Context), limit(m.Input), limit(m.Output),
			price(m, m.Prices.Input), price(m, m.Prices.Output), price(m, m.Prices.CacheRead),
		}
	}
	a.style(a.stdout).Table(a.stdout, []show.Column{
		{Title: "provider", Words: true},
		{Title: "model", Words: true},
		{Title: "context"},
		{Title: "input"},
		{Title: "output"},
		{Title: "$ in"},
		{Title: "$ out"},
		{Title: "$ cached"},
	}, rows)
	if marked && len(list) > 1 {
		fmt.Fprintf(a.stdout, "* winnow takes this one for %q\n", wanted)
	}
	return nil
}

func limit(n int) string {
	if n == 0 {
		return "-"
	}
	return number(n)
}

func price(m *model.Model, x float64) string {
	if !m.Prices.Known() {
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
