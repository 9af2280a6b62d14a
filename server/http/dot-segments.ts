import type { AppError } from "../domain/errors.ts";
import { notFound } from "../domain/not-found.ts";
import { textBefore } from "../lib/text-before.ts";
import { validationError } from "./errors.ts";

/** The server's request handler. */
type Fetch = (request: Request, server: Bun.Server<undefined>) => Response | Promise<Response>;

/** Requests whose path had dot segments, raw backslashes or lost parts before `Request.url` was normalized. */
const rewritten = new WeakSet<Request>();

// The runtime's router supports up to a hundred parts; no route has more than a dozen.
const deepest = 40;
const names = Array.from({ length: deepest }, (_, index) => `part${index}`);

/**
 * Detects dot segments although `Request.url` is already normalized (`/keys/..` becomes `/`). Only the runtime's router
 * sees the raw path, so it gets one route per number of parts. A path that matches none has an empty part or more parts
 * than any route.
 */
export function withDotSegmentDetection(fetch: Fetch) {
  const routes: Record<string, Fetch> = { "/": fetch };
  for (let depth = 1; depth <= deepest; depth++) {
    const path = names.slice(0, depth).map((name) => `/:${name}`);
    const answer = (request: Bun.BunRequest, server: Bun.Server<undefined>) => {
      if (isRewritten(request, depth)) rewritten.add(request);
      return fetch(request, server);
    };
    routes[path.join("")] = answer as Fetch;
    routes[`${path.join("")}/`] = answer as Fetch;
  }
  const others: Fetch = (request, server) => {
    if (lostParts(request.url)) rewritten.add(request);
    return fetch(request, server);
  };
  return { routes, fetch: others };
}

function isRewritten({ url, params }: Bun.BunRequest, depth: number): boolean {
  const pathParams = params as Record<string, string>;
  for (let index = 0; index < depth; index++) {
    const part = pathParams[names[index]!]!; // The router decoded it once, as URL normalization does with `%2e`.
    if (part === "." || part === "..") return true;
    if (part.includes("\\") && !isEncodedIn(url, index, part)) return true;
  }
  return false;
}

/** True if the backslashes of a part were sent as `%5c`. Normalization turns raw backslashes into slashes. */
const isEncodedIn = (url: string, index: number, part: string): boolean =>
  countOf(pathIn(url).split("/")[index + 1] ?? "", /%5c/gi) === countOf(part, /\\/g);

const countOf = (text: string, pattern: RegExp): number => text.match(pattern)?.length ?? 0;

/**
 * True if a path with an empty part or very many parts lost them in normalization. Otherwise no route matches it
 * anyway.
 */
function lostParts(url: string): boolean {
  const path = pathIn(url);
  return path.startsWith("/") && !path.includes("//") && path.split("/").length <= deepest;
}

const pathIn = (url: string): string => textBefore(url.replace(/^https?:\/\/[^/?#]*/i, ""), "?");

/** True if the URL of a request differs from the one that was sent. */
export const isPathRewritten = (request: Request): boolean => rewritten.has(request);

/** Internal requests with a path value that cannot be an id. */
const misroutedRequests = new WeakSet<Request>();

/** Marks an internal request if a value in its path is empty or would change the path. */
export function noteDotSegments(request: Request, path: string): void {
  const [rawPath = ""] = path.slice(1).split(/[?#]/, 1);
  if (rawPath.split("/").some((part) => /^(\.|%2e){0,2}$/i.test(part)) || /[\\\t\r\n]/.test(rawPath))
    misroutedRequests.add(request);
}

/** Throws for a request whose path was changed: 404 for an internal one, else 400. */
export function refuseDotSegments(request: Request): void {
  if (rewritten.has(request)) throw dotSegmentRefused();
  if (misroutedRequests.has(request)) throw notFound();
}

export function dotSegmentRefused(): AppError {
  const message = 'A part of the path is "." or "..", written out or encoded, or has a backslash that is not encoded.';
  return validationError([{ param: null, code: "invalid_value", message }]);
}
