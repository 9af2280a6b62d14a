import { expect, test } from "bun:test";
import { vecLibrary } from "../lib/assets.ts";
import { createEraser } from "../resources/projects/erase.ts";
import { createMoveStore } from "../resources/projects/moves.ts";
import { createAudit } from "../storage/db/audit.ts";
import { backUp } from "../storage/db/backup.ts";
import { openDatabase } from "../storage/db/open.ts";
import { restore } from "../storage/db/restore.ts";
import { capsuleOf, importCapsule } from "../testing/capsules.ts";
import { uploadSkill } from "../testing/skills.ts";
import { temporaryFolder } from "../testing/temporary.ts";
import { testActor } from "../testing/test-actor.ts";
import { type Client, type TestApp, testApp } from "../testing/test-app.ts";

// How long a skill's files are stored: while its skill is, and then while a run needs them.

const day_ms = 24 * 3_600_000;
const emptyDatabase = () => openDatabase(":memory:", { vecLibrary: vecLibrary("") });

const call = (name: string, args: object = {}) => ({ tool_calls: [{ name, arguments: args }] });
const script = [
  call("wait"),
  call("read_skill_file", { name: "pdf", path: "a.txt" }),
  call("read_skill_file", { name: "pdf", path: "SKILL.md" }),
  { text: "Done." },
];

async function newAgent(client: Client, more: object = {}): Promise<string> {
  const tool = await client.post("/v1/tools", { name: "wait", type: "client" });
  const { status, body } = await client.post("/v1/agents", {
    name: "Clerk",
    instructions: "Be brief.",
    model: "test/script",
    model_settings: { script },
    tools: [tool.body.id],
    ...more,
  });
  expect([status, body.error]).toEqual([201, undefined]);
  return body.id;
}

/** Begins a run that reads its skill once `finish` is called. */
async function begin(client: Client, agent_id: string, more: object = {}): Promise<string> {
  const { body } = await client.post("/v1/runs?wait=60", { agent_id, input: "Go", ...more });
  expect(body.status).toBe("requires_action");
  return body.id;
}

/** Lets a run read its skill. Returns what it read, or the code of the error. */
async function finish(client: Client, id: string): Promise<string> {
  const { body } = await client.get(`/v1/runs/${id}`);
  const [{ tool_call_id }] = body.required_action.submit_tool_outputs.tool_calls;
  const tool_outputs = [{ tool_call_id, output: "on" }];
  await client.post(`/v1/runs/${id}/submit_tool_outputs`, { tool_outputs, stream: true });
  return await readBy(client, id);
}

async function readBy(client: Client, id: string): Promise<string> {
  const [, { output, error }] = (await client.get(`/v1/runs/${id}`)).body.tool_calls;
  return error?.code ?? output;
}

// The picture has several chunks.
const upload = (client: Client, text = "one") =>
  uploadSkill(client, "pdf", { "a.txt": text, "assets/a.png": crypto.getRandomValues(new Uint8Array(600_000)) });

const tables = ["skills", "skill_versions", "skill_files", "file_blobs", "file_chunks"];
const rowsOf = ({ db }: Pick<TestApp, "db">, project_id: string): number[] =>
  tables.map(
    (table) =>
      db.sqlite
        .query<{ n: number }, [string]>(`SELECT count(*) AS n FROM ${table} WHERE project_id = ?`)
        .get(project_id)!.n,
  );
const nothing = tables.map(() => 0);

test("a deleted skill stays for runs that have pinned it and their forks, and is gone for everything else", async () => {
  await using server = testApp();
  const client = await server.client();
  const { id } = await upload(client);
  const agent = await newAgent(client, { skills: ["pdf"] });
  const [begun, other] = [await begin(client, agent), await begin(client, agent)];
  await client.delete(`/v1/skills/${id}`);
  for (const path of ["", "/versions", "/versions/1", "/versions/1/content?path=a.txt"])
    expect((await client.get(`/v1/skills/${id}${path}`)).status).toBe(404);
  expect((await client.get("/v1/skills")).body.data).toEqual([]);
  expect((await client.delete(`/v1/skills/${id}`)).status).toBe(404);
  expect((await client.patch(`/v1/agents/${agent}`, { skills: [id, "pdf"] })).status).toBe(400);
  // The name is free again, and the new skill is none of the run's.
  const next = await upload(client, "two");
  expect([next.version, next.id === id]).toEqual([1, false]);
  expect(await finish(client, begun)).toBe("one");
  const forkOf = async (run: string, tool_output: string): Promise<string> => {
    const { body } = await client.post(`/v1/runs/${run}/fork?wait=60`, { step_index: 1, edits: { tool_output } });
    expect(body.status).toBe("completed");
    return body.id;
  };
  const fork = await forkOf(begun, "off");
  // The fork holds them by itself.
  await client.delete(`/v1/runs/${begun}`);
  const second = await forkOf(fork, "no");
  expect([await readBy(client, fork), await readBy(client, second)]).toEqual(["one", "one"]);
  expect(await finish(client, other)).toBe("one");
  const { body: later } = await client.post("/v1/runs?wait=60", { agent_id: agent, input: "Go" });
  expect(await finish(client, later.id)).toBe("tool_not_found");
});

