import { expect, test } from "bun:test";
import { openDataDir } from "../db/data-dir.ts";
import { openDatabase } from "../db/open.ts";
import { createLog } from "../lib/log.ts";
import { temporaryFolder } from "../testing/temporary.ts";
import { backUpRegularly, ofFurtherCell, planBackups } from "./scheduled-backup.ts";

const access = { AWS_ACCESS_KEY_ID: "id", AWS_SECRET_ACCESS_KEY: "secret" };

test("a plan is made of a target with its keys, and no target is none", () => {
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
  expect(ofFurtherCell(plan, "east")).toEqual({ ...plan, to: expected });
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

test("a backup that fails is counted and said, and a stop ends the one that is under way", async () => {
  using folder = temporaryFolder();
  const dir = openDataDir(folder.path, { lock: false });
  openDatabase(dir.database).close();
  const { promise: said, resolve } = Promise.withResolvers<string>();
  const log = createLog({ format: "json", write: resolve });
  const main = new URL("../main.ts", import.meta.url).pathname;
  const command = [process.execPath, main, "backup", "--to", "s3://bucket/acme", "--data-dir", folder.path, "--json"];
  const plan = { to: "s3://bucket/acme", every_s: 3600, keep: undefined };
  const backups = backUpRegularly(plan, { dataDir: folder.path, log }, { first_ms: 0, command });
  expect(JSON.parse(await said)).toMatchObject({ level: "error", to: "s3://bucket/acme" });
  expect(backups.state()).toEqual({ last_success_ms: null, failures: 1 });
  await backups.stop();

  const slow = backUpRegularly(plan, { dataDir: folder.path, log }, { first_ms: 0, command: ["sleep", "60"] });
  await Bun.sleep(0);
  await slow.stop();
  expect(slow.state().failures).toBe(0);
});
