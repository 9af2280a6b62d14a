import { afterAll, beforeAll, expect, test } from "bun:test";
import { newId, siblingId } from "../domain/ids.ts";
import { clientScopes } from "../domain/scope.ts";
import type { Answer } from "../testing/expect-declared.ts";
import { changedTables, createRows, type Rows } from "../testing/rows.ts";
import { uploadSkill } from "../testing/skills.ts";
import { testActor } from "../testing/test-actor.ts";
import { type Client, testApp } from "../testing/test-app.ts";

// Objects of another project or environment, deleted objects and objects that never existed must be indistinguishable,
// byte for byte. Checked for every place of the API that takes an id; places missing in the tables below fail the first
// tests, so that no new route is forgotten.

const server = testApp();
let owner: Client;
let stranger: Client;
/** The owner's project, but its live environment. */
let live: Client;
/** The owner's project and environment, but another agent. */
let bound: Client;

beforeAll(async () => {
  const manner = { name: "openai", provider: "openai" as const, base_url: null, api_key: "none" };
  await server.connections.put(manner, testActor);
  owner = await server.client({ project: "owner" });
  live = await server.client({ project: "owner", environment: "live" });
  stranger = await server.client({ project: "stranger" });
  bound = await server.client({ project: "owner", agent_ids: [newId("agent")] });
  const many = { reads_per_minute: 1e6, writes_per_minute: 1e6, run_creations_per_minute: 1e6, runs_in_progress: 1e6 };
  for (const { scope } of [owner, stranger]) await server.projects.update(scope.project_id, { limits: many });
});
afterAll(() => server[Symbol.asyncDispose]());

/** A kind of object with an id. */
interface Kind {
  /** Creates one (or several in different states), and returns every id by which it can be requested. */
  make(client: Client): Promise<string[]>;
  /** Ids of a deleted one; absent if deleted ones are still shown. */
  gone?(client: Client): Promise<string[]>;
  never(): string;
  /** True if a key for other agents must not see it. */
  ofAgent?: boolean;
  /** Invalid ids. */
  malformed: string[];
}

const misshapen = ["none", "agt_", "..%2f..%2fetc", "%00", "%20", "x".repeat(500), "%F0%9F%98%80"];

const agentBody = { name: "a", instructions: "", model: "openai/gpt-5" };
const { name: _, ...nameless } = agentBody;
const unique = () => `t${newId("tool")}`;
const idOf = ({ status, body }: Answer): string => {
  expect([status, body.error ?? null]).toEqual([201, null]);
  return body.id;
};
const makeAgent = async (client: Client) => idOf(await client.post("/v1/agents", agentBody));
const makeTool = async (client: Client, body: object = {}) =>
  idOf(await client.post("/v1/tools", { name: unique(), ...body }));
const makeAgentTool = async (client: Client) => makeTool(client, { type: "agent", agent_id: await makeAgent(client) });
const makeCodeTool = (client: Client) => makeTool(client, { type: "code" });
const daily = { name: "s", input: "Go.", cron: "0 9 * * *", timezone: "Europe/Berlin" };
const eventTrigger = { name: "t", verification: "github" };
const makeSchedule = async (client: Client) =>
  idOf(await client.post("/v1/schedules", { ...daily, agent_id: await makeAgent(client) }));
const makeTrigger = async (client: Client) =>
  idOf(await client.post("/v1/triggers", { ...eventTrigger, agent_id: await makeAgent(client) }));
const makeFile = async (client: Client) =>
  idOf(await client.post("/v1/files", { filename: "a.txt", text: unique(), purpose: "code_interpreter" }));
const makeImage = async (client: Client) =>
  idOf(
    await client.post("/v1/files", {
      filename: "a.png",
      purpose: "attachment",
      content_base64: btoa(`\x89PNG\r\n\x1a\n${unique()}`),
    }),
  );
const showing = (file_id: string) => [{ role: "user", content: [{ type: "image", file_id }] }];
const makeMemory = async (client: Client, kind = "vector") =>
  idOf(await client.post("/v1/memory", { name: "m", kind }));

const makeSnippet = async (client: Client) => idOf(await client.post("/v1/snippets", { name: unique(), text: "t" }));

const makeWebhook = async (client: Client) =>
  idOf(await client.post("/v1/webhooks", { url: "https://[2001:4860:4860::8888]/", events: ["file.failed"] }));

const makeSuite = async (client: Client) =>
  idOf(await client.post("/v1/suites", { name: unique(), run_ids: [(await makeRun(client, false)).id] }));

const makeThread = async (client: Client) => idOf(await client.post("/v1/threads", { title: "t" }));

/** A run that is over, or one that waits for a tool output. */
async function makeRun(client: Client, waiting: boolean): Promise<Answer["body"]> {
  const tool = (await client.post("/v1/tools", { name: unique() })).body;
  const script = [...(waiting ? [{ tool_calls: [{ name: tool.name, arguments: {} }] }] : []), { text: "Done." }];
  const model_settings = { script };
  const agent = await client.post("/v1/agents", {
    ...agentBody,
    model: "test/script",
    model_settings,
    tools: [tool.id],
  });
  const run = await client.post("/v1/runs?wait=60", { agent_id: agent.body.id, input: "Go." });
  expect(run.body.status).toBe(waiting ? "requires_action" : "completed");
  return run.body;
}

async function makeScore(client: Client): Promise<string> {
  const { status, body } = await client.put(`/v1/runs/${(await makeRun(client, false)).id}/scores/right`, { value: 1 });
  expect(status).toBe(200);
  return body.id;
}

const runs = async (client: Client): Promise<string[]> => [
  (await makeRun(client, true)).id,
  (await makeRun(client, false)).id,
];
const pendingCall = async (client: Client): Promise<string> =>
  (await makeRun(client, true)).required_action.submit_tool_outputs.tool_calls[0].id;
const withTraces = (ids: string[]) => [...ids, ...ids.map((id) => siblingId(id, "trace"))];

async function deleted(client: Client, path: string, id: string): Promise<string> {
  expect((await client.delete(`${path}/${id}`)).status).toBe(200);
  return id;
}
const deletedRun = async (client: Client) => deleted(client, "/v1/runs", (await makeRun(client, false)).id);

