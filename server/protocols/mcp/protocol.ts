import { noSuch } from "../../domain/error-messages.ts";
import type { AppError } from "../../domain/errors.ts";
import { limits } from "../../domain/limits.ts";
import type { ApiResponse } from "../../http/internal-client.ts";
import { isObject } from "../../lib/json.ts";

/** Versions with sessions, newest first. */
export const sessionVersions = ["2025-11-25", "2025-06-18", "2025-03-26"] as const;
/** Versions without sessions: each request states the client's capabilities. */
export const sessionlessVersions = ["2026-07-28"] as const;

export type RequestId = string | number;
export type Params = Record<string, unknown>;

export type Message =
  | { kind: "request"; id: RequestId; method: string; params: Params }
  | { kind: "notification"; method: string; params: Params }
  | { kind: "response"; id: RequestId; result: Params | null };

/** The client, as the protocol describes it. */
export interface Peer {
  version: string;
  /** Null in versions without sessions. */
  session: string | null;
  /** True if the client can ask a person. */
  elicits: boolean;
}

/** Error with the protocol's code (`code`) and the HTTP status (`status`). */
export class RpcError extends Error {
  constructor(
    readonly code: number,
    message: string,
    readonly status = 200,
    readonly data?: Params,
  ) {
    super(message);
  }
}

export const invalidRequest = (message: string) => new RpcError(-32600, message, 400);
export const noMethod = (method: string) => new RpcError(-32601, `There is no method ${method}.`);
export const invalidParams = (message: string) => new RpcError(-32602, message);
export const noResource = (uri: string) => new RpcError(-32002, noSuch("resource"), 200, { uri });
/** Error for a header that contradicts the body. */
const headerMismatch = (name: string) =>
  new RpcError(-32020, `The header ${name} does not say what the body says.`, 400);
const unsupportedVersion = (requested: string) =>
  new RpcError(-32022, "This protocol version is not spoken here.", 400, {
    supported: [...sessionlessVersions],
    requested,
  });

interface Refusal {
  status: number;
  code: string;
  message: string;
  param: string | null;
}

/** Maps an API error to a protocol error. `data` contains the API's code. */
export const toRpcError = ({ status, body }: ApiResponse): RpcError => rpcErrorOf({ status, ...body.error });

const rpcErrorOf = ({ status, code, message, param }: Refusal): RpcError =>
  code === "invalid_json"
    ? new RpcError(-32700, message, 400, { code })
    : new RpcError(codeOf(status), message, httpStatusOf(status), { code, ...(param !== null && { param }) });

/** Maps a thrown error. */
export const thrownAs = (error: AppError): RpcError => rpcErrorOf(error);

const codeOf = (status: number): number => (status === 400 ? -32602 : status === 500 ? -32603 : -32000);
// Other errors are about the message, and the protocol answers those with 200.
const httpStatusOf = (status: number): number =>
  [401, 403, 404, 408, 413, 415, 429, 503].includes(status) ? status : 200;

const isId = (value: unknown): value is RequestId =>
  typeof value === "string" || (typeof value === "number" && Number.isSafeInteger(value));

/**
 * Maximal length of a request id, which its run stores, and of a progress token: each event of the stream repeats both.
 */
const idMost = limits.metadata_value_length;

/** Parses one JSON-RPC 2.0 message. Throws for anything else, also for batches. */
export function readMessage(body: unknown): Message {
  if (Array.isArray(body)) throw invalidRequest("Send one message at a time: batches are not taken.");
  if (!isObject(body) || body.jsonrpc !== "2.0") throw invalidRequest("Expected a message of JSON-RPC 2.0.");
  const { id, method, params = {}, result } = body;
  if (id !== undefined && id !== null && !isId(id))
    throw invalidRequest("Expected an id that is a text or a whole number.");
  if (method === undefined) {
    if (!isId(id)) throw invalidRequest("A response names the request that it answers.");
    return { kind: "response", id, result: isObject(result) ? result : null };
  }
  if (typeof method !== "string") throw invalidRequest("Expected a method that is a text.");
  if (!isObject(params)) throw invalidParams("Expected params that are an object.");
  if (id === undefined) return { kind: "notification", method, params };
  if (!isId(id)) throw invalidRequest("Expected an id that is a text or a whole number.");
  if (JSON.stringify(id).length > idMost)
    throw invalidRequest(`Expected an id of at most ${idMost} characters as JSON.`);
  if (JSON.stringify(progressTokenOf(params)).length > idMost)
    throw invalidParams(`params._meta.progressToken: expected at most ${idMost} characters as JSON.`);
  return { kind: "request", id, method, params };
}

