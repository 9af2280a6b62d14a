import { createRoute, lazyRouteComponent } from "@tanstack/react-router";
import { readThreadsSearch } from "../../features/threads/read-threads-search.ts";
import { shellAddress } from "../shell-address.ts";

/** Where `/dashboard/threads` leads, and what its address holds. */
export const threadsAddress = createRoute({
  getParentRoute: () => shellAddress,
  path: "/threads",
  component: lazyRouteComponent(() => import("./threads.tsx"), "ThreadsRoute"),
  validateSearch: readThreadsSearch,
});