const kinds = {
  agent: {
    make: async (client) => [await makeAgent(client)],
    gone: async (client) => [await deleted(client, "/v1/agents", await makeAgent(client))],
    never: () => newId("agent"),
    ofAgent: true,
    malformed: misshapen,
  },
  tool: {
    make: async (client) => [await makeTool(client)],
    gone: async (client) => [await deleted(client, "/v1/tools", await makeTool(client))],
    never: () => newId("tool"),
    malformed: misshapen,
  },
  run: {
    make: runs,
    gone: async (client) => [await deletedRun(client)],
    never: () => newId("run"),
    ofAgent: true,
    malformed: misshapen,
  },
  trace: {
    make: async (client) => withTraces(await runs(client)),
    gone: async (client) =>
      withTraces([await deletedRun(client), await deleted(client, "/v1/traces", (await makeRun(client, false)).id)]),
    never: () => newId("trace"),
    ofAgent: true,
    malformed: misshapen,
  },
  call: {
    make: async (client) => [await pendingCall(client)],
    async gone(client) {
      const { id, required_action } = await makeRun(client, true);
      await client.post(`/v1/runs/${id}/cancel`);
      await deleted(client, "/v1/runs", id);
      return [required_action.submit_tool_outputs.tool_calls[0].id];
    },
    never: () => newId("tool_call"),
    malformed: misshapen,
  },
  step: {
    make: async (client) =>
      (await client.get(`/v1/traces/${(await makeRun(client, false)).id}`)).body.steps.map(
        ({ id }: { id: string }) => id,
      ),
    never: () => newId("step"),
    malformed: misshapen,
  },
  score: {
    make: async (client) => [await makeScore(client)],
    gone: async (client) => [await deleted(client, "/v1/scores", await makeScore(client))],
    never: () => newId("score"),
    ofAgent: true,
    malformed: misshapen,
  },
  // A revoked key stays visible: none of its data is deleted.
  api_key: {
    make: async (client) => [idOf(await client.post("/v1/api_keys", { name: "k", scopes: ["read"] }))],
    never: () => newId("api_key"),
    malformed: misshapen,
  },
  secret: {
    make: async (client) => [await setSecret(client)],
    gone: async (client) => [await deleted(client, "/v1/secrets", await setSecret(client))],
    never: unique,
    malformed: misshapen.filter((name) => !/^\w{1,64}$/.test(name)),
  },
  agent_name: {
    make: async (client) => {
      const name = unique();
      idOf(await client.post("/v1/agents", { ...agentBody, name }));
      return [name];
    },
    never: unique,
    malformed: [],
  },
  tool_name: {
    make: async (client) => {
      const name = unique();
      await makeTool(client, { name });
      return [name];
    },
    never: unique,
    malformed: [],
  },
  webhook: {
    make: async (client) => [await makeWebhook(client)],
    gone: async (client) => [await deleted(client, "/v1/webhooks", await makeWebhook(client))],
    never: () => newId("webhook"),
    malformed: misshapen,
  },
  file: {
    make: async (client) => [await makeFile(client)],
    gone: async (client) => [await deleted(client, "/v1/files", await makeFile(client))],
    never: () => newId("file"),
    malformed: misshapen,
  },
  image: {
    make: async (client) => [await makeImage(client)],
    gone: async (client) => [await deleted(client, "/v1/files", await makeImage(client))],
    never: () => newId("file"),
    malformed: misshapen,
  },
  memory: {
    make: async (client) => [await makeMemory(client), await makeMemory(client, "kv")],
    gone: async (client) => [await deleted(client, "/v1/memory", await makeMemory(client))],
    never: () => newId("memory"),
    malformed: misshapen,
  },
  snippet: {
    make: async (client) => [await makeSnippet(client)],
    gone: async (client) => [await deleted(client, "/v1/snippets", await makeSnippet(client))],
    never: () => newId("snippet"),
    malformed: misshapen,
  },
  schedule: {
    make: async (client) => [await makeSchedule(client)],
    gone: async (client) => [await deleted(client, "/v1/schedules", await makeSchedule(client))],
    never: () => newId("schedule"),
    ofAgent: true,
    malformed: misshapen,
  },
  trigger: {
    make: async (client) => [await makeTrigger(client)],
    gone: async (client) => [await deleted(client, "/v1/triggers", await makeTrigger(client))],
    never: () => newId("trigger"),
    ofAgent: true,
    malformed: misshapen,
  },
  suite: {
    make: async (client) => [await makeSuite(client)],
    gone: async (client) => [await deleted(client, "/v1/suites", await makeSuite(client))],
    never: () => newId("suite"),
    ofAgent: true,
    malformed: misshapen,
  },
  thread: {
    make: async (client) => [await makeThread(client)],
    gone: async (client) => [await deleted(client, "/v1/threads", await makeThread(client))],
    never: () => newId("thread"),
    malformed: misshapen,
  },
  skill: {
    make: async (client) => [(await uploadSkill(client, unique().replaceAll("_", "-"))).id],
    gone: async (client) => [
      await deleted(client, "/v1/skills", (await uploadSkill(client, unique().replaceAll("_", "-"))).id),
    ],
    never: () => newId("skill"),
    malformed: misshapen,
  },
  secret_id: {
    make: async (client) => [(await client.get(`/v1/secrets/${await setSecret(client)}`)).body.id],
    never: () => newId("secret"),
    malformed: misshapen,
  },
  user: {
    make: async (client) => {
      const user_id = unique();
      idOf(await client.post("/v1/threads", { user_id }));
      return [user_id];
    },
    never: unique,
    malformed: ["x".repeat(500)],
  },
  erasure: {
    make: async (client) => [(await client.delete(`/v1/users/${unique()}/data?wait=60`)).body.id],
    never: () => newId("erasure"),
    malformed: misshapen,
  },
  audit_entry: {
    make: async (client) => [(await client.get("/v1/audit_log?limit=1")).body.data[0].id],
    never: () => newId("audit_entry"),
    malformed: misshapen,
  },
} satisfies Record<string, Kind>;
type KindName = keyof typeof kinds;

async function setSecret(client: Client): Promise<string> {
  const name = unique();
  expect((await client.put(`/v1/secrets/${name}`, { value: "value" })).status).toBe(200);
  return name;
}

