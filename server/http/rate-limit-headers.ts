import type { Standing } from "./rate-limit.ts";

const told = new WeakSet<Request>();

/** Sets the headers of section 13 for a bucket. A limit that is off has none. */
export function tell(headers: Record<string, unknown>, { limit, remaining, reset }: Standing): void {
  headers["x-ratelimit-limit"] = String(limit);
  headers["x-ratelimit-remaining"] = String(remaining);
  headers["x-ratelimit-reset"] = String(reset);
}

const names = ["x-ratelimit-limit", "x-ratelimit-remaining", "x-ratelimit-reset"];

/** Tells of the bucket that a request was counted in, in place of what may have been said of its address. */
export function tellStanding(request: Request, headers: Record<string, unknown>, standing: Standing | null): void {
  told.add(request);
  if (standing !== null) tell(headers, standing);
  else for (const name of names) if (name in headers) delete headers[name];
}

/** Whether a bucket of a project has counted this request. */
export const isTold = (request: Request): boolean => told.has(request);
