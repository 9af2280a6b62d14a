import { afterEach, beforeEach, expect, test } from "bun:test";
import { counters } from "../../resources/usage/usage-projection.ts";
import { asPage, visitorOf } from "../../testing/console-visitor.ts";
import { testActor } from "../../testing/test-actor.ts";
import { type Client, type TestApp, testApp } from "../../testing/test-app.ts";
import { startWebhookReceiver, type WebhookReceiver } from "../../testing/webhook-receiver.ts";
import { createChecks, type Sources } from "./checks.ts";
import { alertRules, thresholds } from "./rules.ts";

let at: number;
let server: TestApp;
let client: Client;
let receiver: WebhookReceiver;
beforeEach(async () => {
  at = Date.parse("2026-11-23T12:00:00Z");
  receiver = startWebhookReceiver();
  server = testApp({ dashboard: true, now: () => at });
  client = await server.client();
});
afterEach(async () => {
  await server[Symbol.asyncDispose]();
  await receiver[Symbol.asyncDispose]();
});

const setBudget = (max_total_tokens: number | null) =>
  server.projects.update(client.scope.project_id, { budget_per_day: { max_total_tokens } }, testActor);
const spend = (input_tokens: number) => {
  const { project_id } = client.scope;
  const zeros = counters.filter((name) => name !== "input_tokens");
  const columns = ["project_id", "environment", "day", "agent_id", "model", "input_tokens", ...zeros];
  const values = [
    project_id,
    "test",
    "2026-11-23",
    crypto.randomUUID(),
    "test/echo",
    input_tokens,
    ...zeros.map(() => 0),
  ];
  server.db.sqlite
    .query(`INSERT INTO usage_days (${columns.join(", ")}) VALUES (${columns.map(() => "?").join(", ")})`)
    .run(...values);
};
const rows = () =>
  server.db.sqlite
    .query<{ rule: string; closed: number }, []>(
      "SELECT rule, closed_at_ms IS NOT NULL AS closed FROM alerts ORDER BY id",
    )
    .all();

test("a budget alert opens at 50, 80 and 100 %, once each, and closes when the budget is free again", async () => {
  await client.post("/v1/webhooks", { url: receiver.url, events: ["alert.opened", "alert.closed"] });
  await setBudget(1000);
  await server.checkAlerts();
  expect(rows()).toEqual([]);
  for (const [tokens, rule] of [
    [500, "budget_50"],
    [300, "budget_80"],
    [200, "budget_100"],
  ] as const) {
    spend(tokens);
    for (const _ of [1, 2]) await server.checkAlerts();
    expect(rows().at(-1)).toEqual({ rule, closed: 0 });
  }
  expect(rows()).toHaveLength(3);
  at += 86_400_000; // Another day, another budget.
  await server.checkAlerts();
  expect(rows().map(({ closed }) => closed)).toEqual([1, 1, 1]);
  await server.deliverWebhooks();
  const told = receiver.received.map(({ body }) => JSON.parse(body));
  expect(told.map(({ type }) => type)).toEqual([...Array(3).fill("alert.opened"), ...Array(3).fill("alert.closed")]);
  expect(told[0].data.object).toMatchObject({
    object: "alert",
    rule: "budget_50",
    concerns: "environment",
    closed_at: null,
  });
});

test("open alerts are listed at the dashboard with a remedy, for their own environment alone", async () => {
  const { send } = await visitorOf(server, "viewer");
  await setBudget(1000);
  spend(1000);
  await server.checkAlerts();
  const { project_id } = client.scope;
  const { data } = (await send("GET", `/${project_id}/test/alerts`)).body;
  expect(data.map(({ rule }: { rule: string }) => rule).sort()).toEqual(["budget_100", "budget_50", "budget_80"]);
  expect(data[0]).toMatchObject({ todo: alertRules.budget_50.todo, detail: "1000 of 1000 tokens are spent." });
  expect((await send("GET", `/${project_id}/live/alerts`)).body.data).toEqual([]);
  expect((await asPage(server)("GET", `/${project_id}/test/alerts`)).status).toBe(401);
});

