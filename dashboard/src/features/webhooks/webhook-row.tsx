import { Link } from "@tanstack/react-router";
import type { Webhook } from "../../../../server/wire/webhook.ts";
import { Badge } from "../../ui/badge.tsx";
import { Button } from "../../ui/button.tsx";
import { Cell, Row, RowActs, rowLink, SecondLine } from "../../ui/table.tsx";
import { Time } from "../../ui/time.tsx";
import type { WebhookAct } from "./webhook-acts.ts";
import { WebhookMenu } from "./webhook-menu.tsx";
import { WebhookPill } from "./webhook-pill.tsx";
import { whyDisabled } from "./why-disabled.ts";

const shownEvents = 2;

/** One webhook: where to, of what, and whether it is heard. The row opens its deliveries. */
export function WebhookRow({
  webhook,
  isTesting,
  mayChange,
  onTest,
  onAct,
}: {
  webhook: Webhook;
  isTesting: boolean;
  mayChange: boolean;
  onTest: () => void;
  onAct: (act: WebhookAct) => void;
}) {
  const trouble = whyDisabled(webhook);
  const line = trouble ?? webhook.description;
  const [first, more] = [webhook.events.slice(0, shownEvents), webhook.events.slice(shownEvents)];
  return (
    <Row data-webhook={webhook.id}>
      <Cell main>
        <Link
          to="/webhooks/$webhookId"
          params={{ webhookId: webhook.id }}
          data-row
          title={webhook.url}
          className={`${rowLink} font-medium`}
        >
          {webhook.url}
        </Link>
        {line && (
          <SecondLine title={line} tone={webhook.status === "failing" ? "text-warn" : "text-muted"}>
            {line}
          </SecondLine>
        )}
      </Cell>
      <Cell>
        <span className="flex gap-1">
          {first.map((event) => (
            <Badge key={event}>{event === "*" ? "all events" : event}</Badge>
          ))}
          {more.length > 0 && <Badge title={more.join(", ")}>{`+${more.length}`}</Badge>}
        </span>
      </Cell>
      <Cell>
        <WebhookPill webhook={webhook} />
      </Cell>
      <Cell className="whitespace-nowrap">
        {webhook.last_delivery_at ? (
          <Time at={webhook.last_delivery_at} />
        ) : (
          <span className="text-muted">Nothing sent yet</span>
        )}
      </Cell>
      <Cell folds className="whitespace-nowrap max-rail:hidden">
        <Time at={webhook.created_at} />
      </Cell>
      <Cell right className="max-rail:ml-auto rail:w-px">
        {mayChange && (
          <RowActs>
            <Button size="sm" kind="ghost" disabled={isTesting} onClick={onTest}>
              Send test<span className="sr-only"> to {webhook.url}</span>
            </Button>
            <WebhookMenu webhook={webhook} onAct={onAct} />
          </RowActs>
        )}
      </Cell>
    </Row>
  );
}
