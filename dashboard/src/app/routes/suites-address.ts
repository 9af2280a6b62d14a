import { createRoute, lazyRouteComponent } from "@tanstack/react-router";
import { readSuitesSearch } from "../../features/suites/read-suites-search.ts";
import { shellAddress } from "../shell-address.ts";

/** Where `/dashboard/suites` leads, and what its address holds. */
export const suitesAddress = createRoute({
  getParentRoute: () => shellAddress,
  path: "/suites",
  component: lazyRouteComponent(() => import("./suites.tsx"), "SuitesRoute"),
  validateSearch: readSuitesSearch,
});
