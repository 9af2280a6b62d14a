import { createRoute, lazyRouteComponent } from "@tanstack/react-router";
import { readScheduleSearch } from "../../features/schedules/read-schedule-search.ts";
import { shellAddress } from "../shell-address.ts";

/** Where `/dashboard/schedules/$scheduleId` leads, and what its address holds. */
export const scheduleAddress = createRoute({
  getParentRoute: () => shellAddress,
  path: "/schedules/$scheduleId",
  component: lazyRouteComponent(() => import("./schedule.tsx"), "ScheduleRoute"),
  validateSearch: readScheduleSearch,
});
