import { createRoute, lazyRouteComponent } from "@tanstack/react-router";
import { readPlaygroundSearch } from "../../features/playground/read-playground-search.ts";
import { shellAddress } from "../shell-address.ts";

/** Where `/dashboard/playground` leads, and what its address holds. */
export const playgroundAddress = createRoute({
  getParentRoute: () => shellAddress,
  path: "/playground",
  component: lazyRouteComponent(() => import("./playground.tsx"), "PlaygroundRoute"),
  validateSearch: readPlaygroundSearch,
});
