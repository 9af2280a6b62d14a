import { afterAll, expect, test } from "bun:test";
import { clientScopes, permissions } from "../domain/scope.ts";
import { mintSecret } from "../resources/keys/secret.ts";
import { type TestApp, testApp } from "../testing/test-app.ts";
import type { RequiredPermission } from "./operation.ts";

// Permissions of every route. The table lists what the routes declare; a route that declares nothing fails.

interface Route {
  method: string;
  path: string;
}

const server = testApp();
const { operations } = server;
afterAll(() => server[Symbol.asyncDispose]());

const routes: Route[] = server.app.routes
  .filter(({ path }) => path.startsWith("/v1/"))
  .map(({ method, path }) => ({ method, path: path.replace(/\/$/, "") }));
const paths = [...new Set(routes.map(({ path }) => path))];

const needOf = ({ method, path }: Route): RequiredPermission | undefined => operations[`${method} ${path}`]?.needs;
const addressOf = (path: string) => path.replaceAll(/:\w+/g, "none");

test("the table has exactly the existing routes with their permissions", () => {
  const needs: (RequiredPermission | undefined)[] = [...permissions, "read_or_run"];
  for (const route of routes) expect({ route, known: needs.includes(needOf(route)) }).toEqual({ route, known: true });
  expect(Object.keys(operations).sort()).toEqual(routes.map(({ method, path }) => `${method} ${path}`).sort());
});

test("only the routes in the contract are open to keys that may only read or run", () => {
  const open = (need: RequiredPermission) => routes.filter((route) => needOf(route) === need);
  for (const { method } of open("read")) expect(method).toBe("GET");
  for (const { method, path } of routes)
    if (/^\/v1\/(api_keys|secrets|audit_log)(\/|$)/.test(path))
      expect({ method, path, needs: needOf({ method, path }) }).toEqual({ method, path, needs: "admin" });
});

/** A completely invalid request: an error about body or query proves that the permission was checked before. */
function ask(server: TestApp, { method, path }: Route, authorization: string | null) {
  const headers = { "content-type": "text/nonsense", ...(authorization !== null && { authorization }) };
  const body = method === "GET" ? undefined : '{"nonsense';
  return server.send(method, `${addressOf(path)}?nonsense=1`, body, headers);
}

/** A server with keys, only one of which is valid here. */
async function makeGuarded() {
  let at = 1_800_000_000_000;
  const guarded = testApp({ now: () => at });
  const admin = await guarded.client();
  const make = async (more: object) =>
    (await admin.post("/v1/api_keys", { name: "k", scopes: ["admin"], ...more })).body as {
      id: string;
      secret: string;
    };
  const [revoked, expired, elsewhere] = [
    await make({}),
    await make({ expires_in_seconds: 5 }),
    await make({ allowed_cidrs: ["203.0.113.0/24"] }),
  ];
  await admin.delete(`/v1/api_keys/${revoked.id}`);
  at += 5000;
  return { guarded, admin, revoked, expired, elsewhere };
}

// An address may make sixty guesses a minute, so only a few routes share a server.
const routesOfServer = 5;
const guardedServers = new Map<number, ReturnType<typeof makeGuarded>>();
const guardedFor = (route: Route): ReturnType<typeof makeGuarded> => {
  const number = Math.floor(routes.indexOf(route) / routesOfServer);
  const made = guardedServers.get(number) ?? makeGuarded();
  guardedServers.set(number, made);
  return made;
};
afterAll(async () => {
  for (const { guarded } of await Promise.all(guardedServers.values())) await guarded[Symbol.asyncDispose]();
});

test.each(routes)(
  "$method $path refuses invalid keys; a revoked one is named as such, and all others look alike",
  async (route) => {
    const { guarded, admin, revoked, expired, elsewhere } = await guardedFor(route);
    const missing = await ask(guarded, route, null);
    expect([missing.status, missing.body.error.code]).toEqual([401, "missing_api_key"]);
    const invalid = {
      garbage: "Bearer garbage",
      nothing: "Bearer ",
      "another scheme": `Basic ${btoa(`user:${admin.key.secret}`)}`,
      "no scheme": admin.key.secret,
      "a wrong checksum": `Bearer ${admin.key.secret.slice(0, -1)}${admin.key.secret.endsWith("0") ? "1" : "0"}`,
      "never made": `Bearer ${mintSecret("test")}`,
      "of the other environment": `Bearer ${admin.key.secret.replace("test", "live")}`,
      expired: `Bearer ${expired.secret}`,
      "from another network": `Bearer ${elsewhere.secret}`,
    };
    const seen = new Set<string>();
    for (const [kind, authorization] of Object.entries(invalid)) {
      const { status, body, headers } = await ask(guarded, route, authorization);
      expect({ kind, status, error: body.error }).toMatchObject({
        kind,
        status: 401,
        error: { code: "invalid_api_key" },
      });
      seen.add(JSON.stringify({ ...body, request_id: "" }));
      expect(headers.get("www-authenticate")).toBe("Bearer");
    }
    expect(seen.size).toBe(1);
    const told = await ask(guarded, route, `Bearer ${revoked.secret}`);
    expect([told.status, told.body.error.code]).toEqual([401, "key_revoked"]);
    expect((await ask(guarded, route, `Bearer ${admin.key.secret}`)).status).toBe(400);
  },
);

