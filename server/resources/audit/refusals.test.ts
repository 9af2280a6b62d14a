import { expect, test } from "bun:test";
import { visitorOf } from "../../testing/console-visitor.ts";
import { type Client, type TestApp, testApp } from "../../testing/test-app.ts";

async function refusalsIn(server: TestApp, admin: Client) {
  await server.db.write(() => {}); // Writes are ordered: earlier ones are done after this one.
  const { body } = await admin.get("/v1/audit_log?action=request.refused&limit=100&order=asc");
  return body.data as { actor: object; target: object | null; details: Record<string, unknown>; request_id: string }[];
}

test("a key that lacks a scope is logged, with its request", async () => {
  await using server = testApp();
  const admin = await server.client();
  const reader = await server.client({ scopes: ["read"] });
  const refused = await reader.post("/v1/agents?x=canary", { name: "canary" });
  expect(refused.status).toBe(403);
  expect((await reader.delete("/v1/runs/canary")).status).toBe(403);
  const [first, second] = await refusalsIn(server, admin);
  expect(first).toMatchObject({
    actor: { type: "api_key", id: reader.key.id },
    target: null,
    details: { required_scope: "admin", method: "POST", route: "/v1/agents" },
    request_id: refused.body.request_id,
  });
  expect(second!.details).toEqual({ required_scope: "admin", method: "DELETE", route: "/v1/runs/:id" });
});

test("a program that is refused repeatedly cannot fill the log: it has a few entries per hour, and then a count", async () => {
  let at = 1_800_000_000_000;
  await using server = testApp({ now: () => at });
  const admin = await server.client();
  const [reader, other] = [await server.client({ scopes: ["read"] }), await server.client({ scopes: ["run"] })];
  for (let i = 0; i < 40; i++) expect((await reader.post("/v1/agents", {})).status).toBe(403);
  expect(await refusalsIn(server, admin)).toHaveLength(3);
  await other.post("/v1/agents", {});
  expect(await refusalsIn(server, admin)).toHaveLength(4); // A frequent client does not take another one's place.
  at += 3_600_000;
  await reader.post("/v1/agents", {});
  expect((await refusalsIn(server, admin)).at(-1)!.details).toMatchObject({ not_noted: 37 });
});

test("a person who lacks a role is logged too; refusals outside projects are visible to owners only", async () => {
  await using server = testApp({ dashboard: true });
  const [owner, viewer] = [await visitorOf(server, "owner"), await visitorOf(server, "viewer")];
  const admin = await server.client();
  const scope = `/${admin.scope.project_id}/test`;
  expect((await viewer.send("POST", `${scope}/tools`, { name: "canary" })).status).toBe(403);
  expect((await viewer.send("POST", "/projects", { name: "canary" })).status).toBe(403);
  await server.db.write(() => {});
  const { body } = await owner.send("GET", `${scope}/audit_log?action=request.refused&order=asc`);
  expect(body.data).toMatchObject([
    { project_id: admin.scope.project_id, details: { required_role: "member", method: "POST" } },
    { project_id: null, actor: { type: "user", id: viewer.id }, details: { required_role: "owner", method: "POST" } },
  ]);
  expect(body.data[1].details.route).toBe("/console/api/projects");
  expect(JSON.stringify(body)).not.toContain("canary");
  expect(await refusalsIn(server, admin)).toHaveLength(1);
});
