import { expect, test } from "bun:test";
import { newId } from "../../domain/ids.ts";
import { type Client, type TestApp, testApp } from "../../testing/test-app.ts";
import { createEraser, ownedTables } from "./erase.ts";

/** Creates something of every kind in the client's project and environment. */
async function fill(client: Client): Promise<void> {
  const { body: tool } = await client.post("/v1/tools", { name: "clock", type: "client" });
  await client.post("/v1/files", { filename: "a.txt", text: "x".repeat(600_000), purpose: "attachment" });
  const { body: pad } = await client.post("/v1/memory", { name: "pad", kind: "kv" });
  await client.put(`/v1/memory/${pad.id}/keys/a`, { value: 1 });
  const url = "http://127.0.0.1:65535/"; // An address without a listener.
  const { body: webhook } = await client.post("/v1/webhooks", { url, events: ["*"], enabled: false });
  await client.post(`/v1/webhooks/${webhook.id}/test`, {});
  const script = [{ tool_calls: [{ name: "clock", arguments: {} }] }, { text: "x".repeat(20_000) }];
  const { body: agent } = await client.post("/v1/agents", {
    name: "a",
    instructions: "i".repeat(20_000),
    model: "test/script",
    model_settings: { script },
    tools: [tool.id],
  });
  const { body: run } = await client.post("/v1/runs?wait=60", { agent_id: agent.id, input: "hello" });
  expect(run.status).toBe("requires_action");
}

/** Returns the number of a project's rows in every table that has any. */
function rowsOf({ db }: TestApp, projectId: string): Record<string, number> {
  const count = (from: string) => db.sqlite.query<{ n: number }, [string]>(`SELECT count(*) AS n FROM ${from}`);
  return Object.fromEntries(
    ownedTables(db.sqlite).flatMap(({ table, children }) => [
      [table, count(`${table} WHERE project_id = ?`).get(projectId)!.n],
      ...children.map((child) => [
        child.table,
        count(
          `${child.table} WHERE ${child.column} IN (SELECT ${child.parent} FROM ${table} WHERE project_id = ?)`,
        ).get(projectId)!.n,
      ]),
    ]),
  );
}

test("a project is erased with everything in it, and its neighbour keeps everything", async () => {
  await using server = testApp();
  const [gone, stays] = [await server.client({ project: "gone" }), await server.client({ project: "stays" })];
  for (const client of [gone, stays]) await fill(client);
  await server.processing.idle(); // Files are read in the background.
  const before = rowsOf(server, stays.scope.project_id);
  const tables = Object.entries(rowsOf(server, gone.scope.project_id)).filter(([, rows]) => rows > 0);
  expect(tables.map(([table]) => table)).toEqual(
    expect.arrayContaining(["runs", "run_events", "blobs", "run_blobs", "files", "file_chunks", "webhook_attempts"]),
  );

  expect(await createEraser({ db: server.db, pause_ms: 0 })(gone.scope.project_id)).toBe(true);
  expect(new Set(Object.values(rowsOf(server, gone.scope.project_id)))).toEqual(new Set([0]));
  expect(rowsOf(server, stays.scope.project_id)).toEqual(before);
  expect(server.db.sqlite.query("PRAGMA foreign_key_check").all()).toEqual([]);
});

test("no write deletes so much that others wait for it, and an interrupted erasure is continued by the next one", async () => {
  await using server = testApp();
  const { scope } = await server.client({ project: "large" });
  const { sqlite } = server.db;
  const insertRun = sqlite.query(
    `INSERT INTO runs (id, project_id, environment, agent_id, status, seq, attempt, metadata, created_at_ms,
       status_since_ms, timeout_ms, action_timeout_ms) VALUES (?, ?, 'test', 'agt', 'completed', 1, 1, '{}', 0, 0, 1, 1)`,
  );
  const insertEvents = sqlite.query(
    "INSERT INTO run_events (run_id, seq, at_ms, type, data, blobs) SELECT ?, value, 0, 'x', '{}', NULL FROM json_each(?)",
  );
  await server.db.write(() => {
    for (let i = 0; i < 130; i++) {
      const id = newId("run");
      insertRun.run(id, scope.project_id);
      insertEvents.run(id, JSON.stringify(Array.from({ length: i === 60 ? 2500 : 10 }, (_, seq) => seq + 1)));
    }
  });
  const erase = createEraser({ db: server.db, pause_ms: 0 });
  const changes = () => sqlite.query<{ n: number }, []>("SELECT total_changes() AS n").get()!.n;
  const sizes: number[] = [];
  let last = changes();
  const measure = (most: number) => () => {
    sizes.push(changes() - last);
    last = changes();
    return sizes.length < most;
  };
  expect(await erase(scope.project_id, measure(5))).toBe(false);
  expect(await erase(scope.project_id, measure(1000))).toBe(true);
  expect(Math.max(...sizes)).toBeLessThanOrEqual(1050);
  expect(sizes.length).toBeGreaterThan(8);
  expect(Object.values(rowsOf(server, scope.project_id)).some((rows) => rows > 0)).toBe(false);
});

test("referencing rows are deleted before their targets, or one write would cascade to all of them", async () => {
  await using server = testApp();
  const order = ownedTables(server.db.sqlite).map(({ table }) => table);
  const references = server.db.sqlite
    .query<{ child: string; parent: string }, []>(
      `SELECT DISTINCT t.name AS child, f."table" AS parent FROM pragma_table_list t, pragma_foreign_key_list(t.name) f`,
    )
    .all()
    .filter(({ child, parent }) => order.includes(child) && order.includes(parent));
  expect(references).toContainEqual({ child: "agent_tools", parent: "tools" });
  for (const { child, parent } of references)
    expect({ child, parent, before: order.indexOf(child) < order.indexOf(parent) }).toEqual({
      child,
      parent,
      before: true,
    });
});