test("a deleted skill stays for the agents that a run may be handed over to", async () => {
  await using server = testApp();
  const client = await server.client();
  const { id } = await upload(client);
  const clerk = await newAgent(client, { skills: ["pdf"] });
  const handing = await client.post("/v1/agents", {
    name: "Front",
    instructions: "",
    model: "test/script",
    model_settings: { script: [call("transfer_to_clerk")] },
    handoffs: [clerk],
  });
  expect(handing.status).toBe(201);
  const run = await begin(client, handing.body.id);
  await client.delete(`/v1/skills/${id}`);
  await server.sweep();
  await finish(client, run);
  const { tool_calls } = (await client.get(`/v1/runs/${run}`)).body;
  expect(tool_calls.map(({ name, output }: Record<string, unknown>) => [name, output])).toContainEqual([
    "read_skill_file",
    "one",
  ]);
});

test.each<[string, (server: TestApp, client: Client, run: string) => Promise<unknown>]>([
  ["its last run is deleted", (_, client, run) => client.delete(`/v1/runs/${run}`)],
  ["the trace of its last run is deleted", (_, client, run) => client.delete(`/v1/traces/${run}`)],
  [
    "its last run is older than its project keeps traces",
    (server, client) => server.projects.update(client.scope.project_id, { retention: { test: { traces_days: 30 } } }),
  ],
  [
    "its last run is older than its project keeps runs",
    (server, client) => server.projects.update(client.scope.project_id, { retention: { test: { runs_days: 30 } } }),
  ],
  [
    "the user of its last run is erased",
    async (_, client) => {
      const { status } = await client.delete("/v1/users/ann/data?wait=60");
      expect(status).toBe(200);
    },
  ],
])("all bytes of a deleted skill are erased once %s", async (_, end) => {
  const clock = { at: Date.parse("2026-11-21T09:00:00Z") };
  await using server = testApp({ now: () => clock.at });
  const client = await server.client();
  const { id } = await upload(client);
  const agent = await newAgent(client, { skills: ["pdf"] });
  const run = await begin(client, agent, { user_id: "ann" });
  await client.delete(`/v1/skills/${id}`);
  await finish(client, run);
  await server.sweep();
  expect(rowsOf(server, client.scope.project_id)).toEqual([1, 1, 3, 3, 5]);
  clock.at += 31 * day_ms;
  await end(server, client, run);
  for (let sweeps = 0; sweeps < 3; sweeps++) await server.sweep();
  expect(rowsOf(server, client.scope.project_id)).toEqual(nothing);
});

test("a deleted skill that no run has pinned leaves no bytes, and a kept one is no matter of retention", async () => {
  const clock = { at: Date.parse("2026-11-21T09:00:00Z") };
  await using server = testApp({ now: () => clock.at });
  const client = await server.client();
  const { id } = await upload(client);
  const agent = await newAgent(client, { skills: ["pdf"] });
  await finish(client, await begin(client, agent));
  await server.projects.update(client.scope.project_id, { retention: { test: { runs_days: 1 } } });
  clock.at += 10 * day_ms;
  expect(await server.sweep()).toMatchObject({ runs: 1 });
  expect((await client.get(`/v1/skills/${id}/versions/1/content?path=a.txt`)).body).toBe("one");
  expect(await finish(client, await begin(client, agent))).toBe("one");
  clock.at += 10 * day_ms;
  await server.sweep();
  await client.delete(`/v1/skills/${id}`);
  await server.sweep();
  expect(rowsOf(server, client.scope.project_id)).toEqual(nothing);
});

test("a skill with many files is erased in small writes, and what it shares with another stays", async () => {
  await using server = testApp();
  const client = await server.client();
  const many = Object.fromEntries(Array.from({ length: 450 }, (_, i) => [`f/${i}.txt`, `text ${i}`]));
  const { id } = await uploadSkill(client, "many", many);
  const other = await uploadSkill(client, "other", { "0.txt": "text 0" });
  await client.delete(`/v1/skills/${id}`);
  const left = () => rowsOf(server, client.scope.project_id);
  expect(left()[2]).toBe(450 + 1 - 200 + 2);
  await server.sweep();
  expect(left()).toEqual([1, 1, 2, 2, 2]);
  expect((await client.get(`/v1/skills/${other.id}/versions/1/content?path=0.txt`)).body).toBe("text 0");
});

