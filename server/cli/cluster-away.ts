import { AppError } from "../core/errors.ts";
import { newId } from "../core/ids.ts";
import { errorBody, errorHeaders, type PublicUrl } from "../http/errors.ts";

/** What is answered while nobody can say whether something would last. */
export function clusterAway(
  publicUrl: PublicUrl,
  message = "The cluster has no leader at the moment, or its engine cannot be reached.",
): Response {
  const error = new AppError("cluster_unavailable", message, { retryAfter: 1 });
  const request_id = newId("request", Date.now());
  const headers = { ...errorHeaders(error), "x-request-id": request_id };
  return Response.json({ ...errorBody(error, publicUrl), request_id }, { status: error.status, headers });
}
