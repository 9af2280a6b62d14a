import type { Standing } from "./rate-limit.ts";

const told = new WeakSet<Request>();

/** The headers of section 13 for a bucket. A limit that is off has none. */
export const rateLimitHeaders = (standing: Standing | null): Record<string, string> =>
  standing === null
    ? {}
    : {
        "x-ratelimit-limit": String(standing.limit),
        "x-ratelimit-remaining": String(standing.remaining),
        "x-ratelimit-reset": String(standing.reset),
      };

/** Tells of the bucket that a request was counted in, in place of what every response says of its address. */
export function tellStanding(request: Request, headers: Record<string, unknown>, standing: Standing | null): void {
  told.add(request);
  for (const name of ["limit", "remaining", "reset"]) delete headers[`x-ratelimit-${name}`];
  Object.assign(headers, rateLimitHeaders(standing));
}

/** Whether a bucket of a project has counted this request. */
export const isTold = (request: Request): boolean => told.has(request);
