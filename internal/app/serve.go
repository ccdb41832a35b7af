package app

import (
	"bufio"
	"context"
	"crypto/tls"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"os"
	"path/filepath"
	"runtime/debug"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"github.com/winnow-llm/winnow/control"
	"github.com/winnow-llm/winnow/gateway"
	"github.com/winnow-llm/winnow/internal/app/jobs"
	"github.com/winnow-llm/winnow/internal/pg"
	"github.com/winnow-llm/winnow/internal/planstore"
	"github.com/winnow-llm/winnow/model"
	"github.com/winnow-llm/winnow/recall/mcpserver"
	"github.com/winnow-llm/winnow/session"
	"github.com/winnow-llm/winnow/transport"
	"github.com/winnow-llm/winnow/transport/planstore/postgres"
	"github.com/winnow-llm/winnow/transport/planstore/sqlite"
)

const serveHelp = `
  winnow serve
  ANTHROPIC_BASE_URL=http://127.0.0.1:8484 claude
  winnow serve --listen 127.0.0.1:0 --upstream openai=https://api.openai.com

Runs the gateway. Agents in any language send their requests to it instead of to the
provider, and their conversations stay inside the model's window. Nothing else
changes: credentials pass through and are not stored, and answers are the
provider's own. By default the gateway listens on this machine only.

Requests go to the upstreams and nowhere else. NAME is openai, anthropic or gemini;
requests reach an upstream with another name under /NAME/… or through the header
Winnow-Upstream. Without --upstream the upstreams are the providers' own addresses.
To try it without a key:

  winnow sim --listen 127.0.0.1:8485 --window 16000
  winnow serve --upstream anthropic=http://127.0.0.1:8485 --window 16000

Point programs at it (PORT is the port it listens on), or let winnow wrap do so:

AGENTS
  OpenAI SDKs    OPENAI_BASE_URL=http://127.0.0.1:PORT/v1
  Anthropic SDKs ANTHROPIC_BASE_URL=http://127.0.0.1:PORT
  Google SDKs    GOOGLE_GEMINI_BASE_URL=http://127.0.0.1:PORT
  aider          OPENAI_API_BASE=http://127.0.0.1:PORT/v1 aider

Local servers (Ollama, llama.cpp, vLLM, LM Studio) are asked for the window that they
have given an open model. --window sets the window of all models. Part of the window
is the output reserve, which is kept free for the answer: a quarter more than the
longest recent answer; at first 16,000 tokens, or a fifth of the window if that is
less. With --window 40000 that leaves 32,000 for the prompt. --output-reserve lowers it:
--output-reserve 4000 for all models, --output-reserve gpt-5=16000 for one.

Several gateways with --store postgres://USER@HOST/DATABASE share one store: any of
them can serve any conversation, and the provider sees the same bytes. The password
comes from PGPASSWORD, from a file named in the address (?password_file=PATH) or
from PGPASSFILE; see docs/fleet.md.

With --summarizer a model writes summaries ahead of time, in the background, once a
conversation is four fifths of the way to its next compaction. No request waits for
it: if a summary is not ready in time, the built-in summariser writes one. With
--summarizer same it is the model that the agent itself talks to, paid with the
agent's own credential, which is held while the summary is written and kept nowhere:
one reads at most about 26,000 tokens. A line at the start says what that costs.

With --keys callers must send one of the gateway's own keys in the header
Winnow-Key; the file has a line "TENANT KEY" for each. Agents have their own
settings for extra headers; for Claude Code it is
ANTHROPIC_CUSTOM_HEADERS="Winnow-Key: KEY". Without --keys, callers with the same
credential are one tenant. On this machine an access token that its client renews
(OAuth) stays the same tenant. Beyond this machine each new token is another tenant,
which starts without plans: use keys there. To listen beyond this machine, give --keys,
or --allow-keyless if nobody else can reach it.

The gateway serves its own pages (/, /metrics, /winnow/…) only under loopback names,
the address that it listens on, and names given with --host, so that web pages from
elsewhere cannot read them. Calls, /healthz and /readyz accept any name.

Answers carry Winnow-Tokens (the counted size of the prompt) and, if a plan was
applied, Winnow-Plan. See also GET /healthz, /readyz, /metrics, and with the credential or
key of the conversation /winnow/conversations, /winnow/conversations/ID,
/winnow/plans/ID/report, /winnow/recall/HANDLE and /winnow/search?q=WORDS.
/mcp has the last two as tools for models (see winnow help mcp).

Reports and recall need the conversation. The gateway holds it in memory while it is
in use, and with --keep-originals in the store too. With --offer-tools the model can
recall by itself, also where its agent has neither a shell nor MCP: the agent sees
neither call nor result. If OTEL_EXPORTER_OTLP_ENDPOINT
is set, the gateway sends traces there (OTLP over HTTP, GenAI names, no content).

The first line of output is the address that the gateway listens on. A line on
standard error says which window holds, and the log which one each model has.`

