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
		Short: "Run an MCP server that gives a model its originals back",
		Example: `  winnow mcp install claude
  claude mcp add winnow -- winnow mcp
  winnow mcp --gateway http://127.0.0.1:8484`,
		Long: `Serves tools over standard input and output, for agents that speak MCP:

  recall          show the original behind a handle, by page or by words
  search_history  search what is hidden from the most recent conversation
  context_status  show how full the context is, and when it will be compacted
  pin, unpin      keep a message from being edited, by handle or by number
  compact_now     compact now, with what to keep in detail, from 60 % of the room on
  note            write something down that outlives every compaction

They look where winnow recall HANDLE looks: in the gateway that --gateway or
WINNOW_GATEWAY names, else in the gateway's file, and in the store of sessions.
Behind winnow wrap you need not name anything. For a gateway with keys, put the
tenant's key into WINNOW_KEY. winnow serve offers the same tools at /mcp.

Views show handles as [original: HANDLE]. With the setting recall_tool they also
name the tool that returns the original.`,
		Args: cobra.NoArgs,
	}
	f.addTo(cmd)
	cmd.AddCommand(a.mcpInstallCommand())
	cmd.RunE = a.asRunE(func(cmd *cobra.Command, _ []string) error {
		ctx, stop := signal.NotifyContext(cmd.Context(), syscall.SIGTERM)
		defer stop()
		return mcpserver.Run(ctx, thisBuild().Version, &fresh{f: &f, a: a.quietly()}, a.whoseConversation(), a.stdin, unfilteredWriter(a.stdout))
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
	source, done, err := s.f.openSource(ctx, s.a)
	if err != nil {
		return recall.Page{}, err
	}
	defer done()
	return source.Recall(ctx, handle, r)
}

// Search implements [recall.Source].
func (s *fresh) Search(ctx context.Context, q recall.Query) (recall.Results, error) {
	source, done, err := s.f.openSource(ctx, s.a)
	if err != nil {
		return recall.Results{}, err
	}
	defer done()
	return source.Search(ctx, q)
}
