package app

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"time"

	"github.com/spf13/cobra"
	"github.com/winnow-llm/winnow/internal/pg"
	"github.com/winnow-llm/winnow/internal/planstore"
	"github.com/winnow-llm/winnow/plan"
	"github.com/winnow-llm/winnow/transport/planstore/postgres"
	"github.com/winnow-llm/winnow/transport/planstore/sqlite"
)

// storedPlan is a plan as winnow store shows it.
type storedPlan struct {
	ID       plan.ID   `json:"id"`
	Tenant   string    `json:"tenant"`
	Messages int       `json:"messages"`
	Used     time.Time `json:"used"`
}

func (a *app) planStoreCommand() *cobra.Command {
	var path string
	cmd := &cobra.Command{
		Use:   "store",
		Short: "Inspect the gateway's store, and remove conversations from it",
		Example: `  winnow store ls
  winnow store rm 3f1c9a
  winnow store copy plans.db postgres://winnow@db/winnow`,
		Long: `The gateway stores plans in a file or in PostgreSQL, and with --keep-originals also
conversations. These commands are for the owner of that store; a caller of the
gateway removes a conversation with DELETE /winnow/conversations/ID.`,
	}
	cmd.PersistentFlags().StringVar(&path, "store", "", "`PATH` of the file with the plans, or postgres://USER@HOST/DATABASE (default: in the user's cache folder)")
	most := 100
	ls := &cobra.Command{
		Use:   "ls",
		Short: "List the plans in the gateway's store, most recently used first",
		Example: `  winnow store ls
  winnow store ls --limit 10 --json`,
		Long: `Lists each plan with its id, its tenant (the beginning of a hash), how many messages
it covers, and when it was last used.`,
		Args: cobra.NoArgs,
		RunE: a.asRunE(func(cmd *cobra.Command, _ []string) error {
			if most <= 0 {
				return usageErrorf("--limit %d: must be a positive number", most)
			}
			s, err := openPlans(cmd.Context(), path)
			if err != nil {
				return err
			}
			defer s.Close()
			all, err := s.Entries(cmd.Context(), most)
			if err != nil {
				return err
			}
			docs := make([]storedPlan, len(all))
			for i, e := range all {
				docs[i] = storedPlan{e.ID, string(e.Key.Tenant[:min(8, len(e.Key.Tenant))]), e.Len, e.Used.UTC()}
			}
			if a.asJSON {
				return a.printJSON(map[string]any{"plans": docs})
			}
			for _, d := range docs {
				fmt.Fprintf(a.stdout, "%s  %s  %6s messages  %s\n", d.ID, d.Tenant, number(d.Messages), d.Used.Format("2006-01-02 15:04"))
			}
			if len(docs) == 0 {
				a.say("there are no plans in the store")
			}
			return nil
		}),
	}
	ls.Flags().IntVar(&most, "limit", most, "list at most `N`")
	rm := &cobra.Command{
		Use:   "rm ID...",
		Short: "Remove the conversations of plans from the gateway's store",
		Example: `  winnow store rm 3f1c9a
  winnow store rm 3f1c9a --store plans.db`,
		Long: `Removes the conversation that each plan belongs to: all its plans, the usage that
providers reported, and its text if that was stored. It also removes conversations
of the same caller that begin with the same message. The space in the file is
overwritten.

ID is the id of a plan or the beginning of one, as shown by winnow store ls and by
the header Winnow-Plan. A running gateway still has the conversation in memory until
it has not been used for a while: send it DELETE /winnow/conversations/ID, or restart
it.`,
		Args: cobra.MinimumNArgs(1),
		RunE: a.asRunE(func(cmd *cobra.Command, args []string) error { return a.removePlans(cmd, path, args) }),
	}
	cmd.AddCommand(ls, rm, a.storeStatsCommand(&path), a.storePruneCommand(&path), a.storeMigrateCommand(&path), a.storeCopyCommand())
	return cmd
}

func (a *app) removePlans(cmd *cobra.Command, path string, ids []string) error {
	s, err := openPlans(cmd.Context(), path)
	if err != nil {
		return err
	}
	defer s.Close()
	all, err := s.Entries(cmd.Context(), 1<<30)
	if err != nil {
		return err
	}
	keys := map[planstore.Key]bool{}
	for _, id := range ids {
		found := map[planstore.Key]bool{}
		for _, e := range all {
			if len(id) >= 4 && len(id) <= len(e.ID) && string(e.ID[:len(id)]) == id {
				found[e.Key] = true
				keys[e.Key] = true
			}
		}
		switch {
		case len(found) == 0:
			return fmt.Errorf("there is no plan %s in the store; winnow store ls lists them", id)
		case len(found) > 1:
			return fmt.Errorf("several conversations have a plan %s…; write more of its id", id)
		}
	}
	var plans, originals int
	for k := range keys {
		p, o, err := s.Remove(cmd.Context(), k)
		plans, originals = plans+p, originals+o
		if err != nil {
			return err
		}
	}
	doc := map[string]int{"plans_removed": plans, "conversations_removed": originals}
	return a.printLine(doc, "removed %s and %s", plural(plans, "plan"), plural(originals, "stored conversation"))
}

// openPlans opens the gateway's store for its owner. It makes no file where
// there is none, and forgets nothing by itself.
func openPlans(ctx context.Context, path string) (planstore.Owner, error) {
	forever := planstore.Bounds{Age: 100 * 365 * 24 * time.Hour}
	if pg.Is(path) {
		return openPostgres(ctx, path, &postgres.Options{Bounds: forever, Application: "winnow store", PrunedElsewhere: true, Timeout: time.Minute})
	}
	if path == "" {
		var err error
		if path, err = plansPath(); err != nil {
			return nil, fmt.Errorf("there is no cache folder: %w; name the file with --store", err)
		}
	}
	if _, err := os.Stat(path); err != nil {
		return nil, fmt.Errorf("there is no store %s: %s; name its file with --store", path, causeText(err))
	}
	return sqlite.Open(path, forever)
}

// openPostgres opens plans in PostgreSQL. Names and reasons are in the error, no
// password.
func openPostgres(ctx context.Context, address string, o *postgres.Options) (planstore.Owner, error) {
	s, err := postgres.Open(ctx, address, o)
	if err != nil {
		return nil, errors.New(oneLine(plansPrefix(err)))
	}
	return s, nil
}

// storeLog returns the log in which a store tells that its database is gone.
func (a *app) storeLog() *slog.Logger {
	if a.quiet {
		return slog.New(slog.NewJSONHandler(io.Discard, nil))
	}
	return slog.New(slog.NewJSONHandler(a.stderr, nil))
}
