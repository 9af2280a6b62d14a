import { createRoute, lazyRouteComponent } from "@tanstack/react-router";
import { readReferenceSearch } from "../../features/reference/read-reference-search.ts";
import { shellAddress } from "../shell-address.ts";

/** Where `/dashboard/reference` leads, and what its address holds. */
export const referenceAddress = createRoute({
  getParentRoute: () => shellAddress,
  path: "/reference",
  component: lazyRouteComponent(() => import("./reference.tsx"), "ReferenceRoute"),
  validateSearch: readReferenceSearch,
});
