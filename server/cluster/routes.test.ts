import { expect, test } from "bun:test";
import { openDatabase } from "../db/open.ts";
import { watchRoutes } from "./routes.ts";

test("what changes a project, a key or a chat page is told once it is committed, as it is then", async () => {
  const db = openDatabase(":memory:");
  const routes = watchRoutes(db.sqlite);
  const run = (sql: string, ...values: (string | number | Uint8Array | null)[]) => db.sqlite.query(sql).run(...values);
  const key = (id: string, hash: number) =>
    run(
      `INSERT INTO api_keys (id, project_id, environment, hash, name, prefix, last4, scopes, created_by, created_at_ms)
       VALUES (?, 'proj_a', 'test', ?, '', '', '', '[]', 'cli', 0)`,
      ...[id, new Uint8Array(32).fill(hash)],
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
  await db.write(() => run("UPDATE api_keys SET last_used_at_ms = 1")); // Of no concern.
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
