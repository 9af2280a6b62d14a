import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { Elysia } from "elysia";
import { newId } from "../domain/ids.ts";
import type { JournalEntry } from "../domain/run-event.ts";
import { createRateLimiter } from "../http/rate-limit.ts";
import { createResponseFinalizer } from "../http/response-finalizer.ts";
import { pathOf } from "../http/schemas.ts";
import { createSeal } from "../lib/seal.ts";
import { createKeyStore } from "../resources/keys/store.ts";
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
const ada = { email: "ada@example.com", password: "correct horse battery" };
const hour = 3_600_000;

/** The dashboard API alone, with one resource that returns the principal's project and environment. */
async function startConsole({ secureCookie = true } = {}) {
  let at = Date.parse("2026-11-21T00:00:00Z");
  const now = () => at;
  const db = openDatabase(":memory:");
  const audit = createAudit({ db, now });
  const projects = createProjectStore({ db, audit, now });
  const project = await projects.create("default");
  const limiter = createRateLimiter();
  const accounts = createAccounts({ db, audit, passwords: createPasswords(), throttle: createLoginThrottle(), now });
  const setup = createSetup({ db, audit, accounts, now });
  const listeners = new Set<(runId: string, entries: readonly JournalEntry[]) => void>();
  const closing = new AbortController();
  const bugs: unknown[] = [];
  const root = new Elysia({ normalize: false });
  const { own, ofProjects } = createDashboardRoutes({
    pages: new Elysia(),
    secureCookie,
    version: "1.2.3",
    db,
    seal: createSeal(crypto.getRandomValues(new Uint8Array(32))),
    audit,
    projects,
    sessions: createSessions({ db, audit, now }),
    cookie: sessionCookie({ secure: secureCookie }),
    limiter,
    watches: {
      listen(listener) {
        listeners.add(listener);
        return () => listeners.delete(listener);
      },
    },
    clientOf: (request) => request.headers.get("test-address"),
    abortSignalOf: () => closing.signal,
    publicUrl,
    ofServer: () => new Elysia(),
    resources: (into, auth) =>
      into.use(
        new Elysia()
          .use(auth)
          .get(
            "/whoami",
            ({ principal: { kind, id, project_id, environment } }) => ({ kind, id, project_id, environment }),
            {
              permission: "admin",
            },
          )
          .get("/runs/:id", ({ params }) => ({ id: params.id }), { permission: "read", params: pathOf("run") })
          .post("/whoami", ({ principal }) => ({ id: principal.id }), { permission: "admin" }),
      ),
    now,
  });
  const app = ofProjects(
    root
      .use(
        createResponseFinalizer({ routes: () => root.routes, limiter, publicUrl, onBug: (error) => bugs.push(error) }),
      )
      .use(own),
  );

  let jar = "";
  async function send(method: string, path: string, body?: unknown, headers: Record<string, string> = {}) {
    const changes = {
      "x-runnel-console": "1",
      origin,
      "sec-fetch-site": "same-origin",
      "content-type": "application/json",
    };
    const response = await app.handle(
      new Request(`${origin}/console/api${path}`, {
        method,
        headers: { host: "runnel.test", cookie: jar, ...(method !== "GET" && changes), ...headers },
        body: body === undefined ? null : JSON.stringify(body),
      }),
    );
    const cookie = response.headers.get("set-cookie");
    if (cookie) jar = cookie.split(";")[0]!;
    const text = await response.text();
    return { status: response.status, cookie, headers: response.headers, body: JSON.parse(text) };
  }

  return {
    db,
    project,
    projects,
    setup,
    accounts,
    send,
    app,
    bugs,
    listeners,
    closing,
    now,
    jar: () => jar,
    useJar: (cookie: string) => {
      jar = cookie;
    },
    wait: (ms: number) => {
      at += ms;
    },
    signUp: async () => send("POST", "/setup", { token: await setup.issue(testActor), ...ada }),
  };
}

let server: Awaited<ReturnType<typeof startConsole>>;
beforeEach(async () => {
  server = await startConsole();
});
afterEach(() => {
  expect(server.bugs).toEqual([]);
  server.db.close();
});

test("a resource is found by its id, though the path names a project and an environment before it", async () => {
  await server.signUp();
  const id = newId("run");
  const found = await server.send("GET", `/${server.project.id}/test/runs/${id}`);
  expect([found.status, found.body.id]).toEqual([200, id]);
  expect((await server.send("GET", `/${server.project.id}/test/runs/run_none`)).status).toBe(404);
});

