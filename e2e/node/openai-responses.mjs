// An agent on OpenAI's SDK for Node, with responses.

import OpenAI from "openai";
import {run} from "./conversation.mjs";

await run(({Base, Key, Stream, System, Tool}) => {
  const client = new OpenAI({baseURL: Base + "/v1", apiKey: Key});
  const input = [];
  const common = {
    model: "gpt-5.4",
    instructions: System,
    reasoning: {effort: "high"},
    tools: [{type: "function", name: Tool.Name, description: Tool.Text, parameters: Tool.Parameters, strict: false}],
  };
  return {
    say: (text) => input.push({role: "user", content: text}),
    async step(want, output) {
      const body = {...common, input, max_output_tokens: 1024, store: false, include: ["reasoning.encrypted_content"]};
      const options = {headers: {"Sim-Answer": want}};
      const got = Stream ? await client.responses.stream(body, options).finalResponse() : await client.responses.create(body, options);
      if (got.status === "failed") throw new Error(`${got.error.code}: ${got.error.message}`);
      input.push(...got.output);
      const calls = got.output.filter((item) => item.type === "function_call");
      for (const call of calls) input.push({type: "function_call_output", call_id: call.call_id, output: output()});
      return {text: got.output_text, calls: calls.length, prompt: got.usage.input_tokens};
    },
    count: async () => (await client.responses.inputTokens.count({...common, input})).input_tokens,
  };
});
