import { expect, test } from "bun:test";
import { vecLibrary } from "../../lib/assets.ts";
import { createAudit } from "../../storage/db/audit.ts";
import { type Db, openDatabase } from "../../storage/db/open.ts";
import { testActor } from "../../testing/test-actor.ts";
import { type Client, testApp } from "../../testing/test-app.ts";
import { startWebhookReceiver } from "../../testing/webhook-receiver.ts";
import { createMoveStore, type Move } from "./moves.ts";

/** Starts a tool that takes a while. */
/** Starts a tool whose calls end once `finish` was called. */
function startTool() {
  const { promise, resolve: finish } = Promise.withResolvers<void>();
  return Object.assign(
    startWebhookReceiver(() => promise.then(() => Response.json({ done: true }))),
    { finish },
  );
}

/** Returns the number of requests for each call. */
const callsOf = ({ received }: ReturnType<typeof startTool>): number[] =>
  [...Map.groupBy(received, ({ headers }) => headers["idempotency-key"]).values()].map((same) => same.length);

const storeOf = (db: Db) => createMoveStore({ db, audit: createAudit({ db }) });
const emptyDatabase = () => openDatabase(":memory:", { vecLibrary: vecLibrary("") });
const id = "mov_01m85pstx27frrby1xd28rk4zw";

const pack = (db: Db, { scope: { project_id } }: Client): Promise<Move> =>
  storeOf(db).pack({
    id,
    project: project_id,
    from: "main",
    to: "east",
    actor: testActor,
    most_bytes: 1e8,
  });

function parcelOf(db: Db): Uint8Array[] {
  const moves = storeOf(db);
  return Array.from({ length: moves.size(id).pieces }, (_, position) => moves.piece(id, position));
}

const count = ({ sqlite }: Db, from: string): number =>
  sqlite.query<{ n: number }, []>(`SELECT count(*) AS n FROM ${from}`).get()!.n;

const actions = ({ sqlite }: Db): string[] =>
  sqlite
    .query<{ action: string }, []>("SELECT action FROM audit_log WHERE action LIKE 'project.move%' ORDER BY id")
    .all()
    .map(({ action }) => action);

test("a project is in its tables, in its archive, or in the other cell, and is imported once", async () => {
  await using server = testApp();
  const client = await server.client({ project: "shop" });
  await client.post("/v1/agents", { name: "a", instructions: "", model: "test/echo" });
  const here = storeOf(server.db);
  const move = await pack(server.db, client);
  expect([
    count(server.db, "projects WHERE deleted_at_ms IS NULL"),
    count(server.db, "agents"),
    here.out().length,
  ]).toEqual([0, 0, 1]);
  await expect(server.projects.create("shop")).rejects.toThrow("already");

  const east = emptyDatabase();
  const there = storeOf(east);
  let asked = 0;
  const parcel = () => {
    asked++;
    return parcelOf(server.db);
  };
  for (const _ of "ab") await there.bringIn({ ...move, cell: "main" }, parcel);
  expect([count(east, "projects"), count(east, "agents"), asked, there.isIn(id)]).toEqual([1, 1, 1, true]);
  expect(here.isIn(id)).toBe(false); // The project has been exported.
  await here.clear(move);
  expect([count(server.db, "project_parcels"), here.out().length]).toEqual([0, 0]);
  // The project's own entry was moved with it; the other one belongs to the server.
  expect([actions(server.db), actions(east)]).toEqual([["project.moved"], ["project.moved"]]);
  expect(await server.projects.createDefault()).toBeNull();
  east.close();
});

test("a project that returns is unchanged, with its key", async () => {
  await using server = testApp();
  const client = await server.client({ project: "shop" });
  await client.post("/v1/agents", { name: "a", instructions: "", model: "test/echo" });
  const move = await pack(server.db, client);
  expect((await client.get("/v1/agents")).status).toBe(401);
  await storeOf(server.db).undo(move, testActor, "The other cell is full.");
  expect((await client.get("/v1/agents")).body.data.length).toBe(1);
  expect([count(server.db, "project_parcels"), count(server.db, "project_moves")]).toEqual([0, 0]);
  expect(actions(server.db)).toEqual(["project.moved", "project.moved", "project.move_undone"]);
});

test("a failed import leaves nothing", async () => {
  await using server = testApp();
  const client = await server.client({ project: "shop" });
  const move = await pack(server.db, client);
  await using other = testApp();
  await other.projects.create("shop");
  const there = storeOf(other.db);
  await expect(there.bringIn({ ...move, cell: "main" }, () => parcelOf(server.db))).rejects.toThrow("projects.name");
  expect([there.isIn(id), count(other.db, "projects"), count(other.db, "api_keys")]).toEqual([false, 1, 0]);
});

