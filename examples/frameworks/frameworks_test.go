package frameworks_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	einoopenai "github.com/cloudwego/eino-ext/components/model/openai"
	einoadk "github.com/cloudwego/eino/adk"
	einotool "github.com/cloudwego/eino/components/tool"
	einoutils "github.com/cloudwego/eino/components/tool/utils"
	"github.com/cloudwego/eino/compose"
	"github.com/firebase/genkit/go/ai"
	"github.com/firebase/genkit/go/genkit"
	genkitopenai "github.com/firebase/genkit/go/plugins/compat_oai/openai"
	"github.com/openai/openai-go"
	"github.com/openai/openai-go/option"
	"github.com/tmc/langchaingo/llms"
	lcopenai "github.com/tmc/langchaingo/llms/openai"
	"google.golang.org/adk/v2/agent"
	"google.golang.org/adk/v2/agent/llmagent"
	"google.golang.org/adk/v2/model/gemini"
	"google.golang.org/adk/v2/runner"
	"google.golang.org/adk/v2/session"
	adktool "google.golang.org/adk/v2/tool"
	"google.golang.org/adk/v2/tool/functiontool"
	"google.golang.org/genai"
	trpcllm "trpc.group/trpc-go/trpc-agent-go/agent/llmagent"
	trpcmodel "trpc.group/trpc-go/trpc-agent-go/model"
	trpcopenai "trpc.group/trpc-go/trpc-agent-go/model/openai"
	trpcrunner "trpc.group/trpc-go/trpc-agent-go/runner"
	trpcsession "trpc.group/trpc-go/trpc-agent-go/session"
	trpcinmemory "trpc.group/trpc-go/trpc-agent-go/session/inmemory"
	trpctool "trpc.group/trpc-go/trpc-agent-go/tool"
	trpcfunction "trpc.group/trpc-go/trpc-agent-go/tool/function"

	"github.com/winnow-llm/winnow"
	"github.com/winnow-llm/winnow/chat"
	"github.com/winnow-llm/winnow/examples/frameworks"
	"github.com/winnow-llm/winnow/internal/kit/providersim"
	"github.com/winnow-llm/winnow/wire"
)

// calls is how often the simulated model reads a log. All of them have several windows.
const (
	calls  = 40
	window = 12000
	task   = "Find the slow query. Never touch the production database."
)

type logArgs struct {
	N int `json:"n"`
}

func readLog(n int) string {
	return strings.Repeat(fmt.Sprintf("db-%02d: SELECT took %d ms\n", n, 100+n), 60)
}

// Each framework works through several windows with its own client of a provider, and
// keeps its whole history. The simulator refuses what is too long, and pairs that are not
// whole.
func TestFrameworks(t *testing.T) {
	for name, run := range map[string]func(*testing.T, *winnow.Winnow, string) int{
		"eino": runEino, "adk": runADK, "genkit": runGenkit, "langchaingo": runLangChain, "trpc-agent-go": runTRPC,
		"wire.Render with openai-go": runSDK,
	} {
		t.Run(name, func(t *testing.T) {
			var step atomic.Int64
			sim := providersim.New(providersim.Options{Window: window, Agent: func(*providersim.Ask) []providersim.Block {
				if n := step.Add(1); n <= calls {
					return []providersim.Block{{Kind: providersim.Call, Name: "read_log", Args: fmt.Sprintf(`{"n":%d}`, n)}}
				}
				return []providersim.Block{{Kind: providersim.Text, Text: "The slow query is in db-40."}}
			}})
			server := httptest.NewServer(sim.Handler())
			defer server.Close()
			defer sim.Close()
			w, err := winnow.New(&winnow.Options{Settings: winnow.Settings{Window: window, OutputReserve: 1000}})
			if err != nil {
				t.Fatal(err)
			}
			results := run(t, w, server.URL)
			if r := sim.Report(); r.Accepted != calls+1 || r.Refused != 0 {
				t.Errorf("%d requests were accepted and %d refused: %v", r.Accepted, r.Refused, r.RefusedBy)
			}
			if want := calls; results != want {
				t.Errorf("the framework's history has %d whole results, not %d", results, want)
			}
		})
	}
}

// whole counts the results that stand in a text as JSON, or as they are.
func whole(text string) int {
	n := 0
	for i := 1; i <= calls; i++ {
		quoted, _ := json.Marshal(readLog(i))
		if strings.Contains(text, string(quoted[1:len(quoted)-1])) {
			n++
		}
	}
	return n
}

func asJSON(t *testing.T, v any) string {
	data, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return strings.ReplaceAll(string(data), `\\n`, `\n`) // some results are JSON in JSON
}

