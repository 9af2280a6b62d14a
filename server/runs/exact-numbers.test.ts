import { afterAll, expect, test } from "bun:test";
import fc from "fast-check";
import { capsuleOf, exportOf, importCapsule } from "../testing/capsules.ts";
import { type Client, type TestApp, testApp } from "../testing/test-app.ts";

// JSON texts in their exact spelling; they are compared as text, never parsed.
const whole = fc.bigInt({ min: 2n ** 53n + 1n, max: 10n ** 40n }).map((n) => `${n - (n % 10n)}${1n + (n % 9n)}`);
const long = fc.oneof(
  whole,
  whole.map((digits) => `-${digits}`),
  fc.constantFrom("2512292042121000001", "9007199254740993", "18446744073709551615", "100000000000000000000000"),
);
const number = fc.oneof(
  { arbitrary: long, weight: 3 },
  fc.constantFrom("0", "-1", "1.5", "9007199254740991", "1e-7", "4.6666666666666667", "0.1234567890123456789"),
);
const text = fc
  .oneof(long, fc.constantFrom('a "b" \\', "1e400", ": 2512292042121000001, ", ""))
  .map((t) => JSON.stringify(t));
const name = fc.stringMatching(/^[a-z]{1,6}$/);
const { value: json } = fc.letrec<{ value: string }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 3 },
    number,
    text,
    fc.constantFrom("null", "true"),
    fc.array(tie("value"), { maxLength: 4 }).map((items) => `[${items.join(",")}]`),
    fc.dictionary(name, tie("value"), { maxKeys: 4, noNullPrototype: true }).map(objectText),
  ),
}));
function objectText(members: Record<string, string>): string {
  const named = Object.entries(members).map(([key, value]) => `"${key}":${value}`);
  return `{${named.join(",")}}`;
}
const some = { numRuns: 12 };

// A model that calls one tool, and the tools' receiver. Both record their requests byte for byte.
let asked = { name: "", args: "" };
let answer = "";
const sent: Record<string, string[]> = { model: [], tool: [] };
const chunk = (delta: string, finish: string) =>
  `data: {"choices":[{"index":0,"delta":${delta},"finish_reason":${finish}}]}\n\n`;
const events = { headers: { "content-type": "text/event-stream" } };
const outside = Bun.serve({
  port: 0,
  hostname: "127.0.0.1",
  async fetch(request) {
    const body = await request.text();
    if (new URL(request.url).pathname !== "/v1/chat/completions") {
      sent.tool!.push(body);
      return new Response(answer, { headers: { "content-type": "application/json" } });
    }
    sent.model!.push(body);
    const call = JSON.stringify([{ index: 0, id: "c", function: { name: asked.name, arguments: asked.args } }]);
    const isFirst = !body.includes('"role":"tool"');
    const said = isFirst ? chunk(`{"tool_calls":${call}}`, '"tool_calls"') : chunk('{"content":"Done."}', '"stop"');
    return new Response(`${said}data: [DONE]\n\n`, events);
  },
});
afterAll(() => outside.stop(true));
const address = `http://127.0.0.1:${outside.port}`;
const environment = { RUNNEL_MODEL_STUB_BASE_URL: `${address}/v1`, RUNNEL_MODEL_STUB_API_KEY: "none" };

const made = async (client: Client, path: string, body: unknown): Promise<string> => {
  const { status, body: thing } = await client.post(path, body);
  expect([status, thing.error]).toEqual([201, undefined]);
  return thing.id;
};
const agentWith = (client: Client, tools: string[], more: object = {}) =>
  made(client, "/v1/agents", {
    name: "A",
    instructions: "I.",
    model: "openai_compatible/stub/gpt",
    tools,
    ...more,
  });
const raw = async (server: TestApp, client: Client, method: string, path: string, body?: string, more = {}) => {
  const headers = { authorization: `Bearer ${client.key.secret}`, "content-type": "application/json", ...more };
  const response = await server.app.handle(
    new Request(`http://localhost${path}`, { method, headers, body: body ?? null }),
  );
  return { status: response.status, text: await response.text() };
};
const idIn = (json: string): string => /"id":"(\w+)"/.exec(json)![1]!;

