import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { SQL } from "bun";
import { openDatabase } from "../db/open.ts";
import { silentLog } from "../lib/log.ts";
import { type Postgres, sqlAt, startPostgres } from "../testing/postgres.ts";
import { temporaryFolder } from "../testing/temporary.ts";
import { joinCells } from "./node.ts";

describe.if(startPostgres.orSkipped("nodes"))("a node that leads", () => {
  let postgres: Postgres;
  beforeAll(async () => {
    postgres = await startPostgres();
  }, 60_000);
  afterAll(async () => await postgres?.[Symbol.asyncDispose]());

  test("tells what the cells are like while a compaction is long at it, and lets that come to its end", async () => {
    const { url } = postgres;
    using folder = temporaryFolder();
    const database = folder.file("runnel.db");
    const spare = await joinCells({
      ...{ url, cells: ["main"], database, marker: folder.file("cluster.json"), log: silentLog },
      candidate: { name: "a", address: "", certificate: "", ttl_ms: 60_000, master_key_id: "key", version: 1 },
      prepareDatabase: () => openDatabase(database).close(),
      onFenced() {},
    });
    const lead = await spare.lead();
    const db = openDatabase(database, { ship: lead.ship });
    const rows = async () => (await sqlAt(url, "SELECT count(*)::int AS n FROM runnel_log"))[0].n as number;
    await using other = new SQL({ url, max: 1 });
    const { promise: released, resolve: release } = Promise.withResolvers<void>();
    await db.write(() => db.sqlite.run("CREATE TABLE given (n INTEGER) STRICT"));
    const { promise: held, resolve: hold } = Promise.withResolvers<void>();
    const holding = other.begin(async (transaction) => {
      await transaction`SELECT seq FROM runnel_log FOR UPDATE`;
      hold();
      await released;
    });
    await held;
    for (let n = 0; n < 520; n++) await db.write(() => db.sqlite.query("INSERT INTO given (n) VALUES (?)").run(n));
    const waits = "SELECT pid FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND query LIKE '%FOR UPDATE%'";
    let [waiting] = await sqlAt(url, waits);
    while (!waiting) [waiting] = await sqlAt(url, waits);
    expect(await lead.cells()).toEqual([expect.objectContaining({ cell: "main", leader: "a" })]);
    expect(await sqlAt(url, waits)).toEqual([waiting]); // It was not given up.
    release();
    await holding;
    while ((await rows()) > 510) await Bun.sleep(10);
    await lead.leave();
    db.close();
  }, 60_000);
});
