import { newId } from "../domain/ids.ts";
import {
  agentBody,
  daily,
  eventTrigger,
  type KindName,
  makeAgent,
  makeAgentTool,
  makeCodeTool,
  makeHttpTool,
  makeMemory,
  makeRun,
  makeSchedule,
  makeSuite,
  makeThread,
  makeTrigger,
  makeWebhook,
  nameless,
  showing,
  unique,
} from "./tenancy-kinds.ts";
import type { Client } from "./test-app.ts";

// Places of the API that take an id, for `server/http/tenancy.test.ts`.

/** Path parameters by resource; null if the parameter only counts within another one. */
export const parameters: Record<string, KindName | null> = {
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
  "oauth_clients :id": "oauth_client",
  "oauth_grants :id": "oauth_grant",
  "threads :id": "thread",
  "suites :id": "suite",
  "suites :suite_run_id": null,
  "users :id": "user",
  "erasures :id": "erasure",
};

/** Bodies that routes accept, so that only the id is wrong; default `{}`. */
export const bodies: Record<string, () => unknown> = {
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
  "PATCH /v1/oauth_clients/:id": () => ({ name: "taken over" }),
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
export const makes = new Set([
  "PUT /v1/secrets/:name",
  "PUT /v1/agents/by-name/:name",
  "PUT /v1/tools/by-name/:name",
  "GET /v1/users/:id/data",
  "DELETE /v1/users/:id/data",
]);
/** Query with which the route returns when it is done. */
export const waits: Record<string, string> = { "DELETE /v1/users/:id/data": "?wait=60" };

const address = "https://[2001:4860:4860::8888]/";
const authOf = (oauth_client_id: string) => ({ type: "oauth", oauth_client_id });

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
export const places: Record<string, Place | null> = {
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
  "POST /v1/oauth_clients client_id": null, // At the authorization server.
  "PATCH /v1/oauth_clients/:id client_id": null,
  "POST /v1/oauth_clients/:id/authorize user_id": null,
  "GET /v1/oauth_grants ?oauth_client_id": {
    kind: "oauth_client",
    ask: async (_, id) => ({ path: `/v1/oauth_grants?oauth_client_id=${id}` }),
  },
  "GET /v1/oauth_grants ?user_id": null,
  "POST /v1/tools auth.oauth_client_id": {
    kind: "oauth_client",
    ask: async (_, id) => ({ path: "/v1/tools", body: { name: unique(), url: address, auth: authOf(id) } }),
  },
  "PATCH /v1/tools/:id auth.oauth_client_id": {
    kind: "oauth_client",
    ask: async (client, id) => ({ path: `/v1/tools/${await makeHttpTool(client)}`, body: { auth: authOf(id) } }),
  },
  "PUT /v1/tools/by-name/:name auth.oauth_client_id": {
    kind: "oauth_client",
    ask: async (_, id) => ({ path: `/v1/tools/by-name/${unique()}`, body: { url: address, auth: authOf(id) } }),
  },
  "POST /v1/tools/:id/test user_id": null,
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
  // The id of a question is one of the run's own; a wrong one is a conflict.
  "POST /v1/runs/:id/submit_tool_outputs tool_outputs[].elicitation.id": null,
  "POST /v1/runs/:id/submit_tool_outputs tool_outputs[].content[].file_id": {
    kind: "image",
    ask: async (client, id) => {
      const run = await makeRun(client, true);
      const [{ tool_call_id }] = run.required_action.submit_tool_outputs.tool_calls;
      const content = [{ type: "image", file_id: id }];
      return { path: `/v1/runs/${run.id}/submit_tool_outputs`, body: { tool_outputs: [{ tool_call_id, content }] } };
    },
    inTestOnly: true,
  },
  "POST /v1/client_tokens agent_id": {
    kind: "agent",
    ask: async (_, id) => ({
      path: "/v1/client_tokens",
      body: { agent_id: id, scopes: ["read"], expires_in_seconds: 60 },
    }),
  },
  "POST /v1/client_tokens run_id": {
    kind: "run",
    ask: async (client, id) => ({
      path: "/v1/client_tokens",
      body: { agent_id: await makeAgent(client), run_id: id, scopes: ["read"], expires_in_seconds: 60 },
    }),
  },
  "POST /v1/client_tokens thread_id": {
    kind: "thread",
    ask: async (client, id) => ({
      path: "/v1/client_tokens",
      body: { agent_id: await makeAgent(client), thread_id: id, scopes: ["read"], expires_in_seconds: 60 },
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
export const lists: Record<string, KindName> = {
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
  "/v1/oauth_clients": "oauth_client",
  "/v1/oauth_grants": "oauth_grant",
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
