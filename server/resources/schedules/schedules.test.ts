import { afterEach, expect, spyOn, test } from "bun:test";
import { AppError } from "../../domain/errors.ts";
import { silentLog } from "../../lib/log.ts";
import type { Answer } from "../../testing/expect-declared.ts";
import { type Client, type TestApp, type TestAppOptions, testApp } from "../../testing/test-app.ts";

const minute_ms = 60_000;
const hour_ms = 60 * minute_ms;

/** Server whose clock stands still until a test moves it. */
interface World {
  server: TestApp;
  client: Client;
  clock: { at: number };
  /** Sets the clock, fires everything that is due, and waits for its runs. */
  goTo(time: string | number): Promise<void>;
  fired(id: string): Promise<{ due: string; trigger: string; outcome: string }[]>;
}

const servers: TestApp[] = [];
afterEach(async () => {
  for (const server of servers.splice(0)) await server[Symbol.asyncDispose]();
});

const at = (time: string | number): number => (typeof time === "number" ? time : Date.parse(`${time}Z`));

async function world(begin = "2026-11-21T08:30:00", options: TestAppOptions = {}): Promise<World> {
  const clock = { at: at(begin) };
  const server = testApp({ ...options, now: () => clock.at });
  servers.push(server);
  const client = await server.client();
  await server.recover();
  return {
    server,
    client,
    clock,
    async goTo(time) {
      clock.at = at(time);
      server.scheduler.look();
      await server.scheduler.idle();
      await settled(server);
    },
    async fired(id) {
      const { body } = await client.get(`/v1/schedules/${id}/runs?order=asc`);
      return body.data.map(({ due_at, trigger, outcome }: Record<string, string>) => ({
        due: due_at!.slice(0, 16),
        trigger,
        outcome,
      }));
    },
  };
}

/** Waits until no run is in progress or queued. */
async function settled({ db }: TestApp): Promise<void> {
  const going = db.sqlite.query("SELECT 1 FROM runs WHERE status IN ('in_progress', 'queued')");
  while (going.get()) await Bun.sleep(1);
}

async function agentOf(client: Client, script: object[] = [{ text: "Done." }], more: object = {}): Promise<string> {
  const body = { name: "a", instructions: "", model: "test/script", model_settings: { script }, ...more };
  const { status, body: agent } = await client.post("/v1/agents", body);
  expect(status).toBe(201);
  return agent.id;
}

const hourly = { name: "Report", input: "Go.", cron: "0 * * * *", timezone: "Europe/Berlin" };

async function schedule(client: Client, body: object = {}): Promise<string> {
  const answer = await client.post("/v1/schedules", { ...hourly, agent_id: await agentOf(client), ...body });
  expect([answer.status, answer.body.error]).toEqual([201, undefined]);
  return answer.body.id;
}

/** Creates an agent whose runs wait until they are answered. */
async function waiter(client: Client): Promise<string> {
  const { body: tool } = await client.post("/v1/tools", { name: "ask" });
  return agentOf(client, [{ tool_calls: [{ name: "ask", arguments: {} }] }, { text: "Done." }], { tools: [tool.id] });
}

async function answer({ server, client }: World, runId: string): Promise<void> {
  const run = (await client.get(`/v1/runs/${runId}`)).body;
  const tool_outputs = [{ tool_call_id: run.tool_calls[0].id, output: 1 }];
  expect((await client.post(`/v1/runs/${runId}/submit_tool_outputs`, { tool_outputs })).status).toBe(200);
  await settled(server);
}

const runs = async (client: Client) => (await client.get("/v1/runs?order=asc")).body.data;
const codes = ({ body }: Answer) =>
  body.error.errors.map(({ param, code }: Record<string, string>) => `${param} ${code}`);

