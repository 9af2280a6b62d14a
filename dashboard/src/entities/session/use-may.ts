import { useQuery } from "@tanstack/react-query";
import { type Role, roles } from "../../../../server/domain/api-types/enums.ts";
import { sessionQuery } from "./session.ts";

/** True if the signed-in person has at least this role. The server enforces it; this only adapts the interface. */
export function usePermission(least: Role): boolean {
  const role = useSessionUser()?.role ?? "owner";
  return roles.indexOf(role) >= roles.indexOf(least);
}

/** The signed-in person; undefined if signed out. */
export function useSessionUser() {
  const { data } = useQuery({ ...sessionQuery, enabled: false });
  return data?.signedIn ? data.session.user : undefined;
}
