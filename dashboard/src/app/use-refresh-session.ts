import { useQueryClient } from "@tanstack/react-query";
import { sessionQuery } from "../entities/session/session.ts";

/** Reads the session again: it holds the projects that the shell shows. */
export function useRefreshSession(): () => Promise<void> {
  const client = useQueryClient();
  return () => client.invalidateQueries(sessionQuery);
}
