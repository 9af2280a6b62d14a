import { createRoute, lazyRouteComponent } from "@tanstack/react-router";
import { readStoreSearch } from "../../features/memory/read-memory-search.ts";
import { shellAddress } from "../shell-address.ts";

/** Where `/dashboard/memory/$memoryId` leads, and what its address holds. */
export const memoryStoreAddress = createRoute({
  getParentRoute: () => shellAddress,
  path: "/memory/$memoryId",
  component: lazyRouteComponent(() => import("./memory-store.tsx"), "MemoryStoreRoute"),
  validateSearch: readStoreSearch,
});
