import { expect, test } from "bun:test";
import { Webhook } from "standardwebhooks";
import { newId } from "../domain/ids.ts";
import type { ScriptEntry } from "../domain/model-call.ts";
import { parseFrames, textOfFrames } from "../testing/run-fixture.ts";
import { testActor } from "../testing/test-actor.ts";
import { type Client, type TestApp, testApp } from "../testing/test-app.ts";

const bearer = ({ key }: Client) => ({ authorization: `Bearer ${key.secret}` });
const refusal = ({ status, body }: Awaited<ReturnType<Client["get"]>>) => [
  status,
  body.error?.code,
  body.error?.param ?? null,
];

async function newAgent(client: Client, more: object = {}): Promise<string> {
  const { status, body } = await client.post("/v1/agents", {
    name: "Clerk",
    instructions: "Be brief.",
    model: "test/echo",
    ...more,
  });
  expect(status).toBe(201);
  return body.id;
}

const scripted = (client: Client, script: ScriptEntry[], more: object = {}) =>
  newAgent(client, { model: "test/script", model_settings: { script }, ...more });

/** An agent that calls one client tool and then says "Done.". */
async function asking(client: Client, more: object = {}) {
  const { body: tool } = await client.post("/v1/tools", { name: "look", ...more });
  const call = { name: "look", arguments: { at: "sky" } };
  const agent = await scripted(client, [{ text: "Wait. ", tool_calls: [call] }, { text: "Done." }], {
    tools: [tool.id],
  });
  return { tool: tool.id as string, agent };
}

/** Starts a run and waits until it is over or requires action. */
async function ran(client: Client, agent_id: string, more: object = {}) {
  const { status, body } = await client.post("/v1/runs?wait=60", { agent_id, input: "Hello", ...more });
  expect(status).toBe(201);
  return body;
}

const callOf = (run: { required_action: { submit_tool_outputs: { tool_calls: { tool_call_id: string }[] } } }) =>
  run.required_action.submit_tool_outputs.tool_calls[0]!.tool_call_id;

const answerOf = (run: Parameters<typeof callOf>[0], answer: object = { output: "blue" }) => ({
  tool_outputs: [{ tool_call_id: callOf(run), ...answer }],
});

/** Returns the run once `found` is true for it. */
async function until(server: TestApp, client: Client, id: string, found: (run: { status: string }) => boolean) {
  const watch = server.watches.join(id);
  try {
    for (;;) {
      const seen = watch.commits();
      const { body } = await client.get(`/v1/runs/${id}`);
      if (found(body)) return body;
      if (watch.commits() === seen && !(await watch.next(10_000))) throw new Error(`Waited in vain: ${body.status}.`);
    }
  } finally {
    watch.leave();
  }
}

const over = ({ status }: { status: string }) => status !== "in_progress";

// Creation

test("a run is created at once, with its location, and a client can wait for its end", async () => {
  await using server = testApp();
  const client = await server.client();
  const agent_id = await newAgent(client, { model: "test/timeout" });
  const { status, body, headers } = await client.post("/v1/runs", {
    agent_id,
    input: "Hello",
    session_id: "s 1",
    user_id: "u/1",
    metadata: { team: "red" },
  });
  expect([status, headers.get("location")]).toEqual([201, `/v1/runs/${body.id}`]);
  expect(body).toMatchObject({
    object: "run",
    status: "in_progress",
    agent_id,
    agent_version: 1,
    model: "test/timeout",
    input: "Hello",
    output: null,
    session_id: "s 1",
    user_id: "u/1",
    metadata: { team: "red" },
    attempt: 1,
    completed_at: null,
    ...client.scope,
  });
  expect((await client.get(headers.get("location")!)).body).toMatchObject({ id: body.id, session_id: "s 1" });
  expect(await ran(client, await newAgent(client))).toMatchObject({
    status: "completed",
    output: "Hello",
    expires_at: null,
  });
});

test("a response waits no longer than requested", async () => {
  await using server = testApp();
  const client = await server.client();
  const agent_id = await newAgent(client, { model: "test/timeout" });
  for (const wait of ["0", "00"])
    expect((await client.post(`/v1/runs?wait=${wait}`, { agent_id, input: "Hi" })).body.status).toBe("in_progress");
  for (const wait of ["", "-1", "61", "1.5", "1e1", "100", "abc"])
    expect(refusal(await client.post(`/v1/runs?wait=${wait}`, { agent_id, input: "Hi" }))).toEqual([
      400,
      "validation_failed",
      "wait",
    ]);
  expect((await client.get("/v1/runs")).body.data).toHaveLength(2);
});

test("an unknown field is rejected rather than ignored", async () => {
  await using server = testApp();
  const client = await server.client();
  const agent_id = await newAgent(client);
  const answer = await client.post("/v1/runs", { agent_id, input: "Hi", overrides: { budget: {} } });
  expect(refusal(answer)).toEqual([400, "unknown_parameter", "overrides.budget"]);
});

