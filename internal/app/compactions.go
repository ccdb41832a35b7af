package app

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/winnow-llm/winnow/chat"
	"github.com/winnow-llm/winnow/internal/app/source"
	"github.com/winnow-llm/winnow/plan"
	"github.com/winnow-llm/winnow/recall"
)

// compactions are the plans that winnow compact made, each with the path of the file
// that it was made for. So a handle is found without naming either, whatever became
// of the plan beside the file: another compaction overwrites that one, and the view may
// have gone on as a session of an agent. Originals stay where they are, in the files.
type compactions struct {
	dir  string
	load func(path, format string) (*source.Input, error)
}

// Plans are kept as long as the gateway keeps its own.
const (
	compactionsAge  = 30 * 24 * time.Hour
	compactionsMost = 1000
)

// compactions are those of this user; nil where there is no place for them.
func (a *app) compactions() *compactions {
	dir, err := os.UserCacheDir()
	if err != nil {
		return nil
	}
	return &compactions{filepath.Join(dir, "winnow", "compacted"), a.load}
}

// keep notes a plan and the file that it was made for.
func (c *compactions) keep(file string, p *plan.Plan) error {
	file, err := filepath.Abs(file)
	if err != nil {
		return err
	}
	head, err := json.Marshal(file)
	if err != nil {
		return err
	}
	data, err := p.File()
	if err != nil {
		return err
	}
	if err := os.MkdirAll(c.dir, 0o700); err != nil {
		return err
	}
	all := c.list()
	for i, e := range all {
		if i >= compactionsMost-1 || time.Since(e.made) > compactionsAge {
			_ = os.Remove(e.path) // another process was faster
		}
	}
	temp, err := os.CreateTemp(c.dir, "new-") // for its owner alone
	if err != nil {
		return err
	}
	_, err = temp.Write(slices.Concat(head, []byte("\n"), data))
	if err = cmp.Or(err, temp.Close()); err == nil {
		err = os.Rename(temp.Name(), filepath.Join(c.dir, string(p.ID())+".plan"))
	}
	if err != nil {
		_ = os.Remove(temp.Name())
	}
	return err
}

// kept is a plan that was noted.
type kept struct {
	path string
	made time.Time
}

// list returns what was noted, newest first.
func (c *compactions) list() []kept {
	entries, _ := os.ReadDir(c.dir) // there is none before the first
	var all []kept
	for _, e := range entries {
		if info, err := e.Info(); err == nil && strings.HasSuffix(e.Name(), ".plan") {
			all = append(all, kept{filepath.Join(c.dir, e.Name()), info.ModTime()})
		}
	}
	slices.SortFunc(all, func(a, b kept) int { return cmp.Or(b.made.Compare(a.made), strings.Compare(a.path, b.path)) })
	return all
}

// open reads the history that a noted plan was made for, if the plan has the words.
func (c *compactions) open(k kept, words string) (file string, h chat.History, p *plan.Plan, err error) {
	data, err := os.ReadFile(k.path)
	if err != nil {
		return "", h, nil, err
	}
	head, data, _ := bytes.Cut(data, []byte("\n"))
	if err := json.Unmarshal(head, &file); err != nil || !bytes.Contains(data, []byte(words)) {
		return "", h, nil, err
	}
	if p, err = plan.Decode(data); err != nil {
		return file, h, nil, err
	}
	in, err := c.load(file, "")
	if err != nil {
		return file, h, nil, err
	}
	s, err := in.Covered(p)
	if err != nil {
		return file, h, nil, err
	}
	return file, s.Request.History, p, nil
}

// find returns the newest plan that has a handle, and what it was made for.
func (c *compactions) find(handle string) (file string, h chat.History, p *plan.Plan, err error) {
	failed := fmt.Errorf("%w: %s", recall.ErrUnknown, handle)
	for _, k := range c.list() {
		file, h, p, err := c.open(k, handle)
		if err != nil && file != "" {
			failed = fmt.Errorf("%w: it was compacted out of %s: %w", recall.ErrGone, file, err)
		}
		if p == nil || err != nil {
			continue
		}
		if _, err := plan.Recall(h, p, handle); err == nil {
			return file, h, p, nil
		}
	}
	return "", h, nil, failed
}

// Recall implements [recall.Source].
func (c *compactions) Recall(ctx context.Context, handle string, r recall.Range) (recall.Page, error) {
	name, _, err := recall.Parse(handle)
	if err != nil {
		return recall.Page{}, err
	}
	file, h, p, err := c.find(name)
	if err != nil {
		return recall.Page{}, err
	}
	page, err := recall.Over(func() (chat.History, *plan.Plan) { return h, p }).Recall(ctx, handle, r)
	page.Where = file
	return page, err
}

// Search implements [recall.Source]: in the file that was compacted last, or in all.
func (c *compactions) Search(_ context.Context, q recall.Query) (recall.Results, error) {
	var hits []recall.Hit
	where := ""
	seen := map[string]bool{}
	for _, k := range c.list() {
		file, h, p, err := c.open(k, "")
		if err != nil || p == nil || seen[file] {
			continue // the file is gone
		}
		seen[file] = true
		hits = append(hits, recall.Hidden(h, p, q.Words, file)...)
		if where = file; !q.All {
			break
		}
	}
	return recall.Limited(hits, where, q), nil
}
