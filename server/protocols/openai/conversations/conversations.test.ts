import { afterAll, beforeAll, expect, test } from "bun:test";
import { type Client, type TestApp, testApp } from "../../../testing/test-app.ts";

let server: TestApp;
let client: Client;
let model: string;
beforeAll(async () => {
  server = testApp();
  client = await server.client();
  model = (await client.post("/v1/agents", { name: "a", instructions: "Be kind.", model: "test/echo" })).body.id;
});
afterAll(() => server[Symbol.asyncDispose]());

const at = "/openai/v1/conversations";
const responses = "/openai/v1/responses";
const call = { type: "function_call", call_id: "call_1", name: "look", arguments: '{"at":"Oslo"}' };
const said = [
  { role: "user", content: "How is Oslo?" },
  { type: "message", role: "assistant", content: [{ type: "output_text", text: "I look." }] },
  { ...call },
  { type: "function_call_output", call_id: "call_1", output: "Wet." },
  { role: "assistant", content: "Rain." },
];
const types = ["message", "message", "function_call", "function_call_output", "message"];

// biome-ignore lint/suspicious/noExplicitAny: as the API's answers are read in all tests.
type Json = any;

test("a conversation is a thread: it is made, changed, read and deleted", async () => {
  const { body } = await client.post(at, { metadata: { a: "b" } });
  const { body: thread } = await client.get(`/v1/threads/${body.id.replace("conv_", "thr_")}`);
  const created_at = Math.floor(Date.parse(thread.created_at) / 1000);
  expect(body).toEqual({ id: body.id, object: "conversation", created_at, metadata: { a: "b" } });
  const changed = { ...body, metadata: { c: "d" } };
  expect((await client.post(`${at}/${body.id}`, { metadata: { c: "d" } })).body).toEqual(changed);
  expect((await client.get(`${at}/${body.id}`)).body).toEqual(changed);
  const { body: gone } = await client.delete(`${at}/${body.id}`);
  expect(gone).toEqual({ id: body.id, object: "conversation.deleted", deleted: true });
  expect((await client.get(`${at}/${body.id}`)).status).toBe(404);
});

test("a response in a conversation has its messages as context, and is added to it", async () => {
  const { body: conversation } = await client.post(at, { items: said });
  const asked = { model, input: "And Rome?", conversation: conversation.id };
  const { body: response } = await client.post(responses, asked);
  expect(response).toMatchObject({
    conversation: { id: conversation.id },
    output: [{ content: [{ text: "And Rome?" }] }],
  });
  const trace = `/v1/traces/${response.id.replace("resp_", "trc_")}?include=prompt`;
  const { prompt } = (await client.get(trace)).body.steps.find(({ type }: Json) => type === "model_call");
  expect(prompt.messages.map(({ role }: Json) => role)).toEqual([
    "system",
    "user",
    "assistant",
    "tool",
    "assistant",
    "user",
  ]);
  const items = `${at}/${conversation.id}/items`;
  const { body: all } = await client.get(`${items}?order=asc&limit=100`);
  expect(all.data.map(({ type }: Json) => type)).toEqual([...types, "message", "message"]);
  expect([all.first_id, all.last_id, all.has_more]).toEqual([all.data[0].id, all.data.at(-1).id, false]);
  for (const item of all.data) expect((await client.get(`${items}/${item.id}`)).body).toEqual(item);
  // Items that were read can create another conversation.
  const { body: copy } = await client.post(at, { items: all.data });
  const copied = (await client.get(`${at}/${copy.id}/items?order=asc`)).body.data;
  const bare = ({ id: _, ...item }: Json) => item;
  expect(copied.map(bare)).toEqual(all.data.map(bare));
});

test.each(["asc", "desc"])("pages of items have each of them once, in their order (%s)", async (order) => {
  const { body: conversation } = await client.post(at, { items: said });
  const items = `${at}/${conversation.id}/items`;
  const { data } = (await client.get(`${items}?order=${order}`)).body;
  const read: Json[] = [];
  for (let after = ""; ; ) {
    const { body } = await client.get(`${items}?order=${order}&limit=1${after}`);
    read.push(...body.data);
    if (!body.has_more) break;
    after = `&after=${body.last_id}`;
  }
  expect(read).toEqual(data);
  expect(data.map(({ type }: Json) => type)).toEqual(order === "asc" ? types : types.toReversed());
});

test.each<[string, object, string]>([
  ["a result without its call", [said[3]!], "items[0].tool_call_id"],
  ["a message that says nothing", [{ role: "user", content: "" }], "items[0].content"],
  ["what the system says", [{ role: "system", content: "x" }], "items[0]"],
  ["a reference", [{ type: "item_reference", id: "msg_x" }], "items[0]"],
  ["an unknown item", [{ type: "x" }], "items[0].type"],
  ["too many items", Array(21).fill(said[0]), "items"],
])("%s is no part of a conversation, and no conversation is left of it", async (_, items, param) => {
  const count = async () => (await client.get("/v1/threads?limit=100")).body.data.length;
  const before = await count();
  const answer = await client.post(at, { items });
  expect([answer.status, answer.body.error.param]).toEqual([400, param]);
  expect(await count()).toBe(before);
});

const keyed = (by: Client, key: string, items: object[]) =>
  server.send("POST", at, { items }, { authorization: `Bearer ${by.key.secret}`, "idempotency-key": key });

