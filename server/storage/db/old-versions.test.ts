import { Database } from "bun:sqlite";
import { expect, test } from "bun:test";
import { migrations } from "../../../migrations/index.ts";
import { vecLibrary } from "../../lib/assets.ts";
import { temporaryFolder } from "../../testing/temporary.ts";
import { backUp } from "./backup.ts";
import { faultsOf } from "./check.ts";
import { openDatabase } from "./open.ts";
import { restore } from "./restore.ts";
import { databaseVersion } from "./version.ts";

// Rows of a server of an earlier version: 0.1.0 began with the first migration.
const rows = `
  INSERT INTO projects (id, name, created_at_ms) VALUES ('proj_1', 'default', 1);
  INSERT INTO agents (project_id, environment, id, name, model, version, definition, metadata, created_at_ms, updated_at_ms)
    VALUES ('proj_1', 'live', 'agt_1', 'weather', 'test/echo', 1, '{"instructions":"Hi"}', '{}', 1, 1);
  INSERT INTO agent_versions (project_id, environment, agent_id, version, definition, metadata, created_at_ms)
    VALUES ('proj_1', 'live', 'agt_1', 1, '{"instructions":"Hi"}', '{}', 1);
  INSERT INTO runs (id, project_id, environment, agent_id, status, seq, attempt, metadata, created_at_ms, status_since_ms, timeout_ms, action_timeout_ms)
    VALUES ('run_1', 'proj_1', 'live', 'agt_1', 'in_progress', 2, 1, '{}', 1, 1, 600000, 600000);
  INSERT INTO run_events (run_id, seq, at_ms, type, data) VALUES ('run_1', 1, 1, 'run.created', '{}'), ('run_1', 2, 2, 'run.started', '{}');
`;

/** Makes a database of this version, as an earlier executable left it. */
function makeOld(path: string, version: number): void {
  using sqlite = new Database(path, { create: true, strict: true });
  sqlite.loadExtension(vecLibrary("/nonexistent"));
  for (const pragma of ["journal_mode = WAL", "foreign_keys = ON"]) sqlite.run(`PRAGMA ${pragma}`);
  migrations.slice(0, version).forEach(({ sql }, index) => {
    sqlite.run(sql);
    if (index === 0) sqlite.run(rows);
  });
  sqlite.run(`PRAGMA user_version = ${version}`);
}

// The first version, those before accounts and before run trees, and the one before this.
const versions = [1, 16, 19, migrations.length - 1];

test.each(versions)("a database of version %d, and a backup of it, migrates with all its data", (version) => {
  const found = (path: string) => {
    const db = openDatabase(path, { vecLibrary: vecLibrary("/nonexistent") });
    try {
      const of = (sql: string) => db.sqlite.query(sql).values();
      return {
        faults: faultsOf(db.sqlite, "full"),
        projects: of("SELECT id, name FROM projects"),
        agents: of("SELECT id, name, version FROM agents"),
        runs: of("SELECT id, status, seq FROM runs"),
        entries: of("SELECT seq, type FROM run_events"),
      };
    } finally {
      db.close();
    }
  };
  using folder = temporaryFolder();
  const [old, copy, elsewhere] = [folder.file("old.db"), folder.file("copy.db"), folder.file("elsewhere.db")];
  makeOld(old, version);
  backUp(old, copy);
  expect(restore(copy, elsewhere, { masterKey: null })).toMatchObject({ version, runs_in_progress: 1 });
  for (const path of [old, elsewhere]) {
    expect({ version, ...found(path) }).toEqual({
      version,
      faults: [],
      projects: [["proj_1", "default"]],
      agents: [["agt_1", "weather", 1]],
      runs: [["run_1", "in_progress", 2]],
      entries: [
        [1, "run.created"],
        [2, "run.started"],
      ],
    });
    expect(databaseVersion(path)).toBe(migrations.length);
  }
});
