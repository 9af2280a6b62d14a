import { Database } from "bun:sqlite";
import { expect, test } from "bun:test";
import { migrations } from "../../../migrations/index.ts";

test("runs from before trees were counted know their root, and the root knows their number", () => {
  using sqlite = new Database(":memory:", { strict: true });
  const trees = migrations.findIndex(({ name }) => name === "0020_run_trees");
  for (const { sql } of migrations.slice(0, trees)) sqlite.run(sql);
  const insert = (id: string, parent: string | null, depth: number) =>
    sqlite.run(
      `INSERT INTO runs (id, project_id, environment, agent_id, status, seq, attempt, metadata, created_at_ms, worked_ms,
         status_since_ms, timeout_ms, action_timeout_ms, parent_run_id, parent_call_id, depth)
       VALUES (?1, 'proj_1', 'test', 'agt_1', 'completed', 1, 1, '{}', 0, 0, 0, 1, 1, ?2, ?1, ?3)`,
      [id, parent, depth],
    );
  sqlite.run("INSERT INTO projects (id, name, created_at_ms) VALUES ('proj_1', 'one', 0)");
  insert("run_top", null, 0);
  insert("run_a", "run_top", 1);
  insert("run_b", "run_top", 1);
  insert("run_deep", "run_b", 2);
  insert("run_alone", null, 0);
  sqlite.transaction(() => sqlite.run(migrations[trees]!.sql)).immediate();
  expect(sqlite.query("SELECT id, root_run_id, runs_below FROM runs ORDER BY rowid").values()).toEqual([
    ["run_top", null, 3],
    ["run_a", "run_top", 0],
    ["run_b", "run_top", 0],
    ["run_deep", "run_top", 0],
    ["run_alone", null, 0],
  ]);
});
