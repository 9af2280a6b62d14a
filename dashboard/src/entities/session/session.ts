import { queryOptions } from "@tanstack/react-query";
import type { Session } from "../../../../server/wire/console.ts";
import { ApiError, get, post } from "../../lib/api.ts";

/** Who is signed in, or why nobody is. */
export type SessionState = { signedIn: true; session: Session } | { signedIn: false; setupRequired: boolean };

/** The session of this browser. No session is an answer, not an error. */
export const sessionQuery = queryOptions({
  queryKey: ["session"],
  queryFn: fetchSession,
  staleTime: 60_000,
});

/** Makes the first account by the one-time code. */
export function setUp(body: { token: string; email: string; password: string }): Promise<Session> {
  return post<Session>("/console/api/setup", body);
}

/** Opens a session. */
export function signIn(body: { email: string; password: string; code?: string }): Promise<Session> {
  return post<Session>("/console/api/login", body);
}

/** Ends the session on the server. */
export function signOut(): Promise<unknown> {
  return post("/console/api/logout");
}

async function fetchSession({ signal }: { signal: AbortSignal }): Promise<SessionState> {
  try {
    return { signedIn: true, session: await get<Session>("/console/api/session", signal) };
  } catch (error) {
    if (!(error instanceof ApiError) || error.status !== 401) throw error;
    return { signedIn: false, setupRequired: error.details.setup_required === true };
  }
}
