import { expect, test } from "bun:test";
import {
  answer,
  asks,
  completed,
  created,
  requested,
  started,
  stateOf,
  text,
  toolCompleted,
  toolStarted,
} from "../domain/__fixtures__/events.ts";
import { byteLength } from "../domain/byte-length.ts";
import { newId } from "../domain/ids.ts";
import { limits } from "../domain/limits.ts";
import type { RunEvent } from "../domain/run-event.ts";
import { Journal } from "../storage/journal/journal.ts";
import { type Client, type TestApp, testApp } from "../testing/test-app.ts";
import { createRunProjection } from "./run-projection.ts";

interface Asked {
  input?: string;
  output?: string;
  calls?: number;
  callBytes?: number;
}

/** Writes a finished run, as its loop would have written it. */
async function past({ db }: TestApp, client: Client, { input, output = "Done.", calls = 0, callBytes = 1 }: Asked) {
  const run_id = newId("run");
  const journal = new Journal({ db, project: createRunProjection(db.sqlite), wake: () => {}, now: Date.now });
  const ids = Array.from({ length: calls }, () => newId("tool_call"));
  const ofCalls = ids.flatMap((id, i): RunEvent[] => [
    requested(id, i + 1),
    toolStarted(id, i + 1),
    toolCompleted(id, i + 1, { output: `${i} ${"x".repeat(callBytes)}` }),
    completed(i + 1, { step_type: "tool_call" }),
  ]);
  const { usage } = stateOf(created(), started(0), completed(0, { answer: answer([]) }), ...ofCalls);
  await journal.append(run_id, [
    created({ run_id, ...client.scope, ...(input && { input }) }),
    started(0),
    completed(0, { answer: answer([text(output), ...ids.map((id) => asks(id))]) }),
    ...ofCalls,
    { type: "run.completed", output, output_json: null, usage },
  ]);
  return run_id;
}

const sizeOf = (body: unknown) => byteLength(JSON.stringify(body));

test("list items are summaries: messages and calls are omitted, and not read", async () => {
  await using server = testApp();
  const client = await server.client();
  const id = await past(server, client, { calls: 3, callBytes: 200_000 });
  const { messages, tool_calls, request_id: _, ...facts } = (await client.get(`/v1/runs/${id}`)).body;
  expect([messages.length, tool_calls.length]).toEqual([5, 3]);
  // Delete the call results: reading them would fail.
  server.db.sqlite.run("PRAGMA foreign_keys = OFF");
  server.db.sqlite.run("DELETE FROM blobs WHERE length(content) > 100000");
  const last_calls = ["model_call", "tool_call", "tool_call", "tool_call"];
  expect((await client.get("/v1/runs")).body.data).toEqual([{ ...facts, last_calls }]);
  expect((await client.get("/v1/traces")).body.data).toMatchObject([
    { run_id: id, steps_count: 4, usage: facts.usage },
  ]);
});

test("long input and output are truncated, and listed as such", async () => {
  await using server = testApp();
  const client = await server.client();
  const id = await past(server, client, { input: "i".repeat(200_000), output: "o".repeat(5_000) });
  const [run] = (await client.get("/v1/runs")).body.data;
  expect(run).toMatchObject({ id, input: "i".repeat(4096), output: "o".repeat(4096) });
  expect(run.truncated.toSorted()).toEqual(["input", "output"]);
  const whole = (await client.get(`/v1/runs/${id}`)).body;
  expect([whole.input.length, whole.output.length, whole.truncated]).toEqual([200_000, 5_000, undefined]);
});

test("with messages, runs are as complete as a page of a megabyte allows, and none is omitted", async () => {
  await using server = testApp();
  const client = await server.client();
  const small = [
    await past(server, client, { calls: 1 }),
    await past(server, client, { calls: 2, input: "i".repeat(9_000) }),
  ];
  const large = await past(server, client, { calls: 12, callBytes: 250_000 });
  const all = [small[0]!, large, small[1]!, await past(server, client, { output: "o".repeat(300_000) })];
  const seen = [];
  for (let after = "", more = true; more; ) {
    const { status, body } = await client.get(`/v1/runs?order=asc&include=messages${after}`);
    expect(status).toBe(200);
    expect(sizeOf(body)).toBeLessThanOrEqual(limits.page_bytes);
    seen.push(...body.data);
    [after, more] = [`&starting_after=${body.last_id}`, body.has_more];
  }
  expect(seen.map(({ id }) => id).toSorted()).toEqual(all.toSorted());
  for (const { truncated, last_calls: _, ...run } of seen) {
    const { request_id: _, ...whole } = (await client.get(`/v1/runs/${run.id}`)).body;
    if (run.id !== large) {
      expect([truncated, run]).toEqual([undefined, whole]);
      continue;
    }
    expect(truncated).toEqual(["messages", "tool_calls"]);
    expect(run.messages.length).toBeGreaterThan(1);
    expect(run.messages).toEqual(whole.messages.slice(0, run.messages.length));
    expect(run.tool_calls).toEqual(whole.tool_calls.slice(0, run.tool_calls.length));
  }
});

test("other values of include are rejected", async () => {
  await using server = testApp();
  const client = await server.client();
  const { status, body } = await client.get("/v1/runs?include=steps");
  expect([status, body.error.errors[0].param]).toEqual([400, "include"]);
});

test("lists of agents and of their versions have the beginning of long instructions, and no script", async () => {
  await using server = testApp();
  const client = await server.client();
  const order = {
    name: "Clerk",
    instructions: "Say so. ".repeat(30_000),
    model: "test/script",
    model_settings: { temperature: 0, script: [{ text: "x".repeat(200_000) }] },
    output_schema: { type: "object", description: "y".repeat(50_000) },
  };
  const { id } = (await client.post("/v1/agents", order)).body;
  for (const path of ["/v1/agents", `/v1/agents/${id}/versions`]) {
    const { body } = await client.get(path);
    const [agent] = body.data;
    expect(agent).toMatchObject({
      id,
      instructions: order.instructions.slice(0, 4096),
      model_settings: { temperature: 0 },
      output_schema: {},
    });
    expect(agent.model_settings).toEqual({ temperature: 0 });
    expect(agent.truncated.toSorted()).toEqual(["instructions", "model_settings", "output_schema"]);
  }
  expect((await client.get(`/v1/agents/${id}`)).body).toMatchObject(order);
});

test("a page of any list is at most a megabyte, and the rest follows on the next", async () => {
  await using server = testApp();
  const client = await server.client();
  const store = (await client.post("/v1/memory", { name: "notes", kind: "kv", scope: "project" })).body.id;
  for (let i = 0; i < 15; i++) await client.put(`/v1/memory/${store}/keys/k${i}`, { value: "é".repeat(49_000) });
  const run = await past(server, client, { calls: 9, callBytes: 250_000 });
  for (const [path, length] of [
    [`/v1/memory/${store}/keys`, 15],
    [`/v1/runs/${run}/events`, 40],
  ] as const) {
    const seen = [];
    for (let after = "", more = true; more; ) {
      const { body } = await client.get(`${path}?limit=100${after}`);
      expect(sizeOf(body)).toBeLessThanOrEqual(limits.page_bytes);
      seen.push(...body.data);
      [after, more] = [`&starting_after=${body.last_id}`, body.has_more];
    }
    expect([path, new Set(seen.map(({ key, seq }) => key ?? seq)).size, seen.length]).toEqual([path, length, length]);
  }
});
