import { Database } from "bun:sqlite";
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { cpSync, existsSync, mkdtempSync, readdirSync, readFileSync, renameSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { migrations } from "../migrations/index.ts";
import { freePort } from "../server/testing/free-port.ts";
import { sqlAt, startPostgres } from "../server/testing/postgres.ts";
import { createAgent, createScripted, createTool, runToEnd, stubConnection } from "./fixtures.ts";
import { executable, type Runnel, runCommand, startRunnel } from "./harness.ts";
import { startModelServer, wordsOf } from "./model-server.ts";
import { waitUntil } from "./until.ts";

// Guarantees of an upgrade that loses power: the database is the old one or the new one, never between.

const killed = 137; // 128 + SIGKILL, as shells report it.
const last = migrations.length;

test("P1: a first start that dies while it makes its tables can be made again", async () => {
  for (const point of ["mid_creation", "after_creation"]) {
    const folder = mkdtempSync(join(tmpdir(), "runnel-e2e-"));
    const dataDir = join(folder, "data");
    await startAndDie(dataDir, point);
    expect((await runCommand(["keys", "create", "--create-project", "--data-dir", dataDir])).code).toBe(0);
    expect(versionOf(join(dataDir, "runnel.db"))).toBe(last);
    rmSync(folder, { recursive: true });
  }
});

/** Failpoints of an upgrade from the first version, each with the version that remains. */
const allPoints: [point: string, version: number][] = migrations.slice(1).flatMap((_, index) => [
  [`mid_migration:${index + 1}`, index + 1],
  [`after_migration:${index + 1}`, index + 2],
]);
// The newest migrations are those that a change can break; `npm run nightly` interrupts every one.
const points = process.env.RUNNEL_NIGHTLY === "1" ? allPoints : [...allPoints.slice(0, 2), ...allPoints.slice(-4)];
points.push(["mid_backup", 1]);

// A server of the first version with a waiting run; each upgrade below uses a copy.
let template: Runnel;
let waiting: string;
beforeAll(async () => {
  template = await startRunnel();
  const tool = await createTool(template);
  const script = [{ tool_calls: [{ name: tool.name, arguments: { city: "Oslo" } }] }, { text: "Thank you." }];
  waiting = (await runToEnd(template, await createScripted(template, script, { tools: [tool.id] }))).id;
  await template.stop();
  takeBack(join(template.dataDir, "runnel.db"));
});
afterAll(() => template[Symbol.asyncDispose]());

test.each(points)("P1: a run that waits outlives an upgrade that is killed – %s", async (point, version) => {
  const dataDir = join(template.folder, point.replace(":", "-"));
  cpSync(template.dataDir, dataDir, { recursive: true });
  const path = join(dataDir, "runnel.db");
  const backup = `${path}.before-0002`;

  await startAndDie(dataDir, point);
  expect([versionOf(path), existsSync(backup)]).toEqual([version, point !== "mid_backup"]);
  await using server = await startRunnel({ dataDir, keys: template.keys });
  expect([versionOf(path), versionOf(backup)]).toEqual([last, 1]);
  await expectToFinish(server, waiting);
});

test.each([1, 17, last - 1])(
  "P2: what an older executable (schema %d) left at a kill -9, its log not written back, goes on under the new one",
  async (version) => {
    await using model = startModelServer();
    await using older = await startRunnel({ environment: stubConnection(model.url) });
    const tool = await createTool(older);
    const asks = [{ tool_calls: [{ name: tool.name, arguments: { city: "Oslo" } }] }, { text: "Thank you." }];
    const { id: waits } = await runToEnd(older, await createScripted(older, asks, { tools: [tool.id] }));
    const done = await runToEnd(older, await createScripted(older, [{ text: "Done." }]));
    const slow = await createAgent(older, "half-60-10");
    const streams = await Promise.all(
      [1, 2, 3].map(() => older.stream("/v1/runs", { body: { agent_id: slow, input: "Go", stream: true } })),
    );
    const working: string[] = [];
    for (const stream of streams) working.push((await stream.until("token")).data.run_id);
    await older.kill9();
    for (const stream of streams) await stream.rest();
    model.release();
    const path = join(older.dataDir, "runnel.db");
    takeBack(path, version, true);
    expect(statSync(`${path}-wal`).size).toBeGreaterThan(0);

    await older.restart();
    expect(versionOf(path)).toBe(last);
    await expectToFinish(older, waits);
    for (const id of working) {
      await using stream = await older.stream(`/v1/runs/${id}/events`);
      await stream.rest();
      expect((await older.get(`/v1/runs/${id}`)).body).toMatchObject({
        status: "completed",
        output: wordsOf(60),
        attempt: 2,
      });
    }
    expect((await older.get(`/v1/runs/${done.id}`)).body).toMatchObject({ status: "completed", output: "Done." });
    expect((await older.get("/v1/runs")).body.data).toHaveLength(5);
  },
);

test("P2: an older executable refuses a newer database with 78, and goes on with the copy from before the upgrade", async () => {
  const dataDir = join(template.folder, "rolled-back");
  cpSync(template.dataDir, dataDir, { recursive: true });
  const path = join(dataDir, "runnel.db");
  const copy = `${path}.before-${String(last + 1).padStart(4, "0")}`;
  await using older = await startRunnel({ dataDir, keys: template.keys });
  expect(await older.stop()).toBe(0);
  // A newer executable leaves its copy, and a database with one more migration and a run from after the upgrade.
  cpSync(path, copy);
  await older.restart();
  const after = await runToEnd(older, await createScripted(older, [{ text: "Done." }]));
  expect(await older.stop()).toBe(0);
  const db = new Database(path);
  db.run("CREATE TABLE of_the_newer (id INTEGER PRIMARY KEY)");
  db.run(`PRAGMA user_version = ${last + 1}`);
  db.close();

  for (const command of [
    ["serve", "--port", "0"],
    ["keys", "list"],
  ]) {
    const { code, stderr, stdout } = await older.command(...command);
    expect({ command, code, said: stderr + stdout }).toEqual({
      command,
      code: 78,
      said: expect.stringContaining(`version ${last + 1}`),
    });
  }
  expect(versionOf(path)).toBe(last + 1);

  expect(await older.command("restore", copy, "--force")).toMatchObject({ code: 0 });
  const [kept] = readdirSync(dataDir).filter((name) => /^runnel\.db\.replaced-[\dTZ-]+$/.test(name));
  expect([versionOf(path), versionOf(join(dataDir, kept!))]).toEqual([last, last + 1]);
  await older.restart();
  await expectToFinish(older, waiting);
  expect((await older.get(`/v1/runs/${after.id}`)).status).toBe(404);
});

describe.if(startPostgres.orSkipped("an upgrade of a cluster"))("the node of a cluster", () => {
  test("keeps its cell while the backup before the migrations takes long, and another process resumes after a kill -9", async () => {
    await using postgres = await startPostgres();
    const dataDir = join(template.folder, "clustered");
    cpSync(template.dataDir, dataDir, { recursive: true });
    const environment = { RUNNEL_MASTER_KEY: readFileSync(join(dataDir, "master.key"), "utf8").trim() };
    const flags = ["--cluster", postgres.url, "--cluster-ttl", "1"];
    const port = freePort();
    const plain = ["--port", String(port), "--insecure-http", "--data-dir", dataDir];
    const env = { PATH: process.env.PATH!, ...environment, RUNNEL_FAILPOINT: "mid_backup:1:hold" };
    const child = Bun.spawn([executable, "serve", ...plain, ...flags], { env, stdout: "ignore", stderr: "ignore" });
    const leases = new Set<string>();
    const renewed = waitUntil(async () => {
      const rows = await sqlAt(postgres.url, "SELECT epoch || ' ' || lease_until AS lease FROM runnel_cells").catch(
        () => [],
      );
      for (const { lease } of rows) leases.add(lease);
      return leases.size > 9; // The lease is renewed three times per term.
    });
    await renewed;
    expect([...leases].filter((lease) => !/^[01] /.test(lease))).toEqual([]);
    expect((await fetch(`http://127.0.0.1:${port}/v1/me`)).status).toBe(503);
    child.kill("SIGKILL");
    await child.exited;
    expect(versionOf(join(dataDir, "runnel.db"))).toBe(1);

    // A cell that is being seeded is held for two minutes more.
    await sqlAt(postgres.url, "UPDATE runnel_cells SET lease_until = clock_timestamp()");
    await using server = await startRunnel({ dataDir, keys: template.keys, flags, environment });
    await expectToFinish(server, waiting);
  });
});

async function expectToFinish(server: Runnel, id: string): Promise<void> {
  const { body: run } = await server.get(`/v1/runs/${id}`);
  const [call] = run.required_action.submit_tool_outputs.tool_calls;
  await server.post(`/v1/runs/${id}/submit_tool_outputs`, {
    tool_outputs: [{ tool_call_id: call.tool_call_id, output: 1 }],
  });
  await using stream = await server.stream(`/v1/runs/${id}/events`);
  await stream.rest();
  expect((await server.get(`/v1/runs/${id}`)).body).toMatchObject({ status: "completed", output: "Thank you." });
}

/** Starts a server that dies before it reports ready. */
async function startAndDie(dataDir: string, point: string): Promise<void> {
  const { code, stdout } = await runCommand(["serve", "--port", "0", "--json", "--data-dir", dataDir], {
    env: { PATH: process.env.PATH!, RUNNEL_FAILPOINT: point },
  });
  expect([code, stdout]).toEqual([killed, ""]);
}

function versionOf(path: string): number {
  const db = new Database(path, { readonly: true });
  try {
    expect(db.query("PRAGMA integrity_check").get()).toEqual({ integrity_check: "ok" });
    return db.query<{ user_version: number }, []>("PRAGMA user_version").get()!.user_version;
  } finally {
    db.close();
  }
}

/**
 * Copies the rows into the tables and columns of an older version; `crashed`: into its WAL only, as after a kill -9.
 */
function takeBack(path: string, version = 1, crashed = false): void {
  const now = `${path}.now`;
  for (const end of ["", "-wal"].filter((end) => existsSync(path + end))) renameSync(path + end, now + end);
  rmSync(`${path}-shm`, { force: true });
  const db = new Database(path, { create: true });
  db.run("PRAGMA journal_mode = WAL");
  db.run("PRAGMA wal_autocheckpoint = 0");
  for (const { sql } of migrations.slice(0, version)) db.run(sql);
  db.run(`PRAGMA user_version = ${version}`);
  db.run("ATTACH ? AS now", [now]);
  const tables = db.query<{ name: string }, []>(
    `SELECT name FROM pragma_table_list AS here WHERE schema = 'main' AND type = 'table' AND name NOT LIKE 'sqlite_%'
       AND EXISTS (SELECT 1 FROM now.sqlite_schema AS there WHERE there.name = here.name)`,
  );
  const columns = db.query<{ name: string }, [string]>(
    "SELECT name FROM pragma_table_info(?1, 'main') WHERE name IN (SELECT name FROM pragma_table_info(?1, 'now'))",
  );
  for (const { name } of tables.all()) {
    const list = columns.all(name).map((column) => column.name);
    db.run(`DELETE FROM main.${name}`); // Rows inserted by a migration.
    db.run(`INSERT INTO main.${name} (${list.join(", ")}) SELECT ${list.join(", ")} FROM now.${name}`);
  }
  db.run("DETACH now");
  const ends = crashed ? ["", "-wal"] : [];
  for (const end of ends) cpSync(path + end, `${path}.left${end}`);
  db.close(); // Closing checkpoints the WAL.
  for (const end of ends) renameSync(`${path}.left${end}`, path + end);
  for (const end of ["", "-wal", "-shm"]) rmSync(now + end, { force: true });
}