// einoSpy looks at the agent's state, where the whole history should be.
type einoSpy struct {
	*einoadk.BaseChatModelAgentMiddleware
	state *einoadk.ChatModelAgentState
}

func (s *einoSpy) AfterModelRewriteState(ctx context.Context, state *einoadk.ChatModelAgentState, _ *einoadk.ModelContext) (context.Context, *einoadk.ChatModelAgentState, error) {
	s.state = state
	return ctx, state, nil
}

func runEino(t *testing.T, w *winnow.Winnow, url string) int {
	ctx := t.Context()
	model, err := einoopenai.NewChatModel(ctx, &einoopenai.ChatModelConfig{APIKey: "k", BaseURL: url + "/v1", Model: "gpt-5"})
	if err != nil {
		t.Fatal(err)
	}
	read, err := einoutils.InferTool("read_log", "Reads a log.", func(_ context.Context, in logArgs) (string, error) { return readLog(in.N), nil })
	if err != nil {
		t.Fatal(err)
	}
	spy := &einoSpy{}
	a, err := einoadk.NewChatModelAgent(ctx, &einoadk.ChatModelAgentConfig{
		Name: "reader", Description: "reads logs", Model: model, MaxIterations: 2 * calls,
		ToolsConfig: einoadk.ToolsConfig{ToolsNodeConfig: compose.ToolsNodeConfig{Tools: []einotool.BaseTool{read}}},
		Handlers:    []einoadk.ChatModelAgentMiddleware{frameworks.Eino(w), spy},
	})
	if err != nil {
		t.Fatal(err)
	}
	events := einoadk.NewRunner(ctx, einoadk.RunnerConfig{Agent: a}).Query(ctx, task)
	for e, ok := events.Next(); ok; e, ok = events.Next() {
		if e.Err != nil {
			t.Fatal(e.Err)
		}
	}
	return whole(asJSON(t, spy.state.Messages))
}

func runADK(t *testing.T, w *winnow.Winnow, url string) int {
	ctx := t.Context()
	model, err := gemini.NewModel(ctx, "gemini-2.5-pro", &genai.ClientConfig{APIKey: "k", Backend: genai.BackendGeminiAPI, HTTPOptions: genai.HTTPOptions{BaseURL: url}})
	if err != nil {
		t.Fatal(err)
	}
	read, err := functiontool.New(functiontool.Config{Name: "read_log", Description: "Reads a log."}, func(_ agent.Context, in logArgs) (map[string]any, error) {
		return map[string]any{"log": readLog(in.N)}, nil
	})
	if err != nil {
		t.Fatal(err)
	}
	before, after := frameworks.ADK(w)
	a, err := llmagent.New(llmagent.Config{
		Name: "reader", Model: model, Instruction: "You read logs.", Tools: []adktool.Tool{read},
		BeforeModelCallbacks: []llmagent.BeforeModelCallback{before}, AfterModelCallbacks: []llmagent.AfterModelCallback{after},
	})
	if err != nil {
		t.Fatal(err)
	}
	sessions := session.InMemoryService()
	r, err := runner.New(runner.Config{AppName: "app", Agent: a, SessionService: sessions, AutoCreateSession: true})
	if err != nil {
		t.Fatal(err)
	}
	for _, err := range r.Run(ctx, "u", "s", genai.NewContentFromText(task, genai.RoleUser), agent.RunConfig{}) {
		if err != nil {
			t.Fatal(err)
		}
	}
	got, err := sessions.Get(ctx, &session.GetRequest{AppName: "app", UserID: "u", SessionID: "s"})
	if err != nil {
		t.Fatal(err)
	}
	text := ""
	for e := range got.Session.Events().All() {
		text += asJSON(t, e.Content)
	}
	return whole(text)
}

func runGenkit(t *testing.T, w *winnow.Winnow, url string) int {
	ctx := t.Context()
	g := genkit.Init(ctx, genkit.WithPlugins(&genkitopenai.OpenAI{APIKey: "k", Opts: []option.RequestOption{option.WithBaseURL(url + "/v1")}}))
	read := genkit.DefineTool(g, "read_log", "Reads a log.", func(_ *ai.ToolContext, in logArgs) (string, error) { return readLog(in.N), nil })
	out, err := genkit.Generate(ctx, g, ai.WithModelName("openai/gpt-4o"), ai.WithSystem("You read logs."), ai.WithPrompt(task),
		ai.WithTools(read), ai.WithMaxTurns(2*calls), ai.WithMiddleware(frameworks.Genkit(w)))
	if err != nil {
		t.Fatal(err)
	}
	return whole(asJSON(t, out.History()))
}