/** Path parameters by resource; null if the parameter only counts within another one. */
const parameters: Record<string, KindName | null> = {
  "agents :id": "agent",
  "agents :version": null,
  "agents :name": "agent_name",
  "tools :name": "tool_name",
  "agents :label": null,
  "tools :id": "tool",
  "skills :id": "skill",
  "skills :version": null,
  "runs :id": "run",
  "runs :other_id": null,
  "runs :name": null,
  "scores :id": "score",
  "traces :run_id": "trace",
  "api_keys :id": "api_key",
  "secrets :name": "secret",
  "snippets :id": "snippet",
  "snippets :version": null,
  "files :id": "file",
  "files :number": null,
  "memory :id": "memory",
  "memory :entry_id": null,
  "memory :key": null,
  "webhooks :id": "webhook",
  "webhooks :delivery_id": null,
  "schedules :id": "schedule",
  "triggers :id": "trigger",
  "threads :id": "thread",
  "suites :id": "suite",
  "suites :suite_run_id": null,
  "users :id": "user",
  "erasures :id": "erasure",
};

/** Bodies that routes accept, so that only the id is wrong; default `{}`. */
const bodies: Record<string, () => unknown> = {
  "PATCH /v1/agents/:id": () => ({ description: "taken over" }),
  "PUT /v1/agents/:id/chat_page": () => ({ access: "link" }),
  "PUT /v1/agents/:id/labels/:label": () => ({ version: 1 }),
  "PATCH /v1/tools/:id": () => ({ description: "taken over" }),
  "POST /v1/tools/:id/test": () => ({ arguments: {} }),
  "PATCH /v1/memory/:id": () => ({ name: "taken over" }),
  "POST /v1/memory/:id/search": () => ({ query: "taken over" }),
  "POST /v1/memory/:id/entries": () => ({ text: "taken over" }),
  "PUT /v1/memory/:id/keys/:key": () => ({ value: "taken over" }),
  "PUT /v1/runs/:id/scores/:name": () => ({ value: 1 }),
  "PATCH /v1/snippets/:id": () => ({ text: "taken over" }),
  "PATCH /v1/schedules/:id": () => ({ name: "taken over" }),
  "PATCH /v1/triggers/:id": () => ({ name: "taken over" }),
  "PATCH /v1/suites/:id": () => ({ name: "taken over" }),
  "POST /v1/threads/:id/messages": () => ({ role: "user", content: "Hi." }),
  "PATCH /v1/threads/:id": () => ({ title: "taken over" }),
  "PATCH /v1/webhooks/:id": () => ({ description: "taken over" }),
  "POST /v1/webhooks/:id/redeliver": () => ({ since: "2026-01-01T00:00:00Z" }),
  "PATCH /v1/api_keys/:id": () => ({ name: "taken over" }),
  "PUT /v1/secrets/:name": () => ({ value: "taken over" }),
  "PUT /v1/agents/by-name/:name": () => ({ instructions: "", model: "openai/gpt-5" }),
  "PUT /v1/tools/by-name/:name": () => ({ description: "taken over" }),
  "POST /v1/runs/:id/fork": () => ({ step_index: -1 }),
  "POST /v1/runs/:id/messages": () => ({ role: "user", content: "Hi." }),
  "POST /v1/runs/:id/submit_tool_outputs": () => ({ tool_outputs: [{ tool_call_id: newId("tool_call"), output: 1 }] }),
};

/** Routes that create a missing object, or list its parts: another tenant's object is treated like a new one. */
const makes = new Set([
  "PUT /v1/secrets/:name",
  "PUT /v1/agents/by-name/:name",
  "PUT /v1/tools/by-name/:name",
  "GET /v1/users/:id/data",
  "DELETE /v1/users/:id/data",
]);
/** Query with which the route returns when it is done. */
const waits: Record<string, string> = { "DELETE /v1/users/:id/data": "?wait=60" };

interface Place {
  kind: KindName;
  /** Path and body that send the id. */
  ask(client: Client, id: string): Promise<{ path: string; body?: unknown }>;
  /** Cases in which the client cannot have the object of the path, because live has no test models. */
  inTestOnly?: boolean;
}

/**
 * Ids in bodies and queries, by route and field; null if the text is the client's own or counts within the path's
 * object.
 */
