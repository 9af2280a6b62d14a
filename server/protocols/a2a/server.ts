import { noSuch } from "../../domain/error-messages.ts";
import { isRefusal } from "../../domain/errors.ts";
import { closesConnection, toAppError } from "../../http/errors.ts";
import type { ProtocolAccess } from "../../http/internal-client.ts";
import { readBody } from "../../http/json-body.ts";
import { parseJsonAsync } from "../../http/parse-json-async.ts";
import type { Principal } from "../../http/principal.ts";
import { createYielder } from "../../lib/cooperative-yield.ts";
import { isNumber } from "../../lib/exact-numbers.ts";
import { hashJson } from "../../lib/hash.ts";
import { hasParts, isObject } from "../../lib/json.ts";
import { requireValue } from "../../lib/require-value.ts";
import { decodeUri } from "../../lib/safe-string.ts";
import type { AgentStore } from "../../resources/agents/store.ts";
import type { AgentResolver } from "../../resources/labels/module.ts";
import { type NamedAgent, readNamedAgent } from "../named-agent.ts";
import { cardOf, protocolVersion } from "./card.ts";
import type { Wrap } from "./dialect.ts";
import { A2aError, thrownAs } from "./errors.ts";
import type { Operation } from "./operations.ts";

interface Deps {
  agents: AgentStore;
  resolver: AgentResolver;
  operations: Record<string, Operation>;
  identify: ProtocolAccess["identify"];
  publicUrl: () => string;
}

type Json = Record<string, unknown>;
type Answered = Record<string, unknown>;

/** The sender of a request, and the agent that it is for. */
interface Caller {
  principal: Principal;
  agentId: string;
  reference: string;
}

/** The protocol's two bindings, over the same operations. */
export function createA2aServer({ agents, resolver, operations, identify, publicUrl }: Deps) {
  /** Authenticates a request for an agent. Throws "not found" for agents that have not opted in. */
  function admit(request: Request, headers: Answered, agentName: string): Caller {
    const principal = identify(request, headers, "reads_per_minute");
    const { id: agentId, reference } = named(principal, agentName);
    agentOf(principal, agentId);
    const version = request.headers.get("a2a-version") ?? new URL(request.url).searchParams.get("A2A-Version");
    if (version && !version.startsWith("1."))
      throw new A2aError("VERSION_NOT_SUPPORTED", `This agent speaks ${protocolVersion}.`);
    return { principal, agentId, reference };
  }

  /** Clients send the @ of a label plain or escaped. */
  function named(principal: Principal, text: string): NamedAgent {
    try {
      return readNamedAgent(resolver, principal, decodeUri(text) ?? text);
    } catch (error) {
      throw isRefusal(error, "resource_not_found") ? new A2aError("TASK_NOT_FOUND", noSuch("agent")) : error;
    }
  }

  function agentOf(principal: Principal, agentId: string) {
    const agent = agents.throughProtocol(principal, "a2a").find(({ id }) => id === agentId);
    if (!agent) throw new A2aError("TASK_NOT_FOUND", noSuch("agent"));
    return agent;
  }

  /** Returns the operation of a method such as `SendMessage`. */
  function operationNamed(method: string): Operation | undefined {
    const name = method.charAt(0).toLowerCase() + method.slice(1);
    return Object.hasOwn(operations, name) ? operations[name] : undefined;
  }

  async function bodyOf(request: Request): Promise<Json> {
    const type = request.headers.get("content-type");
    if (type !== null && !/json/i.test(type)) throw new A2aError("CONTENT_TYPE_NOT_SUPPORTED", "Expected JSON.");
    const bytes = await readBody(request);
    const body = bytes.length === 0 ? {} : await parseJsonAsync(bytes);
    if (!isObject(body)) throw new A2aError("INVALID_REQUEST", "Expected an object.");
    return (await inCamelCase(body)) as Json;
  }

  /** JSON-RPC 2.0. */
  async function rpc(request: Request, headers: Answered, agentName: string): Promise<Response> {
    let id: unknown = null;
    const wrap: Wrap = (message) => ({
      jsonrpc: "2.0",
      id,
      ...("error" in message ? { error: message.error.rpc() } : message),
    });
    try {
      const caller = admit(request, headers, agentName);
      const { jsonrpc, method, params = {}, id: requestId } = await bodyOf(request);
      id = typeof requestId === "string" || isNumber(requestId) ? requestId : null;
      if (jsonrpc !== "2.0" || typeof method !== "string")
        throw new A2aError("INVALID_REQUEST", "Expected JSON-RPC 2.0.");
      if (!hasParts(params)) throw new A2aError("INVALID_PARAMS", "params: expected an object.");
      const operation = /^[A-Z]/.test(method) ? operationNamed(method) : undefined;
      if (!operation) throw new A2aError("METHOD_NOT_FOUND", `There is no method ${method}.`);
      const result = await operation({ request, ...caller, params: params as Json, wrap });
      return result instanceof Response ? result : json(200, wrap({ result }));
    } catch (thrown) {
      const error = asA2a(thrown);
      // Errors about the message have status 200; errors about the sender or the server have an HTTP status too.
      return json([401, 403, 408, 429, 500, 503].includes(error.status) ? error.status : 200, wrap({ error }), error);
    }
  }

  /** HTTP with JSON. */
  async function rest(request: Request, headers: Answered, agentName: string): Promise<Response> {
    try {
      const caller = admit(request, headers, agentName);
      const { pathname, searchParams } = new URL(request.url);
      const path = pathname.replace(/^\/a2a\/v1\/agents\/[^/]+/, "");
      const [name, of] = operationAt(request.method, path) ?? [];
      if (!name) throw new A2aError("METHOD_NOT_FOUND", noSuch("address"));
      const body =
        request.method === "POST"
          ? await bodyOf(request)
          : ((await inCamelCase(Object.fromEntries(searchParams))) as Json);
      const wrap: Wrap = (message) => ("error" in message ? message.error.http() : message.result);
      const operate = requireValue(operationNamed(name), name);
      const result = await operate({ request, ...caller, params: { ...body, ...of }, wrap });
      return result instanceof Response ? result : json(200, result, undefined, typeFor(request));
    } catch (thrown) {
      const error = asA2a(thrown);
      return json(error.status, error.http(), error, typeFor(request));
    }
  }

  return {
    rpc,
    rest,
    card(request: Request, headers: Answered, agentName: string): Response {
      try {
        const { principal, agentId, reference } = admit(request, headers, agentName);
        const agent = agentOf(principal, agentId);
        const card = cardOf(agent, publicUrl(), reference);
        const answer = json(200, card);
        answer.headers.set("cache-control", "private, max-age=60");
        answer.headers.set("last-modified", new Date(agent.updated_at).toUTCString());
        answer.headers.set("etag", `"${hashJson(card)}"`);
        return answer;
      } catch (thrown) {
        const error = asA2a(thrown);
        return json(error.status, error.http(), error);
      }
    },
  };
}

