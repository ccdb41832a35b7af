package app

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"
	"github.com/winnow-llm/winnow/internal/spelling"
	"github.com/winnow-llm/winnow/model"
)

func (a *app) modelsCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "models [NAME]",
		Short: "List models with their windows, limits and prices",
		Example: `  winnow models claude-sonnet
  winnow models openai/gpt-5 --json`,
		Long: `Lists the models of the registry whose name holds the words of NAME. A name that
none has is looked up as the engine does, and the answer says how it was found.
Prices are dollars per million tokens.`,
		Args: cobra.MaximumNArgs(1),
		RunE: a.work(func(_ *cobra.Command, args []string) error { return a.models(strings.Join(args, " ")) }),
	}
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
		hint := ""
		if best := spelling.Nearest(name, modelNames()); best != "" {
			hint = fmt.Sprintf("; did you mean %s?", best)
		}
		a.say("no model is called %q, so these limits would be used (%s)%s", name, m.Source, hint)
	}
	if a.asJSON {
		return a.print(list)
	}
	rows := make([][]string, len(list))
	for i := range list {
		m := &list[i]
		rows[i] = []string{
			m.Provider, m.Name, limit(m.Context), limit(m.Input), limit(m.Output),
			price(m, m.Prices.Input), price(m, m.Prices.Output), price(m, m.Prices.CacheRead),
		}
	}
	a.style(a.stdout).table(a.stdout, []column{
		{"provider", true},
		{"model", true},
		{"context", false},
		{"input", false},
		{"output", false},
		{"$ in", false},
		{"$ out", false},
		{"$ cached", false},
	}, rows)
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