test("a schedule shows its next five times, and fires at each", async () => {
  const { client, goTo, fired } = await world();
  const id = await schedule(client, { metadata: { team: "ops" }, user_id: "u1", session_id: "s1" });
  const { body } = await client.get(`/v1/schedules/${id}`);
  expect(body.next_run_ats.map((time: string) => time.slice(11, 16))).toEqual([
    "09:00",
    "10:00",
    "11:00",
    "12:00",
    "13:00",
  ]);
  await goTo("2026-11-21T08:59:59.999");
  expect(await runs(client)).toEqual([]);
  await goTo("2026-11-21T09:00:00");
  await goTo("2026-11-21T10:00:00");
  const all = await runs(client);
  expect(all).toMatchObject(
    Array(2).fill({ status: "completed", input: "Go.", user_id: "u1", metadata: { team: "ops", schedule_id: id } }),
  );
  expect(await fired(id)).toEqual([
    { due: "2026-11-21T09:00", trigger: "plan", outcome: "completed" },
    { due: "2026-11-21T10:00", trigger: "plan", outcome: "completed" },
  ]);
  const after = (await client.get(`/v1/schedules/${id}`)).body;
  expect([after.last_run_id, after.next_run_ats[0]]).toEqual([all[1].id, "2026-11-21T11:00:00.000Z"]);
});

test("a timer fires it, without a request", async () => {
  let began = Number.POSITIVE_INFINITY; // The clock stands still until the timer is set.
  const first = at("2026-11-21T08:59:59.800");
  const server = testApp({ now: () => first + Math.max(0, Date.now() - began) });
  servers.push(server);
  const client = await server.client();
  await server.recover();
  await schedule(client);
  began = Date.now();
  while ((await runs(client))[0]?.status !== "completed") await Bun.sleep(5);
  const [run] = await runs(client);
  // Without its timer it would wait for the periodic check, 14.8 s later.
  expect(Date.parse(run.created_at) - at("2026-11-21T09:00:00")).toBeWithin(0, 14_000);
});

test("all due schedules fire, also more than one batch", async () => {
  const { server, client, goTo } = await world();
  await server.projects.update(client.scope.project_id, { limits: { writes_per_minute: 0, reads_per_minute: 0 } });
  const agent_id = await agentOf(client);
  const ids = await Promise.all(Array.from({ length: 130 }, () => schedule(client, { agent_id })));
  await goTo("2026-11-21T09:00:00");
  const rows = server.db.sqlite
    .query<{ schedule_id: string; outcome: string }, []>("SELECT schedule_id, outcome FROM schedule_runs")
    .all();
  expect(rows.map(({ schedule_id }) => schedule_id).sort()).toEqual(ids.toSorted());
  expect(new Set(rows.map(({ outcome }) => outcome))).toEqual(new Set(["completed"]));
}, 60_000);

test("a project with many schedules due at one instant does not delay another's", async () => {
  const { server, client, clock } = await world();
  const other = await server.client({ project: "other" });
  for (const { scope } of [client, other])
    await server.projects.update(scope.project_id, { limits: { writes_per_minute: 0, reads_per_minute: 0 } });
  const agent_id = await agentOf(client);
  for (let n = 0; n < 300; n++) await schedule(client, { agent_id });
  await schedule(other, { cron: "1 * * * *" });
  clock.at = at("2026-11-21T09:01:00");
  server.scheduler.look();
  const fired = server.db.sqlite.query<{ project_id: string }, []>(
    "SELECT project_id FROM schedule_runs ORDER BY rowid",
  );
  while (fired.all().length < 301) await Bun.sleep(1);
  const order = fired.all().map(({ project_id }) => project_id);
  expect(order.indexOf(other.scope.project_id)).toBeLessThan(100);
}, 60_000);

// --- Clocks ----------------------------------------------------------------------------------------------------------

test("a clock that is set back neither repeats nor skips a time", async () => {
  const { client, goTo, fired } = await world();
  const id = await schedule(client);
  for (const time of ["09:00:00", "08:00:00", "08:30:00", "09:00:00", "09:59:00", "10:00:00"])
    await goTo(`2026-11-21T${time}`);
  expect((await fired(id)).map(({ due }) => due.slice(11))).toEqual(["09:00", "10:00"]);
});

test("neither does a plan that is recomputed after the clock was set back", async () => {
  const errors: string[] = [];
  const { client, clock, goTo, fired } = await world(undefined, {
    log: { ...silentLog, error: (message) => void errors.push(message) },
  });
  const id = await schedule(client);
  await goTo("2026-11-21T09:00:00");
  clock.at = at("2026-11-21T08:10:00");
  await client.patch(`/v1/schedules/${id}`, { cron: "*/30 * * * *" });
  for (const time of ["08:30:00", "09:00:00", "09:30:00"]) await goTo(`2026-11-21T${time}`);
  expect((await fired(id)).map(({ due }) => due.slice(11))).toEqual(["09:00", "08:30", "09:30"]);
  expect(errors).toEqual([]);
});

