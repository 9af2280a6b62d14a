import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import type { ScriptEntry } from "../domain/model-call.ts";
import { capsuleOf, exportOf, importCapsule } from "../testing/capsules.ts";
import type { Answer } from "../testing/expect-declared.ts";
import { type Client, type TestApp, testApp } from "../testing/test-app.ts";

let server: TestApp;
let client: Client;
beforeAll(async () => {
  server = testApp();
  client = await server.client();
});
afterAll(() => server[Symbol.asyncDispose]());

const talk = [
  { role: "user", content: "My name is Ada." },
  { role: "assistant", content: "Hello, Ada." },
  { role: "user", content: "What is my name?" },
];

const call = { id: "call_1", name: "look", arguments: { at: "Oslo" } };
/** A conversation with a call and its result, not made by a run of this server. */
const looked = [
  { role: "user", content: "How is Oslo?" },
  { role: "assistant", content: "", tool_calls: [call] },
  { role: "tool", tool_call_id: call.id, content: "Rain." },
  { role: "assistant", content: "It rains." },
  { role: "user", content: "And tomorrow?" },
];
const noFile = "file_01arz3ndektsv4rrffq69g5fav";
const dataOf = (text: string) => `data:image/png;base64,${btoa(text)}`;
const pixel = dataOf("\x89PNG\r\n\x1a\n and what follows");

async function newAgent(script: ScriptEntry[], more: object = {}): Promise<string> {
  const model = { model: "test/script", model_settings: { script } };
  const { body } = await client.post("/v1/agents", { name: "a", instructions: "Be kind.", ...model, ...more });
  expect(body.error ?? null).toBeNull();
  return body.id;
}

const ran = async (body: object): Promise<Answer["body"]> => (await client.post("/v1/runs?wait=60", body)).body;
const promptsOf = async (id: string): Promise<Answer["body"][]> =>
  (await client.get(`/v1/traces/${id}?include=prompt`)).body.steps.flatMap(
    ({ prompt }: Answer["body"]) => prompt ?? [],
  );
const saidIn = (messages: Answer["body"][]) =>
  messages.map(({ role, content, parts }) => [
    role,
    content ?? parts.map((part: { text: string }) => part.text).join(""),
  ]);
const faultOf = ({ status, body }: Answer) => [status, body.error?.code, body.error?.param];
const asSaid = talk.map(({ role, content }) => [role, content]);

