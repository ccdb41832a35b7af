package app

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"
	"github.com/winnow-llm/winnow/gateway"
	"github.com/winnow-llm/winnow/internal/agents/table"
	"github.com/winnow-llm/winnow/transport"
)

func (a *app) wrapCommand() *cobra.Command {
	var f serveFlags
	var running string
	var list bool
	cmd := newCommand("wrap AGENT [-- ARGS]", "Run an agent behind a gateway", `
  winnow wrap claude
  winnow wrap codex -- exec "fix the build"
  winnow wrap --list
  winnow wrap --gateway http://127.0.0.1:8484 aider -- --model gpt-5

Starts a gateway on a free port for one run of an agent (or uses the one that
--gateway names), points the agent at it and runs the agent. --list shows the agents
that winnow knows: how each is pointed at the gateway, its window, and how its own
compaction is kept out of the way. No settings file of an agent is changed. Any other
program gets the variables that most agents read: OPENAI_BASE_URL, OPENAI_API_BASE,
ANTHROPIC_BASE_URL, ANTHROPIC_API_BASE and GOOGLE_GEMINI_BASE_URL. If an agent cannot
be wrapped, winnow prints the lines to put into its settings instead.

winnow recall and winnow mcp, if the agent runs them, ask this gateway: wrap sets
WINNOW_GATEWAY, and puts winnow on the agent's PATH. For an agent that can run neither,
--offer-tools declares recall, search_history and note in its requests and answers
the calls.

If one of these variables or the agent's own settings already name another provider,
the gateway sends requests of that kind there.

The window is that of the model in each request, as the registry has it, or the part
of it that the agent uses: Claude Code uses 200,000 tokens of some models unless their
name ends in [1m], and Codex has a number of its own for each. --window sets another.
Part of the window is the output reserve, which is kept free for the answer: a quarter
more than the longest recent answer; at first 16,000 tokens, or a fifth of the window
if that is less. With --window 40000 that leaves 32,000 for the prompt.
--output-reserve lowers it.

The agent gets the terminal, its signals and its input. The exit code is the agent's
own (128 plus the signal's number if a signal ended it).

At the start, standard error says how the agent was pointed at the gateway, which
window holds and why, and when the gateway compacts. At the end it has an account: how
many requests went through, and which passed unchanged and why; tokens saved, repairs,
and each cut with its reason; how often files were read again after a cut; the share
of the prompts from the provider's cache; and the dollars beside those of the same
requests uncut, also where winnow cost more. --quiet prints neither.`, func(cmd *cobra.Command, args []string) error {
		if list {
			return cobra.NoArgs(cmd, args)
		}
		return cobra.MinimumNArgs(1)(cmd, args)
	}, nil)
	f.addTo(cmd)
	cmd.Flags().StringVar(&running, "gateway", "", "`URL` of a gateway that is already running")
	cmd.Flags().BoolVar(&list, "list", false, "list the agents that winnow knows, and how each is pointed at the gateway")
	cmd.Flags().SetInterspersed(false)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if list {
			return a.listAgents(cmd)
		}
		program, rest := args[0], args[1:]
		if len(rest) > 0 && rest[0] == "--" {
			rest = rest[1:]
		}
		if running == "" {
			return a.wrapAgent(cmd, &f, program, rest)
		}
		if err := checkReachable(cmd.Context(), running); err != nil {
			return err
		}
		p, err := a.pointAgent(running, program, rest)
		if err != nil {
			return err
		}
		return a.runAgent(p, variableGateway+"="+running)
	}
	return cmd
}

