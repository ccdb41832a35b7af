package pgtest

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"math/big"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"runtime"
	"testing"
	"time"
)

// Secure is a server that is reached over TLS, with a password.
type Secure struct {
	*Server

	// Address is that of an empty database, without a password. Roots is the file
	// with the certificate that proves the server, Password the file with the
	// user's password.
	Address, Roots, Password string
}

// StartSecure starts a server that others reach over TLS alone, and only with a
// password. It listens on a loopback address of its own, at the usual port, so
// that no port has to be found: only Linux has those.
func StartSecure(t testing.TB) *Secure {
	t.Helper()
	if runtime.GOOS != "linux" {
		t.Skip("there are many loopback addresses on Linux alone")
	}
	n := os.Getpid()<<4 | int(made.Add(1)&15)
	host := fmt.Sprintf("127.%d.%d.%d", 1+n>>16&127, n>>8&255, 1+n&127)
	s, err := initServer("fsync=off", "ssl=on", "listen_addresses="+host)
	skipOrFail(t, err)
	t.Cleanup(func() { _ = s.Close() })
	mine := t.TempDir()
	x := &Secure{Server: s, Roots: filepath.Join(mine, "root.crt"), Password: filepath.Join(mine, "password")}
	cert, key, err := makeCertificate(net.ParseIP(host))
	must(t, err)
	hba := "local all all trust\nhostssl all all 127.0.0.0/8 scram-sha-256\n"
	for path, text := range map[string][]byte{
		filepath.Join(s.dataFolder(), "server.crt"): cert, filepath.Join(s.dataFolder(), "server.key"): key, filepath.Join(s.dataFolder(), "pg_hba.conf"): []byte(hba),
		x.Roots: cert, x.Password: []byte("open sesame\n"),
	} {
		must(t, os.WriteFile(path, text, 0o600))
		if filepath.Dir(path) == s.dataFolder() {
			must(t, s.giveToUser(path))
		}
	}
	must(t, s.Run())
	s.Exec(t, s.Admin(), "create role gateway login password 'open sesame'")
	s.Exec(t, s.Admin(), "create database secure owner gateway")
	u := url.URL{Scheme: "postgres", User: url.User("gateway"), Host: host + ":5432", Path: "/secure"}
	x.Address = u.String()
	return x
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
