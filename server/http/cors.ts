import { AppError } from "../domain/errors.ts";
import type { Db } from "../storage/db/open.ts";
import { responseHeaders } from "./headers.ts";
import type { Principal } from "./principal.ts";
import { requestOrigin } from "./request-origin.ts";

/** Response headers under construction. */
type Headers = Record<string, unknown>;

/** CORS: pages of an origin that a project lists may call that project only. Cookies are not supported. */
export type Cors = ReturnType<typeof createCors>;

export function createCors({ db }: { db: Db }) {
  const naming = db.sqlite.query<{ id: string }, [string]>(
    `SELECT p.id FROM projects p, json_each(p.settings, '$.origins') origin
     WHERE p.archived_at_ms IS NULL AND origin.value = ?`,
  );
  const projectsByOrigin = db.kept.rows((origin: string) => naming.all(origin).map(({ id }) => id));
  // A longer text is no origin. Skip the cache, so that made-up origins do not fill it.
  const projectsOf = (origin: string): readonly string[] =>
    origin.length > longest ? [] : projectsByOrigin.of(origin);

  return {
    /**
     * Runs before the project is known: allows an origin that any project lists, so that its page can read errors.
     * Returns the preflight response; throws if no project lists the origin.
     */
    begin(request: Request, headers: Headers): Response | null {
      const origin = foreignOrigin(request);
      if (origin === null) return null;
      const isNamed = projectsOf(origin).length > 0;
      headers.vary = "Origin";
      if (isNamed) Object.assign(headers, { [allowOrigin]: origin, [expose]: exposed });
      const requestedMethod = request.headers.get("access-control-request-method");
      if (request.method !== "OPTIONS" || requestedMethod === null) return null;
      if (!isNamed) throw notAllowed(origin);
      return new Response(null, { status: 204, headers: { ...texts(headers), ...grantOf(request) } });
    },

    /**
     * Runs once the project is known: withdraws the permission of another project's origin; throws if the caller is a
     * token.
     */
    settle({ project_id, token }: Pick<Principal, "project_id" | "token">, request: Request, headers: Headers): void {
      const origin = foreignOrigin(request);
      if (origin === null || projectsOf(origin).includes(project_id)) return;
      delete headers[allowOrigin];
      delete headers[expose];
      if (token) throw notAllowed(origin);
    },
  };
}

// A scheme, a name of at most 253 characters and a port.
const longest = 300;

const [allowOrigin, expose] = ["access-control-allow-origin", "access-control-expose-headers"] as const;
const ofStreams = ["Stream-Next-Offset", "Stream-Up-To-Date", "Stream-Closed", "Stream-Cursor"];
const ofProtocols = [...ofStreams, "Mcp-Session-Id"];
const exposed = [...Object.keys(responseHeaders), "Content-Type", ...ofProtocols].join(", ");

/** Origin of a cross-origin request, else null. The dashboard's routes allow no other origin. */
function foreignOrigin(request: Request): string | null {
  const origin = request.headers.get("origin");
  return origin === null || /^(https?:\/\/[^/]*)?\/console\//.test(request.url) || origin === requestOrigin(request)
    ? null
    : origin;
}

/**
 * Allowed methods and headers. Any requested header is allowed, because there are no cookies and every call needs a
 * token.
 */
function grantOf({ headers }: Request): Record<string, string> {
  const requestedHeaders = headers.get("access-control-request-headers") ?? "";
  return {
    "access-control-allow-methods": "GET, HEAD, POST, PUT, PATCH, DELETE",
    "access-control-max-age": "600",
    ...(/^[\w-]+(, ?[\w-]+)*$/.test(requestedHeaders) && { "access-control-allow-headers": requestedHeaders }),
  };
}

const texts = (headers: Headers): Record<string, string> =>
  Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, String(value)]));

const notAllowed = (origin: string): AppError =>
  new AppError(
    "origin_not_allowed",
    `No project that this is about takes requests of pages of ${origin.slice(0, 200)}.`,
  );
