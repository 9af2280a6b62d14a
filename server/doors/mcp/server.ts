import { closes, toAppError } from "../../http/errors.ts";
import { readJsonBody } from "../../http/json-body.ts";
import type { Principal } from "../../http/principal.ts";
import type { DoorAccess } from "../../http/within.ts";
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

/** A request as a method answers it. */
export interface Asked {
  request: Request;
  principal: Principal;
  peer: Peer;
  id: RequestId;
  params: Params;
}

/** What stands behind an address. */
export interface McpMethods {
  /** What a client is told when it connects. */
  capabilities: object;
  instructions: string;
  /** Throws where the principal may not connect. */
  admit(principal: Principal): void;
  methods: Record<string, (asked: Asked) => Promise<object | Response> | object>;
  /** A response of the client to a question that was asked on a stream. */
  answered?(asked: Omit<Asked, "id" | "params">, message: Message & { kind: "response" }): Promise<void>;
  cancelled?(asked: Omit<Asked, "id">): Promise<void>;
  /** Goes on with a stream behind its last event. */
  resume?(asked: Omit<Asked, "id" | "params">, lastEventId: string): Promise<Response>;
}

interface Deps {
  address: string;
  identify: DoorAccess["identify"];
  sessions: Sessions;
  publicUrl: () => string;
  offered: McpMethods;
}

/** Headers of an answer, as they are being put together. */
type Answered = Record<string, unknown>;

/** Speaks the protocol's HTTP: who asks, in which session, one message a request. Methods are what it is about. */
export function createMcpServer({ address, identify, sessions, publicUrl, offered }: Deps) {
  const { methods, capabilities, instructions } = offered;
  const serverInfo = { name: "runnel", title: "runnel", version: build.version };

  function admit(request: Request, headers: Answered): Principal {
    // Each message is a read; what it asks of the API is counted there.
    const principal = identify(request, headers, "reads_per_minute");
    requireOrigin(request, headers, publicUrl());
    offered.admit(principal);
    return principal;
  }

  /** The session of a request that says nothing of itself. */
  function sessionOf(request: Request, principal: Principal): Peer & { session: string } {
    const id = request.headers.get("mcp-session-id");
    if (id === null) throw invalidRequest("Open a session with initialize, and send its Mcp-Session-Id.");
    const said = request.headers.get("mcp-protocol-version");
    if (said !== null && !sessionVersions.includes(said as never))
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

  function perform(asked: Asked, method: string): object | Promise<object | Response> {
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

  /** In the version without sessions, what is wrong with a message is told by HTTP too. */
  const peerless = ({ headers }: Request) => sessionlessVersions.includes(headers.get("mcp-protocol-version") as never);

  function refusal(thrown: unknown, id: RequestId | null, isPeerless: boolean): Response {
    const error = thrown instanceof RpcError ? thrown : thrownAs(toAppError(thrown));
    if (error.code === -32603) throw thrown; // A bug: the log shall have its cause.
    const status =
      error.status === 200 && isPeerless ? ({ "-32602": 400, "-32601": 404 }[error.code] ?? 200) : error.status;
    const retryAfter = "retryAfter" in (thrown as object) ? (thrown as { retryAfter?: number }).retryAfter : undefined;
    return json(status, errorOf(id, error), {
      ...(retryAfter !== undefined && { "retry-after": String(Math.max(1, Math.ceil(retryAfter))) }),
      ...(closes({ status }) && { connection: "close" }),
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
        // No stream for what nobody asked for: GET only resumes.
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

/** What may have changed when it is asked for again, and is each key's own. */
const freshness = (peer: Peer) => (peer.session === null ? { ttlMs: 0, cacheScope: "private" } : {});
const isList = (method: string): boolean => /\/(list|read|discover)$/.test(method);

const accepted = () => new Response(null, { status: 202 });
const json = (status: number, body: object, headers: Record<string, string> = {}): Response =>
  new Response(JSON.stringify(body), {
    status,
    headers: { "content-type": "application/json", "cache-control": "no-store", ...headers },
  });

/** Where clients learn how to be let in. */
const metadataUrl = (publicUrl: string, address: string): string =>
  `${publicUrl}/.well-known/oauth-protected-resource${address}`;

/** What that document says: keys are made here, and by nobody else. */
export const resourceMetadata = (publicUrl: string, address: string) => ({
  resource: `${publicUrl}${address}`,
  resource_name: "runnel",
  bearer_methods_supported: ["header"],
  scopes_supported: ["read", "run", "admin"],
  resource_documentation: `${publicUrl}/docs/connect/mcp`,
});

/**
 * Refuses pages of other origins, unless the project allows them (CORS headers are set then). Only `Origin` counts: by
 * DNS rebinding, a page could lead any host name here.
 */
function requireOrigin(request: Request, headers: Answered, publicUrl: string): void {
  const origin = request.headers.get("origin");
  if (origin === null || origin === new URL(publicUrl).origin) return;
  if (headers["access-control-allow-origin"] !== origin)
    throw new RpcError(-32000, "Pages of this origin may not connect.", 403);
}
