import { AppError } from "../core/errors.ts";
import type { Db } from "../db/open.ts";
import { responseHeaders } from "./headers.ts";
import { originOf } from "./own-origin.ts";
import type { Principal } from "./principal.ts";

/** Headers of an answer, as they are being put together. */
type Headers = Record<string, unknown>;

/** Lets the pages of some origins ask and read: those that a project names, of that project alone. No cookie counts. */
export type Cors = ReturnType<typeof createCors>;

export function createCors({ db }: { db: Pick<Db, "sqlite" | "kept"> }) {
  const naming = db.sqlite.query<{ id: string }, [string]>(
    `SELECT p.id FROM projects p, json_each(p.settings, '$.origins') origin
     WHERE p.archived_at_ms IS NULL AND origin.value = ?`,
  );
  const named = db.kept.rows((origin: string) => naming.all(origin).map(({ id }) => id));
  // What is longer is no origin, and is not to be remembered for whoever made it up.
  const projectsOf = (origin: string): readonly string[] => (origin.length > longest ? [] : named.of(origin));

  return {
    /**
     * Before anybody knows whose project is meant: says yes to an origin that some project names, so that its page can read
     * why it is refused. Returns the answer to a browser that asks beforehand; throws for an origin that nobody names.
     */
    begin(request: Request, headers: Headers): Response | null {
      const origin = foreignOrigin(request);
      if (origin === null) return null;
      const isNamed = projectsOf(origin).length > 0;
      headers.vary = "Origin";
      if (isNamed) Object.assign(headers, { [allowOrigin]: origin, [expose]: exposed });
      const asked = request.headers.get("access-control-request-method");
      if (request.method !== "OPTIONS" || asked === null) return null;
      if (!isNamed) throw notAllowed(origin);
      return new Response(null, { status: 204, headers: { ...texts(headers), ...grantOf(request) } });
    },

    /** Once it is known whose project is asked for: another one's pages read nothing. Throws for a token of another site. */
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
const ofDoors = [...ofStreams, "Mcp-Session-Id"];
const exposed = [...Object.keys(responseHeaders), "Content-Type", ...ofDoors].join(", ");

/** Where a page comes from that is none of ours; the dashboard answers its own pages alone. */
function foreignOrigin(request: Request): string | null {
  const origin = request.headers.get("origin");
  return origin === null || /^(https?:\/\/[^/]*)?\/console\//.test(request.url) || origin === originOf(request)
    ? null
    : origin;
}

/** What a page may send. Any header that it asks for: there are no cookies, and whoever asks still needs a token. */
function grantOf({ headers }: Request): Record<string, string> {
  const asked = headers.get("access-control-request-headers") ?? "";
  return {
    "access-control-allow-methods": "GET, HEAD, POST, PUT, PATCH, DELETE",
    "access-control-max-age": "600",
    ...(/^[\w-]+(, ?[\w-]+)*$/.test(asked) && { "access-control-allow-headers": asked }),
  };
}

const texts = (headers: Headers): Record<string, string> =>
  Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, String(value)]));

const notAllowed = (origin: string): AppError =>
  new AppError(
    "origin_not_allowed",
    `No project that this is about takes requests of pages of ${origin.slice(0, 200)}.`,
  );
