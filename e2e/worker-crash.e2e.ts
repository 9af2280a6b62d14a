import { expect, test } from "bun:test";
import { type EventStream, seqsOf, textsOf } from "./event-stream.ts";
import { createScripted, createTool } from "./fixtures.ts";
import { type Json, type Runnel, startRunnel } from "./harness.ts";
import { startToolServer } from "./tool-server.ts";

const count = 20;
const text = "word ".repeat(30).trim();

// Two model calls a run, the second one slow: at the 35th at least 15 are recorded and some are in flight, and the
// thread that follows has fewer than 35 to make.
test.each(["throw", "reject", "exit"])(
  "P2, P3: a worker thread that ends by %s is replaced within a second: its runs go on, and reads never notice",
  async (action) => {
    await using tools = startToolServer();
    await using server = await startRunnel({
      environment: { RUNNEL_FAILPOINT: `before_effect.model_call:35:${action}` },
      flags: ["--workers", "1", "--log", "json"],
    });
    const tool = await createTool(server, { url: `${tools.url}/weather`, idempotent: true });
    const script = [{ tool_calls: [{ name: tool.name, arguments: { city: "Oslo" } }] }, { text, delta_ms: 10 }];
    const agent_id = await createScripted(server, script, { tools: [tool.id] });
    const body = { agent_id, input: "Go", stream: true };
    const streams = await Promise.all(Array.from({ length: count }, () => server.stream("/v1/runs", { body })));
    const ended = Promise.all(streams.map((stream) => stream.rest()));
    const reads = await readUntil(ended, server);

    expect(new Set(reads)).toEqual(new Set([200]));
    const runs: Json[] = (await server.get(`/v1/runs?limit=${count}&include=messages`)).body.data;
    const { length } = runs.filter((run) => run.status === "completed" && run.output === text);
    expect(length).toBe(count);
    const recovered = runs.filter(({ attempt }) => attempt === 2);
    expect(recovered.length).toBeGreaterThan(0);
    expect(runs.filter(({ attempt }) => attempt > 2)).toEqual([]);
    const calls = [...tools.countsByKey("/weather")];
    expect(calls.map(([key]) => key).sort()).toEqual(runs.map((run) => run.tool_calls[0].id).sort());
    for (const stream of streams) expectExact(stream);
    expect(timeToRecovery(server, streams)).toBeLessThan(1000);
    await Promise.all(streams.map((stream) => stream.close()));
  },
);

/** Asks for the runs again and again, and answers the statuses. */
async function readUntil(end: Promise<unknown>, server: Runnel): Promise<number[]> {
  const statuses: number[] = [];
  let over = false;
  void end.finally(() => {
    over = true;
  });
  while (!over) statuses.push((await server.get("/v1/runs")).status);
  await end;
  return statuses;
}

/** From the one death that the log tells of to the first run that was taken up again. */
function timeToRecovery(server: Runnel, streams: readonly EventStream[]): number {
  const lines: Json[] = server
    .log()
    .split("\n")
    .flatMap((line) => (line.startsWith("{") ? [JSON.parse(line)] : []));
  const deaths = lines.filter(({ message }) => message === "worker thread ended");
  expect(deaths).toHaveLength(1);
  const times = streams.flatMap(({ frames }) => frames.filter(({ event }) => event === "run.recovered"));
  return Math.min(...times.map(({ data }) => Date.parse(data.at))) - Date.parse(deaths[0].time);
}

function expectExact({ frames }: EventStream): void {
  const seqs = seqsOf(frames);
  expect(seqs).toEqual(seqs.map((_, index) => index + 1));
  expect(frames.at(-1)?.event).toBe("run.completed");
  expect(textsOf(frames)).toEqual([text]);
  expect(frames.filter(({ event }) => event === "tool.completed")).toHaveLength(1);
}
