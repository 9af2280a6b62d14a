import { Database } from "bun:sqlite";
import { expect, test } from "bun:test";
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { temporaryFolder } from "../../testing/temporary.ts";
import { backUp } from "./backup.ts";
import { faultsOf } from "./check.ts";
import { openDataDir } from "./data-dir.ts";
import { setMasterKeyId } from "./master-key-fingerprint.ts";
import { openDatabase } from "./open.ts";
import { restore } from "./restore.ts";
import { vectorCacheFolder } from "./vector-cache.ts";

const keyOf = (byte: number): string => new Uint8Array(32).fill(byte).toHex();
const [oldKey, newKey] = [keyOf(1), keyOf(2)];

/** Makes a data directory with a key and a database that is partly in its WAL, and a backup with another key. */
function stage({ broken = false } = {}) {
  const folder = temporaryFolder();
  const [backup, data] = ["backup.db", "data"].map(folder.file) as [string, string];
  makeBackup(folder.file("source.db"), backup);
  mkdirSync(data, { mode: 0o700 });
  const file = (name: string) => join(data, name);
  makeOld(folder.file("old.db"), file("runnel.db"));
  writeFileSync(file("master.key"), `${oldKey}\n`);
  if (broken) writeFileSync(file("runnel.db"), readFileSync(file("runnel.db")).fill(0xa5, 0, 100));
  const before = ["runnel.db", "runnel.db-wal"].map((name) => readFileSync(file(name)));

  return {
    file,
    before,
    /** Restores in a process of its own, which may die there; returns true if it did. */
    restoreIt: (failpoint: string): boolean =>
      dies(
        failpoint,
        "restore.ts",
        `restore(${JSON.stringify(backup)}, ${JSON.stringify(file("runnel.db"))},
        { force: true, masterKey: null })`,
      ),
    openIt: (failpoint = ""): boolean =>
      dies(failpoint, "data-dir.ts", `openDataDir(${JSON.stringify(data)}, { lock: false })`),
    restore: () => restore(backup, file("runnel.db"), { force: true, masterKey: null }),
    open: () => openDataDir(data, { lock: true }).release(),
    names: () =>
      readdirSync(data)
        .filter((name) => name !== "lock.db")
        .sort(),
    key: () => readFileSync(file("master.key"), "utf8").trim(),
    [Symbol.dispose]: folder[Symbol.dispose],
  };
}

function makeBackup(source: string, backup: string): void {
  const db = openDatabase(source);
  db.sqlite.run("INSERT INTO facts (name, value) VALUES ('new', '')");
  setMasterKeyId(db.sqlite, Uint8Array.fromHex(newKey));
  backUp(source, backup, { masterKey: Uint8Array.fromHex(newKey) });
  db.close();
}

function makeOld(source: string, path: string): void {
  openDatabase(source).close();
  const db = openDatabase(source);
  db.sqlite.run("INSERT INTO facts (name, value) VALUES ('old', '')");
  for (const part of ["", "-wal"]) writeFileSync(path + part, readFileSync(source + part), { mode: 0o600 });
  db.close();
}

function dies(failpoint: string, file: string, call: string): boolean {
  const name = call.slice(0, call.indexOf("("));
  const program = `const { ${name} } = await import(${JSON.stringify(join(import.meta.dir, file))}); ${call};`;
  const env = { ...process.env, RUNNEL_FAILPOINT: failpoint };
  const { signalCode, exitCode } = Bun.spawnSync([process.execPath, "-e", program], { env, stderr: "inherit" });
  expect(signalCode ?? exitCode).toBe(signalCode ? "SIGKILL" : 0);
  return signalCode !== undefined;
}

function factsIn(path: string): string[] {
  using sqlite = new Database(path, { readonly: true });
  expect(faultsOf(sqlite, "full")).toEqual([]);
  const facts = sqlite.query<{ name: string }, []>("SELECT name FROM facts WHERE name IN ('old', 'new')").all();
  return facts.map(({ name }) => name);
}

