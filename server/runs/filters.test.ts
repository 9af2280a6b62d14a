import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { newId } from "../domain/ids.ts";
import { type Client, testApp } from "../testing/test-app.ts";
import { cell } from "./export.ts";

const server = testApp();
let client: Client;
const unique = () => `w${newId("run").slice(14)}`;

/** Runs by their kind, oldest first. */
let dear: string;
let cheap: string;
let failed: string;
let calling: string;
let working: string;
const word = unique();
const toolName = unique();

const start = async (model: string, script: object[], more: object = {}): Promise<string> => {
  const agent = { name: "a", instructions: "Say.", model, ...(script.length > 0 && { model_settings: { script } }) };
  const agent_id = (await client.post("/v1/agents", { ...agent, ...more })).body.id;
  const { status, body } = await client.post("/v1/runs?wait=60", { agent_id, input: word, metadata: { of: model } });
  expect([status, body.error?.code ?? null]).toEqual([201, body.error?.code ?? null]);
  return body.id;
};

beforeAll(async () => {
  client = await server.client();
  const limits = { writes_per_minute: 1e6, run_creations_per_minute: 1e6, reads_per_minute: 1e6 };
  await server.projects.update(client.scope.project_id, { limits });
  const said = (text: string) => [{ text }];
  cheap = await start("test/script", said("cheap"));
  dear = await start("test/script", said("dear"));
  failed = await start("test/script", [{ error: "model_error" }]);
  const tool = (await client.post("/v1/tools", { name: toolName, type: "client" })).body;
  calling = await start("test/script", [{ tool_calls: [{ name: toolName, arguments: {} }] }], { tools: [tool.id] });
  await client.post(`/v1/runs/${calling}/cancel`, {});
  await server.search.catchUp();
  server.db.sqlite.query("UPDATE runs SET worked_ms = 5000, projected = projected & ~1 WHERE id = ?").run(dear);
  server.db.sqlite.query("UPDATE runs SET worked_ms = 10, projected = projected & ~1 WHERE id = ?").run(cheap);
  await server.search.catchUp();
  server.db.sqlite.query("UPDATE runs SET cost_nano_usd = 5000000 WHERE id = ?").run(dear);
  server.db.sqlite.query("UPDATE runs SET cost_nano_usd = 1000 WHERE id = ?").run(cheap);
  const wait = {
    name: "a",
    instructions: "Say.",
    model: "test/script",
    model_settings: { script: [{ delay_ms: 600_000 }] },
  };
  const agent_id = (await client.post("/v1/agents", wait)).body.id;
  working = (await client.post("/v1/runs", { agent_id, input: word, metadata: { of: "work" } })).body.id;
});
afterAll(() => server[Symbol.asyncDispose]());

async function list(query: string): Promise<string[]> {
  const { status, body } = await client.get(`/v1/runs?${query}`);
  expect([status, body.error]).toEqual([200, undefined]);
  return body.data.map((each: { id: string }) => each.id);
}

test("runs are found by their words, newest first, also with other filters", async () => {
  expect(await list(`q=${word}`)).toEqual([calling, failed, dear, cheap]);
  expect(await list(`q=${word}&status=failed`)).toEqual([failed]);
  expect(await list(`q=${word}&order=asc&limit=2`)).toEqual([cheap, dear]);
  expect(await list("q=%21%21")).toEqual([]);
  const [first] = await list(`q=${word}&limit=1`);
  expect(await list(`q=${word}&limit=2&starting_after=${first}`)).toEqual([failed, dear]);
  expect(await list(`q=${word}&limit=1&ending_before=${cheap}`)).toEqual([dear]);
});

test("runs are found by their error code, tools and model", async () => {
  expect(await list("error_code=model_error")).toEqual([failed]);
  expect(await list(`tool=${toolName}`)).toEqual([calling]);
  expect(await list(`tool=${unique()}`)).toEqual([]);
  expect(await list("model=test/script")).toEqual([working, calling, failed, dear, cheap]);
  expect(await list("model=test/echo")).toEqual([]);
});

test("runs are found by the API key that created them", async () => {
  expect(await list(`api_key_id=${client.key.id}`)).toEqual([calling, failed, dear, cheap]);
  expect(await list(`api_key_id=${client.key.id}&status=failed`)).toEqual([failed]);
  expect(await list(`api_key_id=${newId("api_key")}`)).toEqual([]);
});

test("runs are found by time to first token, in the buckets of analytics", async () => {
  const { data } = (await client.get("/v1/analytics?group_by=first_token")).body;
  const counted = data.map(({ name }: { name: string }) => Number(name));
  expect(counted.length).toBeGreaterThan(0);
  const found = await Promise.all(
    counted.map((from: number) => list(`first_token_ms_min=${from}&first_token_ms_max=${from}`)),
  );
  expect(new Set(found.flat())).toEqual(new Set([dear, cheap]));
  expect(await list("first_token_ms_min=0")).toEqual([dear, cheap]);
  expect(await list("first_token_ms_min=600000000")).toEqual([]);
});

