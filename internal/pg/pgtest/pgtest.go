// Package pgtest starts real PostgreSQL servers for tests, and gives each test a
// database of its own.
//
// [Shared] is one server for all tests of a process, [Start] one that a test may
// kill. Where PostgreSQL is not installed, tests skip and say so. Servers end
// with the process that started them, also where it is killed.
package pgtest

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
)

// Server is a PostgreSQL server that listens on a socket in its folder.
type Server struct {
	dir  string
	bin  string
	who  *credential
	more []string

	mu    sync.Mutex
	guard io.WriteCloser // the process that ends the server when this is closed
	over  chan struct{}
}

// made counts databases, so that each has its own name.
var made atomic.Int64

var shared = sync.OnceValues(func() (*Server, error) { return Launch("fsync=off", "full_page_writes=off") })

// Shared returns the server that all tests of this process use. Nobody may stop
// it.
func Shared(t testing.TB) *Server {
	t.Helper()
	s, err := shared()
	skipOrFail(t, err)
	return s
}

// Start starts a server that the test may stop and kill. It takes settings, such
// as fsync=off, besides those that tests need.
func Start(t testing.TB, settings ...string) *Server {
	t.Helper()
	s, err := Launch(settings...)
	skipOrFail(t, err)
	t.Cleanup(func() { _ = s.Close() })
	return s
}

// Close ends the server and removes what it kept.
func (s *Server) Close() error {
	s.tellGuard("")
	return os.RemoveAll(s.dir)
}

// errAbsent says that the machine has no PostgreSQL.
var errAbsent = errors.New("PostgreSQL is not installed; apt-get install postgresql")

func skipOrFail(t testing.TB, err error) {
	t.Helper()
	if errors.Is(err, errAbsent) {
		t.Skip(err)
	}
	must(t, err)
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// findBinaries returns the folder with initdb and postgres.
func findBinaries() (string, error) {
	all, _ := filepath.Glob("/usr/lib/postgresql/*/bin") // the pattern is sound
	for i := len(all) - 1; i >= 0; i-- {
		if _, err := os.Stat(filepath.Join(all[i], "initdb")); err == nil {
			return all[i], nil
		}
	}
	if path, err := exec.LookPath("initdb"); err == nil {
		return filepath.Dir(path), nil
	}
	return "", errAbsent
}

// Launch is [Start] for a program that is not a test; it must call Close.
func Launch(settings ...string) (*Server, error) {
	s, err := initServer(settings...)
	if err != nil {
		return nil, err
	}
	return s, s.Run()
}

// initServer makes the files of a server.
func initServer(settings ...string) (*Server, error) {
	bin, err := findBinaries()
	if err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp("", "winnow-pg-")
	if err != nil {
		return nil, err
	}
	s := &Server{dir: dir, bin: bin, more: settings}
	if err := s.unprivileged(); err != nil {
		return nil, errors.Join(err, os.RemoveAll(dir))
	}
	cmd := exec.Command(filepath.Join(bin, "initdb"), "-D", s.dataFolder(), "-U", "winnow", "-A", "trust", "-E", "UTF8", "--locale=C", "--no-sync")
	s.as(cmd)
	if out, err := cmd.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("initdb: %w\n%s", err, out)
	}
	return s, nil
}

func (s *Server) dataFolder() string { return filepath.Join(s.dir, "data") }

// Run starts a server that was stopped or killed, and waits until it answers.
func (s *Server) Run() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	args := []string{"-D", s.dataFolder(), "-k", s.dir, "-c", "listen_addresses=", "-c", "max_connections=200", "-c", "shared_buffers=32MB"}
	for _, x := range s.more {
		args = append(args, "-c", x)
	}
	// The shell ends the server when its own input ends, which it does with this
	// process at the latest.
	cmd := exec.Command("sh", append([]string{"-c", `
		bin=$1; shift
		"$bin" "$@" >>log 2>&1 </dev/null &
		echo $! > pid
		read -r end
		case $end in
			kill) kill -9 $!; wait $!;;
			*) kill -QUIT $!; wait $!; [ "$end" = keep ] || rm -rf "$PWD";;
		esac`, "sh", filepath.Join(s.bin, "postgres")}, args...)...)
	s.as(cmd)
	in, err := cmd.StdinPipe()
	if err != nil {
		return err
	}
	if err := cmd.Start(); err != nil {
		return err
	}
	s.guard, s.over = in, make(chan struct{})
	go func() { _ = cmd.Wait(); close(s.over) }()
	return awaitAnswer(s.Admin(), s.dir, s.over)
}