const find = (names: string[], what: RegExp): string[] => names.filter((name) => what.test(name));

test.each([false, true])(
  "a restore that dies at any of its steps leaves the old database with its WAL and key, or the new one with its own (old one broken: %s)",
  (broken) => {
    const seen = new Set<string>();
    for (let point = 1, died = true; died; point++) {
      using at = stage({ broken });
      died = at.restoreIt(`mid_restore:${point}`);
      at.open();
      const isNew = at.key() === newKey;
      seen.add(isNew ? "new" : "old");
      const [database, log] = isNew ? find(at.names(), /^runnel\.db\.replaced/) : ["runnel.db", "runnel.db-wal"];
      if (isNew) expect(factsIn(at.file("runnel.db"))).toEqual(["new"]);
      if (broken) expect([database, log].map((name) => readFileSync(at.file(name!)))).toEqual(at.before);
      else expect(factsIn(at.file(database!))).toEqual(["old"]);
      const kept = find(at.names(), /^master\.key\.replaced/);
      expect(kept.map((name) => readFileSync(at.file(name), "utf8").trim())).toEqual(isNew ? [oldKey] : []);
      // Each of these files is as large as a database, or a key.
      expect(find(at.names(), /\.(restored|restoring|fetched)\b/)).toEqual([]);
      if (!died) expect(point).toBeGreaterThan(8);
    }
    expect(seen).toEqual(new Set(["old", "new"]));
  },
);

test("a restore is completed by the next process that opens the data directory, however often that dies, and reports the files that it keeps", () => {
  using at = stage({ broken: true });
  const decided = 5;
  expect(at.restoreIt(`mid_restore:${decided}`)).toBe(true);
  expect(find(at.names(), /restored$/)).toHaveLength(2);
  let point = 1;
  while (at.openIt(`mid_restore:${point}`)) point++;
  expect(point).toBeGreaterThan(3);
  expect(at.key()).toBe(newKey);
  expect(factsIn(at.file("runnel.db"))).toEqual(["new"]);
  const stamp = String.raw`replaced-[\dTZ-]+`;
  expect(at.names()).toEqual([
    "master.key",
    expect.stringMatching(new RegExp(`^master\\.key\\.${stamp}$`)),
    "runnel.db",
    expect.stringMatching(new RegExp(`^runnel\\.db\\.${stamp}$`)),
    expect.stringMatching(new RegExp(`^runnel\\.db\\.${stamp}-wal$`)),
  ]);
});

// The cached vectors lack entries that were deleted since the backup and are restored now.
test("cached vectors of the old database are not used for the restored one", () => {
  using at = stage();
  const kept = join(vectorCacheFolder(at.file("runnel.db")), "1.int8");
  mkdirSync(dirname(kept));
  writeFileSync(kept, "");
  at.restore();
  expect(existsSync(kept)).toBe(false);
});

test("a restore returns the names of the old files that it keeps", () => {
  using at = stage({ broken: true });
  const { replaced, replaced_log, replaced_key } = at.restore();
  expect([replaced, replaced_log].map((path) => readFileSync(path!))).toEqual(at.before);
  expect(readFileSync(replaced_key!, "utf8").trim()).toBe(oldKey);
});

test("a restore whose key cannot be written changes nothing", () => {
  using at = stage();
  mkdirSync(at.file("master.key.restored"));
  expect(at.restore).toThrow();
  expect([at.key(), factsIn(at.file("runnel.db"))]).toEqual([oldKey, ["old"]]);
  expect(at.names().filter((name) => name.includes("replaced"))).toEqual([]);
});

test("no process opens the data directory during a restore", () => {
  using at = stage();
  expect(at.restoreIt("mid_restore:5")).toBe(true);
  using lock = new Database(at.file("lock.db"), { create: true });
  lock.run("BEGIN EXCLUSIVE"); // As the restoring process holds it.
  expect(at.open).toThrow("is in use");
  lock.run("ROLLBACK");
  at.open();
  expect(existsSync(at.file("runnel.db.restored"))).toBe(false);
});
