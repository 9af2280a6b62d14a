import type { Database } from "bun:sqlite";
import { expect, test } from "bun:test";
import { vecLibrary } from "../../lib/assets.ts";
import { openDatabase } from "../../storage/db/open.ts";
import { type Client, type TestApp, testApp } from "../../testing/test-app.ts";
import { ownedTables } from "./erase.ts";
import { exportProject, importProject, removeProject, TooLarge } from "./project-archive.ts";

const all_bytes = 100_000_000;
const emptyDatabase = () => openDatabase(":memory:", { vecLibrary: vecLibrary("") });

const packed = (sqlite: Database, project: string): Uint8Array[] => {
  const pieces: Uint8Array[] = [];
  exportProject(sqlite, project, (piece) => pieces.push(piece), all_bytes);
  return pieces;
};

/** Columns with numbers that are unique within a database, and their replacement. */
const numbered = ["memory_stores.number", "memory_chunks.number", "memory_chunks.store", "runs.projected"];
const derived = ["search_documents", "search_changes"];

/** Returns all rows of a project by table, as SQLite writes them, without database-local numbers. */
function rowsOf(sqlite: Database, project: string): Record<string, string[]> {
  const own = ownedTables(sqlite).filter(({ table }) => !derived.includes(table));
  const tables = [
    { table: "projects", of: "id = ?" },
    ...own.flatMap(({ table, children }) => [
      { table, of: "project_id = ?" },
      ...children.map((child) => ({
        table: child.table,
        of: `${child.column} IN (SELECT ${child.parent} FROM ${table} WHERE project_id = ?)`,
      })),
    ]),
  ];
  const read = ({ table, of }: (typeof tables)[number]) => {
    const columns = sqlite
      .query<{ name: string }, [string]>("SELECT name FROM pragma_table_info(?)")
      .all(table)
      .map(({ name }) => name)
      .filter((name) => !numbered.includes(`${table}.${name}`));
    const row = columns.map((name) => `typeof(${name}) || quote(${name})`).join(" || ',' || ");
    return sqlite
      .query<{ row: string }, [string]>(`SELECT ${row} AS row FROM ${table} WHERE ${of} ORDER BY 1`)
      .all(project)
      .map((one) => one.row);
  };
  return Object.fromEntries(tables.map((one) => [one.table, read(one)]));
}

/** Inserts two rows into each of a project's tables, of any kind that its columns allow. */
function fillTables(sqlite: Database, project: string): void {
  sqlite.run("PRAGMA foreign_keys = OFF");
  sqlite.run("PRAGMA ignore_check_constraints = ON");
  sqlite.query("INSERT INTO projects (id, name, created_at_ms) VALUES (?, 'shop', 1)").run(project);
  for (const { table, children } of ownedTables(sqlite))
    for (const name of [table, ...children.map((child) => child.table)])
      for (const n of [1, 2]) {
        const columns = sqlite
          .query<{ name: string; type: string }, [string]>("SELECT name, type FROM pragma_table_info(?)")
          .all(name);
        const values = columns.map((column) => madeUp(column, n, project));
        sqlite
          .query(
            `INSERT INTO ${name} (${columns.map((column) => column.name)}) VALUES (${columns.map(() => "?").join(", ")})`,
          )
          .run(...values);
      }
}

function madeUp({ name, type }: { name: string; type: string }, n: number, project: string) {
  if (name === "project_id") return project;
  if (name === "run_id" || name === "id") return `row_${n}`;
  if (name === "kind") return "kv"; // Stores of another kind have tables of their own.
  if (name === "next_model") return null;
  if (type === "INTEGER") return 40 + n;
  if (type === "REAL") return n + 0.1;
  return type === "BLOB" ? new Uint8Array([0, 255, n]) : `it's "${n}" ☃ \u0000 ${name}`;
}

test("every table of a project is copied, each row byte for byte, and nothing is left at the source", () => {
  const [from, to] = [emptyDatabase(), emptyDatabase()];
  fillTables(from.sqlite, "proj_a");
  const before = rowsOf(from.sqlite, "proj_a");
  expect(Object.entries(before).filter(([, rows]) => rows.length === 0)).toEqual([]);
  for (const pragma of ["foreign_keys = OFF", "ignore_check_constraints = ON"]) to.sqlite.run(`PRAGMA ${pragma}`);
  importProject(to.sqlite, packed(from.sqlite, "proj_a"));
  expect(rowsOf(to.sqlite, "proj_a")).toEqual(before);
  removeProject(from.sqlite, "proj_a");
  const left = Object.entries(rowsOf(from.sqlite, "proj_a")).filter(([, rows]) => rows.length > 0);
  expect(left).toEqual([]);
  for (const db of [from, to]) db.close();
});

test("database-local numbers are assigned anew in the tables that have them, and no other table has any", () => {
  const { sqlite } = emptyDatabase();
  const own = ownedTables(sqlite).flatMap(({ table, children }) => [table, ...children.map((child) => child.table)]);
  const withNumber = own.filter((table) => {
    const { sql } = sqlite.query<{ sql: string }, [string]>("SELECT sql FROM sqlite_schema WHERE name = ?").get(table)!;
    return /INTEGER\s+PRIMARY KEY|number\s+INTEGER NOT NULL UNIQUE/i.test(sql);
  });
  expect(withNumber.sort()).toEqual(["memory_chunks", "memory_stores", "search_documents"]);
  const virtual = sqlite.query<{ name: string }, []>(
    "SELECT name FROM sqlite_schema WHERE sql LIKE 'CREATE VIRTUAL TABLE%'",
  );
  expect(virtual.all()).toEqual([{ name: "search_words" }]);
});

