package gateway_test

import (
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/winnow-llm/winnow/internal/kit/providersim"
	"github.com/winnow-llm/winnow/internal/kit/providersim/simtest"
	"github.com/winnow-llm/winnow/internal/pg/pgtest"
	"github.com/winnow-llm/winnow/wire"
)

// line is a way to a database that can be cut: then nothing passes, and nobody is
// told. It stands in a folder as the database's own socket does.
type line struct {
	dir string

	mu  sync.Mutex
	cut chan struct{} // closed while the line is whole
}

func newLine(t *testing.T, s *pgtest.Server) *line {
	t.Helper()
	l := &line{dir: t.TempDir(), cut: make(chan struct{})}
	close(l.cut)
	in, err := net.Listen("unix", filepath.Join(l.dir, filepath.Base(s.Socket())))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { in.Close(); l.whole() })
	go func() {
		for {
			a, err := in.Accept()
			if err != nil {
				return
			}
			go func() {
				<-l.now()
				b, err := net.Dial("unix", s.Socket())
				if err != nil {
					a.Close()
					return
				}
				go l.pass(a, b)
				l.pass(b, a)
			}()
		}
	}()
	return l
}

func (l *line) now() chan struct{} {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.cut
}

// pass carries what comes from one side to the other, while the line is whole.
func (l *line) pass(from, to net.Conn) {
	defer from.Close()
	defer to.Close()
	buf := make([]byte, 32<<10)
	for {
		n, err := from.Read(buf)
		<-l.now()
		if n > 0 {
			if _, err := to.Write(buf[:n]); err != nil {
				return
			}
		}
		if err != nil {
			return
		}
	}
}

// stop cuts the line, whole mends it.
func (l *line) stop() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.cut = make(chan struct{})
}

func (l *line) whole() {
	l.mu.Lock()
	defer l.mu.Unlock()
	select {
	case <-l.cut:
	default:
		close(l.cut)
	}
}

// through is the address of a database by the line.
func (l *line) through(s *pgtest.Server, address string) string {
	return strings.Replace(address, strings.ReplaceAll(s.Dir(), "/", "%2F"), strings.ReplaceAll(l.dir, "/", "%2F"), 1)
}

// TestFleetWithoutItsDatabase takes the database away, by kill -9 and by a
// partition. A conversation that a gateway knows goes on with the same bytes; a
// new one passes; one that only the database knows gets a provisional plan;
// /readyz is red; the log says it once. When the database is back,
// the provisional plan is stored, and the other gateways send its bytes.
func TestFleetWithoutItsDatabase(t *testing.T) {
	t.Parallel()
	for _, how := range []string{"killed", "partition"} {
		t.Run(how, func(t *testing.T) {
			t.Parallel() // they mostly wait for time-outs
			server := pgtest.Start(t, "fsync=off")
			way := newLine(t, server)
			impatient := mate{timeout: 2 * time.Second}
			f := newFleet(t, way.through(server, server.Database(t)), impatient, impatient, impatient)
			known := f.talk(wire.OpenAI, false, true)
			f.until(known, 0, func() bool { return !known.open })
			other := f.talk(wire.OpenAI, false, true)
			other.c.Say("Let us begin otherwise.")
			f.until(other, 0, func() bool { return true })
			other.plan, other.before = "", "" // the others will not know it
			thinking := f.talk(wire.Anthropic, false, false)
			f.until(thinking, 0, func() bool { return thinking.open })

			const unreachable = "the database of plans is unreachable"
			said := f.log.count(unreachable) // a machine that is very busy loses it for a moment
			if how == "killed" {
				server.Kill()
			} else {
				way.stop()
			}
			readiness := func(url string) int { status, _ := get(t, url+"/readyz"); return status }
			for range 4 { // what is known goes on, below its next trigger or above
				f.must(known, 0)
			}
			fresh := f.talk(wire.Gemini, true, false)
			fresh.c.Say("Hello.")
			f.must(fresh, 1)
			if fresh.plan != "" {
				t.Error("a new conversation has a plan")
			}
			f.must(other, 1)
			provisional := other.plan
			if s := f.gateways[1].Stats(); provisional == "" || s.Provisional != 1 || s.Unavailable != 0 {
				t.Errorf("one that only the database knows is sent under %q; %+v", provisional, s)
			}
			// The loop is folded whole here, because all of it does not fit; where it
			// does, the caller is asked to come again (transport's tests).
			if a := f.step(thinking, 2); a.Status != http.StatusOK && a.Header.Get("Retry-After") == "" {
				t.Errorf("bound thinking: %d %v %s", a.Status, a.Header, a.Raw)
			}
			for i, url := range f.urls {
				eventually(t, "not ready", func() bool { return readiness(url) == http.StatusServiceUnavailable })
				if _, text := get(t, url+"/metrics"); !strings.Contains(text, "winnow_store_gone 1\n") {
					t.Errorf("gateway %d does not say that the database is gone", i)
				}
			}
			if n := f.log.count(unreachable) - said; n > len(f.urls) || said == 0 && n < len(f.urls) {
				t.Errorf("the log says it %d times", n)
			}

			if how == "killed" {
				if err := server.Run(); err != nil {
					t.Fatal(err)
				}
			} else {
				way.whole()
			}
			for _, url := range f.urls {
				eventually(t, "ready", func() bool { return readiness(url) == http.StatusOK })
			}
			eventually(t, "the provisional plan is stored", func() bool { return f.gateways[1].Stats().SettledLate > 0 })
			f.must(other, 2) // byte for byte: f checks
			if other.plan != provisional {
				t.Errorf("the provisional plan %s was stored; %s is in force", provisional, other.plan)
			}
			f.must(other, 1)
			f.must(other, 0)
			for n := range 6 {
				f.must(known, n%3)
				f.must(thinking, (n+2)%3)
			}
			if n := f.provider.Report().Refused; n > 0 {
				t.Errorf("refused: %v", f.provider.Report().RefusedBy)
			}
			c := counts{restarts: 1}
			if how == "partition" {
				c = counts{partitions: 1}
			}
			f.add(&c)
			c.print(t)
		})
	}
}

