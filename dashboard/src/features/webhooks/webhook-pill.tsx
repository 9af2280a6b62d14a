import { Check, Clock, type LucideIcon, Power, TriangleAlert, X } from "lucide-react";
import type { WebhookDeliveryListItem as Delivery, Webhook } from "../../../../server/wire/webhook.ts";
import { Pill, type Tone } from "../../ui/pill.tsx";

const looks: Record<Webhook["status"], [Tone, LucideIcon, string]> = {
  active: ["ok", Check, "Active"],
  failing: ["warn", TriangleAlert, "Failing"],
  disabled: ["plain", Power, "Switched off"],
};

/** How a webhook stands. */
export function WebhookPill({ webhook }: { webhook: Webhook }) {
  const [tone, icon, word] = looks[webhook.status];
  const wasEnded = webhook.status === "disabled" && webhook.disabled_reason !== "requested";
  return (
    <Pill tone={wasEnded ? "bad" : tone} icon={icon}>
      {word}
    </Pill>
  );
}

const outcomes: Record<Delivery["status"], [Tone, LucideIcon, string]> = {
  delivered: ["ok", Check, "Delivered"],
  pending: ["info", Clock, "Pending"],
  failed: ["bad", X, "Failed"],
};

/** What became of a delivery. */
export function DeliveryPill({ delivery }: { delivery: Delivery }) {
  const isRetried = delivery.status === "pending" && delivery.attempts_count > 0;
  const [tone, icon, word] = outcomes[delivery.status];
  return (
    <Pill tone={isRetried ? "warn" : tone} icon={icon}>
      {isRetried ? "Trying again" : word}
    </Pill>
  );
}
