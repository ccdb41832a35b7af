package app

import (
	"context"
	"os/signal"
	"syscall"

	"github.com/spf13/cobra"
	"github.com/winnow-llm/winnow/recall"
	"github.com/winnow-llm/winnow/recall/mcpserver"
)

func (a *app) mcpCommand() *cobra.Command {
	var f recallFlags
	cmd := &cobra.Command{
		Use:   "mcp",
		Short: "Give a model back what was hidden from it: an MCP server",
		Example: `  winnow mcp install claude-code
  claude mcp add winnow -- winnow mcp
  winnow mcp --gateway http://127.0.0.1:8484`,
		Long: `Serves tools over standard input and output, for agents that speak MCP:

  recall          the original behind a handle, a page at a time or by words
  search_history  words in what is hidden of the conversation that was used last
  context_status  how full the context is, and when it will be compacted
  pin, unpin      a message that stays as it is, by handle or by number
  compact_now     a compaction, with what to keep in detail

They look where winnow recall HANDLE looks: at the gateway that --gateway or
WINNOW_GATEWAY names, else in the gateway's file, and in the sessions of the store.
Behind winnow wrap nothing needs to be named. A gateway with keys wants the
tenant's in WINNOW_KEY. winnow serve has the same tools at /mcp.

Views name handles as [original: HANDLE]. With the setting recall_tool they say by
which tool the original can be had.`,
		Args: cobra.NoArgs,
	}
	f.add(cmd)
	cmd.AddCommand(a.mcpInstallCommand())
	cmd.RunE = a.work(func(cmd *cobra.Command, _ []string) error {
		ctx, stop := signal.NotifyContext(cmd.Context(), syscall.SIGTERM)
		defer stop()
		return mcpserver.Run(ctx, thisBuild().Version, &fresh{f: &f, a: a.quietly()}, a.whose(), a.stdin, behind(a.stdout))
	})
	return cmd
}

// fresh is a source that is looked for anew with every call: stores come to be,
// and gateways are started, while an agent runs. What is wrong is told to the
// model, and the server stays.
type fresh struct {
	f *recallFlags
	a *app
}

// Recall implements [recall.Source].
func (s *fresh) Recall(ctx context.Context, handle string, r recall.Range) (recall.Page, error) {
	source, done, err := s.f.source(ctx, s.a)
	if err != nil {
		return recall.Page{}, err
	}
	defer done()
	return source.Recall(ctx, handle, r)
}

// Search implements [recall.Source].
func (s *fresh) Search(ctx context.Context, q recall.Query) (recall.Results, error) {
	source, done, err := s.f.source(ctx, s.a)
	if err != nil {
		return recall.Results{}, err
	}
	defer done()
	return source.Search(ctx, q)
}
