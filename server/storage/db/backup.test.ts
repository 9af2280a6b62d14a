import { Database } from "bun:sqlite";
import { describe, expect, test } from "bun:test";
import {
  chmodSync,
  chownSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { temporaryFolder } from "../../testing/temporary.ts";
import { backUp } from "./backup.ts";
import { faultsOf } from "./check.ts";
import { checkpointTruncate } from "./checkpoint.ts";
import { DataDirInUse, openDataDir } from "./data-dir.ts";
import { masterKeyId, setMasterKeyId } from "./master-key-fingerprint.ts";
import { openDatabase } from "./open.ts";
import { restore } from "./restore.ts";

function disk() {
  const folder = temporaryFolder();
  const path = folder.file("runnel.db");
  const db = openDatabase(path);
  return {
    ...folder,
    database: path,
    db,
    /** Commits one fact, and returns the number of facts. */
    add: (name: string) =>
      db.write(() => void db.sqlite.query("INSERT INTO facts (name, value) VALUES (?, '')").run(name)),
    [Symbol.dispose]() {
      db.close();
      folder[Symbol.dispose]();
    },
  };
}

function factsIn(path: string): string[] {
  const sqlite = new Database(path, { readonly: true });
  try {
    expect(faultsOf(sqlite, "full")).toEqual([]);
    return sqlite
      .query<{ name: string }, []>("SELECT name FROM facts ORDER BY name")
      .all()
      .map(({ name }) => name);
  } finally {
    sqlite.close();
  }
}

describe("a backup", () => {
  test("holds all that was committed before it, from an open database, and is readable by its owner alone", async () => {
    using at = disk();
    await at.add("one");
    const made = backUp(at.database, at.file("copy.db"));
    await at.add("two");
    expect(factsIn(made.path)).toEqual(["one"]);
    expect(statSync(made.path).mode & 0o777).toBe(0o600);
    expect(made.bytes).toBe(statSync(made.path).size);
  });

  test("blocks no writer: one with no busy timeout is never refused meanwhile", async () => {
    using at = disk();
    await at.db.write(() => {
      const insert = at.db.sqlite.query("INSERT INTO facts (name, value) VALUES (?, ?)");
      for (let n = 0; n < 20_000; n++) insert.run(`old ${n}`, "x".repeat(1000));
    });
    at.db.sqlite.run("PRAGMA busy_timeout = 0");
    const program = `const { backUp } = await import(${JSON.stringify(join(import.meta.dir, "backup.ts"))});
      backUp(${JSON.stringify(at.database)}, ${JSON.stringify(at.file("copy.db"))});`;
    let [written, copied]: [number, string[]] = [0, []];
    // The machine may have run only one of the two at a time, so that nothing was written meanwhile: try again.
    while (written === copied.length) {
      const child = Bun.spawn([process.execPath, "-e", program], { stderr: "inherit" });
      while (child.exitCode === null) {
        await at.add(`new ${written++}`);
        await Bun.sleep(0); // Lets the exit of the other process be noticed.
      }
      expect(child.exitCode).toBe(0);
      copied = factsIn(at.file("copy.db")).filter((name) => name.startsWith("new"));
      rmSync(at.file("copy.db"));
    }
    expect(copied.sort()).toEqual(Array.from(copied, (_, n) => `new ${n}`).sort());
  });

  test("that is killed before it is complete leaves no file of its name, and its leftovers do not block the next backup", () => {
    using at = disk();
    const program = `const { backUp } = await import(${JSON.stringify(join(import.meta.dir, "backup.ts"))});
      backUp(${JSON.stringify(at.database)}, ${JSON.stringify(at.file("copy.db"))});`;
    const ended = Bun.spawnSync([process.execPath, "-e", program], {
      env: { ...process.env, RUNNEL_FAILPOINT: "mid_backup" },
    });
    expect(ended.signalCode).toBe("SIGKILL");
    expect(existsSync(at.file("copy.db"))).toBe(false);
    expect(factsIn(backUp(at.database, at.file("copy.db")).path)).toEqual([]);
    expect(readdirSync(at.path).filter((name) => name.includes("partial"))).toEqual([]);
  });

  test("replaces an earlier one only with force", async () => {
    using at = disk();
    backUp(at.database, at.file("copy.db"));
    await at.add("one");
    expect(() => backUp(at.database, at.file("copy.db"))).toThrow("--force");
    expect(factsIn(at.file("copy.db"))).toEqual([]);
    backUp(at.database, at.file("copy.db"), { force: true });
    expect(factsIn(at.file("copy.db"))).toEqual(["one"]);
  });

  test("never replaces the database, its key, or any other file that is not a backup", () => {
    using at = disk();
    writeFileSync(at.file("master.key"), "secret");
    writeFileSync(at.file("lock.db"), "");
    mkdirSync(at.file("folder"));
    for (const name of ["runnel.db", "master.key", "lock.db", "folder"])
      expect(() => backUp(at.database, at.file(name), { force: true })).toThrow("is not replaced");
    expect(readFileSync(at.file("master.key"), "utf8")).toBe("secret");
    expect(() => backUp(at.database, at.file("none/copy.db"))).toThrow("There is no folder");
  });

  test("never replaces a database that is or was served, nor one of another program", () => {
    using at = disk();
    using live = temporaryFolder();
    const served = live.file("runnel.db");
    const db = openDatabase(served);
    db.sqlite.run("INSERT INTO facts (name, value) VALUES ('mine', '')");
    const refused = (path: string) =>
      expect(() => backUp(at.database, path, { force: true })).toThrow(/is no backup and is not replaced/);
    refused(served); // With its WAL.
    db.close();
    expect(existsSync(`${served}-wal`)).toBe(false);
    refused(served); // The database was served, and will be again.
    expect(factsIn(served)).toEqual(["mine"]);

    using restored = temporaryFolder(); // The database was not started yet.
    openDataDir(restored.path, { lock: true }).release();
    backUp(at.database, at.file("copy.db"));
    restore(at.file("copy.db"), restored.file("runnel.db"), { masterKey: null });
    refused(restored.file("runnel.db"));

    change(at.file("notes.db"), "CREATE TABLE notes (text TEXT)");
    refused(at.file("notes.db"));
    symlinkSync(served, at.file("link.db"));
    refused(at.file("link.db"));
    expect(readdirSync(live.path).filter((name) => name.includes("partial"))).toEqual([]);
  });

  test("leaves other files alone, and those that another process is writing", () => {
    using at = disk();
    const theirs = ["copy.db.partial", `copy.db.${process.ppid}.partial`, "copy.db.x.partial", "xcopy.db.1.partial"];
    for (const name of theirs) writeFileSync(at.file(name), "mine");
    backUp(at.database, at.file("copy.db"));
    for (const name of theirs) expect(readFileSync(at.file(name), "utf8")).toBe("mine");
  });

  test("includes no other key than the one that encrypted the secrets in it", () => {
    using at = disk();
    const [key, stale] = [crypto.getRandomValues(new Uint8Array(32)), new Uint8Array(32)];
    const attempt = (masterKey: Uint8Array) => () => backUp(at.database, at.file("copy.db"), { masterKey });
    expect(attempt(key)).toThrow("It is not recorded yet");
    setMasterKeyId(at.db.sqlite, key);
    expect(attempt(stale)).toThrow(`is not the one of the database, which is ${masterKeyId(key)}`);
    expect(existsSync(at.file("copy.db"))).toBe(false);
    expect(attempt(key)).not.toThrow();
  });

  test("of a damaged database is refused, and leaves no file", () => {
    using folder = temporaryFolder();
    const path = damagedDatabase(folder.path);
    expect(() => backUp(path, folder.file("copy.db"))).toThrow(path);
    expect(readdirSync(folder.path).filter((name) => name.startsWith("copy"))).toEqual([]);
  });
});

/** Makes a database with garbage in its middle pages, as a failing disk does. */
function damagedDatabase(folder: string): string {
  const path = join(folder, "runnel.db");
  const db = openDatabase(path);
  const insert = db.sqlite.query("INSERT INTO facts (name, value) VALUES (?, ?)");
  db.sqlite.transaction(() => {
    for (let n = 0; n < 2000; n++) insert.run(`fact ${n}`, "x".repeat(500));
  })();
  db.close();
  const bytes = readFileSync(path);
  writeFileSync(path, bytes.fill(0xa5, Math.floor(bytes.length / 2), Math.floor(bytes.length / 2) + 64 * 1024));
  return path;
}

describe("a restore", () => {
  const none = { masterKey: null };

  test("replaces the database with the backup, and keeps the old one with all that was in its WAL", async () => {
    using at = disk();
    await at.add("old");
    backUp(at.database, at.file("copy.db"));
    await at.add("new");
    using other = temporaryFolder();
    await copyWithLog(at.database, other.file("runnel.db"));

    expect(() => restore(at.file("copy.db"), other.file("runnel.db"), none)).toThrow("--force");
    expect(factsIn(other.file("runnel.db"))).toEqual(["new", "old"]);
    const { replaced, master_key } = restore(at.file("copy.db"), other.file("runnel.db"), { ...none, force: true });
    expect(factsIn(other.file("runnel.db"))).toEqual(["old"]);
    expect(factsIn(replaced!)).toEqual(["new", "old"]);
    expect(master_key).toBe("unknown");
    expect(statSync(other.file("runnel.db")).mode & 0o777).toBe(0o600);
    openDatabase(other.file("runnel.db")).close();
  });

  test("works without a database too, and leaves no other database's WAL beside the new one", async () => {
    using at = disk();
    backUp(at.database, at.file("copy.db"));
    await at.add("in a log without its database");
    using other = temporaryFolder();
    await Bun.write(other.file("runnel.db-wal"), Bun.file(`${at.database}-wal`));
    expect(() => openDatabase(other.file("runnel.db"))).toThrow("is missing");
    restore(at.file("copy.db"), other.file("runnel.db"), none);
    expect(existsSync(other.file("runnel.db-wal"))).toBe(false);
    expect(factsIn(other.file("runnel.db"))).toEqual([]);
  });

  test("that is killed at any instant leaves the old database or the new one, whole", async () => {
    using at = disk();
    await at.db.write(() => {
      const insert = at.db.sqlite.query("INSERT INTO facts (name, value) VALUES (?, ?)");
      for (let n = 0; n < 2000; n++) insert.run(`old ${n}`, "x".repeat(2000));
    });
    checkpointTruncate(at.db.sqlite);
    const old = readFileSync(at.database);
    await at.db.write(() => at.db.sqlite.run("UPDATE facts SET name = 'new ' || name"));
    backUp(at.database, at.file("new.db"));
    for (let kill = 0; kill < 10; kill++) {
      using life = temporaryFolder();
      writeFileSync(life.file("runnel.db"), old);
      const child = restoring(at.file("new.db"), life.file("runnel.db"));
      await child.stdout.getReader().read();
      await Bun.sleep(Math.random() * 100); // The random instant is the test.
      child.kill("SIGKILL");
      await child.exited;
      const { database } = openDataDir(life.path, { lock: false });
      // Open it as the next start does: a read-only connection may not roll back the interrupted transaction.
      openDatabase(database).close();
      const found = factsIn(database).filter((name) => / \d+$/.test(name));
      expect([found.length, new Set(found.map((name) => name.split(" ")[0])).size]).toEqual([2000, 1]);
    }
  });

  test("accepts a database that was copied by hand with its WAL", async () => {
    using at = disk();
    await at.add("in the log");
    await copyWithLog(at.database, at.file("by-hand.db"));
    using other = temporaryFolder();
    restore(at.file("by-hand.db"), other.file("runnel.db"), none);
    expect(factsIn(other.file("runnel.db"))).toEqual(["in the log"]);
  });

  const refusals: [name: string, make: (path: string) => void, says: string][] = [
    ["nothing", () => {}, "There is no backup"],
    ["an empty file", (path) => writeFileSync(path, ""), "is empty"],
    ["a text", (path) => writeFileSync(path, "Dear diary, ".repeat(500)), "is not a database"],
    ["a folder", (path) => mkdirSync(path), "is not a file"],
    ["a database of another program", (path) => change(path, "CREATE TABLE notes (text TEXT)"), "another program"],
    ["a database of a newer runnel", (path) => newer(path), "has version 999"],
    ["a cut one", (path) => cut(path), "is damaged"],
  ];

  test.each(refusals)("refuses %s by its name and changes nothing", async (_, make, says) => {
    using at = disk();
    await at.add("mine");
    const path = at.file("backup");
    make(path);
    const before = readdirSync(at.path).sort();
    const attempt = () => restore(path, at.database, { ...none, force: true });
    expect(attempt).toThrow(says);
    if (!says.includes("version")) expect(attempt).toThrow(path);
    expect(readdirSync(at.path).sort()).toEqual(before);
    expect(factsIn(at.database)).toEqual(["mine"]);
  });

  test("names the missing master key, and restores the one in the backup", () => {
    using at = disk();
    const key = crypto.getRandomValues(new Uint8Array(32));
    setMasterKeyId(at.db.sqlite, key);
    backUp(at.database, at.file("without.db"));
    backUp(at.database, at.file("with.db"), { masterKey: key });
    using other = temporaryFolder();
    const path = other.file("runnel.db");

    const missing = restore(at.file("without.db"), path, none);
    expect(missing).toMatchObject({ master_key: "missing", master_key_id: masterKeyId(key) });
    expect(restore(at.file("without.db"), path, { force: true, masterKey: key }).master_key).toBe("here");
    const restored = restore(at.file("with.db"), path, { ...none, force: true });
    expect(restored.master_key).toBe("restored");
    expect(readFileSync(other.file("master.key"), "utf8").trim()).toBe(key.toHex());
    // The key is neither in the database nor in its free pages.
    expect(readFileSync(path).includes(key.toHex())).toBe(false);
    expect(readFileSync(at.file("with.db")).includes(key.toHex())).toBe(true);
  });

  // Only root may give a file to another user.
  test.skipIf(process.getuid?.() !== 0)("by root leaves every file to the owner of the data directory", () => {
    using at = disk();
    const key = new Uint8Array(32).fill(7);
    setMasterKeyId(at.db.sqlite, key);
    const { path } = backUp(at.database, at.file("copy.db"), { masterKey: key });
    const folder = at.file("other");
    mkdirSync(folder, { mode: 0o700 });
    chownSync(folder, 65534, 65534);
    const dir = openDataDir(folder, { lock: true });
    expect(restore(path, dir.database, { masterKey: null }).master_key).toBe("restored");
    dir.release();
    const files = readdirSync(folder).map((name) => [name, statSync(join(folder, name)).uid]);
    expect(files.toSorted()).toEqual([
      ["lock.db", 65534],
      ["master.key", 65534],
      ["runnel.db", 65534],
    ]);
  });

  test("trusts the key id in the database, and no other key in the backup", () => {
    using at = disk();
    const [key, stale] = [crypto.getRandomValues(new Uint8Array(32)), new Uint8Array(32)];
    setMasterKeyId(at.db.sqlite, key);
    backUp(at.database, at.file("copy.db"));
    change(at.file("copy.db"), `INSERT INTO facts (name, value) VALUES ('master_key', '${stale.toHex()}')`);
    using other = temporaryFolder();
    const bring = (masterKey: Uint8Array | null) =>
      restore(at.file("copy.db"), other.file("runnel.db"), { force: true, masterKey });
    expect(bring(key)).toMatchObject({ master_key: "here", master_key_id: masterKeyId(key) });
    expect(bring(null)).toMatchObject({ master_key: "missing", master_key_id: masterKeyId(key) });
    expect(bring(stale)).toMatchObject({ master_key: "missing", replaced_key: null });
    expect(existsSync(other.file("master.key"))).toBe(false);
    expect(readFileSync(other.file("runnel.db")).includes(stale.toHex())).toBe(false);
  });

  test("is refused while another process has the database open: its writes would be lost", async () => {
    using at = disk();
    await at.add("mine");
    backUp(at.database, at.file("copy.db"));
    await at.add("later");
    const attempt = () => restore(at.file("copy.db"), at.database, { force: true, masterKey: null });
    expect(attempt).toThrow(DataDirInUse);
    await at.add("and still");
    expect(factsIn(at.database)).toEqual(["and still", "later", "mine"]);
    expect(readdirSync(at.path).filter((name) => /restor|replaced/.test(name))).toEqual([]);
  });
});

/** Starts a real process that restores, and that reports when it begins. */
function restoring(file: string, database: string) {
  const program = `
    const { restore } = await import(${JSON.stringify(join(import.meta.dir, "restore.ts"))});
    console.log("ready");
    restore(${JSON.stringify(file)}, ${JSON.stringify(database)}, { force: true, masterKey: null });`;
  return Bun.spawn([process.execPath, "-e", program], { stdout: "pipe", stderr: "inherit" });
}

async function copyWithLog(from: string, to: string): Promise<void> {
  for (const part of ["", "-wal"]) await Bun.write(to + part, Bun.file(from + part));
  expect(statSync(`${to}-wal`).size).toBeGreaterThan(0);
  for (const part of ["", "-wal"]) chmodSync(to + part, 0o600);
}

function change(path: string, sql: string): void {
  const sqlite = new Database(path, { create: true });
  sqlite.run(sql);
  sqlite.close();
}

function newer(path: string): void {
  openDatabase(path).close();
  change(path, "PRAGMA user_version = 999");
}

function cut(path: string): void {
  openDatabase(path).close();
  const bytes = readFileSync(path);
  writeFileSync(path, bytes.subarray(0, Math.floor(bytes.length / 2)));
}