test.each([
  ["skip", [{ due: "2026-11-21T09:00", trigger: "plan", outcome: "missed" }]],
  ["one", [{ due: "2026-11-21T09:00", trigger: "catch_up", outcome: "completed" }]],
])("a clock that is set forward an hour has missed the times between: %s", async (catch_up, firings) => {
  const { client, goTo, fired } = await world();
  const id = await schedule(client, { catch_up });
  await goTo("2026-11-21T09:30:00");
  expect(await fired(id)).toEqual(firings);
  await goTo("2026-11-21T10:00:00");
  expect(await fired(id)).toEqual([...firings, { due: "2026-11-21T10:00", trigger: "plan", outcome: "completed" }]);
});

/** Sets the next time as an executable with other daylight saving rules had planned it, and starts this one. */
async function plannedBefore({ server }: World, id: string, next: string): Promise<void> {
  await server.db.write(() =>
    server.db.sqlite
      .query("UPDATE schedules SET next_at_ms = ?, next_run_ats = ? WHERE id = ?")
      .run(at(next), JSON.stringify([at(next)]), id),
  );
  server.scheduler.start();
  await server.scheduler.idle();
}

test("a start plans by its own daylight saving rules, whatever an older executable planned", async () => {
  const all = await world("2026-11-21T08:30:00");
  const [late, missed, past] = await Promise.all(
    ["0 12 * * *", "0 10 * * *", "0 9 * * *"].map((cron) => schedule(all.client, { cron, timezone: "UTC" })),
  );
  await all.goTo("2026-11-21T09:30:00");
  await plannedBefore(all, late!, "2026-11-21T13:00:00");
  await plannedBefore(all, past!, "2026-11-22T10:00:00");
  all.clock.at = at("2026-11-21T10:30:00");
  await plannedBefore(all, missed!, "2026-11-21T11:00:00");
  await all.goTo("2026-11-21T12:00:00");
  expect(await all.fired(late!)).toEqual([{ due: "2026-11-21T12:00", trigger: "plan", outcome: "completed" }]);
  // The right time had already passed when it was computed.
  expect(await all.fired(missed!)).toEqual([{ due: "2026-11-21T10:00", trigger: "plan", outcome: "missed" }]);
  expect((await all.fired(past!)).map(({ due }) => due)).toEqual(["2026-11-21T09:00"]);
  const { body } = await all.client.get(`/v1/schedules/${past}`);
  expect(body.next_run_ats[0]).toBe("2026-11-22T09:00:00.000Z");
});

test("a start after the clock was set back neither repeats nor skips a time", async () => {
  const { server, client, clock, goTo, fired } = await world();
  const id = await schedule(client);
  for (const time of ["09:00:00", "10:00:00"]) await goTo(`2026-11-21T${time}`);
  clock.at = at("2026-11-21T08:30:00");
  server.scheduler.start();
  await server.scheduler.idle();
  const { body } = await client.get(`/v1/schedules/${id}`);
  expect(body.next_run_ats[0]).toBe("2026-11-21T11:00:00.000Z");
  await client.patch(`/v1/schedules/${id}`, { cron: "45 * * * *" });
  server.scheduler.start();
  await server.scheduler.idle();
  for (const time of ["08:45:00", "09:45:00"]) await goTo(`2026-11-21T${time}`);
  expect((await fired(id)).map(({ due }) => due.slice(11))).toEqual(["09:00", "10:00", "08:45", "09:45"]);
});

test.each(["skip", "one"])("a time that is late by less than a minute was not missed: %s", async (catch_up) => {
  const { client, goTo, fired } = await world();
  const id = await schedule(client, { catch_up });
  await goTo("2026-11-21T12:00:59");
  expect(await fired(id)).toEqual([{ due: "2026-11-21T12:00", trigger: "plan", outcome: "completed" }]);
});

