import { AppError } from "../core/errors.ts";
import { newId } from "../core/ids.ts";
import { errorBody, errorHeaders, type PublicUrl } from "../http/errors.ts";
import { bodyStopped } from "../http/json-body.ts";
import { noLimit, tell } from "../http/rate-limit-headers.ts";
import { BodyStopped } from "../lib/arriving.ts";

const away = (message: string, cause?: unknown): AppError =>
  new AppError("cluster_unavailable", message, { retryAfter: 1, cause });

const noAnswer = "The cluster has no leader at the moment, or its engine cannot be reached.";

/** What is answered while nobody can say whether something would last. */
export const clusterAway = (publicUrl: PublicUrl, message = noAnswer): Response => refusing(away(message), publicUrl);

/** What is answered where a request could not be passed on. */
export const notPassed = (error: unknown, publicUrl: PublicUrl): Response =>
  error instanceof BodyStopped ? refusing(bodyStopped(), publicUrl) : clusterAway(publicUrl);

/** A refusal of a node's own, which has no application to write it. */
export const refusing = (error: AppError, publicUrl: PublicUrl): Response =>
  answering(error.status, errorBody(error, publicUrl), errorHeaders(error));

/** An answer of a node's own, with what every response has. */
export function answering(status: number, body: object, more: Record<string, string> = {}): Response {
  const request_id = newId("request", Date.now());
  const headers: Record<string, string> = {
    ...more,
    "x-request-id": request_id,
    "x-content-type-options": "nosniff",
    "cache-control": "no-store",
  };
  tell(headers, noLimit); // Nothing was counted.
  return Response.json({ ...body, request_id }, { status, headers });
}

/** A query to the engine within a request. Throws `cluster_unavailable` where the engine does not respond. */
export const orAway = <T>(asked: Promise<T>): Promise<T> =>
  asked.catch((error: unknown) => {
    throw away(noAnswer, error);
  });
