import { Database } from "bun:sqlite";
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { readFileSync, statSync } from "node:fs";
import { SQL } from "bun";
import { type Postgres, sqlAt, startPostgres } from "../../testing/postgres.ts";
import { temporaryFolder } from "../../testing/temporary.ts";
import { type Db, openDatabase } from "../db/open.ts";
import { now } from "./leader-lease.ts";
import { type Candidate, claim, leased, noteSpare, readCell, release } from "./lease.ts";
import { createPostgresClient } from "./postgres-client.ts";
import { bootstrap, catchUp, compact, dropUnfinished, type Position } from "./replica.ts";
import { reconcileRoutes, watchRoutes } from "./routes.ts";
import { Shipper } from "./shipper.ts";
import { examineEngine, readCluster } from "./status.ts";
import { makeTables } from "./tables.ts";

const patience_ms = 20_000;

/** Runs `work` once on a connection of its own. */
async function at<T>(url: string, work: (sql: SQL) => Promise<T>): Promise<T> {
  const sql = new SQL({ url, max: 1, bigint: true });
  try {
    return await work(sql);
  } finally {
    await sql.close({ timeout: 0 });
  }
}

describe.if(startPostgres.orSkipped("cells"))("a cell", () => {
  let postgres: Postgres;
  let url: string;
  beforeAll(async () => {
    postgres = await startPostgres();
    url = postgres.url;
    await at(url, makeTables);
  }, 60_000);
  afterAll(async () => await postgres?.[Symbol.asyncDispose]());

  let cells = 0;
  const newCell = () => `cell-${++cells}`;
  const candidate = (cell: string, over: { [Name in keyof Candidate]?: Candidate[Name] } = {}): Candidate => ({
    cell,
    name: "a",
    address: "",
    certificate: "",
    ttl_ms: 60_000,
    master_key_id: "key",
    version: 1,
    ...over,
  });

  interface LeaderOptions {
    ttl_ms?: number;
    name?: string;
    through?: string;
    piece_pages?: number;
  }

  /** Leads a cell with a database in a folder of its own, which is deleted at the end. */
  async function leader(
    cell: string,
    { ttl_ms = 60_000, name = cell, through = url, piece_pages }: LeaderOptions = {},
  ) {
    const folder = temporaryFolder();
    const path = folder.file("runnel.db");
    const engine = createPostgresClient(through, { patience_ms, name });
    const claimed_at = now();
    const won = await at(through, (sql) => claim(sql, candidate(cell, { ttl_ms })));
    if (!won) throw new Error("somebody leads");
    let head = won.head;
    if (head === 0) {
      openDatabase(path).close();
      head = (await at(through, (sql) => bootstrap(sql, cell, won.epoch, path))).seq;
    } else {
      const end = await at(through, (sql) => catchUp(sql, cell, path, null));
      if (end.seq < head) await at(through, (sql) => dropUnfinished(sql, cell, won.epoch, end));
      head = end.seq;
    }
    const { promise: fenced, resolve } = Promise.withResolvers<unknown>();
    const options = {
      engine,
      cell,
      epoch: won.epoch,
      claimed_at,
      path,
      ttl_ms,
      patience_ms,
      piece_pages,
      onFenced: resolve,
    };
    const ship = new Shipper({ ...options, log: { warn() {} } });
    ship.resume(head);
    const db = openDatabase(path, { ship });
    return {
      db,
      ship,
      path,
      fenced,
      engine,
      epoch: won.epoch,
      async [Symbol.asyncDispose]() {
        ship.stop();
        db.close();
        await engine.close();
        folder[Symbol.dispose]();
      },
    };
  }

  const fill = (db: Db) =>
    db.write(() => db.sqlite.run("CREATE TABLE given (n INTEGER PRIMARY KEY, data BLOB) STRICT"));
  const give = (db: Db, n: number, bytes = 300) =>
    db.write(() => db.sqlite.query("INSERT INTO given (n, data) VALUES (?, randomblob(?))").run(n, bytes));
  const countIn = (path: string) => {
    using copy = new Database(path, { readonly: true });
    expect(copy.query("PRAGMA integrity_check").get()).toEqual({ integrity_check: "ok" });
    return copy.query<{ n: number }, []>("SELECT count(*) AS n FROM given").get()!.n;
  };

  /** Creates the replicas of a test. */
  function copies(cell: string) {
    const folder = temporaryFolder();
    const path = folder.file("copy.db");
    const sql = new SQL({ url, max: 1, bigint: true });
    return {
      path,
      sql,
      follow: (from: Position | null) => catchUp(sql, cell, path, from),
      async [Symbol.asyncDispose]() {
        await sql.close({ timeout: 0 });
        folder[Symbol.dispose]();
      },
    };
  }

  test("a replica is equal byte for byte, also after a rolled back spill, a shrunken database and a restarted WAL", async () => {
    const cell = newCell();
    await using first = await leader(cell);
    const { db, ship, path } = first;
    await fill(db);
    await Promise.all(Array.from({ length: 40 }, (_, n) => give(db, n, 200_000)));
    db.sqlite.run("PRAGMA cache_size = 10");
    await db
      .write(() => {
        db.sqlite.run("INSERT INTO given (data) SELECT randomblob(100000) FROM given LIMIT 30");
        throw new Error("never mind");
      })
      .catch(() => {});
    await give(db, 1000);
    await db.write(() => db.sqlite.run("DELETE FROM given WHERE n BETWEEN 3 AND 30"));
    db.sqlite.run("VACUUM");
    await give(db, 1001, 3_000_000);
    await ship.settled();
    db.sqlite.run("PRAGMA wal_checkpoint(TRUNCATE)");
    await using copy = copies(cell);
    await copy.follow(null);
    expect(Buffer.compare(readFileSync(copy.path), readFileSync(path))).toBe(0);
    expect(countIn(copy.path)).toBe(14);
  });

  // A leader that waits for a reader does not renew its lease: each backup would cause a failover.
  test("a reader delays no commit, however long the WAL grows, and once it has finished the WAL is truncated", async () => {
    await using first = await leader(newCell());
    const { db, path } = first;
    await fill(db);
    const giveMany = (n: number) =>
      db.write(() => db.sqlite.query("INSERT INTO given (n, data) VALUES (?, zeroblob(1000000))").run(n));
    await giveMany(0);
    using reader = new Database(path, { readonly: true });
    reader.run("BEGIN");
    reader.query("SELECT count(*) FROM given").get();
    // Longer than this test may take: waiting for the reader would fail it.
    db.sqlite.run("PRAGMA busy_timeout = 70000");
    for (let n = 1; n < 67; n++) await giveMany(n);
    expect(statSync(`${path}-wal`).size).toBeGreaterThan(64 * 1024 * 1024);
    await giveMany(67);
    reader.run("COMMIT");
    await giveMany(68);
    await giveMany(69);
    expect(statSync(`${path}-wal`).size).toBeLessThan(8 * 1024 * 1024);
  });

  test("if the WAL cannot be checkpointed, as on a full disk, the replica has every commit", async () => {
    const cell = newCell();
    await using first = await leader(cell);
    const { db, ship } = first;
    await fill(db);
    const full = Object.create(db.sqlite, {
      run: {
        value(statement: string) {
          if (statement.includes("wal_checkpoint")) throw new Error("database or disk is full");
          return db.sqlite.run(statement);
        },
      },
      query: { value: (statement: string) => db.sqlite.query(statement) },
    });
    ship.attach(full);
    for (let n = 0; n < 3; n++) await give(db, n, 3_000_000);
    await using copy = copies(cell);
    await copy.follow(null);
    expect(countIn(copy.path)).toBe(3);
  });

  test("a leader whose WAL was restarted by another process exits, and acknowledges none of its commits", async () => {
    const cell = newCell();
    await using first = await leader(cell);
    await fill(first.db);
    await give(first.db, 1);
    using other = new Database(first.path);
    for (let n = 2; n < 4; n++) {
      other.run("PRAGMA wal_checkpoint(TRUNCATE)");
      other.query("INSERT INTO given (n) VALUES (?)").run(n);
    }
    let isTold = false;
    void give(first.db, 4).then(() => {
      isTold = true;
    });
    expect(await first.fenced).toEqual(new Error("The write-ahead log was begun again by another process."));
    expect(isTold).toBe(false);
    await using copy = copies(cell);
    await copy.follow(null);
    expect(countIn(copy.path)).toBe(1);
  });

  test("a large commit is shipped in pieces, and no replica applies a part of them", async () => {
    const cell = newCell();
    const first = await leader(cell);
    await fill(first.db);
    await give(first.db, 1);
    const rows = () =>
      sqlAt(url, `SELECT seq::int, length(frames) AS bytes FROM runnel_log WHERE cell = '${cell}' ORDER BY seq`);
    const before = (await rows()).length;
    await using warm = copies(cell);
    const early = await warm.follow(null);
    await Promise.all([give(first.db, 2, 30_000_000), give(first.db, 3, 1000)]);
    const pieces = (await rows()).slice(before);
    expect(pieces.length).toBeGreaterThanOrEqual(4);
    expect(Math.max(...pieces.map(({ bytes }) => bytes))).toBeLessThan(2.1 * 1024 * 1024);
    await first.ship.settled();
    first.db.sqlite.run("PRAGMA wal_checkpoint(TRUNCATE)");
    await using whole = copies(cell);
    await whole.follow(null);
    expect(Buffer.compare(readFileSync(whole.path), readFileSync(first.path))).toBe(0);
    await first[Symbol.asyncDispose]();

    // The log of a leader that dies in the middle of the pieces.
    const kept = pieces[0]!.seq + 1;
    await sqlAt(url, `DELETE FROM runnel_log WHERE cell = '${cell}' AND seq > ${kept}`);
    await sqlAt(url, `UPDATE runnel_cells SET head = ${kept}, lease_until = '-infinity' WHERE id = '${cell}'`);
    const position = await warm.follow(early);
    expect(position.seq).toBe(pieces[0]!.seq - 1);
    expect(countIn(warm.path)).toBe(1);
    expect(await compact(warm.sql, cell, kept)).toBeLessThan(kept);
    await using second = await leader(cell);
    expect(countIn(second.path)).toBe(1);
    await give(second.db, 4, 20_000_000);
    expect((await warm.follow(position)).seq).toBe(second.ship.figures().acked);
    expect(countIn(warm.path)).toBe(2);
    while ((await compact(warm.sql, cell, second.ship.figures().acked)) > 0);
    await using anew = copies(cell);
    await anew.follow(null);
    expect(countIn(anew.path)).toBe(2);
  });

  test("the WAL keeps a large commit until all of it is sent, whatever is committed meanwhile", async () => {
    const cell = newCell();
    await using first = await leader(cell);
    const { db, ship, path, fenced } = first;
    await fill(db);
    const salts = () => readFileSync(`${path}-wal`).toString("hex", 16, 24);
    const before = salts();
    await using other = new SQL({ url, max: 1 });
    const [held, released] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const holding = other.begin(async (transaction) => {
      await transaction`SELECT head FROM runnel_cells WHERE id = ${cell} FOR UPDATE`;
      held.resolve();
      await released.promise;
    });
    await held.promise;
    // After each of them the log is long enough for a checkpoint, with which the next one would begin the log again.
    const given = [give(db, 1, 30_000_000), give(db, 2), give(db, 3, 10_000_000), give(db, 4), give(db, 1000)];
    while (db.sqlite.query("SELECT 1 FROM given WHERE n = 1000").get() === null) await Bun.sleep(1);
    for (let n = 5; n < 10; n++) {
      given.push(give(db, n));
      while (db.sqlite.query("SELECT 1 FROM given WHERE n = ?").get(n) === null) await Bun.sleep(1);
    }
    expect(salts()).toBe(before);
    released.resolve();
    await holding;
    await Promise.race([Promise.all(given), fenced.then(Promise.reject.bind(Promise))]);
    await give(db, 10); // With all sent, the log is checkpointed, and the next commit begins it again.
    await give(db, 11);
    expect(salts()).not.toBe(before);
    await ship.settled();
    await using copy = copies(cell);
    await copy.follow(null);
    expect(countIn(copy.path)).toBe(12);
    db.sqlite.run("PRAGMA wal_checkpoint(TRUNCATE)");
    expect(Buffer.compare(readFileSync(copy.path), readFileSync(path))).toBe(0);
  });

  test("a commit in more pieces than one read returns is applied, and compacted with those before and after it", async () => {
    const cell = newCell();
    await using first = await leader(cell, { piece_pages: 4 });
    await fill(first.db);
    await give(first.db, 1);
    const before = first.ship.figures().whole;
    await give(first.db, 2, 6_000_000);
    const { whole, acked } = first.ship.figures();
    expect([whole - before > 300, whole]).toEqual([true, acked]);
    await give(first.db, 3);
    await using copy = copies(cell);
    expect((await copy.follow(null)).seq).toBe(first.ship.figures().acked);
    expect(countIn(copy.path)).toBe(3);

    // It is compacted as a whole although it ends beyond the limit; a concurrent compaction does nothing.
    const [one, other] = await Promise.all([
      compact(copy.sql, cell, before + 1),
      at(url, (sql) => compact(sql, cell, before + 1)),
    ]);
    expect([one, other].sort((a, b) => a - b)).toEqual([0, whole - 1]);
    expect(await compact(copy.sql, cell, first.ship.figures().whole)).toBe(1);
    const [{ rows }] = await sqlAt(url, `SELECT count(*)::int AS rows FROM runnel_log WHERE cell = '${cell}'`);
    expect(rows).toBe(0);
    await using anew = copies(cell);
    await anew.follow(null);
    expect(countIn(anew.path)).toBe(3);
  });

  test("an acknowledged commit is in Postgres, and commits made during a shipment share the next one", async () => {
    const cell = newCell();
    await using first = await leader(cell);
    await fill(first.db);
    const before = first.ship.figures().rows;
    const commits = first.db.write.commits();
    const told: number[] = [];
    for (let n = 0; n < 60; n++) {
      void give(first.db, n).then(() => told.push(n));
      first.db.write.flush();
    }
    await first.ship.settled();
    expect(first.db.write.commits() - commits).toBe(60);
    expect(first.ship.figures().rows - before).toBeLessThan(60);
    expect(told).toEqual(Array.from({ length: 60 }, (_, n) => n));
    await using copy = copies(cell);
    await copy.follow(null);
    expect(countIn(copy.path)).toBe(60);
  });

  test("a warm replica continues from its position, through compaction, and restarts from one that the log no longer has", async () => {
    const cell = newCell();
    await using first = await leader(cell);
    await using copy = copies(cell);
    await fill(first.db);
    const early = await copy.follow(null);
    for (let n = 0; n < 5; n++) await give(first.db, n);
    const warm = await copy.follow(early);
    expect(warm.seq).toBe(first.ship.figures().acked);
    expect(countIn(copy.path)).toBe(5);
    expect(await compact(copy.sql, cell, warm.seq)).toBeGreaterThan(0);
    expect(await copy.follow(warm)).toEqual(warm);
    for (const from of [early, { ...warm, epoch: 7 }, null]) {
      expect(await copy.follow(from)).toEqual(warm);
      expect(countIn(copy.path)).toBe(5);
    }
    expect(await compact(copy.sql, cell, warm.seq)).toBe(0);
  });

  test("no commit is lost or duplicated when the connection is cut again and again", async () => {
    const cell = newCell();
    await using first = await leader(cell, { name: `cut-${cell}` });
    await fill(first.db);
    let n = 0;
    const told: number[] = [];
    const giving = async () => {
      while (n < 400 || first.ship.figures().reconnects < 3) {
        const mine = n++;
        await give(first.db, mine);
        told.push(mine);
      }
    };
    const all = Promise.all([giving(), giving(), giving(), giving()]);
    let isDone = false;
    void all.then(() => {
      isDone = true;
    });
    // If connecting takes longer than the pause, no commit would ever be acknowledged: double the pause while none is.
    for (let [pause_ms, before] = [20, 0]; !isDone; before = told.length) {
      await sqlAt(url, `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'cut-${cell}'`);
      pause_ms = told.length > before ? 20 : 2 * pause_ms;
      await Bun.sleep(pause_ms);
    }
    expect(told.length).toBe(n);
    await using copy = copies(cell);
    expect((await copy.follow(null)).seq).toBe(first.ship.figures().acked);
    expect(countIn(copy.path)).toBe(n);
  });

  test("a leader with an expired lease is fenced by its successor, and none of its commits is acknowledged", async () => {
    const cell = newCell();
    await using old = await leader(cell, { ttl_ms: 60_000 });
    await fill(old.db);
    await give(old.db, 1);
    await sqlAt(url, `UPDATE runnel_cells SET lease_until = '-infinity' WHERE id = '${cell}'`);
    await using heir = await leader(cell);
    expect(heir.epoch).toBe(old.epoch + 1);
    let isTold = false;
    void give(old.db, 2).then(() => {
      isTold = true;
    });
    await old.fenced;
    await give(heir.db, 3);
    expect(isTold).toBe(false);
    await using copy = copies(cell);
    await copy.follow(null);
    using read = new Database(copy.path, { readonly: true });
    expect(read.query("SELECT n FROM given ORDER BY n").values()).toEqual([[1], [3]]);
  });

  test("a leader that is paused within a transaction does not block another node from its cell", async () => {
    const cell = newCell();
    await using old = await leader(cell);
    await sqlAt(url, `UPDATE runnel_cells SET lease_until = '-infinity' WHERE id = '${cell}'`);
    const [held, resumed] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    // It gives no request up by itself.
    const engine = createPostgresClient(url, { patience_ms: 600_000, name: "paused" });
    const paused = engine.attempt((sql) =>
      sql.begin(async (transaction) => {
        await transaction`UPDATE runnel_cells SET base = base WHERE id = ${cell}`;
        held.resolve();
        await resumed.promise;
      }),
    );
    await held.promise;
    await using heir = await leader(cell); // It waits until Postgres has ended the other's connection.
    expect(heir.epoch).toBe(old.epoch + 1);
    resumed.resolve();
    expect(await paused).toBeNull();
    await engine.close();
  }, 60_000);

  test("a connection lost while idle is checked again: the new one may lead to a standby", async () => {
    const engine = createPostgresClient(url, { patience_ms, name: "looked at" });
    const look = "SELECT pg_backend_pid() AS pid, current_setting('idle_in_transaction_session_timeout') AS limit";
    const [before] = (await engine.ask(look, []))!;
    await sqlAt(url, `SELECT pg_terminate_backend(${before!.pid})`);
    while (engine.reconnects() === 0) await Bun.sleep(1);
    const [after] = (await engine.ask(look, []))!;
    expect([after!.pid === before!.pid, before!.limit, after!.limit]).toEqual([false, "5s", "5s"]);
    expect(engine.reconnects()).toBe(1); // With two hosts it would skip one.
    await engine.close();
  });

  test("of several hosts the first that responds is used, and is tried first after its loss", async () => {
    const engine = createPostgresClient(url.replace("127.0.0.1:", "127.0.0.1:1,127.0.0.1:"), {
      patience_ms,
      name: "two hosts",
    });
    const [before] = (await engine.ask("SELECT pg_backend_pid() AS pid", []))!;
    expect(engine.reconnects()).toBe(1);
    await sqlAt(url, `SELECT pg_terminate_backend(${before!.pid})`);
    while (engine.reconnects() === 1) await Bun.sleep(1);
    expect(await engine.ask("SELECT 1 AS one", [])).toHaveLength(1);
    expect(engine.reconnects()).toBe(2);
    await engine.close();
  });

  test("an idle leader keeps its cell, and one that exits hands it over at once", async () => {
    const cell = newCell();
    const ttl_ms = 6000;
    await using first = await leader(cell, { ttl_ms });
    await using other = copies(cell);
    const as = candidate(cell, { name: "b", ttl_ms });
    const began = (await readCell(other.sql, as))!;
    const leaseOf = async (): Promise<Date> =>
      (await other.sql`SELECT lease_until FROM runnel_cells WHERE id = ${cell}`)[0].lease_until;
    const lease = await leaseOf();
    while ((await leaseOf()) <= lease) await Bun.sleep(20);
    expect(await claim(other.sql, as)).toBeNull();
    first.ship.stop();
    await release(other.sql, cell, first.epoch);
    expect(await claim(other.sql, as)).toEqual({ epoch: began.epoch + 1, head: began.head, failover: null });
  });

  test("a node that takes the cell of a silent leader learns its name and the time, and other nodes do not", async () => {
    const cell = newCell();
    await at(url, (sql) => claim(sql, candidate(cell, { ttl_ms: 0 })));
    const [{ ended }] = await sqlAt(
      url,
      `SELECT (extract(epoch FROM lease_until) * 1000)::int8::text AS ended FROM runnel_cells WHERE id = '${cell}'`,
    );
    const won = await at(url, (sql) => claim(sql, candidate(cell, { name: "b" })));
    expect(won?.failover).toMatchObject({
      cell,
      epoch: 2,
      leader: "b",
      previous_leader: "a",
      lease_ended_ms: Number(ended),
    });
    expect(won!.failover!.led_ms).toBeGreaterThanOrEqual(won!.failover!.lease_ended_ms);
    await at(url, (sql) => release(sql, cell, 2));
    expect((await at(url, (sql) => claim(sql, candidate(cell))))?.failover).toBeNull();
  });

  test("no second node gets a cell that has a leader, however many try at once", async () => {
    const cell = newCell();
    const won = await Promise.all(Array.from({ length: 8 }, () => at(url, (sql) => claim(sql, candidate(cell)))));
    expect(won.filter((one) => one !== null)).toEqual([{ epoch: 1, head: 0, failover: null }]);
  });

  test("an expired lease that a spare has observed is taken once, and not after a renewal", async () => {
    const cell = newCell();
    await at(url, (sql) => claim(sql, candidate(cell)));
    const lease = async () => (await at(url, (sql) => readCell(sql, candidate(cell))))!.lease_until;
    const seen = await lease();
    await sqlAt(url, `UPDATE runnel_cells SET ${leased(60_000)} WHERE id = '${cell}'`);
    expect(await at(url, (sql) => claim(sql, candidate(cell), seen))).toBeNull();
    const over = await lease();
    const all = Array.from({ length: 8 }, () => at(url, (sql) => claim(sql, candidate(cell), over)));
    expect((await Promise.all(all)).filter(Boolean)).toMatchObject([{ epoch: 2 }]);
  });

  test("a node with another master key, or older than the cell, is refused in one line", async () => {
    const cell = newCell();
    await using other = copies(cell);
    const { sql } = other;
    await claim(sql, candidate(cell));
    await expect(readCell(sql, candidate(cell, { master_key_id: "other" }))).rejects.toThrow(
      `The cell "${cell}" belongs to nodes with another RUNNEL_MASTER_KEY (key, here other).`,
    );
    await expect(readCell(sql, candidate(cell, { version: 0 }))).rejects.toThrow(
      `The cell "${cell}" is of a newer runnel: its database is of version 1, and this node knows 0.`,
    );
  });

  test("the status shows the leader, the followers and their lag, a missing standby, and an unencrypted connection", async () => {
    const cell = newCell();
    await using first = await leader(cell);
    await fill(first.db);
    const rows = first.ship.figures().acked;
    await at(url, (sql) => noteSpare(sql, candidate(cell, { name: "spare" }), rows - 1));
    const free = newCell();
    await at(url, (sql) => claim(sql, candidate(free, { ttl_ms: 0 })));
    const { cells } = await readCluster(url);
    expect(cells.find((one) => one.cell === cell)).toMatchObject({
      leader: "a",
      epoch: 1,
      head: rows,
      spares: [{ name: "spare", behind: 1 }],
      log: { rows: rows - 1, bytes: expect.any(Number) },
    });
    expect(cells.find((one) => one.cell === free)).toMatchObject({ leader: null, address: null, head: 0, spares: [] });
    expect(await examineEngine(url)).toMatchObject({ synchronous_standbys: 0, encrypted: null });
    expect(await examineEngine(url, () => false)).toMatchObject({ encrypted: false }); // On another machine.
  });

  test("while Postgres is unavailable no response is released; all are released once it is back", async () => {
    const cell = newCell();
    await using own = await startPostgres();
    await at(own.url, makeTables);
    await using first = await leader(cell, { ttl_ms: 1000, through: own.url });
    await fill(first.db);
    await own.primary.kill();
    let isTold = false;
    const gave = give(first.db, 1).then(() => {
      isTold = true;
    });
    while (first.ship.figures().silent_ms < 1500) await Bun.sleep(10);
    expect(isTold).toBe(false);
    await own.primary.start();
    await gave;
    await first.ship.settled();
    const copy = `${first.path}.copy`;
    await at(own.url, (sql) => catchUp(sql, cell, copy, null));
    expect(countIn(copy)).toBe(1);
  }, 60_000);

  /** Creates a project and a key of it. */
  const found = (db: Db, project: string, hash: number) =>
    db.write(() => {
      db.sqlite.query("INSERT INTO projects (id, name, created_at_ms) VALUES (?1, ?1, 0)").run(project);
      db.sqlite
        .query(
          `INSERT INTO api_keys (id, project_id, environment, hash, name, prefix, last4, scopes, created_by, created_at_ms)
           VALUES (?, ?, 'test', ?, '', '', '', '[]', 'cli', 0)`,
        )
        .run(`key_${project}`, project, new Uint8Array(32).fill(hash));
    });
  const rows = async (statement: string) => [...(await at(url, (sql) => sql.unsafe(statement)))];
  const placesOf = (...projects: string[]) =>
    rows(`SELECT id, cell FROM runnel_projects WHERE id IN ('${projects.join("', '")}') ORDER BY id`);

  test("the route of a key is in Postgres before its creation is acknowledged, and a fenced leader's is not", async () => {
    const cell = newCell();
    await using led = await leader(cell, { ttl_ms: 3000 });
    await found(led.db, "proj_old", 1); // Written by a version without routes.
    const routes = watchRoutes(led.db.sqlite);
    expect(await at(url, (sql) => reconcileRoutes(sql, cell, led.epoch, routes.all()))).toEqual([]);
    led.ship.route(routes);
    await found(led.db, "proj_new", 2);
    const names = await rows(
      "SELECT name, project FROM runnel_routes WHERE project IN ('proj_old', 'proj_new') ORDER BY name",
    );
    expect(names).toEqual([
      ...["01", "02"].map((byte, n) => ({ name: byte.repeat(32), project: n === 0 ? "proj_old" : "proj_new" })),
      ...["proj_new", "proj_old"].map((project) => ({ name: `key_${project}`, project })),
    ]);
    expect(await placesOf("proj_old", "proj_new")).toEqual(["proj_new", "proj_old"].map((id) => ({ id, cell })));
    await led.db.write(() => led.db.sqlite.run("UPDATE api_keys SET revoked_at_ms = 1 WHERE id = 'key_proj_old'"));
    expect(await rows("SELECT name FROM runnel_routes WHERE project = 'proj_old'")).toEqual([]);

    await at(url, (sql) => sql.unsafe("UPDATE runnel_cells SET epoch = epoch + 1 WHERE id = $1", [cell]));
    void found(led.db, "proj_fenced", 3);
    await led.fenced;
    expect(await placesOf("proj_fenced")).toEqual([]);
    await expect(at(url, (sql) => reconcileRoutes(sql, cell, led.epoch, routes.all()))).rejects.toThrow("another node");
  });
});
