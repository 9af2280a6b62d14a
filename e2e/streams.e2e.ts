import { describe, expect, test } from "bun:test";
import { type EventStream, type Frame, seqsOf, textsOf } from "./event-stream.ts";
import { createScripted, createTool, runToEnd } from "./fixtures.ts";
import { type Runnel, startRunnel } from "./harness.ts";
import { figuresAvailable, openFiles, residentBytes, serverPid } from "./process-figures.ts";
import { openDead, openReader, openSilent } from "./raw-reader.ts";
import { waitUntil } from "./until.ts";

// Streams in large numbers, and streams with slow, dead or disconnected readers.

const MB = 1024 * 1024;

/** Starts a server with a finished run of about 7 MB: more than a connection buffers. */
async function withLongRecord() {
  const output = JSON.stringify("x".repeat(240_000));
  const tools = Bun.serve({ port: 0, hostname: "127.0.0.1", fetch: () => new Response(output, json) });
  const server = await startRunnel();
  const tool = await createTool(server, { url: `http://127.0.0.1:${tools.port}/` });
  const turn = { tool_calls: [{ name: tool.name, arguments: { city: "Oslo" } }] };
  const script = [...Array<object>(28).fill(turn), { text: "Done." }];
  const agent_id = await createScripted(server, script, { max_turns: 30, tools: [tool.id] });
  const run = await runToEnd(server, agent_id);
  expect(run.status).toBe("completed");
  return {
    server,
    path: `/v1/runs/${run.id}/events`,
    another: async () => `/v1/runs/${(await runToEnd(server, agent_id)).id}/events`,
    async [Symbol.asyncDispose]() {
      await server[Symbol.asyncDispose]();
      await tools.stop(true);
    },
  };
}

const json = { headers: { "content-type": "application/json" } };

/** Expects every event of the record, in order, to the one end. */
function expectWhole(frames: readonly Frame[]): void {
  const seqs = seqsOf(frames);
  expect(seqs).toEqual(Array.from({ length: seqs.length }, (_, index) => index + 1));
  expect(frames.at(-1)?.event).toBe("run.completed");
}

/** Opens one more reader; null if the run has its maximum number. */
async function readerOf(server: Runnel, path: string): Promise<EventStream | null> {
  const reader = await openReader(server, path);
  if (reader.response.status === 200) return reader;
  expect(reader.response.status).toBe(429);
  expect(Number(reader.response.headers.get("retry-after"))).toBeGreaterThan(0);
  reader.raw.leave();
  return null;
}

describe("readers of one run", () => {
  test("thirty that stop reading cost less than 5 MB each, and are disconnected after 30 seconds; an idle one is pinged", async () => {
    await using long = await withLongRecord();
    const { server, path } = long;
    const second = await long.another();
    const pid = serverPid(server.dataDir);
    const before = figuresAvailable ? [residentBytes(pid), openFiles(pid)] : [0, 0];
    const quiet = await openReader(server, await waitingRun(server));
    const pings = () => quiet.comments.filter((comment) => comment === "ping").length;
    const pings_before = pings();
    const dead = [
      ...(await Promise.all(Array.from({ length: 20 }, () => openDead(server, path)))),
      ...(await Promise.all(Array.from({ length: 10 }, () => openDead(server, second)))),
    ];
    expect(await readerOf(server, path)).toBeNull();
    const pings_in = pings();
    let most = 0;
    let late: EventStream | null = null;
    while (late === null) {
      late = await readerOf(server, path);
      if (figuresAvailable) most = Math.max(most, residentBytes(pid));
      if (pings() - pings_in > 9) throw new Error("Who never reads was not let go.");
      await Bun.sleep(500);
    }
    // Thirty seconds by the server's clock: it pings every five.
    expect(pings() - pings_before).toBeGreaterThanOrEqual(4);
    expect(pings() - pings_in).toBeLessThan(9);
    expectWhole(await late.rest());
    await quiet.close();
    await late.close();
    expect((most - before[0]!) / dead.length / MB).toBeLessThan(5);
    if (figuresAvailable) await waitUntil(() => openFiles(pid) <= before[1]! + 2);
    for (const { resume } of dead) resume();
    await Promise.all(dead.map(({ closed }) => closed));
    const each = (most - before[0]!) / dead.length / MB;
    console.error(`30 dead readers: ${each.toFixed(1)} MB each`);
  }, 90_000);

  test("a slow reader gets everything, and delays no other reader", async () => {
    await using long = await withLongRecord();
    const slow = await openReader(long.server, long.path);
    slow.raw.pause(); // Events beyond the connection's buffer wait in the journal.
    const fast = await Promise.all(Array.from({ length: 5 }, () => openReader(long.server, long.path)));
    for (const reader of fast) expectWhole(await reader.rest());
    const behind = slow.raw.taken();
    expect([slow.ending(), behind < fast[0]!.raw.taken() / 2]).toEqual(["open", true]);
    slow.raw.resume();
    expectWhole(await slow.rest());
    expect(slow.frames.length).toBe(fast[0]!.frames.length);
  });

  test("of forty at once twenty are admitted, and a place is free as soon as one leaves", async () => {
    await using server = await startRunnel();
    const path = await waitingRun(server);
    const all = await Promise.all(Array.from({ length: 40 }, () => readerOf(server, path)));
    const readers = all.filter((reader) => reader !== null);
    expect(readers.length).toBe(20);
    for (const reader of readers.slice(0, 5)) {
      await reader.close();
      await waitUntil(async () => (await readerOf(server, path)) !== null);
      expect(await readerOf(server, path)).toBeNull();
    }
  });

  test("a reader that left before the response takes no place", async () => {
    await using server = await startRunnel();
    const path = await waitingRun(server);
    for (let round = 0; round < 5; round++) {
      const hasty = await Promise.all(Array.from({ length: 40 }, () => openSilent(server, path)));
      for (const reader of hasty) reader.leave();
    }
    const readers: EventStream[] = [];
    await waitUntil(async () => {
      const reader = await readerOf(server, path);
      if (reader) readers.push(reader);
      return readers.length === 20;
    });
    expect(await readerOf(server, path)).toBeNull();
  });
});

