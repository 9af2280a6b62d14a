import { Database } from "bun:sqlite";
import { expect, test } from "bun:test";
import { existsSync, statSync } from "node:fs";
import { join } from "node:path";
import type { EventStream } from "./event-stream.ts";
import { createAgent, createTool, runToEnd, stubConnection } from "./fixtures.ts";
import { type Json, type ParsedResponse, type Runnel, startRunnel } from "./harness.ts";
import { startModelServer } from "./model-server.ts";
import { canMount, smallDisk } from "./small-disk.ts";
import { waitUntil } from "./until.ts";

const onDisk = test.skipIf(!canMount());
const megabyte = 1024 * 1024;

/** Starts a server on a disk of 64 MB that keeps 3.2 MB free and holds 4 MB as ballast; every response is checked. */
async function startOnSmallDisk(flags: string[] = []) {
  const disk = smallDisk(64);
  const model = startModelServer();
  const dataDir = join(disk.path, "data");
  const server = await startRunnel({ dataDir, flags, environment: stubConnection(model.url) });
  const ballast = join(dataDir, "ballast");
  await waitUntil(() => sizeOf(ballast) === 4 * megabyte);
  const tool = await createTool(server);
  const agents = new Map<string, string>();
  for (const model of ["words-40-20", "half-40-10", "half-200-10"]) agents.set(model, await createAgent(server, model));
  const asker = await createAgent(server, "turns-0", { tools: [tool.id] });

  /** Checks that a response follows the contract and is no unexpected failure. */
  function judged(answer: ParsedResponse): ParsedResponse {
    if (answer.status < 400) return answer;
    const { status, body, headers } = answer;
    expect({ status, body }).toMatchObject({
      status: 507,
      body: { error: { type: "api_error", code: "storage_full" } },
    });
    expect(body.request_id).toStartWith("req_");
    expect(Number(headers.get("retry-after"))).toBeGreaterThan(0);
    return answer;
  }

  return {
    disk,
    server,
    model,
    dataDir,
    get: async (path: string) => judged(await server.get(path)),
    post: async (path: string, body: unknown = {}) => judged(await server.post(path, body)),
    remove: async (path: string) => judged(await read(server, path)),
    holdsBallast: () => existsSync(ballast),
    start: async () => judged(await server.post("/v1/runs", { agent_id: agents.get("words-40-20"), input: "Go" })),
    stream: (model = "words-40-20"): Promise<EventStream> =>
      server.stream("/v1/runs", { body: { agent_id: agents.get(model), input: "Go", stream: true } }),
    /** Writes about this number of bytes, but no run. */
    write: async (size: number) =>
      judged(await server.post("/v1/agents", { name: "Filler", instructions: "x".repeat(size), model: "test/echo" })),
    ask: (): Promise<Json> => runToEnd(server, asker),
    async [Symbol.asyncDispose]() {
      await server[Symbol.asyncDispose]();
      await model[Symbol.asyncDispose]();
      disk[Symbol.dispose]();
    },
  };
}

const sizeOf = (path: string): number => statSync(path, { throwIfNoEntry: false })?.size ?? 0;

async function read(server: Runnel, path: string): Promise<ParsedResponse> {
  const response = await server.fetch(path, { method: "DELETE" });
  return { status: response.status, body: await response.json(), headers: response.headers };
}

const answerOf = (run: Json) => ({
  tool_outputs: [{ tool_call_id: run.required_action.submit_tool_outputs.tool_calls[0].tool_call_id, output: "clear" }],
});

onDisk("on a disk that is nearly full new runs are refused, and whatever ends or frees something goes on", async () => {
  await using at = await startOnSmallDisk();
  const [asked, dropped, over] = [await at.ask(), await at.ask(), await at.ask()];
  await at.post(`/v1/runs/${over.id}/cancel`);
  await using stream = await at.stream();
  await stream.until("token");
  at.disk.fillUpTo(3 * megabyte);
  await waitUntil(async () => (await at.start()).status === 507);

  expect((await at.get("/v1/runs")).status).toBe(200);
  expect((await at.post(`/v1/runs/${dropped.id}/cancel`)).body.status).toBe("cancelled");
  expect((await at.post(`/v1/runs/${asked.id}/submit_tool_outputs`, answerOf(asked))).status).toBe(200);
  expect((await at.remove(`/v1/runs/${over.id}`)).body.deleted).toBe(true);
  expect((await stream.rest()).at(-1)?.event).toBe("run.completed");
  await waitUntil(async () => (await at.get(`/v1/runs/${asked.id}`)).body.status === "completed");
  expect((await at.server.get("/readyz", null)).status).toBe(200);
  await waitUntil(async () => (await at.get("/v1/runs?status=in_progress")).body.data.length === 0);
  expect(at.holdsBallast()).toBe(true); // The ballast is not needed yet.
  at.disk.fillUpTo(0);
  // Twenty in a row, because the server checks the disk at intervals, and its WAL may reuse space.
  let refused = 0;
  await waitUntil(async () => {
    refused = (await at.write(100_000)).status === 507 ? refused + 1 : 0;
    return refused === 20;
  });
  expect(at.holdsBallast()).toBe(true); // The ballast is for runs in progress; deferrable writes did not get it.

  at.disk.empty();
  await waitUntil(async () => (await at.start()).status === 201);
  expect(at.server.log()).toContain("the disk is nearly full");
  expect(at.server.log()).toContain("the disk has room again");
});

