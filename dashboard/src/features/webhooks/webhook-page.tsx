import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { useState } from "react";
import type { Environment as Mode } from "../../../../server/core/scope.ts";
import { ObjectPage } from "../../entities/resource/object-page.tsx";
import { useMay } from "../../entities/session/use-may.ts";
import type { DeliveriesSearch } from "../../entities/webhook/read-webhook-search.ts";
import { webhookQuery } from "../../entities/webhook/webhook-api.ts";
import { useTitle } from "../../lib/use-title.ts";
import { useWorkspace } from "../../lib/workspace.ts";
import { buttonClass } from "../../ui/button.tsx";
import { Deliveries } from "./deliveries.tsx";
import type { WebhookAct } from "./webhook-acts.ts";
import { WebhookDialogs } from "./webhook-dialogs.tsx";
import { WebhookHead } from "./webhook-head.tsx";

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
  const read = useQuery(webhookQuery(at, id));
  const [act, setAct] = useState<WebhookAct | null>(null);
  useTitle("Webhook", read.data ? new URL(read.data.url).host : at.project.name);
  return (
    <ObjectPage
      object={read}
      noun="webhook"
      id={id}
      path={`/webhooks/${encodeURIComponent(id)}`}
      list={
        <Link to="/webhooks" className={buttonClass()}>
          Go to webhooks
        </Link>
      }
      onLookIn={onLookIn}
    >
      {(webhook, stale) => (
        <>
          <WebhookHead
            webhook={webhook}
            mayChange={mayChange}
            onAct={setAct}
            onTested={(delivery) => onSearch({ delivery })}
          />
          {stale}
          <Deliveries webhook={webhook} search={search} mayChange={mayChange} onSearch={onSearch} />
          <WebhookDialogs act={act} onAct={setAct} onDeleted={onLeave} />
        </>
      )}
    </ObjectPage>
  );
}
