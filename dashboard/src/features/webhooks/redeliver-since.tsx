import type { Webhook } from "../../../../server/domain/api-types/webhook.ts";
import { useRefresh } from "../../entities/crud/use-refresh.ts";
import { redeliverAll, webhookApi } from "../../entities/webhook/webhook-api.ts";
import { useForm } from "../../hooks/use-form.ts";
import { useNow } from "../../hooks/use-now.ts";
import { formatEnd, plural } from "../../lib/format.ts";
import { useWorkspace } from "../../lib/workspace.ts";
import { FormDialog } from "../../ui/dialogs/form-dialog.tsx";
import { toast } from "../../ui/feedback/toast.ts";
import { SegmentedControl } from "../../ui/forms/segmented-control.tsx";

const choices = [
  { value: "1", label: "1 hour" },
  { value: "24", label: "24 hours" },
  { value: "72", label: "3 days" },
  { value: "168", label: "7 days" },
  { value: "720", label: "30 days" },
] as const;

/** Redelivers failed events, for use after the receiver was repaired. */
export function RedeliverSince({ webhook, onClose }: { webhook: Webhook; onClose: () => void }) {
  const at = useWorkspace();
  const now = useNow(false);
  const refresh = useRefresh(webhookApi);
  const sinceOf = (hours: string) => now - Number(hours) * 3_600_000;
  const form = useForm({
    first: { hours: "24" as (typeof choices)[number]["value"] },
    send: ({ hours }) => redeliverAll(at, webhook.id, new Date(sinceOf(hours)).toISOString()),
    onSent: async ({ deliveries }) => {
      if (deliveries === 0) toast("No failed events", "No event of this period has failed or is waiting.");
      else toast(`${plural(deliveries, "redelivery")} queued`);
      await refresh();
      onClose();
    },
  });
  return (
    <FormDialog
      form={{ ...form, isUnsaved: false }}
      onClose={onClose}
      title="Redeliver failed events"
      about={webhook.url}
      act="Redeliver"
      acting="Redelivering"
      failed="The redelivery was not queued"
    >
      <div className="flex flex-col gap-1.5">
        <span className="font-medium">From the last</span>
        <SegmentedControl name="since" label="From the last" choices={choices} {...form.choose("hours")} />
      </div>
      <p>
        Events that failed since {formatEnd(sinceOf(form.draft.hours), now)}, and events that wait for another attempt,
        are sent at once with the same ids. Delivered events are not sent again.
      </p>
    </FormDialog>
  );
}
