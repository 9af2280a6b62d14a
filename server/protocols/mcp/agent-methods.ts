import type { RequiredCallObject } from "../../domain/required-action.ts";
import type { NoLongerValid } from "../../http/auth.ts";
import type { Api, ApiResponse } from "../../http/internal-client.ts";
import type { Principal } from "../../http/principal.ts";
import { hasParts } from "../../lib/json.ts";
import { decodeUri, toSafeString } from "../../lib/safe-string.ts";
import type { AgentStore } from "../../resources/agents/store.ts";
import type { RunStore } from "../../runs/store.ts";
import type { OpenSseResponse } from "../../runs/stream/sse-response.ts";
import { isQuestionOpen, openQuestion } from "../busy-thread.ts";
import { actionRequiredResult, mcpDialect } from "./dialect.ts";
import { type RunCall, readEventId } from "./event-id.ts";
import { promptOf, promptText } from "./prompts.ts";
import { invalidParams, invalidRequest, noResource, type Params, progressTokenOf, toRpcError } from "./protocol.ts";
import { outputOf, readQuestionId } from "./questions.ts";
import type { McpMethods, MethodArguments } from "./server.ts";
import { type ProtocolAgent, runInputOf, searchName, searchTool, storesOf, toolNames, toolOf } from "./tools.ts";

interface Deps {
  agents: AgentStore;
  runs: RunStore;
  openStream: OpenSseResponse;
  api: Api;
  noLongerValid: NoLongerValid;
}

type Asking = Omit<MethodArguments, "id" | "params">;

