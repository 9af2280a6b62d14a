import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { clsx } from "clsx";
import { Inbox, ListFilter } from "lucide-react";
import { testEvent, webhookEvents } from "../../../../server/domain/api-types/enums.ts";
import type { WebhookDeliveryListItem as Delivery, Webhook } from "../../../../server/domain/api-types/webhook.ts";
import type { DeliveriesSearch } from "../../entities/webhook/read-webhook-search.ts";
import { deliveriesQuery } from "../../entities/webhook/webhook-api.ts";
import { plural } from "../../lib/format.ts";
import { useWorkspace } from "../../lib/workspace.ts";
import { LiveListBody } from "../../ui/data/list-body.tsx";
import { Pagination } from "../../ui/data/pagination.tsx";
import { RelativeTime } from "../../ui/data/relative-time.tsx";
import { Time } from "../../ui/data/time.tsx";
import { SheetBar } from "../../ui/dialogs/sheet.tsx";
import { EmptyState } from "../../ui/feedback/empty-state.tsx";
import { Button } from "../../ui/forms/button.tsx";
import { Chip, choicesOf } from "../../ui/forms/chip.tsx";
import { DeliveryPane } from "./delivery-pane.tsx";
import { DeliveryPill, outcomeWords } from "./webhook-pill.tsx";

const statuses = choicesOf(outcomeWords);
const types = [...webhookEvents, testEvent].map((value) => ({ value, label: value, word: value }));

/** Deliveries of a webhook beside the open one; a narrow page shows one of them. */
export function Deliveries({
  webhook,
  search,
  onSearch,
}: {
  webhook: Webhook;
  search: DeliveriesSearch;
  onSearch: (search: DeliveriesSearch) => void;
}) {
  const list = useQuery(deliveriesQuery(useWorkspace(), webhook.id, search));
  const { status, type, after, before, delivery: open } = search;
  return (
    <div className="flex min-h-0 flex-1">
      <div className={clsx("flex min-h-0 min-w-0 flex-1 flex-col", open && "max-wide:hidden")}>
        <SheetBar>
          <Chip
            name="Status"
            value={status}
            choices={statuses}
            onChange={(next) => onSearch({ type, delivery: open, status: next })}
          />
          <Chip
            name="Event"
            value={type}
            choices={types}
            onChange={(next) => onSearch({ status, delivery: open, type: next })}
          />
        </SheetBar>
        <LiveListBody
          label="Deliveries"
          list={list}
          place={`${webhook.id} ${status} ${type} ${after} ${before}`}
          row={(delivery) => (
            <DeliveryRow key={delivery.id} delivery={delivery} search={search} isOpen={delivery.id === open} />
          )}
          none={
            status || type || after || before ? (
              <EmptyState icon={ListFilter} title="No results">
                {status === "failed" && webhook.failure_count > 0 && (
                  <p className="max-w-[46ch] text-muted">
                    The endpoint does not take events. Each is retried for three days before it has failed.
                  </p>
                )}
                <span className="flex gap-2">
                  {status === "failed" && webhook.failure_count > 0 && (
                    <Button onClick={() => onSearch({ type, status: "retrying" })}>Show retrying</Button>
                  )}
                  <Button onClick={() => onSearch({})}>Clear filters</Button>
                </span>
              </EmptyState>
            ) : (
              <EmptyState icon={Inbox} title="No deliveries yet">
                <p className="max-w-[46ch] text-muted">
                  Events appear here when they are sent. Send a test event to check the endpoint.
                </p>
              </EmptyState>
            )
          }
        />
        <Pagination
          noun="event"
          page={list.data}
          search={search}
          onPage={(next) => onSearch({ status, type, ...next })}
        />
      </div>
      {open ? (
        <DeliveryPane key={open} webhookId={webhook.id} id={open} search={search} />
      ) : (
        <div className="hidden flex-1 border-l border-line wide:block">
          <EmptyState icon={Inbox} title="Choose a delivery">
            <p className="text-muted">Its attempts and responses are shown here.</p>
          </EmptyState>
        </div>
      )}
    </div>
  );
}

/** A delivery's row; a click opens it beside the list. */
function DeliveryRow({ delivery, search, isOpen }: { delivery: Delivery; search: DeliveriesSearch; isOpen: boolean }) {
  const { id, type, run_id, event_id, attempts_count, next_attempt_at } = delivery;
  return (
    <li
      className={clsx(
        "group relative flex min-h-11.5 items-center gap-3 border-b border-line-soft px-4 py-1 rail:px-5",
        isOpen ? "bg-accent-soft" : "hover:bg-hover",
      )}
    >
      <span className="w-22 shrink-0 rail:w-25">
        <DeliveryPill delivery={delivery} />
      </span>
      <span className="min-w-0 flex-1">
        <Link
          to="/webhooks/$webhookId"
          params={{ webhookId: delivery.webhook_id }}
          search={{ ...search, delivery: id }}
          data-row
          aria-current={isOpen ? "true" : undefined}
          className="cut block text-ink before:absolute before:inset-0 focus-visible:shadow-none focus-visible:before:shadow-[inset_0_0_0_2px_var(--focus-color)]"
        >
          <code>{type}</code>
        </Link>
        <span className="cut block text-xs text-muted" title={run_id ?? event_id}>
          {run_id ?? event_id}
        </span>
      </span>
      <span className="shrink-0 text-right text-xs whitespace-nowrap text-muted">
        <span className="block text-sm text-ink">
          <Time at={delivery.created_at} />
        </span>
        {next_attempt_at && attempts_count > 0 ? (
          <>
            Next attempt <RelativeTime at={next_attempt_at} />
          </>
        ) : (
          plural(attempts_count, "attempt")
        )}
      </span>
    </li>
  );
}
