import { afterAll, beforeAll, expect, test } from "bun:test";
import { bucketCount } from "../../domain/agent-label.ts";
import { clientScopes } from "../../domain/scope.ts";
import { settledRun } from "../../testing/settled-run.ts";
import { type Client, testApp } from "../../testing/test-app.ts";
import { bucketOfKey } from "./resolve-agent.ts";

const server = testApp({ dashboard: true });
let admin: Client;
beforeAll(async () => {
  admin = await server.client();
  const many = { reads_per_minute: 1e6, writes_per_minute: 1e6, run_creations_per_minute: 1e6, runs_in_progress: 1e6 };
  await server.projects.update(admin.scope.project_id, { limits: many });
});
afterAll(() => server[Symbol.asyncDispose]());

let agents = 0;
const says = (text: string) => ({ script: [{ text }] });
const fails = { script: [{ error: "Out of order." }] };

/** Creates an agent whose versions say their number, but fail where that is listed. */
async function makeAgent({ versions = 3, failing = [] as number[], more = {} as object } = {}) {
  const name = `desk-${++agents}`;
  const settings = (version: number) => (failing.includes(version) ? fails : says(`v${version}`));
  const body = { name, instructions: "", model: "test/script", model_settings: settings(1), ...more };
  const { id } = (await admin.post("/v1/agents", body)).body;
  for (let version = 2; version <= versions; version++)
    await admin.patch(`/v1/agents/${id}`, { model_settings: settings(version) });
  return { id: id as string, name };
}

const at = (id: string, label = "production") => `/v1/agents/${id}/labels/${label}`;

async function put(id: string, body: object, label?: string) {
  const { status, body: set } = await admin.put(at(id, label), body);
  expect([status, set.error ?? null]).toEqual([200, null]);
  return set;
}

async function start(body: object, by: Client = admin) {
  const { status, body: run } = await by.post("/v1/runs?wait=60", { input: "Hi.", ...body });
  expect([status, run.error?.message ?? null]).toEqual([201, run.error?.message ?? null]);
  return run;
}

const versionOf = async (body: object, by?: Client): Promise<number> => (await start(body, by)).agent_version;

const halves = [
  { version: 2, percent: 50 },
  { version: 3, percent: 50 },
];

test("a run gets the version of its label, with what that version said, and keeps the label's name", async () => {
  const { id, name } = await makeAgent();
  const label = await put(id, { version: 2 });
  expect(label).toMatchObject({ object: "agent_label", name: "production", version: 2, split: null, revision: 1 });
  for (const body of [{ agent_id: id, label: "production" }, { agent_id: `${name}@production` }]) {
    const run = await start(body);
    expect(run).toMatchObject({ agent_id: id, agent_version: 2, agent_label: "production", output: "v2" });
  }
  expect(await start({ agent_id: id, version: 1 })).toMatchObject({
    agent_version: 1,
    agent_label: null,
    output: "v1",
  });
  expect(await start({ agent_id: `${id}@1` })).toMatchObject({ output: "v1" });
  expect(await start({ agent_id: name })).toMatchObject({ agent_version: 3, agent_label: null, output: "v3" });
});

test("a new version does not move a label", async () => {
  const { id } = await makeAgent();
  await put(id, { version: 3 });
  await admin.patch(`/v1/agents/${id}`, { instructions: "Be brief." });
  expect(await versionOf({ agent_id: id, label: "production" })).toBe(3);
  expect(await versionOf({ agent_id: id })).toBe(4);
});

test("the run after a move gets the new version, and a run under way keeps its own", async () => {
  const tool = (await admin.post("/v1/tools", { name: `ask-${agents}`, type: "client" })).body;
  const script = (text: string) => [{ tool_calls: [{ name: tool.name, arguments: {} }] }, { text }];
  const { id } = await makeAgent({
    versions: 1,
    more: { tools: [tool.id], model_settings: { script: script("old") } },
  });
  await admin.patch(`/v1/agents/${id}`, { model_settings: { script: script("new") } });
  await put(id, { version: 1 });
  const waiting = await start({ agent_id: id, label: "production" });
  expect(waiting.status).toBe("requires_action");
  await put(id, { version: 2 });
  expect(await versionOf({ agent_id: id, label: "production" })).toBe(2);
  const [call] = waiting.required_action.submit_tool_outputs.tool_calls;
  await admin.post(`/v1/runs/${waiting.id}/submit_tool_outputs`, {
    tool_outputs: [{ tool_call_id: call.tool_call_id, output: 1 }],
  });
  expect(await settledRun(server, admin, waiting.id)).toMatchObject({
    status: "completed",
    agent_version: 1,
    output: "old",
  });
});

