package app

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"time"

	"github.com/spf13/cobra"
	"github.com/winnow-llm/winnow/internal/kit/providersim"
	"github.com/winnow-llm/winnow/token/o200k"
)

func (a *app) simCommand() *cobra.Command {
	var listen string
	var window int
	var seed uint64
	var exact bool
	cmd := &cobra.Command{
		Use:   "sim",
		Short: "Serve a simulated provider, to try things without a key",
		Example: `  winnow sim --listen 127.0.0.1:8485 --window 16000
  curl http://127.0.0.1:8485/sim/requests`,
		Long: `Serves a simulator of the providers' APIs: the routes of OpenAI (chat completions
and responses), Anthropic and Gemini, streaming and not. It answers as a scripted
agent would, reports true usage, and refuses what the providers refuse, with
their words. The first line that is printed is the address it listens on.

GET /sim/requests tells how many requests were accepted and refused, and the
hashes of the last bodies; POST /sim/reset forgets them. Headers of a request:

  Sim-Window    its window in tokens
  Sim-Answer    what the agent does: text, tools, calls=N or quote=WORD; thinking,
                plain or bytes=N may follow after a comma
  Sim-Overflow  how it says that a prompt is too long: error, limit (another
                wording), 413, empty, finish (a reason to stop, in a 200), stream
                (an event before any content), late (one after some), silent
  Sim-Fault     how it fails: status=429, retry-after=2, code=NAME, drop, delay=2s,
                slow=50ms, reset-after=N, stall-after=N, half-event=N, end-after=N,
                error-after=N, garbage, empty, big=BYTES`,
		Args: cobra.NoArgs,
	}
	cmd.Flags().StringVar(&listen, "listen", "127.0.0.1:8485", "`ADDR` to listen on; port 0 takes a free one")
	cmd.Flags().IntVar(&window, "window", 200_000, "largest prompt in `TOKENS`")
	cmd.Flags().Uint64Var(&seed, "seed", 1, "`NUMBER` that answers and ids depend on")
	cmd.Flags().BoolVar(&exact, "exact", false, "count tokens with the o200k vocabulary instead of four bytes each")
	cmd.RunE = a.work(func(cmd *cobra.Command, _ []string) error {
		if window <= 0 {
			return usagef("--window %d: must be a positive number of tokens", window)
		}
		o := providersim.Options{Seed: seed, Window: window}
		if exact {
			o.Count = func(text []byte) int { return o200k.Count(string(text)) }
		}
		sim := providersim.New(o)
		return a.listen(cmd.Context(), listen, func(ctx context.Context, l net.Listener) error {
			return serveHandler(ctx, l, sim.Handler(), sim.Close)
		})
	})
	return cmd
}

// serveHandler serves until ctx ends, then calls stop and waits a little for
// what is under way.
func serveHandler(ctx context.Context, l net.Listener, h http.Handler, stop func()) error {
	s := &http.Server{Handler: h, ReadHeaderTimeout: 15 * time.Second}
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
