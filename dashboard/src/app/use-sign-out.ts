import { useNavigate } from "@tanstack/react-router";
import { signOut } from "../features/account/session.ts";
import { mayLeave } from "../lib/use-unsaved.ts";
import { queryClient } from "./query-client.ts";

/**
 * Ends the session on the server, then forgets all that was read. Asks first where a form is not saved. Rejects while the
 * session still stands.
 */
export function useSignOut(): () => Promise<void> {
  const navigate = useNavigate();
  return async () => {
    if (!(await mayLeave())) return;
    await signOut();
    queryClient.clear();
    await navigate({ to: "/login", ignoreBlocker: true });
  };
}
