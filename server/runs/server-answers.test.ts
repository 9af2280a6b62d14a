import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { parseExact } from "../lib/exact-numbers.ts";
import { callAnswers } from "../runtime/models/__fixtures__/server-answers/calls.ts";
import { ending, type ServerAnswer, text } from "../runtime/models/__fixtures__/server-answers/chunks.ts";
import { modelPrefix } from "../runtime/models/registry.ts";
import { startProviders } from "../testing/provider-server.ts";
import { testActor } from "../testing/test-actor.ts";
import { type Client, type TestApp, testApp } from "../testing/test-app.ts";

/** Answers by the agent's model: each plays first; the next answer says how many results it read. */
const answers = new Map<string, ServerAnswer>();
const providers = startProviders(({ body }) => {
  const { chunks } = answers.get(body.model)!;
  const results = body.messages.filter((message: { role: string }) => message.role === "tool").length;
  return (results === 0 ? chunks : [text(`read ${results}`), ...ending()]) as Iterable<string>;
});
const called: [string, unknown][] = [];
const target = Bun.serve({
  port: 0,
  hostname: "127.0.0.1",
  async fetch(request) {
    called.push([new URL(request.url).pathname.slice(1), await request.text()]);
    return Response.json({ ok: true });
  },
});

let server: TestApp;
let client: Client;
const tools: string[] = [];
beforeAll(async () => {
  server = testApp();
  client = await server.client();
  await server.connections.put(providers.connectionOf("openai_compatible"), testActor);
  for (const name of ["look", "listen", "now", "num", "wipe"]) {
    const { body } = await client.post("/v1/tools", { name, type: "http", url: `${target.url}${name}` });
    tools.push(body.id);
  }
});
afterAll(async () => {
  await server[Symbol.asyncDispose]();
  await providers[Symbol.asyncDispose]();
  await target.stop(true);
});

async function play(answer: ServerAnswer) {
  const model = `m-${crypto.randomUUID()}`;
  answers.set(model, answer);
  const prefix = modelPrefix(providers.connectionOf("openai_compatible"));
  const agent = { name: "a", instructions: "", model: `${prefix}/${model}`, tools };
  const { id } = (await client.post("/v1/agents", agent)).body;
  called.length = 0;
  return (await client.post("/v1/runs?wait=60", { agent_id: id, input: "Go." })).body;
}

/** Arguments as a tool receives them. */
const received = ([name, args]: readonly [string, string]): [string, unknown] => [
  name,
  JSON.stringify(parseExact(args)),
];

describe("a run", () => {
  const runnable = callAnswers.filter(({ end }) => end.calls && end.finish !== "length" && !end.refused);
  test.each(runnable.map((answer) => [answer.title, answer] as const))("runs the tools of: %s", async (_, answer) => {
    const run = await play(answer);
    const { calls = [] } = answer.end;
    expect(called.toSorted()).toEqual(calls.map(received).toSorted());
    expect([run.status, run.output]).toEqual(["completed", `read ${calls.length}`]);
  });

  const refused = callAnswers.filter(({ end }) => end.refused);
  test.each(refused.map((answer) => [answer.title, answer] as const))(
    "tells the model the fault of: %s",
    async (_, answer) => {
      const run = await play(answer);
      expect(called).toEqual([]);
      expect([run.status, run.output]).toEqual(["completed", "read 1"]);
      expect(run.tool_calls[0].error.message).toContain(answer.end.refused);
    },
  );

  const cut = callAnswers.filter(({ end }) => end.finish === "length");
  test.each(cut.map((answer) => [answer.title, answer] as const))("runs no tool of: %s", async (_, answer) => {
    const run = await play(answer);
    expect(called).toEqual([]);
    expect([run.status, run.output]).toEqual(["completed", `read ${answer.end.calls!.length}`]);
    for (const call of run.tool_calls) expect(call.error.code).toBe("answer_cut_off");
  });

  const texts = callAnswers.filter(({ end }) => end.text);
  test.each(texts.map((answer) => [answer.title, answer] as const))("has the output of: %s", async (_, answer) => {
    const run = await play(answer);
    expect([run.status, run.output]).toEqual(["completed", answer.end.text]);
  });
});