test("a restored backup has the skills, and goes on with a run whose skill was deleted", async () => {
  using folder = temporaryFolder();
  const masterKey = new Uint8Array(32).fill(7);
  const open = (path: string) => testApp({ db: openDatabase(path, { vecLibrary: vecLibrary("") }), masterKey });
  let run: string;
  let agent: string;
  let secret: string;
  {
    await using server = open(folder.file("runnel.db"));
    const client = await server.client();
    const { id } = await upload(client);
    agent = await newAgent(client, { skills: ["pdf"] });
    run = await begin(client, agent);
    await client.delete(`/v1/skills/${id}`);
    await upload(client, "two");
    backUp(folder.file("runnel.db"), folder.file("copy.db"));
    secret = client.key.secret;
    // After the backup, both are gone.
    await client.post(`/v1/runs/${run}/cancel`, {});
    await client.delete(`/v1/runs/${run}`);
    await server.sweep();
  }
  restore(folder.file("copy.db"), folder.file("restored.db"), { masterKey });
  await using server = open(folder.file("restored.db"));
  await server.recover();
  const client = { ...(await server.client()) };
  expect((await server.send("GET", "/v1/skills", undefined, { authorization: `Bearer ${secret}` })).status).toBe(200);
  expect(await finish(client, run)).toBe("one");
  const [{ id: skill }] = (await client.get("/v1/skills")).body.data;
  await client.patch(`/v1/agents/${agent}`, { skills: [skill] });
  expect(await finish(client, await begin(client, agent))).toBe("two");
  expect(server.db.sqlite.query("PRAGMA foreign_key_check").all()).toEqual([]);
});

test("a project takes its skills to another cell, with those that only its runs still have", async () => {
  const masterKey = new Uint8Array(32).fill(7);
  await using first = testApp({ db: emptyDatabase(), masterKey });
  const client = await first.client({ project: "shop" });
  const { project_id } = client.scope;
  const { id } = await upload(client);
  const agent = await newAgent(client, { skills: ["pdf"] });
  const run = await begin(client, agent);
  await client.delete(`/v1/skills/${id}`);
  await upload(client, "two");
  const before = rowsOf(first, project_id);
  const left = first.moving.leave(project_id);
  const storeOf = ({ db }: TestApp) => createMoveStore({ db, audit: createAudit({ db }) });
  const moves = storeOf(first);
  const move = await moves.pack({
    id: "mov_01m85pstx27frrby1xd28rk4zw",
    project: project_id,
    from: "main",
    to: "east",
    actor: testActor,
    most_bytes: 1e8,
  });
  left();
  expect(rowsOf(first, project_id)).toEqual(nothing);
  await using second = testApp({ db: emptyDatabase(), masterKey });
  await storeOf(second).bringIn({ ...move, cell: "main" }, () =>
    Array.from({ length: moves.size(move.id).pieces }, (_, position) => moves.piece(move.id, position)),
  );
  await second.moving.onProjectArrived();
  expect(rowsOf(second, project_id)).toEqual(before);
  const there = await second.client({ project: "shop" });
  expect(await finish(there, run)).toBe("one");
  // It is erased in its new cell like any other.
  await there.delete(`/v1/runs/${run}`);
  await second.sweep();
  expect(rowsOf(second, project_id)).toEqual([1, 1, 3, 3, 5]);
});

test("a project is erased with all bytes of its skills, also deleted ones, and its neighbour keeps the same skill", async () => {
  await using server = testApp();
  const [gone, stays] = [await server.client({ project: "gone" }), await server.client({ project: "stays" })];
  const ids: string[] = [];
  for (const client of [gone, stays]) {
    const { id } = await upload(client);
    ids.push(await begin(client, await newAgent(client, { skills: ["pdf"] })));
    await client.delete(`/v1/skills/${id}`);
    await upload(client, "two");
  }
  const before = rowsOf(server, stays.scope.project_id);
  expect(await createEraser({ db: server.db, pause_ms: 0 })(gone.scope.project_id)).toBe(true);
  expect(rowsOf(server, gone.scope.project_id)).toEqual(nothing);
  expect(rowsOf(server, stays.scope.project_id)).toEqual(before);
  expect(server.db.sqlite.query("PRAGMA foreign_key_check").all()).toEqual([]);
  expect(await finish(stays, ids[1]!)).toBe("one");
});

test("a capsule shows what a run read of its skills and replays it, without the skills themselves", async () => {
  await using here = testApp();
  await using there = testApp();
  const client = await here.client();
  const { id } = await upload(client);
  const run = await begin(client, await newAgent(client, { skills: ["pdf"] }));
  await client.delete(`/v1/skills/${id}`);
  await finish(client, run);
  const other = await there.client({ project: "elsewhere", environment: "live" });
  const { status, body } = await importCapsule(there, other, await capsuleOf(here, client, run));
  expect([status, body.error]).toEqual([201, undefined]);
  expect(await readBy(other, body.run_id)).toBe("one");
  const replay = await other.post(`/v1/runs/${body.run_id}/replay`, { mode: "strict" });
  expect([replay.status, replay.body.error, replay.body.status]).toEqual([201, null, "completed"]);
  expect(rowsOf(there, other.scope.project_id)).toEqual(nothing);
  // A capsule that returns to its project keeps nothing there either.
  const { body: back } = await importCapsule(here, client, await capsuleOf(here, client, run));
  await client.delete(`/v1/runs/${back.run_id}`);
  await client.delete(`/v1/runs/${run}`);
  await here.sweep();
  expect(rowsOf(here, client.scope.project_id)).toEqual(nothing);
});
