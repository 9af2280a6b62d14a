import type { Webhook } from "../../../../server/wire/webhook.ts";
import { useRefresh } from "../../entities/resource/use-refresh.ts";
import { redeliverAll, webhookApi } from "../../entities/webhook/webhook-api.ts";
import { formatEnd, plural } from "../../lib/format.ts";
import { useForm } from "../../lib/use-form.ts";
import { useNow } from "../../lib/use-now.ts";
import { useWorkspace } from "../../lib/workspace.ts";
import { ChoiceBar } from "../../ui/choice-bar.tsx";
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
        <ChoiceBar name="since" label="From the last" choices={choices} {...form.choose("hours")} />
      </div>
      <p>
        Events that failed since {formatEnd(sinceOf(form.draft.hours), now)}, and events that wait for another attempt,
        are sent at once with the same ids. Delivered events are not sent again.
      </p>
    </FormDialog>
  );
}
