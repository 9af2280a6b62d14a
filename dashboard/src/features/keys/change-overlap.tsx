import { useState } from "react";
import type { ApiKey } from "../../../../server/wire/key.ts";
import { ErrorNote } from "../../ui/error-note.tsx";
import { FormDialog } from "../../ui/form-dialog.tsx";
import { Note } from "../../ui/note.tsx";
import { toast } from "../../ui/toast.ts";
import { KeyUse } from "./key-use.tsx";
import { firstOverlap, overlapSeconds } from "./overlap.ts";
import { OverlapPicker } from "./overlap-picker.tsx";
import { useChangeKey } from "./use-change-key.ts";

/** Makes the time in which two keys are good shorter or longer. */
export function ChangeOverlap({ apiKey: key, onClose }: { apiKey: ApiKey; onClose: () => void }) {
  const [overlap, setOverlap] = useState(firstOverlap(key));
  const change = useChangeKey(key, () => {
    toast("Overlap changed", key.name);
    onClose();
  });
  const seconds = overlapSeconds(overlap);
  return (
    <FormDialog
      open
      onOpenChange={(open) => !open && onClose()}
      title={`Change the overlap of “${key.name}”`}
      about="Counted from now. Until its end both keys are good."
      act={seconds === 0 ? "End overlap" : "Change overlap"}
      actKind={seconds === 0 ? "danger" : "primary"}
      keep="Cancel"
      busy={change.isPending || seconds === null}
      onSubmit={() => change.mutate({ expires_at: new Date(Date.now() + (seconds ?? 0) * 1000).toISOString() })}
    >
      <OverlapPicker apiKey={key} overlap={overlap} ownEnd={null} onChange={setOverlap} />
      <Note tone="info">
        <KeyUse apiKey={key} />
      </Note>
      {change.error && <ErrorNote title="The overlap was not changed" error={change.error} />}
    </FormDialog>
  );
}
