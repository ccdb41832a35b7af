package agents

import (
	"bufio"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// winnow is the command that WINNOW_BINARY names; else it is built from the
// sources.
var winnow = os.Getenv("WINNOW_BINARY")

func TestMain(m *testing.M) {
	// Agents read these; what is tried is what the tests say.
	for _, v := range os.Environ() {
		name, _, _ := strings.Cut(v, "=")
		for _, prefix := range []string{"OPENAI_", "ANTHROPIC_", "GOOGLE_", "GEMINI_", "CLAUDE", "CODEX_", "OPENCODE_", "KILO_", "CLINE_", "PI_", "COPILOT_", "DEEPSEEK_", "DSH_"} {
			if strings.HasPrefix(name, prefix) {
				_ = os.Unsetenv(name)
			}
		}
	}
	os.Exit(built(m))
}

// built runs the tests with a command that is built where none was given.
func built(m *testing.M) int {
	if winnow != "" {
		return m.Run()
	}
	dir, err := os.MkdirTemp("", "winnow-e2e")
	if err != nil {
		fmt.Fprintln(os.Stderr, "e2e/agents:", err)
		return 1
	}
	defer os.RemoveAll(dir)
	winnow = filepath.Join(dir, "winnow")
	build := exec.Command("go", "build", "-o", winnow, "./cmd/winnow")
	build.Dir, build.Stderr = "../..", os.Stderr
	if err := build.Run(); err != nil {
		fmt.Fprintln(os.Stderr, "e2e/agents: the command does not build:", err)
		return 1
	}
	return m.Run()
}

// process is winnow as a process of its own.
type process struct {
	url string
	cmd *exec.Cmd
	log *bytes.Buffer
}

// start starts the command and waits for the address that it prints first.
func start(t *testing.T, args ...string) *process {
	t.Helper()
	p := &process{cmd: exec.Command(winnow, args...), log: &bytes.Buffer{}}
	p.cmd.Stderr = p.log
	out, err := p.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := p.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatalf("winnow %s printed no address: %v\n%s", args[0], err, p.log)
	}
	p.url = "http://" + strings.TrimSpace(line)
	t.Cleanup(func() { p.end() })
	return p
}

// end ends the process and waits for it.
func (p *process) end() {
	_ = p.cmd.Process.Signal(syscall.SIGTERM)
	_ = p.cmd.Wait() // how it ended is not what is tried here
}

// kill ends it as a crash does.
func (p *process) kill() {
	_ = p.cmd.Process.Kill()
	_ = p.cmd.Wait()
}

// account is what the simulator tells of an agent's work.
type account struct {
	Name, Dialect                        string
	Steps, Done, Calls, Repeats, Retries int
	Rewrites                             int
	Ended                                bool
	GaveUp                               bool `json:"gave_up"`
	Due                                  int  `json:"facts_due"`
	Kept                                 int  `json:"facts_kept"`
	Recalled                             int  `json:"facts_recalled"`
	Reread                               int  `json:"facts_reread"`
	Lost                                 int  `json:"facts_lost"`
	Markers, Redeemed                    int
	Summaries, Others                    int

	// Of a driver that reads files.
	Facts []struct {
		Kind     string
		NearDue  int `json:"near_due"`
		NearKept int `json:"near_kept"`
		FarDue   int `json:"far_due"`
		FarKept  int `json:"far_kept"`
	}
	Missed            []string
	FirstCut          int `json:"first_cut"`
	Requests, Refused int
	Input             int
	CacheRead         int `json:"cache_read"`
	Dollars           float64
}

// asked is what the simulator was asked in all.
type asked struct {
	Accepted, Refused int
	RefusedBy         map[string]int `json:"refused_by"`
	Dollars           float64
	Tokens            struct{ Input int }
}

func getJSON(t *testing.T, address string, into any) {
	t.Helper()
	resp, err := http.Get(address)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	if err := json.NewDecoder(resp.Body).Decode(into); err != nil {
		t.Fatalf("%s: %v", address, err)
	}
}

// accounts are what the simulator tells of all agents.
func accounts(t *testing.T, sim string) []account {
	t.Helper()
	var doc struct{ Tasks []account }
	getJSON(t, sim+"/sim/drive", &doc)
	return doc.Tasks
}

// tap stands in front of a server and remembers the answers that went through it
// whole. onRequest, if set, is told the number of each request.
type tap struct {
	*httptest.Server
	mu        sync.Mutex
	answers   map[[sha256.Size]byte]int
	requests  int
	onRequest func(n int)
}

func newTap(t *testing.T, to string, onRequest func(n int)) *tap {
	t.Helper()
	u, err := url.Parse(to)
	if err != nil {
		t.Fatal(err)
	}
	p := &tap{answers: map[[sha256.Size]byte]int{}, onRequest: onRequest}
	proxy := &httputil.ReverseProxy{
		Rewrite:       func(r *httputil.ProxyRequest) { r.SetURL(u) },
		FlushInterval: -1,
		ErrorHandler:  func(w http.ResponseWriter, _ *http.Request, _ error) { w.WriteHeader(http.StatusBadGateway) },
		ModifyResponse: func(r *http.Response) error {
			if r.StatusCode == http.StatusOK && r.Request.Method == http.MethodPost {
				r.Body = &tapped{ReadCloser: r.Body, tap: p}
			}
			return nil
		},
	}
	p.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodPost {
			p.mu.Lock()
			p.requests++
			n := p.requests
			p.mu.Unlock()
			if err := keepBody(r, n); err != nil {
				t.Error(err)
			}
			if p.onRequest != nil {
				p.onRequest(n)
			}
		}
		// Else the server takes the end of a request away from the proxy when the answer
		// begins, which then breaks off, now and then.
		if err := http.NewResponseController(w).EnableFullDuplex(); err != nil {
			t.Error(err)
		}
		proxy.ServeHTTP(w, r)
	}))
	t.Cleanup(p.Close)
	return p
}