describe("a run whose input is a list of messages", () => {
  test("gives its model all of them in order, and shows the input as sent", async () => {
    const run = await ran({ agent_id: await newAgent([{ text: "Ada." }]), input: talk });
    expect(run).toMatchObject({ status: "completed", input: talk, output: "Ada." });
    expect(saidIn(run.messages)).toEqual([...asSaid, ["assistant", "Ada."]]);
    expect(new Set(run.messages.map(({ id }: { id: string }) => id)).size).toBe(4);
    expect(saidIn((await promptsOf(run.id))[0].messages)).toEqual([["system", "Be kind."], ...asSaid]);
    expect((await client.get("/v1/runs?limit=1")).body.data[0].id).toBe(run.id);
    const { steps } = (await client.get(`/v1/traces/${run.id}`)).body;
    expect(saidIn(steps[0].input.messages)).toEqual(asSaid);
  });

  test("with one message has the same prompt as its text, and shows the list", async () => {
    const agent_id = await newAgent([{ text: "Hi." }]);
    const [one, other] = [
      await ran({ agent_id, input: talk.slice(2) }),
      await ran({ agent_id, input: talk[2]!.content }),
    ];
    expect([one.input, other.input]).toEqual([talk.slice(2), talk[2]!.content]);
    expect(await promptsOf(one.id)).toEqual(await promptsOf(other.id));
  });

  test("plays its agent's script from the beginning: earlier answers do not count", async () => {
    const tool = (await client.post("/v1/tools", { name: "look" })).body;
    const script = [{ tool_calls: [{ name: "look", arguments: {} }] }, { text: "Seen." }];
    const run = await ran({ agent_id: await newAgent(script, { tools: [tool.id] }), input: talk });
    const tool_outputs = [{ tool_call_id: run.tool_calls[0].id, output: 1 }];
    await client.post(`/v1/runs/${run.id}/submit_tool_outputs`, { tool_outputs, stream: true });
    await server.watches.join(run.id).next(0);
    for (;;) {
      const { body } = await client.get(`/v1/runs/${run.id}`);
      if (body.status === "in_progress") continue;
      expect(body).toMatchObject({ status: "completed", output: "Seen." });
      break;
    }
  });

  test("that fails before its model's first answer has no output: earlier answers do not count", async () => {
    const run = await ran({ agent_id: await newAgent([{ error: "context_length" }]), input: talk });
    expect([run.status, run.output]).toEqual(["failed", null]);
  });

  test("is checked by guardrails, message by message, and redacted before it is stored", async () => {
    const redact = { type: "regex", on: ["input"], action: "redact", config: { pattern: "Ada" } };
    const shape = { type: "json_schema", on: ["input"], action: "flag", config: { schema: { type: "object" } } };
    const agent_id = await newAgent([{ text: "No." }], { guardrails: [redact, shape] });
    const run = await ran({ agent_id, input: [talk[0], talk[1], { role: "user", content: "{}" }] });
    expect(JSON.stringify([run.input, run.messages, await promptsOf(run.id)])).not.toContain("Ada");
    expect(run.input[0].content).not.toBe(talk[0]!.content);
    const rows = server.db.sqlite.query("SELECT data FROM run_events WHERE run_id = ?").all(run.id);
    expect(JSON.stringify(rows)).not.toContain("Ada");
    const { steps } = (await client.get(`/v1/traces/${run.id}`)).body;
    expect(steps.filter(({ type }: { type: string }) => type === "guardrail")).toHaveLength(2);
    const block = { type: "blocked_terms", on: ["input"], action: "block", config: { terms: ["Ada"] } };
    const blocked = await ran({ agent_id: await newAgent([{ text: "No." }], { guardrails: [block] }), input: talk });
    expect([blocked.status, blocked.error.code, blocked.usage.model_calls]).toEqual(["failed", "guardrail_blocked", 0]);
  });

  test("is given to a judge whole", async () => {
    const judge = { type: "llm_judge", on: ["input"], action: "block", config: { prompt: "No!", model: "test/judge" } };
    const agent_id = await newAgent([{ text: "Fine." }], { guardrails: [judge] });
    const hidden = [{ role: "user", content: "Something forbidden." }, talk[2]];
    expect((await ran({ agent_id, input: talk })).status).toBe("completed");
    expect((await ran({ agent_id, input: hidden })).error.code).toBe("guardrail_blocked");
  });

  test("stores all of it in its thread, and the next run of the thread reads it", async () => {
    const { body: thread } = await client.post("/v1/threads", {});
    const memory = { stores: [], history: { mode: "thread", max_messages: 50 }, context: {} };
    const agent_id = await newAgent([{ text: "Ada." }], { memory });
    await ran({ agent_id, input: talk, thread_id: thread.id });
    const said = [...asSaid, ["assistant", "Ada."]];
    expect(saidIn((await client.get(`/v1/threads/${thread.id}/messages?order=asc`)).body.data)).toEqual(said);
    const next = await ran({ agent_id, input: talk, thread_id: thread.id });
    const [prompt] = await promptsOf(next.id);
    expect(saidIn(prompt.messages).slice(1)).toEqual([...said, ...asSaid]);
  });

  test("is replayed the same, forked with the same or another input, exported and imported whole", async () => {
    const run = await ran({ agent_id: await newAgent([{ text: "Ada." }]), input: talk });
    for (const mode of ["strict", "verify"]) {
      const { body } = await client.post(`/v1/runs/${run.id}/replay`, { mode });
      expect([body.status, body.input, body.replay.divergences]).toEqual(["completed", talk, []]);
    }
    const fork = async (edits: object) =>
      (await client.post(`/v1/runs/${run.id}/fork?wait=60`, { step_index: -1, edits })).body;
    expect((await fork({})).input).toEqual(talk);
    const others = [talk[0], { role: "user", content: "And you?" }];
    expect(await fork({ input: others })).toMatchObject({ input: others, status: "completed" });
    const plain = await fork({ input: "Alone." });
    expect([plain.input, saidIn((await promptsOf(plain.id))[0].messages).slice(1)]).toEqual([
      "Alone.",
      [["user", "Alone."]],
    ]);
    for (const taken of [
      await client.post("/v1/traces", await exportOf(client, run.id)),
      await importCapsule(server, client, await capsuleOf(server, client, run.id)),
    ]) {
      expect(taken.status).toBe(201);
      const { body } = await client.get(`/v1/runs/${taken.body.run_id}`);
      expect([body.input, saidIn(body.messages)]).toEqual([talk, saidIn(run.messages)]);
    }
    const otlp = JSON.stringify((await client.get(`/v1/traces/${run.id}?format=otlp`)).body);
    for (const { content } of talk) expect(otlp).toContain(content);
  });

  test("can be a schedule's", async () => {
    const agent_id = await newAgent([{ text: "Ada." }]);
    const plan = { name: "s", cron: "0 9 * * *", timezone: "UTC", agent_id };
    const { body } = await client.post("/v1/schedules", { ...plan, input: talk });
    expect(body.input).toEqual(talk);
    expect((await client.post(`/v1/schedules/${body.id}/trigger`, {})).body.input).toEqual(talk);
    const wrong = talk.slice(0, 2);
    expect(faultOf(await client.post("/v1/schedules", { ...plan, input: wrong }))[2]).toBe("input[1].role");
  });
});

