import type { Webhook } from "../../../../server/domain/api-types/webhook.ts";
import { useRefresh } from "../../entities/crud/use-refresh.ts";
import { rotateSecret, type WebhookWithSecret, webhookApi } from "../../entities/webhook/webhook-api.ts";
import { useForm } from "../../hooks/use-form.ts";
import { useNow } from "../../hooks/use-now.ts";
import { formatEnd } from "../../lib/format.ts";
import { useWorkspace } from "../../lib/workspace.ts";
import { FormDialog } from "../../ui/dialogs/form-dialog.tsx";
import { SegmentedControl } from "../../ui/forms/segmented-control.tsx";

const choices = [
  { value: "0", label: "Now" },
  { value: "3600", label: "1 hour" },
  { value: "86400", label: "24 hours" },
  { value: "259200", label: "3 days" },
  { value: "604800", label: "7 days" },
] as const;

/** Rotates a webhook's secret; the old one stays valid for a while. */
export function RotateSecret({
  webhook,
  onClose,
  onRotated,
}: {
  webhook: Webhook;
  onClose: () => void;
  onRotated: (made: WebhookWithSecret) => void;
}) {
  const at = useWorkspace();
  const now = useNow();
  const refresh = useRefresh(webhookApi);
  const form = useForm({
    first: { overlap: "86400" as (typeof choices)[number]["value"] },
    send: ({ overlap }) => rotateSecret(at, webhook.id, Number(overlap)),
    onSent: async (made) => {
      await refresh();
      onRotated(made);
    },
  });
  const seconds = Number(form.draft.overlap);
  return (
    <FormDialog
      form={{ ...form, isUnsaved: false }}
      onClose={onClose}
      title="Rotate secret"
      about={`Of ${webhook.url}. Until the overlap ends, each event is signed with both secrets.`}
      act={seconds === 0 ? "Rotate, stop the old secret" : "Rotate secret"}
      acting="Rotating secret"
      actKind={seconds === 0 ? "danger" : "primary"}
      failed="The secret was not rotated"
      request={{
        method: "POST",
        path: `/v1/webhooks/${webhook.id}/rotate_secret`,
        body: { overlap_seconds: seconds },
      }}
    >
      <div className="flex flex-col gap-1.5">
        <span className="font-medium">The old secret stops signing</span>
        <SegmentedControl
          name="secret overlap"
          label="The old secret stops signing"
          choices={choices}
          {...form.choose("overlap")}
        />
      </div>
      <p aria-live="polite">
        {seconds === 0
          ? "From the next event on only the new secret signs. A receiver that only has the old secret will reject events."
          : `The old secret signs until ${formatEnd(now + seconds * 1000, now)}.`}
        {webhook.previous_secret_expires_at && " The one before it stops at once."}
      </p>
    </FormDialog>
  );
}
