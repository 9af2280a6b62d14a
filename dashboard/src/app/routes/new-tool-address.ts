import { createRoute, lazyRouteComponent } from "@tanstack/react-router";
import { readNewToolSearch } from "../../features/tools/read-tools-search.ts";
import { shellAddress } from "../shell-address.ts";

/** Where `/dashboard/tools/new` leads, and what its address holds. */
export const newToolAddress = createRoute({
  getParentRoute: () => shellAddress,
  path: "/tools/new",
  component: lazyRouteComponent(() => import("./new-tool.tsx"), "NewToolRoute"),
  validateSearch: readNewToolSearch,
});
