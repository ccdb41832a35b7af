package gateway_test

import (
	"bufio"
	"context"
	"flag"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/winnow-llm/winnow"
	"github.com/winnow-llm/winnow/gateway"
	"github.com/winnow-llm/winnow/transport"
	"github.com/winnow-llm/winnow/transport/planstore/postgres"
	"github.com/winnow-llm/winnow/transport/planstore/sqlite"
)

// TestMain lets the test's own program be a gateway that can be killed.
func TestMain(m *testing.M) {
	if path := os.Getenv("WINNOW_TEST_STORE"); path != "" {
		if err := child(path, os.Getenv("WINNOW_TEST_UPSTREAM"), os.Getenv("WINNOW_TEST_WINDOW")); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	if to := os.Getenv("WINNOW_TEST_BARE"); to != "" {
		if err := bareProxy(to); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	flag.Parse()
	if n := flag.Lookup("test.parallel"); n.Value.String() == n.DefValue {
		// Half of them wait for processes, databases and time-outs.
		if err := n.Value.Set("4"); err != nil {
			panic(err)
		}
	}
	os.Exit(m.Run())
}

func child(path, upstream, window string) error {
	store, err := openStore(path)
	if err != nil {
		return err
	}
	n, err := strconv.Atoi(window)
	if err != nil {
		return err
	}
	g, err := gateway.New(&gateway.Options{
		Upstreams: everywhere(upstream),
		Transport: transport.Options{Store: store, Settings: winnow.Settings{Window: n}},
	})
	if err != nil {
		return err
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	fmt.Println(l.Addr())
	return g.Serve(context.Background(), l)
}

// openStore opens a file, or a database.
func openStore(path string) (transport.Store, error) {
	if strings.HasPrefix(path, "postgres:") {
		return postgres.Open(context.Background(), path, nil)
	}
	return sqlite.Open(path, transport.Bounds{})
}

// startChild runs a gateway in a process of its own.
func startChild(t *testing.T, store, upstream string, window int) (url string, kill func()) {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), "WINNOW_TEST_STORE="+store, "WINNOW_TEST_UPSTREAM="+upstream, fmt.Sprint("WINNOW_TEST_WINDOW=", window))
	return startServer(t, cmd)
}

// startServer runs a program whose first line is the address that it listens on.
func startServer(t *testing.T, cmd *exec.Cmd) (url string, kill func()) {
	t.Helper()
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	dead := false
	kill = func() {
		if !dead {
			dead = true
			_ = cmd.Process.Kill() // kill -9
			_ = cmd.Wait()
		}
	}
	t.Cleanup(kill)
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	return "http://" + strings.TrimSpace(line), kill
}

func everywhere(url string) []gateway.Upstream {
	return []gateway.Upstream{{Name: "openai", URL: url}, {Name: "anthropic", URL: url}, {Name: "gemini", URL: url}}
}

// start serves a gateway.
func start(t testing.TB, o gateway.Options) (*gateway.Gateway, string) {
	t.Helper()
	g, err := gateway.New(&o)
	if err != nil {
		t.Fatal(err)
	}
	ts := httptest.NewServer(g.Handler())
	t.Cleanup(func() {
		ts.Close()
		g.Close()
	})
	return g, ts.URL
}

// eventually waits for a condition, as long as a busy machine may take.
func eventually(t testing.TB, what string, ok func() bool) {
	t.Helper()
	for end := time.Now().Add(2 * time.Minute); !ok(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("%s: that never came", what)
		}
	}
}

// ask sends a request with headers, names and values in turn; Host is the name
// under which it asks, and a header without a value is left out.
func ask(t testing.TB, method, url, body string, header ...string) (*http.Response, string) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), method, url, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	for i := 0; i < len(header); i += 2 {
		switch name, value := header[i], header[i+1]; {
		case name == "Host":
			req.Host = value
		case value != "":
			req.Header.Set(name, value)
		}
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return resp, string(text)
}

// get asks for a document.
func get(t testing.TB, url string, header ...string) (int, string) {
	t.Helper()
	resp, text := ask(t, http.MethodGet, url, "", header...)
	return resp.StatusCode, text
}

// arrivals is an upstream that answers everything, and the request that reached
// it since it was asked last; nil for none.
func arrivals(t *testing.T) (url string, arrived func() *http.Request) {
	t.Helper()
	requests := make(chan *http.Request, 16)
	up := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		requests <- r.Clone(context.Background())
		fmt.Fprint(w, "{}")
	}))
	t.Cleanup(up.Close)
	return up.URL, func() *http.Request {
		select {
		case r := <-requests:
			return r
		default:
			return nil
		}
	}
}
