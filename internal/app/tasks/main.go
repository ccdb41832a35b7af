//go:build unix

// Command tasks asks whether agents solve as many tasks behind winnow as alone: it lets
// one work on each task twice, stops it in the middle, compacts, lets it finish and runs
// tests that it never saw. See docs/tasks.md.
package main

import (
	"cmp"
	"context"
	"embed"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/winnow-llm/winnow/gateway"
)

//go:embed agents/*.json
var builtIn embed.FS

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	switch err := tasksCommand(ctx, os.Args[1:], os.Stdout); {
	case errors.Is(err, flag.ErrHelp):
		os.Exit(2)
	case err != nil:
		fmt.Fprintln(os.Stderr, "tasks:", err)
		os.Exit(1)
	}
}

// bench is one series of runs: what it was asked to do and where it stands.
type bench struct {
	agent     agent
	out       string
	upstreams []gateway.Upstream
	window    int
	stop      int     // requests after which an agent is stopped
	budget    float64 // dollars for all runs in the folder; 0 means no limit
	timeout   time.Duration

	spent float64
}

// tasksCommand runs what the results do not have yet, then prints them.
func tasksCommand(ctx context.Context, args []string, w io.Writer) error {
	b := &bench{}
	f := flag.NewFlagSet("scripts/tasks", flag.ContinueOnError)
	folder := f.String("tasks", "", "folder with a folder for each task")
	name := f.String("agent", "", "claude, codex, pi, or a file that describes another")
	f.StringVar(&b.out, "out", "", "folder for results and logs; runs that it has are not repeated")
	most := f.Int("n", 0, "number of tasks to take, in the order of their names (default all)")
	rounds := f.Int("rounds", 1, "number of runs of each task, alone and with winnow")
	f.IntVar(&b.stop, "stop", 12, "number of requests after which the agent is stopped and compacted")
	f.Float64Var(&b.budget, "budget", 10, "dollars at list prices that all runs in the folder may cost; 0 is no limit")
	f.DurationVar(&b.timeout, "timeout", 30*time.Minute, "longest time for a run")
	f.IntVar(&b.window, "window", 0, "the model's window in tokens, where it is not the registry's")
	f.Func("upstream", "NAME=URL of a provider, where it is not the usual one (repeatable)", func(s string) error {
		name, url, ok := strings.Cut(s, "=")
		if !ok {
			return errors.New("write NAME=URL")
		}
		b.upstreams = append(b.upstreams, gateway.Upstream{Name: name, URL: url})
		return nil
	})
	if err := f.Parse(args); err != nil {
		return flag.ErrHelp // it was told
	}
	if *folder == "" || *name == "" || b.out == "" || f.NArg() > 0 {
		return errors.New("-tasks FOLDER, -agent NAME and -out FOLDER are needed, and nothing else; -h lists the flags")
	}
	var err error
	if b.agent, err = readAgent(*name); err != nil {
		return err
	}
	tasks, err := readTasks(*folder)
	if err != nil {
		return err
	}
	if *most > 0 && *most < len(tasks) {
		tasks = tasks[:*most]
	}
	if b.out, err = filepath.Abs(b.out); err != nil {
		return err
	}
	if err := os.MkdirAll(b.out, 0o755); err != nil {
		return err
	}
	rows, err := b.readRows()
	if err != nil {
		return err
	}
	rows, err = b.runAll(ctx, tasks, *rounds, rows, w)
	printSummary(w, rows)
	return err
}

// runAll does what is left to do, alone and with winnow in turn.
func (b *bench) runAll(ctx context.Context, tasks []task, rounds int, rows []row, w io.Writer) ([]row, error) {
	for round := range rounds {
		for _, t := range tasks {
			for _, arm := range []string{alone, withWinnow} {
				if slices.ContainsFunc(rows, func(r row) bool { return r.Error == "" && r.Task == t.name && r.Arm == arm && r.Round == round }) {
					continue
				}
				if b.budget > 0 && b.spent >= b.budget {
					return rows, fmt.Errorf("the budget of $%.2f is spent; with a larger one the same command goes on", b.budget)
				}
				r := row{Task: t.name, Arm: arm, Round: round}
				err := b.runTask(ctx, &t, &r)
				if err != nil {
					r.Error = err.Error()
				}
				b.spent += r.Dollars
				rows = append(rows, r)
				if err := b.addRow(&r); err != nil {
					return rows, err
				}
				fmt.Fprintf(w, "%s, %s: %s, $%.2f, %d steps, %.1f minutes\n", t.name, arm, cmp.Or(r.Error, verdictOf(r.Solved)), r.Dollars, r.Steps, r.Minutes)
				if err != nil {
					return rows, fmt.Errorf("%s, %s: %w; the same command goes on from here", t.name, arm, err)
				}
			}
		}
	}
	return rows, nil
}

func verdictOf(solved bool) string {
	if solved {
		return "solved"
	}
	return "not solved"
}

// The ways in which a task is worked on.
const (
	alone      = "alone"
	withWinnow = "winnow"
)

// row is a run, as results.jsonl has it. A run with an error does not count as a
// result: it is tried again, and only its dollars count.
type row struct {
	Task      string  `json:"task"`
	Arm       string  `json:"arm"`
	Round     int     `json:"round"`
	Solved    bool    `json:"solved"`
	Stopped   bool    `json:"stopped"`   // in the middle; else it was done before
	Compacted bool    `json:"compacted"` // there
	Dollars   float64 `json:"dollars"`
	Priced    bool    `json:"priced"` // every request could be
	Steps     int     `json:"steps"`
	Minutes   float64 `json:"minutes"`
	Error     string  `json:"error,omitempty"`
}

func (b *bench) resultsFile() string { return filepath.Join(b.out, "results.jsonl") }

// readRows reads the results so far.
func (b *bench) readRows() ([]row, error) {
	data, err := os.ReadFile(b.resultsFile())
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	var rows []row
	for line := range strings.Lines(string(data)) {
		var r row
		if err := json.Unmarshal([]byte(line), &r); err != nil {
			return nil, fmt.Errorf("%s: %w", b.resultsFile(), err)
		}
		rows = append(rows, r)
		b.spent += r.Dollars
	}
	return rows, err
}

func (b *bench) addRow(r *row) error {
	line, err := json.Marshal(r)
	if err != nil {
		return err
	}
	f, err := os.OpenFile(b.resultsFile(), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
	if err != nil {
		return err
	}
	_, err = f.Write(append(line, '\n'))
	return errors.Join(err, f.Close())
}
