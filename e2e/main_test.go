package e2e

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// window is the model's, in tokens. The conversation is many times as long.
const window = 16_000

// processes are the ones that all tests share.
var processes struct {
	gateway  string // winnow serve, in front of provider
	provider string // winnow sim behind the gateway and the transports
	bare     string // winnow sim for clients without winnow
}

// binary is the command that WINNOW_BINARY names; else it is built from the
// sources.
var binary = os.Getenv("WINNOW_BINARY")

func TestMain(m *testing.M) {
	// The SDKs and the command read these; what is tried is what the tests say.
	for _, v := range os.Environ() {
		name, _, _ := strings.Cut(v, "=")
		for _, prefix := range []string{"OPENAI_", "ANTHROPIC_", "GOOGLE_", "GEMINI_", "WINNOW_"} {
			if strings.HasPrefix(name, prefix) {
				_ = os.Unsetenv(name)
			}
		}
	}
	code, err := run(m)
	if err != nil {
		fmt.Fprintln(os.Stderr, "e2e:", err)
		code = 1
	}
	os.Exit(code)
}

// run builds the command where none is given, starts the processes and lets the
// tests run.
func run(m *testing.M) (code int, err error) {
	dir, err := os.MkdirTemp("", "winnow-e2e")
	if err != nil {
		return 1, err
	}
	defer os.RemoveAll(dir)
	if binary == "" {
		binary = filepath.Join(dir, "winnow")
		build := exec.Command("go", "build", "-o", binary, "./cmd/winnow")
		build.Dir = ".." // with the versions of the module that it belongs to
		build.Stderr = os.Stderr
		if err := build.Run(); err != nil {
			return 1, fmt.Errorf("the command does not build: %w", err)
		}
	}
	var ends []func() error
	defer func() {
		for i := len(ends) - 1; i >= 0; i-- {
			err = errors.Join(err, ends[i]())
		}
	}()
	start := func(args ...string) (string, error) {
		url, end, err := startProcess(dir, args...)
		if err == nil {
			ends = append(ends, end)
		}
		return url, err
	}
	tokens := fmt.Sprint(window)
	if processes.provider, err = start("sim", "--listen", "127.0.0.1:0", "--window", tokens); err != nil {
		return 1, err
	}
	if processes.bare, err = start("sim", "--listen", "127.0.0.1:0", "--window", tokens); err != nil {
		return 1, err
	}
	up := processes.provider
	processes.gateway, err = start("serve", "--listen", "127.0.0.1:0", "--window", tokens, "--store", filepath.Join(dir, "plans.db"),
		"--upstream", "openai="+up, "--upstream", "anthropic="+up, "--upstream", "gemini="+up)
	if err != nil {
		return 1, err
	}
	return m.Run(), nil
}

// startProcess starts the command and waits for the address that it prints
// first. end asks it to end and expects that it does so well.
func startProcess(dir string, args ...string) (url string, end func() error, err error) {
	p, err := begin(dir, args...)
	if err != nil {
		return "", nil, err
	}
	return p.url, p.end, nil
}

// process is the command at work.
type process struct {
	url  string
	pid  int
	end  func() error
	said func() string // all that it printed, once it ended
}

// stop ends it and returns all that it printed.
func (p *process) stop(t *testing.T) string {
	t.Helper()
	if err := p.end(); err != nil {
		t.Error(err)
	}
	return p.said()
}

// begin is startProcess, and knows which process it is.
func begin(dir string, args ...string) (*process, error) {
	cmd := exec.Command(binary, args...)
	cmd.Env = append(os.Environ(), "HOME="+dir, "XDG_CONFIG_HOME="+dir)
	var logs strings.Builder
	cmd.Stderr = &logs
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	lines := bufio.NewReader(out)
	line, err := lines.ReadString('\n')
	if err != nil {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
		return nil, fmt.Errorf("winnow %s printed no address: %w\n%s", args[0], err, logs.String())
	}
	var rest []byte
	read := make(chan struct{})
	go func() {
		defer close(read)
		rest, _ = io.ReadAll(lines) // until it ends
	}()
	end := sync.OnceValue(func() error {
		_ = cmd.Process.Signal(syscall.SIGTERM)
		kill := time.AfterFunc(2*time.Minute, func() { _ = cmd.Process.Kill() })
		defer kill.Stop()
		<-read
		if err := cmd.Wait(); err != nil {
			return fmt.Errorf("winnow %s did not end well: %w\n%s", args[0], err, logs.String())
		}
		return nil
	})
	said := func() string { return line + string(rest) + logs.String() }
	return &process{"http://" + strings.TrimSpace(line), cmd.Process.Pid, end, said}, nil
}

// requests is what a simulator tells about what it was asked.
type requests struct {
	Accepted, Counted, Refused int
	RefusedBy                  map[string]int `json:"refused_by"`
}

func asked(t *testing.T, url string) requests {
	t.Helper()
	var r requests
	getJSON(t, url+"/sim/requests", nil, &r)
	return r
}

// plans returns how many plans the gateway made for a credential.
func plans(t *testing.T, credential http.Header) int {
	t.Helper()
	var doc struct {
		Conversations []struct{ Totals struct{ Compactions int } }
	}
	getJSON(t, processes.gateway+"/winnow/conversations", credential, &doc)
	n := 0
	for _, c := range doc.Conversations {
		n += c.Totals.Compactions
	}
	return n
}

func getJSON(t *testing.T, url string, header http.Header, into any) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, nil)
	if err != nil {
		t.Fatal(err)
	}
	if header != nil {
		req.Header = header
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err != nil || resp.StatusCode != http.StatusOK {
		t.Fatalf("%s: %v %d %.300s", url, err, resp.StatusCode, text)
	}
	if err := json.Unmarshal(text, into); err != nil {
		t.Fatalf("%s: %v", url, err)
	}
}
