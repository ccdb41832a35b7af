package sqlstore

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/winnow-llm/winnow/control"
	"github.com/winnow-llm/winnow/internal/planstore"
	"github.com/winnow-llm/winnow/internal/planstore/pack"
	"github.com/winnow-llm/winnow/plan"
	"github.com/winnow-llm/winnow/token"
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
				a, b := time.UnixMicro(*oldest).UTC(), time.UnixMicro(*newest).UTC()
				out.Oldest, out.Newest = &a, &b
			}
			return err
		})
	})
	return out, err
}

// place is how far an export came: the table, and the last row of it.
type place struct {
	Table  string `json:"t"`
	Seq    int64  `json:"s,omitempty"`
	Tenant string `json:"n,omitempty"`
	First  []byte `json:"f,omitempty"`
	Last   []byte `json:"l,omitempty"`
}

// exports are the tables, in the order in which they are given out, with what
// reads a piece of each.
var exports = []struct {
	table string
	read  func(context.Context, *Store, *place) ([]planstore.Item, error)
}{
	{"plans", exportPlans},
	{"marks", exportMarks},
	{"originals", exportOriginals},
	{"conversations", exportLeaves},
}

const (
	// exportPiece is how many rows are read at once, leafPiece how many
	// conversations of the book: each comes with its requests.
	exportPiece = 200
	leafPiece   = 20
)

// Export implements [planstore.Owner].
func (s *Store) Export(ctx context.Context, after string, f func([]planstore.Item, string) error) error {
	if err := s.Flush(ctx); err != nil { // what waits belongs to it
		return err
	}
	at := place{Table: exports[0].table}
	if after != "" {
		if err := json.Unmarshal([]byte(after), &at); err != nil {
			return s.Failed("export", fmt.Errorf("the place to go on from cannot be read: %w", err))
		}
	}
	reached := false
	for _, e := range exports {
		if reached = reached || e.table == at.Table; !reached {
			continue
		}
		if e.table != at.Table {
			at = place{Table: e.table}
		}
		for {
			items, err := e.read(ctx, s, &at)
			if err != nil {
				return err
			}
			if len(items) == 0 {
				break
			}
			to, err := json.Marshal(at)
			if err != nil {
				return err
			}
			if err := f(items, string(to)); err != nil {
				return err
			}
		}
	}
	return nil
}

// exported is a row and its place.
type exported struct {
	planstore.Item
	place
}

// advancePlace returns the items of rows, and moves a place behind them.
func advancePlace(all []exported, err error, at *place) ([]planstore.Item, error) {
	if err != nil || len(all) == 0 {
		return nil, err
	}
	items := make([]planstore.Item, len(all))
	for i := range all {
		items[i] = all[i].Item
	}
	table := at.Table
	*at = all[len(all)-1].place
	at.Table = table
	return items, nil
}

// asArgs returns a place as arguments.
func (p *place) asArgs(most int) []any {
	return []any{p.Tenant, append([]byte{}, p.First...), append([]byte{}, p.Last...), most}
}

// setPlace says that a place is that of an item, whose last column is given.
func (e *exported) setPlace(last []byte) {
	e.Tenant, e.place.First, e.Last = string(e.Item.Key.Tenant), e.Item.Key.First[:], last
}

func exportPlans(ctx context.Context, s *Store, at *place) ([]planstore.Item, error) {
	all, err := collectRows(ctx, s, Work{What: "export plans", Most: slowly}, func(r Row) (e exported, err error) {
		var body []byte
		if err = r.Scan(&e.Seq, &e.Key.Tenant, (*hash)(&e.Key.First), (*micros)(&e.Used), &body); err == nil {
			e.Plan, err = plan.Decode(body)
		}
		return e, err
	}, `select seq, tenant, first, used, body from winnow.plans where seq > $1 order by seq limit $2`, at.Seq, exportPiece)
	return advancePlace(all, err, at)
}