test("after days without a server there is one run for all missed times", async () => {
  const { client, goTo, fired } = await world();
  const [id, other] = [await schedule(client, { catch_up: "one", cron: "* * * * *" }), await schedule(client)];
  await goTo(at("2026-11-24T12:00:00") + 45 * minute_ms + 500);
  expect(await fired(id)).toEqual([{ due: "2026-11-24T12:45", trigger: "plan", outcome: "completed" }]);
  expect(await fired(other)).toEqual([{ due: "2026-11-24T12:00", trigger: "plan", outcome: "missed" }]);
  expect(await runs(client)).toHaveLength(1);
});

test.each([
  ["Europe/Berlin", "30 2 * * *", "2026-03-28T12:00:00", ["03-29T01:00", "03-30T00:30"]],
  ["America/New_York", "30 1 * * *", "2026-10-31T12:00:00", ["11-01T05:30", "11-02T06:30"]],
  [
    "Australia/Lord_Howe",
    "*/30 1-2 * * *",
    "2026-04-04T12:00:00",
    ["04-04T14:00", "04-04T14:30", "04-04T15:00", "04-04T15:30", "04-04T16:00"],
  ],
  ["UTC", "30 2 * * *", "2026-03-28T12:00:00", ["03-29T02:30", "03-30T02:30"]],
])(
  "%s: a night with a clock change, minute by minute (%s)",
  async (timezone, cron, begin, times) => {
    const { client, clock, server, goTo, fired } = await world(begin);
    await server.projects.update(client.scope.project_id, { limits: { reads_per_minute: 0 } });
    const id = await schedule(client, { cron, timezone });
    const end = at(`2026-${times.at(-1)}`);
    while (clock.at < end) await goTo(clock.at + 10 * minute_ms);
    expect((await fired(id)).map(({ due }) => due.slice(5))).toEqual(times);
  },
  60_000,
);

// --- Unfinished runs -------------------------------------------------------------------------------------------------

test("by default the next run starts beside one that requires action", async () => {
  const { client, goTo, fired } = await world();
  const id = await schedule(client, { agent_id: await waiter(client) });
  await goTo("2026-11-21T09:00:00");
  await goTo("2026-11-21T10:00:00");
  expect((await fired(id)).map(({ outcome }) => outcome)).toEqual(["started", "started"]);
});

test("skip leaves out the times at which the last run is unfinished", async () => {
  const here = await world();
  const { client, goTo, fired } = here;
  const id = await schedule(client, { agent_id: await waiter(client), if_busy: "skip" });
  for (const hour of ["09", "10", "11"]) await goTo(`2026-11-21T${hour}:00:00`);
  await answer(here, (await runs(client))[0].id);
  await goTo("2026-11-21T12:00:00");
  expect((await fired(id)).map(({ outcome }) => outcome)).toEqual(["completed", "skipped", "skipped", "started"]);
});

test("queue starts one run after the last one ends, however many times passed meanwhile", async () => {
  const here = await world();
  const { server, client, goTo, fired } = here;
  const id = await schedule(client, { agent_id: await waiter(client), if_busy: "queue" });
  for (const hour of ["09", "10", "11"]) await goTo(`2026-11-21T${hour}:00:00`);
  expect(await runs(client)).toHaveLength(1);
  await answer(here, (await runs(client))[0].id);
  await server.scheduler.idle();
  expect(await runs(client)).toHaveLength(2);
  expect((await fired(id)).map(({ due, outcome }) => `${due.slice(11)} ${outcome}`)).toEqual([
    "09:00 completed",
    "11:00 skipped",
    "10:00 started",
  ]);
});

// --- Refused runs ----------------------------------------------------------------------------------------------------

const failing = [{ error: "Broken." }];

test("five failed runs in a row switch it off with a reason; after it is switched on, the count starts anew", async () => {
  const { client, goTo } = await world();
  const id = await schedule(client, { agent_id: await agentOf(client, failing) });
  for (let hour = 9; hour < 15; hour++) await goTo(at("2026-11-21T00:00:00") + hour * hour_ms);
  expect(await runs(client)).toHaveLength(5);
  const off = (await client.get(`/v1/schedules/${id}`)).body;
  expect(off).toMatchObject({
    enabled: false,
    failure_count: 5,
    next_run_ats: [],
    last_error: { code: "model_error" },
  });
  expect(off.disabled_reason).toStartWith("5 failures in a row. Last error: model_error: ");
  const log = (await client.get(`/v1/audit_log?action=schedule.disabled`)).body.data;
  expect(log).toMatchObject([{ target: { type: "schedule", id }, actor: { type: "cli", id: "runnel" } }]);

  const on = (await client.patch(`/v1/schedules/${id}`, { enabled: true })).body;
  expect(on).toMatchObject({ enabled: true, failure_count: 0, disabled_reason: null, last_error: null });
  expect(on.next_run_ats[0]).toBe("2026-11-21T15:00:00.000Z");
  await goTo("2026-11-21T15:00:00");
  expect((await client.get(`/v1/schedules/${id}`)).body).toMatchObject({ enabled: true, failure_count: 1 });
});

