import { expect, test } from "bun:test";
import { type ChatAnswer, startChatServer } from "../../testing/model-server.ts";
import { settledRun } from "../../testing/settled-run.ts";
import { type Client, testApp } from "../../testing/test-app.ts";
import { createModelPlaces } from "./model-places.ts";

const answer = { text: "Hi.", prompt_tokens: 1, completion_tokens: 1 };

/** Starts a model server that answers on demand, and records its requests at once. */
function busyServer(max_concurrent: number) {
  const waiting: { input: string; answer: (said?: ChatAnswer) => void }[] = [];
  let [inside, most] = [0, 0];
  let asked = Promise.withResolvers<void>();
  const chat = startChatServer(async ({ messages }, _, gone) => {
    most = Math.max(most, ++inside);
    const { promise, resolve } = Promise.withResolvers<ChatAnswer>();
    waiting.push({ input: messages.at(-1)!.content, answer: (said = answer) => resolve(said) });
    gone.addEventListener("abort", () => resolve(answer));
    asked.resolve();
    asked = Promise.withResolvers();
    const said = await promise;
    inside--;
    return said;
  });
  return {
    environment: { ...chat.environment, RUNNEL_MODEL_STUB_MAX_CONCURRENT: String(max_concurrent) },
    most: () => most,
    /** Returns the next call, and waits for it. */
    async next() {
      while (waiting.length === 0) await asked.promise;
      return waiting.shift()!;
    },
    waits: () => waiting.length,
    [Symbol.asyncDispose]: () => chat[Symbol.asyncDispose](),
  };
}

async function agentOf(client: Client): Promise<string> {
  const { body } = await client.post("/v1/agents", {
    name: "Clerk",
    instructions: "",
    model: "openai_compatible/stub/m",
  });
  return body.id;
}

const start = async (client: Client, agent_id: string, input: string): Promise<string> =>
  (await client.post("/v1/runs", { agent_id, input })).body.id;

test("a server with two slots never has three calls, over all projects, and all runs are answered", async () => {
  await using model = busyServer(2);
  await using server = testApp({ environment: model.environment });
  const clients = [await server.client(), await server.client({ project: "other" })];
  const runs: [Client, string][] = [];
  for (const client of clients) {
    const agent = await agentOf(client);
    for (let count = 0; count < 5; count++) runs.push([client, await start(client, agent, "Hello")]);
  }
  for (let pair = 0; pair < runs.length / 2; pair++)
    for (const call of [await model.next(), await model.next()]) call.answer();
  for (const [client, id] of runs) expect((await settledRun(server, client, id)).status).toBe("completed");
  expect(model.most()).toBe(2);
});

test("projects take turns at a server: one with many runs does not make another wait behind them", async () => {
  await using model = busyServer(1);
  await using server = testApp({ environment: model.environment });
  const [noisy, quiet] = [await server.client(), await server.client({ project: "quiet" })];
  const agents = [await agentOf(noisy), await agentOf(quiet)];
  for (let count = 0; count < 8; count++) await start(noisy, agents[0]!, "noise");
  const first = await model.next();
  const id = await start(quiet, agents[1]!, "quiet");
  while ((await quiet.get(`/v1/traces/${id}`)).body.steps.length === 0) await new Promise(setImmediate);
  first.answer();
  const inputs: string[] = [];
  for (let count = 0; count < 8; count++) {
    const call = await model.next();
    inputs.push(call.input);
    call.answer();
  }
  expect((await settledRun(server, quiet, id)).status).toBe("completed");
  // The call has begun, and may ask for a slot that was just given away.
  expect(inputs.indexOf("quiet")).toBeLessThanOrEqual(1);
});