func exportMarks(ctx context.Context, s *Store, at *place) ([]planstore.Item, error) {
	all, err := collectRows(ctx, s, Work{What: "export marks", Most: slowly}, func(r Row) (e exported, err error) {
		m := &planstore.Mark{Steps: []token.Step{}}
		var steps []byte
		if err = r.Scan(&e.Key.Tenant, (*hash)(&e.Key.First), (*hash)(&m.Chain), (*micros)(&e.Used), &m.Len, &steps, &m.NotLasted); err == nil {
			err = json.Unmarshal(steps, &m.Steps)
		}
		e.Mark = m
		e.setPlace(m.Chain[:])
		return e, err
	}, `select tenant, first, chain, used, len, steps, not_lasted from winnow.marks where (tenant, first, chain) > ($1, $2, $3) order by tenant, first, chain limit $4`, at.asArgs(exportPiece)...)
	return advancePlace(all, err, at)
}

func exportOriginals(ctx context.Context, s *Store, at *place) ([]planstore.Item, error) {
	all, err := collectRows(ctx, s, Work{What: "export originals", Most: slowly}, func(r Row) (e exported, err error) {
		o := &planstore.Original{}
		var body []byte
		if err = r.Scan(&e.Key.Tenant, (*hash)(&e.Key.First), (*hash)(&o.Prefix), (*micros)(&e.Used), &o.Len, &o.Dialect, &o.Model, &body); err == nil {
			o.Body, err = pack.Unpack(body)
		}
		e.Original = o
		e.setPlace(o.Prefix[:])
		return e, err
	}, `select tenant, first, prefix, used, len, dialect, model, body from winnow.originals where (tenant, first, prefix) > ($1, $2, $3) order by tenant, first, prefix limit $4`, at.asArgs(exportPiece)...)
	return advancePlace(all, err, at)
}

func exportLeaves(ctx context.Context, s *Store, at *place) ([]planstore.Item, error) {
	leaves, err := collectRows(ctx, s, Work{What: "export conversations", Most: slowly}, scanLeaf,
		selectLeaf+`where (tenant, id) > ($1, $2) order by tenant, id limit $3`, at.Tenant, string(at.Last), leafPiece)
	if err != nil {
		return nil, err
	}
	all := make([]exported, len(leaves))
	for i := range leaves {
		l, err := s.readLeaf(ctx, leaves[i])
		if err != nil {
			return nil, err
		}
		all[i].Item = planstore.Item{Key: l.Key, Used: l.Used, Leaf: l}
		all[i].setPlace([]byte(l.ID))
	}
	return advancePlace(all, nil, at)
}

// readLeaf reads all about a conversation.
func (s *Store) readLeaf(ctx context.Context, c planstore.Conversation) (l *planstore.Leaf, err error) {
	var links []planstore.Links
	err = s.runWork(ctx, Work{What: "export conversations", Most: slowly}, func(ctx context.Context, conn Conn) error {
		l, links = &planstore.Leaf{Conversation: c}, nil
		args := []any{string(c.Key.Tenant), c.ID}
		return conn.Batch(ctx, []Statement{
			{Query: selectLinks, Args: args, Read: appendTo(&links, scanLinks)},
			{Query: `select body from winnow.requests where tenant = $1 and id = $2 order by n`, Args: args, Read: appendTo(&l.Requests, scanJSON[control.Request])},
			{Query: `select body from winnow.settled where tenant = $1 and id = $2 order by n`, Args: args, Read: appendTo(&l.Settled, scanJSON[control.PlanInfo])},
			{Query: `select body from winnow.former where tenant = $1 and id = $2 order by plan`, Args: args, Read: appendTo(&l.Former, scanPlan)},
			{Query: selectPins + `where tenant = $1 and id = $2 order by seq`, Args: args, Read: appendTo(&l.Pins, scanPin)},
		})
	})
	if err != nil {
		return nil, err
	}
	l.Links = joinLinks(links)
	return l, nil
}

func scanPlan(r Row) (*plan.Plan, error) {
	var body []byte
	if err := r.Scan(&body); err != nil {
		return nil, err
	}
	return plan.Decode(body)
}

