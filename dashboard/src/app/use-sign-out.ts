import { useNavigate } from "@tanstack/react-router";
import { signOut } from "../features/account/session.ts";
import { queryClient } from "./query-client.ts";

/** Ends the session on the server, then forgets all that was read. Rejects while the session still stands. */
export function useSignOut(): () => Promise<void> {
  const navigate = useNavigate();
  return async () => {
    await signOut();
    queryClient.clear();
    await navigate({ to: "/login" });
  };
}
