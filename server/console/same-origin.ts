import { AppError } from "../core/errors.ts";
import { originOf } from "../http/own-origin.ts";

/**
 * Refuses a change that another site's page could have asked for: such a page can neither set our header without the
 * server's leave nor forge what its browser says of its origin.
 */
export function requireSameOrigin(request: Request): void {
  if (request.method === "GET" || request.method === "HEAD") return;
  const { headers } = request;
  const [origin, site] = [headers.get("origin"), headers.get("sec-fetch-site")];
  const known = origin !== null || site !== null;
  const same = (origin === null || origin === originOf(request)) && (site === null || site === "same-origin");
  if (headers.get("x-runnel-console") === "1" && known && same) return;
  throw new AppError("cross_origin", "Only the dashboard's own pages can make changes here.");
}
