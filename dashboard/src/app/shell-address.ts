import { createRoute, redirect } from "@tanstack/react-router";
import { sessionQuery } from "../features/account/session.ts";
import { queryClient } from "./query-client.ts";
import { rootAddress } from "./root-address.ts";
import { Shell } from "./shell.tsx";

/** All that needs a session: asks for it once, and sends those without one where they get one. */
export const shellAddress = createRoute({
  getParentRoute: () => rootAddress,
  id: "shell",
  component: Shell,
  beforeLoad: async ({ location }) => {
    const state = await queryClient.ensureQueryData(sessionQuery);
    if (state.signedIn) return;
    if (state.setupRequired) throw redirect({ to: "/setup" });
    throw redirect({ to: "/login", search: { to: location.href.replace(/^\/dashboard/, "") } });
  },
});
