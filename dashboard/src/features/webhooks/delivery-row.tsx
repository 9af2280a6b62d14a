import { Link } from "@tanstack/react-router";
import { clsx } from "clsx";
import type { WebhookDeliveryListItem as Delivery } from "../../../../server/wire/webhook.ts";
import type { DeliveriesSearch } from "../../entities/webhook/read-webhook-search.ts";
import { plural } from "../../lib/format.ts";
import { Time } from "../../ui/time.tsx";
import { Until } from "../../ui/until.tsx";
import { DeliveryPill } from "./webhook-pill.tsx";

/** One delivery in the list; it opens beside it. */
export function DeliveryRow({
  delivery,
  search,
  isOpen,
}: {
  delivery: Delivery;
  search: DeliveriesSearch;
  isOpen: boolean;
}) {
  return (
    <li
      className={clsx(
        "group relative flex min-h-11.5 items-center gap-3 border-b border-line-soft px-4 py-1 rail:px-5",
        isOpen ? "bg-accent-soft" : "hover:bg-hover",
      )}
    >
      <span className="shrink-0 rail:w-25">
        <DeliveryPill delivery={delivery} />
      </span>
      <span className="min-w-0 flex-1">
        <Link
          to="/webhooks/$webhookId"
          params={{ webhookId: delivery.webhook_id }}
          search={{ ...search, delivery: delivery.id }}
          data-row
          aria-current={isOpen ? "true" : undefined}
          className="cut block text-ink before:absolute before:inset-0 focus-visible:shadow-none focus-visible:before:shadow-[inset_0_0_0_2px_var(--focus-color)]"
        >
          <code>{delivery.type}</code>
        </Link>
        <span className="cut block text-xs text-muted" title={delivery.run_id ?? delivery.event_id}>
          {delivery.run_id ?? delivery.event_id}
        </span>
      </span>
      <span className="shrink-0 text-right text-xs whitespace-nowrap text-muted">
        <span className="block text-sm text-ink">
          <Time at={delivery.created_at} />
        </span>
        {delivery.status === "pending" && delivery.next_attempt_at && delivery.attempts_count > 0 ? (
          <>
            Again <Until at={delivery.next_attempt_at} />
          </>
        ) : (
          plural(delivery.attempts_count, "attempt")
        )}
      </span>
    </li>
  );
}
