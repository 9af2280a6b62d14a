import { queryOptions } from "@tanstack/react-query";
import type { SignInWays } from "../../../../server/domain/api-types/console.ts";
import { get, post } from "../../lib/api.ts";

/** Sign-in methods of this server; they change only with a restart. */
export const signInWaysQuery = queryOptions({
  queryKey: ["sign-in-ways"],
  queryFn: ({ signal }) => get<SignInWays>("/console/api/sign_in", signal),
  staleTime: Number.POSITIVE_INFINITY,
});

/** Returns the issuer's sign-in URL. It redirects to `to`, a path within the dashboard. */
export const beginOidc = (to: string): Promise<{ url: string }> => post("/console/api/oidc/begin", { to });
