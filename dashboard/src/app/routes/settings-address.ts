import { createRoute, lazyRouteComponent } from "@tanstack/react-router";
import { readSettingsSearch } from "../../features/settings/read-settings-search.ts";
import { shellAddress } from "../shell-address.ts";

/** Where `/dashboard/settings` leads, and what its address holds. */
export const settingsAddress = createRoute({
  getParentRoute: () => shellAddress,
  path: "/settings",
  component: lazyRouteComponent(() => import("./settings.tsx"), "SettingsRoute"),
  validateSearch: readSettingsSearch,
});