onDisk(
  "a disk that fills up while runs stream crashes nothing and loses nothing, and all goes on once there is room",
  async () => {
    await using at = await startOnSmallDisk();
    const waiting = await at.ask();
    const streams = await Promise.all(Array.from({ length: 10 }, () => at.stream("half-40-10")));
    const created = await Promise.all(streams.map((stream) => stream.until("run.created")));
    at.disk.fillUpTo(0);
    at.model.release();
    // Runs in progress end in the reserved space.
    for (const stream of streams) expect((await stream.rest()).at(-1)?.event).toBe("run.completed");
    expect(at.holdsBallast()).toBe(false);

    // Now that space is used up as well: new work is refused, and everything is readable.
    at.disk.fillUpTo(0);
    await waitUntil(async () => (await at.write(50_000)).status === 507);
    const answers = await Promise.all([
      ...Array.from({ length: 20 }, at.start),
      ...created.map(({ data }) => at.get(`/v1/runs/${data.id}`)),
      at.get("/v1/runs?limit=100"),
      at.get(`/v1/traces/${waiting.id}`),
    ]);
    expect(answers.map(({ status }) => status)).toEqual([...Array(20).fill(507), ...Array(12).fill(200)]);
    const cancel = await at.post(`/v1/runs/${waiting.id}/cancel`);
    expect([200, 507]).toContain(cancel.status);
    expect(at.server.isAlive()).toBe(true);

    at.disk.empty();
    await waitUntil(async () => (await at.start()).status === 201);
    await waitUntil(at.holdsBallast);
    expect((await at.post(`/v1/runs/${waiting.id}/cancel`)).body.status).toBe("cancelled");
    for (const { data } of created) expect((await at.get(`/v1/runs/${data.id}`)).body.status).toBe("completed");
    expect(await at.server.stop()).toBe(0);
    expectWhole(at.dataDir);
  },
);

onDisk("runs that cannot write wait for room, also over a crash and a start on the full disk", async () => {
  // Otherwise the disk could not be filled up like this.
  await using at = await startOnSmallDisk(["--min-free-disk", "0"]);
  const streams = await Promise.all(Array.from({ length: 5 }, () => at.stream("half-200-10")));
  const created = await Promise.all(streams.map((stream) => stream.until("run.created")));
  // Fills it to the last page, ballast included: first by large writes, then by small ones.
  for (const size of [50_000, 1000])
    await waitUntil(async () => {
      at.disk.fillUpTo(0);
      return (await at.write(size)).status === 507;
    });
  at.model.release();
  await waitUntil(() => at.server.log().includes("the journal could not be written"));
  expect(at.holdsBallast()).toBe(false);
  for (const { data } of created) expect((await at.get(`/v1/runs/${data.id}`)).body.status).toBe("in_progress");
  await at.server.kill9();
  await at.server.restart();
  for (const { data } of created) expect((await at.get(`/v1/runs/${data.id}`)).body.status).toBe("in_progress");

  at.disk.empty();
  for (const { data } of created) {
    await using stream = await at.server.stream(`/v1/runs/${data.id}/events`);
    expect((await stream.rest()).at(-1)?.event).toBe("run.completed");
  }
  expect(await at.server.stop()).toBe(0);
  expectWhole(at.dataDir);
});

function expectWhole(dataDir: string): void {
  const path = join(dataDir, "runnel.db");
  expect(sizeOf(`${path}-wal`)).toBe(0);
  const sqlite = new Database(path, { readonly: true });
  expect(sqlite.query("PRAGMA integrity_check").all()).toEqual([{ integrity_check: "ok" }]);
  expect(sqlite.query("SELECT run_id FROM run_events GROUP BY run_id HAVING max(seq) <> count(*)").all()).toEqual([]);
  sqlite.close();
}