/** Paths of the HTTP binding. */
export const restPlaces: [method: string, path: RegExp, operation: string][] = [
  ["POST", /^\/message:send$/, "SendMessage"],
  ["POST", /^\/message:stream$/, "SendStreamingMessage"],
  ["GET", /^\/tasks$/, "ListTasks"],
  ["GET", /^\/tasks\/(?<id>[^/:]+)$/, "GetTask"],
  ["POST", /^\/tasks\/(?<id>[^/:]+):cancel$/, "CancelTask"],
  ["GET", /^\/tasks\/(?<id>[^/:]+):subscribe$/, "SubscribeToTask"],
  ["POST", /^\/tasks\/(?<id>[^/:]+):subscribe$/, "SubscribeToTask"],
  ["POST", /^\/tasks\/(?<taskId>[^/:]+)\/pushNotificationConfigs$/, "CreateTaskPushNotificationConfig"],
  ["GET", /^\/tasks\/(?<taskId>[^/:]+)\/pushNotificationConfigs$/, "ListTaskPushNotificationConfigs"],
  ["GET", /^\/tasks\/(?<taskId>[^/:]+)\/pushNotificationConfigs\/(?<id>[^/]+)$/, "GetTaskPushNotificationConfig"],
  ["DELETE", /^\/tasks\/(?<taskId>[^/:]+)\/pushNotificationConfigs\/(?<id>[^/]+)$/, "DeleteTaskPushNotificationConfig"],
  ["GET", /^\/extendedAgentCard$/, "GetExtendedAgentCard"],
];

/** Returns the operation of a path of the HTTP binding, and the ids in it. */
function operationAt(method: string, path: string): [name: string, of: Json] | null {
  for (const [placeMethod, pattern, operation] of restPlaces) {
    const match = placeMethod === method ? pattern.exec(path) : null;
    if (match) return [operation, { ...match.groups }];
  }
  return null;
}

/** The protocol has two media types. A client that sends or accepts its own one gets that. */
const typeFor = ({ headers }: Request): string =>
  [headers.get("accept"), headers.get("content-type")].some((one) => one?.includes(ownType))
    ? ownType
    : "application/json";
const ownType = "application/a2a+json";

function asA2a(thrown: unknown): A2aError {
  if (thrown instanceof A2aError) return thrown;
  const error = thrownAs(toAppError(thrown));
  if (error === null) throw thrown; // A bug: rethrow it, so that its cause is logged.
  return error;
}

const json = (status: number, body: object, error?: A2aError, type = "application/json"): Response =>
  new Response(JSON.stringify(body), {
    status,
    headers: {
      "content-type": type,
      "cache-control": "no-store",
      ...(status === 401 && { "www-authenticate": "Bearer" }),
      ...(closesConnection({ status }) && { connection: "close" }),
      ...(error?.retryAfter !== undefined && { "retry-after": String(Math.max(1, Math.ceil(error.retryAfter))) }),
    },
  });

/** Fields with the client's own data: names within them stay as they are. */
const freeFormFields: ReadonlySet<string> = new Set(["data", "metadata"]);

// Number of names or items between two checks whether to yield.
const piece = 256;

/**
 * Renames the fields of a message to camel case, because ProtoJSON also allows `task_id` for `taskId`. Yields between
 * slices: a message may have a hundred thousand parts.
 */
export async function inCamelCase(value: unknown): Promise<unknown> {
  const rest = createYielder();
  const pending: [from: object, into: Record<string, unknown> | unknown[]][] = [];
  const convert = (of: unknown): unknown => {
    if (!hasParts(of)) return of;
    const into = Array.isArray(of) ? [] : {};
    pending.push([of, into]);
    return into;
  };
  const whole = convert(value);
  let count = 0;
  for (let next = pending.pop(); next; next = pending.pop()) {
    const [from, into] = next;
    for (const [name, of] of Array.isArray(from) ? from.entries() : Object.entries(from)) {
      if (typeof name === "number") (into as unknown[])[name] = convert(of);
      else (into as Record<string, unknown>)[camelCase(name)] = freeFormFields.has(name) ? of : convert(of);
      if (++count % piece === 0) await rest();
    }
  }
  return whole;
}

const camelCase = (name: string): string => name.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase());
