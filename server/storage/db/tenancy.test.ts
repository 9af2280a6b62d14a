import { expect, test } from "bun:test";
import { testApp } from "../../testing/test-app.ts";
import { openDatabase } from "./open.ts";

// Read from the database and not from a list: a new table is covered by its migration.
const { sqlite } = openDatabase(":memory:");

interface Column {
  name: string;
  notnull: number;
}

const tables = sqlite
  .query<{ name: string }, []>(
    "SELECT name FROM pragma_table_list WHERE schema = 'main' AND type = 'table' AND name NOT LIKE 'sqlite_%'",
  )
  .all()
  .map(({ name }) => name);
const columnsOf = (table: string): Column[] =>
  sqlite.query<Column, [string]>('SELECT name, "notnull" FROM pragma_table_info(?)').all(table);
const has = (table: string, ...names: string[]): boolean =>
  names.every((name) => columnsOf(table).some((column) => column.name === name));
const scoped = tables.filter((table) => has(table, "project_id", "environment"));

/** Returns the columns of every reference of a table, and those that they point to. */
function referencesOf(table: string): { target: string; from: string[]; to: string[] }[] {
  const rows = sqlite
    .query<{ id: number; target: string; from: string; to: string | null }, [string]>(
      'SELECT id, "table" AS target, "from", "to" FROM pragma_foreign_key_list(?) ORDER BY id, seq',
    )
    .all(table);
  return [...Map.groupBy(rows, ({ id }) => id).values()].map((group) => ({
    target: group[0]!.target,
    from: group.map(({ from }) => from),
    to: group.map(({ to }) => to ?? "id"),
  }));
}

const uniqueKeysOf = (table: string): string[][] =>
  sqlite
    .query<{ name: string }, [string]>('SELECT name FROM pragma_index_list(?) WHERE "unique" = 1')
    .all(table)
    .map(({ name }) =>
      sqlite
        .query<{ name: string }, [string]>("SELECT name FROM pragma_index_info(?)")
        .all(name)
        .map((one) => one.name),
    );

// Tables of the server itself: accounts, connections, facts. Rows of the last three belong to a run, and so to its
// project.
const ofNobody = [
  "projects",
  "model_connections",
  "model_connection_tests",
  "model_connection_grants",
  "model_connection_consents",
  "model_connection_revocations",
  "learnt_refusals",
  "model_lists",
  "listed_models",
  "model_prices",
  "model_price_table",
  "users",
  "sessions",
  "invitations",
  "identities",
  "totp",
  "passkeys",
  "recovery_codes",
  "password_resets",
  "facts",
  "setup_tokens",
  "memory_store_numbers",
  "project_moves",
  "project_parcels",
];
const ofARun = ["run_events", "run_blobs", "early_outputs", "partial_records"];
// These concern both environments, and the server itself.
const ofMore = ["audit_log", "alerts"];
// References that outlive their target, or need no row: read within the project and environment only.
const loose = [
  "runs.agent_id",
  "runs.thread_id",
  "runs.session_id",
  "runs.user_id",
  "runs.parent_run_id",
  "runs.parent_call_id",
  "runs.root_run_id",
  "runs.source_run_id",
  "idempotency_keys.run_id",
  "workspace_contents.owner_id", // A run or a thread: triggers replace two references.
  "image_uses.owner_id", // A run or a thread: triggers replace two references.
  "webhooks.run_id", // Added to an existing table: a trigger replaces the reference.
  "files.run_id",
  "files.tool_call_id",
  "files.agent_id",
  "usage_days.agent_id",
  "usage_durations.agent_id",
  "analytics.agent_id",
  "memory_entries.scope_id",
  "memory_entries.file_id",
  "memory_entries.tool_call_id",
  "memory_keys.scope_id",
  "memory_keys.tool_call_id",
  "threads.user_id",
  "threads.session_id",
  "threads.last_agent_id",
  "threads.last_run_id",
  "thread_chats.agent_id",
  "thread_chats.user_id",
  "suite_cases.agent_id",
  "suite_run_cases.run_id",
  "suite_run_cases.agent_id",
  "scores.agent_id",
  "scores.thread_id",
  "scores.author_id",
  "agent_label_revisions.actor_id", // A key, a person or the server: the history outlives them.
  "erasures.user_id",
  "run_files.file_id",
  "fact_work.memory_id",
  "fact_runs.source_run_id",
  "fact_runs.memory_id",
  "fact_runs.user_id",
  "schedules.agent_id",
  "schedules.last_run_id",
  "schedule_runs.run_id",
  "triggers.agent_id",
  "triggers.last_run_id",
  "trigger_events.run_id",
  "trigger_deliveries.run_id",
  "oauth_grants.user_id",
  "oauth_authorizations.user_id",
  "oauth_authorizations.run_id", // A grant is useful without its run.
];

