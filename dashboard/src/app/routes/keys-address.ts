import { createRoute, lazyRouteComponent } from "@tanstack/react-router";
import { readKeysSearch } from "../../features/keys/read-keys-search.ts";
import { shellAddress } from "../shell-address.ts";

/** Where `/dashboard/keys` leads, and what its address holds. */
export const keysAddress = createRoute({
  getParentRoute: () => shellAddress,
  path: "/keys",
  component: lazyRouteComponent(() => import("./keys.tsx"), "KeysRoute"),
  validateSearch: readKeysSearch,
});
