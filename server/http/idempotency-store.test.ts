import { Database } from "bun:sqlite";
import { expect, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { migrations } from "../../migrations/index.ts";
import type { Scope } from "../domain/scope.ts";
import { openDatabase } from "../storage/db/open.ts";
import { createIdempotencyStore, type KeyedRequest } from "./idempotency-store.ts";

const scope: Scope = { project_id: "p", environment: "test" };
const name: KeyedRequest = { scope, key: "k", hash: "h" };

test("a database of the first version is migrated, keeps its data, and a copy of it stays", async () => {
  const folder = mkdtempSync(join(tmpdir(), "runnel-upgrade-"));
  const path = join(folder, "runnel.db");
  const old = new Database(path, { create: true });
  old.run(migrations[0]!.sql);
  old.run("PRAGMA user_version = 1");
  old.run("INSERT INTO projects (id, name, created_at_ms) VALUES ('p', 'kept', 0)");
  old.close();

  const db = openDatabase(path);
  expect(db.sqlite.query("SELECT name FROM projects").all()).toEqual([{ name: "kept" }]);
  const store = createIdempotencyStore({ db, now: Date.now });
  await db.write(() => store.keepRun(name, { id: "run_1", seq: 2, expires_at_ms: null }));
  expect(store.find(scope, "k")?.run).toEqual({ id: "run_1", seq: 2, expires_at_ms: null });
  db.close();

  const copy = new Database(`${path}.before-0002`, { readonly: true });
  expect(copy.query("PRAGMA user_version").get()).toEqual({ user_version: 1 });
  expect(copy.query("SELECT name FROM projects").all()).toEqual([{ name: "kept" }]);
  copy.close();
  rmSync(folder, { recursive: true });
});

test("keys are deleted with their project", async () => {
  const db = openDatabase(":memory:");
  db.sqlite.run("INSERT INTO projects (id, name, created_at_ms) VALUES ('p', 'p', 0)");
  const store = createIdempotencyStore({ db, now: Date.now });
  await db.write(() => store.keepOther(name, { status: 201, location: null, sealed: "s", agent_ids: null }));
  expect(store.find(scope, "k")?.other?.status).toBe(201);
  db.sqlite.run("DELETE FROM projects");
  expect(store.find(scope, "k")).toBeNull();
});