test("a replay and a fork of a run keep its version, and do not count for the label", async () => {
  const { id } = await makeAgent();
  await put(id, { version: 2 });
  const run = await start({ agent_id: id, label: "production" });
  await put(id, { version: 3 });
  await put(id, { version: 2 });
  expect((await admin.post(`/v1/runs/${run.id}/replay`)).body).toMatchObject({ agent_version: 2, status: "completed" });
  const fork = (await admin.post(`/v1/runs/${run.id}/fork?wait=60`, { step_index: -1 })).body;
  expect(fork).toMatchObject({ agent_version: 2, agent_label: null });
  expect((await admin.get(`${at(id)}/report`)).body.versions).toMatchObject([{ version: 2, runs: 0 }]);
});

test("a version keeps its model and its tools, without those that were deleted", async () => {
  const [kept, gone] = await Promise.all(
    ["kept", "gone"].map((name) => admin.post("/v1/tools", { name: `${name}-${agents}`, type: "client" })),
  );
  const names = [kept!.body.name, gone!.body.name];
  const script = [{ tool_calls: names.map((name) => ({ name, arguments: {} })) }, { text: "v1" }];
  const more = { tools: [kept!.body.id, gone!.body.id], model_settings: { script } };
  const { id } = await makeAgent({ versions: 1, more });
  await admin.patch(`/v1/agents/${id}`, { model: "test/echo", model_settings: {}, tools: [], name: `later-${agents}` });
  await admin.delete(`/v1/tools/${gone!.body.id}`);
  const run = await start({ agent_id: id, version: 1 });
  expect(run).toMatchObject({ model: "test/script", status: "requires_action" });
  const asked = run.required_action.submit_tool_outputs.tool_calls;
  expect([asked.length, JSON.stringify(asked).includes(kept!.body.name)]).toEqual([1, true]);
  const changed = await start({ agent_id: id, version: 1, overrides: { additional_instructions: "Be brief." } });
  expect(changed).toMatchObject({ agent_version: 1, model: "test/script" });
});

test("a split keeps a thread's version, else a user's, and splits the others", async () => {
  const { id } = await makeAgent();
  const label = await put(id, { split: halves });
  expect(label).toMatchObject({ version: null, split: [{ version: 3 }, { version: 2 }] });
  const body = { agent_id: id, label: "production" };
  const first = await start({ ...body, thread_id: "new" });
  const again = await Promise.all(
    [1, 2, 3].map(() => start({ ...body, thread_id: first.thread_id, if_thread_busy: "queue" })),
  );
  expect(new Set([first, ...again].map((run) => run.agent_version)).size).toBe(1);
  const wanted = (user: string) => (bucketOfKey(label.id, user) < bucketCount / 2 ? 3 : 2);
  for (const user of ["ada", "grace", "edsger", "barbara", "alan", "donald"])
    expect([user, await versionOf({ ...body, user_id: user })]).toEqual([user, wanted(user)]);
  const runs = await Promise.all(Array.from({ length: 30 }, () => versionOf(body)));
  expect(new Set(runs)).toEqual(new Set([2, 3]));
});

test("who has the newer version keeps it while its percent grows, in both orders of the request", async () => {
  const { id } = await makeAgent();
  const users = Array.from({ length: 12 }, (_, i) => `user-${i}`);
  const all = () => Promise.all(users.map((user_id) => versionOf({ agent_id: id, label: "production", user_id })));
  let before: number[] = users.map(() => 2);
  for (const percent of [0, 25, 60, 100]) {
    const split = [
      { version: 2, percent: 100 - percent },
      { version: 3, percent },
    ];
    await put(id, { split: percent === 60 ? split.toReversed() : split });
    const after = await all();
    expect(after.filter((version, i) => before[i] === 3 && version !== 3)).toEqual([]);
    before = after;
  }
  expect(new Set(before)).toEqual(new Set([3]));
});

test("labels split independently of one another, so that not always the same users get the new versions", () => {
  const users = Array.from({ length: 2000 }, (_, i) => `user-${i}`);
  const few = (label: string) => users.filter((user) => bucketOfKey(label, user) < bucketCount / 10);
  const [a, b] = [few("lbl_a"), new Set(few("lbl_b"))];
  expect(a.length).toBeGreaterThan(150);
  expect(a.length).toBeLessThan(250);
  expect(a.filter((user) => b.has(user)).length).toBeLessThan(60);
});