// Each key requests every route within a minute.
const unlimited = { reads_per_minute: 0, writes_per_minute: 0, run_creations_per_minute: 0 };
const clients = Promise.all(
  permissions.map(async (scope) => {
    const client = await server.client({ project: `of-${scope}`, scopes: [scope] });
    await server.projects.update(client.scope.project_id, { limits: unlimited });
    return [scope, client] as const;
  }),
);

const admits = (needs: RequiredPermission | undefined, scope: string) =>
  scope === "admin" || needs === scope || (needs === "read_or_run" && scope !== "admin");

test.each(routes)("$method $path accepts exactly the scopes of the table, before it reads the body", async (route) => {
  for (const [scope, { key }] of await clients) {
    const { status, body } = await ask(server, route, `Bearer ${key.secret}`);
    const required_scope = needOf(route);
    const said = { scope, status, code: body.error.code, details: body.error.details };
    if (admits(required_scope, scope)) expect(said).toMatchObject({ scope, status: 400 });
    else expect(said).toEqual({ scope, status: 403, code: "insufficient_scope", details: { required_scope } });
  }
});

const tokens = Promise.all(
  clientScopes.map(async (scope) => {
    const client = await server.client({ project: `token-of-${scope}` });
    await server.projects.update(client.scope.project_id, { limits: unlimited });
    const agent = await client.post("/v1/agents", { name: "a", instructions: "", model: "test/echo" });
    const limits = { requests_per_minute: 10_000, run_creations_per_minute: 10_000 };
    const made = { agent_id: agent.body.id, scopes: [scope], expires_in_seconds: 3600, limits };
    return [scope, (await client.post("/v1/client_tokens", made)).body.token as string] as const;
  }),
);

test.each(routes)("$method $path accepts client tokens with its scope, and no others", async (route) => {
  const { client, needs } = operations[`${route.method} ${route.path}`]!;
  for (const [scope, token] of await tokens) {
    const { status, body } = await ask(server, route, `Bearer ${token}`);
    const said = { scope, status, code: body.error.code, details: body.error.details };
    // The error names a scope only if one would help.
    const details = client ? { required_scope: client } : { bound_by: "client_token" };
    if (scope === client) expect(said).toMatchObject({ scope, status: 400 });
    else expect(said).toEqual({ scope, status: 403, code: "insufficient_scope", details });
    const key = needs === "read_or_run" ? "read" : needs;
    if (!client)
      expect(body.error.message).toBe(`No client token may ask for this. Use an API key with the scope "${key}".`);
  }
});

test("client tokens may use only what their own runs and threads need", () => {
  const open = Object.entries(operations).flatMap(([route, { client }]) => (client ? [`${client} ${route}`] : []));
  expect(open.sort()).toEqual([
    "read GET /v1/files/:id/content",
    "read GET /v1/runs",
    "read GET /v1/runs/:id",
    "read GET /v1/runs/:id/events",
    "read GET /v1/threads",
    "read GET /v1/threads/:id",
    "read GET /v1/threads/:id/messages",
    "run POST /v1/runs",
    "run POST /v1/runs/:id/cancel",
    "run POST /v1/runs/:id/messages",
    "run POST /v1/runs/:id/pause",
    "run POST /v1/runs/:id/resume",
    "run POST /v1/threads",
    "score DELETE /v1/scores/:id",
    "score GET /v1/scores",
    "score PUT /v1/runs/:id/scores/:name",
    "submit POST /v1/runs/:id/submit_tool_outputs",
    "upload POST /v1/files",
  ]);
});

test.each(paths)("%s responds to other methods with 405 and lists its methods", async (path) => {
  // `/v1/runs/count` also matches `/v1/runs/:id`, except for its own methods.
  const isAt = (pattern: string) => new RegExp(`^${pattern.replaceAll(/:\w+/g, "[^/]+")}$`).test(path);
  const known = [...new Set(routes.filter((route) => isAt(route.path)).map(({ method }) => method))];
  const [, admin] = (await clients).find(([scope]) => scope === "admin")!;
  for (const method of ["GET", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "PROPFIND"]) {
    if (known.includes(method)) continue;
    const authorization = { authorization: `Bearer ${admin.key.secret}` };
    const { status, body, headers: answered } = await server.send(method, addressOf(path), undefined, authorization);
    expect({ method, status, code: body.error.code }).toEqual({ method, status: 405, code: "method_not_allowed" });
    expect(answered.get("allow")).toBe(known.toSorted().join(", "));
  }
});