test("a success resets the count of failures", async () => {
  const { client, goTo } = await world();
  const [bad, good] = [await agentOf(client, failing), await agentOf(client)];
  const id = await schedule(client, { agent_id: bad });
  for (let hour = 9; hour < 13; hour++) await goTo(at("2026-11-21T00:00:00") + hour * hour_ms);
  expect((await client.get(`/v1/schedules/${id}`)).body.failure_count).toBe(4);
  await client.patch(`/v1/schedules/${id}`, { agent_id: good });
  await goTo("2026-11-21T13:00:00");
  expect((await client.get(`/v1/schedules/${id}`)).body).toMatchObject({ failure_count: 0, last_error: null });
});

test("without its agent it fails, and is switched off after five failures", async () => {
  const { client, goTo, fired } = await world();
  const agent_id = await agentOf(client);
  const id = await schedule(client, { agent_id });
  await client.delete(`/v1/agents/${agent_id}`);
  for (let hour = 9; hour < 15; hour++) await goTo(at("2026-11-21T00:00:00") + hour * hour_ms);
  expect((await fired(id)).map(({ outcome }) => outcome)).toEqual(Array(5).fill("failed"));
  const { body } = await client.get(`/v1/schedules/${id}`);
  expect(body).toMatchObject({ enabled: false, last_error: { code: "resource_not_found", run_id: null } });
});

test("a full disk costs a run, and the schedule stays on", async () => {
  let full = false;
  const requireRoom = () => {
    if (full) throw new AppError("storage_full", "The server's disk is full.");
  };
  const { client, goTo } = await world(undefined, { requireRoom });
  const id = await schedule(client);
  full = true;
  for (let hour = 9; hour < 16; hour++) await goTo(at("2026-11-21T00:00:00") + hour * hour_ms);
  const stands = { enabled: true, failure_count: 0, last_error: { code: "storage_full" } };
  expect((await client.get(`/v1/schedules/${id}`)).body).toMatchObject(stands);
  full = false;
  await goTo("2026-11-21T16:00:00");
  expect((await client.get(`/v1/schedules/${id}`)).body).toMatchObject({ last_error: null });
});

test("its run is queued while the maximum number of runs is in progress", async () => {
  const { server, client, clock } = await world();
  await server.projects.update(client.scope.project_id, { limits: { runs_in_progress: 1 } });
  const slow = await agentOf(client, [{ text: "Slow.", delay_ms: 600_000 }]);
  const { body: first } = await client.post("/v1/runs", { agent_id: slow, input: "Go." });
  const id = await schedule(client);
  clock.at = at("2026-11-21T09:00:00");
  server.scheduler.look();
  await server.scheduler.idle();
  const [, run] = await runs(client);
  expect(run.metadata.schedule_id).toBe(id);
  await client.post(`/v1/runs/${first.id}/cancel`, {});
  while ((await client.get(`/v1/runs/${run.id}`)).body.status !== "completed") await Bun.sleep(5);
  expect(
    (await client.get(`/v1/runs/${run.id}/events`)).body.data.map((entry: { event: string }) => entry.event),
  ).toContain("run.queued");
});

test("an archived project fires nothing", async () => {
  const { server, client, goTo } = await world();
  await schedule(client);
  await server.projects.archive(client.scope.project_id, { type: "cli", id: "test", ip: null, request_id: null });
  await goTo("2026-11-21T09:00:00");
  await server.scheduler.idle();
  expect(server.db.sqlite.query("SELECT count(*) AS n FROM runs").get()).toEqual({ n: 0 });
});