const places: Record<string, Place | null> = {
  "POST /v1/agents tools[]": {
    kind: "tool",
    ask: async (_, id) => ({ path: "/v1/agents", body: { ...agentBody, tools: [id] } }),
  },
  "PATCH /v1/agents/:id tools[]": {
    kind: "tool",
    ask: async (client, id) => ({ path: `/v1/agents/${await makeAgent(client)}`, body: { tools: [id] } }),
  },
  "POST /v1/agents handoffs[]": {
    kind: "agent",
    ask: async (_, id) => ({ path: "/v1/agents", body: { ...agentBody, handoffs: [id] } }),
  },
  "PATCH /v1/agents/:id handoffs[]": {
    kind: "agent",
    ask: async (client, id) => ({ path: `/v1/agents/${await makeAgent(client)}`, body: { handoffs: [id] } }),
  },
  "POST /v1/agents handoffs[].agent_id": {
    kind: "agent",
    ask: async (_, id) => ({ path: "/v1/agents", body: { ...agentBody, handoffs: [{ agent_id: id }] } }),
  },
  "PATCH /v1/agents/:id handoffs[].agent_id": {
    kind: "agent",
    ask: async (client, id) => ({
      path: `/v1/agents/${await makeAgent(client)}`,
      body: { handoffs: [{ agent_id: id }] },
    }),
  },
  "POST /v1/agents memory.stores[].memory_id": {
    kind: "memory",
    ask: async (_, id) => ({ path: "/v1/agents", body: { ...agentBody, memory: { stores: [{ memory_id: id }] } } }),
  },
  "PATCH /v1/agents/:id memory.stores[].memory_id": {
    kind: "memory",
    ask: async (client, id) => ({
      path: `/v1/agents/${await makeAgent(client)}`,
      body: { memory: { stores: [{ memory_id: id }] } },
    }),
  },
  "PUT /v1/agents/by-name/:name tools[]": {
    kind: "tool",
    ask: async (_, id) => ({ path: `/v1/agents/by-name/${unique()}`, body: { ...nameless, tools: [id] } }),
  },
  "PUT /v1/agents/by-name/:name memory.stores[].memory_id": {
    kind: "memory",
    ask: async (_, id) => ({
      path: `/v1/agents/by-name/${unique()}`,
      body: { ...nameless, memory: { stores: [{ memory_id: id }] } },
    }),
  },
  "PUT /v1/agents/by-name/:name handoffs[]": {
    kind: "agent",
    ask: async (_, id) => ({ path: `/v1/agents/by-name/${unique()}`, body: { ...nameless, handoffs: [id] } }),
  },
  "PUT /v1/agents/by-name/:name handoffs[].agent_id": {
    kind: "agent",
    ask: async (_, id) => ({
      path: `/v1/agents/by-name/${unique()}`,
      body: { ...nameless, handoffs: [{ agent_id: id }] },
    }),
  },
  "PUT /v1/agents/by-name/:name skills[].skill_id": {
    kind: "skill",
    ask: async (_, id) => ({
      path: `/v1/agents/by-name/${unique()}`,
      body: { ...nameless, skills: [{ skill_id: id }] },
    }),
  },
  "PUT /v1/tools/by-name/:name agent_id": {
    kind: "agent",
    ask: async (_, id) => ({ path: `/v1/tools/by-name/${unique()}`, body: { type: "agent", agent_id: id } }),
  },
  "PUT /v1/tools/by-name/:name files[]": {
    kind: "file",
    ask: async (_, id) => ({ path: `/v1/tools/by-name/${unique()}`, body: { type: "code", files: [id] } }),
  },
  "POST /v1/agents skills[].skill_id": {
    kind: "skill",
    ask: async (_, id) => ({ path: "/v1/agents", body: { ...agentBody, skills: [{ skill_id: id }] } }),
  },
  "PATCH /v1/agents/:id skills[].skill_id": {
    kind: "skill",
    ask: async (client, id) => ({
      path: `/v1/agents/${await makeAgent(client)}`,
      body: { skills: [{ skill_id: id }] },
    }),
  },
  "POST /v1/tools agent_id": {
    kind: "agent",
    ask: async (_, id) => ({ path: "/v1/tools", body: { name: unique(), type: "agent", agent_id: id } }),
  },
  "PATCH /v1/tools/:id agent_id": {
    kind: "agent",
    ask: async (client, id) => ({ path: `/v1/tools/${await makeAgentTool(client)}`, body: { agent_id: id } }),
  },
  "POST /v1/tools files[]": {
    kind: "file",
    ask: async (_, id) => ({ path: "/v1/tools", body: { name: unique(), type: "code", files: [id] } }),
  },
  "PATCH /v1/tools/:id files[]": {
    kind: "file",
    ask: async (client, id) => ({ path: `/v1/tools/${await makeCodeTool(client)}`, body: { files: [id] } }),
  },
  "POST /v1/runs agent_id": {
    kind: "agent",
    ask: async (_, id) => ({ path: "/v1/runs", body: { agent_id: id, input: "Go." } }),
  },
  "POST /v1/runs overrides.tools[]": {
    kind: "tool",
    ask: async (client, id) => ({
      path: "/v1/runs",
      body: { agent_id: await makeAgent(client), input: "Go.", overrides: { tools: [id] } },
    }),
  },
  "POST /v1/runs file_ids[]": {
    kind: "file",
    ask: async (client, id) => ({
      path: "/v1/runs",
      body: { agent_id: await makeAgent(client), input: "Go.", file_ids: [id] },
    }),
  },
  "POST /v1/runs input[].content[].file_id": {
    kind: "image",
    ask: async (client, id) => ({
      path: "/v1/runs",
      body: { agent_id: await makeAgent(client), input: showing(id) },
    }),
  },
  "POST /v1/runs/:id/fork edits.input[].content[].file_id": {
    kind: "image",
    ask: async (client, id) => ({
      path: `/v1/runs/${(await makeRun(client, false)).id}/fork`,
      body: { step_index: -1, edits: { input: showing(id) } },
    }),
    inTestOnly: true,
  },
  "POST /v1/threads/:id/messages content[].file_id": {
    kind: "image",
    ask: async (client, id) => ({
      path: `/v1/threads/${await makeThread(client)}/messages`,
      body: showing(id)[0],
    }),
  },
  "POST /v1/schedules input[].content[].file_id": {
    kind: "image",
    ask: async (client, id) => ({
      path: "/v1/schedules",
      body: { ...daily, agent_id: await makeAgent(client), input: showing(id) },
    }),
  },
  "PATCH /v1/schedules/:id input[].content[].file_id": {
    kind: "image",
    ask: async (client, id) => ({ path: `/v1/schedules/${await makeSchedule(client)}`, body: { input: showing(id) } }),
  },
  // Calls of another model: the sender chooses their ids, which are never looked up.
  "POST /v1/runs input[].tool_call_id": null,
  "POST /v1/runs input[].tool_calls[].id": null,
  "POST /v1/runs/:id/fork edits.input[].tool_call_id": null,
  "POST /v1/runs/:id/fork edits.input[].tool_calls[].id": null,
  "POST /v1/threads/:id/messages tool_call_id": null,
  "POST /v1/threads/:id/messages tool_calls[].id": null,
  "POST /v1/schedules input[].tool_call_id": null,
  "POST /v1/schedules input[].tool_calls[].id": null,
  "PATCH /v1/schedules/:id input[].tool_call_id": null,
  "PATCH /v1/schedules/:id input[].tool_calls[].id": null,
  "GET /v1/files/:id/chunks ?starting_after": null,
  "POST /v1/files memory_id": {
    kind: "memory",
    ask: async (_, id) => ({
      path: "/v1/files",
      body: { filename: "a.txt", text: unique(), purpose: "retrieval", memory_id: id },
    }),
  },
  "POST /v1/files scope_id": null,
  "POST /v1/memory/:id/entries file_id": {
    kind: "file",
    ask: async (client, id) => ({ path: `/v1/memory/${await makeMemory(client)}/entries`, body: { file_id: id } }),
  },
  "GET /v1/memory/:id/entries ?file_id": {
    kind: "file",
    ask: async (client, id) => ({ path: `/v1/memory/${await makeMemory(client)}/entries?file_id=${id}` }),
  },
  "POST /v1/memory/:id/entries scope_id": null,
  "POST /v1/memory/:id/search scope_id": null,
  "GET /v1/memory/:id/entries ?scope_id": null,
  "GET /v1/memory/:id/entries ?starting_after": null,
  "GET /v1/memory/:id/keys ?scope_id": null,
  "GET /v1/memory/:id/keys ?starting_after": null,
  "GET /v1/memory/:id/keys/:key ?scope_id": null,
  "GET /v1/models ?starting_after": null, // The name of a model, which belongs to no project.
  "PUT /v1/memory/:id/keys/:key ?scope_id": null,
  "DELETE /v1/memory/:id/keys/:key ?scope_id": null,
  "POST /v1/schedules agent_id": {
    kind: "agent",
    ask: async (_, id) => ({ path: "/v1/schedules", body: { ...daily, agent_id: id } }),
  },
  "PATCH /v1/schedules/:id agent_id": {
    kind: "agent",
    ask: async (client, id) => ({ path: `/v1/schedules/${await makeSchedule(client)}`, body: { agent_id: id } }),
  },
  "POST /v1/schedules overrides.tools[]": {
    kind: "tool",
    ask: async (client, id) => ({
      path: "/v1/schedules",
      body: { ...daily, agent_id: await makeAgent(client), overrides: { tools: [id] } },
    }),
  },
  "PATCH /v1/schedules/:id overrides.tools[]": {
    kind: "tool",
    ask: async (client, id) => ({
      path: `/v1/schedules/${await makeSchedule(client)}`,
      body: { overrides: { tools: [id] } },
    }),
  },
  "POST /v1/schedules session_id": null,
  "POST /v1/schedules user_id": null,
  "PATCH /v1/schedules/:id session_id": null,
  "PATCH /v1/schedules/:id user_id": null,
  "GET /v1/schedules ?agent_id": { kind: "agent", ask: async (_, id) => ({ path: `/v1/schedules?agent_id=${id}` }) },
  "GET /v1/schedules/:id/runs ?starting_after": null,
  "POST /v1/triggers agent_id": {
    kind: "agent",
    ask: async (_, id) => ({ path: "/v1/triggers", body: { ...eventTrigger, agent_id: id } }),
  },
  "PATCH /v1/triggers/:id agent_id": {
    kind: "agent",
    ask: async (client, id) => ({ path: `/v1/triggers/${await makeTrigger(client)}`, body: { agent_id: id } }),
  },
  "GET /v1/triggers ?agent_id": { kind: "agent", ask: async (_, id) => ({ path: `/v1/triggers?agent_id=${id}` }) },
  "GET /v1/triggers/:id/deliveries ?starting_after": null,
  "POST /v1/runs/:id/fork tools": null, // Answer mode of its calls.
  "POST /v1/suites run_ids[]": {
    kind: "run",
    ask: async (_, id) => ({ path: "/v1/suites", body: { name: unique(), run_ids: [id] } }),
  },
  "PATCH /v1/suites/:id run_ids[]": {
    kind: "run",
    ask: async (client, id) => ({ path: `/v1/suites/${await makeSuite(client)}`, body: { run_ids: [id] } }),
    inTestOnly: true,
  },
  "PATCH /v1/suites/:id add_run_ids[]": {
    kind: "run",
    ask: async (client, id) => ({ path: `/v1/suites/${await makeSuite(client)}`, body: { add_run_ids: [id] } }),
    inTestOnly: true,
  },
  "PATCH /v1/suites/:id remove_run_ids[]": null, // Counts within the suite: other runs cannot be removed.
  "GET /v1/suites/:id/runs ?starting_after": null,
  "GET /v1/threads/:id/messages ?starting_after": null,
  "GET /v1/threads ?session_id": null,
  "GET /v1/threads ?user_id": null,
  "POST /v1/threads session_id": null,
  "POST /v1/threads user_id": null,
  "POST /v1/runs thread_id": {
    kind: "thread",
    ask: async (client, id) => ({
      path: "/v1/runs",
      body: { agent_id: await makeAgent(client), input: "Go.", thread_id: id },
    }),
  },
  "POST /v1/runs session_id": null,
  "POST /v1/runs user_id": null,
  "POST /v1/runs/:id/messages content[].file_id": {
    kind: "image",
    ask: async (client, id) => ({
      path: `/v1/runs/${(await makeRun(client, true)).id}/messages`,
      body: { role: "user", content: [{ type: "image", file_id: id }] },
    }),
    inTestOnly: true,
  },
  "POST /v1/runs/:id/submit_tool_outputs tool_outputs[].tool_call_id": {
    kind: "call",
    ask: async (client, id) => ({
      path: `/v1/runs/${(await makeRun(client, true)).id}/submit_tool_outputs`,
      body: { tool_outputs: [{ tool_call_id: id, output: 1 }] },
    }),
    inTestOnly: true,
  },
  "POST /v1/runs/:id/submit_tool_outputs tool_outputs[].content[].file_id": {
    kind: "image",
    ask: async (client, id) => {
      const run = await makeRun(client, true);
      const [{ id: tool_call_id }] = run.required_action.submit_tool_outputs.tool_calls;
      const content = [{ type: "image", file_id: id }];
      return { path: `/v1/runs/${run.id}/submit_tool_outputs`, body: { tool_outputs: [{ tool_call_id, content }] } };
    },
    inTestOnly: true,
  },
  "POST /v1/client_tokens agent_id": {
    kind: "agent",
    ask: async (_, id) => ({ path: "/v1/client_tokens", body: { agent_id: id, scopes: ["read"], expires_in: 60 } }),
  },
  "POST /v1/client_tokens run_id": {
    kind: "run",
    ask: async (client, id) => ({
      path: "/v1/client_tokens",
      body: { agent_id: await makeAgent(client), run_id: id, scopes: ["read"], expires_in: 60 },
    }),
  },
  "POST /v1/client_tokens thread_id": {
    kind: "thread",
    ask: async (client, id) => ({
      path: "/v1/client_tokens",
      body: { agent_id: await makeAgent(client), thread_id: id, scopes: ["read"], expires_in: 60 },
    }),
  },
  "POST /v1/client_tokens user_id": null,
  "POST /v1/api_keys agent_ids[]": {
    kind: "agent",
    ask: async (_, id) => ({ path: "/v1/api_keys", body: { name: "k", scopes: ["read"], agent_ids: [id] } }),
  },
  ...Object.fromEntries(
    ["count", "export"].flatMap((what) => [
      ...(["agent", "api_key", "parent_run", "source_run"] as const).map((name) => [
        `GET /v1/runs/${what} ?${name}_id`,
        {
          kind: name === "agent" || name === "api_key" ? name : ("run" as const),
          ask: async (_: Client, id: string) => ({ path: `/v1/runs/${what}?${name}_id=${id}` }),
        },
      ]),
      [`GET /v1/runs/${what} ?thread_id`, null],
      [`GET /v1/runs/${what} ?user_id`, null],
    ]),
  ),
  "GET /v1/analytics ?agent_id": { kind: "agent", ask: async (_, id) => ({ path: `/v1/analytics?agent_id=${id}` }) },
  "GET /v1/search ?starting_after": {
    kind: "run",
    ask: async (_, id) => ({ path: `/v1/search?q=taken&starting_after=${id}` }),
  },
  "GET /v1/runs ?agent_id": { kind: "agent", ask: async (_, id) => ({ path: `/v1/runs?agent_id=${id}` }) },
  "GET /v1/runs ?api_key_id": { kind: "api_key", ask: async (_, id) => ({ path: `/v1/runs?api_key_id=${id}` }) },
  "GET /v1/runs ?parent_run_id": { kind: "run", ask: async (_, id) => ({ path: `/v1/runs?parent_run_id=${id}` }) },
  "GET /v1/runs ?source_run_id": { kind: "run", ask: async (_, id) => ({ path: `/v1/runs?source_run_id=${id}` }) },
  "GET /v1/runs ?thread_id": null,
  "GET /v1/runs ?user_id": null,
  "GET /v1/scores ?run_id": { kind: "run", ask: async (_, id) => ({ path: `/v1/scores?run_id=${id}` }) },
  "GET /v1/scores ?thread_id": { kind: "thread", ask: async (_, id) => ({ path: `/v1/scores?thread_id=${id}` }) },
  "GET /v1/scores ?agent_id": { kind: "agent", ask: async (_, id) => ({ path: `/v1/scores?agent_id=${id}` }) },
  "GET /v1/audit_log ?actor_id": { kind: "api_key", ask: async (_, id) => ({ path: `/v1/audit_log?actor_id=${id}` }) },
  "GET /v1/audit_log ?target_id": {
    kind: "api_key",
    ask: async (_, id) => ({ path: `/v1/audit_log?target_id=${id}` }),
  },
  "GET /v1/audit_log ?request_id": null,
  "GET /v1/skills/:id/versions ?starting_after": null,
  "GET /v1/agents/:id/versions ?starting_after": null,
  "GET /v1/snippets/:id/versions ?starting_after": null,
  "GET /v1/agents/:id/labels/:label/revisions ?starting_after": null,
  "GET /v1/runs/:id/events ?starting_after": null,
  "GET /v1/runs/:id/diff/:other_id ?starting_after": null,
  "GET /v1/webhooks/:id/deliveries ?starting_after": null,
  "GET /v1/webhooks/:id/deliveries ?run_id": {
    kind: "run",
    ask: async (client, id) => ({ path: `/v1/webhooks/${await makeWebhook(client)}/deliveries?run_id=${id}` }),
  },
  "GET /v1/traces/:run_id ?starting_after": {
    kind: "step",
    ask: async (client, id) => ({ path: `/v1/traces/${(await makeRun(client, false)).id}?starting_after=${id}` }),
    inTestOnly: true,
  },
};

