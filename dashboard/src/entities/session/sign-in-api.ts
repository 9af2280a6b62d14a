import { queryOptions } from "@tanstack/react-query";
import type { SignInWays } from "../../../../server/wire/console.ts";
import { get, post } from "../../lib/api.ts";

/** How people sign in at this server. It changes with a restart alone. */
export const signInWaysQuery = queryOptions({
  queryKey: ["sign-in-ways"],
  queryFn: ({ signal }) => get<SignInWays>("/console/api/sign_in", signal),
  staleTime: Number.POSITIVE_INFINITY,
});

/** Where to go to sign in at the issuer; it leads back to `to`, a path within the dashboard. */
export const beginOidc = (to: string): Promise<{ url: string }> => post("/console/api/oidc/begin", { to });
