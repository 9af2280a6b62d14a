import { queryOptions } from "@tanstack/react-query";
import type { Session } from "../../../../server/domain/api-types/console.ts";
import { ApiError, get, post } from "../../lib/api.ts";

/** The signed-in session, or whether setup is required. */
export type SessionState = { signedIn: true; session: Session } | { signedIn: false; setupRequired: boolean };

/** Session of this browser. Being signed out is a result, not an error. */
export const sessionQuery = queryOptions({
  queryKey: ["session"],
  queryFn: fetchSession,
  staleTime: 60_000,
});

/** Creates the first account with the one-time code. */
export function setUp(body: { token: string; email: string; password: string }): Promise<Session> {
  return post<Session>("/console/api/setup", body);
}

/** Signs in. */
export function signIn(body: { email: string; password: string; code?: string }): Promise<Session> {
  return post<Session>("/console/api/login", body);
}

/** Signs out on the server. */
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
