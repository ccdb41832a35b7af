//go:build unix

package main

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/winnow-llm/winnow"
	"github.com/winnow-llm/winnow/control"
	"github.com/winnow-llm/winnow/gateway"
	"github.com/winnow-llm/winnow/transport"
)

// errMiddle is why an agent was stopped in the middle of its work.
var errMiddle = errors.New("in the middle")

// resume is what the agent is told afterwards.
const resume = "Go on with the task and finish it."

// meter is the gateway that a run's requests go through. Alone, it compacts nothing and
// counts only.
type meter struct {
	*gateway.Gateway
	began time.Time

	// admit decides about each request by the totals before it. An agent whose
	// request is held has written down all that it did, so it can be stopped there.
	admit func(control.Totals) bool

	mu       sync.Mutex
	header   http.Header // of the last request: whose conversation it is
	answered bool
	status   int // of the last request that was refused, read when the agent is gone
}

// newMeter makes the gateway of a run.
func (b *bench) newMeter(arm string) (*meter, error) {
	o := gateway.Options{Upstreams: gateway.Defaults(), Grace: time.Second}
	for _, u := range b.upstreams {
		o.Upstreams = replaceUpstream(o.Upstreams, u)
	}
	o.Transport = transport.Options{Settings: winnow.Settings{Window: b.window}, Observe: arm == alone, Label: rand.Text()}
	g, err := gateway.New(&o)
	return &meter{Gateway: g, began: time.Now()}, err
}

func replaceUpstream(list []gateway.Upstream, u gateway.Upstream) []gateway.Upstream {
	for i := range list {
		if list[i].Name == u.Name {
			list[i] = u
			return list
		}
	}
	return append(list, u)
}

// ServeHTTP passes a request on and counts it.
func (m *meter) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.Method != http.MethodPost {
		m.Handler().ServeHTTP(w, r)
		return
	}
	a, err := m.Account(r.Context(), m.began)
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	if !m.admit(a.Totals) {
		<-r.Context().Done()
		return
	}
	m.mu.Lock()
	m.header = r.Header.Clone()
	m.mu.Unlock()
	s := &statusWriter{ResponseWriter: w, status: http.StatusOK}
	m.Handler().ServeHTTP(s, r)
	m.mu.Lock()
	if s.status < 300 {
		m.answered = true
	} else {
		m.status = s.status
	}
	m.mu.Unlock()
}

func (m *meter) wasAnswered() bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.answered
}

// statusWriter remembers the status of an answer.
type statusWriter struct {
	http.ResponseWriter
	status int
}

// WriteHeader notes the status.
func (s *statusWriter) WriteHeader(status int) {
	s.status = status
	s.ResponseWriter.WriteHeader(status)
}

// Unwrap lets the answer be flushed.
func (s *statusWriter) Unwrap() http.ResponseWriter { return s.ResponseWriter }

// compactLongest compacts the longest conversation, as its own agent may. It reports whether
// there was something to compact.
func (m *meter) compactLongest(ctx context.Context) (bool, error) {
	m.mu.Lock()
	header := m.header.Clone()
	m.mu.Unlock()
	ask := func(method, path, body string, into any) (int, error) {
		r := httptest.NewRequestWithContext(ctx, method, "http://127.0.0.1"+path, strings.NewReader(body))
		r.Header = header.Clone()
		r.Header.Set("Content-Type", "application/json")
		r.RemoteAddr = "127.0.0.1:1"
		w := httptest.NewRecorder()
		m.Handler().ServeHTTP(w, r)
		if w.Code != http.StatusOK {
			return w.Code, fmt.Errorf("%s: %d %s", path, w.Code, w.Body)
		}
		return w.Code, json.NewDecoder(w.Body).Decode(into)
	}
	var list struct{ Conversations []control.Conversation }
	if _, err := ask(http.MethodGet, "/winnow/conversations", "", &list); err != nil {
		return false, err
	}
	var longest *control.Conversation
	for i := range list.Conversations {
		if c := &list.Conversations[i]; longest == nil || c.Messages > longest.Messages {
			longest = c
		}
	}
	if longest == nil {
		return false, nil
	}
	var done control.Done
	code, err := ask(http.MethodPost, "/winnow/conversations/"+longest.ID+"/compact", fmt.Sprintf(`{"plan":%q}`, longest.Plan), &done)
	if code == http.StatusUnprocessableEntity {
		return false, nil // it is small
	}
	return err == nil, err
}

