package sqlstore

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/gob"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/winnow-llm/winnow/internal/planstore"
)

// Sums implements [planstore.Owner].
func (s *Store) Sums(ctx context.Context) (planstore.Sums, error) {
	if err := s.Flush(ctx); err != nil {
		return planstore.Sums{}, err
	}
	out := planstore.Sums{Kind: s.Kind()}
	err := s.runWork(ctx, Work{What: "add up", Most: slowly}, func(ctx context.Context, c Conn) error {
		return c.Query(ctx, `select count(distinct tenant), count(*), coalesce(sum(size), 0), min(used), max(used),
			(select count(*) from winnow.marks), (select count(*) from winnow.originals), (select coalesce(sum(size), 0) from winnow.originals),
			winnow.disk_bytes(), winnow.tables_version() from winnow.plans`, nil, func(r Row) error {
			var oldest, newest *int64
			err := r.Scan(&out.Tenants, &out.Plans, &out.PlanBytes, &oldest, &newest, &out.Marks, &out.Conversations, &out.TextBytes, &out.DiskBytes, &out.Version)
			if oldest != nil {
				out.Oldest, out.Newest = new(time.UnixMicro(*oldest).UTC()), new(time.UnixMicro(*newest).UTC())
			}
			return err
		})
	})
	return out, err
}

// copied is a table as it is copied, row by row. What hangs on a row goes with it. A
// row's number, seq, orders rows, and is given anew where they are written.
type copied struct {
	name    string
	columns string   // first those by which the rows are ordered, then the others
	key     int      // how many of them order the rows
	with    []copied // of a conversation, by its tenant and id
}

// copies are the tables, in the order in which they are given out.
var copies = []copied{
	{name: "plans", columns: "seq, tenant, first, prefix, len, id, body, size, used", key: 1},
	{name: "marks", columns: "tenant, first, chain, len, steps, not_lasted, used", key: 3},
	{name: "originals", columns: "tenant, first, prefix, len, dialect, model, body, size, used", key: 3},
	{name: "conversations", columns: "tenant, id, first, parent, shared, dialect, model, created, used, len, chain, label, folder, plan, wanted, revision, totals, last", key: 2, with: []copied{
		{name: "links", columns: "tenant, id, start, links", key: 3},
		{name: "requests", columns: "tenant, id, n, revision, body", key: 3},
		{name: "settled", columns: "tenant, id, n, body", key: 3},
		{name: "former", columns: "tenant, id, plan, body", key: 3},
		{name: "pins", columns: "seq, tenant, first, id, len, chain, part, pinned, note, noted", key: 1},
	}},
}

const (
	// exportPiece is how many rows are read at once, leafPiece how many
	// conversations of the book: each comes with its requests.
	exportPiece = 200
	leafPiece   = 20
)

// place is how far an export came: the table, and the key of the last row of it.
type place struct {
	Table string
	Key   []any
}

// Export implements [planstore.Owner].
func (s *Store) Export(ctx context.Context, after string, f func([]planstore.Item, string) error) error {
	if err := s.Flush(ctx); err != nil { // what waits belongs to it
		return err
	}
	at := readPlace(after)
	from := max(0, slices.IndexFunc(copies, func(t copied) bool { return t.name == at.Table }))
	for i := range copies[from:] {
		t := &copies[from+i]
		if at.Table != t.name {
			at = place{Table: t.name}
		}
		for {
			items, err := s.exportRows(ctx, t, at.Key)
			if err != nil {
				return err
			}
			if len(items) == 0 {
				break
			}
			at.Key = items[len(items)-1].Row[:t.key]
			to, err := at.text()
			if err != nil {
				return err
			}
			if err := f(items, to); err != nil {
				return err
			}
		}
	}
	return nil
}

// text returns a place as text that [readPlace] reads.
func (p place) text() (string, error) {
	var b bytes.Buffer
	err := gob.NewEncoder(&b).Encode(p)
	return base64.RawStdEncoding.EncodeToString(b.Bytes()), err
}

// readPlace reads a place; "" is the start, and so is one that another version wrote:
// what is there already stays.
func readPlace(text string) (p place) {
	data, err := base64.RawStdEncoding.DecodeString(text)
	if err != nil || gob.NewDecoder(bytes.NewReader(data)).Decode(&p) != nil {
		return place{}
	}
	return p
}

