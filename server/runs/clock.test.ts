import { afterAll, describe, expect, test } from "bun:test";
import { httpTool, runBench, tool } from "../testing/run-bench.ts";

// Somebody sets the machine's clock while runs are at work.

const hour = 3_600_000;
const words = (count: number) => ({ text: "word ".repeat(count).trim(), delta_ms: 5 });
const look = { tool_calls: [{ name: "look", arguments: {} }] };

let calls = 0;
let arrived = Promise.withResolvers<void>();
let release = Promise.withResolvers<void>();
const server = Bun.serve({
  port: 0,
  hostname: "127.0.0.1",
  async fetch() {
    calls++;
    arrived.resolve();
    await release.promise;
    return Response.json({ sky: "clear" });
  },
});
afterAll(() => server.stop(true));

function clockBench() {
  let ahead = 0;
  const bench = runBench({ now: () => Date.now() + ahead, look_ms: 5 });
  return Object.assign(bench, {
    set(by: number) {
      ahead += by;
    },
  });
}

/** Returns when a deadline was met in the ordinary way: whatever else was taken to be due is over then too. */
async function letADeadlinePass(bench: ReturnType<typeof clockBench>): Promise<void> {
  const { id } = await bench.start([words(1000)], { run: { timeout_ms: 20 } });
  expect((await bench.settled(id)).error?.code).toBe("run_timeout");
}

describe.each([hour, -hour])("a clock that jumps by %d ms", (jump) => {
  test("ends no run that works, and none that waits until a time that has not come", async () => {
    using bench = clockBench();
    const works = await bench.start([words(60)], { run: { timeout_ms: 30_000 } });
    const waits = await bench.start([look, { text: "Seen." }], {
      tools: [tool("look")],
      run: { timeout_ms: 30_000, action_timeout_ms: 2 * hour },
    });
    await bench.settled(waits.id);
    bench.set(jump);
    await letADeadlinePass(bench);
    expect((await bench.settled(works.id)).status).toBe("completed");
    expect(bench.runs.get(bench.scope, waits.id).status).toBe("requires_action");
  });

  test("keeps no run alive beyond its time", async () => {
    using bench = clockBench();
    const works = await bench.start([words(2000)], { run: { timeout_ms: 60 } });
    const waits = await bench.start([look], { tools: [tool("look")], run: { action_timeout_ms: 60 } });
    bench.set(jump);
    expect((await bench.settled(works.id)).error?.code).toBe("run_timeout");
    const { event } = await bench.until(waits.id, (entry) => entry.event.type === "run.failed");
    expect(event).toMatchObject({ error: { code: "action_expired" } });
  });

  test("makes no call happen twice, no time run backwards and no latency negative", async () => {
    using bench = clockBench();
    const before = calls;
    const { id } = await bench.start([look, words(20)], {
      tools: [httpTool("look", `http://127.0.0.1:${server.port}`)],
    });
    await arrived.promise;
    bench.set(jump);
    release.resolve();
    const run = await bench.settled(id);
    expect([run.status, calls - before]).toEqual(["completed", 1]);
    const entries = bench.journal.read(id);
    const times = entries.map(({ at }) => at);
    expect(times).toEqual(times.toSorted((a, b) => a - b));
    for (const { event } of entries) if ("latency_ms" in event) expect(event.latency_ms).toBeWithin(0, hour);
    expect(Date.parse(run.ended_at!)).toBeGreaterThanOrEqual(Date.parse(run.created_at));
    arrived = Promise.withResolvers();
    release = Promise.withResolvers();
  });

  test("leaves a run that is answered the time that it was given", async () => {
    using bench = clockBench();
    const { id } = await bench.start([look, words(2000)], { tools: [tool("look")], run: { timeout_ms: 300 } });
    const { required_action } = await bench.settled(id);
    bench.set(jump);
    const [call] = required_action!.submit_tool_outputs.tool_calls;
    await bench.service.submit(bench.scope, id, [{ tool_call_id: call!.id, output: 1 }]);
    const run = await bench.settled(id);
    expect([run.error?.code, run.output]).toEqual(["run_timeout", expect.stringContaining("word word")]);
  });
});

test("a clock that jumps past the time that a wait was given ends the wait, and nothing else", async () => {
  using bench = clockBench();
  const works = await bench.start([words(60)], { run: { timeout_ms: 30_000 } });
  const agents = { tools: [tool("look")], run: { action_timeout_ms: hour / 2 } };
  const waits = await bench.start([look], agents);
  const { expires_at } = await bench.settled(waits.id);
  bench.set(hour);
  const { event, at } = await bench.until(waits.id, (entry) => entry.event.type === "run.failed");
  expect(event).toMatchObject({ error: { code: "action_expired" } });
  expect(at).toBeGreaterThanOrEqual(Date.parse(expires_at!));
  expect((await bench.settled(works.id)).status).toBe("completed");
  const later = await bench.start([look], agents);
  await letADeadlinePass(bench);
  expect(bench.runs.get(bench.scope, later.id).status).toBe("requires_action");
});

test("a process that starts with its clock an hour behind lends no run any time", async () => {
  const bench = clockBench();
  const { id } = await bench.start([look], { tools: [tool("look")], run: { action_timeout_ms: 40 } });
  await bench.settled(id);
  bench.service.stop();
  bench.pool.stop();
  using later = runBench({ db: bench.db, now: () => Date.now() - hour });
  await later.service.recover();
  const { event } = await later.until(id, (entry) => entry.event.type === "run.failed");
  expect(event).toMatchObject({ error: { code: "action_expired" } });
});