test("an input has at most 256 KB, counted in bytes", async () => {
  await using server = testApp();
  const client = await server.client();
  const agent_id = await newAgent(client);
  const most = "ü".repeat(131_072);
  expect((await ran(client, agent_id, { input: most })).output).toBe(most);
  expect(refusal(await client.post("/v1/runs", { agent_id, input: `${most}!` }))).toEqual([
    400,
    "validation_failed",
    "input",
  ]);
});

test("a run of a missing agent, or of another environment's, is rejected like every id in a body", async () => {
  await using server = testApp();
  const [client, live] = [await server.client(), await server.client({ environment: "live" })];
  const agent_id = await newAgent(client);
  for (const [asker, id] of [
    [client, newId("agent")],
    [client, "agt_none"],
    [live, agent_id],
  ] as const)
    expect(refusal(await asker.post("/v1/runs", { agent_id: id, input: "Hi" }))).toEqual([
      400,
      "validation_failed",
      "agent_id",
    ]);
  // Any other text is a name.
  const unnamed = await client.post("/v1/runs", { agent_id: "none", input: "Hi" });
  expect(refusal(unnamed)).toEqual([404, "resource_not_found", "agent_id"]);
});

test("a run with empty input is rejected", async () => {
  await using server = testApp();
  const client = await server.client();
  const answer = await client.post("/v1/runs", { agent_id: await newAgent(client), input: "" });
  expect(refusal(answer)).toEqual([400, "validation_failed", "input"]);
});

// Overrides and what is pinned

test("overrides apply to their run alone", async () => {
  await using server = testApp();
  const client = await server.client();
  const { body: tool } = await client.post("/v1/tools", { name: "look" });
  const looks = { tool_calls: [{ name: "look", arguments: {} }] };
  const agent_id = await scripted(client, [looks, looks]);
  const echoed = await ran(client, agent_id, {
    overrides: { model: "test/echo", instructions: "one two three four", output_schema: { type: "string" } },
    input: '"five"',
  });
  expect(echoed).toMatchObject({ model: "test/echo", output_json: "five", usage: { input_tokens: 5 } });
  const looking = await ran(client, agent_id, { overrides: { tools: [tool.id], max_turns: 1 } });
  expect(looking.required_action.submit_tool_outputs.tool_calls).toMatchObject([{ tool_id: tool.id }]);
  await client.post(`/v1/runs/${looking.id}/submit_tool_outputs`, answerOf(looking));
  const stopped = await until(server, client, looking.id, over);
  expect(stopped).toMatchObject({ status: "failed", error: { code: "max_turns_exceeded" } });
  expect((await client.get(`/v1/agents/${agent_id}`)).body).toMatchObject({ tools: [], max_turns: 25, version: 1 });
});

test.each<[object, string, string]>([
  [{ model: "openai/gpt-5" }, "model_not_available", "overrides.model"],
  [{ tools: [newId("tool")] }, "validation_failed", "overrides.tools[0]"],
  [{ output_schema: { type: "foo" } }, "validation_failed", "overrides.output_schema"],
  [{ instructions: "ü".repeat(200_000) }, "validation_failed", "overrides.instructions"],
  [{ max_turns: 0 }, "validation_failed", "overrides.max_turns"],
])("overrides that no agent could have are rejected: %.60j", async (overrides, ...expected) => {
  await using server = testApp();
  const client = await server.client();
  const agent_id = await newAgent(client);
  expect(refusal(await client.post("/v1/runs", { agent_id, input: "Hi", overrides }))).toEqual([400, ...expected]);
});

test("an agent and a tool that are changed and deleted during a run do not change the run", async () => {
  await using server = testApp();
  const client = await server.client();
  const { agent, tool } = await asking(client);
  const run = await ran(client, agent);
  const script = [{ text: "Changed." }, { text: "Changed." }];
  await client.patch(`/v1/agents/${agent}`, { model_settings: { script }, max_turns: 1 });
  await client.delete(`/v1/agents/${agent}`);
  await client.delete(`/v1/tools/${tool}`);
  const submitted = await client.post(`/v1/runs/${run.id}/submit_tool_outputs`, answerOf(run));
  expect(submitted.status).toBe(200);
  expect(await until(server, client, run.id, over)).toMatchObject({
    status: "completed",
    output: "Done.",
    agent_id: agent,
    agent_version: 1,
    tool_calls: [{ tool_id: tool, output: "blue" }],
  });
});

// Access

test("a key for some agents can neither start, read, answer nor end runs of others, and lists none", async () => {
  await using server = testApp();
  const client = await server.client();
  const { agent } = await asking(client);
  const own = await newAgent(client);
  const run = await ran(client, agent);
  const bound = await server.client({ agent_ids: [own] });
  const path = `/v1/runs/${run.id}`;
  const absent = refusal(await bound.get(`/v1/runs/${newId("run")}`));
  const start = async (agent_id: string) => refusal(await bound.post("/v1/runs", { agent_id, input: "Hi" }));
  expect(await start(agent)).toEqual(await start(newId("agent")));
  for (const asked of [
    bound.get(path),
    bound.get(`${path}/events`),
    bound.post(`${path}/submit_tool_outputs`, answerOf(run)),
    bound.post(`${path}/cancel`, {}),
    bound.delete(path),
    bound.get(`/v1/traces/${run.id}`),
    bound.delete(`/v1/traces/${run.id}`),
  ])
    expect(refusal(await asked)).toEqual(absent);
  expect((await bound.get("/v1/approvals")).body.data).toEqual([]);
  const mine = await ran(bound, own);
  for (const list of ["/v1/runs", "/v1/traces"])
    expect((await bound.get(list)).body.data).toMatchObject([{ agent_id: own }]);
  expect((await bound.get(`/v1/runs/${mine.id}`)).body.output).toBe("Hello");
  expect((await client.get("/v1/approvals")).body.data).toMatchObject([{ run_id: run.id }]);
});

