package app

import (
	"cmp"
	"context"
	"fmt"
	"net"
	"net/http"
	"time"

	"github.com/spf13/cobra"
	"github.com/winnow-llm/winnow/internal/kit/providersim"
	"github.com/winnow-llm/winnow/internal/o200k"
	"github.com/winnow-llm/winnow/model"
	"github.com/winnow-llm/winnow/token"
)

// What an agent can be driven to do.
const (
	driveParts = "parts"
	driveFiles = "files"
)

func (a *app) simCommand() *cobra.Command {
	var listen, name string
	var window int
	var seed uint64
	var exact bool
	var drive, folder string
	var sources []string
	var driven providersim.DriveOptions
	cmd := newCommand("sim", "Run a simulated provider, to try winnow without a key", `
  winnow sim --listen 127.0.0.1:8485 --window 16000
  curl http://127.0.0.1:8485/sim/requests
  winnow sim --drive --model claude-opus-4-5 --window 60000
  winnow sim --drive files --drive-sources "$(go env GOROOT)/src" --drive-folder . --model claude-opus-4-5

Simulates the APIs of the providers: OpenAI (chat completions and responses),
Anthropic and Gemini, streaming and not. It answers as a scripted agent would,
reports true usage, and refuses what the providers refuse, in their words. The first
line of output is the address that it listens on.

--model makes it act as that model: with its window, output limit, prices, cache and
tokenizer (exact if the vocabulary is known), and with its rules for thinking.

--drive makes a real agent work: give the agent any task and point it at the
simulator, or at a gateway in front of it. The simulator calls the agent's own shell
tool with commands that print some kilobytes each, part by part. Every second part
shows a fact that is needed 40 parts later; if it is gone by then, the old part is
printed again. The commands need a POSIX shell and write drive.sh, drive.log and
part-*.conf in the agent's folder. Agents that run at the same time need different
keys. --drive files has it read source files instead, which are drawn from
--drive-sources (Go, Python, JavaScript and TypeScript) and written, with facts
planted in them, to --drive-folder, in which the agent must be started; e2e/README.md
says how facts are chosen. GET /sim/drive shows for each agent how far it got, how
many facts were still there, what was read again, refused and summarised, and the
tokens and dollars.

GET /sim/requests shows how many requests were accepted and refused, and the hashes
of the last bodies. Headers of a request:

  Sim-Window    the window in tokens
  Sim-Answer    what the answer holds: text, tools, calls=N or quote=WORD; thinking,
                plain or bytes=N may follow after a comma
  Sim-Overflow  how it reports that a prompt is too long: error, limit (another
                wording), 413, empty, finish (a reason to stop, in a 200), stream
                (an event before any content), late (one after some), silent
  Sim-Fault     how it fails: status=429, retry-after=2, drop, delay=2s, slow=50ms,
                reset-after=N, stall-after=N, half-event=N, end-after=N,
                error-after=N, garbage, empty, big=BYTES`, func(cmd *cobra.Command, args []string) error {
		// What follows --drive is its value only with "=", as it may also stand alone.
		if len(args) == 1 && drive == driveParts && cmd.Flags().Changed("drive") {
			drive = args[0]
			return nil
		}
		return cobra.NoArgs(cmd, args)
	}, nil)
	cmd.Flags().StringVar(&listen, "listen", "127.0.0.1:8485", "`ADDR` to listen on; port 0 picks a free port")
	tokensVar(cmd.Flags(), &window, "window", 200_000, "largest prompt in `TOKENS`")
	cmd.Flags().Uint64Var(&seed, "seed", 1, "seed `NUMBER` for answers and ids")
	cmd.Flags().BoolVar(&exact, "exact", false, "count tokens with the o200k vocabulary instead of four bytes each")
	cmd.Flags().StringVar(&name, "model", "", "`MODEL` to simulate, whichever model requests name")
	cmd.Flags().StringVar(&drive, "drive", "", "make a real agent work: `WORK` is parts (through its own shell tool) or files (through its read tool)")
	cmd.Flags().Lookup("drive").NoOptDefVal = driveParts
	cmd.Flags().StringSliceVar(&sources, "drive-sources", nil, "`FOLDER` of real sources that --drive files draws from (repeatable)")
	cmd.Flags().StringVar(&folder, "drive-folder", "", "`FOLDER` that --drive files writes its files to and the agent works in")
	cmd.Flags().IntVar(&driven.Steps, "drive-steps", 60, "number of `PARTS` or files of the work")
	cmd.Flags().IntVar(&driven.Bytes, "drive-bytes", 9_000, "number of `BYTES` that a part prints or a file has, about")
	cmd.Flags().DurationVar(&driven.Pause, "drive-pause", 200*time.Millisecond, "`TIME` that a command waits before it ends, as some agents lose output printed just before the end")
	cmd.Flags().BoolVar(&driven.Recall, "drive-recall", false, "ask for what is hidden: by winnow recall in the agent's shell, and for files by winnow's tools")
	cmd.Flags().IntVar(&driven.Lag, "drive-lag", 40, "number of `PARTS` after which a fact is needed")
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		o := providersim.Options{Seed: seed, Window: window}
		if exact {
			o.Count = func(text []byte) int { return o200k.Count(string(text)) }
		}
		if name != "" {
			beModel(&o, model.Default().Lookup(name), name, cmd.Flags().Changed("window"))
		}
		driven.Seed = seed
		switch drive {
		case "":
		case driveParts:
			o.Drive = providersim.NewDriver(driven)
		case driveFiles:
			if len(sources) == 0 || folder == "" {
				return usageErrorf("--drive files needs --drive-sources and --drive-folder")
			}
			var err error
			if o.Drive, err = providersim.NewFileDriver(driven, sources, folder); err != nil {
				return err
			}
		default:
			return usageErrorf("--drive %s: must be parts or files", drive)
		}
		sim := providersim.New(o)
		return a.listenAndServe(cmd.Context(), listen, net.Addr.String, func(ctx context.Context, l net.Listener) error {
			if isTerminal(a.stdout) {
				a.say("put the gateway in front of it, in another terminal: winnow serve --upstream openai=http://%s; Ctrl-C stops it", localAddress(l.Addr()))
			}
			return serveHandler(ctx, l, sim.Handler(), sim.Close)
		})
	}
	return cmd
}

