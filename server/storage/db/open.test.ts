import { Database } from "bun:sqlite";
import { describe, expect, test } from "bun:test";
import { chmodSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { durablePragmas, pragmasOf } from "../../testing/pragmas.ts";
import { temporaryFolder } from "../../testing/temporary.ts";
import { checkpointTruncate } from "./checkpoint.ts";
import { DatabaseUnusable } from "./corruption.ts";
import { makeDatabase, openDatabase } from "./open.ts";
import { databaseVersion } from "./version.ts";

const spoiled: [what: string, make: (path: string) => void, says: string][] = [
  ["an empty file", (path) => writeFileSync(path, ""), "is empty"],
  ["a text", (path) => writeFileSync(path, "Dear diary, ".repeat(500)), "is not a database"],
  ["a folder", (path) => mkdirSync(path), "is not a file"],
  ["another program's database", makeForeign, "is a database of another program"],
  ["a database whose schema is damaged", (path) => scribble(path, 100, 4096), "is damaged"],
];

describe("a database file", () => {
  test.each(spoiled)("that is %s is refused in one line with the remedy, and stays unchanged", (_, make, says) => {
    using folder = temporaryFolder();
    const path = folder.file("runnel.db");
    make(path);
    const before = fingerprint(folder.path);
    const error = caught(() => openDatabase(path));
    expect(error).toBeInstanceOf(DatabaseUnusable);
    expect(error.message).toStartWith(`${path} ${says}`);
    expect(error.message).toContain(`runnel restore FILE --force --data-dir ${folder.path}`);
    expect(error.message).not.toContain("\n");
    expect(fingerprint(folder.path)).toEqual(before);
  });

  test("that this user may not read is named in the error", () => {
    using folder = temporaryFolder();
    const path = folder.file("runnel.db");
    openDatabase(path).close();
    chmodSync(path, 0);
    chmodSync(folder.path, 0o755);
    expect(openAsNobody(path)).toContain(`${path} cannot be read by this user`);
  });

  test("that is missing while its WAL exists is not created: that would hide the loss", () => {
    using folder = temporaryFolder();
    const path = folder.file("runnel.db");
    const db = openDatabase(path);
    db.sqlite.run("INSERT INTO facts (name, value) VALUES ('one', '')");
    rmSync(path);
    expect(() => openDatabase(path)).toThrow("is missing, but its log");
    expect(readdirSync(folder.path)).not.toContain("runnel.db");
    db.sqlite.close();
  });

  test("that is new is in WAL mode already, without other files: switching later would cost a start three syncs", () => {
    using folder = temporaryFolder();
    const path = folder.file("new.db");
    makeDatabase(path);
    const [write_version, read_version] = readFileSync(path).subarray(18);
    expect([write_version, read_version]).toEqual([2, 2]); // 2 means WAL in SQLite's file format.
    expect(readdirSync(folder.path)).toEqual(["new.db"]);
  });

  test.each(["mid_migration", "mid_creation"])(
    "is never half made: after a kill at %s, during its creation, there is none, and the next start makes it",
    (point) => {
      using folder = temporaryFolder();
      const path = folder.file("runnel.db");
      const program = `(await import(${JSON.stringify(join(import.meta.dir, "open.ts"))})).openDatabase(${JSON.stringify(path)})`;
      const env = { ...process.env, RUNNEL_FAILPOINT: point };
      expect(Bun.spawnSync([process.execPath, "-e", program], { env }).signalCode).toBe("SIGKILL");
      expect(readdirSync(folder.path)).not.toContain("runnel.db");
      openDatabase(path).close();
      expect(readdirSync(folder.path)).toEqual(["runnel.db"]);
    },
  );
});

test("a new database is the same whether it is migrated here or copied from the cached one", async () => {
  using folder = temporaryFolder();
  const [made, copied] = [folder.file("made.db"), folder.file("copied.db")];
  makeDatabase(copied);
  const contents = [made, copied].map((path) => {
    const db = openDatabase(path);
    const schema = db.sqlite.query("SELECT type, name, sql FROM sqlite_schema ORDER BY name").all();
    const pragmas = pragmasOf(db.sqlite);
    db.close();
    return { schema, pragmas, version: databaseVersion(path) };
  });
  expect(contents[0]).toEqual(contents[1]!);
});

describe("the connection that writes", () => {
  test("commits durably and trusts no content of the file: new, opened again, and after it was manipulated", async () => {
    using folder = temporaryFolder();
    for (const _ of ["new", "again"]) {
      const db = openDatabase(folder.file("runnel.db"));
      expect(pragmasOf(db.sqlite)).toEqual(durablePragmas);
      await db.write(() => db.sqlite.run("INSERT OR REPLACE INTO facts (name, value) VALUES ('one', '')"));
      checkpointTruncate(db.sqlite);
      expect(pragmasOf(db.sqlite)).toEqual(durablePragmas);
      db.close();
    }
  });

  test("has these pragmas also on a database from a backup, whose file says otherwise", () => {
    using folder = temporaryFolder();
    const path = folder.file("runnel.db");
    openDatabase(path).close();
    const sqlite = new Database(path);
    sqlite.run("PRAGMA journal_mode = DELETE");
    sqlite.close();
    const db = openDatabase(path);
    expect(pragmasOf(db.sqlite)).toEqual(durablePragmas);
    db.close();
  });
});

/** Reads in a process without root's rights, which may read everything. */
function openAsNobody(path: string): string {
  const program = `
    const { openDatabase } = await import(${JSON.stringify(join(import.meta.dir, "open.ts"))});
    if (process.getuid() === 0) process.setuid(65534);
    try { openDatabase(${JSON.stringify(path)}) } catch (error) { console.log(error.message) }`;
  return Bun.spawnSync([process.execPath, "-e", program], { stderr: "inherit" }).stdout.toString();
}

function makeForeign(path: string): void {
  const sqlite = new Database(path);
  sqlite.run("CREATE TABLE notes (text TEXT)");
  sqlite.run("PRAGMA user_version = 1");
  sqlite.close();
}

function scribble(path: string, from: number, to: number): void {
  openDatabase(path).close();
  writeFileSync(path, readFileSync(path).fill(0xa5, from, to));
}

const fingerprint = (folder: string) =>
  readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && !/-(wal|shm)$/.test(entry.name))
    .map(({ parentPath, name }) => [name, Bun.hash(readFileSync(join(parentPath, name)))]);

function caught(work: () => unknown): Error {
  try {
    work();
  } catch (error) {
    return error as Error;
  }
  throw new Error("It went well.");
}
