import { useMutation } from "@tanstack/react-query";
import { useState } from "react";
import type { Webhook } from "../../../../server/wire/webhook.ts";
import { useRefresh } from "../../entities/resource/use-refresh.ts";
import { redeliverAll, webhookApi } from "../../entities/webhook/webhook-api.ts";
import { formatEnd, plural } from "../../lib/format.ts";
import { useNow } from "../../lib/use-now.ts";
import { useWorkspace } from "../../lib/workspace.ts";
import { ChoiceBar } from "../../ui/choice-bar.tsx";
import { ErrorNote } from "../../ui/error-note.tsx";
import { FormDialog } from "../../ui/form-dialog.tsx";
import { toast } from "../../ui/toast.ts";

const choices = [
  { value: "1", label: "1 hour" },
  { value: "24", label: "24 hours" },
  { value: "72", label: "3 days" },
  { value: "168", label: "7 days" },
  { value: "720", label: "30 days" },
] as const;

/** Sends again what failed, after the receiver was mended. */
export function RedeliverSince({ webhook, onClose }: { webhook: Webhook; onClose: () => void }) {
  const at = useWorkspace();
  const now = useNow(false);
  const refresh = useRefresh(webhookApi);
  const [hours, setHours] = useState<(typeof choices)[number]["value"]>("24");
  const since = now - Number(hours) * 3_600_000;
  const sending = useMutation({
    mutationFn: () => redeliverAll(at, webhook.id, new Date(since).toISOString()),
    onSuccess: async ({ deliveries }) => {
      toast(
        deliveries === 0 ? "Nothing had failed" : `${plural(deliveries, "event")} sent again`,
        deliveries === 0 ? "Nothing of that time waits or failed." : undefined,
      );
      await refresh();
      onClose();
    },
  });
  return (
    <FormDialog
      open
      onOpenChange={(open) => !open && onClose()}
      title="Send failed events again"
      about={webhook.url}
      act={sending.isPending ? "Sending" : "Send again"}
      keep="Cancel"
      busy={sending.isPending}
      onSubmit={() => sending.mutate()}
    >
      <div className="flex flex-col gap-1.5">
        <span className="font-medium">Of the last</span>
        <ChoiceBar name="since" label="Of the last" choices={choices} chosen={hours} onChoose={setHours} />
      </div>
      <p>
        All that failed since {formatEnd(since, now)}, and what waits for another attempt, is sent at once, under the
        same ids. What was delivered is not.
      </p>
      <ErrorNote title="Nothing was sent" error={sending.error} />
    </FormDialog>
  );
}