/** Findings of a healthy server with only this difference. */
const found = (sources: Partial<Sources>): string[] =>
  createChecks({
    db: server.db,
    projects: () => server.projects.list(),
    disk: () => null,
    certificateEnds: () => null,
    lastBackup: null,
    failover: null,
    now: () => at,
    spentOn: () => ({ total_tokens: 0, cost_nano_usd: 0 }),
    ...sources,
  })().map(({ rule }) => rule);

test("an expiring certificate and missing backups are found", () => {
  const day = 86_400_000;
  expect(found({ certificateEnds: () => at + thresholds.certificate_days * day })).toEqual([]);
  expect(found({ certificateEnds: () => at + thresholds.certificate_days * day - 1 })).toEqual([
    "certificate_expiring",
  ]);
  const made_ms = () => at - day;
  expect(found({ lastBackup: { made_ms, most_ms: day } })).toEqual([]);
  expect(found({ lastBackup: { made_ms, most_ms: day - 1 } })).toEqual(["backup_old"]);
});

test("a disk is low with less than a tenth free, or on a large one with less than 10 GB", () => {
  const low = (free: number, size: number) => found({ disk: () => ({ free, size }) }).includes("disk_low");
  expect([low(1e9, 10e9), low(1e9 - 1, 10e9)]).toEqual([false, true]);
  expect([low(10e9, 1e12), low(10e9 - 1, 1e12)]).toEqual([false, true]);
});

test("failing runs, a stuck queue and a disabled webhook are found", async () => {
  const agent = (await client.post("/v1/agents", { name: "a", instructions: "", model: "test/echo" })).body;
  for (let run = 0; run < thresholds.failed_least; run++)
    await client.post("/v1/runs?wait=60", { agent_id: agent.id, input: "Hello" });
  expect(found({})).toEqual([]);
  const runs = server.db.sqlite.query<{ id: string }, []>("SELECT id FROM runs ORDER BY id").all();
  const set = (columns: string, id: string) => server.db.sqlite.run(`UPDATE runs SET ${columns} WHERE id = ?`, [id]);
  for (const { id } of runs.slice(0, 2)) set("status = 'failed'", id);
  expect(found({})).toEqual([]);
  set("status = 'failed'", runs[2]!.id);
  expect(found({})).toEqual(["failure_rate"]);
  at += 3_600_001;
  expect(found({})).toEqual([]);
  set(`status = 'queued', ended_at_ms = NULL, status_since_ms = ${at}`, runs[0]!.id);
  expect(found({})).toEqual([]);
  at += thresholds.queued_ms + 1;
  expect(found({})).toEqual(["queue_stuck"]);
  set("status = 'completed'", runs[0]!.id);
  const webhook = (await client.post("/v1/webhooks", { url: receiver.url, events: ["*"] })).body;
  server.db.sqlite.run("UPDATE webhooks SET enabled = 0, disabled_reason = 'failing' WHERE id = ?", [webhook.id]);
  expect(found({})).toEqual(["webhook_dead"]);
});

test("a failover is announced once, to the live webhooks of every project, and stays listed for an hour", async () => {
  const failover = { cell: "main", epoch: 3, leader: "b", previous_leader: "a", lease_ended_ms: at - 200, led_ms: at };
  await using cluster = testApp({ now: () => at, failover, egress: ["127.0.0.1"] });
  const url = "https://127.0.0.1:1/";
  for (const environment of ["live", "test"] as const)
    await (await cluster.client({ environment })).post("/v1/webhooks", { url, events: ["cell.failover"] });
  const bodies = () => cluster.db.sqlite.query<{ body: string }, []>("SELECT body FROM webhook_deliveries").all();
  const open = () => cluster.db.sqlite.query("SELECT rule FROM alerts WHERE closed_at_ms IS NULL").values();
  for (const _ of [1, 2]) await cluster.checkAlerts();
  expect(bodies().map(({ body }) => JSON.parse(body))).toEqual([
    expect.objectContaining({
      type: "cell.failover",
      environment: "live",
      run_id: null,
      data: {
        object: {
          id: "main",
          object: "cell",
          epoch: 3,
          leader: "b",
          previous_leader: "a",
          lease_ended_at: "2026-11-23T11:59:59.800Z",
          led_at: "2026-11-23T12:00:00.000Z",
        },
      },
    }),
  ]);
  expect(open()).toEqual([["cell_failover"]]);
  at += thresholds.failover_ms;
  await cluster.checkAlerts();
  expect(open()).toEqual([]);
});
