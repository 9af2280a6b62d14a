import { useQuery } from "@tanstack/react-query";
import { sessionQuery } from "./session.ts";

/** Address at which other servers reach this one, which may differ from this page's. */
export function usePublicUrl(): string {
  const { data } = useQuery({ ...sessionQuery, enabled: false });
  return data?.signedIn ? data.session.public_url : location.origin;
}
