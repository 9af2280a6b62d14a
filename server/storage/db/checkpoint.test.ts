import { Database } from "bun:sqlite";
import { expect, test } from "bun:test";
import { existsSync, statSync } from "node:fs";
import { temporaryFolder } from "../../testing/temporary.ts";
import { autoCheckpoint, checkpointTruncate } from "./checkpoint.ts";
import { openDatabase } from "./open.ts";
import type { Mode } from "./wal-checkpointer.ts";

const megabyte = 1024 * 1024;

function storm(path: string) {
  const db = openDatabase(path);
  db.sqlite.run("CREATE TABLE storm (text TEXT NOT NULL) STRICT");
  const insert = db.sqlite.query("INSERT INTO storm (text) VALUES (?)");
  const text = "x".repeat(100_000);
  return {
    db,
    logSize: () => statSync(`${path}-wal`).size,
    /** Writes this number of megabytes, a tenth of one per commit. */
    async write(megabytes: number): Promise<void> {
      for (let n = 0; n < megabytes * 10; n++) await db.write(() => insert.run(text));
    },
  };
}

test.each(["a thread of its own", "this thread, as on a small disk", "SQLite"])(
  "many writes among short readers do not let the WAL grow with their number, by %s",
  async (by) => {
    using folder = temporaryFolder();
    const { db, write, logSize } = storm(folder.file("runnel.db"));
    const room_bytes = by.startsWith("this") ? megabyte : undefined;
    const keeper = by === "SQLite" ? null : autoCheckpoint(db, folder.file("runnel.db"), { room_bytes });
    // A thread that waits for a core meets a reader more often, and the WAL restarts some rounds later.
    const [rounds, most] = by.startsWith("a thread") ? [30, 75] : [12, 16];
    let largest = 0;
    for (let round = 0; round < rounds; round++) {
      const reader = new Database(folder.file("runnel.db"), { readonly: true });
      reader.run("BEGIN");
      reader.query("SELECT count(*) FROM storm").get();
      await write(1);
      reader.close();
      await write(4);
      largest = Math.max(largest, logSize());
    }
    expect(largest).toBeLessThan(most * megabyte);
    keeper?.stop();
    db.close();
    expect(existsSync(`${folder.file("runnel.db")}-wal`) && logSize() > 0).toBe(false);
    const after = new Database(folder.file("runnel.db"), { readonly: true });
    expect(after.query("SELECT count(*), sum(length(text)) FROM storm").values()).toEqual([
      [50 * rounds, 5_000_000 * rounds],
    ]);
    expect(after.query("PRAGMA integrity_check").values()).toEqual([["ok"]]);
    after.close();
  },
);

/** Creates a checkpointer whose checkpoints end when the test says so. */
function manualCheckpointer() {
  const checkpoints: { mode: Mode; result: PromiseWithResolvers<boolean> }[] = [];
  const checkpoint = (mode: Mode) => {
    checkpoints.push({ mode, result: Promise.withResolvers() });
    return checkpoints.at(-1)!.result.promise;
  };
  return { checkpoints, checkpointer: { checkpoint, end() {} } };
}

const turn = () => new Promise(setImmediate);

test("commits continue during a checkpoint, wait only for its last part, and then the WAL restarts", async () => {
  using folder = temporaryFolder();
  const { db, write } = storm(folder.file("runnel.db"));
  const { checkpoints, checkpointer } = manualCheckpointer();
  const keeper = autoCheckpoint(db, folder.file("runnel.db"), { checkpointer });
  const other = new Database(folder.file("runnel.db"));
  const checkpointAll = () => other.run("PRAGMA wal_checkpoint(PASSIVE)");
  await write(5);
  expect(checkpoints.map(({ mode }) => mode)).toEqual(["PASSIVE"]);
  checkpointAll();
  await write(1);
  checkpoints[0]!.result.resolve(true);
  await turn();
  expect(checkpoints).toHaveLength(2);
  const held = write(0.1);
  for (let n = 0; n < 5; n++) await turn();
  expect(Bun.peek.status(held)).toBe("pending");
  checkpointAll();
  checkpoints[1]!.result.resolve(true);
  await held;
  const { log } = db.sqlite.query<{ log: number }, []>("PRAGMA wal_checkpoint(NOOP)").get()!;
  expect(log).toBeLessThan(100);
  keeper.stop();
  other.close();
  db.close();
});

