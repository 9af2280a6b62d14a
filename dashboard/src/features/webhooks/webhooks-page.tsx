import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { Webhook as WebhookIcon } from "lucide-react";
import { useState } from "react";
import type { Webhook } from "../../../../server/domain/api-types/webhook.ts";
import { ListPage } from "../../entities/crud/list-page.tsx";
import { usePermission } from "../../entities/session/use-may.ts";
import { webhooksQuery } from "../../entities/webhook/webhook-api.ts";
import type { NamedSearch } from "../../lib/page-search.ts";
import { useWorkspace } from "../../lib/workspace.ts";
import { Badge } from "../../ui/data/badge.tsx";
import { Cell, Row, RowActs, rowLink, SecondLine } from "../../ui/data/table.tsx";
import { Time } from "../../ui/data/time.tsx";
import { ErrorNote } from "../../ui/feedback/error-note.tsx";
import { Button } from "../../ui/forms/button.tsx";
import { useTestWebhook, type WebhookAct, WebhookDialogs, WebhookMenu } from "./webhook-acts.tsx";
import { WebhookPill } from "./webhook-pill.tsx";
import { disabledReason } from "./webhook-words.ts";

const columns = [
  { label: "URL" },
  { label: "Events" },
  { label: "Status" },
  { label: "Last attempt" },
  { label: "Created", folds: true },
  { label: "Actions", silent: true },
];

/** Webhooks of a workspace. */
export function WebhooksPage({
  search,
  onSearch,
  onOpen,
}: {
  search: NamedSearch;
  onSearch: (search: NamedSearch) => void;
  onOpen: (webhookId: string, search: { delivery: string }) => void;
}) {
  const at = useWorkspace();
  const list = useQuery(webhooksQuery(at, search));
  const [act, setAct] = useState<WebhookAct | null>(null);
  const test = useTestWebhook();
  const send = (id: string) => test.mutate(id, { onSuccess: (delivery) => onOpen(id, { delivery: delivery.id }) });
  return (
    <>
      <ListPage
        title="Webhooks"
        noun="webhook"
        list={list}
        columns={columns}
        search={search}
        onSearch={onSearch}
        row={(webhook) => (
          <WebhookRow
            key={webhook.id}
            webhook={webhook}
            isTesting={test.isPending}
            onTest={() => send(webhook.id)}
            onAct={setAct}
          />
        )}
        notes={
          <ErrorNote
            inset
            title="The test event was not sent"
            error={test.error}
            onRetry={() => send(test.variables!)}
          />
        }
        searchBy="URL or description"
        create={{ act: "Create webhook", onCreate: () => setAct({ kind: "create" }) }}
        empty={{
          icon: WebhookIcon,
          title: `No ${at.mode} webhooks yet`,
          about:
            "A webhook sends events to your URL, for example when a run ends or needs approval. Events are signed and retried for three days.",
        }}
      />
      <WebhookDialogs act={act} onAct={setAct} />
    </>
  );
}

const shownEvents = 2;

/** A webhook's row: address, events and status. A click opens its deliveries. */
function WebhookRow({
  webhook,
  isTesting,
  onTest,
  onAct,
}: {
  webhook: Webhook;
  isTesting: boolean;
  onTest: () => void;
  onAct: (act: WebhookAct) => void;
}) {
  const { id, url, events, last_delivery_at } = webhook;
  const may = usePermission("member");
  // The row shows only the first sentence.
  const line = disabledReason(webhook)?.split(/(?<=\.) /)[0] ?? webhook.description;
  const more = events.slice(shownEvents);
  return (
    <Row data-webhook={id}>
      <Cell main>
        <Link
          to="/webhooks/$webhookId"
          params={{ webhookId: id }}
          data-row
          title={url}
          className={`${rowLink} font-medium`}
        >
          {url}
        </Link>
        {line && (
          <SecondLine title={line} tone={webhook.status === "failing" ? "text-warn" : "text-muted"}>
            {line}
          </SecondLine>
        )}
      </Cell>
      <Cell>
        <span className="flex gap-1">
          {events.slice(0, shownEvents).map((event) => (
            <Badge key={event}>{event === "*" ? "all events" : event}</Badge>
          ))}
          {more.length > 0 && <Badge title={more.join(", ")}>{`+${more.length}`}</Badge>}
        </span>
      </Cell>
      <Cell>
        <WebhookPill webhook={webhook} />
      </Cell>
      <Cell className="whitespace-nowrap">
        {last_delivery_at ? <Time at={last_delivery_at} /> : <span className="text-muted">No deliveries yet</span>}
      </Cell>
      <Cell folds className="whitespace-nowrap max-rail:hidden">
        <Time at={webhook.created_at} />
      </Cell>
      <Cell right className="max-rail:ml-auto rail:w-px">
        {may && (
          <RowActs>
            <Button size="sm" kind="ghost" disabled={isTesting} onClick={onTest}>
              Send test<span className="sr-only"> to {url}</span>
            </Button>
            <WebhookMenu webhook={webhook} onAct={onAct} />
          </RowActs>
        )}
      </Cell>
    </Row>
  );
}
