import { afterAll, beforeEach, expect, test } from "bun:test";
import { Webhook } from "standardwebhooks";
import { type Client, type TestApp, testApp } from "../../testing/test-app.ts";

// Webhook tools with a real receiver, which answers at once, later, or through the callback URL.

type Envelope = { id: string; run_id: string; callback_url: string; arguments: object };
let answer: (envelope: Envelope, request: Request) => Response | Promise<Response>;
const got: { envelope: Envelope; headers: Headers; text: string }[] = [];
const receiver = Bun.serve({
  port: 0,
  hostname: "127.0.0.1",
  async fetch(request) {
    const text = await request.text();
    const envelope = JSON.parse(text) as Envelope;
    got.push({ envelope, headers: request.headers, text });
    return answer(envelope, request);
  },
});
afterAll(() => receiver.stop(true));
beforeEach(() => void got.splice(0));

const later = () => new Response(null, { status: 202 });

/** An agent that calls a webhook tool (and others) once and then says "Done.". */
async function agentOf(client: Client, more: object = {}, others: { name: string; tool: object }[] = []) {
  const make = async (body: object) => {
    const { status, body: made } = await client.post("/v1/tools", body);
    expect(status).toBe(201);
    return made;
  };
  const hook = await make({ name: "book", type: "webhook", url: receiver.url.href, ...more });
  const extra = await Promise.all(others.map(({ name, tool }) => make({ name, ...tool })));
  const tool_calls = [hook, ...extra].map(({ name }) => ({ name, arguments: { seat: 7 } }));
  const { body: agent } = await client.post("/v1/agents", {
    name: "Clerk",
    instructions: "Book.",
    model: "test/script",
    model_settings: { script: [{ tool_calls }, { text: "Done." }] },
    tools: [hook.id, ...extra.map(({ id }) => id)],
  });
  return { agent_id: agent.id as string, hook };
}

const start = async (client: Client, agent_id: string) =>
  (await client.post("/v1/runs?wait=60", { agent_id, input: "Go" })).body;

const tokenOf = ({ callback_url }: Envelope) => new URL(callback_url).pathname;
const callBack = (server: TestApp, path: string, body: unknown) => server.send("POST", path, body);

async function finished(server: TestApp, client: Client, id: string) {
  const watch = server.watches.join(id);
  try {
    for (;;) {
      const seen = watch.commits();
      const { body } = await client.get(`/v1/runs/${id}`);
      if (body.completed_at) return body;
      if (watch.commits() === seen && !(await watch.next(10_000))) throw new Error(`Waited in vain: ${body.status}.`);
    }
  } finally {
    watch.leave();
  }
}

test("a webhook gets the signed call, and an immediate response is the result", async () => {
  await using server = testApp();
  const client = await server.client();
  answer = () => Response.json({ booked: true });
  const { agent_id, hook } = await agentOf(client);
  const run = await start(client, agent_id);
  expect(run).toMatchObject({ status: "completed", output: "Done.", tool_calls: [{ output: { booked: true } }] });
  const [{ envelope, headers, text }] = got as [(typeof got)[0]];
  expect(envelope).toMatchObject({
    id: run.tool_calls[0].id,
    object: "tool_call",
    name: "book",
    arguments: { seat: 7 },
    run_id: run.id,
    callback_url: expect.stringContaining("/callbacks/"),
    expires_at: expect.stringMatching(/Z$/),
  });
  const signature = Object.fromEntries(
    ["id", "timestamp", "signature"].map((n) => [`webhook-${n}`, headers.get(`webhook-${n}`)!]),
  );
  expect(new Webhook(hook.signing_secret).verify(text, signature)).toBeTruthy();
  expect(headers.get("idempotency-key")).toBe(envelope.id);
});

test("after 202 the run waits, and continues with what is posted to the call's own URL, without a key", async () => {
  await using server = testApp();
  const client = await server.client();
  answer = later;
  const { agent_id } = await agentOf(client);
  const run = await start(client, agent_id);
  expect(run).toMatchObject({ status: "requires_action", tool_calls: [{ status: "awaiting_output" }] });
  const path = tokenOf(got[0]!.envelope);
  expect((await callBack(server, path, { output: { seat: "7A" } })).body).toMatchObject({ status: "taken" });
  const end = await finished(server, client, run.id);
  expect(end).toMatchObject({ status: "completed", tool_calls: [{ output: { seat: "7A" }, status: "completed" }] });
  expect((await callBack(server, path, { output: { seat: "7A" } })).status).toBe(200);
  expect((await callBack(server, path, { output: "another" })).body.error.code).toBe("tool_call_already_resolved");
  expect(got.length).toBe(1);
});

