import { AppError } from "../domain/errors.ts";
import { requestOrigin } from "../http/request-origin.ts";

/**
 * Refuses a change requested by another site's page. Such a page cannot set our header without CORS, nor forge the
 * `Origin` that its browser sends.
 */
export function requireSameOrigin(request: Request): void {
  if (request.method === "GET" || request.method === "HEAD") return;
  const { headers } = request;
  const [origin, site] = [headers.get("origin"), headers.get("sec-fetch-site")];
  const known = origin !== null || site !== null;
  const same = (origin === null || origin === requestOrigin(request)) && (site === null || site === "same-origin");
  if (headers.get("x-runnel-console") === "1" && known && same) return;
  throw new AppError("cross_origin", "Only the dashboard's own pages can make changes here.");
}