describe("set-up", () => {
  test("the one-time link makes the first account and signs it in", async () => {
    expect((await server.send("GET", "/session")).body.error).toMatchObject({
      type: "authentication_error",
      code: "missing_session",
      details: { setup_required: true },
    });
    const made = await server.signUp();
    expect(made.status).toBe(201);
    const session = await server.send("GET", "/session");
    expect(session.status).toBe(200);
    expect(session.body).toEqual({
      user: { id: expect.stringMatching(/^usr_/), email: ada.email, role: "owner" },
      projects: [{ id: server.project.id, name: "default" }],
      setup_required: false,
      version: "1.2.3",
      ca_file: null,
      public_url: origin,
      request_id: expect.stringMatching(/^req_/),
    });
  });

  test('exactly one of 20 concurrent set-ups succeeds, and the others get "already done"', async () => {
    const token = await server.setup.issue(testActor);
    const answers = await Promise.all(
      Array.from({ length: 20 }, (_, i) =>
        server.send("POST", "/setup", { token, ...ada, email: `u${i}@example.com` }),
      ),
    );
    expect(answers.filter(({ status }) => status === 201)).toHaveLength(1);
    expect(new Set(answers.filter(({ status }) => status !== 201).map(({ body }) => body.error.code))).toEqual(
      new Set(["setup_done"]),
    );
    expect(server.accounts.list()).toHaveLength(1);
  });

  test("a wrong, an old and a replaced token are refused, and a used one is done", async () => {
    const first = await server.setup.issue(testActor);
    const second = await server.setup.issue(testActor);
    const attempt = async (token: string) => {
      const { status, body } = await server.send("POST", "/setup", { token, ...ada });
      return [status, body.error?.code];
    };
    expect(await attempt("nonsense")).toEqual([403, "setup_token_invalid"]);
    expect(await attempt(first)).toEqual([403, "setup_token_invalid"]);
    server.wait(30 * 60_000);
    expect(await attempt(second)).toEqual([403, "setup_token_expired"]);
    const third = await server.setup.issue(testActor);
    expect(await attempt(third)).toEqual([201, undefined]);
    expect(await attempt(third)).toEqual([409, "setup_done"]);
  });

  test("a short password and a missing address are reported by parameter, and the token stays valid", async () => {
    const token = await server.setup.issue(testActor);
    const refused = await server.send("POST", "/setup", { token, ...ada, password: "too short" });
    expect([refused.status, refused.body.error.code, refused.body.error.param]).toEqual([
      400,
      "validation_failed",
      "password",
    ]);
    const noAddress = await server.send("POST", "/setup", { token, ...ada, email: "ada" });
    expect([noAddress.status, noAddress.body.error.param]).toEqual([400, "email"]);
    expect((await server.send("POST", "/setup", { token, ...ada })).status).toBe(201);
  });
});

describe("login", () => {
  test("a wrong password and an unknown account get the same answer", async () => {
    await server.signUp();
    const wrong = await server.send("POST", "/login", { ...ada, password: "not the password" });
    const nobody = await server.send("POST", "/login", { ...ada, email: "eve@example.com" });
    expect(wrong.status).toBe(401);
    expect(wrong.body.error).toEqual(nobody.body.error);
    expect(wrong.body.error.code).toBe("invalid_login");
  });

  test("after five failures an address waits, also with the right password; other addresses do not", async () => {
    await server.signUp();
    const attempt = (password: string, address: string, email = ada.email) =>
      server.send("POST", "/login", { email, password }, { "test-address": address });
    const failures = await Promise.all(
      ["", " ", "  ", "\t", "", "", ""].map((space) => attempt("guess guess guess", "192.0.2.1", space + ada.email)),
    );
    expect(failures.filter(({ status }) => status === 401)).toHaveLength(5);
    const refused = await attempt(ada.password, "192.0.2.1", ada.email.toUpperCase());
    expect([refused.status, refused.body.error.code]).toEqual([429, "rate_limited"]);
    expect(Number(refused.headers.get("retry-after"))).toBeGreaterThan(0);
    expect((await attempt(ada.password, "192.0.2.2")).status).toBe(200);
  });

  test("success forgets earlier failures", async () => {
    await server.signUp();
    for (let round = 0; round < 3; round++) {
      for (let i = 0; i < 3; i++) await server.send("POST", "/login", { ...ada, password: "guess guess guess" });
      expect((await server.send("POST", "/login", ada)).status).toBe(200);
    }
  });

  test("opens a new session and ends the one that the browser had", async () => {
    await server.signUp();
    const before = server.jar();
    await server.send("POST", "/login", ada);
    expect(server.jar()).not.toBe(before);
    server.useJar(before);
    expect((await server.send("GET", "/session")).status).toBe(401);
  });
});