/** Agents as tools and prompts, and their memory as resources. Every operation goes through the API. */
export function agentMethods({ agents, runs, openStream, api, noLongerValid }: Deps): McpMethods {
  const agentsByTool = (principal: Principal) => toolNames<ProtocolAgent>(agents.throughProtocol(principal, "mcp"));
  /** A client token sees no memory of its agent. */
  const storesFor = (principal: Principal) =>
    principal.token ? [] : storesOf(agents.throughProtocol(principal, "mcp"));

  /** Calls the API. Throws its error. */
  async function requestApi(request: Request, ...asked: [method: string, path: string, body?: unknown]) {
    const answer = await api(request, ...asked);
    if (answer.status >= 400) throw toRpcError(answer);
    return answer.body;
  }

  function follow({ request, principal, peer }: Asking, call: RunCall, seq: number): Response {
    const from = { seq, anchor: null, offset: 0 };
    // Without a session, closing the stream is the way to cancel.
    const cancelOnLeave = peer.session === null;
    return openStream(principal, call.run_id, from, request, {
      noLongerValid,
      cancelOnLeave,
      dialect: mcpDialect(call, peer),
    });
  }

  async function callAgent(
    asked: MethodArguments,
    agent: ProtocolAgent,
    args: Params,
    choice: string,
  ): Promise<object | Response> {
    const { request, principal, peer, id, params } = asked;
    const run = runInputOf(agent, args);
    if (typeof run === "string") return failure(run);
    const { thread_id } = run;
    if (typeof thread_id === "string" && isQuestionOpen(runs, principal, thread_id)) return failure(openQuestion);
    const metadata = { mcp_request: JSON.stringify(id), ...(peer.session !== null && { mcp_session: peer.session }) };
    const answer = await api(request, "POST", "/v1/runs", {
      agent_id: agent.id + choice,
      ...run,
      if_thread_busy: "queue",
      metadata,
    });
    if (answer.status === 400 || answer.status === 409) return failure(messageOf(answer));
    if (answer.status >= 400) throw toRpcError(answer);
    return follow(asked, { run_id: answer.body.id, id, progressToken: progressTokenOf(params) }, 0);
  }

  /** Continues a call after its second request, which has the client's answers. */
  async function continueRun(asked: MethodArguments, agent: ProtocolAgent, run_id: string): Promise<object | Response> {
    const { request, principal, peer, id, params } = asked;
    const run = await requestApi(request, "GET", runPath(run_id));
    if (run.agent_id !== agent.id) throw invalidParams("requestState: this is of another tool.");
    const { seq } = runs.standing(principal, run_id);
    const inputResponses = (params.inputResponses ?? {}) as Record<string, Params | null>;
    const answers = callsOf(run).flatMap((call) => {
      const response = inputResponses[call.tool_call_id];
      return response ? [outputOf(call, response)] : [];
    });
    const now = answers.length > 0 ? await submit(request, run_id, answers) : run;
    if (now.status === "requires_action") return actionRequiredResult({ run_id }, peer, now.required_action);
    // If the run is over, the retry gets its end.
    return follow(asked, { run_id, id, progressToken: progressTokenOf(params) }, now.completed_at ? seq - 1 : seq);
  }

  const submit = (request: Request, run_id: string, tool_outputs: object[]) =>
    requestApi(request, "POST", `/v1/runs/${run_id}/submit_tool_outputs`, { tool_outputs });

  async function search({ request, principal }: MethodArguments, args: Params): Promise<object> {
    const { memory_id, ...asked } = args;
    if (!storesFor(principal).includes(memory_id as string)) return failure("memory_id: There is no such store.");
    const answer = await api(request, "POST", `/v1/memory/${memory_id}/search`, asked);
    if (answer.status === 400) return failure(messageOf(answer));
    if (answer.status >= 400) throw toRpcError(answer);
    const matches = (answer.body.data as Params[]).map(({ text, score, filename, page, heading }) => ({
      text,
      score,
      filename,
      page,
      heading,
    }));
    return { content: [textOf(JSON.stringify(matches))], structuredContent: { matches } };
  }

  return {
    capabilities: { tools: {}, resources: {}, prompts: {} },
    instructions: "Each tool is an agent of this server. A call is a run, which its server keeps on record.",
    admit() {},

    methods: {
      "tools/list": ({ principal }) => {
        const stores = storesFor(principal);
        const tools = [...agentsByTool(principal)].map(([name, agent]) => toolOf(name, agent));
        return { tools: stores.length > 0 ? [...tools, searchTool(stores)] : tools };
      },
      async "tools/call"(asked) {
        const { name, arguments: args = {}, requestState } = asked.params;
        if (!hasParts(args)) throw invalidParams("arguments: expected an object.");
        if (name === searchName) return search(asked, args as Params);
        // Behind an @, a client may choose a label or a version of the agent.
        const [, tool = "", choice = ""] = /^([^@]*)(@.*)?$/s.exec(toSafeString(name)) ?? [];
        const agent = agentsByTool(asked.principal).get(tool);
        if (!agent) throw invalidParams(`There is no tool ${toSafeString(name)}.`);
        if (asked.peer.session === null && typeof requestState === "string")
          return continueRun(asked, agent, requestState);
        return callAgent(asked, agent, args as Params, choice);
      },

      async "resources/list"({ request, principal }) {
        const stores = await Promise.all(storesFor(principal).map((id) => api(request, "GET", `/v1/memory/${id}`)));
        // An agent may still name a deleted store.
        const found = stores.filter(({ status }) => status === 200).map(({ body }) => body);
        return { resources: found.map(({ id, name, kind }) => resourceOf(id, name, kind)) };
      },
      "resources/templates/list": () => ({ resourceTemplates: templates }),
      async "resources/read"({ request, principal, params: { uri } }) {
        const [, store = "", part, name = ""] =
          /^runnel:\/\/memory\/(\w+)(?:\/(entries|keys)\/(.+))?$/.exec(toSafeString(uri)) ?? [];
        if (!storesFor(principal).includes(store)) throw noResource(toSafeString(uri));
        const { kind } = await requestApi(request, "GET", `/v1/memory/${store}`);
        const list = `/v1/memory/${store}/${kind === "kv" ? "keys" : "entries"}?limit=100`;
        const key = decodeUri(name);
        if (key === null) throw noResource(toSafeString(uri));
        const path = part ? `/v1/memory/${store}/${part}/${encodeURIComponent(toSafeString(key))}` : list;
        const answer = await api(request, "GET", path);
        if (answer.status === 404) throw noResource(toSafeString(uri));
        if (answer.status >= 400) throw toRpcError(answer);
        const { request_id: _, ...body } = answer.body;
        return { contents: [{ uri, mimeType: "application/json", text: JSON.stringify(body) }] };
      },

      "prompts/list": ({ principal }) => ({
        prompts: mayRead(principal) ? [...agentsByTool(principal)].map(([name, agent]) => promptOf(name, agent)) : [],
      }),
      "prompts/get"({ principal, params }) {
        const agent = mayRead(principal) ? agentsByTool(principal).get(toSafeString(params.name)) : undefined;
        if (!agent) throw invalidParams(`There is no prompt ${toSafeString(params.name)}.`);
        const text = promptText(agent, params.arguments ?? {});
        return { description: agent.description ?? "", messages: [{ role: "user", content: textOf(text) }] };
      },
    },

    async answered({ request }, { id, result }) {
      const question = readQuestionId(id);
      if (!question) return;
      const run = await requestApi(request, "GET", runPath(question.run_id));
      const call = callsOf(run).find((each) => each.tool_call_id === question.call_id);
      // If no call is pending, another person answered first, for example at the dashboard.
      if (call) await submit(request, question.run_id, [outputOf(call, result)]);
    },

    async cancelled({ request, peer, params }) {
      const { requestId, reason } = params;
      const sessionQuery = new URLSearchParams({ limit: "1", "metadata[mcp_session]": peer.session! });
      sessionQuery.set("metadata[mcp_request]", JSON.stringify(requestId));
      const [run] = (await requestApi(request, "GET", `/v1/runs?${sessionQuery}`)).data;
      const why = typeof reason === "string" ? { reason: reason.slice(0, 500) } : {};
      // A run that is over stays as it is.
      if (run) await api(request, "POST", `/v1/runs/${run.id}/cancel`, why);
    },

    async resume(asked, lastEventId) {
      const { seq, ...call } = readEventId(lastEventId);
      await requestApi(asked.request, "GET", runPath(call.run_id));
      if (seq > runs.standing(asked.principal, call.run_id).seq) throw invalidRequest("The run has no such event.");
      return follow(asked, call, seq);
    },
  };
}