test("the metrics show the number of slots, of taken ones and of waiting calls", async () => {
  await using model = busyServer(2);
  await using server = testApp({ environment: model.environment });
  const client = await server.client();
  const agent = await agentOf(client);
  const figures = async () => {
    const { body } = await server.send("GET", "/metrics");
    const of = (name: string) =>
      new RegExp(`^runnel_model_${name}{connection="openai_compatible/stub"} (\\d+)$`, "m").exec(body)?.[1];
    return [of("places"), of("places_taken"), of("calls_waiting")];
  };
  const runs: string[] = [];
  for (let count = 0; count < 5; count++) runs.push(await start(client, agent, "Hello"));
  while ((await figures())[2] !== "3") await new Promise(setImmediate);
  expect(await figures()).toEqual(["2", "2", "3"]);
  await client.post(`/v1/runs/${runs[4]}/cancel`, {});
  while ((await figures())[2] !== "2") await new Promise(setImmediate);
  for (let count = 0; count < 4; count++) (await model.next()).answer();
  for (const id of runs.slice(0, 4)) await settledRun(server, client, id);
  while ((await figures())[1] !== "0") await new Promise(setImmediate);
  expect(await figures()).toEqual(["2", "0", "0"]);
});

test("a cancelled run frees its slot for the next, and a cancelled waiting run is never called", async () => {
  await using model = busyServer(1);
  await using server = testApp({ environment: model.environment });
  const client = await server.client();
  const agent = await agentOf(client);
  const [first, second, third] = [
    await start(client, agent, "first"),
    await start(client, agent, "second"),
    await start(client, agent, "third"),
  ];
  expect((await model.next()).input).toBe("first");
  for (const id of [second, first]) expect((await client.post(`/v1/runs/${id}/cancel`, {})).status).toBe(200);
  const last = await model.next();
  expect(last.input).toBe("third");
  last.answer();
  expect((await settledRun(server, client, third!)).status).toBe("completed");
  expect(model.waits()).toBe(0);
});

test("a call that waits for its next attempt has no slot meanwhile", async () => {
  await using model = busyServer(1);
  await using server = testApp({ environment: model.environment });
  const client = await server.client();
  const agent = await agentOf(client);
  const broken = await start(client, agent, "broken");
  const failing = await model.next();
  const next = await start(client, agent, "next");
  failing.answer({ ...answer, finish: null });
  const other = await model.next();
  expect(other.input).toBe("next");
  other.answer();
  (await model.next()).answer();
  for (const id of [broken, next]) expect((await settledRun(server, client, id)).status).toBe("completed");
});

test("a changed number of slots applies at once, also to waiting calls", async () => {
  let count: number | null = 1;
  const places = createModelPlaces({ countOf: () => count });
  const run = (run_id: string) => ({ project_id: "p", environment: "test" as const, run_id });
  const first = await places.take(run("run_1"), "gpu");
  const seated: string[] = [];
  const waits = ["run_2", "run_3"].map((id) => places.take(run(id), "gpu").then(() => seated.push(id)));
  await new Promise(setImmediate);
  expect(seated).toEqual([]);
  count = 3;
  await places.take(run("run_4"), "gpu");
  await Promise.all(waits);
  expect(seated).toEqual(["run_2", "run_3"]);
  count = null;
  await places.take(run("run_5"), "gpu");
  places.free(first);
  places.free(first);
});

test("embeddings and rerank calls share a server's slots with runs, and leave the queue when they are cancelled", async () => {
  const places = createModelPlaces({ countOf: () => 1 });
  const scope = { project_id: "proj_1", environment: "test" as const };
  const place = await places.take({ ...scope, run_id: "run_1" }, "ollama");
  const began: string[] = [];
  const given = new AbortController();
  const never = new AbortController().signal;
  const embedded = places.during(scope, "ollama", never, async () => void began.push("embedding"));
  const left = places.during(scope, "ollama", given.signal, async () => void began.push("given up"));
  given.abort(new Error("late"));
  await expect(left).rejects.toThrow("late");
  expect(began).toEqual([]);
  places.free(place);
  await embedded;
  expect(began).toEqual(["embedding"]);
  places.free(await places.take({ ...scope, run_id: "run_2" }, "ollama"));
});