test("a version and a label together are refused, and so is what does not exist", async () => {
  const { id, name } = await makeAgent();
  await put(id, { version: 1 });
  const refused = async (body: object) => {
    const { status, body: answer } = await admin.post("/v1/runs", { input: "Hi.", ...body });
    return [status, answer.error.param];
  };
  expect(await refused({ agent_id: id, version: 1, label: "production" })).toEqual([400, "label"]);
  expect(await refused({ agent_id: `${name}@production`, version: 1 })).toEqual([400, "version"]);
  expect(await refused({ agent_id: `${name}@production`, label: "production" })).toEqual([400, "label"]);
  expect(await refused({ agent_id: id, version: 9 })).toEqual([404, "version"]);
  expect(await refused({ agent_id: id, label: "staging" })).toEqual([404, "label"]);
  expect(await refused({ agent_id: `${name}@staging` })).toEqual([404, "agent_id"]);
  expect(await refused({ agent_id: `${name}@9` })).toEqual([404, "agent_id"]);
  expect(await refused({ agent_id: "no such desk" })).toEqual([404, "agent_id"]);
  expect(await refused({ agent_id: `agt_${"0".repeat(26)}@production` })).toEqual([400, "agent_id"]);
});

test("a label's name and what it holds are checked, with every fault at its place", async () => {
  const { id } = await makeAgent();
  const split = (...percents: number[]) => ({ split: percents.map((percent, i) => ({ version: i + 2, percent })) });
  const cases: [object, string, string?][] = [
    [{}, "version"],
    [{ version: 1, split: halves }, "split"],
    [{ version: 9 }, "version"],
    [{ version: 0 }, "version"],
    [split(50, 49), "split"],
    [split(50, 50.01), "split"],
    [split(33.333, 66.667), "split[0].percent"],
    [split(-1, 101), "split[0].percent"],
    [split(100), "split"],
    [split(40, 30, 30), "split"],
    [{ split: [halves[0], halves[0]] }, "split[1].version"],
    [{ split: [halves[0], { version: 9, percent: 50 }] }, "split[1].version"],
    [{ version: 1, rollback_on: {} }, "rollback_on"],
    [{ version: 1, rollback_on: { failure_rate: 0 } }, "rollback_on.failure_rate"],
    [{ version: 1, rollback_on: { failure_rate: 0.5 } }, "rollback_on"],
    [{ version: 1 }, "label", "Production"],
    [{ version: 1 }, "label", "3"],
    [{ version: 1 }, "label", "a%40b"],
    [{ version: 1 }, "label", "a".repeat(65)],
    [{ version: 1 }, "label", "x'%20OR%201=1"],
  ];
  for (const [body, param, label] of cases) {
    const { status, body: answer } = await admin.put(at(id, label), body);
    expect([body, label, status, answer.error.errors?.[0].param ?? answer.error.param]).toEqual([
      body,
      label,
      400,
      param,
    ]);
  }
  expect((await admin.get(`/v1/agents/${id}/labels`)).body.data).toEqual([]);
  for (const percent of [0.1, 33.33, 64.04]) await put(id, split(percent, Number((100 - percent).toFixed(2))));
});

test("a name that two agents have, or that contains an @, says which ones could be meant", async () => {
  const two = await Promise.all(
    [1, 2].map(() => admin.post("/v1/agents", { name: "twin", instructions: "", model: "test/echo" })),
  );
  const ids = two.map(({ body }) => body.id).sort();
  const lone = (await admin.post("/v1/agents", { name: "help@acme", instructions: "", model: "test/echo" })).body.id;
  const ambiguous = async (agent_id: string, by = admin) => {
    const { status, body } = await by.post("/v1/runs", { agent_id, input: "Hi." });
    return [status, body.error.code, body.error.details?.agent_ids];
  };
  expect(await ambiguous("twin")).toEqual([409, "agent_ambiguous", ids]);
  expect(await ambiguous("twin@production")).toEqual([409, "agent_ambiguous", ids]);
  expect(await ambiguous("help@acme")).toEqual([409, "agent_ambiguous", [lone]]);
  expect(await ambiguous("help@acme@production")).toEqual([409, "agent_ambiguous", [lone]]);
  const help = (await admin.post("/v1/agents", { name: "help", instructions: "", model: "test/echo" })).body.id;
  await put(help, { version: 1 }, "acme");
  expect(await ambiguous("help@acme")).toEqual([409, "agent_ambiguous", [lone, help]]);
  // A key for one of both knows no other.
  const bound = await server.client({ agent_ids: [ids[1]!] });
  expect(await start({ agent_id: "twin" }, bound)).toMatchObject({ agent_id: ids[1] });
  expect((await ambiguous("help", bound))[0]).toBe(404);
  for (const name of ["twin' OR '1'='1", "%", "TWIN", " twin", "twin\u0000"])
    expect((await ambiguous(name))[0]).toBe(404);
});

