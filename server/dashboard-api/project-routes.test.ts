import { afterEach, beforeEach, expect, test } from "bun:test";
import { Elysia } from "elysia";
import { createRateLimiter } from "../http/rate-limit.ts";
import { createResponseFinalizer } from "../http/response-finalizer.ts";
import { createSeal } from "../lib/seal.ts";
import { createProjectStore } from "../resources/projects/store.ts";
import { createAudit } from "../storage/db/audit.ts";
import { openDatabase } from "../storage/db/open.ts";
import { testActor } from "../testing/test-actor.ts";
import { createAccounts } from "./accounts.ts";
import { createDashboardRoutes } from "./console.ts";
import { createLoginThrottle } from "./login-throttle.ts";
import { createPasswords } from "./password.ts";
import { sessionCookie } from "./session-cookie.ts";
import { createSessions } from "./sessions.ts";
import { createSetup } from "./setup.ts";

const origin = "https://runnel.test";
const publicUrl = () => origin;

/** The dashboard API with a signed-in person. */
async function startConsole() {
  const db = openDatabase(":memory:");
  const audit = createAudit({ db });
  const projects = createProjectStore({ db, audit });
  const limiter = createRateLimiter();
  const accounts = createAccounts({ db, audit, passwords: createPasswords(), throttle: createLoginThrottle() });
  const setup = createSetup({ db, audit, accounts });
  const bugs: unknown[] = [];
  const root = new Elysia({ normalize: false });
  const { own, ofProjects } = createDashboardRoutes({
    seal: createSeal(crypto.getRandomValues(new Uint8Array(32))),
    db,
    audit,
    projects,
    limiter,
    pages: new Elysia(),
    secureCookie: true,
    version: "1.2.3",
    sessions: createSessions({ db, audit }),
    cookie: sessionCookie({ secure: true }),
    watches: { listen: () => () => true },
    clientOf: () => "192.0.2.1",
    abortSignalOf: () => new AbortController().signal,
    publicUrl,
    ofServer: () => new Elysia(),
    resources: (into, auth) => into.use(new Elysia().use(auth).get("/whoami", () => ({}), { permission: "admin" })),
  });
  const app = ofProjects(
    root
      .use(
        createResponseFinalizer({ routes: () => root.routes, limiter, publicUrl, onBug: (error) => bugs.push(error) }),
      )
      .use(own),
  );
  let cookie = "";
  async function send(method: string, path: string, body?: unknown, more: Record<string, string> = {}) {
    const changes = { "x-runnel-console": "1", origin, "sec-fetch-site": "same-origin" };
    const response = await app.handle(
      new Request(`${origin}/console/api${path}`, {
        method,
        headers: {
          host: "runnel.test",
          cookie,
          "content-type": "application/json",
          ...(method !== "GET" && changes),
          ...more,
        },
        body: body === undefined ? null : JSON.stringify(body),
      }),
    );
    cookie ||= response.headers.get("set-cookie")?.split(";")[0] ?? "";
    return { status: response.status, body: JSON.parse(await response.text()) };
  }
  const token = await setup.issue(testActor);
  const signIn = () => send("POST", "/setup", { token, email: "ada@example.com", password: "correct horse battery" });
  return { db, projects, send, signIn, bugs };
}

let server: Awaited<ReturnType<typeof startConsole>>;
beforeEach(async () => {
  server = await startConsole();
});
afterEach(() => {
  expect(server.bugs).toEqual([]);
  server.db.close();
});

test("a stranger and another site's page learn nothing about projects, not even a route's parameters", async () => {
  const { id } = await server.projects.create("shop");
  const ways = [
    ["GET", ""],
    ["POST", ""],
    ["GET", `/${id}`],
    ["PATCH", `/${id}`],
    ["POST", `/${id}/archive`],
    ["POST", `/${id}/unarchive`],
    ["POST", `/${id}/delete`],
  ] as const;
  const body = (method: string) => (method === "GET" ? undefined : { nonsense: 1 });
  for (const [method, path] of ways)
    expect([path, (await server.send(method, `/projects${path}`, body(method))).status]).toEqual([path, 401]);
  await server.signIn();
  for (const [method, path] of ways.filter(([method]) => method !== "GET"))
    expect(
      (await server.send(method, `/projects${path}`, body(method), { origin: "https://evil.test" })).body.error.code,
    ).toBe("cross_origin");
  expect(server.projects.list()).toHaveLength(1);
});

