package gateway_test

import (
	"bytes"
	"encoding/json"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/winnow-llm/winnow"
	"github.com/winnow-llm/winnow/gateway"
	"github.com/winnow-llm/winnow/transport"
)

// litellmProxy stands for LiteLLM: it loads the guardrail with the base class that LiteLLM
// has, and calls it with the requests of its input.
const litellmProxy = `
import asyncio, json, sys, types
class CustomGuardrail:
    def __init__(self, guardrail_name=None, event_hook=None, default_on=False, **kwargs): pass
module = types.ModuleType("litellm.integrations.custom_guardrail")
module.CustomGuardrail = CustomGuardrail
sys.modules.update({"litellm": types.ModuleType("litellm"), "litellm.integrations": types.ModuleType("litellm.integrations"), "litellm.integrations.custom_guardrail": module})
from winnow_guardrail import WinnowGuardrail
for line in sys.stdin:
    one = json.loads(line)
    rail = WinnowGuardrail(api_base=one["gateway"], guardrail_name="winnow", event_hook="pre_call", default_on=True)
    user = types.SimpleNamespace(api_key="hash-of-a-key")
    print(json.dumps(asyncio.run(rail.async_pre_call_hook(user, None, one["data"], one["call"]))))
`

type litellmCall struct {
	Gateway string         `json:"gateway"`
	Call    string         `json:"call"`
	Data    map[string]any `json:"data"`
}

// TestLiteLLM tries plugins/litellm. LiteLLM itself is not installed: the guardrail is
// called as LiteLLM's documentation says that it is (Custom Guardrail,
// async_pre_call_hook).
func TestLiteLLM(t *testing.T) {
	python, err := exec.LookPath("python3")
	if err != nil {
		t.Skip("there is no python3: the guardrail is not tried")
	}
	g, err := gateway.New(&gateway.Options{Transport: transport.Options{Settings: winnow.Settings{Window: 16_000}}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(g.Close)
	server := httptest.NewServer(g.Handler())
	t.Cleanup(server.Close)
	data := func() map[string]any {
		var messages []any
		for range 40 {
			messages = append(messages, map[string]any{"role": "user", "content": strings.Repeat("the lease is renewed by nobody. ", 150)}, map[string]any{"role": "assistant", "content": "noted"})
		}
		messages = append(messages, map[string]any{"role": "user", "content": "go on"})
		return map[string]any{"model": "gpt-4.1", "messages": messages, "max_tokens": 1000, "metadata": map[string]any{"user": "u"}}
	}
	calls := []litellmCall{
		{server.URL, "completion", data()},
		{server.URL, "embeddings", data()},           // not a conversation
		{"http://127.0.0.1:9", "completion", data()}, // nobody there
	}
	var in bytes.Buffer
	for _, c := range calls {
		if err := json.NewEncoder(&in).Encode(c); err != nil {
			t.Fatal(err)
		}
	}
	cmd := exec.Command(python, "-c", litellmProxy)
	var said bytes.Buffer
	cmd.Env = append(os.Environ(), "PYTHONPATH="+filepath.Join("..", "plugins", "litellm"), "PYTHONDONTWRITEBYTECODE=1")
	cmd.Stdin, cmd.Stderr = &in, &said
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v\n%s", err, said.String())
	}
	dec := json.NewDecoder(bytes.NewReader(out))
	for i, c := range calls {
		var got map[string]any
		if err := dec.Decode(&got); err != nil {
			t.Fatal(err)
		}
		bytesOf := func(v any) int {
			raw, err := json.Marshal(v)
			if err != nil {
				t.Fatal(err)
			}
			return len(raw)
		}
		was, is := bytesOf(c.Data["messages"]), bytesOf(got["messages"])
		if cut := i == 0; cut != (is < was/2) || !cut && is != was {
			t.Errorf("call %d: %d bytes of messages became %d", i, was, is)
		}
		if got["metadata"] == nil {
			t.Errorf("call %d: what is the proxy's own is gone", i)
		}
	}
	if !strings.Contains(said.String(), "so the request goes out as it came") {
		t.Errorf("it does not say that nobody is there: %s", said.String())
	}
}