test("an agent of another project or environment is found by no name", async () => {
  const { name } = await makeAgent();
  for (const by of [await server.client({ project: "other" }), await server.client({ environment: "live" })])
    expect((await by.post("/v1/runs", { agent_id: name, input: "Hi." })).status).toBe(404);
});

test("setting what a label holds already moves nothing", async () => {
  const { id } = await makeAgent();
  const set = await put(id, { version: 1 });
  expect(await put(id, { version: 1 })).toEqual({ ...set, request_id: expect.any(String) });
  expect((await admin.get(`${at(id)}/revisions`)).body.data).toHaveLength(1);
});

test("a label says why it holds its versions: it was set, or rolled back", async () => {
  const { id } = await makeAgent();
  const reasonOf = async () => {
    const { body } = await admin.get(`/v1/agents/${id}/labels`);
    return body.data[0].reason;
  };
  expect(await put(id, { version: 1 })).toMatchObject({ reason: "set" });
  await put(id, { version: 2 });
  expect((await admin.post(`${at(id)}/rollback`)).body).toMatchObject({ reason: "rollback" });
  expect(await reasonOf()).toBe("rollback");
  // A rule alone moves nothing.
  await put(id, { version: 1, rollback_on: { failure_rate: 0.5 } });
  expect(await reasonOf()).toBe("rollback");
  await put(id, { version: 3 });
  expect(await reasonOf()).toBe("set");
});

test("a rollback returns to what the label held before, and a second one further back, each in one audited step", async () => {
  const { id } = await makeAgent();
  for (const version of [1, 2, 3]) await put(id, { version });
  const back = async () => (await admin.post(`${at(id)}/rollback`)).body;
  expect(await back()).toMatchObject({ version: 2, revision: 4 });
  expect(await versionOf({ agent_id: id, label: "production" })).toBe(2);
  expect(await back()).toMatchObject({ version: 1, revision: 5 });
  expect(await back()).toMatchObject({ error: { code: "label_has_no_past" } });
  await put(id, { split: halves });
  expect(await back()).toMatchObject({ version: 1, revision: 7 });
  const { data } = (await admin.get(`${at(id)}/revisions`)).body;
  expect(data.map(({ revision, reason, restores }: never) => [revision, reason, restores])).toEqual([
    [7, "rollback", 1],
    [6, "set", null],
    [5, "rollback", 1],
    [4, "rollback", 2],
    [3, "set", null],
    [2, "set", null],
    [1, "set", null],
  ]);
  const page = (await admin.get(`${at(id)}/revisions?limit=2&starting_after=6`)).body;
  expect([page.data.map(({ revision }: never) => revision), page.has_more]).toEqual([[5, 4], true]);
  expect((await admin.get(`${at(id)}/revisions?starting_after=99`)).body.error.code).toBe("invalid_cursor");
  const { id: label } = (await admin.get(at(id))).body;
  const audit = (await admin.get(`/v1/audit_log?target_id=${label}`)).body.data;
  expect(audit.map(({ action }: never) => action)).toEqual([
    "label.rolled_back",
    "label.moved",
    "label.rolled_back",
    "label.rolled_back",
    "label.moved",
    "label.moved",
    "label.created",
  ]);
  expect(audit[0].details).toMatchObject({ agent_id: id, name: "production", to: [{ version: 1, percent: 100 }] });
});

test("of two people who roll back at once, the second gets an error and goes no further back", async () => {
  const { id } = await makeAgent();
  for (const version of [1, 2, 3]) await put(id, { version });
  const both = await Promise.all([1, 2].map(() => admin.post(`${at(id)}/rollback`, { expected_revision: 3 })));
  expect(both.map(({ status }) => status).sort()).toEqual([200, 409]);
  expect((await admin.get(at(id))).body).toMatchObject({ version: 2, revision: 4 });
  const late = await admin.put(at(id), { version: 1, expected_revision: 3 });
  expect([late.status, late.body.error.details]).toEqual([409, { revision: 4 }]);
  expect((await admin.put(at(id, "new"), { version: 1, expected_revision: 1 })).status).toBe(409);
  await put(id, { version: 1, expected_revision: 0 }, "new");
});