describe("a session", () => {
  test("has a cookie that scripts, other hosts and plain HTTP never see, and stores its hash alone", async () => {
    const { cookie } = await server.signUp();
    expect(cookie).toMatch(/^__Host-runnel=[\w-]{43}; Path=\/; HttpOnly; SameSite=Lax; Secure; Max-Age=\d+$/);
    const { hash } = server.db.sqlite.query<{ hash: Uint8Array }, []>("SELECT hash FROM sessions").get()!;
    expect(hash).toHaveLength(32);
    expect(server.jar()).not.toContain(Buffer.from(hash).toString("base64url"));
  });

  test("has an ordinary cookie without HTTPS", async () => {
    const plain = await startConsole({ secureCookie: false });
    const { cookie } = await plain.signUp();
    expect(cookie).toStartWith("runnel_session=");
    expect(cookie).not.toContain("Secure");
    expect((await plain.send("GET", "/session")).status).toBe(200);
    plain.db.close();
  });

  test("ends on the server with the logout", async () => {
    await server.signUp();
    const cookie = server.jar();
    const out = await server.send("POST", "/logout", {});
    expect([out.status, out.cookie]).toEqual([200, expect.stringContaining("Max-Age=0")]);
    server.useJar(cookie);
    expect((await server.send("GET", "/session")).body.error.details).toEqual({ setup_required: false });
  });

  test("ends after 12 idle hours, and after 7 days however busy", async () => {
    await server.signUp();
    for (let hours = 0; hours < 7 * 24 - 11; hours += 11) {
      expect((await server.send("GET", "/session")).status).toBe(200);
      await server.db.write(() => {}); // The last use is written with the next commit.
      server.wait(11 * hour);
    }
    server.wait(11 * hour);
    expect((await server.send("GET", "/session")).status).toBe(401);
    await server.send("POST", "/login", ada);
    server.wait(12 * hour);
    expect((await server.send("GET", "/session")).status).toBe(401);
  });

  test("ends after 12 hours in which only an unattended page sends requests", async () => {
    await server.signUp();
    for (let hours = 0; hours < 11; hours++) {
      server.wait(hour);
      const read = await server.send("GET", "/session", undefined, { "x-runnel-unattended": "1" });
      expect(read.status).toBe(200);
      await server.db.write(() => {});
    }
    server.wait(hour);
    expect((await server.send("GET", "/session")).status).toBe(401);
  });

  test("ends when the password is reset", async () => {
    await server.signUp();
    await server.accounts.resetPassword({ ...ada, password: "another long password" }, () => testActor);
    expect((await server.send("GET", "/session")).status).toBe(401);
    expect((await server.send("POST", "/login", ada)).status).toBe(401);
  });
});