// serveFlags are the flags of commands that start a gateway.
type serveFlags struct {
	options gateway.Options // what flags say as it is

	flags               *pflag.FlagSet
	upstreams, reserves []string
	store               string
	size, memory        int
	age                 time.Duration
	pruned              bool // by jobs
}

func (f *serveFlags) addTo(cmd *cobra.Command) {
	t := &f.options.Transport
	f.flags = cmd.Flags()
	cmd.Flags().StringArrayVar(&f.upstreams, "upstream", nil, "`NAME=URL` of a provider (repeatable)")
	cmd.Flags().StringVar(&f.store, "store", "", "`PATH` of the file with the plans, postgres://USER@HOST/DATABASE for several gateways, or \"memory\" (default: in the user's cache folder)")
	addPreset(cmd)
	addEstimator(cmd)
	tokensVar(cmd.Flags(), new(int), "window", 0, "window of all models in `TOKENS`, instead of the registry's; part of it is the output reserve, see --output-reserve")
	cmd.Flags().StringArrayVar(&f.reserves, "output-reserve", nil, "most `[MODEL=]TOKENS` of output reserve, kept free for the answer (repeatable; default: learned from answers, 16,000 or a fifth of the window at first)")
	cmd.Flags().String("summarizer", "", "what writes summaries, in the background: builtin (the default), same (the agent's own model, on its own credential) or a model, as `PROVIDER/MODEL`")
	cmd.Flags().Float64Var(&t.SummaryCap, "summary-cap", 0, "most `DOLLARS` a day for summaries by a model; after that the built-in summariser writes them (default: no limit)")
	cmd.Flags().IntVar(&f.memory, "memory-size", 512, "most `MB` of recent conversations to hold in memory, so that only the new part of a request must be parsed")
	cmd.Flags().BoolVar(&t.KeepOriginals, "keep-originals", false, "also store whole conversations, so that recall works after a restart")
	cmd.Flags().BoolVar(&t.OfferTools, "offer-tools", false, "declare recall, search_history and note in every request and answer their calls, for agents that have neither a shell nor MCP")
	cmd.Flags().DurationVar(&f.age, "store-age", 30*24*time.Hour, "`TIME` that the store keeps a plan after its last use")
	cmd.Flags().IntVar(&f.size, "store-size", 0, "most `MB` of plans in the store, and again as much of conversations; the oldest go first (default 1024, in memory 256)")
	cmd.Flags().StringArrayVar(&t.Credentials.Headers, "credential-header", nil, "`NAME` of another header that tells callers apart (repeatable)")
	cmd.Flags().StringArrayVar(&t.Credentials.Params, "credential-param", nil, "`NAME` of another query parameter that tells callers apart (repeatable)")
	cmd.Flags().BoolVar(&t.Observe, "observe", false, "only measure; send every request unchanged")
}

// gatewayOptions puts flags and settings together. The store must be closed.
func (f *serveFlags) gatewayOptions(ctx context.Context, a *app) (gateway.Options, planstore.Store, error) {
	o := f.options
	l, err := a.loadSettings()
	if err != nil {
		return o, nil, err
	}
	if err := setFlags(f.flags, &l.File); err != nil {
		return o, nil, err
	}
	registry, err := l.modelRegistry(f.reserves...)
	if err != nil {
		return o, nil, err
	}
	for _, text := range f.upstreams {
		name, address, ok := strings.Cut(text, "=")
		if !ok {
			return o, nil, usageErrorf("--upstream %s: write NAME=URL, for example openai=https://api.openai.com", text)
		}
		o.Upstreams = append(o.Upstreams, gateway.Upstream{Name: name, URL: address})
	}
	t := &o.Transport
	if t.Same = strings.TrimSpace(l.Summarizer) == sameName; t.Same {
		l.Summarizer = "" // no other is made
	}
	if t.Summarizer, err = a.newSummarizer(ctx, &l.File, registry); err != nil {
		return o, nil, err
	}
	if t.SummarizerTimeout, err = l.SummaryTime(); err != nil {
		return o, nil, err
	}
	if t.SummaryCap > 0 && t.Summarizer != nil {
		if t.SummaryPrices = registry.Lookup(l.Summarizer).Prices; !t.SummaryPrices.Known() {
			return o, nil, usageErrorf("--summary-cap %v: the price of %s is unknown; put its prices into a file and name it in the setting models_file", t.SummaryCap, l.Summarizer)
		}
	}
	o.Version = thisBuild().Version
	o.MCP = func(of func(*http.Request) control.Source) http.Handler { return mcpserver.Handler(o.Version, of) }
	t.Settings, t.Registry, t.Kinds, t.AskLocal, t.Memory = l.Settings, registry, l.Kinds(), true, int64(f.memory)<<20
	t.Settings.Disabled = !l.Auto()
	if l.Redact {
		t.Redact = &session.Redactor{}
	}
	t.Store, err = f.openPlanStore(ctx, a, l.Remembers())
	return o, t.Store, err
}

