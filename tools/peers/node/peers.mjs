// Runs the peers for Node. Each line on standard input is a job, each line on
// standard output its result: milliseconds, and a value to compare.
import { readFileSync } from "node:fs";
import { createInterface } from "node:readline";

const cache = new Map();
const once = (key, make) => cache.has(key) ? cache.get(key) : (cache.set(key, make()), cache.get(key));
const text = file => once("text " + file, () => readFileSync(file, "utf8"));

const tokenizers = {
  "gpt-tokenizer": async () => {
    const m = await import("gpt-tokenizer/encoding/o200k_base");
    return s => m.countTokens(s, { allowedSpecial: new Set(), disallowedSpecial: new Set() });
  },
  "js-tiktoken": async () => {
    const { Tiktoken } = await import("js-tiktoken/lite");
    const ranks = (await import("js-tiktoken/ranks/o200k_base")).default;
    const enc = new Tiktoken(ranks);
    return s => enc.encode(s, [], []).length;
  },
  "tiktoken": async () => {
    const { get_encoding } = await import("tiktoken");
    const enc = get_encoding("o200k_base");
    return s => enc.encode(s, [], []).length;
  },
};

const jobs = {
  async count({ lib, file }) {
    const count = await once("lib " + lib, tokenizers[lib]);
    const s = text(file);
    return () => count(s);
  },
  async parse({ file }) {
    const s = text(file);
    return () => JSON.parse(s).messages.length;
  },
  async trim({ file, limit }) {
    const { HumanMessage, AIMessage, ToolMessage, trimMessages } = await import("@langchain/core/messages");
    const messages = JSON.parse(text(file)).messages.map(m => {
      if (m.role === "tool") return new ToolMessage({ content: m.content, tool_call_id: m.tool_call_id });
      if (m.role === "assistant") return new AIMessage({
        content: m.content ?? "",
        tool_calls: (m.tool_calls ?? []).map(c => ({ id: c.id, name: c.function.name, args: JSON.parse(c.function.arguments) })),
      });
      return new HumanMessage(m.content);
    });
    const size = m => (m.content.length + (m.tool_calls?.length ? JSON.stringify(m.tool_calls).length : 0)) / 4;
    const tokenCounter = ms => ms.reduce((n, m) => n + size(m), 0);
    return async () => (await trimMessages(messages, { maxTokens: limit, strategy: "last", startOn: "human", tokenCounter })).length;
  },
  async prune({ file }) {
    const { pruneMessages } = await import("ai");
    const names = new Map();
    const messages = JSON.parse(text(file)).messages.map(m => {
      if (m.role === "tool") return { role: "tool", content: [{ type: "tool-result", toolCallId: m.tool_call_id, toolName: names.get(m.tool_call_id), output: { type: "text", value: m.content } }] };
      if (m.role === "assistant") {
        const calls = (m.tool_calls ?? []).map(c => {
          names.set(c.id, c.function.name);
          return { type: "tool-call", toolCallId: c.id, toolName: c.function.name, input: JSON.parse(c.function.arguments) };
        });
        return { role: "assistant", content: [{ type: "text", text: m.content ?? "" }, ...calls] };
      }
      return { role: m.role, content: m.content };
    });
    return () => pruneMessages({ messages, toolCalls: "before-last-3-messages", emptyMessages: "remove" }).length;
  },
};

for await (const line of createInterface({ input: process.stdin })) {
  let result;
  try {
    const job = JSON.parse(line);
    const run = await jobs[job.op](job);
    const start = performance.now();
    const value = await run();
    result = { ms: performance.now() - start, value };
  } catch (e) {
    result = { error: String(e?.message ?? e).split("\n")[0].slice(0, 120) };
  }
  process.stdout.write(JSON.stringify(result) + "\n");
}
