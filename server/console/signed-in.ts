import { Elysia } from "elysia";
import type { Actor } from "../db/audit.ts";
import { readJsonBody } from "../http/json-body.ts";
import type { User } from "./accounts.ts";
import { missingSession } from "./auth.ts";
import { requireRole } from "./require-role.ts";
import type { Role } from "./role.ts";
import { requireSameOrigin } from "./same-origin.ts";
import type { SessionCookie } from "./session-cookie.ts";
import type { Sessions } from "./sessions.ts";
import type { Setup } from "./setup.ts";

export interface SignedInDeps {
  sessions: Sessions;
  setup: Pick<Setup, "required">;
  cookie: SessionCookie;
  clientOf: (request: Request) => string | null;
}

/** Who asks, and by which session. */
export interface Visitor {
  user: User;
  /** The same as the audit log names them. */
  actor: Actor;
  token: string;
}

/** What `signedIn` makes. */
export type SignedIn = ReturnType<typeof signedIn>;

/** Admits people by their session to what is of no project. A route names the least role that may use it. */
export function signedIn({ sessions, setup, cookie, clientOf }: SignedInDeps) {
  const visitors = new WeakMap<Request, Visitor>();

  function admit(request: Request, headers: Record<string, string | number>, least: Role): void {
    requireSameOrigin(request);
    const token = cookie.read(request);
    const user = sessions.use(token, request);
    if (!user || token === null) throw missingSession(setup.required());
    requireRole(user.role, least);
    const request_id = String(headers["x-request-id"] ?? "") || null;
    visitors.set(request, { user, token, actor: { type: "user", id: user.id, ip: clientOf(request), request_id } });
  }

  return new Elysia({ name: "signed-in" }).macro({
    role: (least: Role) => ({
      // Before validation, as at every door: a stranger learns nothing of what the routes take.
      async parse({ request, set }) {
        admit(request, set.headers as Record<string, string>, least);
        const body = await readJsonBody(request);
        admit(request, set.headers as Record<string, string>, least); // A body may take its time, and the role be gone.
        return body;
      },
      transform({ request, set }) {
        if (!visitors.has(request)) admit(request, set.headers as Record<string, string>, least);
      },
      resolve({ request }) {
        return { visitor: visitors.get(request)! };
      },
    }),
  });
}