func runLangChain(t *testing.T, w *winnow.Winnow, url string) int {
	client, err := lcopenai.New(lcopenai.WithToken("k"), lcopenai.WithBaseURL(url+"/v1"), lcopenai.WithModel("gpt-5"))
	if err != nil {
		t.Fatal(err)
	}
	model := frameworks.LangChain(w, client)
	tools := []llms.Tool{{Type: "function", Function: &llms.FunctionDefinition{Name: "read_log", Description: "Reads a log.", Parameters: json.RawMessage(`{"type":"object","properties":{"n":{"type":"integer"}}}`)}}}
	history := []llms.MessageContent{llms.TextParts(llms.ChatMessageTypeSystem, "You read logs."), llms.TextParts(llms.ChatMessageTypeHuman, task)}
	for {
		out, err := model.GenerateContent(t.Context(), history, llms.WithTools(tools))
		if err != nil {
			t.Fatal(err)
		}
		made := out.Choices[0].ToolCalls
		if len(made) == 0 {
			return whole(asJSON(t, history))
		}
		answer := llms.MessageContent{Role: llms.ChatMessageTypeAI}
		var results []llms.MessageContent
		for _, c := range made {
			var in logArgs
			if err := json.Unmarshal([]byte(c.FunctionCall.Arguments), &in); err != nil {
				t.Fatal(err)
			}
			answer.Parts = append(answer.Parts, c)
			results = append(results, llms.MessageContent{Role: llms.ChatMessageTypeTool, Parts: []llms.ContentPart{llms.ToolCallResponse{ToolCallID: c.ID, Name: c.FunctionCall.Name, Content: readLog(in.N)}}})
		}
		history = append(append(history, answer), results...)
	}
}

// runSDK needs no adapter: the SDK posts the body that wire renders.
func runSDK(t *testing.T, w *winnow.Winnow, url string) int {
	client := openai.NewClient(option.WithAPIKey("k"), option.WithBaseURL(url+"/v1"))
	c := w.Conversation(chat.Request{Tools: []chat.ToolDef{{Name: "read_log", Schema: `{"type":"object","properties":{"n":{"type":"integer"}}}`}}})
	c.Append(chat.TextMessage(chat.User, task))
	for {
		fit, err := c.Fit(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		body, err := wire.Render(wire.OpenAI, "gpt-5", c.Request(), fit.View)
		if err != nil {
			t.Fatal(err)
		}
		var raw []byte
		if err := client.Post(t.Context(), "chat/completions", json.RawMessage(body), &raw); err != nil {
			t.Fatal(err)
		}
		answer, err := wire.ParseAnswer(wire.OpenAI, raw)
		if err != nil {
			t.Fatal(err)
		}
		c.Answered(answer.Message, answer.Usage)
		if !answer.Message.Has(chat.ToolCall) {
			return whole(asJSON(t, c.History().Messages()))
		}
		for _, p := range answer.Message.Parts {
			var in logArgs
			if p.Kind == chat.ToolCall && json.Unmarshal([]byte(p.Args), &in) == nil {
				c.Append(chat.ResultMessage(p.ID, readLog(in.N)))
			}
		}
	}
}

func runTRPC(t *testing.T, w *winnow.Winnow, url string) int {
	ctx := t.Context()
	read := trpcfunction.NewFunctionTool(func(_ context.Context, in logArgs) (string, error) { return readLog(in.N), nil },
		trpcfunction.WithName("read_log"), trpcfunction.WithDescription("Reads a log."))
	a := trpcllm.New("reader", trpcllm.WithModel(trpcopenai.New("gpt-5", trpcopenai.WithBaseURL(url+"/v1"), trpcopenai.WithAPIKey("k"))),
		trpcllm.WithInstruction("You read logs."), trpcllm.WithTools([]trpctool.Tool{read}), trpcllm.WithModelCallbacks(frameworks.TRPCAgent(w)))
	sessions := trpcinmemory.NewSessionService()
	defer sessions.Close()
	r := trpcrunner.NewRunner("app", a, trpcrunner.WithSessionService(sessions))
	defer r.Close()
	events, err := r.Run(ctx, "u", "s", trpcmodel.NewUserMessage(task))
	if err != nil {
		t.Fatal(err)
	}
	for e := range events {
		if e.Error != nil {
			t.Fatal(e.Error)
		}
	}
	got, err := sessions.GetSession(ctx, trpcsession.Key{AppName: "app", UserID: "u", SessionID: "s"})
	if err != nil {
		t.Fatal(err)
	}
	return whole(asJSON(t, got.Events))
}
