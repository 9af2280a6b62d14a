import { createRoute, lazyRouteComponent } from "@tanstack/react-router";
import { readToolsSearch } from "../../features/tools/read-tools-search.ts";
import { shellAddress } from "../shell-address.ts";

/** Where `/dashboard/tools` leads, and what its address holds. */
export const toolsAddress = createRoute({
  getParentRoute: () => shellAddress,
  path: "/tools",
  component: lazyRouteComponent(() => import("./tools.tsx"), "ToolsRoute"),
  validateSearch: readToolsSearch,
});
