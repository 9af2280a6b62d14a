import { afterAll, beforeAll, expect, test } from "bun:test";
import { type Role, roles } from "../domain/api-types/enums.ts";
import { asPage, type ConsoleVisitor, visitorOf } from "../testing/console-visitor.ts";
import { testApp } from "../testing/test-app.ts";
import { hasRole } from "./role.ts";

// Least role for each dashboard route. A route that is missing in the table fails.

/** Roles of the dashboard's own routes; `anybody` needs no session. */
const own: Record<string, Role | "anybody"> = {
  "GET /session": "anybody", // Reports a missing session itself.
  "GET /sign_in": "anybody",
  "POST /oidc/begin": "anybody",
  "GET /oidc/callback": "anybody",
  "POST /setup": "anybody",
  "POST /login": "anybody",
  "POST /logout": "anybody",
  "POST /invitations/read": "anybody",
  "POST /invitations/accept": "anybody",

  "GET /projects": "viewer",
  "GET /projects/:id": "viewer",
  "POST /projects": "owner",
  "PATCH /projects/:id": "owner",
  "POST /projects/:id/archive": "owner",
  "POST /projects/:id/unarchive": "owner",
  "POST /projects/:id/delete": "owner",

  "GET /people": "viewer",
  "PATCH /people/:id": "owner",
  "DELETE /people/:id": "owner",
  "GET /invitations": "owner",
  "POST /invitations": "owner",
  "DELETE /invitations/:id": "owner",

  "POST /account/password": "viewer",
  "GET /account/sessions": "viewer",
  "DELETE /account/sessions": "viewer",
  "DELETE /account/sessions/:id": "viewer",

  "POST /password_resets": "anybody",
  "POST /password_resets/accept": "anybody",
  "POST /passkeys/begin": "anybody",
  "POST /passkeys/sign_in": "anybody",
  "GET /account/factors": "viewer",
  "POST /account/totp": "viewer",
  "POST /account/totp/confirm": "viewer",
  "POST /account/totp/remove": "viewer",
  "POST /account/recovery_codes": "viewer",
  "POST /account/passkeys/begin": "viewer",
  "POST /account/passkeys": "viewer",
  "DELETE /account/passkeys/:id": "viewer",
  "GET /connections": "viewer",
  "POST /connections": "owner",
  "PATCH /connections/:name": "owner",
  "POST /connections/:name/models": "member",
  "POST /connections/:name/authorize": "owner",
  "DELETE /connections/:name": "owner",
  "POST /connections/:name/test": "owner",
  "GET /prices": "viewer",
  "PUT /prices": "owner",
  "GET /price_table": "viewer",
  "PUT /price_table": "owner",
  "POST /price_table/reset": "owner",
  "POST /prices/reset": "owner",

  "GET /server": "viewer",
  "GET /openapi.json": "viewer",
  "GET /cluster": "owner",
  "POST /backups": "owner",
  "GET /backups/:id": "owner",

  "GET /:project_id/:environment/alerts": "viewer",
  "GET /:project_id/:environment/runs/live": "viewer",
  "GET /:project_id/:environment/runs/of/:id": "viewer",
};

const inProject = "/:project_id/:environment";

const server = testApp({ dashboard: true });
afterAll(() => server[Symbol.asyncDispose]());

/** Routes that the dashboard replaces, and client tokens, which end with their API key. */
const ofKeysAlone = new Set(["GET /v1/openapi.json", "POST /v1/client_tokens"]);

/** Routes open to viewers although keys need the scope `admin`: none of them reveals a credential. */
const alsoForViewers = new Set([
  "GET /v1/secrets",
  "GET /v1/secrets/:name",
  "GET /v1/api_keys",
  "GET /v1/api_keys/:id",
  "GET /v1/audit_log",
  "GET /v1/users/:id/data",
  "GET /v1/erasures",
  "GET /v1/erasures/:id",
]);

/** The API's own resources: viewers have the scope `read`, members have all of them. */
const ofResources = Object.fromEntries(
  Object.entries(server.operations)
    .filter(([route]) => !ofKeysAlone.has(route))
    .map(([route, { needs }]) => {
      const [method, path] = route.split(" ") as [string, string];
      const reads = needs === "read" || needs === "read_or_run" || alsoForViewers.has(route);
      const least: Role = reads ? "viewer" : "member";
      return [`${method} ${inProject}${path.slice("/v1".length)}`, least];
    }),
);
const table: Record<string, Role | "anybody"> = { ...own, ...ofResources };