test("a run of another project or environment is not found", async () => {
  await using server = testApp();
  const client = await server.client();
  const { agent } = await asking(client);
  const run = await ran(client, agent);
  for (const options of [{ project: "other" }, { environment: "live" as const }]) {
    const stranger = await server.client(options);
    const path = `/v1/runs/${run.id}`;
    for (const asked of [
      stranger.get(path),
      stranger.get(`${path}/events`),
      stranger.post(`${path}/cancel`, {}),
      stranger.post(`${path}/submit_tool_outputs`, answerOf(run)),
      stranger.delete(path),
    ])
      expect(refusal(await asked)).toEqual([404, "resource_not_found", null]);
    for (const list of ["/v1/runs", "/v1/approvals"]) expect((await stranger.get(list)).body.data).toEqual([]);
    expect((await stranger.get(`/v1/runs?starting_after=${run.id}`)).body.data).toEqual([]);
  }
  expect((await client.get(`/v1/runs/${run.id}`)).body.status).toBe("requires_action");
});

// Streams

test("a reader that has the last event gets 204, and an earlier one gets the rest", async () => {
  await using server = testApp();
  const client = await server.client();
  const agent_id = await scripted(client, [{ text: "One two." }]);
  const { body: run } = await client.post("/v1/runs?wait=60", { agent_id, input: "Hi" });
  expect(run.status).toBe("completed");
  const path = `/v1/runs/${run.id}/events`;
  const ask = (method: string, headers: Record<string, string>, query = "") =>
    server.send(method, path + query, undefined, { ...bearer(client), accept: "text/event-stream", ...headers });
  const last = parseFrames((await ask("GET", {})).body).at(-1)!;
  expect(last.event).toBe("run.completed");
  const answers = [
    await ask("GET", { "last-event-id": last.id }),
    await ask("HEAD", { "last-event-id": last.id }),
    await ask("GET", {}, `?starting_after=${last.id}`),
  ];
  for (const { status, body } of answers) expect([status, body]).toEqual([204, ""]);
  const before = await ask("GET", { "last-event-id": String(Number(last.id) - 1) });
  expect(before.status).toBe(200);
  expect(before.body).toStartWith("retry: 2000\nevent: run.completed\n");
  expect((await ask("GET", { "last-event-id": String(Number(last.id) + 1) })).body.error.code).toBe("invalid_cursor");
  expect((await server.send("GET", `${path}?starting_after=${last.id}`, undefined, bearer(client))).status).toBe(200);
});

test.each(["revoked", "expired", "archived"])(
  "the stream of a key that has been %s ends with that error",
  async (how) => {
    let at = 1_800_000_000_000;
    await using server = testApp({ now: () => at });
    const client = await server.client({ project: "shop" });
    const agent_id = await scripted(client, [{ tool_calls: [{ name: "look", arguments: {} }] }], {
      tools: [(await client.post("/v1/tools", { name: "look" })).body.id],
    });
    const { body: run } = await client.post("/v1/runs?wait=60", { agent_id, input: "Hi" });
    const { body: key } = await client.post("/v1/api_keys", { name: "k", scopes: ["read"], expires_in_seconds: 60 });
    const headers = { authorization: `Bearer ${key.secret}`, accept: "text/event-stream" };
    const stream = await server.app.handle(new Request(`http://localhost/v1/runs/${run.id}/events`, { headers }));
    if (how === "revoked") await client.delete(`/v1/api_keys/${key.id}`);
    if (how === "expired") at += 60_000;
    if (how === "archived") await server.projects.archive(client.scope.project_id, testActor);
    const blocks = (await stream.text()).trimEnd().split("\n\n");
    const [event, data = ""] = blocks.at(-1)!.split("\n");
    expect(event).toBe("event: error");
    const code = { revoked: "key_revoked", expired: "key_expired", archived: "project_archived" }[how];
    expect(JSON.parse(data.replace("data: ", "")).error).toMatchObject({
      code,
      type: "authentication_error",
      param: null,
    });
  },
);

