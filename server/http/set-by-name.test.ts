import { expect, test } from "bun:test";
import { testApp } from "../testing/test-app.ts";

const agent = { instructions: "Be brief.", model: "test/echo" };
const agentPath = `/v1/agents/by-name/${encodeURIComponent("Refund desk/EU")}`;
const toolPath = "/v1/tools/by-name/look_up";
const http = { url: "http://127.0.0.1:8080/tool", headers: { authorization: "Bearer canary" } };

test("an agent is created by its name, changed only where it differs, and defaults replace what is left out", async () => {
  await using server = testApp();
  const client = await server.client();
  const created = await client.put(agentPath, { ...agent, max_turns: 3, metadata: { team: "red" } });
  expect(created.body).toMatchObject({ object: "agent_sync", outcome: "created", changes: [], dry_run: false });
  const { id } = created.body.agent;
  const same = await client.put(agentPath, { ...agent, max_turns: 3, metadata: { team: "red" } });
  expect(same.body).toMatchObject({ outcome: "unchanged", changes: [], agent: { id, version: 1 } });
  const less = await client.put(agentPath, agent);
  expect(less.body).toMatchObject({ outcome: "updated", agent: { id, version: 2, max_turns: 25, metadata: {} } });
  expect(less.body.changes.sort()).toEqual(["max_turns", "metadata"]);
  expect((await client.get(`/v1/agents?name=${encodeURIComponent("Refund desk/EU")}`)).body.data).toMatchObject([
    { id },
  ]);
  expect((await client.get("/v1/agents?name=Refund")).body.data).toEqual([]);
});

test("a dry run checks everything and stores nothing", async () => {
  await using server = testApp();
  const client = await server.client();
  const audits = () => server.db.sqlite.query("SELECT count(*) AS n FROM audit_log").get();
  const before = audits();
  for (const path of [agentPath, toolPath]) {
    const body = path === agentPath ? agent : http;
    expect((await client.put(`${path}?dry_run=true`, body)).body).toMatchObject({ outcome: "created", dry_run: true });
  }
  expect((await client.get("/v1/agents")).body.data).toEqual([]);
  expect((await client.get("/v1/tools")).body.data).toEqual([]);
  expect(audits()).toEqual(before);
  expect(
    (await client.put(`${agentPath}?dry_run=true`, { ...agent, tools: ["tool_01h455vb4pex5vsknk084sn02q"] })).status,
  ).toBe(400);
  await client.put(agentPath, agent);
  const change = await client.put(`${agentPath}?dry_run=true`, { ...agent, instructions: "Be long." });
  expect(change.body).toMatchObject({ outcome: "updated", changes: ["instructions"], agent: { version: 2 } });
  const kept = (await client.get("/v1/agents")).body.data[0];
  expect(kept).toMatchObject({ version: 1, instructions: "Be brief." });
  expect((await client.get(`/v1/agents/${kept.id}/versions/2`)).status).toBe(404);
  expect((await client.put(`${agentPath}?dry_run=maybe`, agent)).body.error.param).toBe("dry_run");
});

test("a name that two agents have is refused with both ids", async () => {
  await using server = testApp();
  const client = await server.client();
  const ids = [];
  for (let made = 0; made < 2; made++) ids.push((await client.post("/v1/agents", { ...agent, name: "Clerk" })).body.id);
  const { status, body } = await client.put("/v1/agents/by-name/Clerk", agent);
  expect([status, body.error.code, body.error.details]).toEqual([409, "agent_ambiguous", { agent_ids: ids.sort() }]);
});

test("two requests that set the same name at once make one agent", async () => {
  await using server = testApp();
  const client = await server.client();
  const answers = await Promise.all([1, 2, 3, 4].map(() => client.put("/v1/agents/by-name/Clerk", agent)));
  expect(answers.map(({ body }) => body.outcome).sort()).toEqual(["created", "unchanged", "unchanged", "unchanged"]);
  expect((await client.get("/v1/agents")).body.data).toHaveLength(1);
});

test("a tool is changed only where it differs, and a header keeps its value by its mask", async () => {
  await using server = testApp();
  const client = await server.client();
  const created = await client.put(toolPath, { ...http, retries: 2 });
  expect(created.body).toMatchObject({
    outcome: "created",
    tool: { signing_secret: expect.stringMatching(/^whsec_/) },
  });
  const masked = { ...http, retries: 2, headers: { authorization: "********" } };
  const same = await client.put(toolPath, masked);
  expect(same.body).toMatchObject({ outcome: "unchanged", changes: [] });
  expect(same.body.tool).not.toHaveProperty("signing_secret");
  expect((await client.put(toolPath, { ...http, retries: 2 })).body.outcome).toBe("unchanged");
  const other = await client.put(toolPath, { ...http, headers: { authorization: "Bearer other" } });
  expect(other.body.changes.sort()).toEqual(["headers", "retries"]);
  expect((await client.put(toolPath, { url: http.url })).body).toMatchObject({
    changes: ["headers"],
    tool: { headers: {} },
  });
  expect((await client.put(toolPath, masked)).body.error.param).toBe("headers.authorization");
  expect((await client.put(toolPath, { type: "client" })).body.error.param).toBe("type");
  expect((await client.put(toolPath, {})).body.error.param).toBe("url");
});

test("a name that no path can carry, and a name in the body, are refused", async () => {
  await using server = testApp();
  const client = await server.client();
  expect((await client.put("/v1/agents/by-name/Clerk", { ...agent, name: "Other" })).status).toBe(400);
  expect((await client.put("/v1/agents/by-name/%0A", agent)).status).toBe(400);
  expect((await client.put("/v1/tools/by-name/a%20b", {})).body.error.param).toBe("name");
});
