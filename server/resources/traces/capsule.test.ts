import { Database } from "bun:sqlite";
import { expect, test } from "bun:test";
import { readdirSync, readlinkSync } from "node:fs";
import { capsuleLimits, capsuleType } from "../../domain/capsule-format.ts";
import { createLog } from "../../lib/log.ts";
import { canary, capsuleOf, exportOf, importCapsule, richRun, stepsOf } from "../../testing/capsules.ts";
import { type Client, testApp } from "../../testing/test-app.ts";

function counting() {
  let requests = 0;
  const server = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    fetch() {
      requests++;
      return Response.json({ found: requests });
    },
  });
  return {
    address: `http://127.0.0.1:${server.port}`,
    requests: () => requests,
    [Symbol.dispose]: () => void server.stop(true),
  };
}

/** Returns the steps without the run's own ids. */
const same = (steps: Awaited<ReturnType<typeof stepsOf>>) =>
  steps.map(({ run_id: _, subagent, ...step }) => ({ ...step, subagent: subagent?.agent_id ?? null }));

const elsewhere = async (server: ReturnType<typeof testApp>): Promise<Client> =>
  await server.client({ project: "elsewhere", environment: "live" });

test("a capsule moves a run to another server, where it shows the same and replays without calling a model or tool", async () => {
  using tool = counting();
  await using here = testApp();
  await using there = testApp();
  const client = await here.client();
  const run = await richRun(client, tool.address);
  const other = await elsewhere(there);
  const asked = tool.requests();
  const { status, body } = await importCapsule(there, other, await capsuleOf(here, client, run.id));
  expect([status, body.error]).toEqual([201, undefined]);
  expect(body).toMatchObject({ object: "trace", status: "completed", ...other.scope, metadata: { team: "red" } });
  expect(body.run_id).not.toBe(run.id);
  expect(same(await stepsOf(other, body.run_id))).toEqual(same(await stepsOf(client, run.id)));
  const replay = await other.post(`/v1/runs/${body.run_id}/replay`, { mode: "strict" });
  expect([replay.status, replay.body.error, replay.body.status]).toEqual([201, null, "completed"]);
  const imported = (await other.get(`/v1/runs/${body.run_id}`)).body;
  expect(imported).toMatchObject({ origin: "import", output: "All done.", usage: run.usage, thread_id: null });
  expect((await other.get(`/v1/runs/${body.run_id}/events`)).body.data.length).toBeGreaterThan(10);
  expect((await other.get("/v1/runs?origin=import")).body.data.length).toBe(2);
  const usage = (await other.get("/v1/usage")).body;
  expect(JSON.stringify(usage)).not.toContain(run.agent_id);
  expect(tool.requests()).toBe(asked);
});

test("an imported trace equals the exported run, entry by entry, and replays to the same result", async () => {
  using tool = counting();
  await using here = testApp();
  await using there = testApp();
  const client = await here.client();
  const run = await richRun(client, tool.address);
  const other = await there.client({ project: "elsewhere" });
  const whole = await exportOf(client, run.id, 2);
  const { status, body } = await other.post("/v1/traces", whole);
  expect([status, body.error]).toEqual([201, undefined]);
  const again = await exportOf(other, body.run_id);
  const entries = (trace: typeof whole) =>
    [...trace.raw, ...trace.steps.flatMap((step: { raw: object[] }) => step.raw)]
      .sort((a, b) => a.seq - b.seq)
      .map(({ seq, at, event }) => [seq, at, event.type]);
  expect(entries(again)).toEqual(entries(whole));
  const replay = await other.post(`/v1/runs/${body.run_id}/replay`, { mode: "strict" });
  expect([replay.status, replay.body.error]).toEqual([201, null]);
  expect(replay.body).toMatchObject({ status: "completed", output: "All done.", replay: { divergences: [] } });
  const asked = tool.requests();
  const fork = (tools: string) => other.post(`/v1/runs/${body.run_id}/fork?wait=60`, { step_index: 1, tools });
  for (const tools of ["live", "recorded_then_live"])
    expect(await fork(tools)).toMatchObject({ status: 400, body: { error: { param: "tools" } } });
  // A replay is a copy: it is trusted no more than its source.
  const ofReplay = await other.post(`/v1/runs/${replay.body.id}/fork`, { step_index: 1, tools: "live" });
  expect(ofReplay).toMatchObject({ status: 400, body: { error: { param: "tools" } } });
  const forked = await fork("recorded_only");
  expect([forked.status, forked.body.error]).toEqual([201, null]);
  for (let { body: now } = forked; now.status !== "completed"; ) now = (await other.get(`/v1/runs/${now.id}`)).body;
  expect(tool.requests()).toBe(asked);
});

