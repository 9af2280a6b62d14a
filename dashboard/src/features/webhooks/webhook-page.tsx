import { useQuery } from "@tanstack/react-query";
import { Send } from "lucide-react";
import { useState } from "react";
import type { Webhook } from "../../../../server/domain/api-types/webhook.ts";
import { ObjectHead } from "../../entities/crud/object-head.tsx";
import { ObjectPage, type ObjectPageProps } from "../../entities/crud/object-page.tsx";
import { usePermission } from "../../entities/session/use-may.ts";
import type { DeliveriesSearch } from "../../entities/webhook/read-webhook-search.ts";
import { webhookQuery } from "../../entities/webhook/webhook-api.ts";
import { useWorkspace } from "../../lib/workspace.ts";
import { Description, IdDescription } from "../../ui/data/description-list.tsx";
import { RelativeTime } from "../../ui/data/relative-time.tsx";
import { Time } from "../../ui/data/time.tsx";
import { Callout } from "../../ui/feedback/callout.tsx";
import { ErrorNote } from "../../ui/feedback/error-note.tsx";
import { Button } from "../../ui/forms/button.tsx";
import { Deliveries } from "./deliveries.tsx";
import { useSwitchWebhook, useTestWebhook, type WebhookAct, WebhookDialogs, WebhookMenu } from "./webhook-acts.tsx";
import { WebhookPill } from "./webhook-pill.tsx";
import { disabledReason } from "./webhook-words.ts";

/** Page of one webhook with its deliveries. */
export function WebhookPage({ id, search, onSearch, onLookIn, onLeave }: ObjectPageProps<DeliveriesSearch>) {
  const read = useQuery(webhookQuery(useWorkspace(), id));
  const [act, setAct] = useState<WebhookAct | null>(null);
  return (
    <ObjectPage object={read} noun="webhook" list="/webhooks" id={id} onLookIn={onLookIn}>
      {(webhook, stale) => (
        <>
          <WebhookHead webhook={webhook} onAct={setAct} onTested={(delivery) => onSearch({ delivery })} />
          {stale}
          <Deliveries webhook={webhook} search={search} onSearch={onSearch} />
          <WebhookDialogs act={act} onAct={setAct} onDeleted={onLeave} />
        </>
      )}
    </ObjectPage>
  );
}

/** Head of a webhook's page: address, status and problem. */
function WebhookHead({
  webhook,
  onAct,
  onTested,
}: {
  webhook: Webhook;
  onAct: (act: WebhookAct) => void;
  onTested: (deliveryId: string) => void;
}) {
  const { id, url, events, status, description, last_delivery_at, previous_secret_expires_at: old_end } = webhook;
  const may = usePermission("member");
  const test = useTestWebhook();
  const switching = useSwitchWebhook();
  const trouble = disabledReason(webhook);
  return (
    <>
      <ObjectHead
        list="/webhooks"
        name={url}
        pills={<WebhookPill webhook={webhook} />}
        acts={
          <>
            <Button
              disabled={test.isPending}
              onClick={() => test.mutate(id, { onSuccess: (delivery) => onTested(delivery.id) })}
            >
              <Send aria-hidden className="size-4" strokeWidth={1.5} />
              {test.isPending ? "Sending test" : "Send test"}
            </Button>
            <WebhookMenu webhook={webhook} onAct={onAct} />
          </>
        }
      >
        <IdDescription noun="webhook" id={id} />
        <Description name="Events">
          <span className="cut" title={events.join(", ")}>
            {events.includes("*") ? "all events" : events.join(", ")}
          </span>
        </Description>
        <Description name="Secret">
          <code>{webhook.secret_prefix}…</code>
        </Description>
        {old_end && Date.parse(old_end) > Date.now() && (
          <Description name="Old secret signs until">
            <RelativeTime at={old_end} />
          </Description>
        )}
        <Description name="Last attempt">{last_delivery_at ? <Time at={last_delivery_at} /> : "–"}</Description>
        {description && (
          <Description name="Description">
            <span className="cut" title={description}>
              {description}
            </span>
          </Description>
        )}
      </ObjectHead>
      {(trouble || test.error) && (
        <div className="flex flex-col gap-2 border-b border-line px-4 py-3 rail:px-5">
          {trouble && (
            <Callout tone={status === "failing" ? "warn" : webhook.disabled_reason === "requested" ? "info" : "bad"}>
              <div className="flex flex-wrap items-center gap-x-4 gap-y-2">
                <p className="min-w-60 flex-1">{trouble}</p>
                {may && !webhook.enabled && (
                  <Button
                    size="sm"
                    disabled={switching.isPending}
                    onClick={() => switching.mutate({ id, enabled: true })}
                  >
                    Enable
                  </Button>
                )}
              </div>
            </Callout>
          )}
          <ErrorNote title="The test event was not sent" error={test.error} />
        </div>
      )}
    </>
  );
}