test("runs finish their step, and continue elsewhere with the next one; no step is done twice", async () => {
  await using tools = startTool();
  const masterKey = new Uint8Array(32).fill(7);
  await using first = testApp({ db: emptyDatabase(), masterKey });
  const client = await first.client({ project: "shop" });
  const tool = await client.post("/v1/tools", {
    name: "once",
    url: tools.url,
    parameters: { type: "object" },
    idempotent: false,
    on_unknown: "report",
  });
  const call = { tool_calls: [{ name: "once", arguments: {} }] };
  const { body: agent } = await client.post("/v1/agents", {
    name: "a",
    instructions: "",
    model: "test/script",
    tools: [tool.body.id],
    model_settings: { script: [call, call, call, { text: "done" }] },
  });
  const runs = await Promise.all(
    Array.from({ length: 3 }, () => client.post("/v1/runs", { agent_id: agent.id, input: "x" })),
  );
  await tools.heard(2);
  const { project_id } = client.scope;
  first.moving.park(project_id);
  const later = await client.post("/v1/runs", { agent_id: agent.id, input: "x" });
  tools.finish();
  while (first.moving.underWay(project_id) > 0) await Bun.sleep(5);
  const ids = [...runs, later].map(({ body }) => body.id as string);
  const statuses = await Promise.all(ids.map(async (run) => (await client.get(`/v1/runs/${run}`)).body.status));
  expect(new Set(statuses)).toEqual(new Set(["in_progress"]));
  const called = tools.received.length;

  const left = first.moving.leave(project_id);
  const move = await pack(first.db, client);
  left();
  await using second = testApp({ db: emptyDatabase(), masterKey });
  await storeOf(second.db).bringIn({ ...move, cell: "main" }, () => parcelOf(first.db));
  await second.moving.onProjectArrived();
  const attempts = () =>
    second.db.sqlite
      .query<{ id: string; status: string; attempt: number }, []>("SELECT id, status, attempt FROM runs ORDER BY id")
      .all();
  while (attempts().some(({ status }) => status === "in_progress")) await Bun.sleep(10);
  expect(attempts()).toEqual(ids.sort().map((run) => ({ id: run, status: "completed", attempt: 1 })));
  expect(called).toBeLessThan(12);
  expect(callsOf(tools)).toEqual(Array(12).fill(1));
});

test("a model's output in the other cell is streamed, also if its call was about to begin in the first cell", async () => {
  await using tools = startTool();
  const masterKey = new Uint8Array(32).fill(7);
  await using first = testApp({ db: emptyDatabase(), masterKey });
  const client = await first.client({ project: "shop" });
  const tool = await client.post("/v1/tools", { name: "t", url: tools.url, idempotent: false });
  const { body: agent } = await client.post("/v1/agents", {
    name: "a",
    instructions: "",
    model: "test/script",
    tools: [tool.body.id],
    model_settings: {
      script: [{ tool_calls: [{ name: "t", arguments: {} }] }, { text: "one two three", delta_ms: 100 }],
    },
  });
  const { body: run } = await client.post("/v1/runs", { agent_id: agent.id, input: "x" });
  await tools.heard(1);
  first.moving.park(client.scope.project_id);
  tools.finish();
  while (first.moving.underWay(client.scope.project_id) > 0) await Bun.sleep(5);
  const left = first.moving.leave(client.scope.project_id);
  const move = await pack(first.db, client);
  expect(first.watches.live(run.id)).not.toBeNull();
  left();
  expect(first.watches.live(run.id)).toBeNull();

  await using second = testApp({ db: emptyDatabase(), masterKey });
  await storeOf(second.db).bringIn({ ...move, cell: "main" }, () => parcelOf(first.db));
  await second.moving.onProjectArrived();
  expect(second.watches.live(run.id)).toMatchObject({ length: 0 });
  while (second.watches.live(run.id)?.length === 0) await Bun.sleep(1);
  expect(second.watches.live(run.id)!.length).toBeGreaterThan(0);
});

test("runs of a project that stays continue from their step", async () => {
  await using tools = startTool();
  await using server = testApp();
  const client = await server.client({ project: "shop" });
  const tool = await client.post("/v1/tools", { name: "t", url: tools.url, idempotent: false });
  const call = { tool_calls: [{ name: "t", arguments: {} }] };
  const { body: agent } = await client.post("/v1/agents", {
    name: "a",
    instructions: "",
    model: "test/script",
    tools: [tool.body.id],
    model_settings: { script: [call, call, { text: "done" }] },
  });
  const { body: run } = await client.post("/v1/runs", { agent_id: agent.id, input: "x" });
  await tools.heard(1);
  server.moving.park(client.scope.project_id);
  tools.finish();
  while (server.moving.underWay(client.scope.project_id) > 0) await Bun.sleep(5);
  server.moving.stay(client.scope.project_id);
  while ((await client.get(`/v1/runs/${run.id}`)).body.status === "in_progress") await Bun.sleep(10);
  expect((await client.get(`/v1/runs/${run.id}`)).body).toMatchObject({ status: "completed", output: "done" });
  expect(callsOf(tools)).toEqual([1, 1]);
});

test("a run with a damaged record does not keep the others of its project from continuing", async () => {
  await using server = testApp();
  const client = await server.client({ project: "shop" });
  const { project_id } = client.scope;
  const { body: agent } = await client.post("/v1/agents", { name: "a", instructions: "", model: "test/echo" });
  server.moving.park(project_id);
  const create = async () => (await client.post("/v1/runs", { agent_id: agent.id, input: "x" })).body.id as string;
  const [damaged, whole] = [await create(), await create()];
  await server.db.write(() =>
    server.db.sqlite.query("UPDATE run_events SET data = '{' WHERE run_id = ? AND seq > 1").run(damaged),
  );
  await server.moving.onProjectArrived();
  server.moving.stay(project_id);
  const statusOf = async (run: string) => (await client.get(`/v1/runs/${run}?exclude=messages,tool_calls`)).body.status;
  while ((await statusOf(whole)) === "in_progress") await Bun.sleep(5);
  expect(await statusOf(whole)).toBe("completed");
});
