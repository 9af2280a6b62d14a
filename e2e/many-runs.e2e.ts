import { Database } from "bun:sqlite";
import { expect, test } from "bun:test";
import { join } from "node:path";
import { createAgent, stubConnection } from "./fixtures.ts";
import { type Runnel, startRunnel } from "./harness.ts";
import { figuresAvailable, residentBytes, serverPid } from "./process-figures.ts";
import { waitUntil } from "./until.ts";

// A thousand concurrent runs, with the limits off.

const count = 1000;
const MB = 1024 * 1024;

/** A model that responds to no request until `open` is called. */
function startGatedModel() {
  let asked = 0;
  const gate = Promise.withResolvers<void>();
  const server = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    idleTimeout: 0,
    async fetch(request) {
      await request.text();
      asked++;
      await gate.promise;
      return new Response(words, { headers: { "content-type": "text/event-stream" } });
    },
  });
  return {
    url: `http://127.0.0.1:${server.port}/v1`,
    /** Waits for this many more requests than at the last call, all of them waiting. */
    async reached(more: number): Promise<void> {
      await waitUntil(() => asked >= more);
      asked -= more;
    },
    open: (): void => gate.resolve(),
    async [Symbol.asyncDispose]() {
      await server.stop(true);
    },
  };
}

const chunk = (choices: object[], more = {}) =>
  `data: ${JSON.stringify({ id: "1", object: "chat.completion.chunk", created: 1, model: "stub", choices, ...more })}\n\n`;
const words = [
  chunk([{ index: 0, delta: { role: "assistant", content: "Done." }, finish_reason: null }]),
  chunk([{ index: 0, delta: {}, finish_reason: "stop" }]),
  chunk([], { usage: { prompt_tokens: 2, completion_tokens: 1, total_tokens: 3 } }),
  "data: [DONE]\n\n",
].join("");

/** Counts the runs that match, in the database, because the API lists a hundred at most. */
function countRuns(server: Runnel, where: string): number {
  using db = new Database(join(server.dataDir, "runnel.db"), { readonly: true });
  return db.query<{ n: number }, []>(`SELECT count(*) AS n FROM runs WHERE ${where}`).get()!.n;
}

/** Starts `count` runs, some at a time. */
async function start(server: Runnel, agent_id: string): Promise<string[]> {
  const ids: string[] = [];
  for (let batch = 0; batch < count / 50; batch++)
    ids.push(
      ...(await Promise.all(
        Array.from({ length: 50 }, async () => {
          const { status, body } = await server.post("/v1/runs", { agent_id, input: "Go" });
          expect(status).toBe(201);
          return body.id as string;
        }),
      )),
    );
  return ids;
}

const allCompleted = (server: Runnel) => waitUntil(() => countRuns(server, "status <> 'completed'") === 0);

const ms = (since: number) => `${(performance.now() - since).toFixed(0)} ms`;

test("a thousand runs wait for their models at once; the API responds meanwhile, and all complete", async () => {
  await using model = startGatedModel();
  await using server = await startRunnel({ environment: stubConnection(model.url) });
  const agent_id = await createAgent(server, "any");
  const pid = serverPid(server.dataDir);
  const memory = () => (figuresAvailable ? residentBytes(pid) / MB : 0);
  const before = memory();
  const began = performance.now();
  const [id] = await start(server, agent_id);
  const created = ms(began);
  await model.reached(count);
  expect(countRuns(server, "status = 'in_progress'")).toBe(count);
  const reading = performance.now();
  expect((await server.get(`/v1/runs/${id}`)).body.status).toBe("in_progress");
  const read = ms(reading);
  const most = memory();
  const opened = performance.now();
  model.open();
  await allCompleted(server);
  console.error(
    `1,000 runs: created in ${created}, a read meanwhile ${read}, completed in ${ms(opened)}; ` +
      `memory ${before.toFixed(0)} → ${most.toFixed(0)} → ${memory().toFixed(0)} MB`,
  );
  expect(most - before).toBeLessThan(300);
  expect((await server.get(`/v1/runs/${id}`)).body).toMatchObject({ status: "completed", output: "Done.", attempt: 1 });
}, 180_000);

test("a thousand runs that were in progress at a kill -9 are taken up before the server says that it serves, and go on", async () => {
  await using model = startGatedModel();
  await using server = await startRunnel({ environment: stubConnection(model.url) });
  const [id] = await start(server, await createAgent(server, "any"));
  await model.reached(count);
  await server.kill9();
  const began = performance.now();
  await server.restart();
  const started = ms(began);
  expect(countRuns(server, "attempt = 2")).toBe(count);
  await model.reached(count);
  console.error(`1,000 runs: the server was there ${started} after its start, the last run at its model ${ms(began)}`);
  model.open();
  await allCompleted(server);
  expect((await server.get(`/v1/runs/${id}`)).body).toMatchObject({ status: "completed", attempt: 2 });
}, 180_000);
