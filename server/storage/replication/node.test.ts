import { Database } from "bun:sqlite";
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { SQL } from "bun";
import { migrations } from "../../../migrations/index.ts";
import { vecLibrary } from "../../lib/assets.ts";
import { silentLog } from "../../lib/log.ts";
import { type Postgres, sqlAt, startPostgres } from "../../testing/postgres.ts";
import { temporaryFolder } from "../../testing/temporary.ts";
import { openInWorker } from "../db/migrate-in-worker.ts";
import { openDatabase } from "../db/open.ts";
import { deleteVectorCache, vectorCacheFolder } from "../db/vector-cache.ts";
import { databaseVersion } from "../db/version.ts";
import { joinCells } from "./node.ts";
import type { OpenConnection } from "./postgres-client.ts";

describe.if(startPostgres.orSkipped("nodes"))("a node", () => {
  let postgres: Postgres;
  beforeAll(async () => {
    postgres = await startPostgres();
  }, 60_000);
  afterAll(async () => await postgres?.[Symbol.asyncDispose]());

  /** Joins a cell with the files in a folder. */
  const joining = (
    { file }: ReturnType<typeof temporaryFolder>,
    cell: string,
    {
      ttl_ms = 60_000,
      prepareDatabase = async () => openDatabase(file("runnel.db")).close(),
      open,
    }: { ttl_ms?: number; prepareDatabase?(): Promise<void>; open?: OpenConnection } = {},
  ) =>
    joinCells({
      url: postgres.url,
      cells: [cell],
      database: file("runnel.db"),
      marker: file("cluster.json"),
      log: silentLog,
      candidate: { name: "a", address: "", certificate: "", ttl_ms, master_key_id: "key", version: 1 },
      prepareDatabase,
      forgetMade: () => deleteVectorCache(file("runnel.db")),
      onFenced() {},
      open,
    });

  test("shows the cells during a long compaction, and does not cancel it", async () => {
    const { url } = postgres;
    using folder = temporaryFolder();
    const lead = await (await joining(folder, "main")).lead();
    const db = openDatabase(folder.file("runnel.db"), { ship: lead.ship });
    const count = "SELECT count(*)::int AS n FROM runnel_log WHERE cell = 'main'";
    const rows = async () => (await sqlAt(url, count))[0].n as number;
    await using other = new SQL({ url, max: 1 });
    const [held, released] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    await db.write(() => db.sqlite.run("CREATE TABLE given (n INTEGER) STRICT"));
    const holding = other.begin(async (transaction) => {
      await transaction`SELECT seq FROM runnel_log FOR UPDATE`;
      held.resolve();
      await released.promise;
    });
    await held.promise;
    for (let n = 0; n < 520; n++) await db.write(() => db.sqlite.query("INSERT INTO given (n) VALUES (?)").run(n));
    const waits = "SELECT pid FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND query LIKE '%FOR UPDATE%'";
    let [waiting] = await sqlAt(url, waits);
    while (!waiting) [waiting] = await sqlAt(url, waits);
    const cells = await lead.cells();
    const still = await sqlAt(url, waits);
    released.resolve();
    await holding;
    expect(cells).toContainEqual(expect.objectContaining({ cell: "main", leader: "a" }));
    expect(still).toEqual([waiting]); // The compaction was not given up.
    while ((await rows()) > 510) await Bun.sleep(10);
    await lead.leave();
    db.close();
  }, 60_000);

  test("that takes a cell leads it although its connection is lost while it reads the replica", async () => {
    const { url } = postgres;
    using first = temporaryFolder();
    using second = temporaryFolder();
    const before = await (await joining(first, "lost")).lead();
    const db = openDatabase(first.file("runnel.db"), { ship: before.ship });
    await db.write(() => db.sqlite.run("CREATE TABLE given (n INTEGER) STRICT"));
    await before.leave();
    db.close();

    await using other = new SQL({ url, max: 1 });
    const [held, released] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const holding = other.begin(async (transaction) => {
      await transaction`LOCK TABLE runnel_pages IN ACCESS EXCLUSIVE MODE`;
      held.resolve();
      await released.promise;
    });
    await held.promise;
    const leading = (await joining(second, "lost")).lead();
    const waits =
      "SELECT pid FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND query LIKE '%FROM runnel_pages%'";
    let [waiting] = await sqlAt(url, waits);
    while (!waiting) [waiting] = await sqlAt(url, waits);
    await sqlAt(url, `SELECT pg_terminate_backend(${waiting.pid})`);
    released.resolve();
    await holding;
    const lead = await leading;
    expect(lead.epoch).toBe(before.epoch + 1);
    await lead.leave();
  }, 60_000);

  test("that must migrate keeps its cell however long that takes, and the cell has the migrated data", async () => {
    const { url } = postgres;
    using first = temporaryFolder();
    using second = temporaryFolder();
    using third = temporaryFolder();
    const before = await (
      await joining(first, "old", { prepareDatabase: async () => makeOld(first.file("runnel.db")) })
    ).lead();
    await before.leave();

    const path = second.file("runnel.db");
    const lead = await (await joining(second, "old", { ttl_ms: 1000 })).lead();
    using busy = new Database(path, { readwrite: true });
    busy.run("BEGIN IMMEDIATE"); // Migrations wait for the write lock.
    const opening = openInWorker(path, { vecLibrary: vecLibrary("/nonexistent"), ship: lead.ship });
    const renewals = "SELECT lease_until::text AS until FROM runnel_cells WHERE id = 'old'";
    const seen = new Set<string>();
    while (seen.size < 4) seen.add((await sqlAt(url, renewals))[0].until);
    expect(databaseVersion(path)).toBe(migrations.length - 1);
    busy.run("ROLLBACK");
    const db = await opening;
    await db.write(() => db.sqlite.run("CREATE TABLE given (n INTEGER) STRICT"));
    await lead.leave();
    db.close();

    const heir = await (await joining(third, "old")).lead();
    expect(heir.epoch).toBe(lead.epoch + 1);
    expect(databaseVersion(third.file("runnel.db"))).toBe(migrations.length);
    expect(readFileSync(third.file("runnel.db")).equals(readFileSync(path))).toBe(true);
    await heir.leave();
  }, 60_000);

  test("takes the cell of a leader that has died after one lease, also if Postgres's clock was set back meanwhile", async () => {
    using first = temporaryFolder();
    using second = temporaryFolder();
    const before = await (await joining(first, "back", { ttl_ms: 1000 })).lead();
    let back_h = 0;
    const open: OpenConnection = (options) => {
      const sql = new SQL(options);
      const { unsafe } = sql;
      const clock = () => `(clock_timestamp() - interval '${back_h} hours')`;
      sql.unsafe = ((text: string, values?: unknown[]) =>
        unsafe(text.replaceAll("clock_timestamp()", clock()), values)) as typeof unsafe;
      return sql;
    };
    // On a busy machine the leader may lose its lease before: then the heir is not seen as a spare.
    let isTaken = false;
    const leading = (await joining(second, "back", { ttl_ms: 1000, open })).lead().finally(() => {
      isTaken = true;
    });
    const spares = "SELECT 1 FROM runnel_nodes WHERE cell = 'back' AND applied > 0";
    while (!isTaken && (await sqlAt(postgres.url, spares)).length === 0) await Bun.sleep(10);
    before.ship.stop();
    back_h = 1;
    const heir = await leading;
    expect(heir.epoch).toBe(before.epoch + 1);
    await heir.leave();
  }, 60_000);

  // Cached vectors would be wrong: other leaders may have deleted entries since and reused their numbers.
  test("that returns to its folder uses no cached vectors of its former database", async () => {
    using folder = temporaryFolder();
    const lead = await (await joining(folder, "again")).lead();
    const kept = join(vectorCacheFolder(folder.file("runnel.db")), "1.int8");
    mkdirSync(dirname(kept));
    writeFileSync(kept, "");
    await lead.leave();
    const spare = await joining(folder, "again");
    expect(existsSync(kept)).toBe(false);
    await (await spare.lead()).leave();
  });
});

/** Makes a database of the previous version. */
function makeOld(path: string): void {
  using sqlite = new Database(path, { create: true, strict: true });
  sqlite.loadExtension(vecLibrary("/nonexistent"));
  for (const pragma of ["journal_mode = WAL", "foreign_keys = ON"]) sqlite.run(`PRAGMA ${pragma}`);
  for (const { sql } of migrations.slice(0, -1)) sqlite.run(sql);
  sqlite.run(`PRAGMA user_version = ${migrations.length - 1}`);
}
