import { createRoute, lazyRouteComponent } from "@tanstack/react-router";
import { readSchedulesSearch } from "../../features/schedules/read-schedule-search.ts";
import { shellAddress } from "../shell-address.ts";

/** Where `/dashboard/schedules` leads, and what its address holds. */
export const schedulesAddress = createRoute({
  getParentRoute: () => shellAddress,
  path: "/schedules",
  component: lazyRouteComponent(() => import("./schedules.tsx"), "SchedulesRoute"),
  validateSearch: readSchedulesSearch,
});