// TestFleetPartlyCutOff cuts the line of one gateway of three. All answer, also the
// conversation that goes from one to the other; only the gateway without a line is
// not ready, and it refuses pins, undo and focus. When the line is whole, all send
// it under one plan again.
func TestFleetPartlyCutOff(t *testing.T) {
	t.Parallel()
	server := pgtest.Start(t, "fsync=off")
	line, database := newLine(t, server), server.Database(t)
	f := newFleet(t, database, mate{timeout: 2 * time.Second, way: line.through(server, database)}, mate{}, mate{})
	k := f.talk(wire.OpenAI, false, true)
	f.until(k, 1, func() bool { return !k.open })
	f.must(k, 0) // it knows the conversation and its plan
	readiness := func(i int) int { status, _ := get(t, f.urls[i]+"/readyz"); return status }

	auth := []string{"Authorization", "Bearer one"}
	conv := board{f.urls[1], auth}.only(t)
	line.stop()
	before := k.plans
	for n := range 12 {
		f.must(k, n%3)
		if i := 1 + n%2; readiness(i) != http.StatusOK {
			t.Errorf("gateway %d is not ready, though its line is whole", i)
		}
	}
	eventually(t, "the one that is cut off is not ready", func() bool { return readiness(0) == http.StatusServiceUnavailable })
	t.Logf("%d plans during the partition", k.plans-before)
	for what, more := range map[string]string{"pin": `,"message":1`, "undo": "", "compact": `,"focus":"the tests"`} {
		if status, text := (board{f.urls[0], auth}).act(t, conv.ID, what, fmt.Sprintf(`{"plan":%q%s}`, conv.Plan, more), nil); status < http.StatusInternalServerError {
			t.Errorf("%s where the database is out of reach: %d %s", what, status, text)
		}
	}
	if now := (board{f.urls[1], auth}).only(t); now.Pins != 0 {
		t.Errorf("what was refused holds: %+v", now)
	}

	line.whole()
	eventually(t, "ready again", func() bool { return readiness(0) == http.StatusOK })
	agree := false
	for range 5 { // a rewrite may fall between
		var plans []string
		for i := range f.urls {
			f.must(k, i)
			plans = append(plans, k.plan)
		}
		agree = agree || plans[0] == plans[1] && plans[1] == plans[2]
	}
	if !agree {
		t.Error("the gateways send the conversation under different plans")
	}
	if n := f.provider.Report().Refused; n > 0 {
		t.Errorf("refused: %v", f.provider.Report().RefusedBy)
	}
	c := counts{partitions: 1}
	f.add(&c)
	c.print(t)
}

