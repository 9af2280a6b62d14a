import { createRoute, lazyRouteComponent } from "@tanstack/react-router";
import { shellAddress } from "../shell-address.ts";

/** Where `/dashboard/account` leads. */
export const accountAddress = createRoute({
  getParentRoute: () => shellAddress,
  path: "/account",
  component: lazyRouteComponent(() => import("./account.tsx"), "AccountRoute"),
});