/** Kinds of the lists' cursors. */
const lists: Record<string, KindName> = {
  "/v1/agents": "agent",
  "/v1/tools": "tool",
  "/v1/secrets": "secret_id",
  "/v1/snippets": "snippet",
  "/v1/skills": "skill",
  "/v1/files": "file",
  "/v1/memory": "memory",
  "/v1/webhooks": "webhook",
  "/v1/schedules": "schedule",
  "/v1/triggers": "trigger",
  "/v1/threads": "thread",
  "/v1/suites": "suite",
  "/v1/runs": "run",
  "/v1/approvals": "call",
  "/v1/scores": "score",
  "/v1/traces": "trace",
  "/v1/api_keys": "api_key",
  "/v1/audit_log": "audit_entry",
  "/v1/erasures": "erasure",
};

// --- Every place is known -------------------------------------------------------------------------------------------

const routes = server.app.routes
  .filter(({ path }) => path.startsWith("/v1/"))
  .map(({ method, path, hooks }) => ({
    method,
    path: path.replace(/\/$/, ""),
    body: hooks.body as Schema | undefined,
  }));
const parameterOf = (path: string, name: string) => `${path.split("/")[2]} ${name}`;

test("every path parameter is in the table", () => {
  const found = routes.flatMap(({ path }) => [...path.matchAll(/:\w+/g)].map(([name]) => parameterOf(path, name)));
  expect([...new Set(found)].sort()).toEqual(Object.keys(parameters).sort());
});