test("a slim stream has the events and text of a full one; other frames are rejected before the run is created", async () => {
  await using server = testApp();
  const client = await server.client();
  const agent_id = await scripted(client, [{ text: "One two three.", delta_ms: 1 }]);
  const body = { agent_id, input: "Hi", stream: true };
  const { body: text } = await server.send("POST", "/v1/runs?frames=slim", body, bearer(client));
  const slim = parseFrames(text);
  const id = slim[0]!.data.id;
  const accept = { ...bearer(client), accept: "text/event-stream" };
  const full = parseFrames((await server.send("GET", `/v1/runs/${id}/events`, undefined, accept)).body);
  const events = (frames: typeof slim) => frames.filter(({ event }) => event !== "token");
  const joined = (frames: typeof slim) =>
    frames.flatMap(({ event, data }) => (event === "token" ? [data.delta] : [])).join("");
  expect(events(slim)).toEqual(events(full));
  expect([joined(slim), joined(full)]).toEqual(["One two three.", "One two three."]);
  const tokens = slim.filter(({ event }) => event === "token");
  expect(tokens.slice(1).map(({ data }) => Object.keys(data))).toEqual(tokens.slice(1).map(() => ["delta"]));
  for (const [method, path] of [
    ["POST", "/v1/runs"],
    ["GET", `/v1/runs/${id}/events`],
  ] as const) {
    const given = method === "POST" ? body : undefined;
    const refused = await server.send(method, `${path}?frames=thin`, given, accept);
    expect(refusal(refused)).toEqual([400, "validation_failed", "frames"]);
  }
  expect((await client.get(`/v1/runs?agent_id=${agent_id}`)).body.data).toHaveLength(1);
});

test("a stream has the run's events from its creation to its one end", async () => {
  await using server = testApp();
  const client = await server.client();
  const agent_id = await scripted(client, [{ reasoning: "Hm. ", text: "One two three." }]);
  const body = { agent_id, input: "Hi", stream: true };
  const { status, headers, body: text } = await server.send("POST", "/v1/runs", body, bearer(client));
  expect(status).toBe(200);
  expect(headers.get("content-type")).toStartWith("text/event-stream");
  expect(headers.get("cache-control")).toBe("no-store, no-transform");
  expect(headers.get("x-accel-buffering")).toBe("no");
  expect(headers.get("x-request-id")).toMatch(/^req_[0-9a-z]{26}$/);
  for (const name of ["limit", "remaining", "reset"]) expect(headers.get(`x-ratelimit-${name}`)).toMatch(/^\d+$/);
  expect(text).toStartWith("retry: 2000\nevent: run.created\nid: 1\n");
  const frames = parseFrames(text);
  const id = frames[0]!.data.id as string;
  expect(headers.get("location")).toBe(`/v1/runs/${id}`);
  expect(frames[0]!.data).toMatchObject({ agent_id, status: "in_progress", request_id: headers.get("x-request-id") });
  const journaled = frames.filter(({ event }) => event !== "token");
  expect(journaled.map((frame) => [frame.event, frame.id])).toEqual([
    ["run.created", "1"],
    ["step.started", "2"],
    ["step.completed", "3"],
    ["run.completed", "4"],
  ]);
  expect(frames.at(-1)).toMatchObject({
    event: "run.completed",
    data: { status: "completed", output: "One two three." },
  });
  expect(textOfFrames(frames)).toBe("One two three.");
  for (const { data } of frames) expect(data).toMatchObject({ run_id: id, seq: expect.any(Number) });
});

test("the stream of a failing run ends with run.failed, and nothing after it", async () => {
  await using server = testApp();
  const client = await server.client();
  const agent_id = await scripted(client, [{ text: "Half ", error: "broken" }]);
  const { body } = await server.send("POST", "/v1/runs", { agent_id, input: "Hi", stream: true }, bearer(client));
  const ends = parseFrames(body).filter(({ event }) => /^run\.(completed|failed)$/.test(event));
  expect(ends).toMatchObject([{ event: "run.failed", data: { status: "failed", error: { code: "model_error" } } }]);
  expect(parseFrames(body).at(-1)).toEqual(ends[0]!);
});

test("events are listed by seq, in pages, without deltas", async () => {
  await using server = testApp();
  const client = await server.client();
  const run = await ran(client, await newAgent(client));
  const path = `/v1/runs/${run.id}/events`;
  const { body } = await client.get(path);
  expect(body).toMatchObject({ object: "list", has_more: false, first_id: "1", last_id: "4" });
  expect(body.data.map(({ seq, event }: { seq: number; event: string }) => [seq, event])).toEqual([
    [1, "run.created"],
    [2, "step.started"],
    [3, "step.completed"],
    [4, "run.completed"],
  ]);
  expect(body.data[3]).toMatchObject({ at: expect.any(String), data: { seq: 4, output: "Hello", run_id: run.id } });
  const seqs = (page: { data: { seq: number }[] }) => page.data.map(({ seq }) => seq);
  const first = (await client.get(`${path}?limit=3`)).body;
  expect([seqs(first), first.has_more, first.last_id]).toEqual([[1, 2, 3], true, "3"]);
  const rest = (await client.get(`${path}?starting_after=${first.last_id}`)).body;
  expect([seqs(rest), rest.has_more]).toEqual([[4], false]);
  expect(seqs((await client.get(`${path}?starting_after=4`)).body)).toEqual([]);
  expect(refusal(await client.get(`${path}?limit=0`))).toEqual([400, "validation_failed", "limit"]);
});

