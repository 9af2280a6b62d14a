import { createRoute, lazyRouteComponent } from "@tanstack/react-router";
import { readDiffSearch } from "../../features/diff/read-diff-search.ts";
import { shellAddress } from "../shell-address.ts";

/** Where `/dashboard/runs/$runId/diff/$otherId` leads, and what its address holds. */
export const diffAddress = createRoute({
  getParentRoute: () => shellAddress,
  path: "/runs/$runId/diff/$otherId",
  component: lazyRouteComponent(() => import("./diff.tsx"), "DiffRoute"),
  validateSearch: readDiffSearch,
});
