import { createRoute, lazyRouteComponent } from "@tanstack/react-router";
import { readWebhooksSearch } from "../../features/webhooks/read-webhook-search.ts";
import { shellAddress } from "../shell-address.ts";

/** Where `/dashboard/webhooks` leads, and what its address holds. */
export const webhooksAddress = createRoute({
  getParentRoute: () => shellAddress,
  path: "/webhooks",
  component: lazyRouteComponent(() => import("./webhooks.tsx"), "WebhooksRoute"),
  validateSearch: readWebhooksSearch,
});
