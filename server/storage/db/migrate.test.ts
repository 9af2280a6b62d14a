import { Database } from "bun:sqlite";
import { expect, test } from "bun:test";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { migrations } from "../../../migrations/index.ts";
import { temporaryFolder } from "../../testing/temporary.ts";
import { faultsOf } from "./check.ts";
import { openDatabase } from "./open.ts";
import { DatabaseTooNew, databaseVersion } from "./version.ts";

const rows = 20_000;

/** Two further migrations, which rewrite every row: the first in place, the second into another table. */
const heavy = [
  "UPDATE facts SET value = value || ' and once more'",
  "CREATE TABLE facts_by_value (value TEXT NOT NULL, name TEXT NOT NULL) STRICT; INSERT INTO facts_by_value (value, name) SELECT value, name FROM facts; CREATE INDEX by_value ON facts_by_value (value)",
];
const copyPath = (path: string) => `${path}.before-${String(migrations.length + 1).padStart(4, "0")}`;

function fill(path: string): void {
  const db = openDatabase(path);
  const insert = db.sqlite.query("INSERT INTO facts (name, value) VALUES (?, 'once')");
  db.sqlite.transaction(() => {
    for (let n = 0; n < rows; n++) insert.run(`fact ${n}`);
  })();
  db.close();
}

/** Starts a real process that migrates the database and reports when it begins. */
function migrating(path: string, more: readonly string[] = heavy) {
  const program = `
    const { readFileSync } = await import("node:fs");
    const peak = () => console.log("peak", /VmHWM:\\s+(\\d+)/.exec(readFileSync("/proc/self/status", "utf8"))[1]);
    const { migrate } = await import(${JSON.stringify(join(import.meta.dir, "migrate.ts"))});
    const { migrations } = await import(${JSON.stringify(join(import.meta.dir, "../../../migrations/index.ts"))});
    const { Database } = await import("bun:sqlite");
    const sqlite = new Database(${JSON.stringify(path)}, { readwrite: true, strict: true });
    for (const pragma of ["journal_mode = WAL", "synchronous = FULL", "foreign_keys = ON"]) sqlite.run("PRAGMA " + pragma);
    console.log("ready");
    peak();
    migrate(sqlite, ${JSON.stringify(path)}, [...migrations, ...${JSON.stringify(more)}.map((sql) => ({ sql }))]);
    peak();
    console.log("done");`;
  return Bun.spawn([process.execPath, "-e", program], { stdout: "pipe", stderr: "inherit" });
}

/** Returns one word per state that the database may be in; any other state is returned as a whole. */
function stateOf(path: string): string {
  const sqlite = new Database(path, { readwrite: true }); // A killed process leaves a WAL, which must be read.
  try {
    expect(faultsOf(sqlite, "full")).toEqual([]);
    const version = databaseVersion(path) - migrations.length;
    const found = sqlite.query("SELECT value, count(*) AS n FROM facts GROUP BY value").all();
    const moved = sqlite.query("SELECT 1 FROM sqlite_schema WHERE name = 'facts_by_value'").get() !== null;
    const value = version === 0 ? "once" : "once and once more";
    expect({ found, moved }).toEqual({ found: [{ value, n: rows }], moved: version === 2 });
    return `version ${version}`;
  } finally {
    sqlite.close();
  }
}

test("20 kills at random instants of a migration leave the old database or the new one, and a complete copy", async () => {
  using folder = temporaryFolder();
  const origin = folder.file("origin.db");
  fill(origin);
  const path = folder.file("runnel.db");
  await Bun.write(path, readFileSync(origin));
  const whole = migrating(path);
  const started = await firstLine(whole);
  await whole.exited;
  const span_ms = performance.now() - started;
  expect(stateOf(path)).toBe("version 2");

  const states = new Map<string, number>();
  for (let kill = 0; kill < 20; kill++) {
    using life = temporaryFolder();
    const path = life.file("runnel.db");
    await Bun.write(path, readFileSync(origin));
    const child = migrating(path);
    await firstLine(child);
    await Bun.sleep(Math.random() * span_ms); // The random instant is the test.
    child.kill("SIGKILL");
    await child.exited;
    const state = stateOf(path);
    states.set(state, (states.get(state) ?? 0) + 1);
    const copy = copyPath(path);
    if (existsSync(copy)) expect(stateOf(copy)).toBe("version 0");
    else expect(state).toBe("version 0");
  }
  expect([...states.values()].reduce((sum, n) => sum + n, 0)).toBe(20);
}, 60_000);

test("a migration that sorts and rewrites many rows keeps few of them in memory", async () => {
  using folder = temporaryFolder();
  const path = folder.file("it's.db");
  const db = openDatabase(path);
  db.sqlite.run(`WITH RECURSIVE numbers (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < 800000)
    INSERT INTO facts (name, value) SELECT 'fact ' || n, hex(randomblob(25)) FROM numbers`);
  db.close();
  const child = migrating(path, [
    "CREATE INDEX by_value ON facts (value, name)",
    "CREATE TABLE others (value TEXT NOT NULL, name TEXT NOT NULL); INSERT INTO others (value, name) SELECT value, name FROM facts ORDER BY value",
  ]);
  const lines = (await new Response(child.stdout).text()).split("\n");
  const peaks = lines.flatMap((line) => (line.startsWith("peak ") ? [Number(line.slice(5))] : []));
  expect(databaseVersion(path)).toBe(migrations.length + 2);
  expect(peaks).toHaveLength(2);
  expect(peaks[1]! - peaks[0]!).toBeLessThan(32 * 1024); // In memory, each of both sorts takes more than 60 MB.
  expect(readdirSync(dirname(path)).filter((name) => name.startsWith("etilqs"))).toEqual([]);
}, 60_000);

test("a copy left by an earlier upgrade is not taken for the one of this upgrade", async () => {
  using folder = temporaryFolder();
  const path = folder.file("runnel.db");
  fill(path);
  await Bun.write(copyPath(path), "from long ago");
  await migrating(path).exited;
  expect(stateOf(path)).toBe("version 2");
  expect(stateOf(copyPath(path))).toBe("version 0");
});

test("a newer database is refused and stays unchanged", () => {
  using folder = temporaryFolder();
  const path = folder.file("runnel.db");
  openDatabase(path).close();
  const sqlite = new Database(path);
  sqlite.run(`PRAGMA user_version = ${migrations.length + 1}`);
  sqlite.close();
  expect(() => openDatabase(path)).toThrow(DatabaseTooNew);
  expect(databaseVersion(path)).toBe(migrations.length + 1);
});

async function firstLine(child: { stdout: ReadableStream<Uint8Array> }): Promise<number> {
  const reader = child.stdout.getReader();
  await reader.read();
  reader.releaseLock();
  return performance.now();
}