/** Returns the id of an invalid message, so that its error reaches the caller. */
export const idIn = (body: unknown): RequestId | null => (isObject(body) && isId(body.id) ? body.id : null);

export const resultOf = (id: RequestId, result: object) => ({ jsonrpc: "2.0" as const, id, result });
export const errorOf = (id: RequestId | null, { code, message, data }: RpcError) => ({
  jsonrpc: "2.0" as const,
  id,
  error: { code, message, ...(data && { data }) },
});
export const requestOf = (id: RequestId, method: string, params: object) => ({
  jsonrpc: "2.0" as const,
  id,
  method,
  params,
});
export const notificationOf = (method: string, params: object) => ({ jsonrpc: "2.0" as const, method, params });

/** True if a client with these capabilities shows forms to a person. */
export function canElicit(capabilities: unknown): boolean {
  const elicitation = isObject(capabilities) ? capabilities.elicitation : undefined;
  if (!isObject(elicitation)) return false;
  return "form" in elicitation || !("url" in elicitation);
}

/** Returns the progress token, or null if the client wants no progress. */
export function progressTokenOf({ _meta }: Params): RequestId | null {
  const token = isObject(_meta) ? _meta.progressToken : undefined;
  return isId(token) ? token : null;
}

const metaVersion = "io.modelcontextprotocol/protocolVersion";
const metaCapabilities = "io.modelcontextprotocol/clientCapabilities";

/**
 * Returns the peer that a request itself describes, or null if it relies on a session. Throws if headers and body
 * disagree.
 */
export function ownPeerOf(message: Message, headers: Headers): Peer | null {
  const versionHeader = headers.get("mcp-protocol-version");
  const meta = message.kind === "response" ? undefined : message.params._meta;
  const version = isObject(meta) ? meta[metaVersion] : undefined;
  if (version === undefined) {
    if (versionHeader === null || versionHeader < sessionlessVersions[0]) return null;
    if (message.kind !== "request") return { version: versionHeader, session: null, elicits: false };
    throw invalidParams(`This version needs ${metaVersion} and ${metaCapabilities} in params._meta.`);
  }
  if (typeof version !== "string") throw invalidParams(`Expected ${metaVersion} to be a text.`);
  const capabilities = (meta as Params)[metaCapabilities];
  if (!isObject(capabilities)) throw invalidParams(`Expected ${metaCapabilities} in params._meta.`);
  if (versionHeader !== version) throw headerMismatch("Mcp-Protocol-Version");
  if (message.kind === "request") requireSaid(message, headers);
  if (!sessionlessVersions.includes(version as never)) throw unsupportedVersion(version);
  return { version, session: null, elicits: canElicit(capabilities) };
}

/** Parameter of each method that names its subject. */
const nameIn: Record<string, string> = { "tools/call": "name", "prompts/get": "name", "resources/read": "uri" };

function requireSaid({ method, params }: { method: string; params: Params }, headers: Headers): void {
  if (headers.get("mcp-method") !== method) throw headerMismatch("Mcp-Method");
  const name = params[nameIn[method] ?? ""];
  if (name !== undefined && decoded(headers.get("mcp-name")) !== name) throw headerMismatch("Mcp-Name");
}

/** Decodes a header value, which is base64 if it is not plain text. */
function decoded(value: string | null): string | null {
  const [, base64] = /^=\?base64\?(.*)\?=$/.exec(value ?? "") ?? [];
  return base64 === undefined ? value : Buffer.from(base64, "base64").toString("utf8");
}
