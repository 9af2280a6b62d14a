import { createRoute, lazyRouteComponent } from "@tanstack/react-router";
import { readSuiteSearch } from "../../features/suites/read-suites-search.ts";
import { shellAddress } from "../shell-address.ts";

/** Where `/dashboard/suites/$suiteId` leads, and what its address holds. */
export const suiteAddress = createRoute({
  getParentRoute: () => shellAddress,
  path: "/suites/$suiteId",
  component: lazyRouteComponent(() => import("./suite.tsx"), "SuiteRoute"),
  validateSearch: readSuiteSearch,
});
