package app

import (
	"fmt"
	"os"
	"strings"

	"github.com/spf13/cobra"
	"github.com/winnow-llm/winnow/chat"
	"github.com/winnow-llm/winnow/plan"
)

func (a *app) recallCommand() *cobra.Command {
	var format, planPath string
	cmd := &cobra.Command{
		Use:     "recall FILE HANDLE",
		Short:   "Print the original behind a handle",
		Example: "  winnow recall session.jsonl w3kfa82n --plan session.jsonl.plan.json",
		Long: `Prints what an edit replaced, in full. Handles stand in the view, in the plan and
in what winnow plan show prints. The plan is FILE.plan.json unless --plan names
another.`,
		Args: cobra.ExactArgs(2),
		RunE: a.work(func(_ *cobra.Command, args []string) error {
			return a.recall(args[0], args[1], planPath, format)
		}),
	}
	cmd.Flags().StringVar(&planPath, "plan", "", "the plan's `FILE`")
	cmd.Flags().StringVar(&format, "format", "", "`FORMAT` of FILE instead of detecting it")
	return cmd
}

// recalled is the JSON document of recall.
type recalled struct {
	Content  string           `json:"content"`
	Handle   string           `json:"handle"`
	Kind     plan.Kind        `json:"kind"`
	Stage    string           `json:"stage"`
	From     int              `json:"from"`
	To       int              `json:"to"`
	Part     int              `json:"part"`
	Messages []recalledOrigin `json:"messages,omitempty"`
}

// recalledOrigin is one message of a run.
type recalledOrigin struct {
	Index   int       `json:"index"`
	Role    chat.Role `json:"role"`
	Content string    `json:"content"`
}

func (a *app) recall(path, handle, planPath, format string) error {
	if planPath == "" {
		planPath = path + ".plan.json"
		if path == "-" {
			return usagef("recall -: name the plan's file with --plan")
		}
		if _, err := os.Stat(planPath); err != nil {
			return usagef("%s: there is no such plan, and a handle is looked up in one; name the plan's file with --plan", planPath)
		}
	}
	p, _, s, err := a.readPlanned(planPath, path, format)
	if err != nil {
		return err
	}
	o, err := plan.Recall(s.Request.History, p, handle)
	if err != nil {
		return fmt.Errorf("%s: no edit has the handle %q; winnow plan show lists them", planPath, handle)
	}
	content, messages := originalText(&o)
	if a.asJSON {
		return a.print(recalled{
			Content: content, Handle: handle, Kind: o.Edit.Kind, Stage: o.Edit.Stage,
			From: o.Edit.From, To: o.Edit.To, Part: o.Edit.Part, Messages: messages,
		})
	}
	// A file or another program gets the original and nothing else.
	_, err = fmt.Fprint(a.data(), content)
	if err == nil && isTerminal(a.stdout) && !strings.HasSuffix(content, "\n") {
		_, err = fmt.Fprintln(a.stdout)
	}
	return err
}

// originalText returns the original of one part as it is, and that of a run as
// its messages under their roles.
func originalText(o *plan.Original) (string, []recalledOrigin) {
	if o.Edit.Part >= 0 {
		if len(o.Messages) == 0 || len(o.Messages[0].Parts) == 0 {
			return "", nil
		}
		return partText(&o.Messages[0].Parts[0]), nil
	}
	var all []recalledOrigin
	var b strings.Builder
	for i := range o.Messages {
		m := &o.Messages[i]
		texts := make([]string, len(m.Parts))
		for k := range m.Parts {
			texts[k] = partText(&m.Parts[k])
			if m.Parts[k].Kind == chat.ToolCall {
				texts[k] = m.Parts[k].Name + " " + texts[k]
			}
		}
		r := recalledOrigin{o.From + i, m.Role, strings.Join(texts, "\n")}
		all = append(all, r)
		fmt.Fprintf(&b, "[%d %s]\n%s\n\n", r.Index, r.Role, strings.TrimRight(r.Content, "\n"))
	}
	return b.String(), all
}

// partText is what a part says.
func partText(p *chat.Part) string {
	switch p.Kind {
	case chat.ToolCall:
		return p.Args
	case chat.Image, chat.Opaque:
		return p.Data
	case chat.Document:
		if p.Text == "" {
			return p.Data
		}
	case chat.ToolResult:
		text := p.Text
		for i := range p.Content {
			if text != "" {
				text += "\n"
			}
			text += partText(&p.Content[i])
		}
		return text
	}
	return p.Text
}
