import { afterEach, expect, test } from "bun:test";
import { learntRefusals } from "../storage/db/schema.ts";
import { visitorOf } from "../testing/console-visitor.ts";
import { refuses, says, startModelServer } from "../testing/model-servers.ts";
import { testActor } from "../testing/test-actor.ts";
import { type TestAppOptions, testApp } from "../testing/test-app.ts";

// Refusals of servers, over restarts of the process.

const open: AsyncDisposable[] = [];
afterEach(async () => {
  for (const one of open.splice(0).reverse()) await one[Symbol.asyncDispose]();
});

/** Starts a model server that refuses these fields, one after the other. */
function strictServer(...fields: string[]) {
  const server = startModelServer("gpu", (body) => {
    const refused = fields.find((field) => field in body);
    return refused === undefined ? says("Hi.") : refuses(400, `Unrecognized request argument supplied: ${refused}`);
  });
  open.push(server);
  return server;
}

async function started(options: TestAppOptions) {
  const app = testApp({ masterKey, ...options });
  open.push({ [Symbol.asyncDispose]: () => app.stop() });
  const client = await app.client();
  return {
    app,
    client,
    /** Runs an agent, and returns what was left out of its request. */
    async run(model: string, more: object = {}) {
      const settings = { parallel_tool_calls: true, seed: 7, ...more };
      const made = await client.post("/v1/agents", { name: "A", instructions: "", model, model_settings: settings });
      const ran = await client.post("/v1/runs?wait=60", { agent_id: made.body.id, input: "Hello" });
      const [step] = (await client.get(`/v1/traces/${ran.body.id}`)).body.steps;
      const names = step.adjustments?.map(({ field }: { field: string }) => field) ?? [];
      return { output: ran.body.output, left: names };
    },
  };
}

const masterKey = crypto.getRandomValues(new Uint8Array(32));

test("after a restart no request has what the server refused before it, and the trace still says so", async () => {
  const server = strictServer("stream_options", "seed");
  const { environment, model, requests } = server;
  const first = await started({ environment });
  expect(await first.run(model)).toEqual({ output: "Hi.", left: ["seed", "stream_options"] });
  expect(requests).toHaveLength(3);
  // Another process opens its database.
  await first.app.stop();
  const second = await started({ environment, db: first.app.db });
  expect(await second.run(model)).toEqual({ output: "Hi.", left: ["seed", "stream_options"] });
  expect(requests).toHaveLength(4);
  // Another model of the same server may take it.
  await second.run("openai_compatible/gpu/other");
  expect(requests).toHaveLength(7);
});

test("another key, another address or a removal forgets them, and connections show them as long as they count", async () => {
  const server = strictServer("stream_options");
  const base_url = server.environment.RUNNEL_MODEL_GPU_BASE_URL ?? "";
  const { app, run } = await started({ dashboard: true });
  const connection = { name: "gpu", provider: "openai_compatible" as const, base_url, api_key: "first-key-0123" };
  await app.connections.put(connection, testActor);
  const owner = await visitorOf(app, "owner");
  const shown = async () => {
    const { body } = await owner.send("GET", "/connections");
    return body.data.find(({ name }: { name: string }) => name === "gpu").refusals;
  };
  expect(await shown()).toEqual([]);
  await run(server.model);
  expect(await shown()).toMatchObject([{ model: server.model, fields: ["stream_options"] }]);
  await app.connections.update("gpu", { api_key: "second-key-0123" }, testActor);
  expect(await shown()).toEqual([]);
  const asked = server.requests.length;
  await run(server.model);
  expect(server.requests).toHaveLength(asked + 2);
  expect(await shown()).toHaveLength(1);
  await app.connections.remove("gpu", testActor);
  await app.connections.put(connection, testActor);
  expect(await shown()).toEqual([]);
});

test("a refusal that follows from an agent's own fields counts for requests with the same fields only", async () => {
  // Two cases: a model that takes a setting only without reasoning, and a gateway that chooses a server by a field.
  const server = startModelServer("gpu", (body) =>
    "thinking" in body && "seed" in body ? refuses(400, "seed is not supported with thinking") : says("Hi."),
  );
  open.push(server);
  const { environment, model, requests } = server;
  const first = await started({ environment });
  const thinking = { extra_body: { thinking: { type: "enabled" } } };
  expect(await first.run(model, thinking)).toEqual({ output: "Hi.", left: ["seed"] });
  expect(await first.run(model, thinking)).toEqual({ output: "Hi.", left: ["seed"] });
  expect(requests).toHaveLength(3);
  expect(await first.run(model)).toEqual({ output: "Hi.", left: [] });
  await first.app.stop();
  const second = await started({ environment, db: first.app.db });
  expect(await second.run(model)).toEqual({ output: "Hi.", left: [] });
  expect(requests).toHaveLength(5);
});

test("a refusal that did not help is not remembered, nor one older than a month", async () => {
  const clock = { ms: Date.now() };
  const server = startModelServer("gpu", () => refuses(400, "Unrecognized request argument supplied: seed"));
  open.push(server);
  const { environment, model } = server;
  const first = await started({ environment, now: () => clock.ms });
  await first.run(model);
  expect(first.app.db.orm.select().from(learntRefusals).all()).toEqual([]);
  server.behave((body) =>
    "seed" in body ? refuses(400, "Unrecognized request argument supplied: seed") : says("Hi."),
  );
  const requestsOf = async () => {
    const before = server.requests.length;
    const { run } = await started({ environment, now: () => clock.ms, db: first.app.db });
    expect((await run(model)).output).toBe("Hi.");
    return server.requests.length - before;
  };
  expect([await requestsOf(), await requestsOf()]).toEqual([2, 1]);
  clock.ms += 31 * 86_400_000;
  expect(await requestsOf()).toBe(2);
});