// exportRows reads some rows behind a key, in its order, with what hangs on them.
func (s *Store) exportRows(ctx context.Context, t *copied, after []any) (items []planstore.Item, err error) {
	where, most := "true", exportPiece
	if len(after) > 0 {
		where = `(` + t.order() + `) > (` + placeholders(t.key) + `)`
	}
	if t.with != nil {
		most = leafPiece
	}
	err = s.runWork(ctx, Work{What: "export " + t.name, Most: slowly}, func(ctx context.Context, c Conn) error {
		items = nil
		if err := c.Query(ctx, t.selectWhere(where)+fmt.Sprint(` limit `, most), after, t.readInto(&items)); err != nil {
			return err
		}
		var all []Statement
		for i := range items {
			for k := range t.with {
				of := &t.with[k]
				all = append(all, Statement{Query: of.selectWhere(`tenant = $1 and id = $2`), Args: items[i].Row[:2], Read: of.readInto(&items[i].With)})
			}
		}
		return c.Batch(ctx, all)
	})
	return items, err
}

// order returns the columns by which rows are ordered.
func (t *copied) order() string {
	return strings.Join(strings.Split(t.columns, ", ")[:t.key], ", ")
}

// selectWhere returns the statement that reads rows in their order.
func (t *copied) selectWhere(which string) string {
	return `select ` + t.columns + ` from winnow.` + t.name + ` where ` + which + ` order by ` + t.order()
}

// readInto adds rows to a list.
func (t *copied) readInto(to *[]planstore.Item) func(Row) error {
	return appendTo(to, func(r Row) (planstore.Item, error) {
		x := planstore.Item{Table: t.name, Row: make([]any, strings.Count(t.columns, ",")+1)}
		into := make([]any, len(x.Row))
		for i := range into {
			into[i] = &x.Row[i]
		}
		return x, r.Scan(into...)
	})
}

// insert writes a row, unless there is one with its key.
func (t *copied) insert(row []any) Statement {
	names := strings.Split(t.columns, ", ")
	if names[0] == "seq" {
		names, row = names[1:], row[1:]
	}
	if i := slices.Index(names, "pinned"); i >= 0 { // some databases have numbers for it
		row = slices.Clone(row)
		row[i] = row[i] == true || row[i] == int64(1)
	}
	return Statement{Query: fmt.Sprintf(`insert into winnow.%s (%s) values (%s) on conflict do nothing`, t.name, strings.Join(names, ", "), placeholders(len(names))), Args: row}
}

// placeholders returns $1, $2 and so on, of that number.
func placeholders(n int) string {
	all := make([]string, n)
	for i := range all {
		all[i] = fmt.Sprint("$", i+1)
	}
	return strings.Join(all, ", ")
}

// Import implements [planstore.Owner].
func (s *Store) Import(ctx context.Context, items []planstore.Item, from, at string) (added int, err error) {
	err = s.runWork(ctx, Work{What: "import", Tx: true, Durable: true, Most: slowly}, func(ctx context.Context, tx Conn) error {
		counts := make([]int64, len(items))
		all := make([]Statement, len(items))
		for i := range items {
			t := findCopied(copies, items[i].Table)
			if t == nil {
				return fmt.Errorf("no table %s is known", items[i].Table)
			}
			all[i] = t.insert(items[i].Row)
			all[i].Changed = &counts[i]
		}
		if err := tx.Batch(ctx, all); err != nil {
			return err
		}
		added, all = 0, nil
		for i := range items {
			added += int(counts[i])
			for _, x := range items[i].With {
				if counts[i] > 0 { // what is there stays as it is
					all = append(all, findCopied(findCopied(copies, items[i].Table).with, x.Table).insert(x.Row))
				}
			}
		}
		return tx.Batch(ctx, append(all, Statement{Query: `insert into winnow.copies (source, place) values ($1, $2) on conflict (source) do update set place = excluded.place`, Args: []any{from, at}}))
	})
	s.originals.Store(-1)
	return added, err
}

func findCopied(all []copied, name string) *copied {
	if i := slices.IndexFunc(all, func(t copied) bool { return t.name == name }); i >= 0 {
		return &all[i]
	}
	return nil
}

// Place implements [planstore.Owner].
func (s *Store) Place(ctx context.Context, from string) (string, error) {
	return readValue[string](ctx, s, Work{What: "read how far a copy came"}, `select place from winnow.copies where source = $1`, from)
}
