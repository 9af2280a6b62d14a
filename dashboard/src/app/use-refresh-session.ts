import { useQueryClient } from "@tanstack/react-query";
import { sessionQuery } from "../entities/session/session.ts";

/** Refetches the session, which contains the projects. */
export function useRefreshSession(): () => Promise<void> {
  const client = useQueryClient();
  return () => client.invalidateQueries(sessionQuery);
}
