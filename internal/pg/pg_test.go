package pg

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/winnow-llm/winnow/internal/pg/pgtest"
)

// The gate lets one call try a database that is gone, later each time.
func TestGate(t *testing.T) {
	at := time.Unix(0, 0)
	var said []bool
	g := gate{now: func() time.Time { return at }, jitter: func() float64 { return 0.5 }, changed: func(err error) { said = append(said, err != nil) }}
	gone := &goneError{errors.New("no")}
	may := func(want, trying bool) {
		t.Helper()
		got, err := g.enter()
		if (err == nil) != want || got != trying || err != nil && !errors.Is(err, ErrGone) {
			t.Fatalf("%v, %v", got, err)
		}
	}
	may(true, false)
	may(true, false)
	g.leave(false, errors.New("a wrong statement")) // no reason to stay away
	may(true, false)
	g.leave(false, gone)
	g.leave(false, nil) // it began before
	waits := 0
	for wait := firstWait; wait <= mostWait; wait, waits = 2*wait, waits+1 {
		at = at.Add(wait - 1)
		may(false, false)
		at = at.Add(1)
		may(true, true)
		may(false, false) // one at a time
		g.leave(true, gone)
	}
	at = at.Add(mostWait)
	may(true, true)
	g.leave(true, nil)
	may(true, false)
	if waits < 4 || fmt.Sprint(said) != "[true false]" {
		t.Errorf("%d waits; told %v", waits, said)
	}
	if closed, lost, refused := g.state(); closed || lost != 1 || refused != int64(2*waits) {
		t.Errorf("%v %d %d", closed, lost, refused)
	}
}

// A database whose connections are all in use for longer than it may take to answer
// is busy, and not gone.
func TestBusyIsNotGone(t *testing.T) {
	db, err := Open(t.Context(), Config{URL: pgtest.Shared(t).Database(t), Conns: 1, Timeout: 2 * time.Second, Queue: time.Minute})
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	var work errgroup.Group
	held := make(chan struct{})
	work.Go(func() error {
		return db.Do(t.Context(), func(ctx context.Context) error {
			close(held)
			<-ctx.Done() // as long as it may take
			return nil
		})
	})
	<-held
	const pieces = 100
	for range pieces {
		work.Go(func() error {
			return db.Do(t.Context(), func(ctx context.Context) error { return ctx.Err() })
		})
	}
	if err := work.Wait(); err != nil {
		t.Error(err)
	}
	if s := db.State(); s.Gone || s.Lost != 0 || s.Waits < pieces/2 || s.Waited == 0 || s.Canceled != 0 {
		t.Errorf("%+v", s)
	}
	// Who goes away, or waits too long, is told so, and the others go on.
	left, leave := context.WithCancel(t.Context())
	err = db.Do(t.Context(), func(context.Context) error {
		leave()
		db.config.Queue = time.Millisecond
		if err := db.Do(t.Context(), func(context.Context) error { return errors.New("it ran") }); !errors.Is(err, ErrGone) {
			t.Errorf("waited too long: %v", err)
		}
		return db.queue.enter(left, time.Minute)
	})
	if !errors.Is(err, context.Canceled) || db.State().Gone || db.State().Canceled != 2 {
		t.Errorf("%v, %+v", err, db.State())
	}
}

// Work that takes too long is done again while the database answers others, which
// then is not gone.
func TestLateIsNotGone(t *testing.T) {
	for _, alive := range []bool{true, false} {
		db, err := Open(t.Context(), Config{URL: pgtest.Shared(t).Database(t), Conns: 4, Timeout: time.Minute})
		if err != nil {
			t.Fatal(err)
		}
		defer db.Close()
		db.config.Timeout = 200 * time.Millisecond
		runs := 0
		err = db.Again(t.Context(), func(ctx context.Context) error {
			if runs++; runs > 1 {
				return nil
			}
			var others error
			if alive {
				others = db.Do(t.Context(), func(context.Context) error { return nil })
			}
			_, err := db.Pool().Exec(ctx, `select pg_sleep(60)`)
			return errors.Join(others, err)
		})
		if s := db.State(); alive && (err != nil || runs != 2 || s.Gone || s.Lost != 0) {
			t.Errorf("alive: %v after %d runs, %+v", err, runs, s)
		} else if !alive && (!errors.Is(err, ErrGone) || runs != 1 || !s.Gone || s.Lost != 1) {
			t.Errorf("gone: %v after %d runs, %+v", err, runs, s)
		}
	}
}

// A statement whose connection ends under it fails. The database is not gone for
// that: it answers on a new connection, and the gate stays open for all others.
func TestDeadConnectionIsNotGone(t *testing.T) {
	db, err := Open(t.Context(), Config{URL: pgtest.Shared(t).Database(t), Conns: 4, Timeout: time.Minute})
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	for _, do := range []func(context.Context, func(context.Context) error) error{
		db.Do,
		func(ctx context.Context, f func(context.Context) error) error { return db.Within(ctx, time.Minute, f) },
	} {
		err = do(t.Context(), func(ctx context.Context) error {
			_, err := db.Pool().Exec(ctx, `select pg_terminate_backend(pg_backend_pid())`)
			return err
		})
		if s := db.State(); !errors.Is(err, ErrGone) || s.Gone || s.Lost != 0 {
			t.Errorf("%v, %+v", err, s)
		}
		if err := db.Do(t.Context(), func(ctx context.Context) error { return db.Pool().Ping(ctx) }); err != nil {
			t.Errorf("the next statement: %v", err)
		}
	}
}