describe("the audit log", () => {
  const entries = () =>
    server.db.sqlite
      .query<{ action: string; actor_id: string; ip: string; request_id: string }, []>(
        "SELECT action, actor_id, ip, request_id FROM audit_log WHERE action NOT LIKE 'project.%' ORDER BY id",
      )
      .all();
  const at = (address: string) => ({ "test-address": address });

  test("records sign-ins, sign-outs and failures, with address and request", async () => {
    const { body: made } = await server.signUp();
    const wrong = { ...ada, password: "not the password" };
    const failed = await server.send("POST", "/login", wrong, at("192.0.2.1"));
    const nobody = await server.send("POST", "/login", { ...wrong, email: "eve@example.com" }, at("192.0.2.2"));
    const login = await server.send("POST", "/login", ada, at("192.0.2.3"));
    const logout = await server.send("POST", "/logout", {}, at("192.0.2.3"));
    await server.send("POST", "/logout", {}); // The sign-out records no user: the session is over.
    await server.accounts.resetPassword({ ...ada, password: "another long password" }, () => testActor);
    const id: string = made.user.id;
    expect(entries().map(({ action, actor_id, ip }) => [action, actor_id, ip])).toEqual([
      ["setup_link.issued", "test", null as never],
      ["user.created", id, null as never],
      ["user.signed_in", id, null as never],
      ["user.sign_in_failed", id, "192.0.2.1"],
      ["user.sign_in_failed", "unknown", "192.0.2.2"],
      ["user.signed_in", id, "192.0.2.3"],
      ["user.signed_out", id, "192.0.2.3"],
      ["user.password_reset", "test", null as never],
    ]);
    expect(
      entries()
        .slice(3, 7)
        .map(({ request_id }) => request_id),
    ).toEqual([failed, nobody, login, logout].map(({ headers }) => headers.get("x-request-id")!));
    expect(JSON.stringify(entries())).not.toMatch(/password"|not the password|correct horse|eve@/);
  });
});

describe("changes from elsewhere", () => {
  const refusals: [string, Record<string, string>][] = [
    ["without the header of the dashboard", { "x-runnel-console": "" }],
    ["from another origin", { origin: "https://evil.test" }],
    ["from this host without TLS", { origin: origin.replace("https", "http") }],
    ["from a sandboxed page", { origin: "null" }],
    ["from another port of this host", { origin: `${origin}:8444` }],
    ["that the browser calls cross-site", { "sec-fetch-site": "cross-site" }],
    ["that the browser calls same-site", { "sec-fetch-site": "same-site" }],
  ];
  test.each(refusals)("%s are refused, on the session's routes and on resources", async (_, headers) => {
    await server.signUp();
    for (const path of ["/login", "/logout", "/setup", `/${server.project.id}/test/whoami`]) {
      const { status, body } = await server.send("POST", path, {}, headers);
      expect([path, status, body.error.code]).toEqual([path, 403, "cross_origin"]);
    }
    expect((await server.send("GET", "/session")).status).toBe(200);
  });

  test("depend on the protocol between the browser and the trusted proxy", async () => {
    await server.signUp();
    const send = (path: string, headers: Record<string, string>) => server.send("POST", path, {}, headers);
    const plain = origin.replace("https", "http");
    const whoami = `/${server.project.id}/test/whoami`;
    expect((await send(whoami, { origin: plain, "x-forwarded-proto": "https" })).status).toBe(403);
    expect((await send(whoami, { origin: plain, "x-forwarded-proto": "https, http" })).status).toBe(200);
  });

  test("with no word on their origin are refused", async () => {
    const request = new Request(`${origin}/console/api/logout`, {
      method: "POST",
      headers: { "x-runnel-console": "1" },
    });
    expect((await server.app.handle(request)).status).toBe(403);
  });
});

describe("resources behind a session", () => {
  test("belong to the project and environment of the address", async () => {
    await server.signUp();
    const { body } = await server.send("GET", `/${server.project.id}/live/whoami`);
    expect(body).toMatchObject({ kind: "user", project_id: server.project.id, environment: "live" });
    expect((await server.send("POST", `/${server.project.id}/test/whoami`, {})).status).toBe(200);
  });

  test("are not there in another environment or project", async () => {
    await server.signUp();
    expect((await server.send("GET", `/${server.project.id}/prod/whoami`)).status).toBe(404);
    expect((await server.send("GET", "/proj_00000000000000000000000000/test/whoami")).status).toBe(404);
  });

  test("are closed to API keys", async () => {
    await server.signUp();
    server.useJar("");
    const keys = createKeyStore({ db: server.db, audit: createAudit({ db: server.db }) });
    const scope = { project_id: server.project.id, environment: "test" } as const;
    const { secret } = await keys.create({ ...scope, actor: testActor }, { name: "k", scopes: ["admin"] });
    const path = `/${server.project.id}/test/whoami`;
    const answer = await server.send("GET", path, undefined, { authorization: `Bearer ${secret}` });
    expect([answer.status, answer.body.error.code]).toEqual([401, "missing_session"]);
  });
});

describe("live runs", () => {
  const insertRun = (id: string, environment: string) =>
    server.db.sqlite
      .query(
        `INSERT INTO runs (id, project_id, environment, agent_id, status, seq, attempt, metadata, created_at_ms,
           status_since_ms, timeout_ms, action_timeout_ms) VALUES (?, ?, ?, 'agt', 'in_progress', 1, 1, '{}', 0, 0, 1, 1)`,
      )
      .run(id, server.project.id, environment);

  async function follow() {
    const url = `${origin}/console/api/${server.project.id}/test/runs/live`;
    const response = await server.app.handle(new Request(url, { headers: { cookie: server.jar() } }));
    expect(response.headers.get("content-type")).toStartWith("text/event-stream");
    const reader = response.body!.getReader();
    return { reader, read: async () => new TextDecoder().decode((await reader.read()).value) };
  }
  const change = (...ids: string[]) => {
    for (const id of ids) for (const listener of server.listeners) listener(id, []);
  };

  test("names each run of the scope that changed, once for a burst, and none of another scope", async () => {
    await server.signUp();
    insertRun("run_a", "test");
    insertRun("run_b", "live");
    const { reader, read } = await follow();
    expect(await read()).toBe(": open\n\n");
    change("run_b", "run_a", "run_a", "run_gone", "run_a");
    expect(await read()).toBe('retry: 2000\nevent: run\ndata: {"id":"run_a"}\n\n');
    await reader.cancel();
    expect(server.listeners.size).toBe(0);
  });

  test("ends with the session, and with the server after a last comment", async () => {
    await server.signUp();
    insertRun("run_a", "test");
    const [one, two] = [await follow(), await follow()];
    await Promise.all([one.read(), two.read()]);
    server.closing.abort();
    expect(await two.read()).toBe(": closing\n\n");
    expect((await two.reader.read()).done).toBe(true);
    await one.reader.cancel();
    expect(server.listeners.size).toBe(0);
  });

  test("is refused without a session", async () => {
    expect((await server.send("GET", `/${server.project.id}/test/runs/live`)).status).toBe(401);
  });
});
