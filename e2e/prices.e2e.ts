import { Database } from "bun:sqlite";
import { expect, test } from "bun:test";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { createAgent, runToEnd } from "./fixtures.ts";
import { type Json, type Runnel, startRunnel } from "./harness.ts";

// Prices of new models, on the executable: a budget in USD works, and the table of prices can be replaced.

/** Starts a server that answers as Anthropic's, with 100 tokens of a prompt and 10 of an answer. */
function startAnthropic() {
  const asked: Json[] = [];
  const usage = { input_tokens: 100, output_tokens: 10 };
  const events = [
    {
      type: "message_start",
      message: { id: "msg_1", type: "message", role: "assistant", model: "m", content: [], stop_reason: null, usage },
    },
    { type: "content_block_start", index: 0, content_block: { type: "text", text: "" } },
    { type: "content_block_delta", index: 0, delta: { type: "text_delta", text: "Hello." } },
    { type: "content_block_stop", index: 0 },
    { type: "message_delta", delta: { stop_reason: "end_turn", stop_sequence: null }, usage: { output_tokens: 10 } },
    { type: "message_stop" },
  ];
  const stream = events.map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`).join("");
  const server = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    async fetch(request) {
      // It has no list of models.
      if (request.method === "GET") return new Response(null, { status: 404 });
      asked.push((await request.json()) as Json);
      return new Response(stream, { headers: { "content-type": "text/event-stream" } });
    },
  });
  return {
    asked,
    url: `http://127.0.0.1:${server.port}/v1`,
    [Symbol.dispose]: () => void server.stop(true),
  };
}

async function connect(server: Runnel, url: string): Promise<void> {
  const { code } = await server.command("models", "add", "anthropic", "--base-url", url, "--api-key", "none");
  expect(code).toBe(0);
}

const budget = { max_cost_usd: 1 };
const ended = (usage: object) => ({ status: "completed", output: "Hello.", usage });

test("a budget in USD works on models of this year, and on newer models that the price table lacks", async () => {
  using anthropic = startAnthropic();
  await using server = await startRunnel();
  await connect(server, anthropic.url);
  const run = async (model: string) => await runToEnd(server, await createAgent(server, model), { budget });
  const listed = await run("anthropic/claude-opus-5-5");
  expect(listed).toMatchObject(ended({ cost_usd: 0.0006 }));
  expect(listed.usage).not.toHaveProperty("cost_estimated");
  const unlisted = await run("anthropic/claude-sonnet-9");
  expect(unlisted).toMatchObject(ended({ cost_usd: 0.00045, cost_estimated: true }));
  const { steps } = (await server.get(`/v1/traces/${unlisted.trace_id}`)).body;
  expect(steps.map(({ usage }: Json) => usage.cost_estimated)).toEqual([true]);
  expect((await server.command("trace", unlisted.id)).stdout).toContain("≈$");
  // The answer may have as many tokens as each relative allows, if the budget has room for them.
  expect([anthropic.asked[0]?.max_tokens < 50_000, anthropic.asked[1]?.max_tokens]).toEqual([true, 64_000]);
});

test("a budget in USD on a model without price is refused when the run is made, with the command that adds one", async () => {
  using anthropic = startAnthropic();
  await using server = await startRunnel();
  await connect(server, anthropic.url);
  const agent_id = await createAgent(server, "anthropic/mystery");
  const refused = await server.post("/v1/runs", { agent_id, input: "Hi.", budget });
  expect([refused.status, refused.body.error]).toMatchObject([
    400,
    { code: "budget_needs_price", param: "budget.max_cost_usd", details: { model: "anthropic/mystery" } },
  ]);
  const [, command = ""] = /runnel (models prices set \S+) --input/.exec(refused.body.error.message) ?? [];
  expect((await server.get("/v1/runs")).body.data).toEqual([]);
  expect((await server.command(...command.split(" "), "--input", "1", "--output", "2")).code).toBe(0);
  expect(await runToEnd(server, agent_id, { budget })).toMatchObject(ended({ cost_usd: 0.00012 }));
});

test("a table that the operator loads applies while the server runs, survives kill -9, and is in backups", async () => {
  using anthropic = startAnthropic();
  await using server = await startRunnel();
  await connect(server, anthropic.url);
  const source = "https://example.com";
  const models = [{ id: "anthropic/mystery", input: 10, output: 20, context_window: 5000, source }];
  const file = join(server.folder, "prices.json");
  writeFileSync(file, JSON.stringify({ as_of: "2026-11-20", models }));
  expect((await server.command("models", "update", file)).code).toBe(0);
  const shown = async () => (await server.get("/v1/models")).body.data.filter(({ available }: Json) => available);
  const expected = {
    id: "anthropic/mystery",
    context_window: 5000,
    prices: { input: 10, output: 20, as_of: "2026-11-20", source: "table", reference: source },
  };
  expect((await shown())[0]).toMatchObject(expected);
  await server.kill9();
  await server.restart();
  expect((await shown())[0]).toMatchObject(expected);
  const agent_id = await createAgent(server, "anthropic/mystery");
  expect(await runToEnd(server, agent_id, { budget })).toMatchObject(ended({ cost_usd: 0.0012 }));
  const backup = join(server.folder, "copy.db");
  expect((await server.command("backup", backup)).code).toBe(0);
  using copy = new Database(backup, { readonly: true });
  expect(copy.query("SELECT as_of, models FROM model_price_table").all()).toEqual([{ as_of: "2026-11-20", models: 1 }]);
});