const visitors = {} as Record<Role, ConsoleVisitor>;
let projectId: string;
beforeAll(async () => {
  for (const role of roles) visitors[role] = await visitorOf(server, role);
  projectId = (await server.projects.create("default")).id;
});

const routes = server
  .routes()
  .filter(({ path }) => path.startsWith("/console/api/"))
  .map(({ method, path }) => `${method} ${path.slice("/console/api".length).replace(/\/$/, "")}`);

test("every route has its least role in the table, and the table has no other routes", () => {
  expect(routes.toSorted()).toEqual(Object.keys(table).sort());
});

test("a route that reads needs the scope of a viewer, is named as open to viewers, or is closed to them", () => {
  const closed = Object.entries(ofResources).flatMap(([route, least]) =>
    route.startsWith("GET ") && least !== "viewer" ? [route] : [],
  );
  expect(closed).toEqual([`GET ${inProject}/agents/:id/chat_page`]);
});

/** A request with invalid values everywhere, so that the role has to be checked first. */
function ask(send: ConsoleVisitor["send"], route: string) {
  const [method = "", path = ""] = route.split(" ");
  const address = path.replace(":project_id", projectId).replace(":environment", "test").replaceAll(/:\w+/g, "none");
  const body = method === "GET" ? undefined : '{"nonsense';
  return send(method, `${address}?nonsense=1`, body, { "content-type": "text/nonsense" });
}

test.each(routes)("%s admits exactly the roles from its least role on, before it reads the body", async (route) => {
  const least = table[route]!;
  const stranger = await ask(asPage(server), route);
  if (least === "anybody") {
    if (!route.startsWith("GET ")) expect(stranger.status).toBe(415);
    return;
  }
  expect([stranger.status, stranger.body.error.code]).toEqual([401, "missing_session"]);
  for (const role of roles) {
    const { status, body } = await ask(visitors[role].send, route);
    if (hasRole(role, least))
      expect({ role, status: [200, 400, 404, 415].includes(status) }).toEqual({ role, status: true });
    else
      expect({ role, status, code: body.error.code, details: body.error.details }).toEqual({
        role,
        status: 403,
        code: "insufficient_role",
        details: { required_role: least, role },
      });
  }
});

test("a role that is taken counts from the next request on, within a project too", async () => {
  const { send, id } = await visitorOf(server, "member", "once@example.com");
  const path = `/${projectId}/test/tools`;
  expect((await send("POST", path, { name: "first" })).status).toBe(201);
  expect((await visitors.owner.send("PATCH", `/people/${id}`, { role: "viewer" })).status).toBe(200);
  expect((await send("POST", path, { name: "second" })).body.error.code).toBe("insufficient_role");
  expect((await send("GET", path)).body.data).toHaveLength(1);
  expect((await send("GET", `/${projectId}/test/api_keys`)).status).toBe(200);
});

test("a viewer is told their scopes, whatever the method of the request", async () => {
  const scopes = async ({ send }: ConsoleVisitor) => (await send("GET", `/${projectId}/test/me`)).body.scopes;
  expect(await scopes(visitors.viewer)).toEqual(["read"]);
  expect(await scopes(visitors.member)).toEqual(["admin"]);
  expect(await scopes(visitors.owner)).toEqual(["admin"]);
});

test("only owners see audit entries about the whole server", async () => {
  const seen = async ({ send }: ConsoleVisitor): Promise<string[]> =>
    (await send("GET", `/${projectId}/test/audit_log?limit=100`)).body.data.map(
      ({ action }: { action: string }) => action,
    );
  const agent = { name: "seen", instructions: "", model: "test/echo" };
  expect((await visitors.owner.send("POST", `/${projectId}/test/agents`, agent)).status).toBe(201);
  expect(await seen(visitors.owner)).toContain("user.created");
  for (const role of ["member", "viewer"] as const) {
    const actions = await seen(visitors[role]);
    expect(actions.filter((action) => /^(user|invitation|model_connection)\./.test(action))).toEqual([]);
    expect(actions).toContain("agent.created");
  }
});
