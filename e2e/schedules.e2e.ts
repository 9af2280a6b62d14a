import { Database } from "bun:sqlite";
import { expect, test } from "bun:test";
import { join } from "node:path";
import { createScripted } from "./fixtures.ts";
import { type Json, type Runnel, startRunnel } from "./harness.ts";

// Schedules on the executable. No test waits for minutes: while the server is down, it writes the next time into the
// database, as if the server had been down until then.

const hour_ms = 3_600_000;
const yearly = { name: "s", input: "Go.", cron: "0 0 1 1 *", timezone: "Europe/Berlin" };

async function schedule(server: Runnel, body: object = {}): Promise<string> {
  const agent_id = await createScripted(server, [{ text: "Done." }]);
  const answer = await server.post("/v1/schedules", { ...yearly, agent_id, ...body });
  expect(answer.status).toBe(201);
  return answer.body.id;
}

/** Stops the server, makes the schedule due at this time, and starts the server again. */
async function makeDue(server: Runnel, id: string, at: number, environment?: Record<string, string>): Promise<void> {
  await server.stop();
  const db = new Database(join(server.dataDir, "runnel.db"));
  db.query("UPDATE schedules SET next_at_ms = ? WHERE id = ?").run(at, id);
  db.close();
  await server.restart(environment);
}

const firings = async (server: Runnel, id: string): Promise<Json[]> =>
  (await server.get(`/v1/schedules/${id}/runs?order=asc`)).body.data;
const runs = async (server: Runnel): Promise<Json[]> => (await server.get("/v1/runs?order=asc")).body.data;

async function firing(server: Runnel, id: string, outcome: string): Promise<Json> {
  for (;;) {
    const [first] = await firings(server, id);
    if (first?.outcome === outcome) return first;
    await Bun.sleep(10);
  }
}

test("a schedule fires at its time and not before, and its run names it as the origin", async () => {
  await using server = await startRunnel();
  const id = await schedule(server);
  const due = Date.now() + 4000;
  await makeDue(server, id, due);
  const before = await firings(server, id);
  if (Date.now() < due) expect(before).toEqual([]); // A busy machine may have started the run later.
  const { run_id, trigger, due_at } = await firing(server, id, "completed");
  expect([trigger, Date.parse(due_at)]).toEqual(["plan", due]);
  const run = (await server.get(`/v1/runs/${run_id}`)).body;
  expect(Date.parse(run.created_at)).toBeGreaterThanOrEqual(due);
  expect(run).toMatchObject({ status: "completed", output: "Done.", metadata: { schedule_id: id } });
  expect((await server.get(`/v1/schedules/${id}`)).body).toMatchObject({ last_run_id: run_id, enabled: true });
});

test.each([
  "before_schedule.due",
  "before_schedule.fired",
  "after_schedule.fired",
  "before_run.created",
  "after_run.created",
])("a process that dies %s neither loses the time nor fires twice", async (point) => {
  await using server = await startRunnel();
  const id = await schedule(server);
  const due = Date.now() + 500;
  // It dies at the due time, possibly before it reports ready.
  await makeDue(server, id, due, { RUNNEL_FAILPOINT: point }).catch(() => null);
  if (server.isAlive()) expect(await server.died()).toBe("SIGKILL");
  await server.restart({});
  await firing(server, id, "completed");
  await server.kill9();
  await server.restart();
  expect(await firings(server, id)).toMatchObject([{ trigger: "plan", outcome: "completed" }]);
  expect((await runs(server)).map(({ metadata }) => metadata)).toEqual([{ schedule_id: id }]);
});

test("times missed while the server was down are made up for by one run, or by none", async () => {
  await using server = await startRunnel();
  const minute = (new Date().getMinutes() + 30) % 60; // A time that is just due would not count as missed.
  const hourly = { catch_up: "one", cron: `${minute} * * * *` };
  const [one, none] = [await schedule(server, hourly), await schedule(server)];
  const missed = Date.now() - 30 * hour_ms;
  await makeDue(server, none, missed);
  await makeDue(server, one, missed);
  const { run_id, trigger, due_at } = await firing(server, one, "completed");
  expect(trigger).toBe("catch_up");
  const { created_at } = (await server.get(`/v1/runs/${run_id}`)).body;
  expect(Date.parse(created_at) - Date.parse(due_at), "since it was due last").toBeWithin(0, hour_ms);
  expect(await firing(server, none, "missed")).toMatchObject({ run_id: null });
  expect(await runs(server)).toHaveLength(1);
});

test("a trigger starts a run at once", async () => {
  await using server = await startRunnel();
  const id = await schedule(server);
  const { status, body } = await server.post(`/v1/schedules/${id}/trigger`, {});
  expect([status, body.status]).toEqual([201, "in_progress"]);
  expect(await firing(server, id, "completed")).toMatchObject({ run_id: body.id, trigger: "request" });
});

test("a trigger whose server died before the response has started one run, and the same request finds it", async () => {
  await using server = await startRunnel();
  const id = await schedule(server);
  await server.stop();
  await server.restart({ RUNNEL_FAILPOINT: "after_run.created" });
  const trigger = () =>
    server.fetch(`/v1/schedules/${id}/trigger`, { method: "POST", body: "{}", headers: { "idempotency-key": "k" } });
  expect(await trigger().catch(() => null)).toBeNull();
  expect(await server.died()).toBe("SIGKILL");
  await server.restart({});
  const again = await trigger();
  expect([again.status, again.headers.get("idempotent-replayed")]).toEqual([201, "true"]);
  expect((await runs(server)).map((run) => run.id)).toEqual([(await again.json()).id]);
});
