import { createRoute, lazyRouteComponent } from "@tanstack/react-router";
import { readStartSearch } from "../../features/first-run/read-start-search.ts";
import { shellAddress } from "../shell-address.ts";

/** Where `/dashboard/start` leads, and what its address holds. */
export const startAddress = createRoute({
  getParentRoute: () => shellAddress,
  path: "/start",
  component: lazyRouteComponent(() => import("./start.tsx"), "StartRoute"),
  validateSearch: readStartSearch,
});
