import { createRoute, lazyRouteComponent } from "@tanstack/react-router";
import { shellAddress } from "../shell-address.ts";

/** Where `/dashboard/threads/$threadId` leads. */
export const threadAddress = createRoute({
  getParentRoute: () => shellAddress,
  path: "/threads/$threadId",
  component: lazyRouteComponent(() => import("./thread.tsx"), "ThreadRoute"),
});
