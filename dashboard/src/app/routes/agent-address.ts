import { createRoute, lazyRouteComponent } from "@tanstack/react-router";
import { readAgentSearch } from "../../features/agents/read-agents-search.ts";
import { shellAddress } from "../shell-address.ts";

/** Where `/dashboard/agents/$agentId` leads, and what its address holds. */
export const agentAddress = createRoute({
  getParentRoute: () => shellAddress,
  path: "/agents/$agentId",
  component: lazyRouteComponent(() => import("./agent.tsx"), "AgentRoute"),
  validateSearch: readAgentSearch,
});
