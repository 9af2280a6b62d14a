import { afterEach, beforeEach, expect, test } from "bun:test";
import { existsSync, mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { AppError } from "../domain/errors.ts";
import { createAudit } from "../storage/db/audit.ts";
import { backUp } from "../storage/db/backup.ts";
import { type Db, openDatabase } from "../storage/db/open.ts";
import { temporaryFolder } from "../testing/temporary.ts";
import { testActor } from "../testing/test-actor.ts";
import { createBackups, type MakeBackup } from "./backups.ts";

let folder: ReturnType<typeof temporaryFolder>;
let db: Db;
beforeEach(() => {
  folder = temporaryFolder();
  db = openDatabase(join(folder.path, "runnel.db"));
});
afterEach(() => {
  db.close();
  folder[Symbol.dispose]();
});

const lying = () => join(folder.path, "backups-to-download");
const open = (more: { requireRoom?: () => void; make?: MakeBackup } = {}) =>
  createBackups({
    db,
    audit: createAudit({ db }),
    dataDir: folder.path,
    requireRoom: () => {},
    make: async (file) => backUp(join(folder.path, "runnel.db"), file),
    ...more,
  });

test("a backup is made, can be downloaded as one database, and the log tells of it", async () => {
  const backups = open();
  const made = await backups.create(testActor);
  expect({ ...made }).toMatchObject({
    id: expect.stringMatching(/^bak_/),
    bytes: expect.any(Number),
    version: expect.any(Number),
    filename: expect.stringMatching(/^runnel-\d{4}-\d\d-\d\dT\d{6}\.db$/),
  });
  const answer = await backups.download(made.id, testActor);
  expect(answer.headers.get("content-disposition")).toBe(`attachment; filename="${made.filename}"`);
  const bytes = await answer.bytes();
  expect([bytes.length, new TextDecoder().decode(bytes.subarray(0, 15))]).toEqual([made.bytes, "SQLite format 3"]);
  const log = db.sqlite.query("SELECT action, target_id FROM audit_log").all();
  expect(log).toEqual([
    { action: "backup.created", target_id: made.id },
    { action: "backup.downloaded", target_id: made.id },
  ]);
});

test("only the newest lies on the disk, none of an earlier process does, and none once the server stops", async () => {
  mkdirSync(lying());
  writeFileSync(join(lying(), "left"), "x");
  const backups = open();
  expect(existsSync(lying())).toBe(false);
  const first = await backups.create(testActor);
  const [second, same] = await Promise.all([backups.create(testActor), backups.create(testActor)]);
  expect(same.id).toBe(second.id);
  expect(readdirSync(lying())).toEqual([second.id]);
  await expect(backups.download(first.id, testActor)).rejects.toThrow("nothing with this id");
  backups.stop();
  expect(existsSync(lying())).toBe(false);
});

test("none is made on a full disk, and a failed one can be tried again", async () => {
  const full = open({
    requireRoom() {
      throw new AppError("storage_full", "Full.");
    },
  });
  await expect(full.create(testActor)).rejects.toThrow("Full.");
  let fails = true;
  const backups = open({
    make: async (file) => {
      if (fails) throw new Error("It broke.");
      return backUp(join(folder.path, "runnel.db"), file);
    },
  });
  await expect(backups.create(testActor)).rejects.toThrow("It broke.");
  fails = false;
  expect((await backups.create(testActor)).bytes).toBeGreaterThan(0);
});
