import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import type { RotateKey as RotationOrder } from "../../../../server/keys/schema.ts";
import type { ApiKey } from "../../../../server/wire/key.ts";
import { keyApi, type MadeKey, rotateKey } from "../../entities/key/key-api.ts";
import { formatDay } from "../../lib/format.ts";
import { useNow } from "../../lib/use-now.ts";
import { useWorkspace } from "../../lib/workspace.ts";
import { ErrorNote } from "../../ui/error-note.tsx";
import { FormDialog } from "../../ui/form-dialog.tsx";
import { Note } from "../../ui/note.tsx";
import { Select } from "../../ui/select.tsx";
import { FoldedCode } from "../../ui/show-code.tsx";
import { type ExpiryChoice, expiryOptions, expirySeconds } from "./expiry.ts";
import { KeyUse } from "./key-use.tsx";
import { firstOverlap, overlapSeconds } from "./overlap.ts";
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
  const [overlap, setOverlap] = useState(firstOverlap(key));
  const [newEnd, setNewEnd] = useState<NewEnd>("same");
  const rotation = useMutation({
    mutationFn: (order: RotationOrder) => rotateKey(at, key.id, order),
    onSuccess: (made) => {
      void client.invalidateQueries(keyApi.all(at));
      onRotated(made);
    },
  });
  const seconds = overlapSeconds(overlap);
  const order: RotationOrder = {
    overlap_seconds: seconds ?? 0,
    ...(newEnd !== "same" && { expires_in_seconds: expirySeconds({ choice: newEnd, date: "" }, now) }),
  };
  const stopsNow = seconds === 0;
  return (
    <FormDialog
      open
      onOpenChange={(open) => !open && onClose()}
      title={`Rotate “${key.name}”`}
      about="You get a new secret now. The old one keeps working for the overlap, so nothing breaks while you deploy."
      act={rotation.isPending ? "Rotating key" : stopsNow ? "Rotate, stop the old key" : "Rotate key"}
      actKind={stopsNow ? "danger" : "primary"}
      keep="Cancel"
      busy={rotation.isPending || seconds === null}
      onSubmit={() => rotation.mutate(order)}
    >
      <OverlapPicker apiKey={key} overlap={overlap} ownEnd={key.expires_at} onChange={setOverlap} />
      <Note tone="info">
        <KeyUse apiKey={key} /> The same scopes, agents and networks carry over.
      </Note>
      <Select<NewEnd>
        label="The new key expires"
        value={newEnd}
        choices={[
          {
            value: "same",
            label: key.expires_at ? `On ${formatDay(key.expires_at)}, like the old one` : "Never, like the old one",
          },
          ...expiryOptions(now).filter(isTimed),
        ]}
        onChoose={setNewEnd}
      />
      <FoldedCode name="rotate key" request={{ method: "POST", path: `/v1/api_keys/${key.id}/rotate`, body: order }} />
      {rotation.error && <ErrorNote title="The key was not rotated" error={rotation.error} />}
    </FormDialog>
  );
}

const isTimed = (option: {
  value: ExpiryChoice;
  label: string;
}): option is { value: "30d" | "90d" | "1y"; label: string } => option.value !== "never" && option.value !== "date";