// runTask lets the agent work on a task in one way. An error is one of the
// machinery: the run does not count as a result then.
func (b *bench) runTask(ctx context.Context, t *task, r *row) (err error) {
	dir := filepath.Join(b.out, fmt.Sprintf("%s-%s-%d", t.name, r.Arm, r.Round))
	work, state := filepath.Join(dir, "work"), filepath.Join(dir, "state")
	if err := errors.Join(os.RemoveAll(dir), os.MkdirAll(state, 0o755)); err != nil {
		return err
	}
	if err := t.prepareFolder(ctx, work); err != nil {
		return fmt.Errorf("its sources cannot be fetched: %w", err)
	}
	log, err := os.Create(filepath.Join(dir, "agent.log"))
	if err != nil {
		return err
	}
	defer log.Close()
	m, err := b.newMeter(r.Arm)
	if err != nil {
		return err
	}
	defer m.Close()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, b.timeout)
	defer cancel()
	ctx, giveUp := context.WithCancelCause(ctx)
	defer giveUp(nil)
	first, middle := context.WithCancelCause(ctx)
	defer middle(nil)
	m.admit = func(total control.Totals) bool {
		switch {
		case b.budget > 0 && (total.Priced < total.Reported || total.Reported == 0 && total.Requests > 0 && m.wasAnswered()):
			giveUp(errors.New("the model's prices are unknown or its answers report no usage, so the budget cannot be kept; -budget 0 runs without one"))
		case b.budget > 0 && total.Dollars != nil && b.spent+*total.Dollars >= b.budget:
			giveUp(fmt.Errorf("the budget of $%.2f is spent", b.budget))
		case total.Requests >= b.stop && first.Err() == nil:
			middle(errMiddle)
		default:
			return true
		}
		return false
	}
	server := &http.Server{Handler: m, ReadHeaderTimeout: time.Minute}
	go func() { _ = server.Serve(listener) }()
	defer server.Close()
	defer func() {
		a, aerr := m.Account(context.WithoutCancel(ctx), m.began)
		r.Minutes, r.Steps, r.Priced = time.Since(m.began).Minutes(), a.Totals.Requests, a.Totals.Priced > 0 && a.Totals.Priced == a.Totals.Reported
		if a.Totals.Dollars != nil {
			r.Dollars = *a.Totals.Dollars
		}
		err = errors.Join(err, aerr)
	}()

	env := b.agentEnvironment(r.Arm, "BASE=http://"+listener.Addr().String(), "STATE="+state, "INSTRUCTION="+t.Instruction, "RESUME="+resume)
	runAgent(first, b.agent.Start, work, env, log)
	if r.Stopped = errors.Is(context.Cause(first), errMiddle); r.Stopped && ctx.Err() == nil {
		switch {
		case r.Arm == withWinnow:
			if r.Compacted, err = m.compactLongest(ctx); err != nil {
				return fmt.Errorf("it cannot be compacted: %w", err)
			}
		case b.agent.Compact != "":
			runAgent(ctx, b.agent.Compact, work, env, log)
			r.Compacted = true
		}
		runAgent(ctx, b.agent.Resume, work, env, log)
	}
	if cause := context.Cause(ctx); cause != nil && !errors.Is(cause, context.DeadlineExceeded) {
		return cause
	}
	if !m.wasAnswered() {
		return fmt.Errorf("the agent got no answer (the last status was %d); see %s", m.status, log.Name())
	}
	test, stop := context.WithTimeout(context.WithoutCancel(ctx), b.timeout)
	defer stop()
	r.Solved, err = t.runHiddenTests(test, work, filepath.Join(dir, "test.log"))
	return err
}

// agentEnvironment returns the variables of an agent; those of its description may use the
// run's own.
func (b *bench) agentEnvironment(arm string, own ...string) []string {
	value := func(name string) string {
		for _, v := range own {
			if text, ok := strings.CutPrefix(v, name+"="); ok {
				return text
			}
		}
		return os.Getenv(name)
	}
	env := append(os.Environ(), own...)
	maps := []map[string]string{b.agent.Env}
	if arm == withWinnow {
		maps = append(maps, b.agent.Winnow)
	}
	for _, m := range maps {
		for name, text := range m {
			env = append(env, name+"="+os.Expand(text, value))
		}
	}
	return env
}

// runAgent runs lines of shell with all that they start, until they end or are to end.
// How they end does not matter: the tests tell.
func runAgent(ctx context.Context, lines, dir string, env []string, log io.Writer) {
	cmd := exec.CommandContext(ctx, "sh", "-c", lines)
	cmd.Dir, cmd.Env, cmd.Stdout, cmd.Stderr = dir, env, log, log
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGINT) }
	cmd.WaitDelay = 10 * time.Second
	err := cmd.Run()
	if cmd.Process != nil {
		_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) // whatever it left behind
	}
	fmt.Fprintf(log, "\n--- ended: %v\n", err)
}
