import { createRoute, lazyRouteComponent } from "@tanstack/react-router";
import { readOverviewSearch } from "../../features/overview/read-overview-search.ts";
import { shellAddress } from "../shell-address.ts";

/** Where `/dashboard/overview` leads, and what its address holds. */
export const overviewAddress = createRoute({
  getParentRoute: () => shellAddress,
  path: "/overview",
  component: lazyRouteComponent(() => import("./overview.tsx"), "OverviewRoute"),
  validateSearch: readOverviewSearch,
});
