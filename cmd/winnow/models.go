package main

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"
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
		a.say("no model is called %q; found by %s", name, m.Source)
	}
	if a.asJSON {
		return a.print(list)
	}
	st := a.style(a.stdout)
	fmt.Fprintln(a.stdout, st.dim(fmt.Sprintf("%-20s %-44s %10s %10s %9s %8s %8s %8s", "provider", "model", "context", "input", "output", "$ in", "$ out", "$ cached")))
	for i := range list {
		m := &list[i]
		fmt.Fprintf(a.stdout, "%-20s %-44s %10s %10s %9s %8s %8s %8s\n", brief(m.Provider, 20), brief(m.Name, 44),
			limit(m.Context), limit(m.Input), limit(m.Output), price(m, m.Prices.Input), price(m, m.Prices.Output), price(m, m.Prices.CacheRead))
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
