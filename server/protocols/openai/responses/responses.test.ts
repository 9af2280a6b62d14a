import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import type { ScriptEntry } from "../../../domain/model-call.ts";
import { type Client, type TestApp, testApp } from "../../../testing/test-app.ts";

let server: TestApp;
let client: Client;
beforeAll(async () => {
  server = testApp();
  client = await server.client();
});
afterAll(() => server[Symbol.asyncDispose]());

const at = "/openai/v1/responses";
const look = { type: "function", name: "look", parameters: { type: "object" } };
const asking: ScriptEntry[] = [
  { reasoning: "Hm.", text: "I look.", tool_calls: [{ name: "look", arguments: { at: "Oslo" } }] },
  { text: "Rain." },
];

async function newAgent(script: ScriptEntry[] | null, more: object = {}): Promise<string> {
  const model = script ? { model: "test/script", model_settings: { script } } : { model: "test/echo" };
  const { body } = await client.post("/v1/agents", { name: "a", instructions: "Be kind.", ...model, ...more });
  expect(body.error ?? null).toBeNull();
  return body.id;
}

// biome-ignore lint/suspicious/noExplicitAny: as the API's answers are read in all tests.
type Json = any;

const eventsOf = (text: string): Json[] => [...text.matchAll(/^data: (.+)$/gm)].map(([, json]) => JSON.parse(json!));
const resultOf = (call: Json, output = "Wet.") => ({ type: "function_call_output", call_id: call.call_id, output });

/** Returns the text of each item's deltas, and faults in the order of the events. */
function told(events: Json[]) {
  const texts: Record<string, string> = {};
  for (const { type, item_id, delta } of events)
    if (type.endsWith(".delta")) texts[item_id] = (texts[item_id] ?? "") + delta;
  const numbers = events.map(({ sequence_number }) => sequence_number);
  const isRising = numbers.every((number, index) => index === 0 || number > numbers[index - 1]);
  return { texts, isRising };
}

test("an output that is taken back takes nothing with it that was said before", async () => {
  const tool = await client.post("/v1/tools", { name: "noted", type: "code", source: "() => 'ok'" });
  const script = [
    { text: "I look.", tool_calls: [{ name: "noted", arguments: {} }] },
    { reasoning: "I say nothing." }, // Not JSON: it is rejected, and no message of it remains.
    { text: '{"a":1}' },
  ];
  const schema = { type: "object", properties: { a: { type: "integer" } }, required: ["a"] };
  const model = await newAgent(script, { output_schema: schema, tools: [tool.body.id] });
  const { body } = await client.post(at, { model, input: "Go." });
  expect(body.status).toBe("completed");
  const said = body.output.filter(({ type }: Json) => type === "message").map(({ content }: Json) => content[0].text);
  expect(said).toEqual(["I look.", '{"a":1}']);
}, 60_000);

test("a response is an ordinary run, with its usage and settings", async () => {
  const model = await newAgent(null);
  const answer = await client.post(at, {
    model,
    input: "Hello!",
    instructions: "Be short.",
    temperature: 0,
    max_output_tokens: 50,
    user: "ada",
    metadata: { a: "b" },
    store: false,
    include: ["reasoning.encrypted_content"],
    service_tier: "auto",
  });
  expect(answer.status).toBe(200);
  expect(answer.body).toMatchObject({
    object: "response",
    model,
    status: "completed",
    error: null,
    incomplete_details: null,
    temperature: 0,
    max_output_tokens: 50,
    user: "ada",
    metadata: { a: "b" },
    tools: [],
    tool_choice: "auto",
    previous_response_id: null,
    conversation: null,
    background: false,
    output: [{ type: "message", role: "assistant", status: "completed", content: [{ text: "Hello!" }] }],
    usage: { input_tokens: 5, output_tokens: 1, total_tokens: 6 },
  });
  const run = (await client.get(`/v1/runs/${answer.headers.get("x-runnel-run-id")}`)).body;
  expect(run).toMatchObject({ status: "completed", agent_id: model, user_id: "ada", metadata: { a: "b" } });
  expect(answer.body.id).toBe(run.id.replace("run_", "resp_"));
  const { steps } = (await client.get(`/v1/traces/${run.id}?include=prompt`)).body;
  const { prompt } = steps.find(({ type }: Json) => type === "model_call");
  expect(prompt.messages[0].content).toBe("Be kind.\n\nBe short.");
  expect((await client.get(`${at}/${answer.body.id}`)).body).toEqual(answer.body);
});

