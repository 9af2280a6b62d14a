import { permissions } from "../../domain/scope.ts";
import { closesConnection, toAppError } from "../../http/errors.ts";
import type { ProtocolAccess } from "../../http/internal-client.ts";
import { readJsonBody } from "../../http/json-body.ts";
import type { Principal } from "../../http/principal.ts";
import { build } from "../../lib/build-info.ts";
import { inVersion } from "./dialect.ts";
import {
  canElicit,
  errorOf,
  idIn,
  invalidParams,
  invalidRequest,
  type Message,
  noMethod,
  ownPeerOf,
  type Params,
  type Peer,
  type RequestId,
  RpcError,
  readMessage,
  resultOf,
  sessionlessVersions,
  sessionVersions,
  thrownAs,
} from "./protocol.ts";
import type { Sessions } from "./sessions.ts";

/** Arguments of a method. */
export interface MethodArguments {
  request: Request;
  principal: Principal;
  peer: Peer;
  id: RequestId;
  params: Params;
}

/** The methods behind a path. */
export interface McpMethods {
  /** Sent to the client when it connects. */
  capabilities: object;
  instructions: string;
  /** Throws if the principal may not connect. */
  admit(principal: Principal): void;
  methods: Record<string, (asked: MethodArguments) => Promise<object | Response> | object>;
  /** Handles the client's response to a question on a stream. */
  answered?(asked: Omit<MethodArguments, "id" | "params">, message: Message & { kind: "response" }): Promise<void>;
  cancelled?(asked: Omit<MethodArguments, "id">): Promise<void>;
  /** Resumes a stream after its last event. */
  resume?(asked: Omit<MethodArguments, "id" | "params">, lastEventId: string): Promise<Response>;
}

interface Deps {
  address: string;
  identify: ProtocolAccess["identify"];
  sessions: Sessions;
  publicUrl: () => string;
  offered: McpMethods;
}

/** Headers of the response so far. */
type Answered = Record<string, unknown>;

