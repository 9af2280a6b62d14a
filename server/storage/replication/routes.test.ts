import { expect, test } from "bun:test";
import { openDatabase } from "../db/open.ts";
import { watchRoutes } from "./routes.ts";

test("a change of a project, a key or a chat page is reported once it is committed, with its state at that time", async () => {
  const db = openDatabase(":memory:");
  const routes = watchRoutes(db.sqlite);
  const run = (sql: string, ...values: (string | number | Uint8Array | null)[]) => db.sqlite.query(sql).run(...values);
  const key = (id: string, hash: number) =>
    run(
      `INSERT INTO api_keys (id, project_id, environment, hash, name, prefix, last4, scopes, created_by, created_at_ms)
       VALUES (?, 'proj_a', 'test', ?, '', '', '', '[]', 'cli', 0)`,
      id,
      new Uint8Array(32).fill(hash),
    );
  expect(routes.take()).toBeNull();
  await db.write(() => {
    run("INSERT INTO projects (id, name, created_at_ms) VALUES ('proj_a', 'shop', 0)");
    key("key_1", 1);
  });
  const one = "01".repeat(32);
  expect(routes.take()).toEqual({
    projects: new Map([["proj_a", { name: "shop", is_open: true }]]),
    names: new Map([...[one, "key_1"].map((name) => [name, "proj_a"] as const)]),
  });
  expect(routes.take()).toBeNull();
  expect([routes.projectOf(one), routes.projectOf("key_1"), routes.projectOf("key_2")]).toEqual([
    "proj_a",
    "proj_a",
    null,
  ]);

  await db.write(() => key("key_2", 2));
  await db.write(() => run("UPDATE api_keys SET revoked_at_ms = 1 WHERE id = 'key_1'"));
  await db.write(() => run("UPDATE api_keys SET last_used_at_ms = 1")); // An irrelevant change.
  expect(routes.take()!.names).toEqual(
    new Map([
      ...["02".repeat(32), "key_2"].map((name) => [name, "proj_a"] as const),
      ...[one, "key_1"].map((name) => [name, null] as const),
    ]),
  );

  const broken = db.write(() => {
    run("UPDATE projects SET name = 'other'");
    throw new Error("no");
  });
  await expect(broken).rejects.toThrow("no");
  expect(routes.take()).toBeNull();

  await db.write(() => run("UPDATE projects SET archived_at_ms = 1"));
  expect(routes.take()!.projects).toEqual(new Map([["proj_a", { name: "shop", is_open: false }]]));
  expect(routes.all().names.size).toBe(2);
  await db.write(() => run("DELETE FROM projects"));
  expect(routes.take()).toMatchObject({ projects: new Map([["proj_a", null]]) });
  expect(routes.has("proj_a")).toBe(false);
  db.close();
});

test("the routes to a departing project stay, and an arriving project reports its source", async () => {
  const db = openDatabase(":memory:");
  const routes = watchRoutes(db.sqlite);
  const run = (sql: string, ...values: (string | number | Uint8Array | null)[]) => db.sqlite.query(sql).run(...values);
  const move = (id: string, project: string, state: string) =>
    run(
      "INSERT INTO project_moves (id, project, name, cell, state, at_ms) VALUES (?, ?, 'shop', 'east', ?, 0)",
      id,
      project,
      state,
    );
  const addProject = (id: string, name: string) =>
    run("INSERT INTO projects (id, name, created_at_ms) VALUES (?, ?, 0)", id, name);
  const addKey = (id: string, project: string, hash: number, revoked_at_ms: number | null) =>
    run(
      `INSERT INTO api_keys (id, project_id, environment, hash, name, prefix, last4, scopes, created_by, created_at_ms, revoked_at_ms)
       VALUES (?, ?, 'test', ?, '', '', '', '[]', 'cli', 0, ?)`,
      id,
      project,
      new Uint8Array(32).fill(hash),
      revoked_at_ms,
    );
  await db.write(() => {
    addProject("proj_a", "shop");
    addKey("key_1", "proj_a", 1, null);
  });
  routes.take();
  await db.write(() => {
    move("mov_1", "proj_a", "out");
    run("DELETE FROM api_keys");
    run("DELETE FROM projects");
  });
  expect([routes.take(), routes.leaving(), routes.has("proj_a")]).toEqual([null, ["proj_a"], false]);

  await db.write(() => {
    move("mov_2", "proj_b", "in");
    addProject("proj_b", "store");
    addKey("key_2", "proj_b", 2, null);
    addKey("key_3", "proj_b", 3, 1);
  });
  const { projects, names } = routes.take()!;
  expect(projects).toEqual(new Map([["proj_b", { name: "store", is_open: true, moved_from: "east" }]]));
  expect(Object.fromEntries(names)).toEqual({
    ["02".repeat(32)]: "proj_b",
    key_2: "proj_b",
    ["03".repeat(32)]: null,
    key_3: null,
  });
  db.close();
});
