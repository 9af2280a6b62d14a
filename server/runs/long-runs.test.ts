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
import { newId, siblingId } from "../domain/ids.ts";
import type { RunEvent } from "../domain/run-event.ts";
import { runObject } from "../domain/run-object.ts";
import { fold } from "../domain/run-state.ts";
import { Journal } from "../storage/journal/journal.ts";
import { longRunThreshold } from "../storage/journal/state-cache.ts";
import { type Client, type TestApp, testApp } from "../testing/test-app.ts";
import { createRunProjection } from "./run-projection.ts";

const journalOf = ({ db }: TestApp) =>
  new Journal({ db, project: createRunProjection(db.sqlite), wake: () => {}, now: Date.now });

/**
 * Writes a run with this number of calls, as its loop would have written it; an unfinished run waits for the last call.
 */
async function write(server: TestApp, client: Client, calls: number, isOver: boolean): Promise<string> {
  const run_id = newId("run");
  const ids = Array.from({ length: calls }, () => newId("tool_call"));
  const asked = newId("tool_call");
  const events: RunEvent[] = [
    created({ run_id, ...client.scope, action_timeout_ms: 3_600_000 }),
    started(0),
    completed(0, { answer: answer([text("I look."), ...ids.map((id) => asks(id))]) }),
    ...ids.flatMap((id, i): RunEvent[] => [
      requested(id, i + 1),
      toolStarted(id, i + 1),
      toolCompleted(id, i + 1),
      completed(i + 1, { step_type: "tool_call" }),
    ]),
  ];
  const call = { id: asked, run_id, tool_id: null, tool: "ask", arguments: {}, needs: "output" as const };
  const waiting: RunEvent[] = [
    started(calls + 1, { turn_index: 1 }),
    completed(calls + 1, { answer: answer([asks(asked)]) }),
    requested(asked, calls + 2, "output"),
    toolStarted(asked, calls + 2),
    {
      type: "run.requires_action",
      required_action: {
        type: "submit_tool_outputs",
        submit_tool_outputs: { tool_calls: [{ ...call, expires_at: new Date(Date.now() + 3_600_000).toISOString() }] },
      },
    },
  ];
  const { usage } = stateOf(...events);
  const end: RunEvent[] = [{ type: "run.completed", output: "Done.", output_json: null, usage }];
  await journalOf(server).append(run_id, [...events, ...(isOver ? end : waiting)]);
  return run_id;
}

const [short, long] = [3, longRunThreshold];

test.each([
  [short, true],
  [long, true],
  [short, false],
  [long, false],
])("a run of %d calls (over: %s) is read whole, or without the excluded lists", async (calls, isOver) => {
  await using server = testApp();
  const client = await server.client();
  const id = await write(server, client, calls, isOver);
  const { request_id, expires_at, ...whole } = (await client.get(`/v1/runs/${id}`)).body;
  expect(request_id).toStartWith("req_");
  const { expires_at: _, ...folded } = runObject(fold(journalOf(server).read(id)), null);
  expect(whole).toEqual(JSON.parse(JSON.stringify(folded)));
  expect(expires_at === null).toBe(isOver);
  for (const left of [["messages"], ["tool_calls"], ["messages", "tool_calls"], ["tool_calls", "messages"]]) {
    const { body } = await client.get(`/v1/runs/${id}?exclude=${left}`);
    const rest = Object.fromEntries(Object.entries(whole).filter(([name]) => !left.includes(name)));
    expect(body).toEqual({ ...rest, expires_at, request_id: expect.any(String) });
  }
});

test("a long finished run that was read is sent again without reading its entries, whole or without a list", async () => {
  await using server = testApp();
  const client = await server.client();
  const id = await write(server, client, long, true);
  const read = async (query = "") => {
    const { request_id: _, ...run } = (await client.get(`/v1/runs/${id}${query}`)).body;
    return run;
  };
  const whole = await read();
  const { tool_calls: _, ...withoutCalls } = await read("?exclude=tool_calls");
  let reads = 0;
  const { readSome } = Journal.prototype;
  Journal.prototype.readSome = function (...from) {
    reads++;
    return readSome.apply(this, from);
  };
  try {
    expect(await read()).toEqual(whole);
    expect(await read("?exclude=tool_calls")).toEqual(withoutCalls);
  } finally {
    Journal.prototype.readSome = readSome;
  }
  expect(reads).toBe(0);
});

test("a long run is not sent from memory once its trace or the run was deleted", async () => {
  await using server = testApp();
  const client = await server.client();
  const id = await write(server, client, long, true);
  expect((await client.get(`/v1/runs/${id}`)).body.tool_calls).toHaveLength(long);
  expect((await client.delete(`/v1/traces/${siblingId(id, "trace")}`)).status).toBe(200);
  expect((await client.get(`/v1/runs/${id}`)).body.tool_calls).toEqual([]);
  expect((await client.delete(`/v1/runs/${id}`)).status).toBe(200);
  expect((await client.get(`/v1/runs/${id}`)).status).toBe(404);
});