// TestFleetLosesConnections ends all connections of a gateway again and again, below what
// runs in the background. Such a statement fails by itself: the database answers on a new
// connection, never counts as gone, and requests go on.
func TestFleetLosesConnections(t *testing.T) {
	t.Parallel()
	server := pgtest.Shared(t)
	database := server.Database(t)
	f := newFleet(t, database, mate{})
	k := f.talk(wire.OpenAI, false, true)
	dead := 0
	for range 12 {
		f.must(k, 0)
		f.written(0)
		server.Exec(t, database, `select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()`)
		if _, err := f.stores[0].Sums(t.Context()); err != nil {
			dead++
		}
	}
	_, text := get(t, f.urls[0]+"/metrics")
	if !strings.Contains(text, "winnow_store_lost_total 0\n") {
		t.Errorf("%d statements on dead connections closed the gate:\n%s", dead, text)
	}
	t.Logf("%d statements met a dead connection", dead)
}

// TestFleetKilled ends gateways with kill -9 and restarts the database while
// conversations go on: what is sent under one plan only grows, nothing is refused,
// and no plan is lost.
func TestFleetKilled(t *testing.T) {
	t.Parallel()
	server := pgtest.Start(t, "fsync=off")
	database := server.Database(t)
	f := &fleet{t: t, log: &locked{}}
	var upstream string
	f.provider, upstream, f.got = simtest.Start(t, providersim.Options{Seed: 3, Window: window})
	kills := make([]func(), 3)
	f.urls = make([]string, len(kills))
	begin := func(i int) { f.urls[i], kills[i] = startChild(t, database, upstream, window) }
	for i := range kills {
		begin(i)
	}
	var all []*talk
	for i, d := range wire.Dialects() {
		k := f.talk(d, i%2 == 0, false)
		all = append(all, k)
	}
	requests, killed, restarts := 0, 0, 0
	rounds := 30
	if v, err := strconv.Atoi(os.Getenv("WINNOW_FLEET_ROUNDS")); err == nil {
		rounds = v
	}
	var ids []string // of the plans of conversations that are over
	for round := range rounds {
		if round%100 == 99 { // long conversations take long
			for i := range all {
				ids = append(ids, all[i].ids...)
				if all[i].plans < 2 {
					t.Errorf("%s: %d plans", all[i].c.Dialect, all[i].plans)
				}
				all[i] = f.talk(all[i].c.Dialect, all[i].c.Stream, false)
				all[i].c.Say(fmt.Sprint("Conversation ", round, "."))
			}
		}
		for i, k := range all {
			f.must(k, (round+i)%len(kills))
			requests++
		}
		switch {
		case round%3 == 1:
			kills[round%len(kills)]()
			begin(round % len(kills))
			killed++
		case round%10 == 9: // while no request is under way
			server.Kill()
			if err := server.Run(); err != nil {
				t.Fatal(err)
			}
			restarts++
			for _, url := range f.urls {
				eventually(t, "ready", func() bool { status, _ := get(t, url+"/readyz"); return status == http.StatusOK })
			}
		}
	}
	for _, k := range all {
		if k.plans < 2 && rounds == 30 {
			t.Errorf("%s: %d plans", k.c.Dialect, k.plans)
		}
	}
	if n := f.provider.Report().Refused; n > 0 {
		t.Errorf("refused: %v", f.provider.Report().RefusedBy)
	}
	for _, k := range all {
		ids = append(ids, k.ids...)
	}
	c := counts{requests: requests, kills: killed, restarts: restarts, lost: lost(t, database, ids), refused: f.provider.Report().Refused}
	if c.lost > 0 {
		t.Errorf("%d of %d plans are lost", c.lost, len(ids))
	}
	c.print(t)
}

// lost returns how many of these plans, under which requests were sent, the
// database does not know as having been in force.
func lost(t *testing.T, database string, ids []string) (n int) {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), database)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(t.Context())
	for _, id := range ids {
		var known bool
		if err := conn.QueryRow(t.Context(), `select exists (select 1 from winnow.settled where position($1::text in convert_from(body, 'UTF8')) > 0)`, id).Scan(&known); err != nil {
			t.Fatal(err)
		}
		if !known {
			n++
		}
	}
	return n
}
