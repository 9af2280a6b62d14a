import { useMutation } from "@tanstack/react-query";
import { Pencil, Power, RefreshCw, Send, Trash2 } from "lucide-react";
import type { Webhook } from "../../../../server/domain/api-types/webhook.ts";
import { useRefresh } from "../../entities/crud/use-refresh.ts";
import { testWebhook, type WebhookWithSecret, webhookApi } from "../../entities/webhook/webhook-api.ts";
import { formatEnd } from "../../lib/format.ts";
import { useWorkspace } from "../../lib/workspace.ts";
import { CodeBlock } from "../../ui/data/code-block.tsx";
import { ActionsMenu } from "../../ui/dialogs/actions-menu.tsx";
import { DeleteDialog } from "../../ui/dialogs/delete-dialog.tsx";
import { ConfirmDialog } from "../../ui/dialogs/dialog.tsx";
import { SecretDialog } from "../../ui/dialogs/secret-dialog.tsx";
import { Callout } from "../../ui/feedback/callout.tsx";
import { toast, toastFailure } from "../../ui/feedback/toast.ts";
import { RedeliverSince } from "./redeliver-since.tsx";
import { RotateSecret } from "./rotate-secret.tsx";
import { WebhookForm } from "./webhook-form.tsx";
import { testWords } from "./webhook-words.ts";

/** Open dialog of a webhook. */
export type WebhookAct =
  | { kind: "create" }
  | { kind: "reveal"; made: WebhookWithSecret }
  | { kind: "edit" | "rotate" | "redeliver" | "switch-off" | "delete"; webhook: Webhook };

/**
 * Sends a test event and shows the response. To navigate afterwards, use the callbacks of `mutate`: they do not run
 * after unmount.
 */
export function useTestWebhook() {
  const at = useWorkspace();
  const refresh = useRefresh(webhookApi);
  return useMutation({
    mutationFn: (id: string) => testWebhook(at, id),
    onSuccess: (delivery) => {
      toast(delivery.status === "delivered" ? "Test event delivered" : "Test event failed", testWords(delivery));
      void refresh();
    },
  });
}

/** Enables or disables a webhook. */
export function useSwitchWebhook() {
  const at = useWorkspace();
  const refresh = useRefresh(webhookApi);
  return useMutation({
    mutationFn: ({ id, enabled }: { id: string; enabled: boolean }) => webhookApi.change(at, id, { enabled }),
    onSuccess: async (_, { enabled }) => {
      toast(enabled ? "Webhook enabled" : "Webhook disabled");
      await refresh();
    },
    onError: (error, { enabled }) =>
      toastFailure(`The webhook was not ${enabled ? "enabled" : "disabled"}`, error.message),
  });
}

/** Menu of a webhook's actions. */
export function WebhookMenu({ webhook, onAct }: { webhook: Webhook; onAct: (act: WebhookAct) => void }) {
  const { id, url, enabled } = webhook;
  const { mode } = useWorkspace();
  const switching = useSwitchWebhook();
  const ask = (kind: "edit" | "rotate" | "redeliver" | "switch-off" | "delete") => () => onAct({ kind, webhook });
  // In live mode, disabling loses events, so it asks first.
  const isMissed = enabled && mode === "live";
  return (
    <ActionsMenu
      of={url}
      acts={[
        { icon: Pencil, word: "Edit webhook", onDo: ask("edit") },
        { icon: RefreshCw, word: "Rotate secret", onDo: ask("rotate") },
        { icon: Send, word: "Redeliver failed events", onDo: ask("redeliver") },
        {
          icon: Power,
          word: enabled ? "Disable" : "Enable",
          onDo: isMissed ? ask("switch-off") : () => switching.mutate({ id, enabled: !enabled }),
        },
        { icon: Trash2, word: "Delete webhook", danger: true, onDo: ask("delete") },
      ]}
    />
  );
}

/** Dialog of the chosen action. */
export function WebhookDialogs({
  act,
  onAct,
  onDeleted,
}: {
  act: WebhookAct | null;
  onAct: (act: WebhookAct | null) => void;
  onDeleted?: () => void;
}) {
  const at = useWorkspace();
  const close = () => onAct(null);
  const reveal = (made: WebhookWithSecret) => onAct({ kind: "reveal", made });
  if (!act) return null;
  switch (act.kind) {
    case "create":
      return (
        <WebhookForm
          onClose={close}
          onDone={(savedWebhook) => {
            toast("Webhook created", savedWebhook.url);
            if (savedWebhook.secret) reveal({ ...savedWebhook, secret: savedWebhook.secret });
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
      return (
        <DeleteDialog
          noun="webhook"
          name={new URL(act.webhook.url).host}
          told={act.webhook.url}
          remove={() => webhookApi.remove(at, act.webhook.id)}
          stale={[webhookApi.all(at)]}
          onClose={close}
          onDeleted={onDeleted}
        >
          {act.webhook.url} no longer receives events. Pending deliveries are not sent, and the delivery log is deleted.
          To pause it, disable it instead.
        </DeleteDialog>
      );
  }
}

/** Disables a webhook after explaining that its receiver misses events. */
function SwitchOff({ webhook: { id, url }, onClose }: { webhook: Webhook; onClose: () => void }) {
  const switching = useSwitchWebhook();
  return (
    <ConfirmDialog
      title={`Disable ${new URL(url).host}?`}
      act="Disable"
      acting="Disabling"
      doing={switching}
      onConfirm={() => switching.mutate({ id, enabled: false }, { onSettled: onClose })}
      onClose={onClose}
    >
      Events that happen until you enable it again are not sent to {url}, not even later.
    </ConfirmDialog>
  );
}

/** Shows a webhook's secret once. */
function RevealSecret({ made, onStored }: { made: WebhookWithSecret; onStored: () => void }) {
  const until = made.previous_secret_expires_at;
  return (
    <SecretDialog
      title="Save this secret now"
      about={`${new URL(made.url).host} uses it to verify events from this server. You will not see it again.`}
      secret={made.secret}
      variable="WEBHOOK_SECRET"
      onStored={onStored}
    >
      {until && (
        <Callout tone="info">
          Until {formatEnd(Date.parse(until), Date.now())}, each event is signed with the old secret too. Either
          signature is valid.
        </Callout>
      )}
      <div className="flex min-w-0 flex-col gap-2">
        <p>Verify events with any Standard Webhooks library, for example in TypeScript:</p>
        <CodeBlock
          label="TypeScript code"
          code={`import { Webhook } from "standardwebhooks";

const webhook = new Webhook(process.env.WEBHOOK_SECRET!);
const event = webhook.verify(body, headers); // throws unless this server sent it`}
        />
      </div>
    </SecretDialog>
  );
}
