import type { BucketState } from "./rate-limit.ts";

const countedRequests = new WeakSet<Request>();

type RateLimitValues = Pick<BucketState, "limit" | "remaining" | "reset">;

/** Values if the limit is off, because clients expect the headers in every response. */
export const noLimit: RateLimitValues = { limit: 2_147_483_647, remaining: 2_147_483_647, reset: 0 };

/** Sets the rate limit headers. */
export function writeRateLimitHeaders(
  headers: Record<string, unknown>,
  { limit, remaining, reset }: RateLimitValues,
): void {
  headers["x-ratelimit-limit"] = String(limit);
  headers["x-ratelimit-remaining"] = String(remaining);
  headers["x-ratelimit-reset"] = String(reset);
}

/** Sets the headers of the bucket that counted the request, replacing those of its IP address. */
export function setRateLimitHeaders(
  request: Request,
  headers: Record<string, unknown>,
  bucketState: BucketState | null,
): void {
  countedRequests.add(request);
  writeRateLimitHeaders(headers, bucketState ?? noLimit);
}

/** True if a project's bucket counted this request. */
export const hasRateLimitHeaders = (request: Request): boolean => countedRequests.has(request);
