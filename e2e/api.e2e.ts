import { afterAll, beforeAll, expect, test } from "bun:test";
import { connect } from "node:net";
import { Webhook } from "standardwebhooks";
import { seqsOf, textsOf } from "./event-stream.ts";
import { createAgent, createScripted, createTool, runToEnd, stubConnection } from "./fixtures.ts";
import { type Runnel, startRunnel } from "./harness.ts";
import { type ModelServer, startModelServer, wordsOf } from "./model-server.ts";
import { startToolServer, type ToolServer } from "./tool-server.ts";

// The core API on the compiled executable over TLS, with a model and tools behind real sockets.
let model: ModelServer;
let tools: ToolServer;
let server: Runnel;

beforeAll(async () => {
  model = startModelServer();
  tools = startToolServer();
  server = await startRunnel({ environment: stubConnection(model.url) });
});

afterAll(async () => {
  await server[Symbol.asyncDispose]();
  await model[Symbol.asyncDispose]();
  await tools[Symbol.asyncDispose]();
});

test("a streamed run pauses for the client's tool, takes its output and continues in the same stream", async () => {
  const tool = await createTool(server);
  const agent_id = await createScripted(
    server,
    [
      { text: "I look.", tool_calls: [{ name: tool.name, arguments: { city: "Oslo" } }] },
      { text: "It is clear in Oslo." },
    ],
    { tools: [tool.id] },
  );

  await using stream = await server.stream("/v1/runs", { body: { agent_id, input: "Weather?", stream: true } });
  expect(stream.response.headers.get("content-type")).toStartWith("text/event-stream");
  const { data: waiting } = await stream.until("run.requires_action");
  const [call] = waiting.required_action.submit_tool_outputs.tool_calls;
  expect(call).toMatchObject({ name: tool.name, arguments: { city: "Oslo" }, needs: "output" });

  const submitted = await server.post(`/v1/runs/${waiting.run_id}/submit_tool_outputs`, {
    tool_outputs: [{ tool_call_id: call.tool_call_id, output: { sky: "clear" } }],
  });
  expect(submitted).toMatchObject({ status: 200, body: { status: "in_progress", required_action: null } });

  const frames = await stream.rest();
  expect(frames.at(-1)).toMatchObject({ event: "run.completed", data: { output: "It is clear in Oslo." } });
  expect(textsOf(frames)).toEqual(["I look.", "It is clear in Oslo."]);
  const seqs = seqsOf(frames);
  expect(seqs).toEqual(seqs.map((_, index) => index + 1));
});

test("submitting an output streams on from where the run waited", async () => {
  const tool = await createTool(server);
  const script = [{ tool_calls: [{ name: tool.name, arguments: { city: "Oslo" } }] }, { text: "Thank you." }];
  const run = await runToEnd(server, await createScripted(server, script, { tools: [tool.id] }));
  const [call] = run.required_action.submit_tool_outputs.tool_calls;

  await using stream = await server.stream(`/v1/runs/${run.id}/submit_tool_outputs`, {
    body: { tool_outputs: [{ tool_call_id: call.tool_call_id, output: "clear" }], stream: true },
  });
  const frames = await stream.rest();
  expect(frames.map(({ event }) => event)).toContain("tool.completed");
  expect(frames.map(({ event }) => event)).not.toContain("run.created");
  expect(textsOf(frames)).toEqual(["Thank you."]);
});

test("cancelling responds at once, ends the stream, and closes the model's request", async () => {
  const agent_id = await createAgent(server, "words-1000-20");
  await using stream = await server.stream("/v1/runs", { body: { agent_id, input: "Go on.", stream: true } });
  const { data } = await stream.until("token");
  const request = model.requests.findLast((one) => one.model === "words-1000-20")!;

  const cancelled = await server.post(`/v1/runs/${data.run_id}/cancel`, { reason: "Enough." });
  expect(cancelled).toMatchObject({ status: 200, body: { status: "cancelled" } });
  await request.aborted;
  const frames = await stream.rest();
  expect(frames.at(-1)).toMatchObject({
    event: "run.failed",
    data: { status: "cancelled", error: { code: "run_cancelled" } },
  });
  expect((await server.post(`/v1/runs/${data.run_id}/cancel`)).status).toBe(200);
});

test("the trace shows every step of a run with its input, output and usage", async () => {
  const tool = await createTool(server, { url: `${tools.url}/weather` });
  const run = await runToEnd(server, await createAgent(server, "turns-0", { tools: [tool.id] }));
  expect(run).toMatchObject({ status: "completed", output: "I read 1 results." });

  const { body: trace } = await server.get(`/v1/traces/${run.id}`);
  expect(trace).toMatchObject({ object: "trace", run_id: run.id, status: "completed" });
  expect(trace.steps.map(({ type }: { type: string }) => type)).toEqual(["model_call", "tool_call", "model_call"]);
  expect(trace.steps[1]).toMatchObject({ status: "completed", output: { sky: "clear" } });
  expect(trace.usage).toMatchObject({ model_calls: 2, tool_calls: 1, estimated: false });
  expect(trace.usage).toEqual(run.usage);
});

