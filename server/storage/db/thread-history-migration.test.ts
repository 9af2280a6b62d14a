import { Database } from "bun:sqlite";
import { expect, test } from "bun:test";
import { migrations } from "../../../migrations/index.ts";
import { testApp } from "../../testing/test-app.ts";

const policy = {
  stores: [],
  history: { mode: "none", max_messages: 7 },
  context: { strategy: "fail", reserve_output_tokens: 1, tool_output_max_bytes: 9_000 },
};
const definitions = {
  agt_first: '{"instructions":"Hi","model_settings":{"seed":9007199254740993}}',
  agt_null: '{"instructions":"Hi","memory":null}',
  agt_policy: JSON.stringify({ instructions: "Hi", memory: policy }),
};

test("existing agents and their versions keep the amount of thread history that they read", () => {
  using sqlite = new Database(":memory:", { strict: true });
  const history = migrations.findIndex(({ name }) => name.endsWith("_thread_history"));
  sqlite.run(migrations[0]!.sql);
  sqlite.run("INSERT INTO projects (id, name, created_at_ms) VALUES ('proj_1', 'default', 1)");
  for (const [id, definition] of Object.entries(definitions)) {
    const row = { id, definition };
    sqlite
      .query(
        `INSERT INTO agents (project_id, environment, id, name, model, version, definition, metadata, created_at_ms, updated_at_ms)
           VALUES ('proj_1', 'test', $id, 'a', 'test/echo', 1, $definition, '{}', 1, 1)`,
      )
      .run(row);
    sqlite
      .query(
        `INSERT INTO agent_versions (project_id, environment, agent_id, version, definition, metadata, created_at_ms)
           VALUES ('proj_1', 'test', $id, 1, $definition, '{}', 1)`,
      )
      .run(row);
  }
  sqlite.run(migrations[history]!.sql);
  for (const [table, key] of [
    ["agents", "id"],
    ["agent_versions", "agent_id"],
  ])
    expect(Object.fromEntries(sqlite.query(`SELECT ${key}, definition FROM ${table}`).values())).toEqual({
      ...definitions,
      agt_first: '{"instructions":"Hi","model_settings":{"seed":9007199254740993},"memory":null}',
    });
});

test("an agent stored before there were memory policies reads no thread, from any source of its record", async () => {
  await using server = testApp();
  const client = await server.client();
  const body = { name: "a", instructions: "Hi", model: "test/echo" };
  const { id } = (await client.post("/v1/agents", body)).body;
  await server.db.write(() => {
    for (const table of ["agents", "agent_versions"])
      server.db.sqlite.run(`UPDATE ${table} SET definition = json_remove(definition, '$.memory')`);
  });
  expect((await client.get(`/v1/agents/${id}`)).body.memory).toBeNull();
  expect((await client.get(`/v1/agents/${id}/versions/1`)).body.memory).toBeNull();
  const { body: changed } = await client.patch(`/v1/agents/${id}`, { name: "b" });
  expect([changed.version, changed.memory]).toEqual([2, null]);
});