/** Creates objects as a client does, also such with tables of their own. */
async function fill(client: Client, server: TestApp): Promise<{ memory: string; run: string }> {
  const { body: tool } = await client.post("/v1/tools", { name: "clock", type: "client" });
  const content = { filename: "a.bin", content_base64: new Uint8Array(600_000).fill(7).toBase64() };
  await client.post("/v1/files", { ...content, purpose: "attachment" });
  const { body: pad } = await client.post("/v1/memory", { name: "pad", kind: "kv" });
  await client.put(`/v1/memory/${pad.id}/keys/a`, { value: 1 });
  const { body: memory } = await client.post("/v1/memory", { name: "notes", kind: "vector", scope: "project" });
  for (const text of ["The office in Bergen is closed on Mondays.", "Lunch is at noon."])
    await client.post(`/v1/memory/${memory.id}/entries`, { text });
  await server.memory.indexer.idle();
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
  return { memory: memory.id, run: run.id };
}

test("an imported project is found and continues in a database with others, which stay unchanged", async () => {
  await using first = testApp();
  const client = await first.client({ project: "shop" });
  const { memory, run } = await fill(client, first);
  await using second = testApp({ db: emptyDatabase() });
  const neighbor = await second.client({ project: "other" });
  const others = await fill(neighbor, second);
  const kept = rowsOf(second.db.sqlite, neighbor.scope.project_id);

  const { project_id } = client.scope;
  const before = rowsOf(first.db.sqlite, project_id);
  const pieces = packed(first.db.sqlite, project_id);
  await second.db.write(() => importProject(second.db.sqlite, pieces));
  await second.moving.onProjectArrived();
  expect(rowsOf(second.db.sqlite, project_id)).toEqual(before);
  expect(rowsOf(second.db.sqlite, neighbor.scope.project_id)).toEqual(kept);
  expect(second.db.sqlite.query("PRAGMA foreign_key_check").all()).toEqual([]);

  const asked = { query: "When is Bergen closed?", top_k: 1 };
  const found = await clientOf(second, client).post(`/v1/memory/${memory}/search`, asked);
  expect(found.body.data.map(({ text }: { text: string }) => text)).toEqual([
    "The office in Bergen is closed on Mondays.",
  ]);
  const own = await neighbor.post(`/v1/memory/${others.memory}/search`, asked);
  expect(own.body.data.length).toBe(1);
  const { body: waiting } = await clientOf(second, client).get(`/v1/runs/${run}`);
  const [call] = waiting.required_action.submit_tool_outputs.tool_calls;
  await clientOf(second, client).post(`/v1/runs/${run}/submit_tool_outputs`, {
    tool_outputs: [{ tool_call_id: call.tool_call_id, output: "noon" }],
  });
  await second.search.catchUp();
  const { body: hits } = await clientOf(second, client).get("/v1/search?q=notes");
  expect(hits.data.map(({ id }: { id: string }) => id)).toContain(memory);

  await first.search.catchUp();
  await first.db.write(() => removeProject(first.db.sqlite, project_id));
  expect(first.projects.list()).toEqual([]);
  await first.windDown();
  for (const table of ["projects", "search_documents", "search_words"])
    expect([table, first.db.sqlite.query(`SELECT 1 FROM ${table}`).all()]).toEqual([table, []]);
  expect(Object.values(rowsOf(first.db.sqlite, project_id)).flat()).toEqual([]);
  expect(first.db.sqlite.query("SELECT name FROM sqlite_schema WHERE name GLOB 'memory_[0-9]*'").all()).toEqual([]);
});

/** Returns a client with the same key at another server. */
function clientOf({ app }: TestApp, { key }: Client) {
  const send = async (path: string, body?: object) => {
    const headers = { authorization: `Bearer ${key.secret}`, "content-type": "application/json" };
    const init = body ? { method: "POST", body: JSON.stringify(body) } : {};
    const answer = await app.handle(new Request(`http://localhost${path}`, { ...init, headers }));
    // biome-ignore lint/suspicious/noExplicitAny: as the client of a test reads it.
    return { body: (await answer.json()) as any };
  };
  return { get: (path: string) => send(path), post: send };
}

test("a project that is too large is refused before anything of it has changed", async () => {
  await using server = testApp();
  const client = await server.client({ project: "shop" });
  await client.post("/v1/agents", { name: "a", instructions: "x".repeat(20_000), model: "test/echo" });
  const before = rowsOf(server.db.sqlite, client.scope.project_id);
  const refused = server.db.write(() => {
    exportProject(server.db.sqlite, client.scope.project_id, () => {}, 1000);
    removeProject(server.db.sqlite, client.scope.project_id);
  });
  await expect(refused).rejects.toThrow(TooLarge);
  expect(rowsOf(server.db.sqlite, client.scope.project_id)).toEqual(before);
});