// wrapAgent runs an agent behind a gateway of its own.
func (a *app) wrapAgent(cmd *cobra.Command, f *serveFlags, program string, args []string) error {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return fmt.Errorf("cannot listen on this machine: %w", err)
	}
	defer l.Close() //nolint:errcheck // the gateway closes it, if there is one
	at := "http://" + l.Addr().String()
	p, err := a.pointAgent(at, program, args)
	if err != nil {
		return err
	}
	defer p.removeFiles()
	// Ctrl-C is the agent's to answer: the gateway goes on until it ends.
	ctx, stop := context.WithCancel(context.WithoutCancel(cmd.Context()))
	defer stop()
	f.upstreams = a.upstreamsFor(f.upstreams, p.upstreams)
	o, store, err := f.gatewayOptions(ctx, a)
	if err != nil {
		return err
	}
	defer store.Close()
	window, err := p.describeWindow(&o.Transport)
	if err != nil {
		return err
	}
	p.note("%s", window)
	if note := summaryNote(&o.Transport); note != "" {
		p.note("%s", note)
	}
	o.Grace = 2 * time.Second // the agent is gone by then
	o.Transport.Label, o.Transport.Credentials.Refreshed = rand.Text(), true
	o.Transport.Agent, o.Transport.CompactionOff = p.known.Name, p.off
	o.Transport.Folder, _ = os.Getwd() // without one the conversations are of no folder
	g, err := newGateway(&o)
	if err != nil {
		return err
	}
	began := time.Now()
	ended := make(chan error, 1)
	go func() { ended <- g.Serve(ctx, l) }()
	err = a.runAgent(p, recallVariables(ctx, at, f.store, store, o.Transport.Label)...)
	stop()
	served := <-ended
	if err == nil || errors.As(err, new(*agentExit)) {
		stats := g.Stats()
		a.say("%s", describeSavings(filepath.Base(program), stats))
		if account, err := g.Account(context.WithoutCancel(cmd.Context()), began); err == nil && stats.Requests > 0 {
			for _, line := range accountLines(&account, &stats) {
				a.say("%s", line)
			}
		}
	}
	return cmp.Or(err, served)
}

// checkReachable asks a gateway whether it is there: an agent that is sent to a place
// where nobody answers fails later, and with words about something else.
func checkReachable(ctx context.Context, address string) error {
	if _, err := parseGateway(address); err != nil {
		return err
	}
	ctx, stop := context.WithTimeout(ctx, 10*time.Second)
	defer stop()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, strings.TrimRight(address, "/")+"/healthz", http.NoBody)
	if err != nil {
		return err
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return fmt.Errorf("no gateway answers at %s: %w; start one with winnow serve, or leave --gateway out", address, withoutURL(err))
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return fmt.Errorf("what answers at %s is not a gateway: /healthz gives %s; start one with winnow serve, or leave --gateway out", address, resp.Status)
	}
	return nil
}

// describeSavings says in one line what a gateway did for an agent.
func describeSavings(agent string, s transport.Stats) string {
	if s.Requests == 0 {
		line := agent + " sent no conversation through the gateway: if it asked a model, those requests bypassed it; winnow wrap --list shows how agents are pointed"
		if s.Passed > 0 {
			line = fmt.Sprintf("%s; %s of another kind passed", line, plural(int(s.Passed), "request"))
		}
		return line
	}
	line := fmt.Sprintf("%s through the gateway, %s made", plural(int(s.Requests), "request"), plural(int(s.Plans), "plan"))
	if s.Saved > 0 {
		line += fmt.Sprintf("; %s tokens were not sent", number(int(s.Saved)))
	}
	for _, did := range []struct {
		n          int64
		noun, text string
	}{
		{s.Recovered, "request", "; %s refused by the provider, mended and sent again"},
		{s.Ahead, "request", "; %s sent with less output asked for, since the window had no room for more"},
		{s.NewestCut, "request", "; in %s the newest tool results did not fit and were shortened"},
		{s.Cut, "request", "; of %s the server counted fewer tokens than were sent, so it may have cut them: raise its window (Ollama: num_ctx), or set --window"},
		{s.Redeemed, "call", "; the gateway answered %s of the model for what is hidden"},
	} {
		if did.n > 0 {
			line += fmt.Sprintf(did.text, plural(int(did.n), did.noun))
		}
	}
	var why []string
	total := 0
	for _, r := range slices.Sorted(maps.Keys(s.PassedBy)) {
		total += int(s.PassedBy[r])
		why = append(why, fmt.Sprintf("%s %d", r, s.PassedBy[r]))
	}
	if total > 0 {
		line += fmt.Sprintf("; %s passed untouched (%s)", plural(total, "request"), strings.Join(why, ", "))
	}
	return line
}

