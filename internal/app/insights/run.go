// Package insights looks at the sessions that agents left on a machine: what
// compaction cost there, and what winnow would have kept and cost instead.
//
// [Run] goes through the folders file by file. Each session is read, measured
// with [replay.MeasurePast], added to the [Report] and forgotten, so that memory
// depends on the largest sessions and not on how many there are. Nothing is sent
// anywhere, and the report holds no text of any session.
package insights

import (
	"cmp"
	"context"
	"fmt"
	"runtime"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/winnow-llm/winnow/chat"
	"github.com/winnow-llm/winnow/internal/agents/table"
	"github.com/winnow-llm/winnow/internal/app/agents"
	"github.com/winnow-llm/winnow/internal/app/replay"
	"github.com/winnow-llm/winnow/internal/app/source"
	"github.com/winnow-llm/winnow/model"
	"github.com/winnow-llm/winnow/transcript"
)

// Options say where to look, and for what.
type Options struct {
	Agents []agents.Agent

	// Since is the start of the period; the zero time is the beginning.
	Since time.Time

	// Window overrides the windows of all sessions, in tokens; 0 does not.
	Window int

	// Model is priced where a session's own is not known; "" is claude-opus-5-5.
	Model string

	// Worst is how many of the sessions that suffered most are kept; 0 is ten.
	Worst int

	// Workers is how many files are looked at at once; 0 is the number of cores.
	Workers int

	// Progress is told how many files are done, Skipped which could not be read
	// and why. Both may be nil; they are called by one goroutine at a time.
	Progress func(done, total int)
	Skipped  func(path string, err error)
}

// found is what a file holds.
type found struct {
	file     agents.File
	sessions []Session // of the period
	err      error
}

// Run makes a report. The error is the context's, or that of a measurement.
func Run(ctx context.Context, o Options) (*Report, error) {
	l := looker{Options: o, registry: model.Default()}
	l.Model = cmp.Or(l.Model, "claude-opus-5-5")
	l.Worst, l.Workers = cmp.Or(l.Worst, 10), cmp.Or(l.Workers, runtime.GOMAXPROCS(0))
	l.report = &Report{Default: l.Model, Agents: []Agent{}, Weeks: []Week{}, Worst: []Session{}, most: l.Worst}
	if !o.Since.IsZero() {
		l.report.Since = o.Since.Format(time.DateOnly)
	}
	files, err := l.listFiles(ctx)
	if err != nil {
		return nil, err
	}
	if err := l.measureFiles(ctx, files); err != nil {
		return nil, err
	}
	return l.report, nil
}

type looker struct {
	Options
	registry *model.Registry
	report   *Report
}

// listFiles returns the files of all agents, and notes the folders that they are in.
func (l *looker) listFiles(ctx context.Context) ([]agents.File, error) {
	var all []agents.File
	for _, a := range l.Agents {
		for _, dir := range a.Dirs {
			one := a
			one.Dirs = []string{dir}
			files, err := one.Files(ctx)
			if err != nil {
				return nil, err
			}
			l.report.Folders = append(l.report.Folders, Folder{Agent: a.Name, Path: dir, Found: one.Found(), Files: len(files)})
			all = append(all, files...)
		}
	}
	return all, nil
}

// measureFiles measures the files on all workers. Their results are added in the order
// of the files, so that the same sessions give the same report to the last digit.
func (l *looker) measureFiles(ctx context.Context, files []agents.File) error {
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(l.Workers)
	var mu sync.Mutex
	next, waiting := 0, map[int]*found{}
	for i, f := range files {
		g.Go(func() error {
			r, err := l.measureFile(ctx, f)
			if err != nil {
				return err
			}
			mu.Lock()
			defer mu.Unlock()
			for waiting[i] = &r; waiting[next] != nil; next++ {
				l.addFound(waiting[next])
				delete(waiting, next)
				if l.Progress != nil {
					l.Progress(next+1, len(files))
				}
			}
			return nil
		})
	}
	return g.Wait()
}

// addFound adds what a file held.
func (l *looker) addFound(f *found) {
	switch {
	case f.err != nil:
		l.report.Skipped++
		if l.Skipped != nil {
			l.Skipped(f.file.Path, f.err)
		}
	case len(f.sessions) == 0:
		l.report.Older++
	default:
		l.report.Files++
	}
	for i := range f.sessions {
		l.report.addSession(&f.sessions[i])
	}
}

// measureFile measures the sessions of one file. What is wrong with the file is in the
// result; the error is one of the measurement.
func (l *looker) measureFile(ctx context.Context, f agents.File) (found, error) {
	out := found{file: f}
	if ctx.Err() != nil || f.Changed.Before(l.Since) {
		return out, ctx.Err()
	}
	sessions, err := f.Sessions(source.MaxBytes)
	if out.err = err; err != nil {
		return out, nil //nolint:nilerr // it is reported as skipped
	}
	for i := range sessions {
		s := &sessions[i]
		last := lastUsed(s.History, f.Changed)
		if last.Before(l.Since) {
			continue
		}
		m, err := l.measureSession(ctx, s)
		if err != nil {
			return out, fmt.Errorf("%s: %w", f.Path, err)
		}
		m.File, m.Last = f.Path, last
		if len(sessions) > 1 {
			m.File = fmt.Sprintf("%s#%d", f.Path, i+1)
		}
		out.sessions = append(out.sessions, m)
	}
	return out, nil
}

// measureSession measures one session in the window of its agent, at the prices of its
// model.
func (l *looker) measureSession(ctx context.Context, s *transcript.Session) (Session, error) {
	m := l.registry.Lookup(s.Model)
	out := Session{Agent: agentOf(s.Format), Model: s.Model}
	if out.assumed = !m.Prices.Known() || m.Source.Guess(); out.assumed {
		prices := l.registry.Lookup(l.Model)
		if m.Source.Guess() {
			m = prices
		}
		m.Prices, m.Cache = prices.Prices, prices.Cache
	}
	works := model.Window{Tokens: l.Window}
	if l.Window <= 0 {
		in := source.Session{Model: s.Model, Format: s.Format, Request: s.Request(), Compactions: s.Compactions, Stated: s.Window}
		works = in.Window(m)
		works.Tokens = cmp.Or(works.Tokens, m.Context)
	}
	p, losses, err := replay.MeasurePast(ctx, &replay.Session{Session: *s}, works, m)
	out.Sum, out.losses = sumOf(&p), losses
	return out, err
}

// agentOf returns the name of the agent that writes a format.
func agentOf(f transcript.Format) string {
	agent, _ := table.OfFormat(string(f))
	return cmp.Or(agent.Title, string(f))
}

// lastUsed returns the time of the newest message; that of the file where messages
// have none.
func lastUsed(h chat.History, file time.Time) time.Time {
	for i := h.Len() - 1; i >= 0; i-- {
		if t := h.At(i).Time; t > 0 {
			return time.UnixMilli(t)
		}
	}
	return file
}
