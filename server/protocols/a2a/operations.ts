import { noSuch, runScopeExpected } from "../../domain/error-messages.ts";
import { isId } from "../../domain/ids.ts";
import { isOver } from "../../domain/run-state.ts";
import { mayRun, type NoLongerValid } from "../../http/auth.ts";
import type { Idempotency } from "../../http/idempotency.ts";
import type { Api } from "../../http/internal-client.ts";
import type { Base } from "../../http/module.ts";
import type { Principal } from "../../http/principal.ts";
import { sha256 } from "../../lib/hash.ts";
import { requireValue } from "../../lib/require-value.ts";
import { toSafeString } from "../../lib/safe-string.ts";
import type { AgentStore } from "../../resources/agents/store.ts";
import type { RunWebhooks } from "../../resources/webhooks/run-webhooks.ts";
import type { RunService } from "../../runs/service.ts";
import type { RunStore } from "../../runs/store.ts";
import type { OpenSseResponse } from "../../runs/stream/sse-response.ts";
import { cardOf } from "./card.ts";
import { a2aDialect, type Wrap } from "./dialect.ts";
import { A2aError, toA2aError } from "./errors.ts";
import { pushOf, readPush, requireKey, withAddressErrors } from "./pushes.ts";
import { outputsOf, type ParsedMessage, readMessage, statusOf, type TaskRun, taskOf } from "./tasks.ts";

interface Deps {
  agents: AgentStore;
  runs: RunStore;
  settled: RunService["settled"];
  openStream: OpenSseResponse;
  api: Api;
  noLongerValid: NoLongerValid;
  ending: Base["abortSignalOf"];
  followers: RunWebhooks;
  publicUrl: () => string;
  idempotency: Idempotency;
}

type Params = Record<string, unknown>;

/** Arguments of an operation. */
interface Asked {
  request: Request;
  principal: Principal;
  agentId: string;
  /** How new runs name the agent, perhaps with a label or a version. */
  reference: string;
  params: Params;
  /** Wraps each streamed message. */
  wrap: Wrap;
}

export type Operation = (call: Asked) => Promise<object | Response>;

const most_ms = 600_000;
const pageMax = 100;
const all = Number.POSITIVE_INFINITY;
const finalStatuses = ["completed", "failed", "cancelled"];