describe("messages with calls of tools, and with images", () => {
  test("reach the model as sent, and none of their calls belongs to the run", async () => {
    const run = await ran({ agent_id: await newAgent([{ text: "Sun." }]), input: looked });
    expect(run).toMatchObject({ status: "completed", input: looked, output: "Sun.", tool_calls: [] });
    expect(run.usage.tool_calls).toBe(0);
    const [, asked, result] = run.messages;
    expect(asked).toMatchObject({ role: "assistant", content: "", tool_calls: [call] });
    expect(result).toMatchObject({ role: "tool", content: "Rain.", tool_call_id: call.id });
    const [prompt] = await promptsOf(run.id);
    expect(prompt.messages.slice(2, 4)).toEqual([
      { role: "assistant", parts: [{ type: "tool_call", ...call, arguments: JSON.stringify(call.arguments) }] },
      { role: "tool", call_id: call.id, tool: "look", output: "Rain.", is_error: false },
    ]);
    const otlp = JSON.stringify((await client.get(`/v1/traces/${run.id}?format=otlp`)).body);
    for (const text of ["Oslo", "Rain.", "tool_call_response"]) expect(otlp).toContain(text);
  });

  test("do not affect a call of the run with the same id", async () => {
    const tool = (await client.post("/v1/tools", { name: "see" })).body;
    const asking = { tool_calls: [{ name: "see", arguments: {} }] };
    const first = await ran({ agent_id: await newAgent([asking], { tools: [tool.id] }), input: "Go." });
    const again = structuredClone(looked);
    again[1]!.tool_calls![0]!.id = first.tool_calls[0].id;
    again[2]!.tool_call_id = first.tool_calls[0].id;
    const run = await ran({ agent_id: await newAgent([asking], { tools: [tool.id] }), input: again });
    expect([run.status, run.tool_calls.length]).toEqual(["requires_action", 1]);
    expect((await promptsOf(run.id))[0].messages[3]).toMatchObject({ role: "tool", output: "Rain." });
  });

  test("are replayed, forked, exported and imported whole, and read by the next run of their thread", async () => {
    const { body: thread } = await client.post("/v1/threads", {});
    const memory = { stores: [], history: { mode: "thread", max_messages: 50 }, context: {} };
    const agent_id = await newAgent([{ text: "Sun." }], { memory });
    const run = await ran({ agent_id, input: looked, thread_id: thread.id });
    const replayed = (await client.post(`/v1/runs/${run.id}/replay`, { mode: "verify" })).body;
    expect([replayed.input, replayed.replay.divergences]).toEqual([looked, []]);
    const forked = await client.post(`/v1/runs/${run.id}/fork?wait=60`, { step_index: -1, agent: "current" });
    expect(forked.body).toMatchObject({ input: looked, status: "completed" });
    for (const taken of [
      await client.post("/v1/traces", await exportOf(client, run.id)),
      await importCapsule(server, client, await capsuleOf(server, client, run.id)),
    ])
      expect((await client.get(`/v1/runs/${taken.body.run_id}`)).body.input).toEqual(looked);
    const said = (await client.get(`/v1/threads/${thread.id}/messages?order=asc`)).body.data;
    expect(said.map(({ role }: { role: string }) => role)).toEqual([...looked.map(({ role }) => role), "assistant"]);
    expect(said[1].tool_calls).toEqual([call]);
    const next = await ran({ agent_id, input: "Thanks.", thread_id: thread.id });
    expect((await promptsOf(next.id))[0].messages[3]).toMatchObject({ role: "tool", tool: "look", output: "Rain." });
  });

  test("are checked by guardrails, including arguments and results", async () => {
    const redact = { type: "regex", on: ["input"], action: "redact", config: { pattern: "Oslo|Rain" } };
    const agent_id = await newAgent([{ text: "Sun." }], { guardrails: [redact] });
    const run = await ran({ agent_id, input: looked });
    const written = server.db.sqlite.query("SELECT data FROM run_events WHERE run_id = ?").all(run.id);
    expect(JSON.stringify([written, run, await promptsOf(run.id)])).not.toMatch(/Oslo|Rain/);
    expect(Object.keys(run.input[1].tool_calls[0].arguments)).toEqual(["at"]);
    const { body } = await client.post(`/v1/runs/${run.id}/replay`, { mode: "verify" });
    expect(body.replay.divergences).toEqual([]);
    const judge = { type: "llm_judge", on: ["input"], action: "block", config: { prompt: "No!", model: "test/judge" } };
    const hidden = structuredClone(looked);
    hidden[1]!.tool_calls![0]!.arguments.at = "forbidden";
    const judged = await ran({ agent_id: await newAgent([{ text: "No." }], { guardrails: [judge] }), input: hidden });
    expect(judged.error.code).toBe("guardrail_blocked");
  });

  test("an image sent again is stored once, and deleted with the last run or thread that uses it", async () => {
    const echo = { model: "test/echo", model_settings: {} };
    const agent_id = await newAgent([], echo);
    const shown = (message: object) => [{ role: "user", content: [{ type: "image", ...message }] }];
    const fileOf = (run: Answer["body"]): string => run.input[0].content[0].file_id;
    const [first, second] = [
      await ran({ agent_id, input: shown({ data: pixel }) }),
      await ran({ agent_id, input: shown({ data: pixel }) }),
    ];
    const file_id = fileOf(first);
    expect(fileOf(second)).toBe(file_id);
    const third = await ran({ agent_id, input: shown({ file_id }) });
    const fork = await client.post(`/v1/runs/${third.id}/fork?wait=60`, { step_index: -1, edits: {} });
    expect(fork.body.status).toBe("completed");
    const thread = (await client.post("/v1/threads", {})).body.id;
    await client.post(`/v1/threads/${thread}/messages`, shown({ file_id })[0]);
    // Another agent's key may not see it: its run has its own copy.
    const other = await ran({ agent_id: await newAgent([], echo), input: shown({ data: pixel }) });
    expect(fileOf(other)).not.toBe(file_id);
    const status = async (id: string) => (await client.get(`/v1/files/${id}`)).status;
    const owners = [first, second, third, fork.body].map(({ id }) => `/v1/runs/${id}`);
    for (const owner of [...owners, `/v1/threads/${thread}`]) {
      expect(await status(file_id)).toBe(200);
      expect((await client.delete(owner)).status).toBe(200);
    }
    expect([await status(file_id), await status(fileOf(other))]).toEqual([404, 200]);
    // A later message with the same image reuses the existing file.
    const again = await ran({ agent_id, input: shown({ data: pixel }) });
    expect(await status(fileOf(again))).toBe(200);
  });

  test("use images from existing files, and inline images that become files of the run", async () => {
    const content_base64 = pixel.split(",")[1];
    const file = (await client.post("/v1/files", { filename: "a.png", purpose: "attachment", content_base64 })).body;
    const input = [
      {
        role: "user",
        content: [
          { type: "text", text: "This one." },
          { type: "image", file_id: file.id },
        ],
      },
      { role: "assistant", content: "I see." },
      { role: "user", content: [{ type: "image", data: pixel }] },
    ];
    const run = await ran({ agent_id: await newAgent([{ text: "Both." }]), input });
    const [{ file_id: made }] = run.input[2].content;
    expect(run.input).toEqual([...input.slice(0, 2), { role: "user", content: [{ type: "image", file_id: made }] }]);
    const kept = (await client.get(`/v1/files/${made}`)).body;
    expect(kept).toMatchObject({ filename: "image.png", mime_type: "image/png", run_id: run.id });
    expect(run.messages[2].images).toEqual([{ file_id: made, mime_type: "image/png" }]);
    const [prompt] = await promptsOf(run.id);
    expect(prompt.messages[1]).toMatchObject({ content: "This one.", images: [{ file_id: file.id }] });
    expect(prompt.messages[3]).toMatchObject({ content: "", images: [{ file_id: made, mime_type: "image/png" }] });
    await client.delete(`/v1/files/${file.id}`);
    const forked = await client.post(`/v1/runs/${run.id}/fork?wait=60`, { step_index: -1, agent: "current" });
    expect(forked.body).toMatchObject({ input: run.input, status: "completed" });
    const other = await ran({ agent_id: run.agent_id, input });
    expect(other.error).toMatchObject({ code: "validation_failed", param: "input[0].content[1].file_id" });
  });

  test("cannot use a file made only by another agent's runs", async () => {
    const agent_id = await newAgent([{ text: "Hi." }]);
    const run = await ran({ agent_id, input: [{ role: "user", content: [{ type: "image", data: pixel }] }] });
    const bound = await server.client({ agent_ids: [await newAgent([{ text: "Hi." }])] });
    const [{ file_id }] = run.input[0].content;
    expect((await bound.get(`/v1/files/${file_id}`)).status).toBe(404);
  });
});

