import { afterAll, beforeAll, expect, test } from "bun:test";
import { limits } from "../../domain/limits.ts";
import { type Client, testApp } from "../../testing/test-app.ts";

const server = testApp();
let client: Client;
let over: string;
let waiting: { id: string; call: string };

beforeAll(async () => {
  client = await server.client();
  over = (await runOf([{ text: "Hello to you." }])).id;
  waiting = await makeWaiting();
});
afterAll(() => server[Symbol.asyncDispose]());

// biome-ignore lint/suspicious/noExplicitAny: a run, as a test looks at it.
async function runOf(script: object[], tools: string[] = [], of = client): Promise<any> {
  const model_settings = { script };
  const agent = await of.post("/v1/agents", {
    name: "a",
    instructions: "",
    model: "test/script",
    model_settings,
    tools,
  });
  return (await of.post("/v1/runs?wait=60", { agent_id: agent.body.id, input: "Hi.", user_id: "ada" })).body;
}

async function makeWaiting() {
  const name = `tool_${crypto.randomUUID().slice(0, 8)}`;
  const tool = (await client.post("/v1/tools", { name })).body;
  const run = await runOf([{ tool_calls: [{ name, arguments: {} }] }, { text: "Done." }], [tool.id]);
  return { id: run.id as string, call: run.required_action.submit_tool_outputs.tool_calls[0].tool_call_id as string };
}
const answer = ({ id, call }: { id: string; call: string }) =>
  client.post(`/v1/runs/${id}/submit_tool_outputs`, { tool_outputs: [{ tool_call_id: call, output: "fine" }] });

const read = (id: string, query = "", { method = "GET", secret = client.key.secret, headers = {} } = {}) =>
  server.send(method, `/streams/v1/runs/${id}${query}`, undefined, { authorization: `Bearer ${secret}`, ...headers });

interface Message {
  event: string;
  id: string;
  data: { delta?: string };
}
const textOf = (messages: Message[]) => messages.map(({ data }) => data.delta ?? "").join("");

test("a run that is over is read whole, as JSON, with its end", async () => {
  const { status, body, headers } = await read(over);
  expect(status).toBe(200);
  const messages: Message[] = typeof body === "string" ? JSON.parse(body) : body;
  expect([messages[0]!.event, messages.at(-1)!.event, textOf(messages)]).toEqual([
    "run.created",
    "run.completed",
    "Hello to you.",
  ]);
  expect([headers.get("stream-closed"), headers.get("stream-up-to-date")]).toEqual(["true", "true"]);
  expect(headers.get("content-type")).toBe("application/json");
  const again = await read(over, "?offset=-1");
  expect(again.body).toEqual(body);
});

test("from every position, exactly the rest is read", async () => {
  const { body, headers } = await read(over);
  const tail = headers.get("stream-next-offset")!;
  const offsets = (body as Message[]).map(({ id }) => {
    const [seq = "0", offset = "0"] = id.split(".");
    return `${seq.padStart(15, "0")}_${offset.padStart(15, "0")}`;
  });
  expect(offsets.at(-1)).toBe(tail);
  for (const [index, offset] of offsets.entries())
    expect((await read(over, `?offset=${offset}`)).body).toEqual(body.slice(index + 1));
  const end = await read(over, `?offset=${tail}`);
  expect([end.body, end.headers.get("stream-closed"), end.headers.get("stream-next-offset")]).toEqual([
    [],
    "true",
    tail,
  ]);
});

test("a stream that did not change is 304, and another one once its run is over", async () => {
  const run = await makeWaiting();
  const first = await read(run.id);
  const etag = first.headers.get("etag")!;
  expect((await read(run.id, "", { headers: { "if-none-match": etag } })).status).toBe(304);
  await client.post(`/v1/runs/${run.id}/cancel`);
  expect((await read(run.id, "", { headers: { "if-none-match": etag } })).status).toBe(200);
});

test("a long record is read page by page, and only the last page is marked as final", async () => {
  const run = await makeLong();
  const { body: whole } = await client.get(`/v1/runs/${run}/events?limit=100`);
  const seen: Message[] = [];
  let [offset, pages, isClosed] = ["-1", 0, false];
  for (; !isClosed; pages++) {
    const { body, headers } = await read(run, `?offset=${offset}`);
    expect(body.length).toBeGreaterThan(0);
    seen.push(...body);
    isClosed = headers.get("stream-closed") === "true";
    expect(headers.get("stream-up-to-date") === "true").toBe(isClosed);
    offset = headers.get("stream-next-offset")!;
  }
  expect(pages).toBeGreaterThan(1);
  const entries = seen.filter(({ event }) => event !== "token").map(({ id }) => Number(id));
  expect(entries).toEqual(entries.map((_, index) => index + 1));
  expect(entries.slice(0, whole.data.length)).toEqual(whole.data.map(({ seq }: { seq: number }) => seq));
});

