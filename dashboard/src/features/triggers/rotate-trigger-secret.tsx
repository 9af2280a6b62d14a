import type { Trigger } from "../../../../server/domain/api-types/trigger.ts";
import { useRefresh } from "../../entities/crud/use-refresh.ts";
import { rotateTriggerSecret, triggerApi } from "../../entities/trigger/trigger-api.ts";
import { useForm } from "../../hooks/use-form.ts";
import { useWorkspace } from "../../lib/workspace.ts";
import { FormDialog } from "../../ui/dialogs/form-dialog.tsx";
import { Field } from "../../ui/forms/field.tsx";
import { SegmentedControl } from "../../ui/forms/segmented-control.tsx";
import { senderNames } from "./trigger-words.tsx";

const choices = [
  { value: "0", label: "Now" },
  { value: "3600", label: "1 hour" },
  { value: "86400", label: "24 hours" },
  { value: "604800", label: "7 days" },
] as const;

/** Sets or rotates a trigger's secret; the old one stays valid for a while. */
export function RotateTriggerSecret({
  trigger,
  onClose,
  onRotated,
}: {
  trigger: Trigger;
  onClose: () => void;
  onRotated: (done: Trigger) => void;
}) {
  const { id, name, verification, has_secret } = trigger;
  const at = useWorkspace();
  const refresh = useRefresh(triggerApi);
  const form = useForm({
    first: { secret: "", overlap: (has_secret ? "86400" : "0") as (typeof choices)[number]["value"] },
    send: ({ secret, overlap }) =>
      rotateTriggerSecret(at, id, { ...(secret.trim() !== "" && { secret }), overlap_seconds: Number(overlap) }),
    onSent: async (done) => {
      await refresh();
      onRotated(done);
    },
  });
  const isSenders = verification === "stripe" || verification === "slack";
  const { secret, overlap } = form.draft;
  return (
    <FormDialog
      form={form}
      onClose={onClose}
      title={has_secret ? "Rotate secret" : "Set secret"}
      about={`Of ${name}. Events are verified with it.`}
      act={has_secret ? "Rotate secret" : "Set secret"}
      acting="Saving secret"
      ready={!isSenders || secret.trim() !== ""}
      failed="The secret was not changed"
      request={{
        method: "POST",
        path: `/v1/triggers/${id}/rotate_secret`,
        body: { ...(secret && { secret: "…" }), overlap_seconds: Number(overlap) },
      }}
    >
      <Field
        label={isSenders ? `Secret of ${senderNames[verification]}` : "Secret (optional)"}
        type="password"
        autoComplete="off"
        maxLength={512}
        hint={isSenders ? `Copy it from ${senderNames[verification]}.` : "Empty: a new one is made and shown once."}
        {...form.text("secret")}
      />
      {has_secret && (
        <div className="flex flex-col gap-1.5">
          <span className="font-medium">The old secret stops</span>
          <SegmentedControl
            name="secret overlap"
            label="The old secret stops"
            choices={choices}
            {...form.choose("overlap")}
          />
        </div>
      )}
    </FormDialog>
  );
}
