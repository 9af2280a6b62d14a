import { createRoute, lazyRouteComponent } from "@tanstack/react-router";
import { readApprovalsSearch } from "../../features/approvals/read-approvals-search.ts";
import { shellAddress } from "../shell-address.ts";

/** Where `/dashboard/approvals` leads, and what its address holds. */
export const approvalsAddress = createRoute({
  getParentRoute: () => shellAddress,
  path: "/approvals",
  component: lazyRouteComponent(() => import("./approvals.tsx"), "ApprovalsRoute"),
  validateSearch: readApprovalsSearch,
});
