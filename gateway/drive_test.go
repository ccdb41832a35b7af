package gateway_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os/exec"
	"strings"
	"testing"

	"github.com/winnow-llm/winnow"
	"github.com/winnow-llm/winnow/gateway"
	"github.com/winnow-llm/winnow/internal/kit/agentclient"
	"github.com/winnow-llm/winnow/internal/kit/longrun"
	"github.com/winnow-llm/winnow/internal/kit/providersim"
	"github.com/winnow-llm/winnow/internal/kit/providersim/simtest"
	"github.com/winnow-llm/winnow/internal/kit/race"
	"github.com/winnow-llm/winnow/recall"
	"github.com/winnow-llm/winnow/token"
	"github.com/winnow-llm/winnow/transport"
	"github.com/winnow-llm/winnow/wire"
)

// driven lets an agent with a shell work in a window of 60,000 tokens, for
// several windows, and returns the account of it. It may have winnow's tools too: over
// MCP, or offered by the gateway.
func driven(t *testing.T, dialect wire.Dialect, plain bool, tools string, set ...func(*agentclient.Client)) providersim.DriveTask {
	t.Helper()
	if _, err := exec.LookPath("awk"); err != nil {
		t.Skip("there is no awk for the commands of the driver")
	}
	const window = 60_000
	counter := token.New(token.Claude, nil)
	driver := providersim.NewDriver(providersim.DriveOptions{Pause: -1, Steps: 60, Seed: 1})
	s, provider, _ := simtest.Start(t, providersim.Options{
		Seed: 1, Window: window, Drive: driver, Binding: providersim.BindNever,
		Count: func(b []byte) int { return counter.Text(string(b)) },
	})
	_, url := start(t, gateway.Options{
		Upstreams: everywhere(provider), MCP: serveTools,
		Transport: transport.Options{Settings: winnow.Settings{Window: window}, OfferTools: tools == "offered"},
	})
	dir := t.TempDir()
	header := http.Header{"Authorization": {"Bearer alice"}}
	c := &agentclient.Client{
		Dialect: dialect, URL: url, Header: header, Plain: plain, MaxTokens: 4096,
		Shell: func(command string) string {
			cmd := exec.Command("sh", "-c", command)
			cmd.Dir = dir
			out, err := cmd.CombinedOutput()
			if err != nil {
				t.Errorf("%v: %s", err, out)
			}
			return string(out)
		},
	}
	if tools == "mcp" {
		session, err := connect(t, url, header)
		if err != nil {
			t.Fatal(err)
		}
		c.Others = map[string]string{}
		for _, tool := range recall.Tools(nil) {
			c.Others[tool.Def.Name] = tool.Def.Schema
		}
		c.Call = func(name, arguments string) string {
			var args map[string]any
			if err := json.Unmarshal([]byte(arguments), &args); err != nil {
				t.Error(err)
			}
			text, failed := call(t, session, name, args)
			if failed {
				t.Errorf("%s %s: %s", name, arguments, text)
			}
			return text
		}
	}
	for _, f := range set {
		f(c)
	}
	c.Say("Do the work, part after part, until all of it is done.")
	for {
		a, err := c.Step(t.Context())
		if err != nil || a.Status != http.StatusOK {
			t.Fatalf("%v %+v", err, a)
		}
		if a.Calls == 0 {
			break
		}
	}
	if r := s.Report(); r.Refused > 0 {
		t.Errorf("refused: %v", r.RefusedBy)
	}
	tasks := driver.Report()
	if len(tasks) != 1 || !tasks[0].Ended || tasks[0].Repeats+tasks[0].Lost > 0 {
		t.Fatalf("%+v", tasks)
	}
	return tasks[0]
}

// driveDialects are the dialects in which agents work: under the race detector one.
func driveDialects() []wire.Dialect {
	all := wire.Dialects()
	return all[:race.Fewer(len(all))]
}

