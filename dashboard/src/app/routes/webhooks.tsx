import { useNavigate, useSearch } from "@tanstack/react-router";
import { WebhooksPage } from "../../features/webhooks/webhooks-page.tsx";

/** `/dashboard/webhooks?after=&before=`. */
export function WebhooksRoute() {
  const search = useSearch({ from: "/shell/webhooks" });
  const navigate = useNavigate();
  return (
    <WebhooksPage
      search={search}
      onSearch={(next) => void navigate({ to: "/webhooks", search: next })}
      onOpen={(webhookId, delivery) =>
        void navigate({ to: "/webhooks/$webhookId", params: { webhookId }, search: { delivery } })
      }
    />
  );
}
