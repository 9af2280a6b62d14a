import type { AppError } from "../core/errors.ts";
import { notFound } from "../core/not-found.ts";
import { validationError } from "./errors.ts";

/** A server's own answer to a request. */
type Fetch = (request: Request, server: Bun.Server<undefined>) => Response | Promise<Response>;

/** Requests whose address is another one than was sent. */
const resolved = new WeakSet<Request>();

// The runtime's router takes up to a hundred; no route has more than a dozen.
const deepest = 40;
const names = Array.from({ length: deepest }, (_, index) => `part${index}`);

/**
 * `Request.url` is resolved before anybody sees it: of `/keys/..` it says `/`. The runtime's own router alone meets what
 * was sent, and so it has a route for each number of parts. Whatever matches none of them has an empty part in its
 * middle, or more parts than any route.
 */
export function noticingDotSegments(fetch: Fetch) {
  const routes: Record<string, Fetch> = { "/": fetch };
  for (let depth = 1; depth <= deepest; depth++) {
    const path = names.slice(0, depth).map((name) => `/:${name}`);
    const answer = (request: Bun.BunRequest, server: Bun.Server<undefined>) => {
      if (isResolved(request, depth)) resolved.add(request);
      return fetch(request, server);
    };
    routes[path.join("")] = answer as Fetch;
    routes[`${path.join("")}/`] = answer as Fetch;
  }
  const others: Fetch = (request, server) => {
    if (lostParts(request.url)) resolved.add(request);
    return fetch(request, server);
  };
  return { routes, fetch: others };
}

function isResolved({ url, params }: Bun.BunRequest, depth: number): boolean {
  const sent = params as Record<string, string>;
  for (let index = 0; index < depth; index++) {
    const part = sent[names[index]!]!; // Decoded once, as `%2e` is when an address is resolved.
    if (part === "." || part === "..") return true;
    if (part.includes("\\") && !isEncodedIn(url, index, part)) return true;
  }
  return false;
}

/** Whether the backslashes of a part were sent as `%5c`: in clear text each of them has become a slash. */
const isEncodedIn = (url: string, index: number, part: string): boolean =>
  countOf(pathIn(url).split("/")[index + 1] ?? "", /%5c/gi) === countOf(part, /\\/g);

const countOf = (text: string, pattern: RegExp): number => text.match(pattern)?.length ?? 0;

/** Of a path that had an empty part or very many: whether it has lost them. Otherwise no route takes it either. */
function lostParts(url: string): boolean {
  const path = pathIn(url);
  return path.startsWith("/") && !path.includes("//") && path.split("/").length <= deepest;
}

const pathIn = (url: string): string => url.replace(/^https?:\/\/[^/?#]*/i, "").split("?", 1)[0]!;

/** Whether a request's address is another one than was sent. */
export const hasDotSegment = (request: Request): boolean => resolved.has(request);

/** Requests from within with a value in their path that nothing has for its id. */
const leading = new WeakSet<Request>();

/** Notes of a request from within whether a value in its path is empty, or would lead elsewhere. */
export function noteDotSegments(request: Request, path: string): void {
  const [sent = ""] = path.slice(1).split(/[?#]/, 1);
  if (sent.split("/").some((part) => /^(\.|%2e){0,2}$/i.test(part)) || /[\\\t\r\n]/.test(sent)) leading.add(request);
}

/** Throws for a request that would reach what it does not name: 404 for one from within, else 400. */
export function refuseDotSegments(request: Request): void {
  if (resolved.has(request)) throw dotSegmentRefused();
  if (leading.has(request)) throw notFound();
}

export function dotSegmentRefused(): AppError {
  const message = 'A part of the path is "." or "..", written out or encoded, or has a backslash that is not encoded.';
  return validationError([{ param: null, code: "invalid_value", message }]);
}