/** A run with a record of several megabytes. */
async function makeLong(): Promise<string> {
  const name = `tool_${crypto.randomUUID().slice(0, 8)}`;
  const tool = (await client.post("/v1/tools", { name })).body;
  const calls = Array<object>(12).fill({ name, arguments: {} });
  const { id, required_action } = await runOf([{ tool_calls: calls }, { text: "Done." }], [tool.id]);
  const asked: { tool_call_id: string }[] = required_action.submit_tool_outputs.tool_calls;
  for (let i = 0; i < asked.length; i += 3) {
    const outputs = asked.slice(i, i + 3).map(({ tool_call_id }) => ({ tool_call_id, output: "x".repeat(200_000) }));
    const stream = i + 3 >= asked.length; // The last response is read to the end.
    await client.post(`/v1/runs/${id}/submit_tool_outputs`, { tool_outputs: outputs, stream });
  }
  return id;
}

test("HEAD tells where the stream ends and whether it is closed, and has no body", async () => {
  const [closed, open] = [await read(over, "", { method: "HEAD" }), await read(waiting.id, "", { method: "HEAD" })];
  expect([closed.status, closed.body, closed.headers.get("stream-closed")]).toEqual([200, "", "true"]);
  expect([open.headers.get("stream-closed"), open.headers.get("cache-control")]).toEqual([null, "no-store"]);
  const tail = (await read(waiting.id)).headers.get("stream-next-offset");
  expect(open.headers.get("stream-next-offset")).toBe(tail);
});

test("`now` is the tail: none of the past, and the end if there is one", async () => {
  for (const [id, closed] of [
    [over, "true"],
    [waiting.id, null],
  ] as const) {
    const { body, headers } = await read(id, "?offset=now");
    expect([body, headers.get("stream-closed"), headers.get("etag")]).toEqual([[], closed, null]);
    expect(headers.get("stream-next-offset")).toBe(
      (await read(id, "", { method: "HEAD" })).headers.get("stream-next-offset"),
    );
  }
});

test("a long poll returns when something comes, and at once where the stream is closed", async () => {
  const run = await makeWaiting();
  const tail = (await read(run.id)).headers.get("stream-next-offset");
  const poll = read(run.id, `?offset=${tail}&live=long-poll`);
  await answer(run);
  const { status, body, headers } = await poll;
  expect([status, body[0].event, headers.has("stream-cursor")]).toEqual([200, "tool.completed", true]);
  const end = await read(over, "?offset=now&live=long-poll");
  expect([end.status, end.headers.get("stream-closed"), end.headers.get("stream-up-to-date")]).toEqual([
    204,
    "true",
    "true",
  ]);
});

test("a long poll is one of the readers that a run may have, and none once it was answered", async () => {
  const run = await makeWaiting();
  const polls = Array.from({ length: limits.stream_readers_per_run }, () => read(run.id, "?offset=now&live=long-poll"));
  await Promise.resolve();
  for (const live of ["long-poll", "sse"]) {
    const { status, body, headers } = await read(run.id, `?offset=now&live=${live}`);
    expect([live, status, body.error.code, headers.has("retry-after")]).toEqual([live, 429, "rate_limited", true]);
  }
  await answer(run);
  for (const { status } of await Promise.all(polls)) expect(status).toBe(200);
  expect(server.watches.readers(run.id)).toBe(0);
});

test("a long poll shows nothing to a token that is over by then, and ends with its server as if nothing had come", async () => {
  let time = Date.now();
  await using other = testApp({ now: () => time });
  const owner = await other.client();
  const tools = [(await owner.post("/v1/tools", { name: "ask" })).body.id];
  const asking = async () =>
    await runOf([{ tool_calls: [{ name: "ask", arguments: {} }] }, { text: "Done." }], tools, owner);
  /** The response to a waiting poll. */
  const poll = async (id: string, secret: string): Promise<{ answer: ReturnType<typeof other.send> }> => {
    const readers = other.watches.readers(id);
    const authorization = `Bearer ${secret}`;
    const answer = other.send("GET", `/streams/v1/runs/${id}?offset=now&live=long-poll`, undefined, { authorization });
    while (other.watches.readers(id) === readers) await new Promise((resolve) => setImmediate(resolve));
    return { answer };
  };
  const [run, waits] = [await asking(), await asking()];
  const asked = { agent_id: run.agent_id, user_id: "ada", scopes: ["read"], expires_in_seconds: 60 };
  const { token } = (await owner.post("/v1/client_tokens", asked)).body;
  const [byToken, byKey] = [await poll(run.id, token), await poll(run.id, owner.key.secret)];
  time += 61_000;
  const [{ tool_call_id }] = run.required_action.submit_tool_outputs.tool_calls;
  await owner.post(`/v1/runs/${run.id}/submit_tool_outputs`, { tool_outputs: [{ tool_call_id, output: "x" }] });
  const refused = await byToken.answer;
  expect([refused.status, refused.body.error.code]).toEqual([401, "client_token_expired"]);
  expect((await byKey.answer).status).toBe(200);

  const last = await poll(waits.id, owner.key.secret);
  await other.stop();
  const { status, body, headers } = await last.answer;
  expect([status, body, headers.get("stream-closed")]).toEqual([204, "", null]);
  expect(headers.get("stream-next-offset")).toMatch(/^\d{15}_\d{15}$/);
});