test("a stream has each item from beginning to end, and ends with the response as it is retrieved", async () => {
  const model = await newAgent(asking);
  const events = eventsOf((await client.post(at, { model, input: "?", tools: [look], stream: true })).body);
  const types = events.map(({ type }) => type.replace("response.", ""));
  // The length of a delta depends on timing.
  expect(types.filter((type, index) => type !== types[index - 1])).toEqual([
    "created",
    "in_progress",
    "output_item.added",
    "reasoning_summary_part.added",
    "reasoning_summary_text.delta",
    "reasoning_summary_text.done",
    "reasoning_summary_part.done",
    "output_item.done",
    "output_item.added",
    "content_part.added",
    "output_text.delta",
    "output_text.done",
    "content_part.done",
    "output_item.done",
    "output_item.added",
    "function_call_arguments.delta",
    "function_call_arguments.done",
    "output_item.done",
    "completed",
  ]);
  const { texts, isRising } = told(events);
  expect(isRising).toBe(true);
  const { response } = events.at(-1);
  expect(Object.keys(texts)).toEqual(response.output.map(({ id }: Json) => id));
  expect(Object.values(texts)).toEqual(["Hm.", "I look.", '{"at":"Oslo"}']);
  const done = events.filter(({ type }) => type === "response.output_item.done");
  expect(done.map(({ item }) => item)).toEqual(response.output);
  expect(done.map(({ output_index }) => output_index)).toEqual([0, 1, 2]);
  expect((await client.get(`${at}/${response.id}`)).body).toEqual(response);
});

test("a resuming client gets every event after the named one, and each piece of text once", async () => {
  const model = await newAgent([{ reasoning: "One two.", text: "Three four five." }]);
  const { body } = await client.post(at, { model, input: "?" });
  const read = async (after: number) =>
    eventsOf((await client.get(`${at}/${body.id}?stream=true&starting_after=${after}`)).body);
  const all = eventsOf((await client.get(`${at}/${body.id}?stream=true`)).body);
  for (const [index, { sequence_number }] of all.entries())
    expect(await read(sequence_number)).toEqual(all.slice(index + 1));
  // Between two characters of a delta: only the rest is sent.
  const delta = all.findIndex(({ type }) => type === "response.output_text.delta");
  const [cut, ...rest] = await read(all[delta].sequence_number - 8 * 2);
  expect(cut).toEqual({ ...all[delta], delta: all[delta].delta.slice(-2) });
  expect(rest).toEqual(all.slice(delta + 1));
});

test.each([false, true])(
  "a client's tool is called, and its result goes on with the run (stream: %p)",
  async (stream) => {
    const model = await newAgent(asking);
    const ask = async (more: object): Promise<Json> => {
      const answer = await client.post(at, { model, tools: [look], stream, ...more });
      expect(answer.status).toBe(200);
      return stream ? eventsOf(answer.body).at(-1).response : answer.body;
    };
    const first = await ask({ input: "How is Oslo?" });
    const call = first.output.at(-1);
    expect(call).toMatchObject({
      type: "function_call",
      name: "look",
      arguments: '{"at":"Oslo"}',
      status: "completed",
    });
    const history = [{ role: "user", content: "How is Oslo?" }, ...first.output, resultOf(call)];
    const references = first.output.map(({ id }: Json) => ({ type: "item_reference", id }));
    // By a previous response, by the whole conversation, or by references; also on a retry.
    const ways = [
      { previous_response_id: first.id, input: [resultOf(call)] },
      { input: history },
      { input: [history[0], ...references, resultOf(call)] },
    ];
    for (const way of [...ways, ...ways]) {
      const second = await ask(way);
      expect(second.output.map(({ content }: Json) => content?.[0].text)).toEqual(["Rain."]);
      expect([second.previous_response_id, second.id.startsWith(`${first.id}_`)]).toEqual([first.id, true]);
      expect((await client.get(`${at}/${second.id}`)).body).toEqual(second);
      const { data } = (await client.get(`${at}/${second.id}/input_items`)).body;
      expect(data).toEqual([expect.objectContaining({ ...resultOf(call), status: "completed" })]);
    }
    const { body } = await client.get("/v1/runs");
    expect([body.data[0].usage.model_calls, body.data[0].status]).toEqual([2, "completed"]);
    // The conversation continues in a run of its own, which reads all of it.
    await client.patch(`/v1/agents/${model}`, { model: "test/echo" });
    const { id } = await ask(ways[0]!);
    for (const way of [
      { previous_response_id: id, input: "Thanks." },
      {
        input: [
          ...history,
          { type: "message", role: "assistant", content: [{ type: "output_text", text: "Rain." }] },
          { role: "user", content: "Thanks." },
        ],
      },
      {
        input: [
          history[0],
          ...references,
          resultOf(call),
          { role: "assistant", content: "Rain." },
          { role: "user", content: "Thanks." },
        ],
      },
    ]) {
      const third = await ask(way);
      expect(third.output[0].content[0].text).toBe("Thanks.");
      const run = (await client.get(`/v1/runs/${third.id.replace("resp_", "run_")}`)).body;
      expect(run.input.map(({ role }: Json) => role)).toEqual(["user", "assistant", "tool", "assistant", "user"]);
      expect(run.input[1]).toMatchObject({
        content: "I look.",
        tool_calls: [{ name: "look", arguments: { at: "Oslo" } }],
      });
      const { data } = (await client.get(`${at}/${third.id}/input_items?order=asc`)).body;
      expect(data.map(({ type }: Json) => type)).toEqual([
        "message",
        "message",
        "function_call",
        "function_call_output",
        "message",
        "message",
      ]);
    }
  },
);

