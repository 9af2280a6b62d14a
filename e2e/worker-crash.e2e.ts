import { expect, test } from "bun:test";
import { type EventStream, seqsOf, textsOf } from "./event-stream.ts";
import { createScripted, createTool } from "./fixtures.ts";
import { type Json, type Runnel, startRunnel } from "./harness.ts";
import { meanwhile } from "./meanwhile.ts";
import { startToolServer } from "./tool-server.ts";

const count = 20;
const text = "word ".repeat(30).trim();

// Two model calls per run, the second one slow: at the 35th at least 15 are recorded and some are in flight, and the
// next worker makes fewer than 35.
test.each(["throw", "reject", "exit"])(
  "P2, P3: a worker that ends by %s is replaced: its runs continue, and reads never notice",
  async (action) => {
    await using tools = startToolServer();
    await using server = await startRunnel({
      environment: { RUNNEL_FAILPOINT: `before_effect.model_call:35:${action}` },
      flags: ["--workers", "1", "--log-format", "json"],
    });
    const tool = await createTool(server, { url: `${tools.url}/weather`, idempotent: true });
    const script = [{ tool_calls: [{ name: tool.name, arguments: { city: "Oslo" } }] }, { text, delta_ms: 10 }];
    const agent_id = await createScripted(server, script, { tools: [tool.id] });
    const body = { agent_id, input: "Go", stream: true };
    const streams = await Promise.all(Array.from({ length: count }, () => server.stream("/v1/runs", { body })));
    const ended = Promise.all(streams.map((stream) => stream.rest()));
    await meanwhile(ended, async () => expect((await server.get("/v1/runs")).status).toBe(200));

    const runs: Json[] = (await server.get(`/v1/runs?limit=${count}&include=messages`)).body.data;
    const { length } = runs.filter((run) => run.status === "completed" && run.output === text);
    expect(length).toBe(count);
    const recovered = runs.filter(({ attempt }) => attempt === 2);
    expect(recovered.length).toBeGreaterThan(0);
    expect(runs.filter(({ attempt }) => attempt > 2)).toEqual([]);
    const calls = [...tools.countsByKey("/weather")];
    expect(calls.map(([key]) => key).sort()).toEqual(runs.map((run) => run.tool_calls[0].id).sort());
    for (const stream of streams) expectExact(stream);
    expectRecoveryAfterDeath(server, streams);
    await Promise.all(streams.map((stream) => stream.close()));
  },
);

/** Expects one death in the log, and no recovery before it. */
function expectRecoveryAfterDeath(server: Runnel, streams: readonly EventStream[]): void {
  const lines: Json[] = server
    .log()
    .split("\n")
    .flatMap((line) => (line.startsWith("{") ? [JSON.parse(line)] : []));
  const deaths = lines.filter(({ message }) => message === "worker thread ended");
  expect(deaths).toHaveLength(1);
  const times = streams.flatMap(({ frames }) => frames.filter(({ event }) => event === "run.recovered"));
  expect(times.filter(({ data }) => Date.parse(data.at) < Date.parse(deaths[0].time))).toEqual([]);
}

function expectExact({ frames }: EventStream): void {
  const seqs = seqsOf(frames);
  expect(seqs).toEqual(seqs.map((_, index) => index + 1));
  expect(frames.at(-1)?.event).toBe("run.completed");
  expect(textsOf(frames)).toEqual([text]);
  expect(frames.filter(({ event }) => event === "tool.completed")).toHaveLength(1);
}