/** Returns the events' path of a run that waits for its client. */
async function waitingRun(server: Runnel): Promise<string> {
  const tool = await createTool(server);
  const script = [{ tool_calls: [{ name: tool.name, arguments: { city: "Oslo" } }] }];
  const run = await runToEnd(server, await createScripted(server, script, { tools: [tool.id] }));
  expect(run.status).toBe("requires_action");
  return `/v1/runs/${run.id}/events`;
}

test("a thousand readers of fifty runs each get the whole record, and leave nothing behind", async () => {
  await using server = await startRunnel();
  const text = "a stream that is small carries every leaf it is given down to the sea ".repeat(2).trim();
  const agent_id = await createScripted(server, [{ delay_ms: 8000, text, delta_ms: 150 }]);
  const delays: number[] = [];
  const hear = ({ event, data }: Frame) => {
    if (event === "token") delays.push(Date.now() - Date.parse(data.at));
  };

  const runs = await Promise.all(
    Array.from({ length: 50 }, async () => (await server.post("/v1/runs", { agent_id, input: "Go" })).body.id),
  );
  const pid = serverPid(server.dataDir);
  const [memory, files] = figuresAvailable ? [residentBytes(pid), openFiles(pid)] : [0, 0];
  const readers: EventStream[] = [];
  for (const id of runs)
    readers.push(
      ...(await Promise.all(Array.from({ length: 20 }, () => openReader(server, `/v1/runs/${id}/events`, hear)))),
    );
  expect(readers.filter(({ response }) => response.status === 200).length).toBe(1000);
  const asked = performance.now();
  expect((await server.get(`/v1/runs/${runs[0]}`)).status).toBe(200);
  const read_ms = performance.now() - asked;

  for (const reader of readers) {
    expectWhole(await reader.rest());
    expect([reader.ending(), ...textsOf(reader.frames)]).toEqual(["ended", text]);
  }
  const [p50, p99] = percentiles(delays);
  const grown = figuresAvailable ? residentBytes(pid) - memory : 0;
  console.error(
    `1,000 readers: a token takes ${p50} ms (p50), ${p99} ms (p99); a read meanwhile ${read_ms.toFixed(0)} ms; ` +
      `memory grew by ${(grown / MB).toFixed(0)} MB`,
  );
  expect(grown / MB).toBeLessThan(300);
  for (const reader of readers) await reader.close();
  if (figuresAvailable) await waitUntil(() => openFiles(pid) <= files + 2);
}, 90_000);

function percentiles(values: number[]): [number, number] {
  const sorted = values.toSorted((a, b) => a - b);
  return [sorted[Math.floor(sorted.length / 2)]!, sorted[Math.floor(sorted.length * 0.99)]!];
}
