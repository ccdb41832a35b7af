package pg_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"fmt"
	"math/big"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/winnow-llm/winnow/internal/pg"
	"github.com/winnow-llm/winnow/internal/pg/pgtest"
)

// TestTLS reaches a server over TLS with a password from a file: only when the
// server proves who it is, unless the address asks for less. Neither error says
// the password.
func TestTLS(t *testing.T) {
	s := startSecure(t)
	open := func(parameters ...string) error {
		t.Helper()
		q := url.Values{}
		for i := 0; i < len(parameters); i += 2 {
			q.Set(parameters[i], parameters[i+1])
		}
		db, err := pg.Open(t.Context(), pg.Config{URL: s.address + "?" + q.Encode()})
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
	if err := open("sslmode", "verify-full", "sslrootcert", s.roots, "password_file", s.password); err != nil {
		t.Error(err)
	}
	if err := open("sslmode", "require", "password_file", s.password); err != nil { // no proof asked for
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
		{"nobody vouches for the server", []string{"sslmode", "verify-full", "password_file", s.password}},
		{"without TLS", []string{"sslmode", "disable", "password_file", s.password}},
		{"another password", []string{"sslmode", "verify-full", "sslrootcert", s.roots, "password_file", wrong}},
	} {
		err := open(c.parameters...)
		if err == nil || strings.Contains(err.Error(), "sesame") || strings.Contains(err.Error(), "let me in") {
			t.Errorf("%s: %v", c.name, err)
		}
	}
}

// secure is a server that is reached over TLS alone, and only with a password: the address
// of an empty database, the file with the certificate that proves the server, and the
// file with the password.
type secure struct{ address, roots, password string }

// startSecure starts one on a loopback address of its own, at the usual port, so that no
// port has to be found: only Linux has those.
func startSecure(t *testing.T) secure {
	t.Helper()
	if runtime.GOOS != "linux" {
		t.Skip("there are many loopback addresses on Linux alone")
	}
	n := os.Getpid()
	host := fmt.Sprintf("127.%d.%d.%d", 1+n>>15&127, n>>7&255, 1+n&127)
	server := pgtest.Prepare(t, "fsync=off", "ssl=on", "listen_addresses="+host)
	mine := t.TempDir()
	s := secure{roots: filepath.Join(mine, "root.crt"), password: filepath.Join(mine, "password")}
	cert, key, err := makeCertificate(net.ParseIP(host))
	if err := errors.Join(err,
		server.WriteFile("server.crt", cert), server.WriteFile("server.key", key),
		server.WriteFile("pg_hba.conf", []byte("local all all trust\nhostssl all all 127.0.0.0/8 scram-sha-256\n")),
		os.WriteFile(s.roots, cert, 0o600), os.WriteFile(s.password, []byte("open sesame\n"), 0o600), server.Run()); err != nil {
		t.Fatal(err)
	}
	server.Exec(t, server.Admin(), "create role gateway login password 'open sesame'")
	server.Exec(t, server.Admin(), "create database secure owner gateway")
	s.address = (&url.URL{Scheme: "postgres", User: url.User("gateway"), Host: host + ":5432", Path: "/secure"}).String()
	return s
}

// makeCertificate makes a certificate for an address that is its own root, and its key.
func makeCertificate(ip net.IP) (cert, key []byte, err error) {
	k, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, nil, err
	}
	about := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "database"}, IPAddresses: []net.IP{ip},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(24 * time.Hour),
		IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign,
	}
	raw, err := x509.CreateCertificate(rand.Reader, about, about, k.Public(), k)
	if err != nil {
		return nil, nil, err
	}
	private, err := x509.MarshalPKCS8PrivateKey(k)
	if err != nil {
		return nil, nil, err
	}
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: raw}), pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: private}), nil
}