test("every table belongs to a project and an environment, or is listed here with its reason", () => {
  const others = tables.filter((table) => !scoped.includes(table) || ofMore.includes(table));
  expect(others.sort()).toEqual([...ofNobody, ...ofARun, ...ofMore].sort());
  for (const table of scoped.filter((table) => !ofMore.includes(table)))
    expect(columnsOf(table).filter(({ name, notnull }) => /^(project_id|environment)$/.test(name) && !notnull)).toEqual(
      [],
    );
  for (const table of ofARun) expect(referencesOf(table).map(({ target }) => target)).toEqual(["runs"]);
});

test("an id is unique by project, environment and id, so that references can use all three", () => {
  for (const table of scoped.filter((table) => has(table, "id") && !ofMore.includes(table))) {
    if (table === "pending_calls") continue; // The key is the run and the id.
    expect({ table, keys: uniqueKeysOf(table).map((key) => key.join()) }).toEqual({
      table,
      keys: expect.arrayContaining(["project_id,environment,id"]),
    });
  }
});

test("a reference cannot point into another project or environment", () => {
  for (const table of scoped)
    for (const { target, from, to } of referencesOf(table)) {
      if (target === "projects") expect([table, from]).toEqual([table, ["project_id"]]);
      else
        expect({ table, from: from.slice(0, 2), to: to.slice(0, 2) }).toEqual({
          table,
          from: ["project_id", "environment"],
          to: ["project_id", "environment"],
        });
    }
});

test("a row that joins an agent to a tool of another project or environment is refused", async () => {
  await using server = testApp();
  const client = await server.client();
  const others = [await server.client({ project: "other" }), await server.client({ environment: "live" })];
  const { body: agent } = await client.post("/v1/agents", { name: "a", instructions: "Say.", model: "test/echo" });
  const join = (toolId: string) =>
    server.db.sqlite
      .query("INSERT INTO agent_tools (project_id, environment, agent_id, tool_id, position) VALUES (?, ?, ?, ?, 0)")
      .run(client.scope.project_id, client.scope.environment, agent.id, toolId);
  for (const other of others) {
    const { body: tool } = await other.post("/v1/tools", { name: "t" });
    expect(() => join(tool.id)).toThrow("FOREIGN KEY");
  }
  const { body: own } = await client.post("/v1/tools", { name: "t" });
  expect(() => join(own.id)).not.toThrow();
});

test("a column with another table's id references that table, or is listed here with its reason", () => {
  const referring = new Set(
    scoped.flatMap((table) => referencesOf(table).flatMap(({ from }) => from.map((column) => `${table}.${column}`))),
  );
  const naming = scoped
    .filter((table) => !ofMore.includes(table))
    .flatMap((table) =>
      columnsOf(table)
        .filter(({ name }) => /_id$/.test(name))
        .map(({ name }) => `${table}.${name}`),
    );
  expect(naming.filter((column) => !referring.has(column)).sort()).toEqual(loose.toSorted());
});

test("a project is deleted with everything in it", () => {
  const reaches = (table: string, seen: string[] = []): boolean =>
    table === "projects" ||
    (!seen.includes(table) && referencesOf(table).some(({ target }) => reaches(target, [...seen, table])));
  expect([...scoped, ...ofARun].filter((table) => !reaches(table))).toEqual([]);
});

test("the same text in two projects, or in test and live of one, is two rows, which are deleted separately", async () => {
  await using server = testApp();
  expect(uniqueKeysOf("blobs")).toEqual([["project_id", "environment", "hash"]]);
  const instructions = "x".repeat(20_000);
  const clients = [await server.client(), await server.client({ project: "other" })];
  const runs: string[] = [];
  for (const client of clients) {
    const { body: agent } = await client.post("/v1/agents", { name: "a", instructions, model: "test/echo" });
    runs.push((await client.post("/v1/runs?wait=60", { agent_id: agent.id, input: instructions })).body.id);
  }
  const blobs = () =>
    server.db.sqlite
      .query<{ project_id: string; hash: string }, []>("SELECT project_id, hash FROM blobs ORDER BY hash, project_id")
      .all();
  const [one, two] = clients.map(({ scope }) => blobs().filter(({ project_id }) => project_id === scope.project_id));
  expect(one!.length).toBeGreaterThan(0);
  expect(blobs().length).toBe(one!.length + two!.length);
  const shared = one!.filter(({ hash }) => two!.some((other) => other.hash === hash));
  expect(shared.length).toBeGreaterThan(0);
  await clients[0]!.delete(`/v1/runs/${runs[0]}`);
  expect(blobs()).toEqual(two!.toSorted((a, b) => (a.hash < b.hash ? -1 : 1)));
  expect((await clients[1]!.get(`/v1/runs/${runs[1]}`)).body.output).toBe(instructions);
});
