import type { Standing } from "./rate-limit.ts";

const told = new WeakSet<Request>();

type Told = Pick<Standing, "limit" | "remaining" | "reset">;

/** Of a limit that is off: clients read three numbers from every response. */
export const noLimit: Told = { limit: 2_147_483_647, remaining: 2_147_483_647, reset: 0 };

/** Sets the headers that say where a bucket stands. */
export function tell(headers: Record<string, unknown>, { limit, remaining, reset }: Told): void {
  headers["x-ratelimit-limit"] = String(limit);
  headers["x-ratelimit-remaining"] = String(remaining);
  headers["x-ratelimit-reset"] = String(reset);
}

/** Tells of the bucket that a request was counted in, in place of what may have been said of its address. */
export function tellStanding(request: Request, headers: Record<string, unknown>, standing: Standing | null): void {
  told.add(request);
  tell(headers, standing ?? noLimit);
}

/** Whether a bucket of a project has counted this request. */
export const isTold = (request: Request): boolean => told.has(request);
