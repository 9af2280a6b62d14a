import { afterAll, beforeAll, expect, test } from "bun:test";
import { limits } from "../../domain/limits.ts";
import { type Client, testApp } from "../../testing/test-app.ts";

const server = testApp();
let owner: Client;
let agent_id: string;
beforeAll(async () => {
  owner = await server.client();
  agent_id = (await owner.post("/v1/agents", { name: "a", instructions: "", model: "test/echo" })).body.id;
});
afterAll(() => server[Symbol.asyncDispose]());

type Ask = (method: string, path: string, body?: unknown) => ReturnType<typeof server.send>;

async function holder(bound: object = {}): Promise<Ask> {
  const asked = { agent_id, scopes: ["run", "score"], expires_in_seconds: 600, ...bound };
  const { status, body } = await owner.post("/v1/client_tokens", asked);
  expect([status, body.error ?? null]).toEqual([201, null]);
  return (method, path, sent) => server.send(method, path, sent, { authorization: `Bearer ${body.token}` });
}

const ended = async (more: object = {}): Promise<string> => {
  const { status, body } = await owner.post("/v1/runs?wait=60", { agent_id, input: "Hi.", ...more });
  expect([status, body.status]).toEqual([201, "completed"]);
  return body.id;
};
const rate = (ask: Ask, run: string, body: object, name = "feedback") =>
  ask("PUT", `/v1/runs/${run}/scores/${name}`, body);
const scoresOf = async (run: string) => (await owner.get(`/v1/scores?run_id=${run}`)).body.data;

test("feedback is one score per author, which they change and delete with any of their tokens", async () => {
  const run = await ended({ user_id: "ada" });
  const [first, again] = [await holder({ user_id: "ada" }), await holder({ user_id: "ada" })];
  const given = await rate(first, run, { value: 0, comment: "Wrong <b>price</b>." });
  expect(given).toMatchObject({
    status: 200,
    body: { object: "score", run_id: run, agent_id, name: "feedback", source: "client", author_id: "ada" },
  });
  const changed = await rate(again, run, { value: 1 });
  expect(changed.body).toMatchObject({ id: given.body.id, value: 1, comment: null });
  expect(await scoresOf(run)).toMatchObject([{ id: given.body.id, value: 1, comment: null }]);
  expect((await again("GET", `/v1/scores?run_id=${run}`)).body.data).toMatchObject([{ value: 1 }]);
  expect((await again("DELETE", `/v1/scores/${given.body.id}`)).status).toBe(200);
  expect(await scoresOf(run)).toEqual([]);
});

test("a run has scores of several authors and names, and none changes another's", async () => {
  const run = await ended({ user_id: "ada" });
  await rate(await holder({ user_id: "ada" }), run, { value: 1 });
  await owner.put(`/v1/runs/${run}/scores/feedback`, { value: 0.5 });
  await owner.put(`/v1/runs/${run}/scores/right`, { value: -3, comment: "No source." });
  const { secret } = (await owner.post("/v1/api_keys", { name: "next", scopes: ["run"] })).body;
  const next = { authorization: `Bearer ${secret}` };
  await server.send("PUT", `/v1/runs/${run}/scores/right`, { value: -2 }, next);
  const seen = (await scoresOf(run)).map(({ name, source, value }: never) => [name, source, value]);
  expect(seen.toSorted()).toEqual([
    ["feedback", "api_key", 0.5],
    ["feedback", "client", 1],
    ["right", "api_key", -2],
  ]);
  expect((await owner.get(`/v1/scores?run_id=${run}&name=right`)).body.data).toHaveLength(1);
});

test("a client token scores and sees only its own runs, and of them only its own scores", async () => {
  const [of, foreign] = [await ended({ user_id: "ada" }), await ended({ user_id: "grace" })];
  const theirs = await owner.put(`/v1/runs/${of}/scores/right`, { value: 0 });
  const graces = await rate(await holder({ user_id: "grace" }), foreign, { value: 1, comment: "Private." });
  const ada = await holder({ user_id: "ada" });
  expect((await rate(ada, foreign, { value: 0 })).status).toBe(404);
  for (const { body } of [theirs, graces]) expect((await ada("DELETE", `/v1/scores/${body.id}`)).status).toBe(404);
  await rate(ada, of, { value: 1 });
  for (const query of ["", `?run_id=${of}`, `?run_id=${foreign}`, `?agent_id=${agent_id}`]) {
    const { data } = (await ada("GET", `/v1/scores${query}`)).body;
    for (const { author_id, source } of data) expect([author_id, source]).toEqual(["ada", "client"]);
  }
  const bound = await holder({ run_id: of });
  expect((await bound("GET", "/v1/scores")).body.data).toEqual([]);
  expect((await rate(bound, foreign, { value: 0 })).status).toBe(404);
  expect((await rate(bound, of, { value: 0 })).body).toMatchObject({ author_id: null });
  expect(await scoresOf(foreign)).toMatchObject([{ value: 1, comment: "Private." }]);
});

test("a client token without the scope gets nothing, and one with it gives only feedback from 0 to 1", async () => {
  const run = await ended({ user_id: "ada" });
  const without = await holder({ user_id: "ada", scopes: ["run", "read", "submit"] });
  const refusals = [
    await rate(without, run, { value: 1 }),
    await without("GET", "/v1/scores"),
    await without("DELETE", "/v1/scores/scr_00000000000000000000000000"),
  ];
  for (const { status, body } of refusals)
    expect([status, body.error.details]).toEqual([403, { required_scope: "score" }]);
  const ada = await holder({ user_id: "ada", scopes: ["score"] });
  expect((await rate(ada, run, { value: 1 }, "right")).status).toBe(403);
  const long = "x".repeat(limits.score_comment_length + 1);
  for (const body of [{ value: 1.1 }, { value: -1 }, { value: "1" }, { value: 1, comment: long }, {}, { value: null }])
    expect([body, (await rate(ada, run, body)).status]).toEqual([body, 400]);
  expect((await ada("GET", `/v1/runs/${run}`)).status).toBe(403);
  expect(await scoresOf(run)).toEqual([]);
});

test("repeated clicks write one row, and are throttled", async () => {
  const run = await ended({ user_id: "ada" });
  const ada = await holder({ user_id: "ada", limits: { requests_per_minute: 20 } });
  const answers = await Promise.all(Array.from({ length: 40 }, (_, click) => rate(ada, run, { value: click % 2 })));
  const counts = Map.groupBy(answers, ({ status }) => status);
  expect([counts.get(200)?.length, counts.get(429)?.length]).toEqual([20, 20]);
  expect(await scoresOf(run)).toHaveLength(1);
});

test("the number of scores per run is limited, and they are deleted with it", async () => {
  const run = await ended();
  const put = (index: number) => owner.put(`/v1/runs/${run}/scores/s${index}`, { value: index });
  const made = await Promise.all(Array.from({ length: limits.scores_per_run }, (_, index) => put(index)));
  expect(new Set(made.map(({ status }) => status))).toEqual(new Set([200]));
  expect((await put(limits.scores_per_run)).status).toBe(400);
  expect((await put(0)).status).toBe(200);
  const page = (await owner.get(`/v1/scores?run_id=${run}&limit=100`)).body;
  expect(page.data).toHaveLength(limits.scores_per_run);
  expect((await owner.delete(`/v1/runs/${run}`)).status).toBe(200);
  expect(await scoresOf(run)).toEqual([]);
});