test("runs are found by their metadata at once, indexed or not", async () => {
  expect(await list("metadata[of]=work")).toEqual([working]);
  expect(await list("metadata[of]=test/script")).toEqual([calling, failed, dear, cheap]);
  expect(await list("metadata[of]=work&model=test/script")).toEqual([working]);
});

test("runs are found by cost and duration, and sorted by both", async () => {
  expect(await list("sort=duration&order=desc&limit=1")).toEqual([dear]);
  expect(await list("duration_ms_min=5000")).toEqual([dear]);
  expect(await list("duration_ms_min=5&duration_ms_max=10&status=completed")).toContain(cheap);
  expect(await list("duration_ms_max=10&duration_ms_min=11")).toEqual([]);
  expect((await list("sort=cost")).slice(0, 2)).toEqual([dear, cheap]);
  expect(await list(`sort=cost&limit=1&starting_after=${dear}`)).toEqual([cheap]);
  expect(await list(`sort=cost&q=${word}&limit=2`)).toEqual([dear, cheap]);
});

test("runs are found by their scores as soon as they are scored", async () => {
  for (const [id, value] of [
    [dear, 1],
    [cheap, 0.2],
  ] as const)
    await client.put(`/v1/runs/${id}/scores/correct`, { value });
  expect(await list("score=correct")).toEqual([dear, cheap]);
  expect(await list("score=correct&score_min=0.5")).toEqual([dear]);
  expect(await list("score=correct&score_max=0.5")).toEqual([cheap]);
  expect(await list("score_min=1")).toEqual([dear]);
});

test.each([
  "cost_min=x",
  "cost_min=-1",
  "duration_ms_min=0x10",
  "api_key_id=x",
  "first_token_ms_max=-1",
  "sort=name",
  "error_code=none",
  "q=",
  "score_min=",
  "q=a&q=b",
])("invalid filters are rejected: %p", async (query) =>
  expect((await client.get(`/v1/runs?${query}`)).status).toBe(400),
);

test("a count is the number of runs in a list, with any filter", async () => {
  const count = async (query: string) => (await client.get(`/v1/runs/count?${query}`)).body;
  expect(await count("")).toMatchObject({ object: "run_count", count: 5, is_more: false });
  expect((await count(`q=${word}`)).count).toBe(4);
  expect((await count("metadata[of]=work")).count).toBe(1);
  expect((await count("status=failed")).count).toBe(1);
});

describe("an export", () => {
  test("has every run of its list, as JSON lines", async () => {
    const { body, headers } = await client.get(`/v1/runs/export?q=${word}`);
    const lines = String(body)
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line));
    expect(lines.map(({ id }) => id)).toEqual([calling, failed, dear, cheap]);
    expect(headers.get("content-type")).toBe("application/x-ndjson");
  });

  test("has the same as CSV, with a header row", async () => {
    const { body, headers } = await client.get(`/v1/runs/export?q=${word}&format=csv`);
    const [head, ...rows] = String(body).trim().split("\r\n");
    expect(head).toStartWith("id,status,agent_id,model,");
    expect(rows.map((row) => row.split(",")[0]!)).toEqual([calling, failed, dear, cheap]);
    expect(headers.get("content-disposition")).toBe('attachment; filename="runs.csv"');
  });

  test("leaves tokens and cost empty until a run's first model call has ended", async () => {
    const rows = async (query: string) =>
      String((await client.get(`/v1/runs/export?${query}&format=csv`)).body)
        .trim()
        .split("\r\n")
        .slice(1);
    expect(await rows("metadata[of]=work")).toEqual([expect.stringMatching(/,,,,"\{""of"":""work""\}"$/)]);
    for (const row of await rows(`q=${word}`)) expect(row).toMatch(/,\d+,[\d.]+,"\{/);
  });

  test("is CSV if the Accept header says so", async () => {
    const { headers } = await server.send("GET", "/v1/runs/export", undefined, {
      authorization: `Bearer ${client.key.secret}`,
      accept: "text/csv",
    });
    expect(headers.get("content-type")).toStartWith("text/csv");
  });

  test.each([
    ["=1+1", "'=1+1"],
    ["+1", "'+1"],
    ["@SUM(A1)", "'@SUM(A1)"],
    ["-2", "'-2"],
    ["\t=1", "'\t=1"],
    ['=HYPERLINK("x","y")', `"'=HYPERLINK(""x"",""y"")"`],
    ["a,b", '"a,b"'],
    ['"', '""""'],
    ["two\nlines", '"two\nlines"'],
    [-2, "-2"],
    [null, ""],
  ])("writes %p so that no spreadsheet executes it", (value, written) => expect(cell(value)).toBe(written));
});

test("lists of another project, and of a key for other agents, are empty", async () => {
  for (const other of [
    await server.client({ project: "other" }),
    await server.client({ agent_ids: [newId("agent")] }),
  ]) {
    expect((await other.get(`/v1/runs?q=${word}`)).body.data).toEqual([]);
    expect((await other.get("/v1/runs?score=correct")).body.data).toEqual([]);
    expect((await other.get(`/v1/runs/count?q=${word}`)).body.count).toBe(0);
    expect(String((await other.get(`/v1/runs/export?q=${word}`)).body).trim()).toBe("");
  }
});