test("commits wait if the WAL doubles during a checkpoint: its content takes disk space twice", async () => {
  using folder = temporaryFolder();
  const { db, write } = storm(folder.file("runnel.db"));
  const { checkpoints, checkpointer } = manualCheckpointer();
  const keeper = autoCheckpoint(db, folder.file("runnel.db"), { checkpointer });
  const writing = write(12);
  for (let n = 0; n < 2000 && Bun.peek.status(writing) === "pending"; n++) await turn();
  expect([checkpoints.length, Bun.peek.status(writing)]).toEqual([1, "pending"]);
  checkpoints[0]!.result.resolve(false);
  await writing;
  keeper.stop();
  db.close();
});

test("commits wait only a moment for a thread that does not answer, and none is lost if it cannot checkpoint", async () => {
  using folder = temporaryFolder();
  const { db, write, logSize } = storm(folder.file("runnel.db"));
  const { checkpoints, checkpointer } = manualCheckpointer();
  const keeper = autoCheckpoint(db, folder.file("runnel.db"), { checkpointer });
  await write(5);
  checkpoints[0]!.result.resolve(true);
  await write(5); // The second checkpoint never ends.
  expect(checkpoints).toHaveLength(2);
  checkpoints[1]!.result.resolve(false);
  const size = logSize();
  await write(20);
  expect(logSize()).toBeLessThan(size + 2 * megabyte);
  keeper.stop();
  db.close();
});

test("commits made while rows are being read still cause a checkpoint afterwards", async () => {
  using folder = temporaryFolder();
  const { db, write } = storm(folder.file("runnel.db"));
  const { checkpoints, checkpointer } = manualCheckpointer();
  const keeper = autoCheckpoint(db, folder.file("runnel.db"), { checkpointer });
  await write(1);
  const rows = db.sqlite.query("SELECT text FROM storm").iterate();
  rows.next();
  await write(5);
  expect(checkpoints).toEqual([]);
  for (const _ of rows);
  await write(0.1);
  expect(checkpoints).toHaveLength(1);
  keeper.stop();
  checkpoints[0]!.result.resolve(false);
  await write(5);
  expect(checkpoints).toHaveLength(1);
  db.close();
});

test("a WAL that grew under a long reader is truncated once there are no readers and writers", async () => {
  using folder = temporaryFolder();
  const { db, write, logSize } = storm(folder.file("runnel.db"));
  const keeper = autoCheckpoint(db, folder.file("runnel.db"), { look_ms: 20 });
  const reader = new Database(folder.file("runnel.db"), { readonly: true });
  reader.run("BEGIN");
  reader.query("SELECT count(*) FROM storm").get();
  await write(20);
  expect(logSize()).toBeGreaterThan(16 * megabyte);
  reader.close();
  const end = performance.now() + 50_000; // Timeout for a test that hangs.
  while (logSize() > 0 && performance.now() < end) await Bun.sleep(5);
  expect(logSize()).toBe(0);
  keeper.stop();
  db.close();
});

test("a WAL with a reader is left alone, and no caller waits for that reader", async () => {
  using folder = temporaryFolder();
  const { db, write, logSize } = storm(folder.file("runnel.db"));
  await write(1);
  const reader = new Database(folder.file("runnel.db"), { readonly: true });
  reader.run("BEGIN");
  reader.query("SELECT count(*) FROM storm").get();
  await write(1);
  db.sqlite.run("PRAGMA busy_timeout = 70000"); // Longer than this test may take: waiting for the reader would fail it.
  checkpointTruncate(db.sqlite);
  expect(logSize()).toBeGreaterThan(0);
  reader.close();
  db.close();
});