test("an agent takes its labels with it, and a deleted label is found no more", async () => {
  const { id, name } = await makeAgent();
  await put(id, { version: 1 });
  await put(id, { version: 2 }, "staging");
  await start({ agent_id: id, label: "staging" });
  expect((await admin.delete(at(id, "staging"))).body).toMatchObject({ object: "agent_label", deleted: true });
  expect((await admin.post("/v1/runs", { agent_id: `${name}@staging`, input: "Hi." })).status).toBe(404);
  expect((await admin.get(`/v1/agents/${id}/labels`)).body.data).toMatchObject([{ name: "production" }]);
  await admin.delete(`/v1/agents/${id}`);
  for (const table of ["agent_labels", "agent_label_revisions", "label_runs"]) {
    const sql = `SELECT count(*) AS n FROM ${table} t WHERE ${table === "agent_labels" ? "t.agent_id = ?" : "t.label_id NOT IN (SELECT id FROM agent_labels) OR ? = ''"}`;
    expect([table, server.db.sqlite.query<{ n: number }, [string]>(sql).get(id)]).toEqual([table, { n: 0 }]);
  }
});

test("a run that was started with a key is returned again, also after its label is gone", async () => {
  const { id, name } = await makeAgent();
  await put(id, { version: 1 });
  const again = () =>
    server.send(
      "POST",
      "/v1/runs?wait=60",
      { agent_id: `${name}@production`, input: "Hi." },
      { authorization: `Bearer ${admin.key.secret}`, "idempotency-key": "once" },
    );
  const first = await again();
  await put(id, { version: 2 });
  expect((await again()).body).toMatchObject({ id: first.body.id, agent_version: 1 });
  await admin.delete(at(id));
  expect((await again()).body).toMatchObject({ id: first.body.id, agent_version: 1 });
});

test("a label's report has the numbers of its versions side by side, since it holds them", async () => {
  const { id } = await makeAgent({ failing: [3] });
  await put(id, { version: 2 });
  await start({ agent_id: id, label: "production" });
  await put(id, { split: halves });
  const users = Array.from({ length: 16 }, (_, i) => `user-${i}`);
  const runs = await Promise.all(users.map((user_id) => start({ agent_id: id, label: "production", user_id })));
  await start({ agent_id: id, version: 3 });
  const good = runs.filter(({ agent_version }) => agent_version === 2);
  await admin.put(`/v1/runs/${good[0].id}/scores/right`, { value: 1 });
  await admin.put(`/v1/runs/${good[1].id}/scores/right`, { value: 0 });
  const report = (await admin.get(`${at(id)}/report`)).body;
  const bad = runs.length - good.length;
  expect(report.versions).toMatchObject([
    { version: 3, percent: 50, runs: bad, completed: 0, failed: bad, failure_rate: 1, scores: [] },
    {
      version: 2,
      percent: 50,
      runs: good.length,
      completed: good.length,
      failed: 0,
      failure_rate: 0,
      scores: [{ name: "right", count: 2, mean: 0.5 }],
    },
  ]);
  const [, { mean_ms, median_ms, input_tokens, output_tokens }] = report.versions;
  expect([typeof mean_ms, typeof median_ms, input_tokens > 0, output_tokens > 0]).toEqual([
    "number",
    "number",
    true,
    true,
  ]);
  // Other percents leave the numbers, other versions begin anew.
  await put(id, {
    split: [
      { version: 2, percent: 20 },
      { version: 3, percent: 80 },
    ],
  });
  expect((await admin.get(`${at(id)}/report`)).body).toMatchObject({
    since: report.since,
    versions: [{ runs: bad }, {}],
  });
  await put(id, { version: 2 });
  expect((await admin.get(`${at(id)}/report`)).body.versions).toMatchObject([
    { version: 2, runs: 0, failure_rate: null },
  ]);
});

test("the server rolls a label back once when too many runs fail, with an audit entry and an event", async () => {
  const { id } = await makeAgent({ failing: [3] });
  const hook = (
    await admin.post("/v1/webhooks", { url: "https://[2001:4860:4860::8888]/", events: ["label.rolled_back"] })
  ).body;
  await put(id, { version: 1 });
  await put(id, { version: 2 });
  await put(id, { version: 3, rollback_on: { failure_rate: 0.5, min_runs: 4 } });
  const results = [];
  for (let i = 0; i < 6; i++) results.push(await versionOf({ agent_id: id, label: "production" }));
  expect(results).toEqual([3, 3, 3, 3, 2, 2]);
  const label = (await admin.get(at(id))).body;
  expect(label).toMatchObject({ version: 2, revision: 4, rollback_on: null, reason: "automatic_rollback" });
  const { data } = (await admin.get(`${at(id)}/revisions?limit=1`)).body;
  expect(data).toMatchObject([{ reason: "automatic_rollback", restores: 2, actor: { type: "cli", id: "runnel" } }]);
  const audit = (await admin.get(`/v1/audit_log?target_id=${label.id}&action=label.rolled_back`)).body.data;
  expect(audit).toMatchObject([{ details: { reason: "automatic_rollback", to: [{ version: 2 }] } }]);
  const deliveries = (await admin.get(`/v1/webhooks/${hook.id}/deliveries`)).body.data;
  expect(deliveries).toHaveLength(1);
  const { body } = (await admin.get(`/v1/webhooks/${hook.id}/deliveries/${deliveries[0].id}`)).body;
  expect(JSON.parse(body).data.object).toMatchObject({
    id: label.id,
    version: 2,
    rolled_back_version: 3,
    cause: "failure_rate",
  });
  await admin.delete(`/v1/webhooks/${hook.id}`);
});