// newGateway makes a gateway. What is wrong with its options is wrong usage.
func newGateway(o *gateway.Options) (*gateway.Gateway, error) {
	g, err := gateway.New(o)
	if err != nil {
		return nil, usageErrorf("%s", strings.TrimPrefix(strings.TrimPrefix(err.Error(), "gateway: "), "transport: "))
	}
	return g, nil
}

// plansPath returns where the gateway keeps plans unless told otherwise.
func plansPath() (string, error) {
	dir, err := os.UserCacheDir()
	return filepath.Join(dir, "winnow", "plans.db"), err
}

// storeBounds returns the limits of the store.
func (f *serveFlags) storeBounds() planstore.Bounds {
	return planstore.Bounds{Age: f.age, Size: int64(f.size) << 20, Originals: int64(f.size) << 20}
}

// openPlanStore opens the store of plans. A store that cannot be used keeps nobody from
// working: plans are kept in memory then, and a line says so. What is in the file
// stays there. A database that several gateways share is another matter: without
// it they would not send the same bytes, so there is an error.
func (f *serveFlags) openPlanStore(ctx context.Context, a *app, remembers bool) (planstore.Store, error) {
	bounds, path := f.storeBounds(), f.store
	switch {
	case path == "memory", path == "" && !remembers:
		return planstore.NewMemory(bounds), nil
	case !remembers:
		return nil, errForgets
	}
	if pg.Is(path) {
		return openPostgres(ctx, path, &postgres.Options{Bounds: bounds, Application: "winnow serve", Timeout: 2 * time.Second, PrunedElsewhere: f.pruned, Log: a.storeLog()})
	}
	if path == "" {
		var err error
		if path, err = plansPath(); err != nil {
			a.say("plans are kept only in memory, because there is no cache folder for them: %v; name a file with --store", err)
			return planstore.NewMemory(bounds), nil
		}
	}
	s, err := sqlite.Open(path, bounds)
	if err != nil {
		a.say("plans are kept only in memory: %s", oneLine(strings.ReplaceAll(err.Error(), "planstore: ", "")))
		return planstore.NewMemory(bounds), nil
	}
	if err := s.Exposed(); err != nil {
		a.sayOnce(err.Error())
	}
	return s, nil
}

