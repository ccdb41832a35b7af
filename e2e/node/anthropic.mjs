// An agent on Anthropic's SDK for Node, with thinking.

import Anthropic from "@anthropic-ai/sdk";
import {run} from "./conversation.mjs";

await run(({Base, Key, Stream, System, Tool}) => {
  const client = new Anthropic({baseURL: Base, apiKey: Key});
  const messages = [];
  const common = {
    model: "claude-fable-5-1",
    system: System,
    thinking: {type: "enabled", budget_tokens: 1024},
    tools: [{name: Tool.Name, description: Tool.Text, input_schema: Tool.Parameters}],
  };
  return {
    say: (text) => messages.push({role: "user", content: text}),
    async step(want, output) {
      const body = {...common, messages, max_tokens: 2048};
      const options = {headers: {"Sim-Answer": want}};
      const got = Stream ? await client.messages.stream(body, options).finalMessage() : await client.messages.create(body, options);
      messages.push({role: "assistant", content: got.content});
      const calls = got.content.filter((block) => block.type === "tool_use");
      if (calls.length > 0) {
        messages.push({role: "user", content: calls.map((call) => ({type: "tool_result", tool_use_id: call.id, content: output()}))});
      }
      const text = got.content.map((block) => (block.type === "text" ? block.text : "")).join("");
      const u = got.usage;
      const prompt = u.input_tokens + (u.cache_read_input_tokens ?? 0) + (u.cache_creation_input_tokens ?? 0);
      return {text, calls: calls.length, prompt};
    },
    count: async () => (await client.messages.countTokens({...common, messages})).input_tokens,
  };
});