test("a response in a conversation that is busy waits for its turn, and no longer when its client cancels the one before", async () => {
  const script = [{ text: "One two three.", delta_ms: 60_000 }];
  const agent = { name: "s", instructions: "", model: "test/script", model_settings: { script } };
  const { id: slow } = (await client.post("/v1/agents", agent)).body;
  const { body: conversation } = await client.post(at, {});
  const first = await client.post(responses, {
    model: slow,
    input: "Count.",
    conversation: conversation.id,
    background: true,
  });
  const asked = { model, input: "And then?", conversation: conversation.id };
  const { body: queued } = await client.post(responses, { ...asked, background: true });
  expect([first.body.status, queued.status]).toEqual(["in_progress", "queued"]);
  const second = client.post(responses, asked);
  expect((await client.post(`${responses}/${first.body.id}/cancel`)).body.status).toBe("cancelled");
  expect((await second).body).toMatchObject({ status: "completed", output: [{ content: [{ text: "And then?" }] }] });
});

test("a message is refused while the conversation waits for the output of a function, which goes on with it", async () => {
  const script = [{ tool_calls: [{ name: "look", arguments: {} }] }, { text: "Rain." }];
  const agent = { name: "s", instructions: "", model: "test/script", model_settings: { script } };
  const { id: asking } = (await client.post("/v1/agents", agent)).body;
  const { body: conversation } = await client.post(at, {});
  const tools = [{ type: "function", name: "look", parameters: { type: "object" } }];
  const asked = { model: asking, tools, conversation: conversation.id };
  const { body: first } = await client.post(responses, { ...asked, input: "How is Oslo?" });
  const refused = await client.post(responses, { ...asked, input: "Well?" });
  expect([refused.status, refused.body.error.code, refused.body.error.param]).toEqual([
    409,
    "thread_busy",
    "conversation",
  ]);
  const output = { type: "function_call_output", call_id: first.output[0].call_id, output: "Wet." };
  const { body: answer } = await client.post(responses, { ...asked, input: [output] });
  expect(answer.output[0].content[0].text).toBe("Rain.");
});

test("a conversation that failed halfway is completed by the same request, with the same items", async () => {
  const by = await server.client({ project: "halfway" });
  const threads = async () => (await by.get("/v1/threads")).body.data;
  await server.projects.update(by.scope.project_id, { limits: { writes_per_minute: 2 } });
  expect((await keyed(by, "a", said)).status).toBe(429);
  await server.projects.update(by.scope.project_id, { limits: { writes_per_minute: 1e6 } });
  const { status, body } = await keyed(by, "a", said);
  expect([status, (await threads()).length]).toEqual([200, 1]);
  const found = (await by.get(`${at}/${body.id}/items?order=asc`)).body.data;
  expect(found.map(({ type }: Json) => type)).toEqual(types);
  // An idempotency key gives no right to delete it.
  const other = await keyed(by, "a", said.slice(0, 1).concat({ role: "user", content: "?" }));
  expect([other.status, other.body.error.code]).toEqual([409, "idempotency_key_reused"]);
  expect((await by.get(`${at}/${body.id}`)).status).toBe(200);
});

test("a conversation that breaks a rule is rejected by that rule on every retry, and none remains", async () => {
  const by = await server.client({ project: "broken" });
  for (const key of ["a", "a", "b"]) {
    const { status, body } = await keyed(by, key, [said[0]!, said[3]!]);
    expect([status, body.error.param]).toEqual([400, "items[1].tool_call_id"]);
  }
  expect((await by.get("/v1/threads")).body.data).toEqual([]);
});

test("a client token makes no conversation of items, and leaves none", async () => {
  const by = await server.client({ project: "tokens" });
  const agent_id = (await by.post("/v1/agents", { name: "a", instructions: "", model: "test/echo" })).body.id;
  const asked = { agent_id, user_id: "ada", scopes: ["run", "read"], expires_in_seconds: 60 };
  const { token } = (await by.post("/v1/client_tokens", asked)).body;
  const { status, body } = await server.send("POST", at, { items: said }, { authorization: `Bearer ${token}` });
  expect([status, body.error.code]).toEqual([403, "insufficient_scope"]);
  expect((await by.get("/v1/threads")).body.data).toEqual([]);
});

test("a conversation of another project, or one that is none, is not there", async () => {
  const other = await server.client({ project: "other" });
  const { body } = await client.post(at, { items: said });
  const [item] = (await client.get(`${at}/${body.id}/items`)).body.data;
  for (const [by, id] of [
    [other, body.id],
    [client, "conv_x"],
    [client, `conv_${"0".repeat(26)}`],
  ] as const) {
    const answers = [
      await by.get(`${at}/${id}`),
      await by.post(`${at}/${id}`, { metadata: {} }),
      await by.delete(`${at}/${id}`),
      await by.get(`${at}/${id}/items`),
      await by.post(`${at}/${id}/items`, { items: said }),
      await by.get(`${at}/${id}/items/${item.id}`),
    ];
    for (const { status, body } of answers) expect([status, body.error.code]).toEqual([404, "resource_not_found"]);
  }
  for (const wrong of ["x", "msg_x", `msg_${"0".repeat(26)}`])
    expect((await client.get(`${at}/${body.id}/items/${wrong}`)).status).toBe(404);
  for (const query of ["limit=0", "order=x", "after=x", `after=msg_${"0".repeat(26)}`])
    expect((await client.get(`${at}/${body.id}/items?${query}`)).status).toBe(400);
  const agent = await other.post("/v1/agents", { name: "b", instructions: "", model: "test/echo" });
  const foreign = await other.post(responses, { model: agent.body.id, input: "?", conversation: body.id });
  expect([foreign.status, foreign.body.error.param]).toEqual([400, "conversation"]);
});