test("many runs that end at once roll a label back once", async () => {
  const { id } = await makeAgent({ failing: [3] });
  await put(id, { version: 1 });
  await put(id, { version: 3, rollback_on: { failure_rate: 0.2, min_runs: 5 } });
  await Promise.all(Array.from({ length: 25 }, () => start({ agent_id: id, label: "production" })));
  expect((await admin.get(at(id))).body).toMatchObject({ version: 1, revision: 3 });
});

test("a split whose newer version fails goes to the other one, however often its percents were changed", async () => {
  const { id } = await makeAgent({ failing: [3] });
  const split = (percent: number) => [
    { version: 3, percent },
    { version: 2, percent: 100 - percent },
  ];
  await put(id, { split: split(10) });
  await put(id, { split: split(99), rollback_on: { failure_rate: 0.9, min_runs: 2 } });
  await Promise.all(Array.from({ length: 20 }, () => start({ agent_id: id, label: "production" })));
  expect((await admin.get(at(id))).body).toMatchObject({ version: 2, split: null });
});

test("failures from before a label was set again do not roll it back", async () => {
  const { id } = await makeAgent({ failing: [3] });
  const rule = { rollback_on: { failure_rate: 0.5, min_runs: 2 } };
  await put(id, { version: 1 });
  await put(id, { version: 3, ...rule });
  for (let i = 0; i < 2; i++) await start({ agent_id: id, label: "production" });
  await put(id, { version: 3, ...rule });
  await start({ agent_id: id, label: "production" });
  expect((await admin.get(at(id))).body.version).toBe(3);
  await start({ agent_id: id, label: "production" });
  expect((await admin.get(at(id))).body.version).toBe(1);
});

test("neither cancelled runs nor those of the older version count for a rollback", async () => {
  const { id } = await makeAgent({ failing: [2] });
  const split = [
    { version: 3, percent: 1 },
    { version: 2, percent: 99 },
  ];
  await put(id, { split, rollback_on: { failure_rate: 0.1, min_runs: 1 } });
  const label = (await admin.get(at(id))).body;
  const older = Array.from({ length: 40 }, (_, i) => `user-${i}`).filter((user) => bucketOfKey(label.id, user) >= 100);
  for (const user_id of older.slice(0, 5))
    expect(await versionOf({ agent_id: id, label: "production", user_id })).toBe(2);
  expect((await admin.get(at(id))).body.split).toHaveLength(2);
});

test("the server rolls a label back when a score's mean is too low", async () => {
  const { id } = await makeAgent();
  await put(id, { version: 2 });
  await put(id, { version: 3, rollback_on: { score: { name: "right", below: 0.5 }, min_runs: 2 } });
  const runs = [await start({ agent_id: id, label: "production" }), await start({ agent_id: id, label: "production" })];
  await admin.put(`/v1/runs/${runs[0].id}/scores/right`, { value: 0.2 });
  await admin.put(`/v1/runs/${runs[1].id}/scores/other`, { value: 0 });
  expect((await admin.get(at(id))).body.version).toBe(3);
  await admin.put(`/v1/runs/${runs[1].id}/scores/right`, { value: 0.7 });
  expect((await admin.get(at(id))).body.version).toBe(2);
});

test("a schedule keeps its label and reads it at each run", async () => {
  const { id, name } = await makeAgent();
  await put(id, { version: 1 });
  const body = {
    name: "s",
    agent_id: `${name}@production`,
    input: "Go.",
    cron: "0 9 * * *",
    timezone: "Europe/Berlin",
  };
  const schedule = (await admin.post("/v1/schedules", body)).body;
  expect(schedule).toMatchObject({ agent_id: id, label: "production", version: null });
  const fire = async () => (await admin.post(`/v1/schedules/${schedule.id}/trigger`)).body;
  expect(await fire()).toMatchObject({ agent_version: 1, agent_label: "production" });
  await put(id, { version: 2 });
  expect(await fire()).toMatchObject({ agent_version: 2 });
  const path = `/v1/schedules/${schedule.id}`;
  expect((await admin.patch(path, { input: "On." })).body).toMatchObject({ label: "production" });
  expect((await admin.patch(path, { version: 3 })).body).toMatchObject({ agent_id: id, version: 3, label: null });
  expect(await fire()).toMatchObject({ agent_version: 3, agent_label: null });
  expect((await admin.patch(path, { version: null })).body).toMatchObject({ version: null, label: null });
  expect((await admin.patch(path, { label: "none" })).body.error).toMatchObject({ param: "label" });
  expect((await admin.patch(path, { label: "production" })).body).toMatchObject({ label: "production" });
  await admin.delete(at(id));
  expect((await admin.post(`${path}/trigger`)).body.error).toMatchObject({
    code: "resource_not_found",
    param: "label",
  });
});

