package pg_test

import (
	"net/url"
	"os"
	"strings"
	"testing"

	"github.com/winnow-llm/winnow/internal/pg"
	"github.com/winnow-llm/winnow/internal/pg/pgtest"
)

// TestTLS reaches a server over TLS with a password from a file: only when the
// server proves who it is, unless the address asks for less. Neither error says
// the password.
func TestTLS(t *testing.T) {
	s := pgtest.StartSecure(t)
	open := func(parameters ...string) error {
		t.Helper()
		q := url.Values{}
		for i := 0; i < len(parameters); i += 2 {
			q.Set(parameters[i], parameters[i+1])
		}
		db, err := pg.Open(t.Context(), pg.Config{URL: s.Address + "?" + q.Encode()})
		if err != nil {
			return err
		}
		defer db.Close()
		var tls bool
		if err := db.Pool().QueryRow(t.Context(), `select ssl from pg_stat_ssl where pid = pg_backend_pid()`).Scan(&tls); err != nil || !tls {
			t.Errorf("%v: TLS is %v, %v", parameters, tls, err)
		}
		return nil
	}
	if err := open("sslmode", "verify-full", "sslrootcert", s.Roots, "password_file", s.Password); err != nil {
		t.Error(err)
	}
	if err := open("sslmode", "require", "password_file", s.Password); err != nil { // no proof asked for
		t.Error(err)
	}
	wrong := t.TempDir() + "/password"
	if err := os.WriteFile(wrong, []byte("let me in"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name       string
		parameters []string
	}{
		{"nobody vouches for the server", []string{"sslmode", "verify-full", "password_file", s.Password}},
		{"without TLS", []string{"sslmode", "disable", "password_file", s.Password}},
		{"another password", []string{"sslmode", "verify-full", "sslrootcert", s.Roots, "password_file", wrong}},
	} {
		err := open(c.parameters...)
		if err == nil || strings.Contains(err.Error(), "sesame") || strings.Contains(err.Error(), "let me in") {
			t.Errorf("%s: %v", c.name, err)
		}
	}
}
