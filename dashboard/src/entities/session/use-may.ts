import { useQuery } from "@tanstack/react-query";
import { sessionQuery } from "./session.ts";

const ranks = ["viewer", "member", "owner"] as const;
/** What a person may do, from the least to the most. */
export type Role = (typeof ranks)[number];

/** Whether the person at this browser may do what asks for at least this role. The server decides; this says it early. */
export function useMay(least: Role): boolean {
  const role = useSessionUser()?.role ?? "owner";
  return ranks.indexOf(role) >= ranks.indexOf(least);
}

/** Who is signed in, as the frame has read it. */
export function useSessionUser() {
  const { data } = useQuery({ ...sessionQuery, enabled: false });
  return data?.signedIn ? data.session.user : undefined;
}