// agentExit is the error of an agent that failed: its exit code becomes ours.
type agentExit struct{ code int }

// Error says it for those who look at the error and not at the code.
func (e *agentExit) Error() string { return fmt.Sprintf("the agent ended with exit status %d", e.code) }

// exitOf returns the code that a shell would report for a process.
func exitOf(p *os.ProcessState) int {
	if s, ok := p.Sys().(syscall.WaitStatus); ok && s.Signaled() {
		return 128 + int(s.Signal())
	}
	return p.ExitCode()
}

// baseURLs are the variables that tell agents where a provider is.
var baseURLs = []struct{ variable, upstream, suffix string }{
	{"OPENAI_BASE_URL", "openai", "/v1"},
	{"OPENAI_API_BASE", "openai", "/v1"},
	{"ANTHROPIC_BASE_URL", "anthropic", ""},
	{"ANTHROPIC_API_BASE", "anthropic", ""},
	{"GOOGLE_GEMINI_BASE_URL", "gemini", ""},
}

// upstreamsFor completes the upstreams that flags name: with those that the
// environment names, then with those of the agent's own settings, then with the
// providers' own.
func (a *app) upstreamsFor(flags []string, own map[string]string) []string {
	all := append([]string(nil), flags...)
	has := func(name string) bool {
		return slices.ContainsFunc(all, func(u string) bool { return strings.HasPrefix(u, name+"=") })
	}
	for _, b := range baseURLs {
		if v := a.getenv(b.variable); v != "" && !has(b.upstream) {
			all = append(all, b.upstream+"="+strings.TrimRight(v, "/"))
		}
	}
	for _, name := range slices.Sorted(maps.Keys(own)) {
		if !has(name) {
			all = append(all, name+"="+own[name])
		}
	}
	for _, u := range gateway.Defaults() {
		if !has(u.Name) {
			all = append(all, u.Name+"="+u.URL)
		}
	}
	return all
}

// agentEnvironment points agents at a gateway.
func (a *app) agentEnvironment(url string) []string {
	env := a.environ()
	for _, b := range baseURLs {
		env = append(env, b.variable+"="+url+b.suffix)
	}
	// The gateway is on this machine, whatever proxy leads elsewhere.
	for _, pair := range [][2]string{{"HTTP_PROXY", "NO_PROXY"}, {"http_proxy", "no_proxy"}, {"ALL_PROXY", "NO_PROXY"}, {"all_proxy", "no_proxy"}} {
		if a.getenv(pair[0]) != "" {
			env = append(env, pair[1]+"="+strings.TrimPrefix(a.getenv(pair[1])+",127.0.0.1,localhost", ","))
		}
	}
	return env
}

// pointAgent prepares a program to talk to the gateway at url. Its files must be
// removed when the program has ended.
func (a *app) pointAgent(url, program string, args []string) (*pointing, error) {
	url = strings.TrimRight(url, "/")
	p := &pointing{app: a, url: url, program: program, args: args, env: a.agentEnvironment(url), upstreams: map[string]string{}}
	known, ok := table.Find(program)
	if !ok {
		return p, nil
	}
	if known.Refused != "" {
		return nil, refuseAgent(&known, known.Refused)
	}
	home, err := os.UserHomeDir()
	if err != nil {
		return nil, err
	}
	p.home, p.known, p.off = home, known, known.Own.Off
	if program == known.Name || slices.Contains(known.Aliases, program) {
		p.program = known.Program
	}
	dir, err := os.MkdirTemp("", "winnow-wrap-")
	if err != nil {
		return nil, err
	}
	p.dirs = []string{dir}
	if point := pointFuncs[known.Name]; point != nil {
		if err := point(p); err != nil {
			p.removeFiles()
			return nil, err
		}
	}
	p.notes = append([]string{fmt.Sprintf("%s is pointed at the gateway (%s); its own compaction is %s", known.Title, known.Pointed, known.Compaction)}, p.notes...)
	return p, nil
}

