import { createRoute, lazyRouteComponent } from "@tanstack/react-router";
import { readAgentsSearch } from "../../features/agents/read-agents-search.ts";
import { shellAddress } from "../shell-address.ts";

/** Where `/dashboard/agents` leads, and what its address holds. */
export const agentsAddress = createRoute({
  getParentRoute: () => shellAddress,
  path: "/agents",
  component: lazyRouteComponent(() => import("./agents.tsx"), "AgentsRoute"),
  validateSearch: readAgentsSearch,
});
