import { AppError } from "../../domain/errors.ts";
import { newId } from "../../domain/ids.ts";
import { errorBody, errorHeaders, type PublicUrl } from "../../http/errors.ts";
import { bodyStopped } from "../../http/json-body.ts";
import { noLimit, writeRateLimitHeaders } from "../../http/rate-limit-headers.ts";
import { BodyTimeout } from "../../lib/body-chunks.ts";

const unavailable = (message: string, cause?: unknown): AppError =>
  new AppError("cluster_unavailable", message, { retryAfter: 1, cause });

const noAnswer = "The cluster has no leader at the moment, or its engine cannot be reached.";

/** Returns the response while no leader can guarantee durability. */
export const clusterUnavailable = (publicUrl: PublicUrl, message = noAnswer): Response =>
  refusalResponse(unavailable(message), publicUrl);

/** Returns the response to a request that could not be passed on. */
export const forwardFailureResponse = (error: unknown, publicUrl: PublicUrl): Response =>
  error instanceof BodyTimeout ? refusalResponse(bodyStopped(), publicUrl) : clusterUnavailable(publicUrl);

/** Returns an error response of a node that runs no application. */
export const refusalResponse = (error: AppError, publicUrl: PublicUrl): Response =>
  nodeResponse(error.status, errorBody(error, publicUrl), errorHeaders(error));

/** Returns a response of the node itself, with the headers of every response. */
export function nodeResponse(status: number, body: object, more: Record<string, string> = {}): Response {
  const request_id = newId("request", Date.now());
  const headers: Record<string, string> = {
    ...more,
    "x-request-id": request_id,
    "x-content-type-options": "nosniff",
    "cache-control": "no-store",
  };
  writeRateLimitHeaders(headers, noLimit); // This request counts towards no rate limit.
  return Response.json({ ...body, request_id }, { status, headers });
}

/** Awaits a query to Postgres within a request. Throws `cluster_unavailable` if Postgres does not respond. */
export const orUnavailable = <T>(promise: Promise<T>): Promise<T> =>
  promise.catch((error: unknown) => {
    throw unavailable(noAnswer, error);
  });