test("every id in a body or query is in the table", () => {
  const inBodies = routes.flatMap(({ method, path, body }) => idsIn(body).map((field) => `${method} ${path} ${field}`));
  const inQueries = Object.entries(server.operations).flatMap(([route, { query = {} }]) =>
    Object.keys(query)
      .filter((name) => isIdName(name) || (name === "starting_after" && !(query.ending_before && !route.includes(":"))))
      .map((name) => `${route} ?${name}`),
  );
  expect([...inBodies, ...inQueries].sort()).toEqual(Object.keys(places).sort());
});

test("every list is in the table", () => {
  const found = Object.entries(server.operations).filter(
    ([route, { query }]) => query?.ending_before && !route.includes(":"),
  );
  expect(found.map(([route]) => route.replace("GET ", "")).sort()).toEqual(Object.keys(lists).sort());
});

interface Schema {
  type?: string;
  pattern?: string;
  properties?: Record<string, Schema>;
  items?: Schema;
  anyOf?: Schema[];
}

const isIdName = (name: string) => /(^|_)ids?$|^(tools|handoffs)$/.test(name);

/** Paths of fields that hold ids, found by name or pattern. */
function idsIn(schema: Schema | undefined, path = "", name = ""): string[] {
  if (!schema) return [];
  if (schema.anyOf) return [...new Set(schema.anyOf.flatMap((each) => idsIn(each, path, name)))];
  if (schema.items) return idsIn(schema.items, `${path}[]`, name);
  if (schema.properties)
    return Object.entries(schema.properties).flatMap(([key, each]) => idsIn(each, path ? `${path}.${key}` : key, key));
  return schema.type === "string" && (isIdName(name) || schema.pattern?.includes("_[0-9a-hj")) ? [path] : [];
}

