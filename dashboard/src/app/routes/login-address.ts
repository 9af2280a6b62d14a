import { createRoute, lazyRouteComponent } from "@tanstack/react-router";
import { safeReturn } from "../../features/account/safe-return.ts";
import { rootAddress } from "../root-address.ts";

/** Where `/dashboard/login` leads, and what its address holds. */
export const loginAddress = createRoute({
  getParentRoute: () => rootAddress,
  path: "/login",
  component: lazyRouteComponent(() => import("./login.tsx"), "LoginRoute"),
  validateSearch: (search): { to?: string } => (typeof search.to === "string" ? { to: safeReturn(search.to) } : {}),
});
