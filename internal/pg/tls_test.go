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
	address, roots, password := secureServer(t)
	open := func(parameters ...string) error {
		t.Helper()
		q := url.Values{}
		for i := 0; i < len(parameters); i += 2 {
			q.Set(parameters[i], parameters[i+1])
		}
		db, err := pg.Open(t.Context(), pg.Config{URL: address + "?" + q.Encode()})
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
	if err := open("sslmode", "verify-full", "sslrootcert", roots, "password_file", password); err != nil {
		t.Error(err)
	}
	if err := open("sslmode", "require", "password_file", password); err != nil { // no proof asked for
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
		{"nobody vouches for the server", []string{"sslmode", "verify-full", "password_file", password}},
		{"without TLS", []string{"sslmode", "disable", "password_file", password}},
		{"another password", []string{"sslmode", "verify-full", "sslrootcert", roots, "password_file", wrong}},
	} {
		err := open(c.parameters...)
		if err == nil || strings.Contains(err.Error(), "sesame") || strings.Contains(err.Error(), "let me in") {
			t.Errorf("%s: %v", c.name, err)
		}
	}
}

// secureServer is a server that others reach over TLS alone, and only with a password.
// Address is that of an empty database, without a password; roots is the file with the
// certificate that proves the server, password the file with the user's password. It
// listens on a loopback address of its own, at the usual port, so that no port has to
// be found: only Linux has those.
func secureServer(t *testing.T) (address, roots, password string) {
	t.Helper()
	if runtime.GOOS != "linux" {
		t.Skip("there are many loopback addresses on Linux alone")
	}
	n := os.Getpid()
	host := fmt.Sprintf("127.%d.%d.%d", 1+n>>16&127, n>>8&255, 1+n&127)
	s := pgtest.Start(t, "fsync=off", "listen_addresses="+host)
	for _, sql := range []string{
		"alter system set ssl = on", "create role gateway login password 'open sesame'", "create database secure owner gateway",
	} {
		s.Exec(t, s.Admin(), sql)
	}
	cert, key, err := makeCertificate(net.ParseIP(host))
	if err != nil {
		t.Fatal(err)
	}
	s.Write(t, "server.crt", cert)
	s.Write(t, "server.key", key)
	s.Write(t, "pg_hba.conf", []byte("local all all trust\nhostssl all all 127.0.0.0/8 scram-sha-256\n"))
	s.Stop()
	roots, password = filepath.Join(t.TempDir(), "root.crt"), filepath.Join(t.TempDir(), "password")
	if err := errors.Join(s.Run(), os.WriteFile(roots, cert, 0o600), os.WriteFile(password, []byte("open sesame\n"), 0o600)); err != nil {
		t.Fatal(err)
	}
	return "postgres://gateway@" + host + ":5432/secure", roots, password
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