// addWinnow puts this program on the agent's PATH where no winnow is there: views
// say that winnow recall shows what they leave out. Codex runs login shells, in which
// the system's profile may set another PATH; bash takes functions from the environment
// in these too.
func (p *pointing) addWinnow() error {
	self, err := os.Executable()
	if err != nil {
		return err
	}
	name := "winnow"
	if runtime.GOOS == "windows" {
		name += ".exe"
	} else {
		p.setEnv("BASH_FUNC_winnow%%", "() { '"+strings.ReplaceAll(self, "'", `'\''`)+`' "$@"; }`)
	}
	if onPath(name) != "" {
		return nil
	}
	dir, err := os.MkdirTemp("", "winnow-wrap-")
	if err != nil {
		return err
	}
	p.dirs = append(p.dirs, dir)
	p.env = append(p.env, "PATH="+p.app.getenv("PATH")+string(filepath.ListSeparator)+dir)
	return os.Symlink(self, filepath.Join(dir, name))
}

// removeFiles removes the folders written for the agent.
func (p *pointing) removeFiles() {
	for _, dir := range p.dirs {
		_ = os.RemoveAll(dir) // nothing else is in it
	}
}

// runAgent runs an agent that talks to a gateway, as if it had been started in
// our place, and says the notes once it has started. The error is an [*agentExit]
// where the agent failed.
func (a *app) runAgent(p *pointing, env ...string) error {
	defer p.removeFiles()
	if err := p.addWinnow(); err != nil {
		a.say("winnow is not on the agent's PATH, so the agent cannot run winnow recall: %s", causeText(err))
	}
	cmd := exec.Command(p.program, p.args...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = a.stdin, plainFile(a.stdout), plainFile(a.stderr)
	cmd.Env = append(p.env, env...)
	cmd.WaitDelay = 5 * time.Second // for what the agent left behind that holds its output
	// Signals are caught before the agent starts: it must not outlive us.
	signals := make(chan os.Signal, 8)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGQUIT)
	defer signal.Stop(signals)
	if err := cmd.Start(); err != nil {
		if errors.Is(err, exec.ErrNotFound) || errors.Is(err, os.ErrNotExist) {
			return fmt.Errorf("there is no program %s; check its name and your PATH", p.program)
		}
		return fmt.Errorf("%s cannot be started: %s", p.program, causeText(err))
	}
	for _, note := range p.notes {
		a.say("%s", note)
	}
	done := make(chan struct{})
	defer close(done)
	go func() {
		for {
			select {
			case s := <-signals:
				// The keys of a terminal reach the agent by themselves.
				if (s == os.Interrupt || s == syscall.SIGQUIT) && a.terminalInput() != nil {
					continue
				}
				_ = cmd.Process.Signal(s) // it may have ended just now
			case <-done:
				return
			}
		}
	}()
	err := cmd.Wait()
	var exit *exec.ExitError
	switch {
	case errors.As(err, &exit):
		return &agentExit{exitOf(exit.ProcessState)}
	case errors.Is(err, exec.ErrWaitDelay):
		return nil // it ended well; something that it started has not
	}
	return err
}

// plainFile returns the file behind our own standard output or standard error, so
// that the agent gets it and not a pipe to us.
func plainFile(w io.Writer) io.Writer {
	if f := fileOf(w); f != nil {
		return f
	}
	return unfilteredWriter(w)
}
