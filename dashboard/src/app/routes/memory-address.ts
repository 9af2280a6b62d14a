import { createRoute, lazyRouteComponent } from "@tanstack/react-router";
import { readStoresSearch } from "../../features/memory/read-memory-search.ts";
import { shellAddress } from "../shell-address.ts";

/** Where `/dashboard/memory` leads, and what its address holds. */
export const memoryAddress = createRoute({
  getParentRoute: () => shellAddress,
  path: "/memory",
  component: lazyRouteComponent(() => import("./memory.tsx"), "MemoryRoute"),
  validateSearch: readStoresSearch,
});