test("a long run that goes on is read with its newest entries each time", async () => {
  await using server = testApp();
  const client = await server.client();
  const id = await write(server, client, long, false);
  const before = (await client.get(`/v1/runs/${id}`)).body;
  expect(before.status).toBe("requires_action");
  expect((await client.post(`/v1/runs/${id}/cancel`, {})).status).toBe(200);
  const after = (await client.get(`/v1/runs/${id}`)).body;
  expect([after.status, after.tool_calls.at(-1).status]).toEqual(["cancelled", "cancelled"]);
});

test("other exclusions are rejected", async () => {
  await using server = testApp();
  const client = await server.client();
  const id = await write(server, client, short, true);
  for (const query of ["exclude=output", "exclude=", "exclude=messages&exclude=messages", "exclude=messages,"]) {
    const { status, body } = await client.get(`/v1/runs/${id}?${query}`);
    expect([status, body.error.param]).toEqual([400, "exclude"]);
  }
  expect((await client.get(`/v1/runs/${newId("run")}?exclude=messages`)).status).toBe(404);
});

test("a long finished run is read without its lists from two of its entries", async () => {
  await using server = testApp();
  const client = await server.client();
  const id = await write(server, client, long, true);
  const { messages, tool_calls, request_id: _, ...whole } = (await client.get(`/v1/runs/${id}`)).body;
  expect([messages.length, tool_calls.length]).toEqual([long + 2, long]);
  // Corrupt the entries in between: reading them would fail.
  server.db.sqlite.run("UPDATE run_events SET data = '{' WHERE run_id = ? AND seq BETWEEN 2 AND 900", [id]);
  const { request_id: __, ...bare } = (await client.get(`/v1/runs/${id}?exclude=messages,tool_calls`)).body;
  expect(bare).toEqual(whole);
});

test.each([true, false])(
  "a run of few large entries (over: %s) is read whole, and without its lists, which are then not read",
  async (isOver) => {
    await using server = testApp();
    const client = await server.client();
    const run_id = newId("run");
    const id = newId("tool_call");
    const events: RunEvent[] = [
      created({ run_id, ...client.scope, metadata: { a: "1" } }),
      started(0),
      completed(0, { answer: answer([text("x".repeat(700_000)), asks(id)]) }),
      requested(id, 1),
      toolStarted(id, 1),
      toolCompleted(id, 1, { output: "y".repeat(200_000) }),
      completed(1, { step_type: "tool_call" }),
      started(2, { turn_index: 1 }),
      completed(2, { answer: answer([text("z".repeat(700_000))]) }),
    ];
    const { usage } = stateOf(...events);
    const end: RunEvent[] = [{ type: "run.completed", output: "Done.", output_json: null, usage }];
    await journalOf(server).append(run_id, [...events, ...(isOver ? end : [])]);
    const { messages, tool_calls, request_id: _, ...whole } = (await client.get(`/v1/runs/${run_id}`)).body;
    expect([messages.length, tool_calls.length, tool_calls[0].output.length]).toEqual([4, 1, 200_000]);
    const bare = async () => {
      const { request_id: __, ...rest } = (await client.get(`/v1/runs/${run_id}?exclude=messages,tool_calls`)).body;
      return rest;
    };
    if (!isOver) expect(await bare()).toEqual(whole);
    server.db.sqlite.run("UPDATE blobs SET content = '{' WHERE octet_length(content) > 100000");
    expect(await bare()).toEqual(whole);
  },
);

test("a large input is not truncated when a run is read without its lists", async () => {
  await using server = testApp();
  const client = await server.client();
  const run_id = newId("run");
  const input = "x".repeat(200_000);
  await journalOf(server).append(run_id, [created({ run_id, ...client.scope, input }), started(0)]);
  expect((await client.get(`/v1/runs/${run_id}?exclude=messages,tool_calls`)).body.input).toBe(input);
});

test("a long run is cancelled, and a repeated request gets the same response", async () => {
  await using server = testApp();
  const client = await server.client();
  const id = await write(server, client, long, false);
  const headers = { authorization: `Bearer ${client.key.secret}`, "idempotency-key": "once" };
  const cancel = () => server.send("POST", `/v1/runs/${id}/cancel`, {}, headers);
  const first = await cancel();
  expect([first.status, first.body.status, first.body.tool_calls.length]).toEqual([200, "cancelled", long + 1]);
  const again = await cancel();
  expect({ ...again.body, request_id: "" }).toEqual({ ...first.body, request_id: "" });
  expect(again.headers.get("idempotent-replayed")).toBe("true");
  const now = (await client.get(`/v1/runs/${id}`)).body;
  expect({ ...now, request_id: "" }).toEqual({ ...first.body, request_id: "" });
});

test("a long run without its trace has its summary only, whatever is requested", async () => {
  await using server = testApp();
  const client = await server.client();
  const id = await write(server, client, long, true);
  const { status, output, usage } = (await client.get(`/v1/runs/${id}`)).body;
  expect((await client.delete(`/v1/traces/${id}`)).status).toBe(200);
  const left = (await client.get(`/v1/runs/${id}`)).body;
  expect(left).toMatchObject({ status, output, usage, messages: [], tool_calls: [], trace_id: null });
  const { messages: _, tool_calls: __, request_id: ___, ...bare } = left;
  expect((await client.get(`/v1/runs/${id}?exclude=messages,tool_calls`)).body).toMatchObject(bare);
});
