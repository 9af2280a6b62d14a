import { useQuery } from "@tanstack/react-query";
import { clsx } from "clsx";
import { Inbox, ListFilter } from "lucide-react";
import { useRef } from "react";
import { deliveryStatuses, testEvent, webhookEvents } from "../../../../server/wire/names.ts";
import type { Webhook } from "../../../../server/wire/webhook.ts";
import type { DeliveriesSearch, DeliveryStatus } from "../../entities/webhook/read-webhook-search.ts";
import { deliveriesQuery } from "../../entities/webhook/webhook-api.ts";
import { useHeldRows } from "../../lib/use-held-rows.ts";
import { useRowKeys } from "../../lib/use-row-keys.ts";
import { useWorkspace } from "../../lib/workspace.ts";
import { Button } from "../../ui/button.tsx";
import { Chip } from "../../ui/chip.tsx";
import { EmptyState } from "../../ui/empty-state.tsx";
import { ErrorNote } from "../../ui/error-note.tsx";
import { NewRows } from "../../ui/new-rows.tsx";
import { Paging } from "../../ui/paging.tsx";
import { SheetBar } from "../../ui/sheet.tsx";
import { TableSkeleton } from "../../ui/table.tsx";
import { DeliveryPane } from "./delivery-pane.tsx";
import { DeliveryRow } from "./delivery-row.tsx";

const words: Record<DeliveryStatus, string> = { pending: "Pending", delivered: "Delivered", failed: "Failed" };
const statuses = deliveryStatuses.map((value) => ({ value, label: words[value], word: words[value] }));
const types = [...webhookEvents, testEvent].map((value) => ({ value, label: value, word: value }));

/** What a webhook heard: the list, and beside it the one that is looked at. On a narrow page one of the two. */
export function Deliveries({
  webhook,
  search,
  mayChange,
  onSearch,
}: {
  webhook: Webhook;
  search: DeliveriesSearch;
  mayChange: boolean;
  onSearch: (search: DeliveriesSearch) => void;
}) {
  const at = useWorkspace();
  const body = useRef<HTMLDivElement>(null);
  const page = useQuery(deliveriesQuery(at, webhook.id, search));
  useRowKeys(body);
  const { status, type, after, before, delivery: open } = search;
  const rows = useHeldRows(page.data?.data, `${webhook.id} ${status} ${type} ${after} ${before}`);
  const deliveries = rows.shown;
  const showNew = () => {
    rows.showAll();
    body.current?.scrollTo({ top: 0 });
  };
  const isFiltered = Boolean(status || type || after || before);
  return (
    <div className="flex min-h-0 flex-1">
      <div className={clsx("flex min-h-0 min-w-0 flex-1 flex-col", open && "max-wide:hidden")}>
        <SheetBar>
          <Chip<DeliveryStatus>
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
        <div className="relative flex min-h-0 flex-1 flex-col">
          <NewRows count={rows.held} onShow={showNew} />
          <div ref={body} onScroll={rows.onScroll} className="relative min-h-0 flex-1 overflow-y-auto">
            {page.error && (
              <div className="px-4 pt-3 rail:px-5">
                <ErrorNote
                  title="The deliveries are not up to date"
                  error={page.error}
                  onRetry={() => void page.refetch()}
                />
              </div>
            )}
            {page.isPending && <TableSkeleton />}
            {deliveries && deliveries.length > 0 && (
              <ul aria-label="Deliveries">
                {deliveries.map((delivery) => (
                  <DeliveryRow key={delivery.id} delivery={delivery} search={search} isOpen={delivery.id === open} />
                ))}
              </ul>
            )}
            {deliveries?.length === 0 && isFiltered && (
              <EmptyState icon={ListFilter} title="No delivery matches these filters">
                <Button onClick={() => onSearch({})}>Clear filters</Button>
              </EmptyState>
            )}
            {deliveries?.length === 0 && !isFiltered && (
              <EmptyState icon={Inbox} title="It heard nothing yet">
                <p className="max-w-[46ch] text-muted">
                  The next event of its kinds comes here. Send a test to see whether the address answers.
                </p>
              </EmptyState>
            )}
          </div>
        </div>
        <Paging noun="event" page={page.data} search={search} onPage={(next) => onSearch({ status, type, ...next })} />
      </div>
      {open ? (
        <DeliveryPane key={open} webhookId={webhook.id} id={open} search={search} mayChange={mayChange} />
      ) : (
        <div className="hidden flex-1 border-l border-line wide:block">
          <EmptyState icon={Inbox} title="Choose a delivery">
            <p className="text-muted">Its attempts, and what was answered, are shown here.</p>
          </EmptyState>
        </div>
      )}
    </div>
  );
}