test("a project is created, renamed, limited, archived, restored and deleted, and the audit log has the author", async () => {
  const { body: signedIn } = await server.signIn();
  const made = await server.send("POST", "/projects", { name: "shop" });
  expect([made.status, made.body]).toEqual([
    201,
    {
      id: expect.stringMatching(/^proj_/),
      object: "project",
      name: "shop",
      archived_at: null,
      created_at: expect.any(String),
      limits: {
        reads_per_minute: null,
        run_creations_per_minute: null,
        writes_per_minute: null,
        runs_in_progress: null,
        children_per_run: null,
      },
      retention: { test: { runs_days: null, traces_days: null }, live: { runs_days: null, traces_days: null } },
      budget_per_day: { max_cost_usd: null, max_total_tokens: null },
      unknown_price: "refuse",
      origins: [],
      request_id: expect.stringMatching(/^req_/),
    },
  ]);
  const path = `/projects/${made.body.id}`;
  expect((await server.send("POST", "/projects", { name: "shop" })).body.error.code).toBe("name_taken");
  const change = {
    name: "store",
    limits: { reads_per_minute: 5 },
    retention: { live: { traces_days: 30 } },
    budget_per_day: { max_cost_usd: 19.99, max_total_tokens: null },
    unknown_price: "allow",
    origins: ["https://shop.example"],
  };
  expect((await server.send("PATCH", path, change)).body).toMatchObject(change);
  const archived = (await server.send("POST", `${path}/archive`, {})).body;
  expect(archived.archived_at).toBeString();
  expect((await server.send("GET", `/${made.body.id}/test/whoami`)).status).toBe(404);
  expect((await server.send("GET", "/projects")).body.data).toMatchObject([{ archived_at: archived.archived_at }]);
  expect((await server.send("POST", `${path}/unarchive`, {})).body.archived_at).toBeNull();
  expect((await server.send("GET", `/${made.body.id}/test/whoami`)).status).toBe(200);

  const wrong = await server.send("POST", `${path}/delete`, { name: "shop" });
  expect([wrong.status, wrong.body.error.param]).toEqual([400, "name"]);
  expect((await server.send("POST", `${path}/delete`, { name: "store" })).body).toMatchObject({ deleted: true });
  expect((await server.send("GET", path)).status).toBe(404);
  expect((await server.send("GET", "/projects")).body.data).toEqual([]);
  const entries = server.db.sqlite
    .query("SELECT action, actor_id, ip FROM audit_log WHERE action LIKE 'project.%' ORDER BY id")
    .values();
  expect(entries).toEqual(
    ["created", "updated", "archived", "unarchived", "deleted"].map((done) => [
      `project.${done}`,
      signedIn.user.id,
      "192.0.2.1",
    ]),
  );
});

test("invalid project settings are refused with their parameter", async () => {
  await server.signIn();
  const { id } = await server.projects.create("shop");
  for (const [change, param] of [
    [{ name: "a b" }, "name"],
    [{ limits: { reads_per_minute: -1 } }, "limits.reads_per_minute"],
    [{ retention: { live: { runs_days: 0 } } }, "retention.live.runs_days"],
    [{ archived_at: null }, "archived_at"],
    [{ limits: { reads: 1 } }, "limits.reads"],
    [{ budget_per_day: { max_cost_usd: 0 } }, "budget_per_day.max_cost_usd"],
    [{ budget_per_day: { max_total_tokens: 1.5 } }, "budget_per_day.max_total_tokens"],
    [{ budget_per_day: { max_tool_calls: 1 } }, "budget_per_day.max_tool_calls"],
    [{ unknown_price: "maybe" }, "unknown_price"],
  ] as const) {
    const { status, body } = await server.send("PATCH", `/projects/${id}`, change);
    expect([status, body.error.param]).toEqual([400, param]);
  }
  expect((await server.send("PATCH", "/projects/proj_none", {})).status).toBe(404);
});