test("a result that is given to another agent hands the conversation over to it", async () => {
  const echo = await newAgent(null);
  const first = await newAgent(asking);
  const { body: thread } = await client.post("/openai/v1/conversations", {});
  for (const where of [{}, { conversation: thread.id }, { previous: true }]) {
    const { previous, ...place } = where as { previous?: boolean };
    const { body } = await client.post(at, { model: first, input: "Hello!", tools: [look], ...place });
    const result = resultOf(body.output.at(-1));
    const input =
      "conversation" in where || previous ? [result] : [{ role: "user", content: "Hello!" }, ...body.output, result];
    const more = previous ? { previous_response_id: body.id } : place;
    const second = await client.post(at, { model: echo, input, ...more });
    expect(second.body.output?.[0].content[0].text).toBe("Hello!");
    expect((await client.get(`${at}/${body.id}`)).body.status).toBe("completed");
  }
  const { data } = (await client.get(`/v1/runs?agent_id=${first}`)).body;
  expect(data.map(({ status }: Json) => status)).toEqual(["cancelled", "cancelled", "cancelled"]);
});

test("a client that reads everything again gets no event that spans a place at which it resumed", async () => {
  const model = await newAgent([{ text: "One two three four five." }]);
  const live = eventsOf((await client.post(at, { model, input: "?", stream: true })).body);
  const { id } = live[0].response;
  const all = eventsOf((await client.get(`${at}/${id}?stream=true`)).body);
  const numbers = new Set(all.map(({ sequence_number }) => sequence_number));
  expect(live.filter(({ sequence_number }) => !numbers.has(sequence_number))).toEqual([]);
  expect(all.filter(({ type }) => type === "response.output_text.delta").length).toBeGreaterThan(3);
});

test("a response in the background is there at once, is followed, and can be cancelled", async () => {
  const model = await newAgent([{ tool_calls: [{ name: "look", arguments: {} }] }, { text: "Rain." }]);
  const waiting = [{ delta_ms: 60_000, text: "One two three." }];
  const slow = await newAgent(waiting);
  const { body: begun } = await client.post(at, { model: slow, input: "?", background: true });
  expect(begun).toMatchObject({ status: "in_progress", background: true, output: [], usage: null });
  const cancelled = await client.post(`${at}/${begun.id}/cancel`, {});
  expect([cancelled.status, cancelled.body.status]).toEqual([200, "cancelled"]);
  expect((await client.post(`${at}/${begun.id}/cancel`, {})).body).toEqual(cancelled.body);
  const { body } = await client.post(at, { model, input: "?", background: true, tools: [look] });
  const events = eventsOf((await client.get(`${at}/${body.id}?stream=true`)).body);
  expect(events.at(-1).response.output[0].name).toBe("look");
  const over = await client.post(at, { model: await newAgent(null), input: "?" });
  const refused = await client.post(`${at}/${over.body.id}/cancel`, {});
  expect([refused.status, refused.body.error.code]).toEqual([409, "run_already_terminal"]);
});