test("a schedule that is changed, paused or deleted fires by its new state", async () => {
  const { client, goTo, fired } = await world();
  const [moved, paused, gone] = [await schedule(client), await schedule(client), await schedule(client)];
  await client.patch(`/v1/schedules/${moved}`, { cron: "30 9 * * *", timezone: "UTC", input: "Else." });
  expect((await client.patch(`/v1/schedules/${paused}`, { enabled: false })).body.next_run_ats).toEqual([]);
  expect((await client.delete(`/v1/schedules/${gone}`)).body).toMatchObject({ object: "schedule", deleted: true });
  await goTo("2026-11-21T09:00:00");
  expect(await runs(client)).toEqual([]);
  await goTo("2026-11-21T09:30:00");
  expect(await runs(client)).toMatchObject([{ input: "Else.", metadata: { schedule_id: moved } }]);
  expect(await fired(paused)).toEqual([]);
  await client.patch(`/v1/schedules/${paused}`, { enabled: true });
  await goTo("2026-11-21T10:00:00");
  expect((await fired(paused)).map(({ due }) => due)).toEqual(["2026-11-21T10:00"]);
});

// --- Triggers --------------------------------------------------------------------------------------------------------

test("trigger starts a run now, besides the plan, and also while the schedule is off", async () => {
  const { server, client, goTo, fired } = await world();
  const id = await schedule(client, { enabled: false });
  const run = await client.post(`/v1/schedules/${id}/trigger`, {});
  expect([run.status, run.headers.get("location")]).toEqual([201, `/v1/runs/${run.body.id}`]);
  expect(run.body).toMatchObject({ object: "run", input: "Go.", metadata: { schedule_id: id } });
  await settled(server);
  await goTo("2026-11-21T09:00:00");
  expect(await fired(id)).toEqual([{ due: "2026-11-21T08:30", trigger: "request", outcome: "completed" }]);
  expect((await client.get(`/v1/schedules/${id}`)).body).toMatchObject({ enabled: false, last_run_id: run.body.id });
});

test("a trigger repeated with the same key starts one run", async () => {
  const { server, client } = await world();
  const id = await schedule(client);
  const headers = { authorization: `Bearer ${client.key.secret}`, "idempotency-key": "k" };
  const [first, again] = [
    await server.send("POST", `/v1/schedules/${id}/trigger`, {}, headers),
    await server.send("POST", `/v1/schedules/${id}/trigger`, {}, headers),
  ];
  expect([again.status, again.body.id]).toEqual([201, first.body.id]);
  expect(again.headers.get("idempotent-replayed")).toBe("true");
  expect(await runs(client)).toHaveLength(1);
});

test("a trigger counts for the rate limit of run creations, and planned times do not", async () => {
  const { server, client, goTo } = await world();
  await server.projects.update(client.scope.project_id, { limits: { run_creations_per_minute: 1 } });
  const id = await schedule(client);
  expect((await client.post(`/v1/schedules/${id}/trigger`, {})).status).toBe(201);
  expect((await client.post(`/v1/schedules/${id}/trigger`, {})).status).toBe(429);
  await settled(server);
  await goTo("2026-11-21T09:00:00");
  expect(await runs(client)).toHaveLength(2);
});

// --- Access and validation -------------------------------------------------------------------------------------------

test("every validation error of a schedule is reported", async () => {
  const { client } = await world();
  const body = { ...hourly, agent_id: await agentOf(client) };
  const refused = async (more: object) => codes(await client.post("/v1/schedules", { ...body, ...more }));
  expect(await refused({ cron: "0 0 9 * * *" })).toEqual(["cron cron_seconds"]);
  expect(await refused({ cron: "61 * * * *" })).toEqual(["cron invalid_cron"]);
  expect(await refused({ cron: "0 0 31 4 *" })).toEqual(["cron cron_never_fires"]);
  expect(await refused({ timezone: "Europe/Nowhere", name: " " })).toEqual([
    "name invalid_value",
    "timezone invalid_timezone",
  ]);
  expect(await refused({ timezone: undefined })).toEqual(["timezone required"]);
  expect(await refused({ agent_id: "agt_00000000000000000000000000" })).toEqual(["agent_id invalid_value"]);
  expect(await refused({ input: "€".repeat(100_000) })).toEqual(["input invalid_value"]);
  expect(await refused({ input: "" })).toEqual(["input invalid_value"]);
  expect(await refused({ if_busy: "never" })).toEqual(["if_busy invalid_value"]);
  expect(await refused({ seconds: 5 })).toEqual(["seconds unknown_parameter"]);
  const id = await schedule(client);
  expect(codes(await client.patch(`/v1/schedules/${id}`, { timezone: "+01:00" }))).toEqual([
    "timezone invalid_timezone",
  ]);
  const model = await client.post("/v1/schedules", { ...body, overrides: { model: "nobody/none" } });
  expect([model.status, model.body.error.code]).toEqual([400, "model_not_available"]);
});

