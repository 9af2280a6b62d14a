import { expect, test } from "bun:test";
import { createLog } from "../../lib/log.ts";
import { openDataDir } from "../../storage/db/data-dir.ts";
import { openDatabase } from "../../storage/db/open.ts";
import { temporaryFolder } from "../../testing/temporary.ts";
import { backUpRegularly, backupPlanOfCell, planBackups } from "./scheduled-backup.ts";

const access = { AWS_ACCESS_KEY_ID: "id", AWS_SECRET_ACCESS_KEY: "secret" };

test("a plan needs a target with its keys; without a target there is none", () => {
  const plan = planBackups({ backupTo: "s3://bucket/acme", backupEvery: "12h", backupKeep: "7" }, access);
  expect(plan).toEqual({ to: "s3://bucket/acme", every_s: 43_200, keep: 7 });
  expect(planBackups({ backupEvery: "24h" }, access)).toBeNull();
});

test.each([
  ["s3://bucket/acme", "s3://bucket/acme/east"],
  ["s3://bucket/acme/", "s3://bucket/acme/east"],
  ["s3://bucket", "s3://bucket/east"],
])("a further cell of a cluster has a folder of its own in %s", (to, expected) => {
  const plan = { to, every_s: 3600, keep: 7 };
  expect(backupPlanOfCell(plan, "east")).toEqual({ ...plan, to: expected });
});

test.each([
  [{ backupTo: "/backups", backupEvery: "24h" }, access, "s3://bucket/folder"],
  [{ backupTo: "s3://bucket/acme", backupEvery: "24h" }, {}, "AWS_ACCESS_KEY_ID"],
  [{ backupTo: "s3://bucket/acme", backupEvery: "5s" }, access, "--backup-every"],
  [{ backupTo: "s3://bucket/acme", backupEvery: "24h", backupKeep: "0" }, access, "--backup-keep"],
  [{ backupEvery: "24h", backupKeep: "7" }, access, "--backup-to"],
])("%j is refused before the server starts", (flags, environment, said) => {
  expect(() => planBackups(flags, environment)).toThrow(said);
});

test("a failed backup is counted and logged, and a stop ends a running one", async () => {
  using folder = temporaryFolder();
  const dir = openDataDir(folder.path, { lock: false });
  const db = openDatabase(dir.database);
  const { promise: said, resolve } = Promise.withResolvers<string>();
  const log = createLog({ format: "json", write: resolve });
  const main = new URL("../../main.ts", import.meta.url).pathname;
  const command = [process.execPath, main, "backup", "--to", "s3://bucket/acme", "--data-dir", folder.path, "--json"];
  const plan = { to: "s3://bucket/acme", every_s: 3600, keep: undefined };
  const given = { dataDir: folder.path, db, log };
  const backups = backUpRegularly(plan, given, { first_ms: 0, command });
  expect(JSON.parse(await said)).toMatchObject({ level: "error", to: "s3://bucket/acme" });
  expect(backups.state()).toEqual({ last_success_ms: null, failures: 1 });
  await backups.stop();

  const slow = backUpRegularly(plan, given, { first_ms: 0, command: ["sleep", "60"] });
  await Bun.sleep(0);
  await slow.stop();
  expect(slow.state().failures).toBe(0);
  db.close();
});

// Otherwise each start would close the alert about failing backups.
test("the next start knows the time of the newest backup, or since when there is none", async () => {
  const db = openDatabase(":memory:");
  const plan = { to: "s3://bucket/acme", every_s: 3600, keep: undefined };
  const start = async (now: number, made_at?: number) => {
    const { promise: said, resolve } = Promise.withResolvers<string>();
    const log = createLog({ format: "json", write: resolve });
    const told = JSON.stringify({ stored: made_at === undefined ? null : { made_at, name: "a", bytes: 1 } });
    const command = made_at === undefined ? ["false"] : ["sh", "-c", `echo '${told}'`];
    const backups = backUpRegularly(plan, { dataDir: "", db, log, now: () => now }, { first_ms: 0, command });
    const before = backups.newest_ms();
    await said;
    await backups.stop();
    await db.write(() => {}); // Wait for the pending write.
    return [before, backups.newest_ms(), backups.state().last_success_ms];
  };
  expect(await start(1000)).toEqual([1000, 1000, null]);
  expect(await start(2000)).toEqual([1000, 1000, null]);
  expect(await start(3000, 2999)).toEqual([1000, 2999, 2999]);
  expect(await start(9000)).toEqual([2999, 2999, 2999]);
  db.close();
});
