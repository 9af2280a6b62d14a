import { expect, test } from "bun:test";
import { connect } from "node:tls";
import { type EventStream, type Frame, seqsOf, textsOf } from "./event-stream.ts";
import { createAgent, createTool, stubConnection } from "./fixtures.ts";
import { type Json, type Runnel, startRunnel } from "./harness.ts";
import { startModelServer, wordsOf } from "./model-server.ts";
import { waitUntil } from "./until.ts";

const text = wordsOf(60);

test.each(["SIGTERM", "SIGINT"] as const)(
  "%s refuses new work, ends 50 streams with a last comment and the process with 0; the next start finishes the runs",
  async (signal) => {
    await using model = startModelServer();
    await using server = await startRunnel({ environment: stubConnection(model.url) });
    const agent_id = await createAgent(server, "half-60-10");
    const begun = await Promise.all(
      Array.from({ length: 20 }, () => server.stream("/v1/runs", { body: { agent_id, input: "Go", stream: true } })),
    );
    const ids = await Promise.all(begun.map(async (stream) => (await stream.until("token")).data.run_id));
    const readers = await Promise.all(
      Array.from({ length: 30 }, (_, index) => server.stream(`/v1/runs/${ids[index % 20]}/events`)),
    );
    const clients = [...begun, ...readers].map((stream, index) => ({ stream, id: ids[index % 20] as string }));
    const waiting = server.post("/v1/runs?wait=60", { agent_id, input: "Go" });
    const [late, early] = [await openConnection(server), await openConnection(server)];
    const request = postOf(server, { agent_id, input: "Go" });
    await early.send(request.slice(0, -5)); // It began before the signal: the process waits for the rest.
    await Promise.all(readers.map((stream) => stream.until("token")));
    // All runs exist, that of the waiting client too; and all bytes sent before are read once this has its response.
    await waitUntil(async () => (await server.get("/v1/runs?limit=100")).body.data.length === 21);

    const stopped = server.stop(signal);
    for (const { stream } of clients) {
      await stream.rest();
      expect([stream.ending(), stream.comments.at(-1)]).toEqual(["ended", "closing"]);
    }
    await late.send(request);
    const refused = await late.answer();
    expect(refused).toStartWith("HTTP/1.1 503");
    expect(refused).toContain('"code":"shutting_down"');
    expect(refused).toMatch(/\r\nretry-after: [1-9]/i);
    expect(await waiting).toMatchObject({ status: 201, body: { status: "in_progress" } });
    await early.send(request.slice(-5));
    expect(await early.answer()).toStartWith("HTTP/1.1 201");
    expect(await stopped).toBe(0);

    model.release();
    await server.restart();
    for (const client of clients) expectExact(await resume(server, client));
    await Promise.all([...(await unfinished(server))].map((id) => server.stream(`/v1/runs/${id}/events`).then(toEnd)));
    const runs: Json[] = (await server.get("/v1/runs?limit=100")).body.data;
    expect(runs.map(({ status, output, attempt }) => ({ status, output, attempt }))).toEqual(
      Array(22).fill({ status: "completed", output: text, attempt: 2 }),
    );
  },
);

test("regular stops are no crashes: after four of them during one call the run is still in progress", async () => {
  await using model = startModelServer();
  await using server = await startRunnel({ environment: stubConnection(model.url) });
  const { body } = await server.post("/v1/runs", { agent_id: await createAgent(server, "never-answers"), input: "Go" });
  for (let stop = 1; stop <= 4; stop++) {
    expect(await server.stop()).toBe(0);
    await server.restart();
    expect((await server.get(`/v1/runs/${body.id}`)).body).toMatchObject({ status: "in_progress", attempt: stop + 1 });
  }
});

test("SIGTERM waits neither for a model that never responds nor for a run that waits for its client", async () => {
  await using model = startModelServer();
  await using server = await startRunnel({ environment: stubConnection(model.url) });
  const tool = await createTool(server);
  const silent = await server.post("/v1/runs", { agent_id: await createAgent(server, "never-answers"), input: "Go" });
  const agent_id = await createAgent(server, "turns-0", { tools: [tool.id] });
  const waiting = await server.post("/v1/runs?wait=60", { agent_id, input: "Go" });
  expect(waiting.body.status).toBe("requires_action");

  expect(await server.stop()).toBe(0);
  await server.restart();
  expect((await server.get(`/v1/runs/${silent.body.id}`)).body.status).toBe("in_progress");
  expect((await server.get(`/v1/runs/${waiting.body.id}`)).body.status).toBe("requires_action");
});

/** Returns all events of a client that reconnected with its last id and stayed to the end. */
async function resume(server: Runnel, { stream, id }: { stream: EventStream; id: string }): Promise<Frame[]> {
  await using later = await server.stream(`/v1/runs/${id}/events`, { after: stream.lastId() });
  return [...stream.frames, ...(await later.rest())];
}

async function unfinished(server: Runnel): Promise<string[]> {
  const { body } = await server.get("/v1/runs?limit=100&status=in_progress");
  return body.data.map(({ id }: Json) => id);
}

async function toEnd(stream: EventStream): Promise<void> {
  await stream.rest();
  await stream.close();
}

function expectExact(frames: Frame[]): void {
  const seqs = seqsOf(frames);
  expect(seqs).toEqual(seqs.map((_, index) => index + 1));
  expect(textsOf(frames)).toEqual([text]);
  expect(frames.filter(({ event }) => event === "run.recovered")).toHaveLength(1);
  expect(frames.at(-1)?.event).toBe("run.completed");
}

/** Opens a connection before the signal, like those of a client's pool. */
async function openConnection(server: Runnel) {
  const { hostname, port } = new URL(server.url);
  const { promise: open, resolve: opened, reject } = Promise.withResolvers<void>();
  const socket = connect({ host: hostname, port: Number(port), ca: server.ca }, opened);
  const { promise: answered, resolve } = Promise.withResolvers<void>();
  let answer = "";
  socket.on("data", (data) => {
    answer += data;
    if (answer.includes("\r\n\r\n{")) resolve();
  });
  socket.on("error", reject);
  socket.on("close", resolve);
  await open;
  return {
    send: (request: string) => new Promise<unknown>((resolve) => socket.write(request, resolve)),
    async answer(): Promise<string> {
      await answered;
      return answer;
    },
  };
}

function postOf({ keys }: Runnel, body: object): string {
  const content = JSON.stringify(body);
  const headers = ["Host: localhost", `Authorization: Bearer ${keys.test}`, "Content-Type: application/json"];
  return ["POST /v1/runs HTTP/1.1", ...headers, `Content-Length: ${content.length}`, "", content].join("\r\n");
}
