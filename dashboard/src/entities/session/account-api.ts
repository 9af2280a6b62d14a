import { queryOptions } from "@tanstack/react-query";
import type { Invitation, OpenSession, Session } from "../../../../server/domain/api-types/console.ts";
import { get, post, remove } from "../../lib/api.ts";

/** Own sessions, last used first. */
export const sessionsQuery = queryOptions({
  queryKey: ["sessions"],
  queryFn: async ({ signal }) => (await get<{ data: OpenSession[] }>("/console/api/account/sessions", signal)).data,
});

export const endSession = (id: string): Promise<unknown> => remove(`/console/api/account/sessions/${id}`);
export const endOtherSessions = (): Promise<{ ended: number }> => remove("/console/api/account/sessions");
export const changePassword = (body: { current_password: string; password: string }): Promise<unknown> =>
  post("/console/api/account/password", body);

/** Requests a reset email. The response does not reveal whether the account exists. */
export const askReset = (email: string): Promise<unknown> => post("/console/api/password_resets", { email });
export const acceptReset = (body: { token: string; password: string }): Promise<unknown> =>
  post("/console/api/password_resets/accept", body);

/** Details of an invitation link; they never change. */
export const invitationQuery = (token: string) =>
  queryOptions({
    queryKey: ["invitation", token],
    queryFn: () => post<Pick<Invitation, "email" | "role" | "expires_at">>("/console/api/invitations/read", { token }),
    retry: false,
    staleTime: Number.POSITIVE_INFINITY,
  });
export const acceptInvitation = (body: { token: string; password: string }): Promise<Session> =>
  post("/console/api/invitations/accept", body);
