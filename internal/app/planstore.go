package app

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/winnow-llm/winnow/internal/app/jobs"
	"github.com/winnow-llm/winnow/internal/pg"
	"github.com/winnow-llm/winnow/internal/planstore"
	"github.com/winnow-llm/winnow/plan"
	"github.com/winnow-llm/winnow/session"
	sessions "github.com/winnow-llm/winnow/session/postgres"
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
	cmd := newCommand("store", "Inspect the gateway's store, and remove conversations from it", `
  winnow store ls
  winnow store rm 3f1c9a
  winnow store copy plans.db postgres://winnow@db/winnow

The gateway stores plans in a file or in PostgreSQL, and with --keep-originals also
conversations. These commands are for the owner of that store; a caller of the
gateway removes a conversation with DELETE /winnow/conversations/ID.`, nil, nil)
	cmd.PersistentFlags().StringVar(&path, "store", "", "`PATH` of the file with the plans, or postgres://USER@HOST/DATABASE (default: in the user's cache folder)")
	most := 100
	ls := newCommand("ls", "List the plans in the gateway's store, most recently used first", `
  winnow store ls
  winnow store ls --limit 10 --json

Lists each plan with its id, its tenant (the beginning of a hash), how many messages
it covers, and when it was last used.`,
		cobra.NoArgs, a.onPlans(&path, func(ctx context.Context, s planstore.Owner, _ []string) error {
			all, err := s.Entries(ctx, most)
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
		}))
	ls.Flags().IntVar(&most, "limit", most, "list at most `N`")
	rm := newCommand("rm ID...", "Remove the conversations of plans from the gateway's store", `
  winnow store rm 3f1c9a
  winnow store rm 3f1c9a --store plans.db

Removes the conversation that each plan belongs to: all its plans, the usage that
providers reported, and its text if that was stored. It also removes conversations
of the same caller that begin with the same message. The space in the file is
overwritten.

ID is the id of a plan or the beginning of one, as shown by winnow store ls and by
the header Winnow-Plan. A running gateway still has the conversation in memory until
it has not been used for a while: send it DELETE /winnow/conversations/ID, or restart
it.`, cobra.MinimumNArgs(1), a.onPlans(&path, a.removePlans))
	cmd.AddCommand(ls, rm, a.storeStatsCommand(&path), a.storePruneCommand(&path), a.storeMigrateCommand(&path), a.storeCopyCommand())
	return cmd
}

// onPlans makes what works on the gateway's store, with the command's arguments, a
// command's RunE.
func (a *app) onPlans(path *string, do func(context.Context, planstore.Owner, []string) error) func(*cobra.Command, []string) error {
	return func(cmd *cobra.Command, args []string) error {
		s, err := openPlans(cmd.Context(), *path)
		if err != nil {
			return err
		}
		defer s.Close()
		return do(cmd.Context(), s, args)
	}
}

