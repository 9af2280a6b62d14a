import { expect, test } from "bun:test";
import { textsOf } from "./event-stream.ts";
import { createAgent, createScripted, createTool, stubConnection } from "./fixtures.ts";
import { startRunnel } from "./harness.ts";
import { startModelServer } from "./model-server.ts";

const text = "word ".repeat(100).trim();

test("SIGTERM ends live streams with a last comment and the process with 0; the next start finishes the runs", async () => {
  await using server = await startRunnel();
  const agent_id = await createScripted(server, [{ text, delta_ms: 20 }]);
  const body = { agent_id, input: "Go", stream: true };
  const streams = await Promise.all(Array.from({ length: 5 }, () => server.stream("/v1/runs", { body })));
  const runs = await Promise.all(streams.map(async (stream) => (await stream.until("token")).data.run_id));

  const asked = performance.now();
  expect(await server.stop()).toBe(0);
  expect(performance.now() - asked).toBeLessThan(15_000);
  for (const stream of streams) {
    await stream.rest();
    expect(stream.comments.at(-1)).toBe("closing");
    expect(stream.ending()).toBe("ended");
  }

  await server.restart();
  for (const [index, stream] of streams.entries()) {
    await using later = await server.stream(`/v1/runs/${runs[index]}/events`, { after: stream.lastId() });
    expect(textsOf([...stream.frames, ...(await later.rest())])).toEqual([text]);
  }
});

test("SIGTERM does not wait for a model that never answers, nor for a run that waits for its client", async () => {
  await using model = startModelServer();
  await using server = await startRunnel({ environment: stubConnection(model.url) });
  const tool = await createTool(server);
  const silent = await server.post("/v1/runs", { agent_id: await createAgent(server, "never-answers"), input: "Go" });
  const agent_id = await createAgent(server, "turns-0", { tools: [tool.id] });
  const waiting = await server.post("/v1/runs?wait=10", { agent_id, input: "Go" });
  expect(waiting.body.status).toBe("requires_action");

  const asked = performance.now();
  expect(await server.stop()).toBe(0);
  expect(performance.now() - asked).toBeLessThan(15_000);
  await server.restart();
  expect((await server.get(`/v1/runs/${silent.body.id}`)).body.status).toBe("in_progress");
  expect((await server.get(`/v1/runs/${waiting.body.id}`)).body.status).toBe("requires_action");
});