/** Starts a run of the agent, and returns the response text. */
async function start(server: TestApp, client: Client, agent_id: string, more = "") {
  const body = `{"agent_id":"${agent_id}","input":"Go."${more}}`;
  const { status, text } = await raw(server, client, "POST", "/v1/runs?wait=60", body);
  expect(status).toBe(201);
  return { id: idIn(text), text };
}

test("digits survive from the model to an HTTP tool, back to the model, and wherever the run is read", async () => {
  await using server = testApp({ environment });
  await server.recover();
  const client = await server.client();
  const tools = [
    await made(client, "/v1/tools", { name: "look", type: "http", url: `${address}/tool` }),
    await made(client, "/v1/tools", { name: "hook", type: "webhook", url: `${address}/tool` }),
  ];
  const agent = await agentWith(client, tools);
  await fc.assert(
    fc.asyncProperty(json, json, fc.constantFrom("look", "hook"), async (given, result, tool) => {
      asked = { name: tool, args: `{ "value" : ${given} }` };
      answer = `{"value": ${result}}`;
      const run = await start(server, client, agent);
      const [args, output] = [`{"value":${given}}`, `{"value":${result}}`];
      const got = sent.tool!.at(-1)!;
      if (tool === "look") expect(got).toBe(args);
      else expect(got).toContain(`"arguments":${args},`);
      const { messages } = JSON.parse(sent.model!.at(-1)!);
      expect(messages.at(-1)).toMatchObject({ role: "tool", content: output });
      expect(messages.at(-2).tool_calls[0].function.arguments).toBe(args);
      const stream = { accept: "text/event-stream" };
      const places = [
        run.text,
        (await raw(server, client, "GET", `/v1/runs/${run.id}`)).text,
        (await raw(server, client, "GET", `/v1/runs/${run.id}/events`)).text,
        (await raw(server, client, "GET", `/v1/runs/${run.id}/events`, undefined, stream)).text,
        (await raw(server, client, "GET", `/v1/traces/${run.id}`)).text,
        (await raw(server, client, "GET", `/v1/traces/${run.id}?include=raw`)).text,
      ];
      for (const place of places) for (const digits of [args, output]) expect(place).toContain(digits);
    }),
    some,
  );
});