// --- Every place answers alike --------------------------------------------------------------------------------------

const things = new Map<string, Promise<{ taken: string[]; gone: string[] }>>();
/** Objects of the owner, created once for all tests, which must not change them. */
function thingsOf(name: KindName): Promise<{ taken: string[]; gone: string[] }> {
  const kind: Kind = kinds[name];
  const made = things.get(name) ?? makeThings(kind);
  things.set(name, made);
  return made;
}
const makeThings = async (kind: Kind) => ({
  taken: await kind.make(owner),
  gone: (await kind.gone?.(owner)) ?? [],
});

/** Well-formed ids that a client may not see, with the client. */
async function foreignIds(name: KindName, liveToo: boolean): Promise<[why: string, client: Client, id: string][]> {
  const kind: Kind = kinds[name];
  const { taken, gone } = await thingsOf(name);
  const clients: [string, Client][] = [["of another project", stranger]];
  if (liveToo) clients.push(["of the other environment", live]);
  if (kind.ofAgent) clients.push(["of an agent that the key may not use", bound]);
  return [
    ...clients.flatMap(([why, client]) => taken.map((id): [string, Client, string] => [why, client, id])),
    ...gone.map((id): [string, Client, string] => ["deleted", owner, id]),
  ];
}

/** Ids of another kind or none, including known ids with a wrong prefix. */
async function wrongIds(name: KindName): Promise<string[]> {
  const { taken } = await thingsOf(name);
  const others = name === "memory" ? (["message"] as const) : (["memory", "message"] as const);
  const renamed = name === "secret" ? [] : taken.flatMap((id) => others.map((other) => siblingId(id, other)));
  return [...renamed, ...taken.filter((id) => id.includes("_")).map((id) => id.slice(0, -1)), ...kinds[name].malformed];
}

/** Everything that a client sees of a response, except its request id and rate limit headers. */
function seen({ status, body, headers }: Answer): object {
  const ignored = /^(x-request-id|date|x-ratelimit-(remaining|reset))$/;
  const shown = [...headers].filter(([name]) => !ignored.test(name)).sort();
  return { status, headers: shown, body: JSON.stringify(body).replace(body.request_id, "req") };
}

/** The same for responses that describe a new object or repeat the input. */
const alike = (answer: Answer, sent: string): string =>
  JSON.stringify(seen(answer))
    .replaceAll(decodeURIComponent(sent), "<sent>")
    .replaceAll(/\b[a-z]+_[0-9a-hjkmnp-tv-z]{26}\b/g, "<id>")
    .replaceAll(/\bsk_(test|live)_\w+/g, "<secret>")
    .replaceAll(/\\"last4\\":\\"\w+\\"/g, "<last4>")
    .replaceAll(/"(test|live)\\"/g, "<environment>")
    .replaceAll(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, "<time>");

const ask = ({ key }: Pick<Client, "key">, method: string, path: string, body?: unknown) =>
  server.send(method, path, body, { authorization: `Bearer ${key.secret}` });

const atWork = server.db.sqlite.query(
  "SELECT 1 FROM runs WHERE status = 'in_progress' UNION ALL SELECT 1 FROM erasures WHERE completed_at_ms IS NULL",
);

/** The same, once all background work (reading, indexing, erasing, sweeping) and all runs have ended. */
async function rowsAtRest(of: Partial<Client>): Promise<Rows> {
  const { processing, memory, files, blobs } = server;
  while (atWork.get()) await Bun.sleep(1);
  await processing.idle();
  await memory.indexer.idle();
  await Promise.all([files.idle(), memory.sweeper.collect(), blobs.collect()]);
  return rowsBut(of);
}

const rows = createRows(server.db);
/** All rows that are not this client's own. */
const rowsBut = ({ scope }: Partial<Client>) => rows.but(scope);
const changed = (of: Partial<Client>, before: Rows) => changedTables(before, rowsBut(of));

const withParameter = routes.filter(({ path }) => path.includes(":"));

test.each(withParameter.filter(({ method, path }) => !makes.has(`${method} ${path}`)))(
  "$method $path treats an object that is not visible like one that never existed, and changes nothing",
  async ({ method, path }) => {
    const [name] = /:\w+/.exec(path)!;
    const kind = parameters[parameterOf(path, name)]!;
    const address = (id: string) =>
      path
        .replace(name, id)
        .replace(":version", "1")
        .replace(":label", "production")
        .replace(":delivery_id", newId("delivery"))
        .replace(":entry_id", newId("memory_entry"))
        .replace(":key", "note")
        .replace(":name", "feedback");
    const body = method === "GET" || method === "DELETE" ? undefined : (bodies[`${method} ${path}`]?.() ?? {});
    const never = seen(await ask(owner, method, address(kinds[kind].never()), body));
    expect(never).toMatchObject({ status: 404 });
    const others = await foreignIds(kind, true);
    const wrong = await wrongIds(kind);
    const before = await rowsAtRest({});
    for (const [why, client, id] of others)
      expect({ why, id, answer: seen(await ask(client, method, address(id), body)) }).toEqual({
        why,
        id,
        answer: never,
      });
    for (const id of wrong)
      expect({ id, answer: seen(await ask(owner, method, address(id), body)) }).toEqual({ id, answer: never });
    expect(changed({}, before)).toEqual([]);
  },
);

/** Requests with a token of the owner for the object's agent, but for another user, thread or run. */
async function* tokensFor(kind: KindName, id: string): AsyncGenerator<Pick<Client, "key">> {
  const agent_id = kind === "run" ? (await owner.get(`/v1/runs/${id}`)).body.agent_id : await makeAgent(owner);
  const run = await makeRun(owner, false);
  const others = [
    { agent_id },
    { agent_id, thread_id: await makeThread(owner) },
    { agent_id: run.agent_id, run_id: run.id },
  ];
  for (const bound of others) {
    const made = await owner.post("/v1/client_tokens", { ...bound, scopes: [...clientScopes], expires_in: 600 });
    expect(made.status).toBe(201);
    yield { key: { id: "", secret: made.body.token } };
  }
}

