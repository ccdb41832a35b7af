package app

import (
	"fmt"

	"github.com/spf13/cobra"
	"github.com/winnow-llm/winnow/wire"
)

func (a *app) classifyCommand() *cobra.Command {
	var status int
	cmd := newCommand("classify [FILE]", "Explain a provider's error", `
  winnow classify < error.json
  echo "prompt is too long: 210000 tokens > 200000 maximum" | winnow classify --json

Reads a provider's error from standard input or from FILE, and says whether the
request was too long (and by how much) or what else is wrong. The error may be the
provider's JSON, plain text, or {"status": …, "error": {"code": …, "message": …}}.`,
		cobra.MaximumNArgs(1), func(_ *cobra.Command, args []string) error { return a.runClassify(append(args, "-")[0], status) })
	cmd.Flags().IntVar(&status, "status", 0, "HTTP `STATUS` of the answer")
	return cmd
}

// verdict is the JSON document of classify. Limit and actual are null when
// the error does not tell them.
type verdict struct {
	wire.Verdict
	Limit  *int `json:"limit"`
	Actual *int `json:"actual"`
}

func (a *app) runClassify(path string, status int) error {
	in, err := a.openInput(path)
	if err != nil {
		return err
	}
	v := wire.Classify(status, nil, in.Data)
	doc := verdict{Verdict: v}
	if v.Limit > 0 {
		doc.Limit = &v.Limit
	}
	if v.Actual > 0 {
		doc.Actual = &v.Actual
	}
	if a.asJSON {
		return a.printJSON(doc)
	}
	fmt.Fprint(a.stdout, v.Kind)
	if v.Provider != "" {
		fmt.Fprintf(a.stdout, " (%s)", v.Provider)
	}
	if v.Limit > 0 {
		fmt.Fprintf(a.stdout, ", limit %s tokens", number(v.Limit))
	}
	if v.Actual > 0 {
		fmt.Fprintf(a.stdout, ", actual %s", number(v.Actual))
	}
	if v.Retryable {
		fmt.Fprint(a.stdout, ", may be tried again")
	}
	fmt.Fprintln(a.stdout)
	if v.Message != "" {
		fmt.Fprintln(a.stdout, brief(v.Message, 300))
	}
	return nil
}