test("an agent tool calls the version of its label, each call as the label stands then", async () => {
  const { id, name } = await makeAgent();
  await put(id, { version: 1 });
  const tool = (await admin.post("/v1/tools", { name: `sub-${agents}`, type: "agent", agent_id: `${name}@production` }))
    .body;
  expect(tool).toMatchObject({ agent_id: id, label: "production", version: null });
  const script = [{ tool_calls: [{ name: tool.name, arguments: { input: "Hi." } }] }, { text: "{{tool_result}}" }];
  const parent = await makeAgent({ versions: 1, more: { tools: [tool.id], model_settings: { script } } });
  const child = async () => {
    const run = await start({ agent_id: parent.id });
    return (await admin.get(`/v1/runs?parent_run_id=${run.id}&include=messages`)).body.data[0];
  };
  expect(await child()).toMatchObject({ agent_version: 1, agent_label: "production", output: "v1" });
  await put(id, { version: 2 });
  expect(await child()).toMatchObject({ agent_version: 2, output: "v2" });
  expect((await admin.get(`${at(id)}/report`)).body.versions).toMatchObject([{ version: 2, runs: 1 }]);
  const path = `/v1/tools/${tool.id}`;
  expect((await admin.patch(path, { version: 3 })).body).toMatchObject({ version: 3, label: null });
  expect(await child()).toMatchObject({ agent_version: 3, agent_label: null });
  expect((await admin.patch(path, { description: "Asks." })).body).toMatchObject({ version: 3 });
  expect((await admin.patch(path, { agent_id: id })).body).toMatchObject({ version: null, label: null });
  expect((await admin.patch(path, { label: "none" })).status).toBe(404);
  expect((await admin.post("/v1/tools", { name: "n", type: "client", label: "production" })).status).toBe(400);
  await admin.patch(path, { label: "production" });
  await admin.delete(at(id));
  const run = await start({ agent_id: parent.id });
  expect(run.tool_calls[0].error).toMatchObject({ message: expect.stringContaining('no label "production"') });
});

test("a client token starts runs of the version that its maker chose, and of no other", async () => {
  const { id, name } = await makeAgent();
  await put(id, { version: 2 });
  const made = await admin.post("/v1/client_tokens", {
    agent_id: `${name}@production`,
    scopes: [...clientScopes],
    expires_in_seconds: 600,
    user_id: "ada",
  });
  expect(made.body).toMatchObject({ agent_id: id, label: "production", version: null });
  const ask = (body: object) =>
    server.send("POST", "/v1/runs?wait=60", { input: "Hi.", ...body }, { authorization: `Bearer ${made.body.token}` });
  expect((await ask({ agent_id: id })).body).toMatchObject({ agent_version: 2, agent_label: "production" });
  expect((await ask({ agent_id: `${name}@production` })).body).toMatchObject({ agent_version: 2 });
  await put(id, { version: 1 });
  expect((await ask({ agent_id: id })).body).toMatchObject({ agent_version: 1 });
  for (const body of [{ agent_id: `${id}@3` }, { agent_id: id, version: 3 }, { agent_id: id, label: "production" }])
    expect((await ask(body)).status).toBe(403);
  const plain = (await admin.post("/v1/client_tokens", { agent_id: id, scopes: ["run"], expires_in_seconds: 600 }))
    .body;
  const authorization = { authorization: `Bearer ${plain.token}` };
  expect((await server.send("POST", "/v1/runs", { agent_id: `${id}@1`, input: "Hi." }, authorization)).status).toBe(
    403,
  );
});

