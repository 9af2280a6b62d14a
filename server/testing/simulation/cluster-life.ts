import { drainMicrotasks } from "bun:jsc";
import { Database } from "bun:sqlite";
import { mkdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { createWriter, type Writer } from "../../storage/db/writer.ts";
import { joinCells, type Lead } from "../../storage/replication/node.ts";
import { createPostgresClient } from "../../storage/replication/postgres-client.ts";
import { catchUp, compact } from "../../storage/replication/replica.ts";
import { createEngineModel } from "./engine-model.ts";
import { takeOver } from "./take-over.ts";
import { createWorld, Found, type Owner } from "./world.ts";

interface Node {
  name: string;
  owner: Owner;
  folder: string;
  leading: Leading | null;
}

interface Leading {
  lead: Lead;
  sqlite: Database;
  write: Writer;
}

const [cell, ttl_ms] = ["main", 3000];
const [nodesMax, valuesMax, faultsMax, stepsMax] = [3, 25, 8, 60_000];

/**
 * Simulates one life of a cell: nodes with real SQLite, shippers, leases and replicas over a Postgres that answers late
 * or never, while nodes are killed, paused and restarted. Throws the fault with the history that led to it; the same
 * seed gives the same history, which it returns. `folder` must be empty; the nodes' files stay in it.
 */
export function liveInCluster(seed: number, folder: string): string[] {
  const world = createWorld(seed);
  const giveBack = takeOver(world);
  const life = createClusterLife(world, folder);
  try {
    life.live();
    return world.history();
  } catch (error) {
    throw new Found(`seed ${seed}: ${(error as Error).message}\n${world.history().join("\n")}`, { cause: error });
  } finally {
    life.end();
    giveBack();
  }
}

function createClusterLife(world: ReturnType<typeof createWorld>, folder: string) {
  const found: string[] = [];
  const engine = createEngineModel(world, (what) => void found.push(what));
  const scheduler: Owner = { frozen: false, dead: false, isProcess: true };
  world.become(scheduler);
  /** Values whose write was acknowledged, or that a reader was shown. */
  const told = new Set<number>();
  let [faults, values, starts, told_epoch] = [world.int(faultsMax + 1), 0, 0, 0];
  const nodes = Array.from(
    { length: 2 + world.int(nodesMax - 1) },
    (_, n): Node => ({ name: `node ${n}`, owner: scheduler, folder: join(folder, String(n)), leading: null }),
  );

  function start(node: Node): void {
    const owner: Owner = { frozen: false, dead: false, isProcess: true };
    node.owner = owner;
    mkdirSync(node.folder, { recursive: true });
    world.become(owner);
    lead(node, owner).catch((error: Error) => {
      if (owner.dead) return;
      // Nodes exit on errors that they cannot handle; a supervisor restarts them.
      if (!expectedErrors.test(error.message)) found.push(`${node.name}: ${error.stack}`);
      world.note(`${node.name} ends: ${error.message}`);
      gone(node);
    });
    world.become(scheduler);
  }

  async function lead(node: Node, owner: Owner): Promise<void> {
    const database = join(node.folder, "runnel.db");
    const spare = await joinCells({
      url: "postgres://runnel@engine/runnel",
      cells: [cell],
      candidate: {
        name: `${node.name}, start ${++starts}`,
        address: "",
        certificate: "",
        ttl_ms,
        master_key_id: "key",
        version: 1,
      },
      database,
      marker: join(node.folder, "marker"),
      async prepareDatabase() {
        using sqlite = openSqlite(database);
        sqlite.run("CREATE TABLE IF NOT EXISTS given (n INTEGER PRIMARY KEY, data BLOB) STRICT");
        sqlite.run("PRAGMA wal_checkpoint(TRUNCATE)");
      },
      forgetMade() {},
      onFenced() {
        if (owner.dead) return;
        world.note(`${node.name} is fenced`);
        gone(node);
      },
      log: { info() {}, warn() {}, error() {} },
      open: engine.opening(owner),
    });
    const lead = await spare.lead();
    if (owner.dead) return;
    world.note(`${node.name} leads, epoch ${lead.ship.figures().epoch}`);
    const sqlite = openSqlite(database);
    lead.ship.attach(sqlite);
    node.leading = { lead, sqlite, write: createWriter(sqlite, { committed: lead.ship.committed }) };
  }

  /** Handles the end of a process: another one starts after a while, perhaps on an empty folder. */
  function gone(node: Node): void {
    const { owner, leading } = node;
    engine.forget(owner);
    world.end(owner);
    node.leading = null;
    if (leading) close(leading);
    if (world.chance(0.5)) rmSync(node.folder, { recursive: true, force: true });
    world.setAlarm(() => start(node), world.int(2000), null, scheduler);
  }

  const leaders = () => nodes.filter(({ owner, leading }) => leading && !owner.frozen && !owner.dead);

  /** Does something as a node. */
  function as(node: Node, work: () => void): void {
    world.become(node.owner);
    work();
    world.become(scheduler);
  }

  function write(node: Node): void {
    const { owner, leading } = node;
    const n = ++values;
    const bytes = world.chance(0.1) ? 20_000 : 50;
    world.note(`${node.name} writes ${n}`);
    const { sqlite } = leading!;
    const job = () => void sqlite.query("INSERT INTO given (n, data) VALUES (?, zeroblob(?))").run(n, bytes);
    void leading!.write(job).then(
      () => tell(owner, node.name, leading!, [n]),
      (error) => owner.dead || found.push(`${node.name}: ${error}`),
    );
  }

  function tell(owner: Owner, name: string, { lead }: Leading, all: readonly number[]): void {
    if (owner.dead) return;
    for (const n of all) told.add(n);
    told_epoch = Math.max(told_epoch, lead.ship.figures().epoch);
    world.note(`${name} tells of ${all.at(-1) ?? "nothing"}`);
  }

  /** An answer must contain everything revealed before the question, from any node. */
  function read(node: Node): void {
    const { owner, leading, name } = node;
    const before = [...told];
    const seen = valuesIn(leading!.sqlite);
    world.note(`${name} reads`);
    void leading!.lead.ship.settled().then(() => {
      if (owner.dead) return;
      const missing = before.filter((n) => !seen.includes(n));
      if (missing.length > 0) found.push(`${name} answers without ${missing}`);
      tell(owner, name, leading!, seen);
    });
  }

  function compactSome(node: Node): void {
    const { lead } = node.leading!;
    const upto = lead.ship.figures().acked - world.int(4);
    const own = createPostgresClient("postgres://runnel@engine/runnel", {
      patience_ms: 5000,
      name: "compacting",
      open: engine.opening(node.owner),
    });
    void own.attempt((sql) => compact(sql, cell, upto)).finally(own.close);
  }

  function act(): void {
    const some = leaders();
    if (some.length === 0) return;
    const node = world.pick(some);
    const fate = world.random();
    as(node, () => {
      if (fate < 0.6) values < valuesMax && write(node);
      else if (fate < 0.9) read(node);
      else compactSome(node);
    });
  }

  function after(ms: number, does: () => void): void {
    world.setAlarm(does, ms, null, scheduler);
  }

  function pause(node: Node): void {
    world.note(`${node.name} is paused`);
    const { owner } = node;
    owner.frozen = true;
    after(world.int(3 * ttl_ms), () => {
      world.note(`${node.name} goes on`);
      owner.frozen = false;
    });
  }

  function fault(): void {
    if (faults-- <= 0) return;
    const fate = world.random();
    const node = world.pick(world.chance(0.8) && leaders().length > 0 ? leaders() : nodes);
    if (fate < 0.3) {
      if (node.owner.dead) return;
      world.note(`${node.name} is killed`);
      gone(node);
    } else if (fate < 0.5) pause(node);
    else if (fate < 0.65) engine.cut();
    else if (fate < 0.75) engine.silence();
    else if (fate < 0.85) {
      world.note("the engine is slow");
      engine.slow(world.int(4000));
      after(world.int(8000), () => engine.slow(0));
    } else if (fate < 0.95) {
      world.note("the engine is down");
      engine.down(true);
      after(world.int(6000), () => engine.down(false));
    } else engine.setClockBack(world.int(60_000));
  }

  function step(): void {
    const fate = world.random();
    if (fate < 0.004) fault();
    else if (fate < 0.05) act();
    else if (fate < 0.2 || !world.work()) world.pass();
    drainMicrotasks();
    look();
  }

  function look(): void {
    if (found.length > 0) throw new Found(found[0]);
    const { cell: row, log } = engine.tables;
    if (!row) return;
    if (log.size !== row.head - row.base)
      throw new Found(`The log has ${log.size} rows between ${row.base} and ${row.head}.`);
  }

  /** Returns the last leader, once Postgres has all that it committed. */
  function settle(): Leading {
    for (let steps = 0; ; ) {
      const [node] = leaders();
      const leading = node?.leading;
      let isSettled = false;
      if (leading)
        as(node, () => {
          leading.write.flush();
          void leading.lead.ship.settled().then(() => {
            isSettled = true;
          });
        });
      do {
        world.work() || world.pass();
        drainMicrotasks();
        look();
        if (steps++ > stepsMax) throw new Found("It does not come to an end.");
      } while (leading && node.leading === leading && !isSettled);
      if (leading && node.leading === leading) return leading;
    }
  }

  /** Runs the world until the promise settles. */
  function wait<T>(promise: Promise<T>): T {
    let result: { value: T } | null = null;
    let failure: { error: unknown } | null = null;
    promise.then(
      (value) => {
        result = { value };
      },
      (error) => {
        failure = { error };
      },
    );
    for (let steps = 0; result === null; steps++) {
      world.work() || world.pass();
      drainMicrotasks();
      if (failure) throw (failure as { error: unknown }).error;
      if (steps > stepsMax) throw new Found("It does not come to an end.");
    }
    return (result as { value: T }).value;
  }

  const calm = () => faults <= 0 && values >= valuesMax && engine.isUp() && nodes.every(({ owner }) => !owner.frozen);

  return {
    live(): void {
      for (const node of nodes) start(node);
      for (let steps = 0; !calm() || leaders().length === 0; steps++) {
        step();
        if (steps > stepsMax) throw new Found("It does not come to an end.");
      }
      const { sqlite } = settle();
      const path = join(folder, "copy.db");
      world.become(scheduler);
      const sql = engine.opening(scheduler)({});
      wait(catchUp(sql, cell, path, null));
      using copy = new Database(path, { readonly: true });
      const kept = valuesIn(copy);
      const lost = [...told].filter((n) => !kept.includes(n));
      if (lost.length > 0) throw new Found(`${lost} were told of and are lost.`);
      const here = valuesIn(sqlite);
      if (here.join() !== kept.join()) throw new Found(`The leader has ${here}, and the engine has ${kept}.`);
      const { integrity_check } = copy.query<{ integrity_check: string }, []>("PRAGMA integrity_check").get()!;
      if (integrity_check !== "ok") throw new Found(integrity_check);
      world.note(`ends with ${kept.length} values, ${told.size} told, epoch ${told_epoch}`);
    },
    end(): void {
      for (const { leading } of nodes) if (leading) close(leading);
    },
  };
}

/** Closes the files of a dead process: thousands of lives open more files than this process may. */
function close({ lead, sqlite }: Leading): void {
  lead.ship.stop();
  sqlite.close();
}

/** Errors on which a node exits and is restarted. */
const expectedErrors =
  /The engine cannot be used|is led by another node|could not be begun|The copy of the cell .* (could not be brought to|ends at) row/;

function openSqlite(path: string): Database {
  const sqlite = new Database(path);
  sqlite.run("PRAGMA journal_mode = WAL");
  return sqlite;
}

const valuesIn = (sqlite: Database): number[] =>
  sqlite
    .query<{ n: number }, []>("SELECT n FROM given ORDER BY n")
    .all()
    .map(({ n }) => n);