func (a *app) serveCommand() *cobra.Command {
	var f serveFlags
	var j jobFlags
	var listen, keys, cert, key string
	var keyless bool
	var maxBody int
	cmd := newCommand("serve", "Run the gateway, which keeps any agent inside its window", strings.Replace(serveHelp, "AGENTS\n", agentHelp(), 1), cobra.NoArgs, nil)
	f.addTo(cmd)
	j.addTo(cmd, 4)
	cmd.Flags().StringVar(&listen, "listen", "127.0.0.1:8484", "`ADDR` to listen on; port 0 picks a free port")
	cmd.Flags().StringVar(&f.options.Transport.Name, "name", "", "`NAME` of this gateway among those that share a store; pages show which one served what (default with PostgreSQL: the machine's)")
	cmd.Flags().StringVar(&keys, "keys", "", "`FILE` with the gateway's own keys")
	cmd.Flags().BoolVar(&keyless, "allow-keyless", false, "listen beyond this machine without --keys: anyone who can reach the gateway can use it")
	cmd.Flags().StringArrayVar(&f.options.Hosts, "host", nil, "another host `NAME` under which to serve the gateway's own pages, such as a load balancer's (repeatable)")
	cmd.Flags().StringVar(&cert, "tls-cert", "", "`FILE` with the certificate for HTTPS")
	cmd.Flags().StringVar(&key, "tls-key", "", "`FILE` with the certificate's key")
	cmd.Flags().IntVar(&maxBody, "max-body", 64, "largest request in `MB`")
	cmd.Flags().IntVar(&f.options.MaxConcurrent, "max-concurrent", 512, "most `CALLS` at the same time")
	cmd.Flags().DurationVar(&f.options.Timeout, "timeout", time.Hour, "most `TIME` for a call")
	cmd.Flags().DurationVar(&f.options.ReadTimeout, "read-timeout", 2*time.Minute, "most `TIME` for a request to arrive")
	cmd.Flags().DurationVar(&f.options.Grace, "grace", 30*time.Second, "`TIME` that running calls get to finish on shutdown")
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		f.pruned = pg.Is(f.store)
		o, store, err := f.gatewayOptions(cmd.Context(), a)
		if err != nil {
			return err
		}
		defer store.Close()
		window, err := windowLine(&o.Transport, "", "", model.Window{}, 0)
		if err != nil {
			return err
		}
		traces, sent, err := a.openTraces(cmd.Context())
		if err != nil {
			return err
		}
		defer sent()
		o.Tracer = traces
		if o.Transport.Name == "" && pg.Is(f.store) {
			o.Transport.Name, _ = os.Hostname()
		}
		o.MaxBody = int64(maxBody) << 20
		if o.Keys, err = readKeys(keys); err != nil {
			return err
		}
		if o.Keys == nil && !keyless && reachableFromOutside(listen) {
			return usageErrorf("--listen %s accepts other machines, and without keys anyone there can use the gateway; give callers keys with --keys FILE, or add --allow-keyless if nobody else can reach it", listen)
		}
		o.Transport.Credentials.Refreshed = o.Keys == nil && !reachableFromOutside(listen)
		if host, _, err := net.SplitHostPort(listen); err == nil && host != "" {
			if ip, err := netip.ParseAddr(host); err != nil || !ip.IsUnspecified() {
				o.Hosts = append(o.Hosts, host)
			}
		}
		if (cert == "") != (key == "") {
			return usageErrorf("--tls-cert and --tls-key belong together; give both")
		}
		if cert != "" {
			pair, err := tls.LoadX509KeyPair(cert, key)
			if err != nil {
				return fmt.Errorf("the certificate cannot be used: %w; check --tls-cert and --tls-key", err)
			}
			o.TLS = &tls.Config{Certificates: []tls.Certificate{pair}, MinVersion: tls.VersionTLS12}
		}
		if !a.quiet {
			o.Log = slog.New(slog.NewJSONHandler(a.stderr, nil))
		}
		if a.getenv("GOMEMLIMIT") == "" {
			debug.SetMemoryLimit(o.Transport.Memory*3/2 + 512<<20)
		}
		var g *gateway.Gateway
		var all *jobs.Jobs
		if owner, ok := store.(planstore.Owner); ok && f.pruned {
			prepare := func(ctx context.Context, x transport.Job) error { return g.Prepare(ctx, x) }
			if all, err = f.jobsOf(cmd.Context(), a, owner, max(1, j.workers), j.every, j.poll, traces, prepare); err != nil {
				return err
			}
			defer func() {
				last, end := context.WithTimeout(context.Background(), o.Grace)
				defer end()
				_ = all.Close(last)
			}()
			o.Transport.Jobs, o.Metrics = all, append(o.Metrics, all)
		}
		if g, err = newGateway(&o); err != nil {
			return err
		}
		if all != nil && j.workers > 0 {
			if err := all.Start(context.WithoutCancel(cmd.Context())); err != nil {
				return err
			}
		}
		return a.listenAndServe(cmd.Context(), listen, net.Addr.String, func(ctx context.Context, l net.Listener) error {
			base := "http://" + localAddress(l.Addr())
			if o.TLS != nil {
				base = "https://" + localAddress(l.Addr())
			}
			if path := g.OwnerAddress(); path != "" && !a.quiet && !a.asJSON {
				if _, err := fmt.Fprintf(a.stdout, "page (opens once, within 15 minutes): %s%s\n", base, path); err != nil {
					return err
				}
			}
			a.say("%s", window)
			if note := summaryNote(&o.Transport); note != "" {
				a.say("%s", note)
			}
			if isTerminal(a.stdout) {
				upstreams := o.Upstreams
				if len(upstreams) == 0 {
					upstreams = gateway.Defaults()
				}
				a.say("point programs here with %s; Ctrl-C stops it", whereTo(base, upstreams))
			}
			return g.Serve(ctx, l)
		})
	}
	return cmd
}

// readKeys reads the gateway's own keys; no file is none.
func readKeys(path string) (map[string]string, error) {
	if path == "" {
		return nil, nil
	}
	file, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("the keys cannot be read: %s; check --keys", causeText(err))
	}
	defer file.Close()
	keys := make(map[string]string)
	lines := bufio.NewScanner(file)
	for n := 1; lines.Scan(); n++ {
		words := strings.Fields(lines.Text())
		if len(words) == 0 || strings.HasPrefix(words[0], "#") {
			continue
		}
		if len(words) != 2 {
			return nil, fmt.Errorf("%s:%d: this is not a tenant and a key; write lines of the form TENANT KEY", path, n)
		}
		if keys[words[1]] != "" {
			return nil, fmt.Errorf("%s:%d: two tenants have this key; give each its own", path, n)
		}
		keys[words[1]] = words[0]
	}
	if err := lines.Err(); err != nil {
		return nil, fmt.Errorf("the keys cannot be read: %s; check --keys", causeText(err))
	}
	if len(keys) == 0 {
		return nil, fmt.Errorf("%s: it has no keys; write lines of the form TENANT KEY", path)
	}
	return keys, nil
}
