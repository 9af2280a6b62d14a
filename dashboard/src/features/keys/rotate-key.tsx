import { useQueryClient } from "@tanstack/react-query";
import type { RotateKey as RotationOrder } from "../../../../server/keys/schema.ts";
import type { ApiKey } from "../../../../server/wire/key.ts";
import { keyApi, type MadeKey, rotateKey } from "../../entities/key/key-api.ts";
import { formatDay } from "../../lib/format.ts";
import { useForm } from "../../lib/use-form.ts";
import { useNow } from "../../lib/use-now.ts";
import { useWorkspace } from "../../lib/workspace.ts";
import { FormDialog } from "../../ui/form-dialog.tsx";
import { Note } from "../../ui/note.tsx";
import { Select } from "../../ui/select.tsx";
import { type ExpiryChoice, expiryOptions, expirySeconds } from "./expiry.ts";
import { KeyUse } from "./key-use.tsx";
import { firstOverlap, type Overlap, overlapSeconds } from "./overlap.ts";
import { OverlapPicker } from "./overlap-picker.tsx";

type NewEnd = "same" | Exclude<ExpiryChoice, "never" | "date">;

/** Swaps a key for another one, with time to bring the new secret to where the old one is. */
export function RotateKey({
  apiKey: key,
  onClose,
  onRotated,
}: {
  apiKey: ApiKey;
  onClose: () => void;
  onRotated: (made: MadeKey) => void;
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
    onSent: (made) => {
      void client.invalidateQueries(keyApi.all(at));
      onRotated(made);
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
      <Note tone="info">
        <KeyUse apiKey={key} /> The same scopes, agents and networks carry over.
      </Note>
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
