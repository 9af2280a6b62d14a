import { createRoute, lazyRouteComponent } from "@tanstack/react-router";
import { readTraceSearch } from "../../features/trace/read-trace-search.ts";
import { shellAddress } from "../shell-address.ts";

/** Where `/dashboard/runs/$runId` leads, and what its address holds. */
export const runAddress = createRoute({
  getParentRoute: () => shellAddress,
  path: "/runs/$runId",
  component: lazyRouteComponent(() => import("./run.tsx"), "RunRoute"),
  validateSearch: readTraceSearch,
});