// awaitAnswer waits until a server takes connections that has its log in a folder.
// Over is closed where it ends before that.
func awaitAnswer(address, dir string, over <-chan struct{}) error {
	ctx, stop := context.WithTimeout(context.Background(), 2*time.Minute)
	defer stop()
	for {
		conn, err := pgx.Connect(ctx, address)
		if err == nil {
			return conn.Close(ctx)
		}
		select {
		case <-time.After(20 * time.Millisecond):
			continue
		case <-over:
		case <-ctx.Done():
		}
		log, _ := os.ReadFile(filepath.Join(dir, "log"))
		return fmt.Errorf("the server does not answer: %w\n%s", err, log)
	}
}

// Kill ends the server's first process at once, as kill -9 does; the others
// notice. Run starts it again.
func (s *Server) Kill() {
	s.tellGuard("kill\n")
	// Others hold the shared memory until they have noticed.
	for range 3000 {
		if _, err := os.Stat(filepath.Join(s.dataFolder(), "postmaster.pid")); err != nil || !s.hasProcesses() {
			return
		}
		time.Sleep(20 * time.Millisecond)
	}
}

// hasProcesses reports whether processes of a server that was killed are left.
func (s *Server) hasProcesses() bool {
	all, _ := filepath.Glob("/proc/[0-9]*/cwd") // the pattern is sound
	for _, link := range all {
		if to, err := os.Readlink(link); err == nil && to == s.dataFolder() {
			return true
		}
	}
	return false
}

// Stop ends the server without a checkpoint. Run starts it again.
func (s *Server) Stop() { s.tellGuard("keep\n") }

func (s *Server) tellGuard(word string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.guard == nil {
		return
	}
	_, _ = io.WriteString(s.guard, word) // it may be over
	_ = s.guard.Close()
	<-s.over
	s.guard = nil
}

// Socket returns where the server listens, for those who pass connections on.
func (s *Server) Socket() string { return filepath.Join(s.dir, ".s.PGSQL.5432") }

// Bin returns the folder of PostgreSQL's programs.
func (s *Server) Bin() string { return s.bin }

// Dir returns the server's folder.
func (s *Server) Dir() string { return s.dir }

// Write writes a file of the server's own into its data: settings take effect when it
// is started again.
func (s *Server) Write(t testing.TB, name string, text []byte) {
	t.Helper()
	path := filepath.Join(s.dataFolder(), name)
	must(t, os.WriteFile(path, text, 0o600))
	must(t, s.giveToUser(path))
}

func (s *Server) databaseURL(database string) string {
	return "postgres:///" + database + "?host=" + url.QueryEscape(s.dir) + "&user=winnow"
}

// Database makes an empty database and returns its address.
func (s *Server) Database(t testing.TB) string {
	t.Helper()
	name := fmt.Sprintf("t%d_%d", os.Getpid(), made.Add(1))
	s.Exec(t, s.Admin(), "create database "+name)
	return s.databaseURL(name)
}

// Named returns the address of a database by its name, beside the one of that address,
// and makes it where there is none: for tests whose processes agree on a name.
func Named(address, name string) (string, error) {
	ctx, stop := context.WithTimeout(context.Background(), 2*time.Minute)
	defer stop()
	conn, err := pgx.Connect(ctx, address)
	if err != nil {
		return "", err
	}
	defer func() { _ = conn.Close(ctx) }()
	if _, err = conn.Exec(ctx, "create database "+name); err != nil && !strings.Contains(err.Error(), "already exists") && !strings.Contains(err.Error(), "duplicate key") {
		return "", err
	}
	u, err := url.Parse(address)
	if err != nil {
		return "", err
	}
	u.Path = "/" + name
	return u.String(), nil
}

// Admin returns the address of the database that every server has.
func (s *Server) Admin() string { return s.databaseURL("postgres") }

// Exec runs a statement in a database.
func (s *Server) Exec(t testing.TB, address, sql string, args ...any) {
	t.Helper()
	ctx := context.Background()
	conn, err := pgx.Connect(ctx, address)
	must(t, err)
	defer func() { _ = conn.Close(ctx) }()
	if _, err := conn.Exec(ctx, sql, args...); err != nil {
		t.Fatalf("%s: %v", sql, err)
	}
}