test("after 202 the output may also come by submit_tool_outputs, and a failure as an error", async () => {
  await using server = testApp();
  const client = await server.client();
  answer = later;
  const { agent_id } = await agentOf(client);
  const [one, two] = [await start(client, agent_id), await start(client, agent_id)];
  const submitted = await client.post(`/v1/runs/${one.id}/submit_tool_outputs`, {
    tool_outputs: [{ tool_call_id: one.tool_calls[0].id, output: "by hand" }],
  });
  expect(submitted.status).toBe(200);
  await callBack(server, tokenOf(got[1]!.envelope), { output: "no seats", is_error: true });
  expect((await finished(server, client, one.id)).tool_calls).toMatchObject([{ output: "by hand" }]);
  expect((await finished(server, client, two.id)).tool_calls).toMatchObject([
    { status: "failed", error: { code: "client_error", message: "no seats" } },
  ]);
});

test("a result that arrives before the run waits is stored, also if repeated, and no other replaces it", async () => {
  await using server = testApp();
  const client = await server.client();
  const slow = Promise.withResolvers<Response>();
  const replies: number[] = [];
  const said: string[] = [];
  let kept = "";
  answer = async (envelope) => {
    if (!envelope.callback_url) return slow.promise;
    for (const output of ["early", "early", "another"]) {
      const { status, body } = await callBack(server, tokenOf(envelope), { output });
      replies.push(status);
      said.push(body.status ?? body.error.code);
    }
    kept = JSON.stringify(server.db.sqlite.query("SELECT answer FROM early_outputs").all());
    setTimeout(() => slow.resolve(Response.json("slow")));
    return later();
  };
  const other = { name: "look", tool: { url: receiver.url.href, method: "POST" } };
  const { agent_id } = await agentOf(client, {}, [other]);
  const { id } = await start(client, agent_id);
  const run = await finished(server, client, id);
  expect(replies).toEqual([202, 202, 409]);
  expect(said).toEqual(["kept", "kept", "tool_call_already_resolved"]);
  expect(kept).toMatch(/^\[\{"answer":"v1\.[^"]+"\}\]$/); // Guardrails have not checked it yet.
  expect(run).toMatchObject({ status: "completed", tool_calls: [{ output: "early" }, { output: "slow" }] });
  expect(server.db.sqlite.query("SELECT count(*) AS n FROM early_outputs").get()).toEqual({ n: 0 });
});

test("invalid callback URLs are 404, and a client that tries many of them is throttled", async () => {
  await using server = testApp();
  const client = await server.client();
  answer = later;
  const { agent_id } = await agentOf(client);
  const run = await start(client, agent_id);
  const path = tokenOf(got[0]!.envelope);
  const [, callId] = path.split(".");
  const other = path.replace(callId!, `call_${"0".repeat(26)}`);
  for (const wrong of [`${path}x`, path.slice(0, -1), other, "/callbacks/x", "/callbacks/..", path.toUpperCase()])
    expect((await callBack(server, wrong, { output: 1 })).status).toBe(404);
  for (let i = 0; i < 60; i++) await callBack(server, `${path}x`, { output: 1 });
  expect((await callBack(server, `${path}x`, { output: 1 })).status).toBe(429);
  expect((await callBack(server, path, { output: 1 })).status).toBe(200);
  expect((await finished(server, client, run.id)).status).toBe("completed");
});

test.each([
  [{}, "output"],
  [[], "output"],
  [{ output: 1, more: 2 }, "more"],
  [{ output: 1, is_error: "yes" }, "is_error"],
])("a callback with %j is refused with the name of what is wrong, and the run waits on", async (body, param) => {
  await using server = testApp();
  const client = await server.client();
  answer = later;
  const { agent_id } = await agentOf(client);
  const run = await start(client, agent_id);
  const { status, body: said } = await callBack(server, tokenOf(got[0]!.envelope), body);
  expect([status, said.error.param]).toEqual([400, param]);
  expect((await client.get(`/v1/runs/${run.id}`)).body.status).toBe("requires_action");
});