test("a stream resumes after Last-Event-ID, which takes precedence over starting_after", async () => {
  await using server = testApp();
  const client = await server.client();
  const run = await ran(client, await newAgent(client));
  const read = async (query: string, last?: string) => {
    const headers = { ...bearer(client), accept: "text/event-stream", ...(last && { "last-event-id": last }) };
    const { body } = await server.send("GET", `/v1/runs/${run.id}/events${query}`, undefined, headers);
    return parseFrames(body).map(({ id }) => id);
  };
  expect(await read("")).toEqual(["1", "2", "2.5", "3", "4"]);
  expect(await read("?starting_after=2")).toEqual(["2.5", "3", "4"]);
  expect(await read("?starting_after=1", "2.5")).toEqual(["3", "4"]);
  expect(await read("", "2.3")).toEqual(["2.5", "3", "4"]);
  expect(await read("?starting_after=4")).toEqual([]);
});

test.each([["a list", "application/json"] as const, ["a stream", "text/event-stream"] as const])(
  "a cursor without an event of the run is invalid for %s",
  async (_, accept) => {
    await using server = testApp();
    const client = await server.client();
    const run = await ran(client, await newAgent(client));
    for (const cursor of ["5", "99.1", "x", "-1"]) {
      const path = `/v1/runs/${run.id}/events?starting_after=${cursor}`;
      const answer = await server.send("GET", path, undefined, { ...bearer(client), accept });
      expect(refusal(answer)).toEqual([400, "invalid_cursor", "starting_after"]);
    }
  },
);

test("submitted outputs can be followed by a stream from where the run had stopped", async () => {
  await using server = testApp();
  const client = await server.client();
  const { agent } = await asking(client);
  const run = await ran(client, agent);
  const events = (await client.get(`/v1/runs/${run.id}/events`)).body;
  const { status, body, headers } = await server.send(
    "POST",
    `/v1/runs/${run.id}/submit_tool_outputs`,
    { ...answerOf(run), stream: true },
    bearer(client),
  );
  expect([status, headers.get("cache-control")]).toEqual([200, "no-store, no-transform"]);
  const frames = parseFrames(body);
  expect(Number(frames[0]!.id)).toBe(Number(events.last_id) + 1);
  expect(frames[0]).toMatchObject({ event: "tool.completed", data: { result: "blue", tool_call_id: callOf(run) } });
  expect([textOfFrames(frames), frames.at(-1)!.event]).toEqual(["Done.", "run.completed"]);
});

test("a run has at most 20 readers, and a place is free again when one leaves", async () => {
  await using server = testApp();
  const client = await server.client();
  const { agent } = await asking(client);
  const run = await ran(client, agent);
  const open = () =>
    server.app.handle(
      new Request(`http://localhost/v1/runs/${run.id}/events`, {
        headers: { ...bearer(client), accept: "text/event-stream" },
      }),
    );
  const readers = [];
  for (let n = 0; n < 20; n++) {
    const reader = (await open()).body!.getReader();
    await reader.read();
    readers.push(reader);
  }
  const refused = await open();
  expect([refused.status, refused.headers.get("retry-after")]).toEqual([429, "5"]);
  await readers[0]!.cancel();
  expect((await open()).status).toBe(200);
  for (const reader of readers) await reader.cancel();
});

/** Streams a run over a real connection until its first text, then disconnects. */
async function hangUp(
  server: TestApp,
  client: Client,
  body: object,
  meanwhile: (id: string) => Promise<unknown> = async () => {},
): Promise<string> {
  const http = Bun.serve({ hostname: "127.0.0.1", port: 0, fetch: (request) => server.app.handle(request) });
  try {
    const abort = new AbortController();
    const response = await fetch(`http://127.0.0.1:${http.port}/v1/runs`, {
      method: "POST",
      headers: { ...bearer(client), "content-type": "application/json" },
      body: JSON.stringify({ ...body, stream: true }),
      signal: abort.signal,
    });
    const reader = response.body!.pipeThrough(new TextDecoderStream()).getReader();
    let text = "";
    while (!text.includes("event: token")) {
      const { value, done } = await reader.read();
      if (done) throw new Error("The stream ended too soon.");
      text += value;
    }
    const { id } = parseFrames(text)[0]!.data as { id: string };
    await meanwhile(id);
    abort.abort();
    await reader.read().catch(() => {});
    return id;
  } finally {
    await http.stop(true);
  }
}

test("a run is cancelled when its reader disconnects only if it was created so", async () => {
  await using server = testApp();
  const client = await server.client();
  const endless = await scripted(client, [{ text: "word ".repeat(50_000), delta_ms: 5 }]);
  const cancelled = await hangUp(server, client, { agent_id: endless, input: "Hi", on_disconnect: "cancel" });
  expect(await until(server, client, cancelled, over)).toMatchObject({
    status: "cancelled",
    error: { code: "run_cancelled" },
  });
  const { agent } = await asking(client);
  const kept = await hangUp(server, client, { agent_id: agent, input: "Hi" });
  const run = await until(server, client, kept, over);
  expect(run.status).toBe("requires_action");
  await client.post(`/v1/runs/${kept}/submit_tool_outputs`, answerOf(run));
  expect((await until(server, client, kept, over)).output).toBe("Done.");
});

