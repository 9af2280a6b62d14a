import { useNavigate, useRouter } from "@tanstack/react-router";
import { signOut } from "../entities/session/session.ts";
import { signInWaysQuery } from "../entities/session/sign-in-api.ts";
import { mayLeave } from "../lib/use-unsaved.ts";
import { queryClient } from "./query-client.ts";

/**
 * Ends the session on the server, then forgets all that was read. Asks first where a form is not saved. Rejects while the
 * session still stands.
 */
export function useSignOut(): () => Promise<void> {
  const navigate = useNavigate();
  const router = useRouter();
  return async () => {
    if (!(await mayLeave())) return;
    // Read before: what is on the page goes at once then, and asks for nothing any more.
    await router.preloadRoute({ to: "/login" });
    await signOut();
    await navigate({ to: "/login", ignoreBlocker: true });
    // But for what the login page has asked for meanwhile: it would wait for it forever.
    queryClient.removeQueries({ predicate: ({ queryKey }) => queryKey[0] !== signInWaysQuery.queryKey[0] });
  };
}