// TestFactsStay: of the facts that an agent needs forty commands later, those that
// stand out in what a command printed are still there, whatever the dialect;
// one in four looks like all lines around it, and may be gone.
func TestFactsStay(t *testing.T) {
	t.Parallel()
	for i, dialect := range driveDialects() {
		for _, plain := range []bool{true, false} {
			if !longrun.Asked() && plain != (i%2 == 0) {
				continue
			}
			t.Run(fmt.Sprintf("%v/thinking=%v", dialect, !plain), func(t *testing.T) {
				got := driven(t, dialect, plain, "")
				t.Logf("%d of %d facts, %d rewrites", got.Kept, got.Due, got.Rewrites)
				if got.Due != 10 || got.Kept < 6 || got.Kept+got.Reread != got.Due {
					t.Errorf("%+v", got)
				}
			})
		}
	}
}

// TestFactsStayInFrames: lines that an agent puts around every output, such as the
// number of a process, take nobody's place though they differ from one to the next.
func TestFactsStayInFrames(t *testing.T) {
	t.Parallel()
	process := 12_000
	got := driven(t, wire.Gemini, true, "", func(c *agentclient.Client) {
		shell := c.Shell
		c.Shell = func(command string) string {
			process += 23
			return fmt.Sprintf("Output: %sProcess Group PGID: %d\n", shell(command), process)
		}
	})
	t.Logf("%d of %d facts, %d rewrites", got.Kept, got.Due, got.Rewrites)
	if got.Due != 10 || got.Kept < 7 { // 6 with the numbers of processes in their place
		t.Errorf("%+v", got)
	}
}

// TestFactsRecalled: a model that has winnow's tools reads nothing twice. What is
// gone it asks for by handle or by words, in the middle of its work.
func TestFactsRecalled(t *testing.T) {
	t.Parallel()
	for _, dialect := range driveDialects() {
		t.Run(string(dialect), func(t *testing.T) {
			got := driven(t, dialect, true, "mcp")
			t.Logf("%d of %d facts, %d recalled", got.Kept, got.Due, got.Recalled)
			if got.Recalled == 0 || got.Reread > 0 || got.Kept+got.Recalled != got.Due {
				t.Errorf("%+v", got)
			}
		})
	}
}

// TestFactsRecalledByTheGateway: an agent that has no such tool reads nothing twice
// either, where the gateway offers them and answers the calls, and it never hears of
// one. The provider sees one conversation that grows.
func TestFactsRecalledByTheGateway(t *testing.T) {
	t.Parallel()
	for i, dialect := range driveDialects() {
		for _, stream := range []bool{false, true} {
			if !longrun.Asked() && stream != (i%2 == 0) {
				continue
			}
			t.Run(fmt.Sprintf("%v/stream=%v", dialect, stream), func(t *testing.T) {
				got := driven(t, dialect, !stream, "offered", func(c *agentclient.Client) {
					c.Stream = stream
					c.Result = func(int) string {
						t.Error("the agent was asked for a tool that it does not have")
						return "there is no such tool"
					}
				})
				t.Logf("%d of %d facts, %d recalled, %d rewrites", got.Kept, got.Due, got.Recalled, got.Rewrites)
				if got.Recalled == 0 || got.Reread > 0 || got.Kept+got.Recalled != got.Due || got.Rewrites > 12 {
					t.Errorf("%+v", got)
				}
			})
		}
	}
}

// TestLargePrompt: an agent whose own prompt and tools take half of the window,
// and which asks for the other half as output with a thinking budget inside it,
// as Claude Code does, sees its newest result all the same: less output is asked
// for.
func TestLargePrompt(t *testing.T) {
	t.Parallel()
	got := driven(t, wire.Anthropic, false, "", func(c *agentclient.Client) {
		c.MaxTokens, c.Budget = 32_000, 31_999
		words := strings.Repeat("what this tool does is told at some length here, ", 2_200)
		c.Others = map[string]string{"other": fmt.Sprintf(`{"type":"object","description":%q,"properties":{}}`, words)}
	})
	t.Logf("%d of %d facts, %d rewrites", got.Kept, got.Due, got.Rewrites)
}