test("an imported agent has no model that a restricted key may not use", async () => {
  using tool = counting();
  await using here = testApp();
  await using there = testApp();
  const client = await here.client();
  const run = await richRun(client, tool.address);
  const admin = await there.client({ project: "elsewhere" });
  const own = await admin.post("/v1/agents", { name: "own", instructions: "", model: "test/echo" });
  const bound = await there.client({ project: "elsewhere", scopes: ["run"], agent_ids: [own.body.id, run.agent_id] });
  const { body: trace } = await bound.post("/v1/traces", await exportOf(client, run.id));
  const fork = await bound.post(`/v1/runs/${trace.run_id}/fork`, { step_index: 1, tools: "recorded_only" });
  expect(fork).toMatchObject({ status: 400, body: { error: { code: "model_not_available" } } });
});

test("capsules of imports, replays and forks contain everything that these show, with their subagents' steps", async () => {
  using tool = counting();
  await using here = testApp();
  await using there = testApp();
  const client = await here.client();
  const run = await richRun(client, tool.address);
  const other = await there.client({ project: "elsewhere" });
  const replay = await client.post(`/v1/runs/${run.id}/replay`, { mode: "verify" });
  const fork = await client.post(`/v1/runs/${run.id}/fork`, { step_index: 4, tools: "recorded_only" });
  const again = await importCapsule(here, client, await capsuleOf(here, client, run.id));
  for (const { status, body } of [replay, fork, again]) {
    const id = body.run_id ?? body.id;
    expect([status, body.error ?? null]).toEqual([201, null]);
    while ((await client.get(`/v1/runs/${id}`)).body.status !== "completed") await Bun.sleep(2);
    const { status: taken, body: trace } = await importCapsule(there, other, await capsuleOf(here, client, id));
    expect([taken, trace.origin, trace.status]).toEqual([201, "import", "completed"]);
    const shown = await stepsOf(client, id);
    expect(same(await stepsOf(other, trace.run_id))).toEqual(same(shown));
    expect(shown.some(({ parent_id }) => parent_id !== null)).toBe(true);
  }
});

test("an imported run is deleted like any other, with its descendants, and leaves nothing", async () => {
  using tool = counting();
  await using here = testApp();
  const client = await here.client();
  const run = await richRun(client, tool.address);
  const count = (table: string) => here.db.sqlite.query(`SELECT count(*) AS n FROM ${table}`).get();
  const standing = () => ["runs", "run_events", "run_blobs", "blobs"].map(count);
  const before = standing();
  const { body } = await importCapsule(here, client, await capsuleOf(here, client, run.id));
  expect(standing()).not.toEqual(before);
  expect((await client.delete(`/v1/runs/${body.run_id}`)).status).toBe(200);
  expect(standing()).toEqual(before);
});

/** Returns the number of capsules that this process has open; null if the system does not tell. */
function heldOpen(): number | null {
  if (process.platform !== "linux") return null;
  const targets = readdirSync("/proc/self/fd").map((fd) => {
    try {
      return readlinkSync(`/proc/self/fd/${fd}`);
    } catch {
      return ""; // The directory's own descriptor is closed by now.
    }
  });
  return targets.filter((target) => /\.capsule\b/.test(target)).length;
}

test("a HEAD request or a disconnected client leaves no file open; a client that sends too much gets an error", async () => {
  await using server = testApp();
  const client = await server.client();
  const headers = { authorization: `Bearer ${client.key.secret}` };
  using tool = counting();
  const run = await richRun(client, tool.address);
  const ask = (method: string) =>
    server.app.handle(new Request(`http://localhost/v1/runs/${run.id}/capsule`, { method, headers }));
  const head = await ask("HEAD");
  const length = (await capsuleOf(server, client, run.id)).length;
  expect([head.status, head.headers.get("content-length")]).toEqual([200, String(length)]);
  const before = heldOpen() ?? 0;
  const left = await ask("GET");
  expect(heldOpen() ?? 1).toBe(before + 1);
  await left.body!.cancel();
  expect(heldOpen() ?? 0).toBe(0);
  const large = new Request("http://localhost/v1/traces", {
    method: "POST",
    headers: { ...headers, "content-type": capsuleType, "content-length": String(capsuleLimits.bytes + 1) },
    body: new Uint8Array(10),
  });
  expect((await server.app.handle(large)).status).toBe(413);
});

test("a client that disconnects before its capsule is built or read causes no error and no run", async () => {
  const lines: string[] = [];
  await using server = testApp({ log: createLog({ format: "json", write: (line) => void lines.push(line) }) });
  const client = await server.client();
  using tool = counting();
  const run = await richRun(client, tool.address);
  const capsule = await capsuleOf(server, client, run.id);
  const runs = (await client.get("/v1/runs")).body.data.length;
  const gone = AbortSignal.abort();
  const headers = { authorization: `Bearer ${client.key.secret}`, "content-type": capsuleType };
  const url = `http://localhost/v1`;
  for (const request of [
    new Request(`${url}/runs/${run.id}/capsule`, { headers, signal: gone }),
    new Request(`${url}/traces`, { method: "POST", headers, body: capsule, signal: gone }),
  ])
    expect((await server.app.handle(request)).status).toBe(499);
  expect((await client.get("/v1/runs")).body.data.length).toBe(runs);
  expect(lines.filter((line) => line.includes("bug"))).toEqual([]);
});

