import { expect, test } from "bun:test";
import { closeSync, openSync, writeSync } from "node:fs";
import { createLog } from "../../lib/log.ts";
import { createCorruptionAlarm } from "../../storage/db/corruption-alarm.ts";
import { openDataDir } from "../../storage/db/data-dir.ts";
import { openDatabase } from "../../storage/db/open.ts";
import { temporaryFolder } from "../../testing/temporary.ts";
import { startBackgroundScrub } from "./background-scrub.ts";

/** Scrubs a database that was closed cleanly. Returns the log lines up to the one with `until`, and the alarm. */
async function lookThrough(path: string, until: string, prepare: (database: string) => void) {
  const dir = openDataDir(path, { lock: false });
  openDatabase(dir.database).close();
  prepare(dir.database);
  const { promise: said, resolve } = Promise.withResolvers<void>();
  const lines: string[] = [];
  const log = createLog({
    format: "json",
    write(line) {
      lines.push(line);
      if (line.includes(until)) resolve();
    },
  });
  const alarm = createCorruptionAlarm(dir.database, log);
  const main = new URL("../../main.ts", import.meta.url).pathname;
  const command = [process.execPath, main, "read-through", "--data-dir", path];
  const check = startBackgroundScrub({ dir, log, alarm }, { first_ms: 0, priority: 0, command });
  await said;
  check.stop();
  return { lines, alarm };
}

test("an intact database is scrubbed in a separate process, and the log says so", async () => {
  using folder = temporaryFolder();
  const { lines, alarm } = await lookThrough(folder.path, "read through", () => {});
  expect(alarm.isWhole()).toBe(true);
  expect(JSON.parse(lines[0]!)).toMatchObject({ level: "info", rows: expect.any(Number) });
}, 60_000);

test("a bad page is found by the scrub, which raises the alarm", async () => {
  using folder = temporaryFolder();
  const { lines, alarm } = await lookThrough(folder.path, "damaged", (database) => {
    const db = openDatabase(database);
    const { page } = db.sqlite
      .query<{ page: number }, []>("SELECT rootpage AS page FROM sqlite_schema WHERE name = 'audit_log'")
      .get()!;
    db.close();
    const file = openSync(database, "r+");
    writeSync(file, Buffer.alloc(4096, 0x5a), 0, 4096, (page - 1) * 4096);
    closeSync(file);
  });
  expect(alarm.isWhole()).toBe(false);
  expect(lines[0]).toContain("(audit_log)");
}, 60_000);