test("a paused run is cancelled when its only reader disconnects, if it was created so", async () => {
  await using server = testApp();
  const client = await server.client();
  const agent_id = await scripted(client, [{ text: "Done." }]);
  const { body: ask } = await client.post("/v1/tools", { name: "ask", type: "agent", agent_id });
  const script = [{ text: "one two three", delta_ms: 20, tool_calls: [{ name: "ask", arguments: { input: "x" } }] }];
  const caller = await newAgent(client, { model: "test/script", model_settings: { script }, tools: [ask.id] });
  const body = { agent_id: caller, input: "Hi", on_disconnect: "cancel" };
  const id = await hangUp(server, client, body, async (run) => {
    await client.post(`/v1/runs/${run}/pause`, {});
    expect((await until(server, client, run, ({ status }) => status === "paused")).status).toBe("paused");
  });
  const isCancelled = ({ status }: { status: string }) => status === "cancelled";
  expect(await until(server, client, id, isCancelled)).toMatchObject({ error: { code: "run_cancelled" } });
});

test("a run with another reader is not cancelled when its first reader disconnects", async () => {
  await using server = testApp();
  const client = await server.client();
  const agent_id = await scripted(client, [{ text: "word ".repeat(50_000), delta_ms: 5 }]);
  const other = new AbortController();
  const id = await hangUp(server, client, { agent_id, input: "Hi", on_disconnect: "cancel" }, async (run) => {
    const headers = { ...bearer(client), accept: "text/event-stream" };
    const request = new Request(`http://localhost/v1/runs/${run}/events`, { headers, signal: other.signal });
    await server.app.handle(request);
  });
  while (server.watches.readers(id) > 1) await Bun.sleep(1);
  expect((await client.get(`/v1/runs/${id}`)).body.status).toBe("in_progress");
  other.abort();
  await client.post(`/v1/runs/${id}/cancel`);
});

// Ends

test("a run is cancelled at once and once; a run that ended otherwise cannot be cancelled", async () => {
  await using server = testApp();
  const client = await server.client();
  const agent_id = await newAgent(client, { model: "test/timeout" });
  const { body: run } = await client.post("/v1/runs", { agent_id, input: "Hi" });
  const path = `/v1/runs/${run.id}/cancel`;
  const first = await client.post(path, { reason: "enough" });
  expect([first.status, first.body.status, first.body.error]).toMatchObject([
    200,
    "cancelled",
    { code: "run_cancelled", message: expect.stringContaining("enough") },
  ]);
  const { request_id: _, ...cancelled } = first.body;
  const again = await client.post(path, { reason: "other" });
  expect([again.status, again.body]).toMatchObject([200, cancelled]);
  const done = await ran(client, await newAgent(client));
  expect(refusal(await client.post(`/v1/runs/${done.id}/cancel`, {}))).toEqual([409, "run_already_terminal", null]);
  expect((await client.get(`/v1/runs/${done.id}`)).body.status).toBe("completed");
});

test("a finished run is deleted once, with all its data", async () => {
  await using server = testApp();
  const client = await server.client();
  const { agent } = await asking(client);
  const { id } = await ran(client, agent);
  const path = `/v1/runs/${id}`;
  expect(refusal(await client.delete(path))).toEqual([409, "run_not_terminal", null]);
  await client.post(`${path}/cancel`, {});
  const deleted = await client.delete(path);
  expect([deleted.status, deleted.body]).toMatchObject([200, { id, object: "run", deleted: true }]);
  for (const asked of [
    client.delete(path),
    client.get(path),
    client.get(`${path}/events`),
    client.get(`/v1/traces/${id}`),
  ])
    expect((await asked).status).toBe(404);
  for (const table of ["runs", "run_events", "run_blobs", "blobs", "pending_calls"])
    expect(server.db.sqlite.query(`SELECT count(*) AS n FROM ${table}`).get()).toEqual({ n: 0 });
});

// Lists

test("runs are listed by status, agent, user, metadata and time", async () => {
  let clock = Date.UTC(2026, 0, 1);
  await using server = testApp({ now: () => clock });
  const client = await server.client();
  const [echo, { agent }] = [await newAgent(client), await asking(client)];
  const first = await ran(client, echo, { user_id: "u1", metadata: { team: "red", "a.b": "1" } });
  clock += 60_000;
  const second = await ran(client, agent, { user_id: "u2", metadata: { team: "blue" } });
  const found = async (query: string) =>
    (await client.get(`/v1/runs?${query}`)).body.data.map(({ id }: { id: string }) => id);
  expect(await found("")).toEqual([second.id, first.id]);
  expect(await found("order=asc")).toEqual([first.id, second.id]);
  expect(await found("status=completed")).toEqual([first.id]);
  expect(await found("status=requires_action")).toEqual([second.id]);
  expect(await found(`agent_id=${agent}`)).toEqual([second.id]);
  expect(await found("user_id=u1")).toEqual([first.id]);
  expect(await found("metadata[team]=blue")).toEqual([second.id]);
  expect(await found("metadata[a.b]=1&user_id=u2")).toEqual([]);
  expect(await found("created_at[gt]=2026-01-01T00:00:00Z")).toEqual([second.id]);
  expect(await found("created_at[gte]=2026-01-01T00:00:00Z&created_at[lt]=2026-01-01T00:01:00Z")).toEqual([first.id]);
  for (const [query, param] of [
    ["status=done", "status"],
    ["agent_id=x", "agent_id"],
    ["user_id=", "user_id"],
    ["created_at[gt]=today", "created_at[gt]"],
  ])
    expect(refusal(await client.get(`/v1/runs?${query}`))).toEqual([400, "validation_failed", param!]);
});

