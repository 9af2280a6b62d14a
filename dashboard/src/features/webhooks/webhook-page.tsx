import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { useState } from "react";
import { ApiError } from "../../lib/api.ts";
import type { Mode } from "../../lib/types.ts";
import { useMay } from "../../lib/use-may.ts";
import { useTitle } from "../../lib/use-title.ts";
import { useWorkspace } from "../../lib/workspace.ts";
import { buttonClass } from "../../ui/button.tsx";
import { ErrorNote } from "../../ui/error-note.tsx";
import { ModePill } from "../../ui/mode-pill.tsx";
import { ObjectNotFound } from "../../ui/object-not-found.tsx";
import { SheetHead } from "../../ui/sheet.tsx";
import { TableSkeleton } from "../../ui/table.tsx";
import { Deliveries } from "./deliveries.tsx";
import type { DeliveriesSearch } from "./fns/read-webhook-search.ts";
import type { WebhookAct } from "./webhook-acts.ts";
import { WebhookDialogs } from "./webhook-dialogs.tsx";
import { WebhookHead } from "./webhook-head.tsx";
import { webhookQuery } from "./webhooks-api.ts";

/** One webhook, and what it heard. */
export function WebhookPage({
  id,
  search,
  onSearch,
  onLookIn,
  onLeave,
}: {
  id: string;
  search: DeliveriesSearch;
  onSearch: (search: DeliveriesSearch) => void;
  onLookIn: (mode: Mode) => void;
  onLeave: () => void;
}) {
  const at = useWorkspace();
  const mayChange = useMay("member");
  const { data: webhook, error, refetch } = useQuery(webhookQuery(at, id));
  const [act, setAct] = useState<WebhookAct | null>(null);
  useTitle("Webhook", webhook ? new URL(webhook.url).host : at.project.name);
  if (error instanceof ApiError && error.status === 404)
    return (
      <ObjectNotFound noun="webhook" id={id} path={`/webhooks/${encodeURIComponent(id)}`} onLookIn={onLookIn}>
        <Link to="/webhooks" className={buttonClass()}>
          Go to webhooks
        </Link>
      </ObjectNotFound>
    );
  const failure = error && (
    <div className="px-4 py-3 rail:px-5">
      <ErrorNote title="The webhook is not up to date" error={error} onRetry={() => void refetch()} />
    </div>
  );
  if (!webhook)
    return (
      <>
        <SheetHead>
          <h1 className="text-lg">Webhook</h1>
          <ModePill />
        </SheetHead>
        {failure ?? <TableSkeleton />}
      </>
    );
  return (
    <>
      <WebhookHead
        webhook={webhook}
        mayChange={mayChange}
        onAct={setAct}
        onTested={(delivery) => onSearch({ delivery })}
      />
      {failure}
      <Deliveries webhook={webhook} search={search} mayChange={mayChange} onSearch={onSearch} />
      <WebhookDialogs act={act} onAct={setAct} onDeleted={onLeave} />
    </>
  );
}
