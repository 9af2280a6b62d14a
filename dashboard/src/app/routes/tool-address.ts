import { createRoute, lazyRouteComponent } from "@tanstack/react-router";
import { readToolSearch } from "../../features/tools/read-tools-search.ts";
import { shellAddress } from "../shell-address.ts";

/** Where `/dashboard/tools/$toolId` leads, and what its address holds. */
export const toolAddress = createRoute({
  getParentRoute: () => shellAddress,
  path: "/tools/$toolId",
  component: lazyRouteComponent(() => import("./tool.tsx"), "ToolRoute"),
  validateSearch: readToolSearch,
});