// Concurrency

test("of a hundred creations at once exactly as many succeed as may be in progress", async () => {
  await using server = testApp();
  const client = await server.client();
  const agent_id = await newAgent(client, { model: "test/timeout" });
  const answers = await Promise.all(
    Array.from({ length: 100 }, () => client.post("/v1/runs", { agent_id, input: "Hi" })),
  );
  const taken = answers.filter(({ status }) => status === 201);
  const refused = answers.filter(({ status }) => status !== 201);
  expect(taken).toHaveLength(20);
  for (const answer of refused) {
    expect(refusal(answer)).toEqual([429, "concurrency_limit_exceeded", null]);
    expect(Number(answer.headers.get("retry-after"))).toBeGreaterThan(0);
  }
  expect((await client.get("/v1/me")).body.runs_in_progress).toEqual({ limit: 20, remaining: 0 });
  await client.post(`/v1/runs/${taken[0]!.body.id}/cancel`, {});
  const live = await server.client({ project: "other" });
  expect((await client.post("/v1/runs", { agent_id, input: "Hi" })).status).toBe(201);
  expect((await live.post("/v1/runs", { agent_id: await newAgent(live), input: "Hi" })).status).toBe(201);
});

test("a waiting run takes no slot, and resumes without a refusal as soon as there is one", async () => {
  await using server = testApp();
  const client = await server.client();
  await server.projects.update(client.scope.project_id, { limits: { runs_in_progress: 1 } });
  const { agent } = await asking(client);
  const waiting = await ran(client, agent);
  const other = await client.post("/v1/runs", {
    agent_id: await newAgent(client, { model: "test/timeout" }),
    input: "Hi",
  });
  expect(other.status).toBe(201);
  const submitted = await client.post(`/v1/runs/${waiting.id}/submit_tool_outputs`, answerOf(waiting));
  expect([submitted.status, submitted.body.status]).toEqual([200, "in_progress"]);
  expect(server.pool.driving()).toBe(1);
  await client.post(`/v1/runs/${other.body.id}/cancel`, {});
  expect((await until(server, client, waiting.id, over)).output).toBe("Done.");
  expect((await ran(client, await newAgent(client))).status).toBe("completed");
});

// Tools and outputs

test("a run calls an HTTP tool, signed, and the model reads its output", async () => {
  await using server = testApp();
  const client = await server.client();
  const seen: { body: string; headers: Record<string, string> }[] = [];
  using receiver = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    async fetch(request) {
      seen.push({ body: await request.text(), headers: request.headers.toJSON() });
      return Response.json({ seats: 2 });
    },
  });
  const { body: tool } = await client.post("/v1/tools", {
    name: "book",
    url: `http://127.0.0.1:${receiver.port}/book`,
    headers: { authorization: "Bearer t" },
    parameters: { type: "object", properties: { seats: { type: "integer" } }, required: ["seats"] },
  });
  const script = [
    { tool_calls: [{ name: "book", arguments: { seats: "two" } }] },
    { tool_calls: [{ name: "book", arguments: { seats: 2 } }] },
    { text: "Booked." },
  ];
  const run = await ran(client, await scripted(client, script, { tools: [tool.id] }));
  expect(run).toMatchObject({
    status: "completed",
    output: "Booked.",
    tool_calls: [
      { status: "failed", error: { code: "invalid_arguments" }, attempts: 0 },
      { status: "completed", tool_id: tool.id, output: { seats: 2 }, attempts: 1 },
    ],
  });
  expect(seen).toHaveLength(1);
  const [{ body, headers }] = seen as [(typeof seen)[0]];
  expect(headers).toMatchObject({
    authorization: "Bearer t",
    "idempotency-key": run.tool_calls[1].id,
    "x-run-id": run.id,
  });
  expect(new Webhook(tool.signing_secret).verify(body, headers)).toEqual({ seats: 2 });
});

test("an HTTP tool on this machine is rejected in live, when it is created", async () => {
  await using server = testApp();
  const live = await server.client({ environment: "live" });
  const made = await live.post("/v1/tools", { name: "book", url: "http://127.0.0.1:9/" });
  expect(refusal(made)).toEqual([403, "url_not_allowed", "url"]);
});

