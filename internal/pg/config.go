package pg

import (
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"net"
	"net/url"
	"os"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/winnow-llm/winnow/internal/defaults"
)

// Config says how a database is reached.
type Config struct {
	// URL is postgres://USER@HOST:PORT/DATABASE, with PostgreSQL's parameters.
	// Without sslmode, a host that is not this machine must prove who it is
	// (verify-full).
	URL string

	// Application names this program among the database's connections; default
	// winnow.
	Application string

	// Conns is the most connections (default 16; pool_max_conns in the address).
	Conns int32

	// Timeout is how long one piece of work may take (default 5 s).
	Timeout time.Duration

	// Queue is how long it may wait before that for one of the connections, all
	// of which others use (default six times Timeout).
	Queue time.Duration

	// Changed is told when the database is gone and when it is back; nil is
	// nobody. It must not wait.
	Changed func(gone error)
}

func (c Config) withDefaults() Config {
	if c.Application == "" {
		c.Application = "winnow"
	}
	defaults.Set(&c.Conns, 16)
	defaults.Set(&c.Timeout, 5*time.Second)
	defaults.Set(&c.Queue, 6*c.Timeout)
	if c.Changed == nil {
		c.Changed = func(error) {}
	}
	return c
}

// Is reports whether an address is one of PostgreSQL.
func Is(address string) bool {
	return strings.HasPrefix(address, "postgres://") || strings.HasPrefix(address, "postgresql://")
}

// Name returns an address as people may see it: host and database alone.
func Name(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		return "postgres"
	}
	host := u.Host
	if host == "" {
		host = u.Query().Get("host")
	}
	return "postgres://" + host + u.Path
}

// poolConfig reads the address.
func (c Config) poolConfig() (*pgxpool.Config, error) {
	u, err := url.Parse(c.URL)
	if err != nil {
		return nil, errors.New("the address cannot be read; write postgres://USER@HOST:PORT/DATABASE") // the error would quote the password
	}
	q := u.Query()
	secret := q.Get("password_file")
	q.Del("password_file")
	local := u.Hostname() == "" || isLoopback(u.Hostname())
	if !q.Has("sslmode") && os.Getenv("PGSSLMODE") == "" && !local {
		q.Set("sslmode", "verify-full")
	}
	own := q.Has("pool_max_conns")
	u.RawQuery = q.Encode()
	p, err := pgxpool.ParseConfig(u.String())
	if err != nil {
		return nil, fmt.Errorf("the address cannot be used: %s", textWithoutURL(err))
	}
	if !own {
		p.MaxConns = c.Conns
	}
	if p.ConnConfig.ConnectTimeout == 0 {
		p.ConnConfig.ConnectTimeout = c.Timeout
	}
	// Connections are made anew now and then, so that a load balancer in front
	// of the database is heeded, but not all at the same moment.
	p.MaxConnLifetime, p.MaxConnLifetimeJitter = time.Hour, 20*time.Minute
	if p.ConnConfig.RuntimeParams["application_name"] == "" {
		p.ConnConfig.RuntimeParams["application_name"] = c.Application
	}
	if secret != "" {
		p.BeforeConnect = func(_ context.Context, cc *pgx.ConnConfig) error {
			b, err := os.ReadFile(secret)
			if err != nil {
				return fmt.Errorf("the password cannot be read: %w; check password_file", err)
			}
			cc.Password = strings.TrimRight(string(b), "\r\n")
			return nil
		}
	}
	return p, nil
}

func isLoopback(host string) bool {
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}

// textWithoutURL returns the text of an error without what quotes an address.
func textWithoutURL(err error) string {
	text := err.Error()
	if i := strings.LastIndex(text, "`"); i >= 0 { // cannot parse `postgres://…`: why, perhaps in the next line
		text = strings.TrimLeft(text[i+1:], ": \n\t")
	}
	return text
}

// lockKey returns a number for a lock of the database's, by its name.
func lockKey(name string) int64 {
	h := fnv.New64a()
	_, _ = h.Write([]byte("winnow " + name)) // never fails
	return int64(h.Sum64())
}
