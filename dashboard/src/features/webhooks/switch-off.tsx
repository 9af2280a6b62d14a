import type { Webhook } from "../../../../server/wire/webhook.ts";
import { ConfirmDialog } from "../../ui/dialog.tsx";
import { useSwitchWebhook } from "./webhook-acts.ts";

/** Switches a webhook off, after saying what its receiver never hears of. */
export function SwitchOff({ webhook, onClose }: { webhook: Webhook; onClose: () => void }) {
  const switching = useSwitchWebhook();
  return (
    <ConfirmDialog
      open
      onOpenChange={(open) => !open && onClose()}
      title={`Switch off ${new URL(webhook.url).host}?`}
      act={switching.isPending ? "Switching off" : "Switch off"}
      keep="Keep it on"
      busy={switching.isPending}
      onConfirm={() => switching.mutate({ id: webhook.id, enabled: false }, { onSettled: onClose })}
    >
      <p className="wrap-anywhere">
        {webhook.url} never hears of what happens until somebody switches it on again: those events are not kept for it.
      </p>
    </ConfirmDialog>
  );
}
