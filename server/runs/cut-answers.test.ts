import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { type ConnectionProvider, connectionProviders } from "../domain/providers.ts";
import { modelPrefix } from "../runtime/models/registry.ts";
import { type ProviderRequest, startProviders } from "../testing/provider-server.ts";
import { type Wire, wires } from "../testing/provider-wire.ts";
import { settledRun } from "../testing/settled-run.ts";
import { testActor } from "../testing/test-actor.ts";
import { type Client, type TestApp, testApp } from "../testing/test-app.ts";

type Say = (wire: Wire, asked: ProviderRequest) => string[];

/** Scripted answers, by the agent's model. */
const answers = new Map<string, Say>();
const providers = startProviders((asked) => {
  const { provider, body, request } = asked;
  const model = body.model ?? /models?\/([^:/]+)/.exec(request.url)?.[1];
  return answers.get(model)!(wires[provider], asked);
});
/** A tool that only counts its calls. */
const wiped: string[] = [];
const target = Bun.serve({
  port: 0,
  hostname: "127.0.0.1",
  async fetch(request) {
    wiped.push(await request.text());
    return Response.json({ wiped: true });
  },
});

let server: TestApp;
let client: Client;
const tools: string[] = [];
beforeAll(async () => {
  server = testApp();
  for (const connection of providers.connections) await server.connections.put(connection, testActor);
});
afterAll(async () => {
  await server[Symbol.asyncDispose]();
  await providers[Symbol.asyncDispose]();
  await target.stop(true);
});

/** Gives the tests a project of their own: all together make more runs in a minute than one project may. */
async function useProject(project: string) {
  client = await server.client({ project });
  tools.length = 0;
  for (const name of ["wipe", "look"])
    tools.push((await client.post("/v1/tools", { name, type: "http", url: `${target.url}${name}` })).body.id);
}

async function agentOf(provider: ConnectionProvider, say: Say): Promise<string> {
  const model = `m-${crypto.randomUUID()}`;
  answers.set(model, say);
  const prefix = modelPrefix(providers.connectionOf(provider));
  const agent = { name: "a", instructions: "", model: `${prefix}/${model}`, tools };
  return (await client.post("/v1/agents", agent)).body.id;
}

async function runOf(provider: ConnectionProvider, say: Say) {
  const before = wiped.length;
  const agent_id = await agentOf(provider, say);
  const { body } = await client.post("/v1/runs?wait=60", { agent_id, input: "Go." });
  const trace = (await client.get(`/v1/traces/${body.id}`)).body;
  return { run: body, trace, calls: wiped.length - before };
}

const whole = (wire: Wire, name: string, args: string) => [wire.call(name), wire.args(args), wire.endCall(name, args)];

/** Script: this answer first; the next one reports whether the model was told about the cut. */
function then(first: (wire: Wire) => string[]): Say {
  let answers = 0;
  return (wire, { body }) => {
    if (answers++ === 0) return [wire.begin(), ...first(wire)];
    const text = JSON.stringify(body).includes("cut off") ? "I was cut off." : "Done.";
    return [wire.begin(), wire.text(text), wire.end()];
  };
}

describe.each(connectionProviders)("%s", (provider) => {
  beforeAll(() => useProject(provider));

  const isWhole = provider === "google" || provider === "vertex"; // Gemini sends each call in one piece.
  test.each<[string, (wire: Wire) => string[], number]>([
    ["is whole", (wire) => whole(wire, "wipe", "{}"), 1],
    ["comes after text", (wire) => [wire.text("I wipe."), ...whole(wire, "wipe", '{"all":true}')], 1],
    ["has no arguments yet", (wire) => (isWhole ? whole(wire, "wipe", "{}") : [wire.call("wipe")]), 1],
    [
      "has half of its arguments",
      (wire) => (isWhole ? whole(wire, "wipe", "{}") : [wire.call("wipe"), wire.args('{"a')]),
      1,
    ],
  ])("a tool of a truncated answer is not executed if the call %s", async (_, first, count) => {
    const { run, trace, calls } = await runOf(
      provider,
      then((wire) => [...first(wire), wire.end(wire.cut)]),
    );
    expect(calls).toBe(0);
    expect([run.status, run.output]).toEqual(["completed", "I was cut off."]);
    expect(run.tool_calls).toHaveLength(count);
    expect(run.tool_calls[0]).toMatchObject({ name: "wipe", status: "failed", error: { code: "answer_cut_off" } });
    expect(run.usage.tool_calls).toBe(0);
    const [answer, call] = trace.steps;
    expect(answer).toMatchObject({ type: "model_call", finish_reason: "length" });
    expect(call).toMatchObject({ type: "tool_call", error: { code: "answer_cut_off" } });
  });

  test("the same call of a complete answer is executed", async () => {
    const { run, calls } = await runOf(
      provider,
      then((wire) => [...whole(wire, "wipe", "{}"), wire.end(wire.calls)]),
    );
    expect([run.status, run.output, calls]).toEqual(["completed", "Done.", 1]);
  });

  test.each(wires[provider].failing)("an answer that ends with %s is retried, and is no output", async (reason) => {
    const { run, trace, calls } = await runOf(
      provider,
      then((wire) => [wire.text("Hel"), ...whole(wire, "wipe", "{}"), wire.end(reason)]),
    );
    expect([run.status, run.output, calls]).toEqual(["completed", "Done.", 0]);
    expect(run.usage.model_calls).toBe(2);
    expect(trace.steps[0].retries[0].reason).toMatchObject({
      code: "model_error",
      message: expect.stringContaining(reason),
    });
  });
});

test("a fork and a replay of a run that continued after a truncation reuse its results and repeat no call", async () => {
  await useProject("forks");
  const before = wiped.length;
  let index = 0;
  const again: Say = (wire) => {
    const turn = index++ % 3;
    const call = whole(wire, "wipe", '{"all":true}');
    if (turn === 2) return [wire.begin(), wire.text("Done."), wire.end()];
    return [wire.begin(), ...call, wire.end(turn === 0 ? wire.cut : "tool_calls")];
  };
  const { run, calls } = await runOf("openai_compatible", again);
  expect([run.status, calls]).toEqual(["completed", 1]);
  const replay = (await client.post(`/v1/runs/${run.id}/replay`, { mode: "verify" })).body;
  expect(await settledRun(server, client, replay.id)).toMatchObject({
    status: "completed",
    output: "Done.",
    replay: { divergences: [] },
  });
  const fork = (await client.post(`/v1/runs/${run.id}/fork`, { step_index: -1, tools: "recorded_only" })).body;
  const own = await settledRun(server, client, fork.id);
  expect([own.status, own.output, wiped.length - before]).toEqual(["completed", "Done.", 1]);
  expect(own.tool_calls).toMatchObject([
    { status: "failed", error: { code: "answer_cut_off" } },
    { status: "completed", output: { wiped: true } },
  ]);
});
