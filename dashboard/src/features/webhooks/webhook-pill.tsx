import { Check, Clock, Power, TriangleAlert, X } from "lucide-react";
import type { WebhookDeliveryListItem as Delivery, Webhook } from "../../../../server/domain/api-types/webhook.ts";
import { type Look, LookPill, labelsOf } from "../../ui/data/pill.tsx";

const looks: Record<Webhook["status"] | "ended", Look> = {
  active: ["ok", Check, "Active"],
  failing: ["warn", TriangleAlert, "Failing"],
  disabled: ["plain", Power, "Disabled"],
  ended: ["bad", Power, "Disabled"],
};

/** Status of a webhook. */
export function WebhookPill({ webhook: { status, disabled_reason } }: { webhook: Webhook }) {
  return <LookPill look={looks[status === "disabled" && disabled_reason !== "requested" ? "ended" : status]} />;
}

const outcomes: Record<Delivery["status"], Look> = {
  pending: ["info", Clock, "Pending"],
  retrying: ["warn", Clock, "Retrying"],
  delivered: ["ok", Check, "Delivered"],
  failed: ["bad", X, "Failed"],
};

export const outcomeWords = labelsOf(outcomes);

/** Status of a delivery. */
export function DeliveryPill({ delivery: { status } }: { delivery: Delivery }) {
  return <LookPill look={outcomes[status]} />;
}