// beModel gives a simulator what is known of a model. A window that was set
// stays.
func beModel(o *providersim.Options, m model.Model, name string, windowSet bool) {
	if limit := cmp.Or(m.Input, m.Context); limit > 0 && !windowSet {
		o.Window = limit
	}
	is := providersim.Model{Output: m.Output, CacheMin: m.Cache.MinPrefix, Prices: m.Prices}
	o.Models = map[string]providersim.Model{"": is} // every name starts with nothing
	counter := token.New(m.Family, &token.Options{Exact: true})
	o.Count = func(text []byte) int { return counter.Text(string(text)) }
	o.Binding = providersim.BindNever
	if model.BindsThinking(name) {
		o.Binding = providersim.BindAlways
	}
}

// serveHandler serves until ctx ends, then calls stop and waits a little for
// what is under way.
func serveHandler(ctx context.Context, l net.Listener, h http.Handler, stop func()) error {
	s := &http.Server{Handler: h, ReadHeaderTimeout: 15 * time.Second, BaseContext: func(net.Listener) context.Context { return ctx }}
	ended := make(chan error, 1)
	go func() { ended <- s.Serve(l) }()
	select {
	case err := <-ended:
		stop()
		return fmt.Errorf("the server on %s ended: %w", l.Addr(), err)
	case <-ctx.Done():
	}
	stop()
	late, cancel := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second)
	defer cancel()
	err := s.Shutdown(late)
	if err != nil {
		err = s.Close()
	}
	<-ended
	return err
}
