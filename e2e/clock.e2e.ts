import { expect, test } from "bun:test";
import { seqsOf, textsOf } from "./event-stream.ts";
import { createAgent, createScripted, createTool, stubConnection } from "./fixtures.ts";
import { type Json, startRunnel } from "./harness.ts";
import { startModelServer } from "./model-server.ts";
import { startToolServer } from "./tool-server.ts";

const text = "word ".repeat(80).trim();
const stop_ms = 6000; // Milliseconds; longer than a worker's heartbeat, a stream's ping, and the tool's call.

test("a process that was suspended for seconds continues: no call twice, no stream cut, no worker replaced", async () => {
  await using model = startModelServer();
  await using tools = startToolServer();
  await using server = await startRunnel({ environment: stubConnection(model.url), flags: ["--log-format", "json"] });
  const { id: tool_id } = await createTool(server, { url: `${tools.url}/slow/500`, idempotent: false });
  const calling = await createAgent(server, "turns-0", { tools: [tool_id] });
  const writing = await createScripted(server, [{ text, delta_ms: 20 }]);
  const open = (agent_id: string) => server.stream("/v1/runs", { body: { agent_id, input: "Go", stream: true } });
  const streams = await Promise.all([open(calling), open(calling), open(writing), open(writing)]);
  await tools.called("/slow/500", 2);
  await Promise.all(streams.slice(2).map((stream) => stream.until("token")));

  server.signal("SIGSTOP");
  await Bun.sleep(stop_ms); // The elapsed time is the test.
  server.signal("SIGCONT");

  for (const [index, stream] of streams.entries()) {
    const frames = await stream.rest();
    expect([stream.ending(), frames.at(-1)?.event]).toEqual(["ended", "run.completed"]);
    const seqs = seqsOf(frames);
    expect(seqs).toEqual(seqs.map((_, place) => place + 1));
    expect(textsOf(frames).at(-1)).toBe(index < 2 ? "I read 1 results." : text);
    const times = frames.map(({ data }) => data.at);
    expect(times).toEqual(times.toSorted());
  }
  const runs: Json[] = (await server.get("/v1/runs")).body.data;
  expect(runs.map(({ status, attempt }) => ({ status, attempt }))).toEqual(
    Array(4).fill({ status: "completed", attempt: 1 }),
  );
  expect([...tools.countsByKey("/slow/500").values()]).toEqual([1, 1]);
  expect(model.requests).toHaveLength(4);
  expect(server.log()).not.toContain('"level":"error"');
});