/** HTTP transport of the protocol: authentication, sessions, and one message per request. */
export function createMcpServer({ address, identify, sessions, publicUrl, offered }: Deps) {
  const { methods, capabilities, instructions } = offered;
  const serverInfo = { name: "runnel", title: "runnel", version: build.version };

  function admit(request: Request, headers: Answered): Principal {
    // Each message counts as a read; the API requests that it makes are counted too.
    const principal = identify(request, headers, "reads_per_minute");
    requireOrigin(request, headers, publicUrl());
    offered.admit(principal);
    return principal;
  }

  /** Returns the session of a request that does not describe its peer. */
  function sessionOf(request: Request, principal: Principal): Peer & { session: string } {
    const id = request.headers.get("mcp-session-id");
    if (id === null) throw invalidRequest("Open a session with initialize, and send its Mcp-Session-Id.");
    const versionHeader = request.headers.get("mcp-protocol-version");
    if (versionHeader !== null && !sessionVersions.includes(versionHeader as never))
      throw invalidRequest(`Mcp-Protocol-Version: expected one of ${sessionVersions.join(", ")}.`);
    const peer = sessions.find(principal, address, id);
    if (!peer) throw new RpcError(-32001, "There is no such session. Open another one.", 404);
    return peer as Peer & { session: string };
  }

  async function initialize(principal: Principal, id: RequestId, params: Params): Promise<Response> {
    const { protocolVersion } = params;
    if (typeof protocolVersion !== "string") throw invalidParams("protocolVersion: expected a text.");
    const version = sessionVersions.find((one) => one === protocolVersion) ?? sessionVersions[0];
    const session = await sessions.open(principal, address, { version, elicits: canElicit(params.capabilities) });
    const result = { protocolVersion: version, capabilities, serverInfo, instructions };
    return json(200, resultOf(id, result), { "mcp-session-id": session });
  }

  const discover = () => ({
    supportedVersions: [...sessionlessVersions],
    capabilities,
    instructions,
    _meta: { "io.modelcontextprotocol/serverInfo": serverInfo },
  });

  async function answer(request: Request, principal: Principal, message: Message): Promise<Response> {
    if (message.kind === "request" && message.method === "initialize")
      return initialize(principal, message.id, message.params);
    const peer = ownPeerOf(message, request.headers) ?? sessionOf(request, principal);
    const asked = { request, principal, peer };
    if (message.kind === "response") {
      await offered.answered?.(asked, message);
      return accepted();
    }
    const { method, params } = message;
    if (message.kind === "notification") {
      if (method === "notifications/cancelled" && peer.session !== null)
        await offered.cancelled?.({ ...asked, params });
      return accepted();
    }
    const result = await perform({ ...asked, id: message.id, params }, method);
    if (result instanceof Response) return result;
    return json(200, resultOf(message.id, inVersion(peer, { ...(isList(method) && freshness(peer)), ...result })));
  }

  function perform(asked: MethodArguments, method: string): object | Promise<object | Response> {
    if (method === "ping" && asked.peer.session !== null) return {};
    if (method === "server/discover" && asked.peer.session === null) return discover();
    const perform = Object.hasOwn(methods, method) ? methods[method] : undefined;
    if (!perform) throw noMethod(method);
    return perform(asked);
  }

  async function guarded(
    request: Request,
    headers: Answered,
    work: (principal: Principal) => Promise<Response>,
    id = () => null as RequestId | null,
  ) {
    try {
      return await work(admit(request, headers));
    } catch (error) {
      return refusal(error, id(), peerless(request));
    }
  }

  /** True for versions without sessions, where message errors have an HTTP status too. */
  const peerless = ({ headers }: Request) => sessionlessVersions.includes(headers.get("mcp-protocol-version") as never);

  function refusal(thrown: unknown, id: RequestId | null, isPeerless: boolean): Response {
    const error = thrown instanceof RpcError ? thrown : thrownAs(toAppError(thrown));
    if (error.code === -32603) throw thrown; // A bug: rethrow it, so that its cause is logged.
    const status =
      error.status === 200 && isPeerless ? ({ "-32602": 400, "-32601": 404 }[error.code] ?? 200) : error.status;
    const retryAfter = "retryAfter" in (thrown as object) ? (thrown as { retryAfter?: number }).retryAfter : undefined;
    return json(status, errorOf(id, error), {
      ...(retryAfter !== undefined && { "retry-after": String(Math.max(1, Math.ceil(retryAfter))) }),
      ...(closesConnection({ status }) && { connection: "close" }),
      ...(status === 401 && { "www-authenticate": `Bearer resource_metadata="${metadataUrl(publicUrl(), address)}"` }),
      ...(status === 403 && { "www-authenticate": 'Bearer error="insufficient_scope"' }),
    });
  }

  return {
    post(request: Request, headers: Answered): Promise<Response> {
      let id: RequestId | null = null;
      return guarded(
        request,
        headers,
        async (principal) => {
          const body = await readJsonBody(request);
          id = idIn(body);
          return answer(request, principal, readMessage(body));
        },
        () => id,
      );
    },
    get: (request: Request, headers: Answered): Promise<Response> =>
      guarded(request, headers, async (principal) => {
        const last = request.headers.get("last-event-id");
        // GET only resumes streams: without an event id there is none.
        if (last === null || !offered.resume)
          return new Response(null, { status: 405, headers: { allow: "DELETE, POST" } });
        const peer = sessionOf(request, principal);
        return offered.resume({ request, principal, peer }, last);
      }),
    delete: (request: Request, headers: Answered): Promise<Response> =>
      guarded(request, headers, async (principal) => {
        await sessions.close(principal, sessionOf(request, principal).session);
        return new Response(null, { status: 204 });
      }),
  };
}

/** Cache hints: results may change at any time, and differ per key. */
const freshness = (peer: Peer) => (peer.session === null ? { ttlMs: 0, cacheScope: "private" } : {});
const isList = (method: string): boolean => /\/(list|read|discover)$/.test(method);

const accepted = () => new Response(null, { status: 202 });
const json = (status: number, body: object, headers: Record<string, string> = {}): Response =>
  new Response(JSON.stringify(body), {
    status,
    headers: { "content-type": "application/json", "cache-control": "no-store", ...headers },
  });

/** Address of the document that tells clients how to authenticate. */
const metadataUrl = (publicUrl: string, address: string): string =>
  `${publicUrl}/.well-known/oauth-protected-resource${address}`;

/** Content of that document. It names no authorization server, because only this server issues keys. */
export const resourceMetadata = (publicUrl: string, address: string) => ({
  resource: `${publicUrl}${address}`,
  resource_name: "runnel",
  bearer_methods_supported: ["header"],
  scopes_supported: permissions,
  resource_documentation: `${publicUrl}/docs/connect/mcp`,
});

/**
 * Refuses pages of other origins unless the project allows them (CORS headers are set then). Checks `Origin`, not
 * `Host`, because DNS rebinding can point any host name here.
 */
function requireOrigin(request: Request, headers: Answered, publicUrl: string): void {
  const origin = request.headers.get("origin");
  if (origin === null || origin === new URL(publicUrl).origin) return;
  if (headers["access-control-allow-origin"] !== origin)
    throw new RpcError(-32000, "Pages of this origin may not connect.", 403);
}
