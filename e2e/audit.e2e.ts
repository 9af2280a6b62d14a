import { expect, test } from "bun:test";
import { userInfo } from "node:os";
import { type Json, type ParsedResponse, parseResponse, startRunnel } from "./harness.ts";

test("the audit log records the actions of keys, people and commands with their origin, also after a crash", async () => {
  await using server = await startRunnel();
  let cookie = "";
  const console_ = async (method: string, path: string, body?: unknown): Promise<ParsedResponse> => {
    const headers = { "x-runnel-console": "1", origin: server.url, "content-type": "application/json", cookie };
    const init = { method, headers, key: null, body: body === undefined ? undefined : JSON.stringify(body) };
    const response = await server.fetch(`/console/api${path}`, init);
    cookie = response.headers.get("set-cookie")?.split(";")[0] ?? cookie;
    return parseResponse(response);
  };
  const agent = { name: "A", instructions: "never shown", model: "test/script" };

  const byKey = await server.post("/v1/agents", agent);
  const me = (await server.get("/v1/me")).body;
  const credentials = { email: "ada@example.com", password: "correct horse battery" };
  const setUp = await console_("POST", "/setup", { token: server.setupUrl.split("#")[1], ...credentials });
  expect(setUp.status).toBe(201);
  const project = `/${setUp.body.projects[0].id}/test`;
  const byPerson = await console_("PATCH", `${project}/agents/${byKey.body.id}`, { name: "B" });
  expect(byPerson.status).toBe(200);
  const script = [{ text: "x", delay_ms: 60_000 }];
  await server.fetch(`/v1/agents/${byKey.body.id}`, {
    method: "PATCH",
    body: JSON.stringify({ model_settings: { script } }),
  });
  const run = await server.post("/v1/runs", { agent_id: byKey.body.id, input: "Hello" });
  const cancelled = await console_("POST", `${project}/runs/${run.body.id}/cancel`, {});
  expect(cancelled.body.status).toBe("cancelled");
  expect((await server.command("models", "add", "openai", "--api-key", "sk-canary-4711-4711")).code).toBe(0);

  await server.kill9();
  await server.restart();
  const all: Json[] = (await console_("GET", `${project}/audit_log?limit=100`)).body.data;
  const of = (action: string) => all.find((entry) => entry.action === action);
  const [ip, user] = ["127.0.0.1", setUp.body.user.id];
  expect(of("agent.created")).toMatchObject({
    actor: { type: "api_key", id: me.id, ip },
    target: { type: "agent", id: byKey.body.id },
    request_id: byKey.headers.get("x-request-id"),
  });
  expect(all.findLast(({ action }) => action === "agent.updated")).toMatchObject({
    actor: { type: "user", id: user, ip },
    details: { name: "B", version: 2, changes: ["name"] },
    request_id: byPerson.headers.get("x-request-id"),
  });
  expect(of("run.cancelled")).toMatchObject({ actor: { type: "user", id: user, ip }, target: { id: run.body.id } });
  expect(of("user.signed_in")).toMatchObject({ actor: { type: "user", id: user, ip }, project_id: null });
  expect(of("model_connection.saved")).toMatchObject({
    actor: { type: "cli", id: userInfo().username, ip: null },
    target: { type: "model_connection", id: "openai" },
    details: { provider: "openai", has_key: true },
  });
  expect(JSON.stringify(all)).not.toMatch(/never shown|canary|correct horse|whsec_|sk_test_\w{20}/);

  // A key reads the entries of its project, and none of people or the server.
  const seen: Json[] = (await server.get("/v1/audit_log?limit=100")).body.data;
  expect(seen.map(({ action }) => action)).toContain("run.cancelled");
  expect(seen.every(({ project_id }) => project_id === me.project_id)).toBe(true);
});
