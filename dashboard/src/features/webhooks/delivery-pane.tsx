import { useMutation, useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { ArrowLeft, Send } from "lucide-react";
import { type ReactNode, useMemo } from "react";
import { useRefresh } from "../../entities/crud/use-refresh.ts";
import { usePermission } from "../../entities/session/use-may.ts";
import type { DeliveriesSearch } from "../../entities/webhook/read-webhook-search.ts";
import { deliveryQuery, redeliver, webhookApi } from "../../entities/webhook/webhook-api.ts";
import { readJson } from "../../lib/json-text.ts";
import { useWorkspace } from "../../lib/workspace.ts";
import { CopyButton } from "../../ui/data/copy-button.tsx";
import { Description, DescriptionList, IdDescription } from "../../ui/data/description-list.tsx";
import { JsonView } from "../../ui/data/json-view.tsx";
import { RelativeTime } from "../../ui/data/relative-time.tsx";
import { Time } from "../../ui/data/time.tsx";
import { ErrorNote } from "../../ui/feedback/error-note.tsx";
import { Skeleton } from "../../ui/feedback/skeleton.tsx";
import { toast } from "../../ui/feedback/toast.ts";
import { Button, buttonClass } from "../../ui/forms/button.tsx";
import { AttemptCard } from "./attempt-card.tsx";
import { DeliveryPill } from "./webhook-pill.tsx";

/** One delivery: payload, attempts and responses. */
export function DeliveryPane({ webhookId, id, search }: { webhookId: string; id: string; search: DeliveriesSearch }) {
  const at = useWorkspace();
  const may = usePermission("member");
  const refresh = useRefresh(webhookApi);
  const { data: delivery, error, refetch } = useQuery(deliveryQuery(at, webhookId, id));
  const again = useMutation({
    mutationFn: () => redeliver(at, webhookId, id),
    onSuccess: async () => {
      toast("Redelivery queued", "The event keeps its id, so receivers can detect duplicates.");
      await refresh();
    },
  });
  const back = (
    <Link
      to="/webhooks/$webhookId"
      params={{ webhookId }}
      search={{ ...search, delivery: undefined }}
      className={`${buttonClass({ kind: "ghost", size: "sm" })} -ml-2 self-start wide:hidden`}
    >
      <ArrowLeft aria-hidden className="size-4" strokeWidth={1.5} />
      Deliveries
    </Link>
  );
  if (!delivery)
    return (
      <Pane>
        {back}
        {error ? (
          <ErrorNote title="The delivery cannot be shown" error={error} onRetry={() => void refetch()} />
        ) : (
          <Skeleton className="mt-4 w-2/3" />
        )}
      </Pane>
    );
  return (
    <Pane>
      {back}
      <header className="flex flex-wrap items-center gap-x-3 gap-y-2">
        <h2 className="text-md">
          <code className="text-sm">{delivery.type}</code>
        </h2>
        <DeliveryPill delivery={delivery} />
        {may && (
          <Button className="ml-auto" size="sm" disabled={again.isPending} onClick={() => again.mutate()}>
            <Send aria-hidden className="size-3.5" strokeWidth={1.5} />
            Redeliver
          </Button>
        )}
        <DescriptionList>
          <IdDescription noun="event" id={delivery.event_id} />
          {delivery.run_id && (
            <Description name="Run">
              <Link to="/runs/$runId" params={{ runId: delivery.run_id }} className="cut text-accent hover:underline">
                <code>{delivery.run_id}</code>
              </Link>
            </Description>
          )}
          <Description name="Created">
            <Time at={delivery.created_at} />
          </Description>
          {delivery.next_attempt_at && (
            <Description name="Next attempt">
              <RelativeTime at={delivery.next_attempt_at} />
            </Description>
          )}
        </DescriptionList>
      </header>
      <ErrorNote title="The redelivery was not queued" error={again.error} />
      <section aria-label="Attempts" className="flex flex-col gap-2">
        <h3 className="font-strong">Attempts</h3>
        {delivery.attempts.length === 0 && <p className="text-muted">None yet.</p>}
        {delivery.attempts.toReversed().map((attempt, index) => (
          <AttemptCard key={attempt.number} attempt={attempt} isOpen={index === 0} />
        ))}
      </section>
      {delivery.body && <Body body={delivery.body} />}
    </Pane>
  );
}

function Pane({ children }: { children: ReactNode }) {
  return (
    <section
      aria-label="Delivery"
      className="relative flex min-h-0 min-w-0 flex-1 flex-col gap-4 overflow-y-auto px-4 py-3 rail:px-5 wide:border-l wide:border-line"
    >
      {children}
    </section>
  );
}

function Body({ body }: { body: string }) {
  const read = useMemo(() => readJson(body), [body]);
  return (
    <section aria-label="Payload" className="flex min-w-0 flex-col gap-2">
      <h3 className="flex items-center gap-1 font-strong">
        Payload
        <CopyButton text={body} what="body" />
      </h3>
      {read.fault ? <pre className="wrap-anywhere whitespace-pre-wrap">{body}</pre> : <JsonView value={read.value} />}
    </section>
  );
}