// A password is in no error, whatever is wrong.
func TestPasswordIsNotTold(t *testing.T) {
	secret := filepath.Join(t.TempDir(), "password")
	if err := os.WriteFile(secret, []byte("hunter2\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	_, err := Open(t.Context(), Config{URL: "postgres://me@127.0.0.1:1/db", Changed: func(error) { t.Error("it was told of a database that was never open") }})
	if err == nil || !strings.Contains(err.Error(), "refused; check that it runs") {
		t.Errorf("it does not say why and what to do: %v", err)
	}
	for _, address := range []string{
		"postgres://me:hunter2@127.0.0.1:1/db",
		"postgres://me:hunter2@127.0.0.1:port/db",
		"postgres://me:hunter2@127.0.0.1:1/db?sslmode=nonsense",
		"postgres://me:hunter2@127.0.0.1:1/db?pool_max_conns=many",
		"postgres://me:hunter2@127.0.0.1:1/db?password_file=/nowhere/at/all",
		"postgres://me@127.0.0.1:1/db?password_file=" + secret,
		"postgres://me:hunter2@%zz/db",
	} {
		_, err := Open(t.Context(), Config{URL: address, Timeout: time.Minute})
		if err == nil || strings.Contains(err.Error(), "hunter2") || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: %v", address, err)
		}
		if strings.Contains(Name(address), "hunter2") || strings.Contains(Reason(err), "hunter2") {
			t.Errorf("%s: %s, %s", address, Name(address), Reason(err))
		}
	}
}

// Another machine must prove who it is, unless the address says otherwise.
func TestTLSByDefault(t *testing.T) {
	t.Setenv("PGSSLMODE", "")
	for address, want := range map[string]bool{
		"postgres://db.example/x": true, "postgres://10.1.2.3/x": true, "postgres://db.example/x?sslmode=disable": false,
		"postgres://127.0.0.1/x?sslmode=disable": false, "postgres:///x?host=/tmp": false,
	} {
		p, err := Config{URL: address}.withDefaults().poolConfig()
		if err != nil {
			t.Fatal(err)
		}
		tls := p.ConnConfig.TLSConfig != nil && !p.ConnConfig.TLSConfig.InsecureSkipVerify && len(p.ConnConfig.Fallbacks) == 0
		if tls != want {
			t.Errorf("%s: TLS is required: %v", address, tls)
		}
	}
}

// A password in a file is read for each connection, and lets in.
func TestPasswordFile(t *testing.T) {
	s := pgtest.Shared(t)
	db := s.Database(t)
	role := fmt.Sprintf("r%d", time.Now().UnixNano())
	s.Exec(t, db, "create role "+role+" login password 'hunter2'")
	secret := filepath.Join(t.TempDir(), "password")
	if err := os.WriteFile(secret, []byte("hunter2\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	c, err := Config{URL: db + "&password_file=" + secret}.withDefaults().poolConfig()
	if err != nil {
		t.Fatal(err)
	}
	if err := c.BeforeConnect(t.Context(), c.ConnConfig); err != nil || c.ConnConfig.Password != "hunter2" {
		t.Errorf("%v", err)
	}
}

// Of processes that start together one makes the tables, an older program
// refuses those of a newer one, and a user without rights is told what to do.
func TestPrepare(t *testing.T) {
	s := pgtest.Shared(t)
	address := s.Database(t)
	one := Schema{Part: "x", Steps: []string{"create table winnow.x (n int)"}}
	two := Schema{Part: "x", Steps: append(one.Steps[:1:1], "alter table winnow.x add column m int not null default 0")}
	open := func(address string) *DB {
		t.Helper()
		db, err := Open(t.Context(), Config{URL: address})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(db.Close)
		return db
	}
	done := make(chan error)
	for range 4 {
		db := open(address)
		go func() {
			_, _, err := db.Prepare(t.Context(), two)
			done <- err
		}()
	}
	for range 4 {
		if err := <-done; err != nil {
			t.Error(err)
		}
	}
	db := open(address)
	var newer *NewerError
	if _, _, err := db.Prepare(t.Context(), one); !errors.As(err, &newer) || strings.Contains(err.Error(), "\n") {
		t.Errorf("an older program: %v", err)
	}
	role := "nobody_" + strings.Trim(Name(address)[strings.LastIndex(Name(address), "/"):], "/")
	s.Exec(t, address, "create role "+role+" login; grant usage on schema winnow to "+role+"; grant select on winnow.versions to "+role)
	few := open(strings.Replace(address, "user=winnow", "user="+role, 1))
	if _, _, err := few.Prepare(t.Context(), two); err != nil {
		t.Errorf("nothing to do: %v", err)
	}
	three := Schema{Part: "x", Steps: append(two.Steps[:2:2], "create table winnow.y (n int)")}
	if _, _, err := few.Prepare(t.Context(), three); !errors.Is(err, ErrOlder) || strings.Contains(err.Error(), "\n") {
		t.Errorf("without rights: %v", err)
	}
	if v, err := db.Version(t.Context(), "x"); v != 2 || err != nil {
		t.Errorf("version %d, %v", v, err)
	}
	if err := db.Do(t.Context(), func(ctx context.Context) error { _, err := db.Pool().Exec(ctx, "select m from winnow.x"); return err }); err != nil {
		t.Error(err)
	}
}