test.each(withParameter.filter(({ method, path }) => server.operations[`${method} ${path}`]?.client))(
  "$method $path treats an object outside a client token's bounds like one that never existed",
  async ({ method, path }) => {
    const [name] = /:\w+/.exec(path)!;
    const kind = parameters[parameterOf(path, name)]!;
    const body = method === "GET" ? undefined : (bodies[`${method} ${path}`]?.() ?? {});
    const { taken } = await thingsOf(kind);
    for (const id of taken)
      for await (const token of tokensFor(kind, id)) {
        const before = rowsBut({});
        const never = seen(await ask(token, method, path.replace(name, kinds[kind].never()), body));
        expect(never).toMatchObject({ status: 404 });
        expect(seen(await ask(token, method, path.replace(name, id), body))).toEqual(never);
        expect(changed({}, before)).toEqual([]);
      }
  },
);

test("every list for client tokens shows them only what they are bound to", async () => {
  const open = Object.keys(lists).filter((path) => server.operations[`GET ${path}`]?.client);
  expect(open.length).toBeGreaterThan(1);
  for (const path of open)
    for await (const token of tokensFor("thread", await makeThread(owner))) {
      const { data } = (await ask(token, "GET", path)).body;
      expect(data.length).toBeLessThan(2); // Only the run or thread it is bound to.
    }
});

test.each(withParameter.filter(({ body }) => body !== undefined))(
  "$method $path reports a wrong body the same way for every id",
  async ({ method, path }) => {
    const [name] = /:\w+/.exec(path)!;
    const kind = parameters[parameterOf(path, name)]!;
    const address = (id: string) => path.replace(name, id);
    const others = await foreignIds(kind, true);
    const before = await rowsAtRest({});
    for (const body of [{ surprise: 1 }, "[]", "{"]) {
      const never = seen(await ask(owner, method, address(kinds[kind].never()), body));
      for (const [why, client, id] of others)
        expect({ why, answer: seen(await ask(client, method, address(id), body)) }).toEqual({ why, answer: never });
    }
    expect(changed({}, before)).toEqual([]);
  },
);

test.each(withParameter.filter(({ method, path }) => makes.has(`${method} ${path}`)))(
  "$method $path creates its own object if another tenant has one of the same name",
  async ({ method, path }) => {
    const [name] = /:\w+/.exec(path)!;
    const kind = parameters[parameterOf(path, name)]!;
    for (const client of [stranger, live]) {
      const { taken } = await thingsOf(kind);
      const body = () => bodies[`${method} ${path}`]?.();
      const at = (id: string) => path.replace(name, id) + (waits[`${method} ${path}`] ?? "");
      const fresh = kinds[kind].never();
      const never = alike(await ask(client, method, at(fresh), body()), fresh);
      expect(never).toContain('"status":200');
      const before = await rowsAtRest(client);
      for (const id of taken) expect(alike(await ask(client, method, at(id), body()), id)).toBe(never);
      expect(changed(client, before)).toEqual([]);
      for (const id of [...taken, fresh]) await client.delete(path.replace(name, id));
    }
  },
);

const known = Object.entries(places).flatMap(([place, how]) => (how ? [{ place, ...how }] : []));

test.each(known)("$place treats another tenant's id like one that never existed", async (place) => {
  const method = place.place.split(" ")[0]!;
  const others = await foreignIds(place.kind, !place.inTestOnly);
  for (const [why, client, id] of others) {
    if (client === bound) continue; // Its agents are checked first: another error, on purpose.
    const send = async (id: string) => {
      const { path, body } = await place.ask(client, id);
      const before = await rowsAtRest(client);
      const answer = await ask(client, method, path, body);
      expect({ why, changed: changed(client, before) }).toEqual({ why, changed: [] });
      return alike(answer, id);
    };
    expect({ why, answer: await send(id) }).toEqual({ why, answer: await send(kinds[place.kind].never()) });
  }
});

test.each(known)("$place refuses an id of a wrong kind", async (place) => {
  const method = place.place.split(" ")[0]!;
  for (const id of await wrongIds(place.kind)) {
    const { path, body } = await place.ask(stranger, id);
    const before = await rowsAtRest({});
    const { status, body: answer } = await ask(stranger, method, path, body);
    if (status >= 400) expect(changed({}, before)).toEqual([]);
    // A filter accepts any text and finds nothing; all other places refuse.
    if (status < 400) expect({ id, data: answer.data }).toEqual({ id, data: [] });
    else expect([400, 404]).toContain(status);
  }
});

test.each(Object.entries(lists))(
  "a cursor of %s is a position, even of another tenant, and an id of another kind is refused",
  async (path, kind) => {
    const idsOf = async (client: Client, query: string): Promise<string[]> => {
      const answer = await ask(client, "GET", `${path}?limit=100${query}`);
      expect(answer.status).toBe(200);
      return answer.body.data.map(({ id }: { id: string }) => id);
    };
    const allIdsOf = async (client: Client): Promise<string[]> => {
      const all: string[] = [];
      for (
        let page = await idsOf(client, "");
        page.length > 0;
        page = await idsOf(client, `&starting_after=${all.at(-1)}`)
      )
        all.push(...page);
      return all;
    };
    const place = (id: string) => id.slice(id.indexOf("_"));
    for (const [why, client, id] of await foreignIds(kind, true)) {
      const own = await allIdsOf(client);
      const [after, before] = [
        await idsOf(client, `&starting_after=${id}`),
        await idsOf(client, `&ending_before=${id}`),
      ];
      expect({ why, after, before }).toEqual({
        why,
        after: own.filter((one) => place(one) < place(id)).slice(0, 100),
        before: own.filter((one) => place(one) > place(id)).slice(-100),
      });
    }
    for (const id of await wrongIds(kind))
      for (const cursor of ["starting_after", "ending_before"]) {
        const { status, body } = await ask(owner, "GET", `${path}?${cursor}=${id}`);
        expect({ id, answer: [status, body.error?.code] }).toEqual({ id, answer: [400, "invalid_cursor"] });
      }
  },
);

test("lists of one tenant contain nothing of another", async () => {
  for (const [path, kind] of Object.entries(lists)) {
    await thingsOf(kind);
    for (const client of [stranger, live]) {
      const { body } = await client.get(`${path}?limit=100`);
      // An audit entry may concern both environments.
      for (const { project_id, environment } of body.data)
        expect({ project_id, environment: environment ?? client.scope.environment }).toEqual(client.scope);
    }
  }
});
