import { expect } from "bun:test";
import { newId, siblingId } from "../domain/ids.ts";
import type { Answer } from "./expect-declared.ts";
import { oauthClientId, oauthClientSecret, startOAuthServer } from "./oauth-server.ts";
import { uploadSkill } from "./skills.ts";
import type { Client } from "./test-app.ts";

// Kinds of objects for `server/http/tenancy.test.ts`: how to create one, and which ids it has.

/** A kind of object with an id. */
export interface Kind {
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

export const agentBody = { name: "a", instructions: "", model: "openai/gpt-5" };
export const nameless = { instructions: agentBody.instructions, model: agentBody.model };
export const unique = () => `t${newId("tool")}`;
const idOf = ({ status, body }: Answer): string => {
  expect([status, body.error ?? null]).toEqual([201, null]);
  return body.id;
};
export const makeAgent = async (client: Client) => idOf(await client.post("/v1/agents", agentBody));
const makeTool = async (client: Client, body: object = {}) =>
  idOf(await client.post("/v1/tools", { name: unique(), ...body }));
export const makeAgentTool = async (client: Client) =>
  makeTool(client, { type: "agent", agent_id: await makeAgent(client) });
export const makeHttpTool = (client: Client) => makeTool(client, { url: "https://[2001:4860:4860::8888]/" });
export const makeCodeTool = (client: Client) => makeTool(client, { type: "code" });
export const daily = { name: "s", input: "Go.", cron: "0 9 * * *", timezone: "Europe/Berlin" };
export const eventTrigger = { name: "t", verification: "github" };
export const makeSchedule = async (client: Client) =>
  idOf(await client.post("/v1/schedules", { ...daily, agent_id: await makeAgent(client) }));
const oauthClient = {
  name: "o",
  grant: "authorization_code",
  client_id: "c",
  client_secret: "s",
  authorization_endpoint: "https://[2001:4860:4860::8888]/authorize",
  token_endpoint: "https://[2001:4860:4860::8888]/token",
};
const makeOAuthClient = async (client: Client) => idOf(await client.post("/v1/oauth_clients", oauthClient));
/** Makes the grant of a client that acts for itself, by a call of a tool. */
async function makeOAuthGrant(client: Client): Promise<string> {
  await using issuer = await startOAuthServer();
  const own = { name: "o", grant: "client_credentials", client_id: oauthClientId, client_secret: oauthClientSecret };
  const oauth_client_id = idOf(await client.post("/v1/oauth_clients", { ...own, issuer: issuer.url }));
  const auth = { type: "oauth", oauth_client_id };
  const tool = await makeTool(client, { url: `${issuer.url}/api`, auth });
  await client.post(`/v1/tools/${tool}/test`, { arguments: {} });
  const { body } = await client.get(`/v1/oauth_grants?oauth_client_id=${oauth_client_id}`);
  return body.data[0].id;
}
export const makeTrigger = async (client: Client) =>
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
export const showing = (file_id: string) => [{ role: "user", content: [{ type: "image", file_id }] }];
export const makeMemory = async (client: Client, kind = "vector") =>
  idOf(await client.post("/v1/memory", { name: "m", kind }));

const makeSnippet = async (client: Client) => idOf(await client.post("/v1/snippets", { name: unique(), text: "t" }));

export const makeWebhook = async (client: Client) =>
  idOf(await client.post("/v1/webhooks", { url: "https://[2001:4860:4860::8888]/", events: ["file.failed"] }));

export const makeSuite = async (client: Client) =>
  idOf(await client.post("/v1/suites", { name: unique(), run_ids: [(await makeRun(client, false)).id] }));

export const makeThread = async (client: Client) => idOf(await client.post("/v1/threads", { title: "t" }));

/** A run that is over, or one that waits for a tool output. */
export async function makeRun(client: Client, waiting: boolean): Promise<Answer["body"]> {
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

export const kinds = {
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
  oauth_client: {
    make: async (client) => [await makeOAuthClient(client)],
    gone: async (client) => [await deleted(client, "/v1/oauth_clients", await makeOAuthClient(client))],
    never: () => newId("oauth_client"),
    malformed: misshapen,
  },
  oauth_grant: {
    make: async (client) => [await makeOAuthGrant(client)],
    gone: async (client) => [await deleted(client, "/v1/oauth_grants", await makeOAuthGrant(client))],
    never: () => newId("oauth_grant"),
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
export type KindName = keyof typeof kinds;

async function setSecret(client: Client): Promise<string> {
  const name = unique();
  expect((await client.put(`/v1/secrets/${name}`, { value: "value" })).status).toBe(200);
  return name;
}
