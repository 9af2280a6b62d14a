import { useNavigate, useParams, useSearch } from "@tanstack/react-router";
import { WebhookPage } from "../../features/webhooks/webhook-page.tsx";
import { useSwitchMode } from "../use-switch-mode.ts";

/** `/dashboard/webhooks/:id?status=&type=&delivery=&after=&before=`. */
export function WebhookRoute() {
  const { webhookId } = useParams({ from: "/shell/webhooks/$webhookId" });
  const search = useSearch({ from: "/shell/webhooks/$webhookId" });
  const navigate = useNavigate();
  const switchMode = useSwitchMode();
  return (
    <WebhookPage
      key={webhookId}
      id={webhookId}
      search={search}
      onSearch={(next) => void navigate({ to: "/webhooks/$webhookId", params: { webhookId }, search: next })}
      onLookIn={(mode) => switchMode(mode, { keepPage: true })}
      onLeave={() => void navigate({ to: "/webhooks", ignoreBlocker: true })}
    />
  );
}
