import { useQueryClient } from "@tanstack/react-query";
import type { ApiKey } from "../../../../server/domain/api-types/key.ts";
import type { RotateKey as RotationOrder } from "../../../../server/resources/keys/schema.ts";
import { type KeyWithSecret, keyApi, rotateKey } from "../../entities/key/key-api.ts";
import { useForm } from "../../hooks/use-form.ts";
import { useNow } from "../../hooks/use-now.ts";
import { formatDay } from "../../lib/format.ts";
import { useWorkspace } from "../../lib/workspace.ts";
import { FormDialog } from "../../ui/dialogs/form-dialog.tsx";
import { Callout } from "../../ui/feedback/callout.tsx";
import { Select } from "../../ui/forms/select.tsx";
import { type ExpiryChoice, expiryOptions, expirySeconds } from "./expiry.ts";
import { KeyUse } from "./key-use.tsx";
import { firstOverlap, type Overlap, overlapSeconds } from "./overlap.ts";
import { OverlapPicker } from "./overlap-picker.tsx";

type NewEnd = "same" | Exclude<ExpiryChoice, "never" | "date">;

/** Replaces a key by a new one. During the overlap both work, so that the new secret can be deployed. */
export function RotateKey({
  apiKey: key,
  onClose,
  onRotated,
}: {
  apiKey: ApiKey;
  onClose: () => void;
  onRotated: (newKey: KeyWithSecret) => void;
}) {
  const at = useWorkspace();
  const client = useQueryClient();
  const now = useNow(false);
  const orderOf = ({ newEnd, ...overlap }: Overlap & { newEnd: NewEnd }): RotationOrder => ({
    overlap_seconds: overlapSeconds(overlap) ?? 0,
    ...(newEnd !== "same" && { expires_in_seconds: expirySeconds({ choice: newEnd, date: "" }, now) }),
  });
  const form = useForm({
    first: () => ({ ...firstOverlap(key), newEnd: "same" as NewEnd }),
    send: (draft) => rotateKey(at, key.id, orderOf(draft)),
    onSent: (newKey) => {
      void client.invalidateQueries(keyApi.all(at));
      onRotated(newKey);
    },
  });
  const seconds = overlapSeconds(form.draft);
  const stopsNow = seconds === 0;
  return (
    <FormDialog
      form={{ ...form, isUnsaved: false }}
      onClose={onClose}
      title={`Rotate “${key.name}”`}
      about="You get a new secret now. The old one keeps working during the overlap, so nothing breaks while you deploy."
      act={stopsNow ? "Rotate, stop the old key" : "Rotate key"}
      acting="Rotating key"
      actKind={stopsNow ? "danger" : "primary"}
      ready={seconds !== null}
      failed="The key was not rotated"
      request={{ method: "POST", path: `/v1/api_keys/${key.id}/rotate`, body: orderOf(form.draft) }}
    >
      <OverlapPicker apiKey={key} ownEnd={key.expires_at} {...form} />
      <Callout tone="info">
        <KeyUse apiKey={key} /> The same scopes, agents and networks carry over.
      </Callout>
      <Select<NewEnd>
        label="The new key expires"
        choices={[
          {
            value: "same",
            label: key.expires_at ? `On ${formatDay(key.expires_at)}, like the old one` : "Never, like the old one",
          },
          ...expiryOptions(now).filter(isTimed),
        ]}
        {...form.pick("newEnd")}
      />
    </FormDialog>
  );
}

const isTimed = (option: {
  value: ExpiryChoice;
  label: string;
}): option is { value: "30d" | "90d" | "1y"; label: string } => option.value !== "never" && option.value !== "date";
