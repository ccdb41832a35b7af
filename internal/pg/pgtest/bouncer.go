package pgtest

import (
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// Bouncer starts PgBouncer in front of a server and returns what changes the
// address of a database into the one through it. It pools by transaction: what one statement leaves in a
// connection, the next does not find. Where it is not installed, the test skips
// and says so.
func (s *Server) Bouncer(t testing.TB) (through func(address string) string) {
	t.Helper()
	program, err := exec.LookPath("pgbouncer")
	if err != nil {
		program = "/usr/sbin/pgbouncer"
		if _, err := os.Stat(program); err != nil {
			t.Skip("PgBouncer is not installed; apt-get install pgbouncer")
		}
	}
	dir := s.makeFolder(t, "winnow-pgb-")
	settings := fmt.Sprintf(`[databases]
* = host=%s port=5432 user=winnow
[pgbouncer]
listen_addr =
listen_port = 5432
unix_socket_dir = %s
auth_type = any
pool_mode = transaction
default_pool_size = 4
max_client_conn = 200
`, s.dir, dir)
	path := filepath.Join(dir, "pgbouncer.ini")
	must(t, os.WriteFile(path, []byte(settings), 0o644))
	// The shell ends it when its own input ends, which it does with this process
	// at the latest.
	cmd := exec.Command("sh", "-c", `"$1" "$2" >log 2>&1 </dev/null & read -r end; kill -9 $!; wait $!`, "sh", program, path)
	s.as(cmd)
	cmd.Dir = dir
	in, err := cmd.StdinPipe()
	must(t, err)
	must(t, cmd.Start())
	t.Cleanup(func() {
		_ = in.Close()
		_ = cmd.Wait()
	})
	through = func(address string) string {
		return strings.Replace(address, url.QueryEscape(s.dir), url.QueryEscape(dir), 1) + "&default_query_exec_mode=exec"
	}
	must(t, awaitAnswer(through(s.Admin()), dir, nil))
	return through
}

// makeFolder makes a folder that the server's user may use, with a short name: those
// of sockets must be.
func (s *Server) makeFolder(t testing.TB, name string) string {
	t.Helper()
	dir, err := os.MkdirTemp("", name)
	must(t, err)
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	must(t, s.giveToUser(dir))
	return dir
}

// giveToUser makes the server's user the owner of a file.
func (s *Server) giveToUser(path string) error {
	if s.who == nil {
		return nil
	}
	return os.Chown(path, int(s.who.Uid), int(s.who.Gid))
}
