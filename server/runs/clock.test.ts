import { afterAll, describe, expect, test } from "bun:test";
import { withEnoughTime } from "../testing/enough-time.ts";
import { httpTool, runFixture, tool } from "../testing/run-fixture.ts";

// The machine's clock is set while runs are working.

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

function clockFixture() {
  let ahead = 0;
  const fixture = runFixture({ now: () => Date.now() + ahead, look_ms: 5 });
  return Object.assign(fixture, {
    set(by: number) {
      ahead += by;
    },
  });
}

/** Resolves after a deadline has passed normally; anything else taken to be due has ended by then. */
async function letADeadlinePass(fixture: ReturnType<typeof clockFixture>): Promise<void> {
  const { id } = await fixture.start([words(1000)], { run: { timeout_ms: 20 } });
  expect((await fixture.settled(id)).error?.code).toBe("run_timeout");
}

describe.each([hour, -hour])("a clock that jumps by %d ms", (jump) => {
  test("ends no working run, and no waiting run before its deadline", async () => {
    using fixture = clockFixture();
    const works = await fixture.start([words(60)], { run: { timeout_ms: 30_000 } });
    const waits = await fixture.start([look, { text: "Seen." }], {
      tools: [tool("look")],
      run: { timeout_ms: 30_000, action_timeout_ms: 2 * hour },
    });
    await fixture.settled(waits.id);
    fixture.set(jump);
    await letADeadlinePass(fixture);
    expect((await fixture.settled(works.id)).status).toBe("completed");
    expect(fixture.runs.get(fixture.scope, waits.id).status).toBe("requires_action");
  });

  test("does not keep a run alive beyond its time", async () => {
    using fixture = clockFixture();
    const works = await fixture.start([words(2000)], { run: { timeout_ms: 60 } });
    const waits = await fixture.start([look], { tools: [tool("look")], run: { action_timeout_ms: 60 } });
    fixture.set(jump);
    expect((await fixture.settled(works.id)).error?.code).toBe("run_timeout");
    const { event } = await fixture.until(waits.id, (entry) => entry.event.type === "run.failed");
    expect(event).toMatchObject({ error: { code: "action_expired" } });
  });

  test("repeats no call, and makes no time or latency negative", async () => {
    using fixture = clockFixture();
    const before = calls;
    const { id } = await fixture.start([look, words(20)], {
      tools: [httpTool("look", `http://127.0.0.1:${server.port}`)],
    });
    await arrived.promise;
    fixture.set(jump);
    release.resolve();
    const run = await fixture.settled(id);
    expect([run.status, calls - before]).toEqual(["completed", 1]);
    const entries = fixture.journal.read(id);
    const times = entries.map(({ at }) => at);
    expect(times).toEqual(times.toSorted((a, b) => a - b));
    for (const { event } of entries) if ("latency_ms" in event) expect(event.latency_ms).toBeWithin(0, hour);
    expect(Date.parse(run.completed_at!)).toBeGreaterThanOrEqual(Date.parse(run.created_at));
    arrived = Promise.withResolvers();
    release = Promise.withResolvers();
  });

  test("leaves an answered run its full time", async () => {
    const answered = await withEnoughTime(1000, async (timeout_ms) => {
      using fixture = clockFixture();
      const { id } = await fixture.start([look, words(20_000)], { tools: [tool("look")], run: { timeout_ms } });
      const { required_action } = await fixture.settled(id);
      if (!required_action) return null;
      fixture.set(jump);
      const [call] = required_action.submit_tool_outputs.tool_calls;
      await fixture.service.submit(fixture.scope, id, [{ tool_call_id: call!.tool_call_id, output: 1 }]);
      const run = await fixture.settled(id);
      return run.output?.includes("word word") ? run : null;
    });
    expect(answered.error?.code).toBe("run_timeout");
  });
});

test("a clock that jumps past the deadline of a required action expires it, and nothing else", async () => {
  using fixture = clockFixture();
  const works = await fixture.start([words(60)], { run: { timeout_ms: 30_000 } });
  const agents = { tools: [tool("look")], run: { action_timeout_ms: hour / 2 } };
  const waits = await fixture.start([look], agents);
  const { expires_at } = await fixture.settled(waits.id);
  fixture.set(hour);
  const { event, at } = await fixture.until(waits.id, (entry) => entry.event.type === "run.failed");
  expect(event).toMatchObject({ error: { code: "action_expired" } });
  expect(at).toBeGreaterThanOrEqual(Date.parse(expires_at!));
  expect((await fixture.settled(works.id)).status).toBe("completed");
  const later = await fixture.start([look], agents);
  await letADeadlinePass(fixture);
  expect(fixture.runs.get(fixture.scope, later.id).status).toBe("requires_action");
});

test("a process that starts with its clock an hour behind extends no run's time", async () => {
  const fixture = clockFixture();
  const { id } = await fixture.start([look], { tools: [tool("look")], run: { action_timeout_ms: 40 } });
  await fixture.settled(id);
  fixture.service.stop();
  fixture.pool.stop();
  using later = runFixture({ db: fixture.db, now: () => Date.now() - hour });
  await later.service.recover();
  const { event } = await later.until(id, (entry) => entry.event.type === "run.failed");
  expect(event).toMatchObject({ error: { code: "action_expired" } });
});
