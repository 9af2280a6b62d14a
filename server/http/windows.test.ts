import { afterAll, beforeAll, expect, test } from "bun:test";
import { type Client, type TestApp, testApp } from "../testing/test-app.ts";
import { turnsDuring } from "../testing/turns.ts";

/** Number of other runs before each wanted one. */
const between = 20_000;
let server: TestApp;
let client: Client;
/** The wanted runs, oldest first. */
let forks: string[];

beforeAll(async () => {
  server = testApp();
  client = await server.client();
  const agent = { name: "a", instructions: "Say.", model: "test/echo" };
  const agent_id = (await client.post("/v1/agents", agent)).body.id;
  forks = [];
  for (let n = 0; n < 4; n++) forks.push((await client.post("/v1/runs?wait=60", { agent_id, input: "x" })).body.id);
  await server.search.catchUp();
  forks.sort();
  const { sqlite } = server.db;
  const columns = sqlite.query<{ name: string }, []>("SELECT name FROM pragma_table_info('runs')").all();
  const others: Record<string, string> = {
    // Ids of runs of the same millisecond may share a prefix, but their copies must differ.
    id: "substr(id, 1, 24) || printf('%06d', n * 4 + (SELECT count(*) FROM runs AS earlier WHERE earlier.id < runs.id))",
    summary: "'{}'",
  };
  const names = columns.map(({ name }) => name);
  await server.db.write(() => {
    sqlite.run(
      `WITH RECURSIVE numbers (n) AS (SELECT 0 UNION ALL SELECT n + 1 FROM numbers WHERE n < ${between - 1})
       INSERT INTO runs (${names}) SELECT ${names.map((name) => others[name] ?? name)} FROM runs CROSS JOIN numbers`,
    );
    for (const id of forks) sqlite.run("UPDATE runs SET origin = 'fork' WHERE id = ?", [id]);
  });
}, 60_000);
afterAll(() => server[Symbol.asyncDispose]());

async function turnsOf(path: string) {
  const { turns, result } = await turnsDuring(() => client.get(path));
  const { status, body } = result;
  expect([status, body.error]).toEqual([200, undefined]);
  return { turns, body };
}

test.each([
  ["by where they come from", "/v1/runs?origin=fork"],
  ["by their time", "/v1/runs?created_at[lt]=1970-01-01T00:00:00.001Z"],
  ["by two columns at once", "/v1/runs?status=completed&origin=replay"],
  ["by a score that none has", "/v1/runs?score=good"],
  ["in the order of what they cost, by where they come from", "/v1/runs?sort=cost&origin=replay"],
  ["in the order of how long they took, by a score that none has", "/v1/runs?sort=duration&score=good"],
  ["as a number", "/v1/runs/count?origin=replay"],
  ["as a number, by a score", "/v1/runs/count?score=good"],
  ["as traces, of most of which a summary is left", "/v1/traces"],
])("others are served while all runs are looked at: %s", async (_, path) => {
  expect((await turnsOf(path)).turns).toBeGreaterThan(20);
});

test("results of several windows are complete, in order and without repeats, in both directions", async () => {
  for (const [order, wanted] of [
    ["asc", forks],
    ["desc", forks.toReversed()],
  ] as const) {
    const found: string[] = [];
    for (let after = ""; ; after = `&starting_after=${found.at(-1)}`) {
      const { body } = await turnsOf(`/v1/runs?origin=fork&limit=3&order=${order}${after}`);
      found.push(...body.data.map((run: { id: string }) => run.id));
      if (!body.has_more) break;
    }
    expect([order, found]).toEqual([order, wanted]);
  }
  const { body } = await turnsOf(`/v1/runs?origin=fork&limit=2&ending_before=${forks[0]}`);
  expect(body.data.map((run: { id: string }) => run.id)).toEqual(forks.slice(1, 3).toReversed());
  expect((await turnsOf("/v1/runs/count?origin=fork")).body.count).toBe(4);
});