const runPath = (id: string) => `/v1/runs/${encodeURIComponent(toSafeString(id))}?exclude=messages,tool_calls`;
const callsOf = (run: { required_action: { submit_tool_outputs: { tool_calls: RequiredCallObject[] } } | null }) =>
  run.required_action?.submit_tool_outputs.tool_calls ?? [];
/** Client tokens may not read an agent's instructions. */
const mayRead = ({ scopes, token }: Principal): boolean => !token && (scopes.has("read") || scopes.has("admin"));

const textOf = (text: string) => ({ type: "text" as const, text });
/** An error that a model can correct by calling again. */
const failure = (message: string) => ({ content: [textOf(message)], isError: true });
const messageOf = ({ body }: ApiResponse): string =>
  body.error.errors?.map(({ message }: { message: string }) => message).join(" ") ?? body.error.message;

const resourceOf = (id: string, name: string, kind: string) => ({
  uri: `runnel://memory/${id}`,
  name: id,
  title: name,
  mimeType: "application/json",
  description: kind === "kv" ? "The keys of a memory store." : "The entries of a memory store.",
});
const templates = [
  ["entries/{entry_id}", "entry", "An entry of a memory store."],
  ["keys/{key}", "key", "A key of a memory store, with its value."],
].map(([path, name, description]) => ({
  uriTemplate: `runnel://memory/{memory_id}/${path}`,
  name,
  description,
  mimeType: "application/json",
}));