test("overrides and a budget apply to its runs, until they are cleared", async () => {
  const { client, goTo } = await world();
  const own = { overrides: { instructions: "Be brief.", max_turns: 3 }, budget: { max_total_tokens: 5000 } };
  const id = await schedule(client, own);
  expect((await client.get(`/v1/schedules/${id}`)).body).toMatchObject(own);
  await goTo("2026-11-21T09:00:00");
  const cleared = await client.patch(`/v1/schedules/${id}`, { overrides: null, budget: null });
  expect(cleared.body).toMatchObject({ overrides: null, budget: null, input: "Go." });
});

test("a key restricted to some agents sees and triggers their schedules only", async () => {
  const { server, client } = await world();
  const [mine, other] = [await agentOf(client), await agentOf(client)];
  const [own, foreign] = [await schedule(client, { agent_id: mine }), await schedule(client, { agent_id: other })];
  const bound = await server.client({ agent_ids: [mine] });
  expect((await bound.get("/v1/schedules")).body.data.map(({ id }: { id: string }) => id)).toEqual([own]);
  for (const [path, method] of [
    ["", "get"],
    ["/runs", "get"],
    ["/trigger", "post"],
  ] as const)
    expect((await bound[method](`/v1/schedules/${foreign}${path}`, {})).status).toBe(404);
  expect((await bound.post(`/v1/schedules/${own}/trigger`, {})).status).toBe(201);
  expect((await bound.post("/v1/schedules", { ...hourly, agent_id: other })).status).toBe(400);
  expect((await bound.patch(`/v1/schedules/${own}`, { agent_id: other })).status).toBe(400);
  await settled(server);
});

test("changes of a schedule are in the audit log", async () => {
  const { client } = await world();
  const id = await schedule(client);
  await client.patch(`/v1/schedules/${id}`, { input: "A secret plan.", enabled: false });
  await client.delete(`/v1/schedules/${id}`);
  const { data } = (await client.get(`/v1/audit_log?target_id=${id}&order=asc`)).body;
  expect(data.map(({ action }: { action: string }) => action)).toEqual([
    "schedule.created",
    "schedule.updated",
    "schedule.deleted",
  ]);
  expect(JSON.stringify(data)).not.toContain("secret plan");
});

test("a schedule stores its last thousand times", async () => {
  const { server, client, clock, goTo } = await world();
  const id = await schedule(client, { agent_id: await waiter(client), if_busy: "skip", cron: "* * * * *" });
  await goTo("2026-11-21T08:31:00"); // This run is unfinished, so it is kept.
  for (let i = 0; i < 1010; i++) {
    clock.at += minute_ms;
    server.scheduler.look();
    await server.scheduler.idle();
  }
  const count = server.db.sqlite.query<{ n: number; going: number }, [string]>(
    "SELECT count(*) AS n, sum(outcome = 'started') AS going FROM schedule_runs WHERE schedule_id = ?",
  );
  expect(count.get(id)).toEqual({ n: 1001, going: 1 });
}, 60_000);

// A hundred of them may have 25 MB of input, and the end of each one checks all that are due.
test("schedules that are due at one instant are read one by one, and each one fires", async () => {
  const { server, client, clock, fired } = await world();
  const agent_id = await agentOf(client);
  const ids: string[] = [];
  for (let n = 0; n < 20; n++) ids.push(await schedule(client, { agent_id, name: `Report ${n}` }));
  clock.at = at("2026-11-21T09:00:00");
  using parse = spyOn(JSON, "parse");
  server.scheduler.look();
  expect(parse).not.toHaveBeenCalled();
  await server.scheduler.idle();
  for (const id of ids) expect((await fired(id)).length).toBe(1);
});