test("a background run responds at once, and polling finds it completed", async () => {
  const created = await server.post("/v1/runs", { agent_id: await createAgent(server, "words-5-5"), input: "Hello" });
  expect(created).toMatchObject({ status: 201, body: { status: "in_progress", output: null } });
  expect(created.headers.get("location")).toBe(`/v1/runs/${created.body.id}`);
  await using stream = await server.stream(`/v1/runs/${created.body.id}/events`);
  await stream.rest();
  expect((await server.get(`/v1/runs/${created.body.id}`)).body).toMatchObject({
    status: "completed",
    output: wordsOf(5),
    usage: { input_tokens: 20, output_tokens: 5, estimated: false },
  });
});

test("waiting is bounded: a run that takes longer is returned in its current state", async () => {
  const agent_id = await createAgent(server, "words-1000-50");
  const { status, body } = await server.post("/v1/runs?wait=1", { agent_id, input: "Hello" });
  expect({ status, run: body.status }).toEqual({ status: 201, run: "in_progress" });
  await server.post(`/v1/runs/${body.id}/cancel`);
});

test("every reader gets the whole run, from any position and at any time", async () => {
  const agent_id = await createAgent(server, "words-40-5");
  await using first = await server.stream("/v1/runs", { body: { agent_id, input: "Hello", stream: true } });
  const { data } = await first.until("token");
  await using second = await server.stream(`/v1/runs/${data.run_id}/events`);
  const whole = await first.rest();
  expect(textsOf(await second.rest())).toEqual([wordsOf(40)]);

  for (const cut of whole.keys()) {
    const before = whole.slice(0, cut + 1);
    await using later = await server.stream(`/v1/runs/${data.run_id}/events`, { after: before.at(-1)!.id });
    const all = [...before, ...(await later.rest())];
    expect(textsOf(all)).toEqual([wordsOf(40)]);
    expect(seqsOf(all)).toEqual(seqsOf(whole));
  }
});

test("lists page through every item once, in both orders", async () => {
  const name = "Listed";
  for (let count = 0; count < 7; count++)
    await createAgent(server, "test/echo", { name, metadata: { suite: "lists" } });
  for (const order of ["asc", "desc"]) {
    const seen: string[] = [];
    for (let after = "", more = true; more; ) {
      const { body } = await server.get(`/v1/agents?limit=3&order=${order}&metadata[suite]=lists${after}`);
      seen.push(...body.data.map(({ id }: { id: string }) => id));
      after = `&starting_after=${body.last_id}`;
      more = body.has_more;
    }
    expect(new Set(seen).size).toBe(7);
    expect(seen).toEqual(order === "asc" ? seen.toSorted() : seen.toSorted().reverse());
  }
});

test("an HTTP tool can verify its caller, and gets the arguments", async () => {
  const tool = await createTool(server, { url: `${tools.url}/signed` });
  const run = await runToEnd(server, await createAgent(server, "turns-0", { tools: [tool.id] }));
  const [call] = tools.callsOf("/signed");
  const body = new Webhook(tool.signing_secret).verify(call!.body, call!.headers);
  expect(body).toMatchObject({ city: "Oslo 0" });
  expect(call!.headers).toMatchObject({ "x-run-id": run.id, "x-tool-call-id": run.tool_calls[0].id });
  expect(call!.key).toBe(run.tool_calls[0].id);
  expect(() => new Webhook(tool.signing_secret).verify(`${call!.body} `, call!.headers)).toThrow();
});

test("the running server uses a connection that the command line adds", async () => {
  const add = [
    "models",
    "add",
    "added",
    "--provider",
    "openai_compatible",
    "--base-url",
    model.url,
    "--api-key",
    "none",
  ];
  expect(await server.command(...add)).toMatchObject({ code: 0 });
  const run = await runToEnd(server, await createAgent(server, "openai_compatible/added/words-3-0"));
  expect(run).toMatchObject({ status: "completed", output: wordsOf(3) });
});

test("live keys and test keys do not see each other's data", async () => {
  const agent_id = await createAgent(server, "words-3-0");
  const answer = await server.get(`/v1/agents/${agent_id}`, server.keys.live);
  const never = await server.get(`/v1/agents/agt_${"0".repeat(26)}`, server.keys.live);
  expect(answer.status).toBe(404);
  expect({ ...answer.body, request_id: "" }).toEqual({ ...never.body, request_id: "" });
});

test("plain HTTP gets no response from the TLS port", async () => {
  const answer = await new Promise<string>((resolve) => {
    let text = "";
    const socket = connect(Number(new URL(server.url).port), "127.0.0.1", () =>
      socket.write(`GET /v1/me HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer ${server.keys.test}\r\n\r\n`),
    );
    socket.on("data", (data) => (text += data));
    socket.on("close", () => resolve(text));
    socket.on("error", () => {});
  });
  // Refusing plain HTTP is fine; a redirect or a success is not.
  expect(answer).not.toMatch(/HTTP\/1\.1 [23]/);
});

test("a client that was not given the self-signed certificate refuses it", async () => {
  await expect(fetch(`${server.url}/healthz`)).rejects.toThrow();
});
