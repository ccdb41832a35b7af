// An agent on OpenAI's SDK for Node, with chat completions.

import OpenAI from "openai";
import {run} from "./conversation.mjs";

await run(({Base, Key, Stream, System, Tool}) => {
  const client = new OpenAI({baseURL: Base + "/v1", apiKey: Key});
  const messages = [{role: "system", content: System}];
  const tools = [{type: "function", function: {name: Tool.Name, description: Tool.Text, parameters: Tool.Parameters}}];
  return {
    say: (text) => messages.push({role: "user", content: text}),
    async step(want, output) {
      const body = {model: "gpt-4.1", max_completion_tokens: 1024, messages, tools};
      const options = {headers: {"Sim-Answer": want}};
      const got = Stream
        ? await client.chat.completions.stream({...body, stream_options: {include_usage: true}}, options).finalChatCompletion()
        : await client.chat.completions.create(body, options);
      const message = got.choices[0].message;
      messages.push(message);
      const calls = message.tool_calls ?? [];
      for (const call of calls) messages.push({role: "tool", tool_call_id: call.id, content: output()});
      return {text: message.content ?? "", calls: calls.length, prompt: got.usage.prompt_tokens};
    },
  };
});