test("a chat page talks with the version of its label, also for visitors who came before it was moved", async () => {
  const { id } = await makeAgent();
  await put(id, { version: 1 });
  const page = (await admin.put(`/v1/agents/${id}/chat_page`, { access: "link", label: "production" })).body;
  expect(page.label).toBe("production");
  const { body } = await server.send("POST", `/chat/${id}/token`, { secret: new URL(page.url).hash.slice(1) });
  const ask = async () => {
    const authorization = { authorization: `Bearer ${body.token}` };
    const { id: run } = (await server.send("POST", "/v1/runs?wait=60", { agent_id: id, input: "Hi." }, authorization))
      .body;
    return (await admin.get(`/v1/runs/${run}`)).body.agent_version;
  };
  expect(await ask()).toBe(1);
  await put(id, { version: 2 });
  expect(await ask()).toBe(2);
  await admin.put(`/v1/agents/${id}/chat_page`, { access: "link" });
  expect(await ask()).toBe(3);
  expect((await admin.put(`/v1/agents/${id}/chat_page`, { access: "link", label: "none" })).status).toBe(404);
});

test("every protocol takes a name with a label", async () => {
  const { id, name } = await makeAgent({ more: { doors: { mcp: true, a2a: true } } });
  await put(id, { version: 2 });
  const authorization = `Bearer ${admin.key.secret}`;
  const newest = async () => (await admin.get(`/v1/runs?agent_id=${id}&limit=1`)).body.data[0];
  const send = async (path: string, body: object, headers = {}) => {
    const { status, body: answer } = await server.send("POST", path, body, { authorization, ...headers });
    expect([path, status, status === 200 ? null : answer]).toEqual([path, 200, null]);
    expect([path, await newest()]).toMatchObject([path, { agent_version: 2, agent_label: "production" }]);
    return answer;
  };
  const reference = `${name}@production`;
  const messages = [{ role: "user", content: "Hi." }];
  const completion = await send("/openai/v1/chat/completions", { model: reference, messages });
  expect(completion).toMatchObject({ model: reference, choices: [{ message: { content: "v2" } }] });
  await send("/openai/v1/responses", { model: `${id}@production`, input: "Hi." });
  expect((await server.send("GET", `/openai/v1/models/${reference}`, undefined, { authorization })).body.id).toBe(
    reference,
  );
  const ui = { id: "chat", messages: [{ id: "m", role: "user", parts: [{ type: "text", text: "Hi." }] }] };
  await send(`/ui/v1/agents/${reference}/chat`, ui);
  await send(`/ui/v1/agents/${encodeURIComponent(reference)}/chat`, { ...ui, id: "other" });
  const input = { threadId: "t", runId: "r", state: {}, tools: [], context: [], forwardedProps: {} };
  await send(`/ag-ui/v1/agents/${reference}`, { ...input, messages: [{ id: "m", role: "user", content: "Hi." }] });
  const message = { messageId: "m", role: "ROLE_USER", parts: [{ text: "Hi." }] };
  await send(`/a2a/v1/agents/${reference}/message:send`, { message });
  const rpc = { jsonrpc: "2.0", id: 1, method: "SendMessage", params: { message: { ...message, messageId: "n" } } };
  await send(`/a2a/v1/agents/${encodeURIComponent(reference)}`, rpc);
  const card = await server.send("GET", `/a2a/v1/agents/${reference}/.well-known/agent-card.json`, undefined, {
    authorization,
  });
  expect(card.body.supportedInterfaces[0].url).toEndWith(`/a2a/v1/agents/${id}@production`);
  for (const path of [`/ui/v1/agents/${name}@none/chat`, `/ag-ui/v1/agents/no-such-desk`])
    expect(
      (
        await server.send("POST", path, path.includes("ui/v1/agents/d") ? ui : { ...input, messages: [] }, {
          authorization,
        })
      ).status,
    ).toBe(404);
  expect(
    (await server.send("POST", "/openai/v1/chat/completions", { model: `${name}@none`, messages }, { authorization }))
      .status,
  ).toBe(404);
});

test("labels belong to their agent and to admin keys", async () => {
  const [{ id }, other] = [await makeAgent(), await makeAgent()];
  await put(id, { version: 1 });
  expect((await admin.get(at(other.id))).status).toBe(404);
  const bound = await server.client({ agent_ids: [other.id] });
  for (const path of [at(id), `/v1/agents/${id}/labels`, `${at(id)}/report`, `${at(id)}/revisions`])
    expect([path, (await bound.get(path)).status]).toEqual([path, 404]);
  const reader = await server.client({ scopes: ["read", "run"] });
  expect((await reader.get(at(id))).status).toBe(200);
  for (const answer of [
    await reader.put(at(id), { version: 2 }),
    await reader.post(`${at(id)}/rollback`),
    await reader.delete(at(id)),
  ])
    expect(answer.status).toBe(403);
});

test("an agent has at most 50 labels", async () => {
  const { id } = await makeAgent({ versions: 1 });
  for (let i = 0; i < 50; i++) await put(id, { version: 1 }, `l${i}`);
  expect((await admin.put(at(id, "more"), { version: 1 })).status).toBe(400);
});