test("a capsule contains no secret and no address or header of a tool", async () => {
  using tool = counting();
  await using here = testApp();
  const client = await here.client();
  const run = await richRun(client, tool.address, "Bearer canary-of-the-model");
  const capsule = await capsuleOf(here, client, run.id);
  const bytes = Buffer.from(capsule).toString("latin1");
  expect([bytes.includes(run.id), bytes.includes("Bearer [hidden]")]).toEqual([true, true]);
  for (const secret of [canary, "canary", tool.address.slice("http://".length), client.key.secret, "sealed"])
    expect(bytes.includes(secret)).toBe(false);
  expect((await importCapsule(here, client, capsule)).status).toBe(201);
  const exported = JSON.stringify((await exportOf(client, run.id)).agent);
  for (const secret of [canary, tool.address, "sealed"]) expect(exported.includes(secret)).toBe(false);
});

test("a capsule has the run's files, unless they are excluded or one seems to contain a secret", async () => {
  await using server = testApp();
  const client = await server.client();
  const upload = async (text: string) =>
    (await client.post("/v1/files", { filename: "a.txt", text, purpose: "attachment" })).body.id;
  const file_ids = [await upload("Plain words."), await upload(`The key is sk_live_${"a".repeat(30)}`)];
  const draft = {
    name: "Clerk",
    instructions: "",
    model: "test/script",
    model_settings: { script: [{ text: "Hi." }] },
  };
  const agent_id = (await client.post("/v1/agents", draft)).body.id;
  const { body: run } = await client.post("/v1/runs?wait=60", { agent_id, input: "Hello", file_ids });
  expect(run.status).toBe("completed");
  const filesIn = async (query: string) => {
    const capsule = Database.deserialize(await capsuleOf(server, client, run.id, query));
    const files = capsule.query("SELECT file_id, omitted FROM files ORDER BY file_id").values();
    const chunks = capsule.query<{ content: Uint8Array }, []>("SELECT content FROM file_chunks").all();
    return { files, contents: chunks.map(({ content }) => Buffer.from(content).toString()) };
  };
  const [plain, secret] = file_ids;
  expect(await filesIn("")).toEqual({
    files: [
      [plain, null],
      [secret, "holds what looks like a secret"],
    ],
    contents: ["Plain words."],
  });
  expect((await filesIn("?files=false")).contents).toEqual([]);
  expect((await client.get(`/v1/runs/${run.id}/capsule?files=no`)).status).toBe(400);
});

test("a run in progress is exported up to now, and imported as a cancelled one", async () => {
  await using server = testApp();
  const client = await server.client();
  const tool = (await client.post("/v1/tools", { name: "wait", type: "client" })).body.id;
  const draft = {
    name: "Clerk",
    instructions: "",
    model: "test/script",
    tools: [tool],
    model_settings: { script: [{ tool_calls: [{ name: "wait", arguments: {} }] }, { text: "Hi." }] },
  };
  const agent_id = (await client.post("/v1/agents", draft)).body.id;
  const { body: run } = await client.post("/v1/runs?wait=60", { agent_id, input: "Hello" });
  expect(run.status).toBe("requires_action");
  const other = await elsewhere(server);
  for (const imported of [
    await importCapsule(server, other, await capsuleOf(server, client, run.id)),
    await other.post("/v1/traces", await exportOf(client, run.id)),
  ]) {
    expect([imported.status, imported.body.status]).toEqual([201, "cancelled"]);
    expect((await other.get("/v1/approvals")).body.data).toEqual([]);
  }
  expect((await client.get(`/v1/runs/${run.id}`)).body.status).toBe("requires_action");
});

test("another project's or environment's run has no capsule, nor has a deleted one", async () => {
  await using server = testApp();
  const client = await server.client();
  const draft = {
    name: "Clerk",
    instructions: "",
    model: "test/script",
    model_settings: { script: [{ text: "Hi." }] },
  };
  const agent_id = (await client.post("/v1/agents", draft)).body.id;
  const { body: run } = await client.post("/v1/runs?wait=60", { agent_id, input: "Hello" });
  for (const options of [{ project: "other" }, { environment: "live" as const }])
    expect((await (await server.client(options)).get(`/v1/runs/${run.id}/capsule`)).status).toBe(404);
  const bound = await server.client({ scopes: ["read"], agent_ids: ["agt_00000000000000000000000000"] });
  expect((await bound.get(`/v1/runs/${run.id}/capsule`)).status).toBe(404);
  await client.delete(`/v1/traces/${run.id}`);
  expect((await client.get(`/v1/runs/${run.id}/capsule`)).status).toBe(404);
});
