// Holds the conversation that is described on standard input with an agent, and
// prints what it came to on standard output. The description and the tally are
// those of conversation_test.go.

import {text} from "node:stream/consumers";

export async function run(connect) {
  const c = JSON.parse(await text(process.stdin));
  const tally = {Requests: 0, Calls: 0, Bytes: 0, Largest: 0, Answers: [], Counted: []};
  try {
    await converse(c, connect(c), tally);
  } catch (e) {
    tally.Error = `request ${tally.Requests}: ${e.message}`;
  }
  process.stdout.write(JSON.stringify(tally) + "\n");
}

async function converse(c, agent, y) {
  const output = () => {
    const text = c.Outputs[y.Calls++ % c.Outputs.length];
    y.Bytes += text.length;
    return text;
  };
  const step = async (want) => {
    const r = await agent.step(want, output);
    y.Requests++;
    y.Bytes += r.text.length;
    y.Largest = Math.max(y.Largest, r.prompt);
    return r;
  };
  for (const [turn, question] of c.Questions.entries()) {
    y.Bytes += question.length;
    agent.say(question);
    let told = agent.count && turn % 3 === 2 ? await agent.count() : 0;
    for (let i = 0; ; i++) {
      if (i === c.PerTurn) throw new Error(`turn ${turn} has no end`);
      const r = await step("auto");
      if (told > 0) y.Counted.push({Told: told, Prompt: r.prompt});
      told = 0;
      if (r.calls === 0) break;
    }
  }
  for (const word of c.Words) {
    agent.say(c.Asking);
    y.Answers.push((await step("quote=" + word)).text);
  }
}