/** Operations of the A2A protocol. Each is carried out by the API. */
export function createOperations(deps: Deps): Record<string, Operation> {
  const { agents, runs, settled, openStream, api, noLongerValid, ending, followers, publicUrl, idempotency } = deps;

  /** Returns the run without its messages. Throws if it is not a run of this agent. */
  async function runOf({ request, agentId, params }: Asked, id: unknown = params.id): Promise<TaskRun> {
    if (toSafeString(id) === "") throw noTask();
    // Exclude tool calls: a task does not show them, and they can be tens of megabytes.
    const path = `/v1/runs/${encodeURIComponent(toSafeString(id))}?exclude=messages,tool_calls`;
    const answer = await api(request, "GET", path);
    if (answer.status >= 400) throw toA2aError(answer);
    if (answer.body.agent_id !== agentId) throw noTask();
    return answer.body;
  }

  /** Starts or continues a run with a message; one that works gets it for its next model call. Returns it and the journal position at which its stream begins. */
  async function send(call: Asked): Promise<{ run: TaskRun; from: number }> {
    const { principal, params } = call;
    const configuration = (params.configuration ?? {}) as Params;
    const incoming = readMessage(params.message);
    const push = configuration.taskPushNotificationConfig;
    const follower = push === undefined || push === null ? null : readPush(push);
    if (follower) {
      requireKey(principal);
      await withAddressErrors(followers.check(principal, follower.url));
    }
    const sending = await (incoming.taskId === null ? begin(call, incoming) : goOn(call, incoming));
    if (follower) await withAddressErrors(followers.put(principal, sending.run.id, follower));
    return sending;
  }

  async function begin(asked: Asked, sent: ParsedMessage): Promise<{ run: TaskRun; from: number }> {
    const { request, principal, reference } = asked;
    const { id, token } = principal;
    const thread_id = sent.contextId ?? principal.token?.thread_id ?? "new";
    const body = { agent_id: reference, input: sent.text, thread_id, if_thread_busy: "queue" };
    const answer = await api(request, "POST", "/v1/runs", body, keyOf([token?.id ?? id, reference, sent]));
    if (answer.status >= 400) throw toA2aError(answer);
    return { run: answer.body, from: 0 };
  }

  async function goOn(asked: Asked, sent: ParsedMessage): Promise<{ run: TaskRun; from: number }> {
    const { request, principal } = asked;
    const run = await runOf(asked, sent.taskId);
    // The key names no sender, so that a retry with a renewed client token finds the earlier request.
    const key = keyOf([run.id, sent]);
    const previousRun = idempotency.runOf(principal, key);
    // The answered call is no longer pending, so do not match the message against the current ones.
    if (previousRun) return { run, from: previousRun.seq ?? 0 };
    if (isOver(run.status))
      throw new A2aError("UNSUPPORTED_OPERATION", `The task is ${run.status}: it takes no message.`);
    const from = runs.standing(principal, run.id).seq;
    // A run that only waits for a consent has nothing to answer: the message steers it.
    const asks = run.required_action?.type === "submit_tool_outputs" ? run.required_action : null;
    const path = `/v1/runs/${run.id}/${asks ? "submit_tool_outputs" : "messages"}`;
    const body = asks ? { tool_outputs: outputsOf(sent, asks) } : { role: "user", content: sent.text };
    const answer = await api(request, "POST", path, body, key);
    // The run may have ended meanwhile.
    if (answer.status === 409 && !asks) throw toA2aError(answer, "UNSUPPORTED_OPERATION");
    if (answer.status >= 400) throw toA2aError(answer);
    return { run: answer.body, from };
  }

  function stream({ request, principal, wrap }: Asked, run: TaskRun, from: number, after: number): Response {
    const first = taskOf(run, { history: 0, artifacts: false });
    const dialect = a2aDialect({ run, first, after, wrap });
    return openStream(principal, run.id, { seq: from, anchor: null, offset: 0 }, request, { noLongerValid, dialect });
  }

  const historyOf = (params: Params): number | undefined => {
    const { historyLength } = params;
    if (historyLength === undefined) return undefined;
    const length = Number(toSafeString(historyLength));
    if (!Number.isInteger(length) || length < 0) throw invalid("historyLength: expected a number from 0.");
    return length;
  };

  /** Returns a run as a task with the requested part of its history. */
  async function withHistory({ principal }: Asked, run: TaskRun, history: number | undefined) {
    const isThere = run.messages !== undefined || history === 0;
    const messages = isThere ? run.messages : await runs.said(principal, run.id, history ?? all);
    return taskOf({ ...run, ...(messages && { messages }) }, { history });
  }

  const shownTask = async (asked: Asked, id: unknown, history: number | undefined) =>
    withHistory(asked, await runOf(asked, id), history);

  return {
    async sendMessage(asked) {
      const configuration = (asked.params.configuration ?? {}) as Params;
      const history = historyOf(configuration);
      const isWaited = configuration.returnImmediately !== true;
      const { token } = asked.principal;
      if (isWaited && token && !token.scopes.has("read"))
        throw new A2aError("PERMISSION_DENIED", 'To wait for the answer needs the scope "read".', "insufficient_scope");
      const { run } = await send(asked);
      if (!isWaited) return { task: await withHistory(asked, run, history) };
      await settled(run.id, most_ms, [ending(asked.principal.project_id), asked.request.signal]);
      return { task: await shownTask(asked, run.id, history) };
    },

    async sendStreamingMessage(asked) {
      const { run, from } = await send(asked);
      return stream(asked, run, from, from);
    },

    getTask: (asked) => shownTask(asked, asked.params.id, historyOf(asked.params)),

    async listTasks({ request, principal, agentId, params }) {
      const { contextId, status, pageToken, includeArtifacts, statusTimestampAfter } = params;
      if (statusTimestampAfter) throw invalid("statusTimestampAfter: tasks are not listed by that.");
      const pageSize = Number(toSafeString(params.pageSize ?? 50));
      if (!Number.isInteger(pageSize) || pageSize < 1 || pageSize > pageMax)
        throw invalid(`pageSize: expected a number from 1 to ${pageMax}.`);
      const none = { tasks: [], nextPageToken: "", pageSize, totalSize: 0 };
      if (typeof contextId === "string" && contextId !== "" && !isId("thread", contextId)) return none;
      const whole = includeArtifacts === true || includeArtifacts === "true";
      const query = new URLSearchParams({ agent_id: agentId, limit: String(pageSize) });
      if (contextId) query.set("thread_id", toSafeString(contextId));
      if (pageToken) query.set("starting_after", toSafeString(pageToken));
      if (status) query.set("status", statusOf(toSafeString(status)) ?? "none");
      if (whole) query.set("include", "messages");
      const answer = await api(request, "GET", `/v1/runs?${query}`);
      if (answer.status >= 400) throw toA2aError(answer);
      const { data, has_more, last_id } = answer.body;
      const history = historyOf(params) ?? 0;
      const tasks = data.map((run: TaskRun) => taskOf(run, { history, artifacts: whole }));
      const totalSize = runs.count(principal, {
        agent_id: agentId,
        ...(contextId ? { thread_id: toSafeString(contextId) } : {}),
        ...(status ? { status: statusOf(toSafeString(status)) ?? "none" } : {}),
      });
      return { tasks, nextPageToken: has_more ? last_id : "", pageSize, totalSize };
    },

    async cancelTask(asked) {
      const { id } = await runOf(asked);
      const answer = await api(asked.request, "POST", `/v1/runs/${id}/cancel`, {});
      if (answer.status >= 400) throw toA2aError(answer, "TASK_NOT_CANCELABLE");
      return taskOf(answer.body);
    },

    async subscribeToTask(asked) {
      const run = await runOf(asked);
      if (finalStatuses.includes(run.status))
        throw new A2aError("UNSUPPORTED_OPERATION", `The task is over: ${run.status}.`);
      // Stream from the beginning, so that a reconnecting client gets all of the text once.
      return stream(asked, run, 0, runs.standing(asked.principal, run.id).seq);
    },

    async getExtendedAgentCard({ principal, agentId, reference }) {
      const agent = agents.throughProtocol(principal, "a2a").find(({ id }) => id === agentId);
      return cardOf(requireValue(agent, `The agent ${agentId}`), publicUrl(), reference);
    },

    async createTaskPushNotificationConfig(asked) {
      const { principal, params } = asked;
      requireRunKey(principal);
      const { id } = await runOf(asked, params.taskId);
      return pushOf(id, await withAddressErrors(followers.put(principal, id, readPush(params))));
    },

    async getTaskPushNotificationConfig(asked) {
      const { principal, params } = asked;
      requireKey(principal);
      const { id } = await runOf(asked, params.taskId);
      return pushOf(id, followers.get(principal, id, toSafeString(params.id)));
    },

    async listTaskPushNotificationConfigs(asked) {
      requireKey(asked.principal);
      const { id } = await runOf(asked, asked.params.taskId);
      return { configs: followers.list(asked.principal, id).map((one) => pushOf(id, one)), nextPageToken: "" };
    },

    async deleteTaskPushNotificationConfig(asked) {
      const { principal, params } = asked;
      requireRunKey(principal);
      const { id } = await runOf(asked, params.taskId);
      await followers.remove(principal, id, toSafeString(params.id));
      return {};
    },
  };
}

/** Idempotency key: a repeated message has the same id and content, for the same agent or task. */
const keyOf = (name: readonly [...string[], ParsedMessage]): string => `a2a/${sha256(JSON.stringify(name))}`;

const invalid = (message: string) => new A2aError("INVALID_PARAMS", message);
function requireRunKey(principal: Principal): void {
  requireKey(principal);
  if (!mayRun(principal)) throw new A2aError("PERMISSION_DENIED", runScopeExpected, "insufficient_scope");
}

const noTask = () => new A2aError("TASK_NOT_FOUND", noSuch("task"));
