import type { ApiKey } from "../../../../server/domain/api-types/key.ts";
import { useForm } from "../../hooks/use-form.ts";
import { FormDialog } from "../../ui/dialogs/form-dialog.tsx";
import { Callout } from "../../ui/feedback/callout.tsx";
import { toast } from "../../ui/feedback/toast.ts";
import { KeyUse } from "./key-use.tsx";
import { firstOverlap, overlapSeconds } from "./overlap.ts";
import { OverlapPicker } from "./overlap-picker.tsx";
import { useChangeKey } from "./use-change-key.ts";

/** Changes how long the old key of a rotation stays valid beside the new one. */
export function ChangeOverlap({ apiKey: key, onClose }: { apiKey: ApiKey; onClose: () => void }) {
  const change = useChangeKey(key);
  const form = useForm({
    first: () => firstOverlap(key),
    send: (overlap) =>
      change({ expires_at: new Date(Date.now() + (overlapSeconds(overlap) ?? 0) * 1000).toISOString() }),
    onSent: () => {
      toast("Overlap changed", key.name);
      onClose();
    },
  });
  const seconds = overlapSeconds(form.draft);
  return (
    <FormDialog
      form={{ ...form, isUnsaved: false }}
      onClose={onClose}
      title={`Change the overlap of “${key.name}”`}
      about="Counted from now. Until it ends, both keys work."
      act={seconds === 0 ? "End overlap" : "Change overlap"}
      actKind={seconds === 0 ? "danger" : "primary"}
      ready={seconds !== null}
      failed="The overlap was not changed"
    >
      <OverlapPicker apiKey={key} ownEnd={null} {...form} />
      <Callout tone="info">
        <KeyUse apiKey={key} />
      </Callout>
    </FormDialog>
  );
}
