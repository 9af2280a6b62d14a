import { useQuery } from "@tanstack/react-query";
import { type Role, roles } from "../../../../server/wire/names.ts";
import { sessionQuery } from "./session.ts";

/** Whether the person at this browser may do what asks for at least this role. The server decides; this says it early. */
export function useMay(least: Role): boolean {
  const role = useSessionUser()?.role ?? "owner";
  return roles.indexOf(role) >= roles.indexOf(least);
}

/** Who is signed in, as the shell has read it. */
export function useSessionUser() {
  const { data } = useQuery({ ...sessionQuery, enabled: false });
  return data?.signedIn ? data.session.user : undefined;
}