// Import implements [planstore.Owner].
func (s *Store) Import(ctx context.Context, items []planstore.Item, from, at string) (added int, err error) {
	err = s.runWork(ctx, Work{What: "import", Tx: true, Durable: true, Most: slowly}, func(ctx context.Context, tx Conn) error {
		added = 0
		counts := make([]int64, len(items))
		var all []Statement
		for i, it := range items {
			if it.Leaf != nil {
				if counts[i], err = importLeaf(ctx, tx, it.Leaf); err != nil {
					return err
				}
				continue
			}
			one, err := importRow(it)
			if err != nil {
				return err
			}
			one.Changed = &counts[i]
			all = append(all, one)
		}
		all = append(all, Statement{Query: `insert into winnow.copies (source, place) values ($1, $2) on conflict (source) do update set place = excluded.place`, Args: []any{from, at}})
		if err := tx.Batch(ctx, all); err != nil {
			return err
		}
		for _, n := range counts {
			added += int(n)
		}
		return nil
	})
	s.originals.Store(-1)
	return added, err
}

// importRow keeps a plan, a mark or a conversation, unless there is one.
func importRow(it planstore.Item) (Statement, error) {
	used := it.Used.UnixMicro()
	switch {
	case it.Plan != nil:
		body, err := json.Marshal(it.Plan)
		return Statement{
			Query: insertPlan + `on conflict (tenant, first, prefix) do nothing`,
			Args:  keyArgs(it.Key, it.Plan.Prefix[:], it.Plan.Len, string(it.Plan.ID()), body, len(body), used),
		}, err
	case it.Mark != nil:
		steps, err := json.Marshal(it.Mark.Steps)
		return Statement{Query: insertMark + `on conflict do nothing`, Args: keyArgs(it.Key, it.Mark.Chain[:], it.Mark.Len, steps, it.Mark.NotLasted, used)}, err
	}
	o := it.Original
	body, err := pack.Pack(o.Body)
	return Statement{Query: insertOriginal + `on conflict do nothing`, Args: keyArgs(it.Key, o.Prefix[:], o.Len, o.Dialect, o.Model, body, len(body), used)}, err
}

// importLeaf keeps what another book holds of a conversation, unless this one
// has it, and returns how many were new.
func importLeaf(ctx context.Context, tx Conn, l *planstore.Leaf) (int64, error) {
	row, err := leafRow(&l.Conversation, l.Created.UnixMicro(), l.Used.UnixMicro())
	if err != nil {
		return 0, err
	}
	n, err := tx.Exec(ctx, insertLeaf, row...)
	if err != nil || n == 0 {
		return 0, err
	}
	tenant := string(l.Key.Tenant)
	var all []Statement
	for i := range l.Requests {
		one, err := requestRow(&l.Conversation, &l.Requests[i])
		if err != nil {
			return 0, err
		}
		all = append(all, one)
	}
	for i := range l.Settled {
		body, err := json.Marshal(&l.Settled[i])
		if err != nil {
			return 0, err
		}
		all = append(all, Statement{Query: `insert into winnow.settled (tenant, id, n, body) values ($1, $2, $3, $4)`, Args: []any{tenant, l.ID, i + 1, body}})
	}
	for i := range l.Pins {
		all = append(all, Statement{Query: insertPin + `do nothing`, Args: pinRow(l.Key, &l.Pins[i])})
	}
	for _, p := range l.Former {
		body, err := p.MarshalJSON()
		if err != nil {
			return 0, err
		}
		all = append(all, Statement{Query: `insert into winnow.former (tenant, id, plan, body) values ($1, $2, $3, $4) on conflict do nothing`, Args: []any{tenant, l.ID, string(p.ID()), body}})
	}
	if len(l.Links) > 0 {
		all = append(all, linksRow(&l.Conversation, planstore.Links{Links: l.Links}))
	}
	return n, tx.Batch(ctx, all)
}

// Place implements [planstore.Owner].
func (s *Store) Place(ctx context.Context, from string) (string, error) {
	return readValue[string](ctx, s, Work{What: "read how far a copy came"}, `select place from winnow.copies where source = $1`, from)
}
