import { useNavigate, useRouter } from "@tanstack/react-router";
import { signOut } from "../entities/session/session.ts";
import { signInWaysQuery } from "../entities/session/sign-in-api.ts";
import { mayLeave } from "../hooks/use-unsaved.ts";
import { queryClient } from "./query-client.ts";

/**
 * Ends the session on the server and clears all cached data. Asks first if a form is unsaved. Rejects if the session
 * could not be ended.
 */
export function useSignOut(): () => Promise<void> {
  const navigate = useNavigate();
  const router = useRouter();
  return async () => {
    if (!(await mayLeave())) return;
    // Preload first: after sign-out the page unmounts and its requests stop.
    await router.preloadRoute({ to: "/login" });
    await signOut();
    await navigate({ to: "/login", ignoreBlocker: true });
    // Keep the query that the login page has started: it would wait for it forever.
    queryClient.removeQueries({ predicate: ({ queryKey }) => queryKey[0] !== signInWaysQuery.queryKey[0] });
  };
}
