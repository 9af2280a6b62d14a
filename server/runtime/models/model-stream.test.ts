import { afterAll, expect, test } from "bun:test";
import { testApp } from "../../testing/test-app.ts";

// A provider that echoes its key, in chunks chosen by the test.

const key = "sk-canary/0123+456789";
let chunks: object[] = [];
let status = 200;
const provider = Bun.serve({
  hostname: "127.0.0.1",
  port: 0,
  fetch: () =>
    new Response(
      status === 200
        ? chunks.map((delta) => `data: ${JSON.stringify({ choices: [{ index: 0, delta }] })}\n\n`).join("") + end
        : JSON.stringify({ error: { message: `No: ${encodeURIComponent(key)} and ${key}` } }),
      { status, headers: { "content-type": status === 200 ? "text/event-stream" : "application/json" } },
    ),
});
afterAll(() => provider.stop(true));
const end = `data: ${JSON.stringify({ choices: [{ index: 0, delta: {}, finish_reason: "stop" }] })}\n\ndata: [DONE]\n\n`;

const environment = {
  RUNNEL_MODEL_STUB_BASE_URL: `${provider.url}v1`,
  RUNNEL_MODEL_STUB_API_KEY: key,
};

/** Returns all that a client can read of a run with these chunks, and the run's result. */
async function told(said: object[]) {
  chunks = said;
  await using server = testApp({ environment });
  const client = await server.client();
  const model = "openai_compatible/stub/parrot";
  const { body: tool } = await client.post("/v1/tools", { name: "look", type: "client" });
  const { body: agent } = await client.post("/v1/agents", { name: "a", instructions: "", model, tools: [tool.id] });
  const stream = !said.some((delta) => "tool_calls" in delta);
  const told = await client.post("/v1/runs?wait=60", { agent_id: agent.id, input: "Your key?", stream });
  const { id } = (await client.get("/v1/runs")).body.data[0];
  const { body: run } = await client.get(`/v1/runs/${id}`);
  const { body: trace } = await client.get(`/v1/traces/${id}?include=raw`);
  const { body: events } = await client.get(`/v1/runs/${id}/events`);
  return { run, all: JSON.stringify([told.body, run, trace, events]) };
}

/** Returns one delta for each character. */
const letters = (text: string, name = "content") => Array.from(text, (letter) => ({ [name]: letter }));

test.each([
  ["at once", [{ content: `It is ${key}.` }]],
  ["letter by letter", letters(`It is ${key}.`)],
  ["as the inside of JSON", letters(`It is ${key.replaceAll("/", "\\u002f")}.`)],
  ["as a part of a URL", letters(`It is ${encodeURIComponent(key)}.`)],
])("a provider's key that its model repeats %s is in no response, event or journal", async (_, said) => {
  const { run, all } = await told(said);
  expect(run).toMatchObject({ status: "completed", output: "It is [hidden]." });
  expect(all).not.toMatch(/canary|3\+456789|3%2B456789/);
});

test("text that only begins like the key is sent in full, at the latest at the end", async () => {
  const half = `It is ${key.slice(0, 12)}`;
  expect((await told(letters(half))).run.output).toBe(half);
  expect((await told([...letters(half), { content: ", no: sk" }])).run.output).toBe(`${half}, no: sk`);
});

test("the key is not in reasoning", async () => {
  const { run, all } = await told([...letters(`Mine is ${key}`, "reasoning_content"), ...letters("No.")]);
  expect(run.output).toBe("No.");
  expect(all).toContain("Mine is");
  expect(all).not.toContain("canary");
});

test("the key is not in arguments of a call, which stay JSON", async () => {
  const args = JSON.stringify({ at: `https://a.example/?k=${encodeURIComponent(key)}`, key });
  const { run, all } = await told([
    { tool_calls: [{ index: 0, id: "c", function: { name: "look", arguments: args } }] },
  ]);
  expect(run.tool_calls[0].arguments).toEqual({ at: "https://a.example/?k=[hidden]", key: "[hidden]" });
  expect(all).not.toContain("canary");
});

test("the key is not in the error of a run, however the provider spells it", async () => {
  status = 400;
  const { run, all } = await told([]).finally(() => {
    status = 200;
  });
  expect(run).toMatchObject({ status: "failed", error: { code: "model_error" } });
  expect(all).not.toContain("canary");
});