test("digits survive a client tool: its arguments, its output and edited arguments", async () => {
  await using server = testApp({ environment });
  await server.recover();
  const client = await server.client();
  const tools = [await made(client, "/v1/tools", { name: "ask", type: "client", approval: "always" })];
  const agent = await agentWith(client, tools);
  await fc.assert(
    fc.asyncProperty(json, json, json, async (given, edited, result) => {
      asked = { name: "ask", args: `{"value":${given}}` };
      const { id, text } = await start(server, client, agent);
      expect(text).toContain(`"arguments":{"value":${given}}`);
      const [, call] = /"tool_call_id":"(\w+)"/.exec(text) ?? /"tool_calls":\[\{"id":"(\w+)"/.exec(text)!;
      const submit = (body: string) =>
        raw(server, client, "POST", `/v1/runs/${id}/submit_tool_outputs`, `{"tool_outputs":[${body}]}`);
      const approve = `{"tool_call_id":"${call}","decision":"approve","arguments":{"value":${edited}}}`;
      const waiting = await submit(approve);
      expect(waiting.text).toContain(`"arguments":{"value":${edited}}`);
      const taken = await submit(`{"tool_call_id":"${call}","output":${result}}`);
      expect(taken.status).toBe(200);
      await raw(server, client, "GET", `/v1/runs/${id}/events`, undefined, { accept: "text/event-stream" });
      const run = (await raw(server, client, "GET", `/v1/runs/${id}`)).text;
      expect(run).toContain(`"output":${result},"error":null`);
      const { messages } = JSON.parse(sent.model!.at(-1)!);
      const read = result.startsWith('"') ? JSON.parse(result) : result;
      expect(messages.at(-1)).toMatchObject({ role: "tool", content: read });
    }),
    some,
  );
});

test("digits survive a replay, a fork with and without edits, and an export with its import", async () => {
  await using server = testApp({ environment });
  await using elsewhere = testApp();
  await server.recover();
  const client = await server.client();
  const other = await elsewhere.client();
  const tool = await made(client, "/v1/tools", { name: "look", type: "http", url: `${address}/tool` });
  const agent = await agentWith(client, [tool]);
  await fc.assert(
    fc.asyncProperty(json, json, json, async (given, result, edited) => {
      asked = { name: "look", args: `{"value":${given}}` };
      answer = `{"value":${result}}`;
      const { id } = await start(server, client, agent);
      const calls = sent.tool!.length;
      const replay = await raw(server, client, "POST", `/v1/runs/${id}/replay`, '{"mode":"strict"}');
      expect(replay.text).toContain('"status":"completed"');
      const fork = (body: string) => raw(server, client, "POST", `/v1/runs/${id}/fork?wait=60`, body);
      const recorded = await fork('{"step_index":0,"tools":"recorded_only"}');
      const changed = await fork(`{"step_index":1,"edits":{"tool_output":{"value":${edited}}}}`);
      expect(changed.text).toContain(`"output":{"value":${edited}}`);
      const copies = [replay.text, recorded.text];
      for (const body of [await exportOf(client, id), null]) {
        const capsule = body ? null : await capsuleOf(server, client, id);
        const imported = capsule
          ? await importCapsule(elsewhere, other, capsule)
          : await other.post("/v1/traces", body);
        expect([imported.status, imported.body.error]).toEqual([201, undefined]);
        copies.push((await raw(elsewhere, other, "GET", `/v1/runs/${imported.body.run_id}`)).text);
        const again = await raw(elsewhere, other, "POST", `/v1/runs/${imported.body.run_id}/replay`, "{}");
        expect(again.text).toContain('"status":"completed"');
      }
      for (const copy of copies)
        for (const digits of [`"arguments":{"value":${given}}`, `"output":{"value":${result}}`])
          expect(copy).toContain(digits);
      const model_output = `{"tool_calls":[{"name":"look","arguments":{"value":${edited}}}]}`;
      await fork(`{"step_index":0,"edits":{"model_output":${model_output}},"tools":"live"}`);
      // An edit without a change keeps the recorded text.
      expect(sent.tool!.slice(calls)).toEqual(edited === given ? [] : [`{"value":${edited}}`]);
    }),
    some,
  );
});

test("digits survive in the values of a memory store, for clients and for agents", async () => {
  await using server = testApp({ environment });
  await server.recover();
  const client = await server.client();
  const memory = await made(client, "/v1/memory", { name: "Notes", kind: "kv" });
  const agent = await agentWith(client, [], { memory: { stores: [{ memory_id: memory, access: "read_write" }] } });
  await fc.assert(
    fc.asyncProperty(json, json, async (value, next) => {
      const path = `/v1/memory/${memory}/keys/k`;
      expect((await raw(server, client, "PUT", path, `{"value":${value}}`)).text).toContain(
        `"value":${value},"version"`,
      );
      expect((await raw(server, client, "GET", path)).text).toContain(`"value":${value},"version"`);
      expect((await raw(server, client, "GET", `/v1/memory/${memory}/keys`)).text).toContain(`"value":${value},`);
      asked = { name: "kv_get", args: '{"key":"k"}' };
      expect((await start(server, client, agent)).text).toContain(`"output":{"key":"k","value":${value},"version"`);
      asked = { name: "kv_set", args: `{"key":"k","value":${next}}` };
      await start(server, client, agent);
      expect((await raw(server, client, "GET", path)).text).toContain(`"value":${next},"version"`);
    }),
    some,
  );
});
