import { createRoute, lazyRouteComponent } from "@tanstack/react-router";
import { readWebhookSearch } from "../../features/webhooks/read-webhook-search.ts";
import { shellAddress } from "../shell-address.ts";

/** Where `/dashboard/webhooks/$webhookId` leads, and what its address holds. */
export const webhookAddress = createRoute({
  getParentRoute: () => shellAddress,
  path: "/webhooks/$webhookId",
  component: lazyRouteComponent(() => import("./webhook.tsx"), "WebhookRoute"),
  validateSearch: readWebhookSearch,
});
