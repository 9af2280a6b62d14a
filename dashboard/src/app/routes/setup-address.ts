import { createRoute, lazyRouteComponent } from "@tanstack/react-router";
import { rootAddress } from "../root-address.ts";

/** Where `/dashboard/setup` leads. */
export const setupAddress = createRoute({
  getParentRoute: () => rootAddress,
  path: "/setup",
  component: lazyRouteComponent(() => import("./setup.tsx"), "SetupRoute"),
});
