import { createRoute, lazyRouteComponent } from "@tanstack/react-router";
import { readRunsSearch } from "../../features/runs/read-runs-search.ts";
import { shellAddress } from "../shell-address.ts";

/** Where `/dashboard/runs` leads, and what its address holds. */
export const runsAddress = createRoute({
  getParentRoute: () => shellAddress,
  path: "/runs",
  component: lazyRouteComponent(() => import("./runs.tsx"), "RunsRoute"),
  validateSearch: readRunsSearch,
});