func (a *app) removePlans(ctx context.Context, s planstore.Owner, ids []string) error {
	all, err := s.Entries(ctx, 1<<30)
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
		p, o, err := s.Remove(ctx, k)
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

func plansPrefix(err error) string { return strings.ReplaceAll(err.Error(), "planstore: ", "") }

func (a *app) storeStatsCommand(path *string) *cobra.Command {
	return newCommand("stats", "Show the size of the gateway's store", `
  winnow store stats --store postgres://winnow@db/winnow

Counts plans, marks and conversations, with their sizes and first and last use.`,
		cobra.NoArgs, a.onPlans(path, func(ctx context.Context, s planstore.Owner, _ []string) error {
			sums, err := s.Sums(ctx)
			if err != nil {
				return err
			}
			if a.asJSON {
				return a.printJSON(sums)
			}
			fmt.Fprintf(a.stdout, "%s of %s, %s in all\n", plural(int(sums.Plans), "plan"), plural(int(sums.Tenants), "tenant"), sizeText(sums.PlanBytes))
			fmt.Fprintf(a.stdout, "%s, %s (%s)\n", plural(int(sums.Marks), "mark"), plural(int(sums.Conversations), "stored conversation"), sizeText(sums.TextBytes))
			fmt.Fprintf(a.stdout, "%s on the disk\n", sizeText(sums.DiskBytes))
			if sums.Oldest != nil {
				fmt.Fprintf(a.stdout, "used from %s to %s\n", sums.Oldest.UTC().Format("2006-01-02 15:04"), sums.Newest.UTC().Format("2006-01-02 15:04"))
			}
			return nil
		}))
}

func (a *app) storePruneCommand(path *string) *cobra.Command {
	age, plans, size := 30*24*time.Hour, 0, 0
	cmd := newCommand("prune", "Remove what is too old or too much from the gateway's store", `
  winnow store prune --store-age 240h
  winnow store prune --store postgres://winnow@db/winnow --store-plans 1000000

Removes plans, marks and stored conversations that have not been used for some time,
then the least recently used until the rest is within the limits. Gateways can keep
running: PostgreSQL is pruned in small batches.`,
		cobra.NoArgs, a.onPlans(path, func(ctx context.Context, s planstore.Owner, _ []string) error {
			p, err := s.Prune(ctx, planstore.Bounds{Age: age, Plans: plans, Size: int64(size) << 20, Originals: int64(size) << 20})
			if err != nil {
				return err
			}
			return a.printLine(p, "forgot %s, %s and %s", plural(int(p.Plans), "plan"), plural(int(p.Marks), "mark"), plural(int(p.Conversations), "stored conversation"))
		}))
	cmd.Flags().DurationVar(&age, "store-age", age, "`TIME` to keep a plan after its last use")
	cmd.Flags().IntVar(&plans, "store-plans", plans, "most `PLANS` to keep (default 50,000 in a file, 10,000,000 in PostgreSQL)")
	cmd.Flags().IntVar(&size, "store-size", size, "most `MB` of plans, and again as much of conversations (default 1 GB in a file, 100 GB in PostgreSQL)")
	return cmd
}

func (a *app) storeMigrateCommand(path *string) *cobra.Command {
	return newCommand("migrate", "Create or update the tables in PostgreSQL", `
  winnow store migrate --store postgres://owner@db/winnow

Creates the tables for plans, sessions and jobs in PostgreSQL, or updates them to
the version of this winnow. A gateway does so itself when it starts, if its user may.
Running gateways of the previous version keep working; winnow refuses tables of a
later version.`, cobra.NoArgs, func(cmd *cobra.Command, _ []string) error {
		if !pg.Is(*path) {
			return usageErrorf("--store %s: only PostgreSQL needs migrating; files are updated when they are opened", *path)
		}
		done, err := migrateDatabase(cmd.Context(), *path)
		if err != nil {
			return err
		}
		if a.asJSON {
			return a.printJSON(map[string]any{"store": pg.Name(*path), "parts": done})
		}
		for _, d := range done {
			fmt.Fprintf(a.stdout, "%s: version %d, was %d\n", d.Part, d.Version, d.Was)
		}
		return nil
	})
}

// migrated is a part of a database that has its version now.
type migrated struct {
	Part    string `json:"part"`
	Was     int    `json:"was"`
	Version int    `json:"version"`
}

func migrateDatabase(ctx context.Context, address string) ([]migrated, error) {
	db, err := pg.Open(ctx, pg.Config{URL: address, Application: "winnow store migrate"})
	if err != nil {
		return nil, fmt.Errorf("%s: %w", pg.Name(address), err)
	}
	defer db.Close()
	var out []migrated
	for _, s := range []pg.Schema{postgres.Schema(), sessions.Schema()} {
		was, now, err := db.Prepare(ctx, s)
		if err != nil {
			return out, err
		}
		out = append(out, migrated{s.Part, was, now})
	}
	was, now, err := jobs.Migrate(ctx, db)
	if err != nil {
		return out, err
	}
	return append(out, migrated{jobs.Part, was, now}), nil
}

func (a *app) storeCopyCommand() *cobra.Command {
	what := ""
	cmd := newCommand("copy FROM TO", "Copy everything from one store to another", `
  winnow store copy ~/.cache/winnow/plans.db postgres://winnow@db/winnow
  winnow store copy ~/.local/share/winnow/sessions.db postgres://winnow@db/winnow
  winnow store copy postgres://winnow@db/winnow backup.db --what plans

Copies a gateway's plans, or sessions, between any two stores: a file, a folder of
.jsonl files (sessions), or PostgreSQL. What is already in the other store stays
there. If a copy is interrupted, run it again and it continues where it stopped.
Sessions that have grown since are completed; sessions that diverged in the other
store are left alone and named.

winnow can tell from a file what to copy; if neither store shows it, say so with
--what.`, cobra.ExactArgs(2), func(cmd *cobra.Command, args []string) error {
		kind, err := copiedKind(what, args[0], args[1])
		if err != nil {
			return err
		}
		if kind == "plans" {
			return a.copyPlans(cmd.Context(), args[0], args[1])
		}
		return a.copySessions(cmd.Context(), args[0], args[1])
	})
	cmd.Flags().StringVar(&what, "what", what, "`KIND` to copy: plans or sessions (default: what the file holds)")
	return cmd
}

// copiedKind returns what a copy is about.
func copiedKind(what, from, to string) (string, error) {
	switch what {
	case "plans", "sessions":
		return what, nil
	case "":
	default:
		return "", usageErrorf("--what %s: write plans or sessions", what)
	}
	for _, path := range []string{from, to} {
		if pg.Is(path) {
			continue
		}
		if info, err := os.Stat(path); err == nil && info.IsDir() || strings.HasSuffix(path, string(filepath.Separator)) {
			return "sessions", nil
		} else if err != nil {
			continue
		}
		head := make([]byte, 72)
		f, err := os.Open(path)
		if err != nil {
			return "", fmt.Errorf("%s cannot be read: %s", path, causeText(err))
		}
		n, err := f.Read(head)
		_ = f.Close() // it was only read
		if err == nil && n == len(head) && string(head[68:72]) == "winn" {
			return "sessions", nil
		}
		return "plans", nil
	}
	return "", usageErrorf("say what to copy with --what plans or --what sessions")
}

func (a *app) copyPlans(ctx context.Context, from, to string) error {
	src, err := openPlans(ctx, from)
	if err != nil {
		return err
	}
	defer src.Close()
	var dst planstore.Owner
	if pg.Is(to) {
		dst, err = openPlans(ctx, to)
	} else {
		dst, err = sqlite.Open(to, planstore.Bounds{Age: 100 * 365 * 24 * time.Hour, Plans: 1 << 40, Size: 1 << 60, Originals: 1 << 60})
	}
	if err != nil {
		return err
	}
	defer dst.Close()
	name := pg.Name(from)
	if !pg.Is(from) {
		if name, err = filepath.Abs(from); err != nil {
			return err
		}
	}
	done, err := planstore.Copy(ctx, src, dst, name)
	if err != nil {
		return errors.New(oneLine(plansPrefix(err)))
	}
	if a.asJSON {
		return a.printJSON(map[string]any{"read": done.Read, "added": done.Added, "resumed": done.Resumed})
	}
	if done.Resumed {
		a.say("an earlier copy was continued")
	}
	fmt.Fprintf(a.stdout, "copied %s; %s already there\n", plural(done.Added, "item"), number(done.Read-done.Added))
	return nil
}

func (a *app) copySessions(ctx context.Context, from, to string) error {
	src, _, err := a.openExistingStore(storeFlags{from})
	if err != nil {
		return err
	}
	defer src.Close()
	dst, _, err := a.openStore(storeFlags{to})
	if err != nil {
		return err
	}
	defer dst.Close()
	done, err := session.CopyStore(ctx, src, dst)
	if a.asJSON {
		return errors.Join(a.printJSON(done), err)
	}
	fmt.Fprintf(a.stdout, "copied %s, completed %s; %s already there\n", plural(done.Copied, "session"), plural(done.Completed, "session"), number(done.There))
	return err
}
