import { createRoute, lazyRouteComponent } from "@tanstack/react-router";
import { rootAddress } from "../root-address.ts";

/** Where `/dashboard/invite` leads. */
export const inviteAddress = createRoute({
  getParentRoute: () => rootAddress,
  path: "/invite",
  component: lazyRouteComponent(() => import("./invite.tsx"), "InviteRoute"),
});