test.each<[string, unknown, string]>([
  ["no message", [], "input"],
  ["an empty message", [{ role: "user", content: "" }], "input[0].content"],
  ["a message of the system", [{ role: "system", content: "Obey." }, talk[2]], "input[0].role"],
  ["a result that names no call", [{ role: "tool", content: "1" }, talk[2]], "input[0].tool_call_id"],
  [
    "a result of a call that never was",
    [...looked.slice(0, 2), { ...looked[2], tool_call_id: "c9" }, talk[2]],
    "input[2].tool_call_id",
  ],
  ["two results of one call", [...looked.slice(0, 3), looked[2], talk[2]], "input[3].tool_call_id"],
  ["a result behind another message", [...looked.slice(0, 2), talk[1], looked[2], talk[2]], "input[1].tool_calls[0]"],
  ["a call without a result", [...looked.slice(0, 2), talk[2]], "input[1].tool_calls[0]"],
  [
    "two calls of one id",
    [looked[0], { ...looked[1], tool_calls: [call, call] }, talk[2]],
    "input[1].tool_calls[1].id",
  ],
  ["a call by the user", [{ ...talk[2], tool_calls: [call] }], "input[0].tool_calls"],
  [
    "a call whose id is none",
    [looked[0], { ...looked[1], tool_calls: [{ ...call, id: "a b" }] }, talk[2]],
    "input[1].tool_calls[0].id",
  ],
  [
    "arguments that are no object",
    [looked[0], { ...looked[1], tool_calls: [{ ...call, arguments: "{}" }] }, talk[2]],
    "input[1].tool_calls[0].arguments",
  ],
  ["an error of the user", [{ ...talk[2], is_error: true }], "input[0].is_error"],
  [
    "an image that is not there",
    [{ role: "user", content: [{ type: "image", file_id: noFile }] }],
    "input[0].content[0].file_id",
  ],
  [
    "an image that is none",
    [{ role: "user", content: [{ type: "image", data: dataOf("Hello.") }] }],
    "input[0].content[0].data",
  ],
  [
    "an image of no base64",
    [{ role: "user", content: [{ type: "image", data: "data:image/png;base64,!" }] }],
    "input[0].content[0].data",
  ],
  [
    "an image at an address",
    [{ role: "user", content: [{ type: "image", data: "https://example.com/a.png" }] }],
    "input[0].content[0].data",
  ],
  ["an image of nothing", [{ role: "user", content: [{ type: "image" }] }], "input[0].content[0]"],
  [
    "an image by the assistant",
    [{ role: "assistant", content: [{ type: "image", data: pixel }] }, talk[2]],
    "input[0].content",
  ],
  ["21 images", Array(21).fill({ role: "user", content: [{ type: "image", data: pixel }] }), "input"],
  ["no parts", [{ role: "user", content: [] }], "input[0].content"],
  ["the assistant's word at last", talk.slice(0, 2), "input[1].role"],
  ["a field that no message has", [{ ...talk[2], name: "Ada" }], "input[0].name"],
  ["no role", [{ content: "Hi." }], "input[0].role"],
  ["201 messages", Array(201).fill(talk[2]), "input"],
  ["more bytes than an input may have, in all", Array(3).fill({ role: "user", content: "ü".repeat(50_000) }), "input"],
  ["a number", 1, "input"],
])("an input with %s is rejected, with the path of the fault", async (_, input, param) => {
  const agent_id = await newAgent([{ text: "Hi." }]);
  const answer = await client.post("/v1/runs", { agent_id, input });
  expect([answer.status, answer.body.error.param]).toEqual([400, param]);
});
