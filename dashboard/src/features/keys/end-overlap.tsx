import type { ApiKey } from "../../../../server/wire/key.ts";
import { ConfirmDialog } from "../../ui/dialog.tsx";
import { ErrorNote } from "../../ui/error-note.tsx";
import { toast } from "../../ui/toast.ts";
import { KeyUse } from "./key-use.tsx";
import { useChangeKey } from "./use-change-key.ts";

/** Ends a rotation early, after saying who still uses the old key. */
export function EndOverlap({
  apiKey: key,
  successor,
  onClose,
}: {
  apiKey: ApiKey;
  successor: ApiKey | undefined;
  onClose: () => void;
}) {
  const change = useChangeKey(key, () => {
    toast("Overlap ended", successor ? `Only …${successor.last4} works now.` : `…${key.last4} works no more.`);
    onClose();
  });
  return (
    <ConfirmDialog
      open
      onOpenChange={(open) => !open && onClose()}
      title="End the overlap now?"
      act={change.isPending ? "Ending overlap" : "End overlap"}
      keep="Keep both"
      busy={change.isPending}
      onConfirm={() => change.mutate({ expires_at: new Date().toISOString() })}
    >
      <p>
        The old secret <code>…{key.last4}</code> of “{key.name}” stops on its next request. <KeyUse apiKey={key} />
        {key.last_used_at && " That caller gets 401 until it has the new secret."}
      </p>
      {successor && (
        <p className="mt-2">
          {successor.last_used_at ? (
            <>
              The new one <code>…{successor.last4}</code> is in use already.
            </>
          ) : (
            <>
              The new one <code>…{successor.last4}</code> was <b>never used yet</b>.
            </>
          )}
        </p>
      )}
      {change.error && (
        <div className="mt-3">
          <ErrorNote title="The overlap did not end" error={change.error} />
        </div>
      )}
    </ConfirmDialog>
  );
}