test("an answer that matches the output_schema is returned as JSON; one that does not fails the run and is kept", async () => {
  await using server = testApp();
  const client = await server.client();
  const output_schema = { type: "object", properties: { n: { type: "integer" } }, required: ["n"] };
  const agent_id = await newAgent(client, { output_schema });
  expect(await ran(client, agent_id, { input: '{"n":1}' })).toMatchObject({
    status: "completed",
    output: '{"n":1}',
    output_json: { n: 1 },
  });
  for (const text of ['{"n":"x"}', "no JSON"]) {
    const stubborn = await scripted(client, [{ text }, { text }], { output_schema });
    expect(await ran(client, stubborn)).toMatchObject({
      status: "failed",
      output: text,
      output_json: null,
      error: { code: "output_schema_mismatch" },
    });
    const docile = await scripted(client, [{ text }, { text: '{"n":2}' }], { output_schema });
    expect(await ran(client, docile)).toMatchObject({ status: "completed", output_json: { n: 2 } });
  }
});

/** An agent whose HTTP tool needs approval, and a record of the tool's requests. */
async function approving(client: Client) {
  const asked: unknown[] = [];
  const receiver = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    async fetch(request) {
      asked.push(await request.json());
      return Response.json("sent");
    },
  });
  const { agent } = await asking(client, {
    url: `http://127.0.0.1:${receiver.port}/`,
    approval: "always",
    parameters: { type: "object", properties: { at: { type: "string" } }, required: ["at"] },
  });
  return { agent, asked, [Symbol.dispose]: () => void receiver.stop(true) };
}

test("a call that needs approval is listed, and runs with the arguments edited by a person", async () => {
  await using server = testApp();
  const client = await server.client();
  using tool = await approving(client);
  const run = await ran(client, tool.agent);
  const { body: list } = await client.get("/v1/approvals?needs=approval");
  expect(list.data).toMatchObject([
    {
      id: callOf(run),
      object: "approval",
      run_id: run.id,
      tool_call_id: callOf(run),
      name: "look",
      arguments: { at: "sky" },
      needs: "approval",
    },
  ]);
  expect((await client.get("/v1/approvals?needs=output")).body.data).toEqual([]);
  const path = `/v1/runs/${run.id}/submit_tool_outputs`;
  const bad = await client.post(path, answerOf(run, { decision: "approve", arguments: { at: 7 } }));
  expect(refusal(bad)).toEqual([400, "validation_failed", "tool_outputs[0].arguments"]);
  expect(tool.asked).toEqual([]);
  const approval = answerOf(run, { decision: "approve", arguments: { at: "sea" } });
  expect((await client.post(path, approval)).status).toBe(200);
  const done = await until(server, client, run.id, over);
  expect(done).toMatchObject({ status: "completed", tool_calls: [{ arguments: { at: "sea" }, output: "sent" }] });
  expect(tool.asked).toEqual([{ at: "sea" }]);
  expect((await client.get("/v1/approvals")).body.data).toEqual([]);
  expect((await client.post(path, approval)).status).toBe(200);
  const other = await client.post(path, answerOf(run, { decision: "reject" }));
  expect(refusal(other).slice(0, 2)).toEqual([409, "tool_call_already_resolved"]);
  const by = { type: "api_key", id: client.key.id };
  expect((await client.get(`/v1/traces/${run.id}`)).body.steps[1]).toMatchObject({
    input: { at: "sea" },
    approval: { decision: "approve", reason: null, edited: true, by },
  });
});

test("a client call approved with other arguments is listed with those, until its output comes", async () => {
  await using server = testApp();
  const client = await server.client();
  const { agent } = await asking(client, {
    approval: "always",
    parameters: { type: "object", properties: { at: { type: "string" } }, required: ["at"] },
  });
  const run = await ran(client, agent);
  const path = `/v1/runs/${run.id}/submit_tool_outputs`;
  expect((await client.post(path, answerOf(run, { decision: "approve", arguments: { at: "sea" } }))).status).toBe(200);
  expect((await client.get("/v1/approvals")).body.data).toMatchObject([{ needs: "output", arguments: { at: "sea" } }]);
});

test("a rejected call never runs, and the model is told why", async () => {
  await using server = testApp();
  const client = await server.client();
  using tool = await approving(client);
  const run = await ran(client, tool.agent);
  await client.post(
    `/v1/runs/${run.id}/submit_tool_outputs`,
    answerOf(run, { decision: "reject", reason: "Too dear." }),
  );
  const done = await until(server, client, run.id, over);
  expect(done).toMatchObject({
    status: "completed",
    output: "Done.",
    tool_calls: [{ status: "rejected", output: null, error: { message: expect.stringContaining("Too dear.") } }],
  });
  expect(done.messages.at(-2)).toMatchObject({ role: "tool", content: expect.stringContaining("Too dear.") });
  expect(tool.asked).toEqual([]);
  const by = { type: "api_key", id: client.key.id };
  const { steps } = (await client.get(`/v1/traces/${run.id}`)).body;
  expect(steps[1].approval).toMatchObject({ decision: "reject", reason: expect.stringContaining("Too dear."), by });
});
