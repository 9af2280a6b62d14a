import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { calls, ending, piece, text } from "../runtime/models/__fixtures__/server-answers/chunks.ts";
import { type ProviderRequest, startProviders } from "../testing/provider-server.ts";
import { testActor } from "../testing/test-actor.ts";
import { type Client, type TestApp, testApp } from "../testing/test-app.ts";

type Answer = (asked: Pick<ProviderRequest, "body">, count: number) => Iterable<string> | Response;

const answers = new Map<string, Answer>();
const counts = new Map<string, number>();
const providers = startProviders((asked) => {
  const { model } = asked.body;
  const count = counts.get(model) ?? 0;
  counts.set(model, count + 1);
  return answers.get(model)!(asked, count);
});
const results: Record<string, string> = { big: "b ".repeat(19_500), middle: "m ".repeat(4000), empty: "" };
const target = Bun.serve({
  port: 0,
  hostname: "127.0.0.1",
  fetch: (request) => Response.json(results[new URL(request.url).pathname.slice(1)]),
});

let server: TestApp;
let client: Client;
const tools: string[] = [];
beforeAll(async () => {
  server = testApp();
  client = await server.client();
  await server.connections.put(providers.connectionOf("openai_compatible"), testActor);
  for (const name of Object.keys(results))
    tools.push((await client.post("/v1/tools", { name, type: "http", url: `${target.url}${name}` })).body.id);
});
afterAll(async () => {
  await server[Symbol.asyncDispose]();
  await providers[Symbol.asyncDispose]();
  await target.stop(true);
});

async function play(answer: Answer, more = {}) {
  const model = `m-${crypto.randomUUID()}`;
  answers.set(model, answer);
  const agent = { name: "a", instructions: "", model: `openai_compatible/stub/${model}`, tools, ...more };
  const { id } = (await client.post("/v1/agents", agent)).body;
  const run = (await client.post("/v1/runs?wait=60", { agent_id: id, input: "Go." })).body;
  return { run, asked: counts.get(model), trace: (await client.get(`/v1/traces/${run.id}`)).body };
}

const sizeOf = ({ body }: Pick<ProviderRequest, "body">): number => JSON.stringify(body.messages).length;
const call = (name: string): string[] => [
  calls(piece({ index: 0, id: "call_1" }, name, "{}")),
  ...ending("tool_calls"),
];
const said = (content: string): string[] => [text(content), ...ending()];
const windowMax = 30_000;

const refusals: [string, unknown][] = [
  [
    "DeepSeek",
    {
      error: {
        message: "This model's maximum context length is 65536 tokens. However, you requested 70000 tokens.",
        type: "invalid_request_error",
      },
    },
  ],
  [
    "xAI",
    {
      code: "Client specified an invalid argument",
      error: "This model's maximum prompt length is 131072 but the request contains 200000 tokens.",
    },
  ],
  [
    "Ollama",
    {
      error: {
        message: "prompt too long; exceeded max context length by 500 tokens",
        type: "invalid_request_error",
      },
    },
  ],
];

describe.each(refusals)("a prompt that is too long for %s", (_, refusal) => {
  const refuse = () => Response.json(refusal, { status: 400 });

  test("is summarized, and the run goes on", async () => {
    let turns = 0;
    const { run, trace } = await play((asked) => {
      if (sizeOf(asked) > windowMax) return refuse();
      if (!asked.body.tools) return said("A summary.");
      turns++;
      return turns < 6 ? call("middle") : said("Fine.");
    });
    expect([run.status, run.output, run.tool_calls.length]).toEqual(["completed", "Fine.", 5]);
    const compactions = trace.steps.filter(({ type }: { type: string }) => type === "compaction");
    expect(compactions).toMatchObject([{ output: { summary: "A summary." } }]);
  });

  test("has a shorter tool result, if that alone is too long", async () => {
    const { run, trace, asked } = await play((sent) => {
      if (sizeOf(sent) > windowMax) return refuse();
      return sizeOf(sent) < 1000 ? call("big") : said("Fine.");
    });
    expect([run.status, run.output, asked]).toEqual(["completed", "Fine.", 3]);
    const [compaction] = trace.steps.filter(({ type }: { type: string }) => type === "compaction");
    expect(compaction.output).toMatchObject({ left_out: 0 });
    expect(compaction.output.tool_output_max_bytes).toBeLessThan(10_000);
  });

  test("fails the run if nothing can be shortened, with the server's words", async () => {
    const { run, asked } = await play(refuse);
    expect(run).toMatchObject({ status: "failed", error: { code: "context_length_exceeded" } });
    expect(run.error.message).toMatch(/length/);
    expect(asked).toBe(1);
  });
});

test("tool results are shortened again and again, and keep the summary, until the model takes the prompt", async () => {
  let turns = 0;
  const { run, trace } = await play((asked) => {
    if (!asked.body.tools) return said("A summary.");
    if (sizeOf(asked) > 9000) return Response.json(refusals[0]![1], { status: 400 });
    turns++;
    return turns <= 2 ? call(turns === 1 ? "middle" : "big") : said(JSON.stringify(asked.body.messages));
  });
  expect(run.status).toBe("completed");
  expect(run.output).toContain("A summary.");
  const compactions = trace.steps.filter(({ type }: { type: string }) => type === "compaction");
  expect(compactions.length).toBeGreaterThan(2);
});

test("a model whose call its server could not read is told so, and asked again", async () => {
  const failed = {
    error: {
      message: "Failed to call a function. Please adjust your prompt. See 'failed_generation' for more details.",
      type: "invalid_request_error",
      code: "tool_use_failed",
      failed_generation: '<function=empty{"city":"Oslo"}</function>',
    },
  };
  const { run, asked } = await play(({ body }, count) =>
    count === 0 ? Response.json(failed, { status: 400 }) : said(body.messages.at(-1).content),
  );
  expect([run.status, asked]).toEqual(["completed", 2]);
  expect(run.output).toContain("<function=empty");
});

test("messages of a turn are sent in their order", async () => {
  const first = [text("Let me look. "), ...call("empty")];
  const { run } = await play(({ body }, count) =>
    count === 0 ? first : said(body.messages.map(({ role }: { role: string }) => role).join()),
  );
  expect(run.output).toBe("system,user,assistant,tool");
});

const output_schema = { type: "object", properties: { topic: { type: "string" } }, required: ["topic"] };

test.each([
  ["in a code fence", said('```json\n{"topic":"x"}\n```')],
  ["within words", said('Here you are: {"topic":"x"}')],
  ["after reasoning in tags", said('<think>hm</think>\n{"topic":"x"}')],
])("JSON %s is the output", async (_, chunks) => {
  const { run, asked } = await play(() => chunks, { output_schema });
  expect(run).toMatchObject({ status: "completed", output: '{"topic":"x"}', output_json: { topic: "x" } });
  expect(asked).toBe(1);
});

test("JSON that breaks off is asked for once more, and the error says so", async () => {
  const { run, asked } = await play(() => [text('{"topic":"x'), ...ending("length")], { output_schema });
  expect(run).toMatchObject({ status: "failed", error: { code: "output_schema_mismatch" } });
  expect(run.error.message).toContain("breaks off");
  expect(asked).toBe(2);
});
