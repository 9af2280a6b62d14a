import { parseExact } from "../../../server/lib/exact-numbers.ts";
import { isUnattended } from "./attention.ts";

/** Error body of the API. */
export interface ErrorBody {
  error?: {
    code?: string;
    message?: string;
    param?: string | null;
    errors?: { param: string | null; code: string; message: string }[];
    details?: Record<string, unknown>;
  };
  request_id?: string;
}

/** An error response, or no response (`code: "unreachable"`, `status: 0`). */
export class ApiError extends Error {
  override name = "ApiError";

  constructor(
    readonly status: number,
    readonly code: string,
    message: string,
    readonly requestId: string | null = null,
    readonly fieldErrors: { param: string | null; message: string }[] = [],
    readonly details: Record<string, unknown> = {},
    readonly retryAfterSeconds: number | null = null,
  ) {
    super(message);
  }
}

/** True for a 404. Other errors say nothing about the object's existence. */
export const isNotFound = (error: Error | null): boolean => error instanceof ApiError && error.status === 404;

/** GET of a path under `/console/api`. */
export function get<T>(path: string, signal?: AbortSignal): Promise<T> {
  return send<T>("GET", path, undefined, signal);
}

/** POST to a path under `/console/api`. */
export function post<T>(path: string, body: unknown = {}, headers: Record<string, string> = {}): Promise<T> {
  return send<T>("POST", path, body, undefined, headers);
}

/** POST of a raw file to a path under `/console/api`. */
export async function postFile<T>(path: string, file: Blob, type: string): Promise<T> {
  const response = await request("POST", path, file, undefined, { "Content-Type": type });
  if (!response.ok) throw await readApiError(response);
  return await bodyOf<T>(response);
}

/** POST whose response comes as lines of JSON; `onLine` is called for each as it arrives. */
export async function postLines<Line>(
  path: string,
  body: unknown,
  onLine: (line: Line) => void,
  signal: AbortSignal,
): Promise<void> {
  const headers = { Accept: "application/x-ndjson" };
  const response = await request("POST", path, JSON.stringify(body), signal, headers);
  if (!response.ok) throw await readApiError(response);
  const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader();
  let rest = "";
  for (let next = await reader?.read(); next && !next.done; next = await reader?.read()) {
    const lines = (rest + next.value).split("\n");
    rest = lines.pop() ?? "";
    for (const line of lines) onLine(parseExact<Line>(line));
  }
}

/** PATCH of a path under `/console/api`. */
export function patch<T>(path: string, body: unknown): Promise<T> {
  return send<T>("PATCH", path, body);
}

/** PUT to a path under `/console/api`. */
export function put<T>(path: string, body: unknown, headers: Record<string, string> = {}): Promise<T> {
  return send<T>("PUT", path, body, undefined, headers);
}

/** DELETE of a path under `/console/api`. */
export function remove<T>(path: string, headers: Record<string, string> = {}): Promise<T> {
  return send<T>("DELETE", path, undefined, undefined, headers);
}

/** Address of a resource in a workspace: `resourceUrl({projectId, mode}, "/runs")`. */
export function resourceUrl(at: { projectId: string; mode: string }, path: string): string {
  return `/console/api/${encodeURIComponent(at.projectId)}/${at.mode}${path}`;
}

/** Query string of the set values (`?a=1&b=2`), or empty. */
export function query(values: Record<string, string | number | undefined>): string {
  const set = Object.entries(values).filter(([, value]) => value !== undefined && value !== "");
  return set.length ? `?${new URLSearchParams(set.map(([key, value]) => [key, String(value)]))}` : "";
}

async function send<T>(
  method: string,
  path: string,
  body: unknown,
  signal?: AbortSignal,
  more: Record<string, string> = {},
): Promise<T> {
  const response = await request(method, path, body === undefined ? undefined : JSON.stringify(body), signal, more);
  if (!response.ok) throw await readApiError(response);
  return await bodyOf<T>(response);
}

/** Body with exact numbers; null if it is no JSON. */
const bodyOf = <T>(response: Response): Promise<T> =>
  response
    .text()
    .then(parseExact<T>)
    .catch(() => null as T);

async function request(
  method: string,
  path: string,
  body: string | Blob | undefined,
  signal?: AbortSignal,
  more: Record<string, string> = {},
): Promise<Response> {
  // The browser would normalize the address: `/keys/..` becomes `/`.
  if (/\/(?:\.|%2e){1,2}(?:\/|$)/i.test(path.split(/[?#]/, 1)[0]!))
    throw new ApiError(400, "validation_failed", 'A part of the address is "." or "..", which no id or name can be.');
  return fetch(path, {
    method,
    signal,
    credentials: "same-origin",
    headers: {
      Accept: "application/json",
      // Required by the server, because a form of another site cannot set this header.
      ...(method === "GET" ? {} : { "X-Runnel-Console": "1", "Content-Type": "application/json" }),
      ...(isUnattended() && { "X-Runnel-Unattended": "1" }),
      ...more,
    },
    body,
  }).catch((cause: unknown) => {
    if (signal?.aborted) throw cause;
    throw unreachable();
  });
}

/** Error for a missing response. */
export const unreachable = (): ApiError =>
  new ApiError(0, "unreachable", "The server does not respond. It may be stopped, or the network is down.");

/** Converts an error response to an ApiError. */
export async function readApiError(response: Response): Promise<ApiError> {
  return toError(response, (await response.json().catch(() => null)) as ErrorBody | null);
}

/** Converts an error body to an ApiError. */
export function toError(response: Response, body: ErrorBody | null): ApiError {
  const retryAfter = Number(response.headers.get("retry-after"));
  return new ApiError(
    response.status,
    body?.error?.code ?? `http_${response.status}`,
    body?.error?.message ?? `The server returned status ${response.status} without an explanation.`,
    body?.request_id ?? response.headers.get("x-request-id"),
    faultsOf(body?.error),
    body?.error?.details ?? {},
    retryAfter > 0 ? retryAfter : null,
  );
}

/** A single field error is in `param` and `message` instead of the list. */
function faultsOf(error: ErrorBody["error"]): ApiError["fieldErrors"] {
  if (error?.errors) return error.errors;
  return error?.param ? [{ param: error.param, message: error.message ?? "" }] : [];
}
