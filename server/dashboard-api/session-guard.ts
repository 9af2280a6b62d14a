import { Elysia } from "elysia";
import type { Role } from "../domain/api-types/enums.ts";
import { AppError } from "../domain/errors.ts";
import type { OnRefused, Refusal } from "../http/auth.ts";
import { readJsonBody } from "../http/json-body.ts";
import { entryOf } from "../lib/collections.ts";
import type { Actor } from "../storage/db/audit.ts";
import type { User } from "./accounts.ts";
import { missingSession } from "./auth.ts";
import { hasRole } from "./role.ts";
import { requireSameOrigin } from "./same-origin.ts";
import type { SessionCookie } from "./session-cookie.ts";
import type { Sessions } from "./sessions.ts";
import type { Setup } from "./setup.ts";

interface SignedInDeps {
  sessions: Sessions;
  setup: Setup;
  cookie: SessionCookie;
  clientOf: (request: Request) => string | null;
  /** Called on every 403. */
  onRefused?: OnRefused;
}

/** A signed-in person and their session. */
interface Visitor {
  user: User;
  /** The person as the audit log names them. */
  actor: Actor;
  token: string;
}

/** The plugin of `sessionGuard`. */
export type SessionGuard = ReturnType<typeof sessionGuard>;

/**
 * Authenticates people by session for routes that belong to no project. Each route names the least role that may use
 * it.
 */
export function sessionGuard({ sessions, setup, cookie, clientOf, onRefused }: SignedInDeps) {
  const visitors = new WeakMap<Request, Visitor>();

  function admit(request: Request, headers: Record<string, string | number>, least: Role): void {
    requireSameOrigin(request);
    const token = cookie.read(request);
    const user = sessions.use(token, request);
    if (!user || token === null) throw missingSession(setup.required());
    const request_id = String(headers["x-request-id"] ?? "") || null;
    const actor: Actor = { type: "user", id: user.id, ip: clientOf(request), request_id };
    if (!hasRole(user.role, least)) {
      const refusal = roleMissing(user.role, least);
      onRefused?.(actor, null, { required: refusal.details as Refusal["required"], request });
      throw refusal;
    }
    visitors.set(request, { user, token, actor });
  }

  return new Elysia({ name: "signed-in" }).macro({
    role: (least: Role) => ({
      // Authenticate before validation, so that a stranger learns nothing about the schema.
      async parse({ request, set }) {
        admit(request, set.headers as Record<string, string>, least);
        const body = await readJsonBody(request);
        // The role may have changed while the body arrived.
        admit(request, set.headers as Record<string, string>, least);
        return body;
      },
      transform({ request, set }) {
        if (!visitors.has(request)) admit(request, set.headers as Record<string, string>, least);
      },
      resolve({ request }) {
        return { visitor: entryOf(visitors, request) };
      },
    }),
  });
}

/** Error for a person whose role is too low. */
const roleMissing = (role: Role, least: Role): AppError =>
  new AppError("insufficient_role", `You are ${a(role)} here. This needs the role "${least}".`, {
    details: { required_role: least, role },
  });

const a = (role: Role): string => (role === "owner" ? "an owner" : `a ${role}`);