test("an answer has the requested format, and is marked if truncated or failed", async () => {
  const schema = { type: "object", properties: { a: { type: "integer" } }, required: ["a"] };
  const model = await newAgent([{ text: '{"a": 1}' }]);
  const text = { format: { type: "json_schema", name: "x", schema, strict: true } };
  const { body } = await client.post(at, { model, input: "?", text });
  expect(JSON.parse(body.output[0].content[0].text)).toEqual({ a: 1 });
  expect(body.text.format).toMatchObject({ type: "json_schema", schema });
  const cut = { model: await newAgent(null), input: "a b c", max_output_tokens: 2 };
  expect((await client.post(at, cut)).body).toMatchObject({
    status: "incomplete",
    incomplete_details: { reason: "max_output_tokens" },
  });
  expect(eventsOf((await client.post(at, { ...cut, stream: true })).body).at(-1).type).toBe("response.incomplete");
  const wrong = { model: await newAgent([{ error: "Out of order." }]), input: "?" };
  const failed = await client.post(at, wrong);
  expect([failed.status, failed.body.error.code, failed.headers.get("x-should-retry")]).toEqual([
    502,
    "model_error",
    "false",
  ]);
  const last = eventsOf((await client.post(at, { ...wrong, stream: true })).body).at(-1);
  expect(last).toMatchObject({
    type: "response.failed",
    response: { status: "failed", error: { code: "model_error" } },
  });
  expect((await client.get(`${at}/${last.response.id}`)).body).toEqual(last.response);
});

test("a response is deleted with its run", async () => {
  const { body } = await client.post(at, { model: await newAgent(null), input: "?" });
  expect((await client.delete(`${at}/${body.id}`)).body).toEqual({ id: body.id, object: "response", deleted: true });
  for (const answer of [await client.get(`${at}/${body.id}`), await client.delete(`${at}/${body.id}`)])
    expect([answer.status, answer.body.error.code]).toEqual([404, "resource_not_found"]);
});

test("a conversation that is too long is rejected, or loses its oldest messages if the client allows it", async () => {
  const model = await newAgent(null);
  const long = "x".repeat(90 * 1024);
  const input = [1, 2, 3].flatMap((n) => [
    { role: "user", content: `${n} ${long}` },
    { role: "assistant", content: `answer ${n}` },
  ]);
  const ask = (more: object) =>
    client.post(at, { model, input: [...input, { role: "user", content: "End." }], ...more });
  expect((await ask({})).status).toBe(400);
  const { body } = await ask({ truncation: "auto" });
  const { data } = (await client.get(`${at}/${body.id}/input_items?order=asc`)).body;
  expect(data).toHaveLength(5);
  expect(data[0].content[0].text.slice(0, 1)).toBe("2");
});

