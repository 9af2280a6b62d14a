import { useQuery } from "@tanstack/react-query";
import { Plus, Webhook as WebhookIcon } from "lucide-react";
import { useRef, useState } from "react";
import { useMay } from "../../entities/session/use-may.ts";
import { webhooksQuery } from "../../entities/webhook/webhook-api.ts";
import type { PageSearch } from "../../lib/page-search.ts";
import { useKeys } from "../../lib/use-keys.ts";
import { useRowKeys } from "../../lib/use-row-keys.ts";
import { useTitle } from "../../lib/use-title.ts";
import { useWorkspace } from "../../lib/workspace.ts";
import { Button } from "../../ui/button.tsx";
import { EmptiedPage } from "../../ui/emptied-page.tsx";
import { EmptyState } from "../../ui/empty-state.tsx";
import { ErrorNote } from "../../ui/error-note.tsx";
import { ModePill } from "../../ui/mode-pill.tsx";
import { Paging } from "../../ui/paging.tsx";
import { SheetHead } from "../../ui/sheet.tsx";
import { Table, TableSkeleton } from "../../ui/table.tsx";
import { ViewOnly } from "../../ui/view-only.tsx";
import { useTestWebhook, type WebhookAct } from "./webhook-acts.ts";
import { WebhookDialogs } from "./webhook-dialogs.tsx";
import { WebhookRow } from "./webhook-row.tsx";

const columns = [
  { label: "Address" },
  { label: "Hears of" },
  { label: "Status" },
  { label: "Last attempt" },
  { label: "Created", folds: true },
  { label: "Acts", silent: true },
];

/** Where events of a project and mode are sent to. */
export function WebhooksPage({
  search,
  onSearch,
  onOpen,
}: {
  search: PageSearch;
  onSearch: (search: PageSearch) => void;
  onOpen: (webhookId: string, search: { delivery: string }) => void;
}) {
  const at = useWorkspace();
  const mayChange = useMay("member");
  const body = useRef<HTMLDivElement>(null);
  const page = useQuery(webhooksQuery(at, search));
  const [act, setAct] = useState<WebhookAct | null>(null);
  const test = useTestWebhook();
  const send = (id: string) => test.mutate(id, { onSuccess: (delivery) => onOpen(id, { delivery: delivery.id }) });
  const create = mayChange ? () => setAct({ kind: "create" }) : undefined;
  useTitle("Webhooks", at.project.name);
  useRowKeys(body);
  useKeys({ c: () => create?.() });
  const webhooks = page.data?.data;
  const isLater = Boolean(search.after || search.before);
  return (
    <>
      <SheetHead>
        <h1 className="text-lg">Webhooks</h1>
        <ModePill />
        <div className="ml-auto flex items-center gap-2">
          {create ? (
            <Button kind="primary" onClick={create} title="Create webhook (c)">
              <Plus aria-hidden className="size-4" strokeWidth={1.5} />
              Create webhook
            </Button>
          ) : (
            <ViewOnly />
          )}
        </div>
      </SheetHead>
      <section ref={body} aria-label="Webhooks" className="relative min-h-0 flex-1 overflow-y-auto">
        {page.error && (
          <div className="px-4 pt-3 rail:px-5">
            <ErrorNote
              title={webhooks ? "The list is not up to date" : "The webhooks cannot be shown"}
              error={page.error}
              onRetry={() => void page.refetch()}
            />
          </div>
        )}
        {test.error && (
          <div className="px-4 pt-3 rail:px-5">
            <ErrorNote title="The test event was not sent" error={test.error} onRetry={() => send(test.variables!)} />
          </div>
        )}
        {page.isPending && (
          <div role="status" aria-label="Loading webhooks">
            <TableSkeleton />
          </div>
        )}
        {webhooks && webhooks.length > 0 && (
          <Table label="Webhooks" columns={columns}>
            {webhooks.map((webhook) => (
              <WebhookRow
                key={webhook.id}
                webhook={webhook}
                isTesting={test.isPending}
                mayChange={mayChange}
                onTest={() => send(webhook.id)}
                onAct={setAct}
              />
            ))}
          </Table>
        )}
        {webhooks?.length === 0 && isLater && (
          <EmptiedPage icon={WebhookIcon} noun="webhook" onFirst={() => onSearch({})} />
        )}
        {webhooks?.length === 0 && !isLater && (
          <EmptyState icon={WebhookIcon} title={`No ${at.mode} webhooks yet`}>
            <p className="max-w-[52ch] text-muted">
              A webhook is an address of yours that hears when a run ends, waits for somebody, or asks for a tool. Each
              event is signed, and sent again until it is taken.
            </p>
            {create && (
              <Button kind="primary" onClick={create}>
                Create webhook
              </Button>
            )}
          </EmptyState>
        )}
      </section>
      <Paging noun="webhook" page={page.data} search={search} onPage={onSearch} />
      <WebhookDialogs act={act} onAct={setAct} />
    </>
  );
}
