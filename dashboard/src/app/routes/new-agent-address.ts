import { createRoute, lazyRouteComponent } from "@tanstack/react-router";
import { shellAddress } from "../shell-address.ts";

/** Where `/dashboard/agents/new` leads. */
export const newAgentAddress = createRoute({
  getParentRoute: () => shellAddress,
  path: "/agents/new",
  component: lazyRouteComponent(() => import("./new-agent.tsx"), "NewAgentRoute"),
});
