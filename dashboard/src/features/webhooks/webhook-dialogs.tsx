import type { Webhook } from "../../../../server/wire/webhook.ts";
import { type MadeWebhook, webhookApi } from "../../entities/webhook/webhook-api.ts";
import { useWorkspace } from "../../lib/workspace.ts";
import { DeleteDialog } from "../../ui/delete-dialog.tsx";
import { toast } from "../../ui/toast.ts";
import { RedeliverSince } from "./redeliver-since.tsx";
import { RevealSecret } from "./reveal-secret.tsx";
import { RotateSecret } from "./rotate-secret.tsx";
import { SwitchOff } from "./switch-off.tsx";
import type { WebhookAct } from "./webhook-acts.ts";
import { WebhookForm } from "./webhook-form.tsx";

/** The dialog of what is being done to a webhook. */
export function WebhookDialogs({
  act,
  onAct,
  onDeleted,
}: {
  act: WebhookAct | null;
  onAct: (act: WebhookAct | null) => void;
  onDeleted?: () => void;
}) {
  const close = () => onAct(null);
  const reveal = (made: MadeWebhook) => onAct({ kind: "reveal", made });
  if (!act) return null;
  switch (act.kind) {
    case "create":
      return (
        <WebhookForm
          onClose={close}
          onDone={(done) => {
            toast("Webhook created", done.url);
            if (done.secret) reveal({ ...done, secret: done.secret });
          }}
        />
      );
    case "reveal":
      return <RevealSecret made={act.made} onStored={close} />;
    case "edit":
      return (
        <WebhookForm
          webhook={act.webhook}
          onClose={close}
          onDone={(done) => {
            toast("Webhook saved", done.url);
            close();
          }}
        />
      );
    case "rotate":
      return <RotateSecret webhook={act.webhook} onClose={close} onRotated={reveal} />;
    case "redeliver":
      return <RedeliverSince webhook={act.webhook} onClose={close} />;
    case "switch-off":
      return <SwitchOff webhook={act.webhook} onClose={close} />;
    case "delete":
      return <DeleteWebhook webhook={act.webhook} onClose={close} onDeleted={onDeleted} />;
  }
}

function DeleteWebhook({
  webhook,
  onClose,
  onDeleted,
}: {
  webhook: Webhook;
  onClose: () => void;
  onDeleted?: () => void;
}) {
  const at = useWorkspace();
  return (
    <DeleteDialog
      noun="webhook"
      name={new URL(webhook.url).host}
      told={webhook.url}
      remove={() => webhookApi.remove(at, webhook.id)}
      stale={[webhookApi.all(at)]}
      onClose={onClose}
      onDeleted={onDeleted}
    >
      <p className="wrap-anywhere">
        {webhook.url} hears nothing more: what waits for another attempt is not sent, and the log of its deliveries goes
        with it. To pause it, switch it off instead.
      </p>
    </DeleteDialog>
  );
}
