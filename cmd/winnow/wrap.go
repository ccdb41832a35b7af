package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"
	"github.com/winnow-llm/winnow/gateway"
)

func (a *app) wrapCommand() *cobra.Command {
	var f serveFlags
	var running string
	cmd := &cobra.Command{
		Use:   "wrap AGENT [-- ARGS]",
		Short: "Run an agent with its base URL pointed at a gateway",
		Example: `  winnow wrap claude
  winnow wrap codex -- exec "fix the build"
  winnow wrap --gateway http://127.0.0.1:8484 aider -- --model gpt-5`,
		Long: `Starts a gateway for one run of an agent, or takes the one that --gateway names,
and runs the agent with the variables set that point it there:
OPENAI_BASE_URL, OPENAI_API_BASE, ANTHROPIC_BASE_URL and GOOGLE_GEMINI_BASE_URL.
Codex gets its base URL as an option. Where one of these variables is set already
to another provider, that is where the gateway sends requests of its kind.`,
		Args: cobra.MinimumNArgs(1),
	}
	f.add(cmd)
	cmd.Flags().StringVar(&running, "gateway", "", "`URL` of a gateway that runs already")
	cmd.Flags().SetInterspersed(false)
	cmd.RunE = a.work(func(cmd *cobra.Command, args []string) error {
		rest := args[1:]
		if len(rest) > 0 && rest[0] == "--" {
			rest = rest[1:]
		}
		if running != "" {
			return a.runAgent(cmd.Context(), running, args[0], rest)
		}
		f.upstreams = a.upstreamsFor(f.upstreams)
		o, store, err := f.options(a)
		if err != nil {
			return err
		}
		defer store.Close()
		g, err := gateway.New(o)
		if err != nil {
			return usagef("%s", strings.TrimPrefix(err.Error(), "gateway: "))
		}
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			return fmt.Errorf("cannot listen on this machine: %w", err)
		}
		ctx, stop := context.WithCancel(cmd.Context())
		ended := make(chan error, 1)
		go func() { ended <- g.Serve(ctx, l) }()
		err = a.runAgent(ctx, "http://"+l.Addr().String(), args[0], rest)
		stop()
		if s := g.Stats(); s.Plans > 0 {
			a.say("%d plans were made; %s tokens were not sent", s.Plans, number(int(s.Saved)))
		}
		return errors.Join(err, <-ended)
	})
	return cmd
}

// baseURLs are the variables that tell agents where a provider is.
var baseURLs = []struct{ variable, upstream, suffix string }{
	{"OPENAI_BASE_URL", "openai", "/v1"},
	{"OPENAI_API_BASE", "openai", "/v1"},
	{"ANTHROPIC_BASE_URL", "anthropic", ""},
	{"GOOGLE_GEMINI_BASE_URL", "gemini", ""},
}

// upstreamsFor completes the upstreams that flags name: with those that the
// environment names, then with the providers' own.
func (a *app) upstreamsFor(flags []string) []string {
	all := append([]string(nil), flags...)
	has := func(name string) bool {
		for _, u := range all {
			if strings.HasPrefix(u, name+"=") {
				return true
			}
		}
		return false
	}
	for _, b := range baseURLs {
		if v := a.getenv(b.variable); v != "" && !has(b.upstream) {
			all = append(all, b.upstream+"="+strings.TrimRight(v, "/"))
		}
	}
	for _, u := range gateway.Defaults() {
		if !has(u.Name) {
			all = append(all, u.Name+"="+u.URL)
		}
	}
	return all
}

// runAgent runs an agent that talks to a gateway.
func (a *app) runAgent(ctx context.Context, url, agent string, args []string) error {
	url = strings.TrimRight(url, "/")
	if strings.TrimSuffix(filepath.Base(agent), ".exe") == "codex" {
		args = append([]string{"-c", fmt.Sprintf("openai_base_url=%q", url+"/v1")}, args...)
	}
	cmd := exec.CommandContext(ctx, agent, args...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = a.stdin, a.stdout, a.stderr
	cmd.Env = a.environ()
	for _, b := range baseURLs {
		cmd.Env = append(cmd.Env, b.variable+"="+url+b.suffix)
	}
	// The keys that end a program are the agent's to answer.
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, os.Interrupt)
	defer signal.Stop(signals)
	err := cmd.Run()
	var exit *exec.ExitError
	switch {
	case errors.As(err, &exit):
		return fmt.Errorf("%s ended with %s", agent, exit.ProcessState)
	case errors.Is(err, exec.ErrNotFound):
		return fmt.Errorf("there is no program %s; check its name and the PATH", agent)
	}
	return err
}