describe("unsupported requests", () => {
  const message = (content: unknown) => [{ role: "user", content }];
  test.each<[string, object, number, string, string | null]>([
    ["nothing at all", {}, 400, "validation_failed", "input"],
    ["no items", { input: [] }, 400, "validation_failed", "input"],
    ["an unknown role", { input: [{ role: "tool", content: "x" }] }, 400, "validation_failed", "input[0].role"],
    ["an unknown item", { input: [{ type: "computer_call" }] }, 400, "validation_failed", "input[0].type"],
    ["an item that is none", { input: [1] }, 400, "validation_failed", "input[0]"],
    [
      "a file that is not there",
      { input: message([{ type: "input_file", file_id: "x" }]) },
      400,
      "validation_failed",
      "input[0].content[0].file_id",
    ],
    [
      "an image at a private address",
      { input: message([{ type: "input_image", image_url: "https://10.0.0.1/a.png" }]) },
      400,
      "url_not_fetched",
      "input[0].content[0].image_url",
    ],
    [
      "an unknown call",
      { input: [{ type: "function_call_output", call_id: "call_x", output: "1" }] },
      400,
      "tool_call_not_found",
      "input[0].call_id",
    ],
    [
      "a result without its call",
      { input: [{ type: "function_call_output", call_id: "call_x", output: "1" }, ...message("?")] },
      400,
      "validation_failed",
      "input[0].tool_call_id",
    ],
    [
      "a reference to nothing",
      { input: [{ type: "item_reference", id: "msg_x" }, ...message("?")] },
      400,
      "validation_failed",
      "input[0].id",
    ],
    [
      "an unknown response before it",
      { input: "?", previous_response_id: "resp_x" },
      404,
      "resource_not_found",
      "response_id",
    ],
    [
      "a response and a conversation",
      { input: "?", previous_response_id: "resp_x", conversation: `conv_${"0".repeat(26)}` },
      400,
      "validation_failed",
      "previous_response_id",
    ],
    [
      "an unknown conversation",
      { input: "?", conversation: `conv_${"0".repeat(26)}` },
      400,
      "validation_failed",
      "conversation",
    ],
    [
      "a conversation that is none",
      { input: "?", conversation: { id: "x" } },
      400,
      "validation_failed",
      "conversation",
    ],
    [
      "a tool of another kind",
      { input: "?", tools: [{ type: "web_search" }] },
      400,
      "validation_failed",
      "tools[0].type",
    ],
    ["an unknown form", { input: "?", text: { format: { type: "x" } } }, 400, "validation_failed", "text.format.type"],
    ["an unknown effort", { input: "?", reasoning: { effort: "x" } }, 400, "validation_failed", "reasoning.effort"],
    ["an unknown agent", { model: "gpt-5", input: "?" }, 404, "model_not_found", "model"],
  ])("%s is rejected in OpenAI's format, with the parameter", async (_, body, status, code, param) => {
    const answer = await client.post(at, { model: await newAgent(null), ...body });
    expect([answer.status, answer.body.error?.code, answer.body.error?.param]).toEqual([status, code, param]);
    expect(Object.keys(answer.body.error).sort()).toEqual(["code", "message", "param", "type"]);
  });

  test.each(["x", "resp_x", `resp_${"0".repeat(26)}`, `resp_${"0".repeat(26)}_7`, "resp_%00", "%ff"])(
    "%p is no response",
    async (id) => {
      const answers = [
        await client.get(`${at}/${id}`),
        await client.get(`${at}/${id}?stream=true`),
        await client.get(`${at}/${id}/input_items`),
        await client.delete(`${at}/${id}`),
        await client.post(`${at}/${id}/cancel`, {}),
      ];
      for (const { status, body } of answers) expect([status, body.error.param]).toEqual([404, "response_id"]);
    },
  );

  test("a place that no response has, and a query that is none, are refused", async () => {
    const { body } = await client.post(at, { model: await newAgent(null), input: "?" });
    const queries = ["?stream=true&starting_after=x", "?stream=true&starting_after=9999999999999999"];
    for (const query of [...queries, "/input_items?limit=0", "/input_items?order=x", "/input_items?after=x"])
      expect((await client.get(`${at}/${body.id}${query}`)).status).toBe(400);
    expect((await client.get(`${at}/${body.id}_1`)).status).toBe(404);
  });

  test("a response of another project, or of other agents, is not there", async () => {
    const model = await newAgent(asking);
    const { body } = await client.post(at, { model, input: "?", tools: [look] });
    const own = await newAgent(null);
    const others = [await server.client({ project: "other" }), await server.client({ agent_ids: [own] })];
    for (const other of others) {
      expect((await other.get(`${at}/${body.id}`)).status).toBe(404);
      expect((await other.get(`${at}/${body.id}/input_items`)).status).toBe(404);
      expect((await other.post(`${at}/${body.id}/cancel`, {})).status).toBe(404);
      expect((await other.delete(`${at}/${body.id}`)).status).toBe(404);
    }
    for (const more of [
      { previous_response_id: body.id, input: "?" },
      { input: [resultOf(body.output.at(-1))] },
      {
        input: [
          { type: "item_reference", id: body.output.at(-1).id },
          { role: "user", content: "?" },
        ],
      },
    ])
      expect((await others[1]!.post(at, { model: own, ...more })).status).toBeOneOf([400, 404]);
    expect((await client.get(`${at}/${body.id}`)).body.status).toBe("completed");
  });
});

test("a client token's responses and conversations belong to its user, and give the agent only the input", async () => {
  const model = await newAgent(null);
  const { body: foreign } = await client.post(at, { model, input: "?", user: "bob" });
  const { body: token } = await client.post("/v1/client_tokens", {
    agent_id: model,
    user_id: "ada",
    scopes: ["run", "read"],
    expires_in_seconds: 60,
  });
  const ask = (method: string, path: string, body?: object) =>
    server.send(method, path, body, { authorization: `Bearer ${token.token}` });
  const { body: conversation } = await ask("POST", "/openai/v1/conversations", {});
  const { body: own } = await ask("POST", at, { model, input: "Hi!", conversation: conversation.id });
  expect([own.status, own.user, (await ask("GET", `${at}/${own.id}`)).body]).toEqual(["completed", "ada", own]);
  for (const { status } of [
    await ask("GET", `${at}/${foreign.id}`),
    await ask("DELETE", `${at}/${foreign.id}`),
    await ask("POST", at, { model, input: "?", previous_response_id: foreign.id }),
  ])
    expect(status).toBe(404);
  const told = await ask("POST", at, { model, input: "?", instructions: "Say all that you know." });
  expect([told.status, told.body.error.code]).toEqual([403, "insufficient_scope"]);
});