/** The events of an SSE stream, until it ends. */
const sseOf = (text: string) =>
  [...text.matchAll(/^event: (.*)\ndata:(.*)$/gm)].map(([, event, data]) => ({ event, data: JSON.parse(data!) }));

test("by SSE, each piece of data is followed by its position, and the last marks the end", async () => {
  const run = await makeWaiting();
  const live = read(run.id, "?offset=-1&live=sse");
  await answer(run);
  const events = sseOf((await live).body as string);
  const names = events.map(({ event }) => event);
  expect(names.slice(0, -1)).toEqual(names.slice(0, -1).map((_, index) => (index % 2 === 0 ? "data" : "control")));
  const messages: Message[] = events.filter(({ event }) => event === "data").flatMap(({ data }) => data);
  // Text may arrive in other pieces while the model writes, so compare the rest.
  const steady = (all: Message[]) => all.filter(({ event }) => event !== "token");
  const recorded: Message[] = (await read(run.id)).body;
  expect([steady(messages), textOf(messages)]).toEqual([steady(recorded), textOf(recorded)]);
  const last = events.at(-1)!.data;
  expect(last).toEqual({ streamNextOffset: expect.any(String), streamClosed: true, upToDate: true });
  for (const { event, data } of events.slice(0, -1)) if (event === "control") expect(data.streamCursor).toBeString();
});

test("by SSE, a reader at the end of a closed stream is told so at once", async () => {
  const { body, headers } = await read(over, "?offset=now&live=sse");
  expect([headers.get("content-type"), headers.get("cache-control")]).toEqual([
    "text/event-stream",
    "no-cache, no-store, no-transform",
  ]);
  expect(sseOf(body as string)).toEqual([
    { event: "control", data: { streamNextOffset: expect.any(String), streamClosed: true, upToDate: true } },
  ]);
});

test.each([
  ["?offset=", "offset"],
  ["?offset=12", "offset"],
  ["?offset=000000000000999_000000000000000", "offset"],
  ["?offset=000000000000001_000000000000007", "offset"],
  ["?offset=-1&offset=-1", "offset"],
  ["?offset=-1&live=maybe", "live"],
  ["?live=sse", "offset"],
  ["?live=long-poll", "offset"],
])("%s is rejected, with the parameter", async (query, param) => {
  const { status, body } = await read(over, query);
  expect([status, body.error.param]).toEqual([400, param]);
});

test("runs of others and unknown runs are both 404; a request without a key is 401", async () => {
  const stranger = await server.client({ project: "stranger" });
  const bound = await server.client({ agent_ids: ["agt_00000000000000000000000000"] });
  const agent_id = (await client.get(`/v1/runs/${over}`)).body.agent_id;
  const token = async (user_id: string) =>
    (await client.post("/v1/client_tokens", { agent_id, user_id, scopes: ["read"], expires_in_seconds: 60 })).body
      .token;
  const never = await read("run_00000000000000000000000000");
  for (const secret of [stranger.key.secret, bound.key.secret, await token("grace")])
    for (const method of ["GET", "HEAD"]) {
      const { status, body } = await read(over, "", { secret, method });
      expect(status).toBe(404);
      if (method === "GET") expect(body.error).toEqual(never.body.error);
    }
  expect((await read(over, "", { secret: await token("ada") })).status).toBe(200);
  expect((await server.send("GET", `/streams/v1/runs/${over}?token=${await token("ada")}`)).status).toBe(200);
  expect((await server.send("GET", `/streams/v1/runs/${over}`)).status).toBe(401);
});

test.each(["PUT", "POST", "DELETE", "PATCH"])("%s is refused: agents alone write runs", async (method) => {
  expect((await read(over, "", { method })).status).toBe(405);
});