// keepBody writes what a request says into the folder that WINNOW_BODIES names: the
// view that a model gets, for people who want to know what it lacks.
func keepBody(r *http.Request, n int) error {
	dir := os.Getenv("WINNOW_BODIES")
	if dir == "" {
		return nil
	}
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return err
	}
	r.Body = io.NopCloser(bytes.NewReader(body))
	return os.WriteFile(filepath.Join(dir, fmt.Sprintf("%s-%03d.json", r.Host, n)), body, 0o600)
}

// tapped is an answer on its way.
type tapped struct {
	io.ReadCloser
	tap  *tap
	seen bytes.Buffer
}

// Read passes bytes on and takes note of the whole at its end.
func (b *tapped) Read(to []byte) (int, error) {
	n, err := b.ReadCloser.Read(to)
	b.seen.Write(to[:n])
	if errors.Is(err, io.EOF) {
		b.tap.mu.Lock()
		b.tap.answers[sha256.Sum256(b.seen.Bytes())]++
		b.tap.mu.Unlock()
	}
	return n, err
}

// foreign counts answers that came out of a tap and never went into the other.
func (p *tap) foreign(from *tap) int {
	p.mu.Lock()
	defer p.mu.Unlock()
	from.mu.Lock()
	defer from.mu.Unlock()
	n := 0
	for sum := range p.answers {
		if from.answers[sum] == 0 {
			n++
		}
	}
	return n
}

// freePort is an address that nobody listens on.
func freePort(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().String()
}

// folder is where an agent works.
func (a agent) folder(dir string) string { return filepath.Join(dir, a.name, "work") }

// prepare makes an agent's home and folder, and writes its settings, where nobody
// wrote them before and more into them.
func (a agent) prepare(dir, gateway string) (home string, err error) {
	home = filepath.Join(dir, a.name, "home")
	for _, d := range []string{home, a.folder(dir)} {
		if err := os.MkdirAll(d, 0o755); err != nil {
			return "", err
		}
	}
	if a.files == nil {
		return home, nil
	}
	for name, text := range a.files(gateway) {
		path := filepath.Join(home, name)
		if _, err := os.Stat(path); err == nil {
			continue
		}
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			return "", err
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			return "", err
		}
	}
	return home, nil
}

// environment are an agent's variables.
func (a agent) environment(dir, gateway string) []string {
	home := filepath.Join(dir, a.name, "home")
	env := append(os.Environ(), "PWD="+a.folder(dir), "HOME="+home, "XDG_CONFIG_HOME="+home+"/.config", "XDG_DATA_HOME="+home+"/.local/share", "XDG_CACHE_HOME="+home+"/.cache", "CI=1")
	if a.node != "" { // installed beside the agent
		env = append(env, "PATH="+filepath.Dir(a.program)+string(filepath.ListSeparator)+os.Getenv("PATH"))
	}
	if a.env != nil {
		env = append(env, a.env(gateway)...)
	}
	return env
}

// work runs an agent in a home and a folder of its own and returns what it
// printed. A gateway of "" is for an agent that something else points; before is
// what stands in front of its command.
func (a agent) work(t *testing.T, dir, gateway string, before ...string) (output string, err error) {
	t.Helper()
	home, err := a.prepare(dir, gateway)
	if err != nil {
		return "", err
	}
	env := a.environment(dir, gateway)
	ctx, stop := context.WithTimeout(t.Context(), 30*time.Minute)
	defer stop()
	run := func(stdin io.Reader, args ...string) ([]byte, error) {
		cmd := exec.CommandContext(ctx, args[0], args[1:]...)
		cmd.Dir, cmd.Env, cmd.Stdin = a.folder(dir), env, stdin
		cmd.WaitDelay = 10 * time.Second
		out, err := cmd.CombinedOutput()
		if errors.Is(err, exec.ErrWaitDelay) {
			err = nil // it ended; something that it left behind has not
		}
		return out, err
	}
	if _, err := run(nil, "git", "init", "-q", "."); err != nil {
		return "", err
	}
	if a.login != nil {
		if out, err := run(strings.NewReader(a.key+"\n"), append([]string{a.program}, a.login...)...); err != nil {
			return string(out), err
		}
	}
	args := append([]string{a.program}, a.args(gateway, home)...)
	if len(before) > 0 {
		args = append(append(append([]string{}, before...), a.program, "--"), a.args(gateway, home)...)
	}
	out, err := run(nil, args...)
	return string(out), err
}

// ran are the parts that the agent's shell really ran, in order; those that were
// printed again for a fact are left out.
func (a agent) ran(t *testing.T, dir string) []string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(dir, a.name, "work", "drive.log"))
	if err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
	var parts []string
	for line := range strings.Lines(string(data)) {
		if fields := strings.Fields(line); len(fields) > 0 && !strings.HasSuffix(strings.TrimSpace(line), " again") {
			parts = append(parts, fields[0])
		}
	}
	return parts
}

// keyIn names the files below a folder, and the texts, that a key stands in.
func keyIn(t *testing.T, key, store string, texts ...string) []string {
	t.Helper()
	var found []string
	files, err := filepath.Glob(store + "*")
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		data, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		if bytes.Contains(data, []byte(key)) {
			found = append(found, f)
		}
	}
	for i, text := range texts {
		if strings.Contains(text, key) {
			found = append(found, fmt.Sprintf("text %d", i))
		}
	}
	return found
}

// text is what an address answers.
func text(t *testing.T, address string) string {
	t.Helper()
	resp, err := http.Get(address)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}
