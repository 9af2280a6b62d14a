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
export function refusing(error: AppError, publicUrl: PublicUrl): Response {
  const request_id = newId("request", Date.now());
  const headers: Record<string, string> = { ...errorHeaders(error), "x-request-id": request_id };
  tell(headers, noLimit); // Nothing was counted.
  return Response.json({ ...errorBody(error, publicUrl), request_id }, { status: error.status, headers });
}

/** A query to the engine within a request. Throws `cluster_unavailable` where the engine does not respond. */
export const orAway = <T>(asked: Promise<T>): Promise<T> =>
  asked.catch((error: unknown) => {
    throw away(noAnswer, error);
  });
