import { useQueryClient } from "@tanstack/react-query";
import type { ApiKey } from "../../../../server/domain/api-types/key.ts";
import { type KeyWithSecret, keyApi } from "../../entities/key/key-api.ts";
import { useForm } from "../../hooks/use-form.ts";
import { plural } from "../../lib/format.ts";
import { useWorkspace } from "../../lib/workspace.ts";
import { ActionDialog } from "../../ui/dialogs/action-dialog.tsx";
import { FormDialog } from "../../ui/dialogs/form-dialog.tsx";
import { Callout } from "../../ui/feedback/callout.tsx";
import { toast } from "../../ui/feedback/toast.ts";
import { CreateKey } from "./create-key.tsx";
import { KeyDetails } from "./key-details.tsx";
import { isUsable, keyState } from "./key-state.ts";
import { KeyUse } from "./key-use.tsx";
import { firstOverlap, overlapSeconds } from "./overlap.ts";
import { OverlapPicker } from "./overlap-picker.tsx";
import { RevealKey } from "./reveal-key.tsx";
import { RotateKey } from "./rotate-key.tsx";
import { useChangeKey } from "./use-change-key.ts";
import type { KeyAction } from "./use-key-acts.ts";

/** The dialog of the current action on a key. After a creation or rotation, shows the new secret. */
export function KeyDialogs({
  act,
  keys,
  mayChange,
  onAct,
}: {
  act: KeyAction | null;
  keys: readonly ApiKey[];
  mayChange: boolean;
  onAct: (act: KeyAction | null) => void;
}) {
  const at = useWorkspace();
  const client = useQueryClient();
  const close = () => onAct(null);
  const reveal = (made: KeyWithSecret) => onAct({ kind: "reveal", made });
  if (!act) return null;
  if (act.kind === "create") return <CreateKey key={at.mode} onClose={close} onCreated={reveal} />;
  if (act.kind === "reveal") {
    const stored = () => {
      toast(act.made.previous ? "Key rotated" : "Key created", act.made.name);
      void client.invalidateQueries(keyApi.all(at)); // The key may have been used meanwhile.
      close();
    };
    return <RevealKey made={act.made} onStored={stored} />;
  }
  // Take the key from the list, so that the dialog shows its latest state, above all its last use.
  const key = keys.find(({ id }) => id === act.key.id) ?? act.key;
  switch (act.kind) {
    case "details":
      return <KeyDetails apiKey={key} mayChange={mayChange} onClose={close} />;
    case "rotate":
      return <RotateKey apiKey={key} onClose={close} onRotated={reveal} />;
    case "overlap":
      return <ChangeOverlap apiKey={key} onClose={close} />;
    case "end":
      return <EndOverlap apiKey={key} successor={keys.find(({ id }) => id === key.rotated_to)} onClose={close} />;
    case "revoke": {
      const made = keys.filter((other) => other.created_by === key.id && isUsable(other, Date.now())).length;
      const canRotate = ["active", "exposed"].includes(keyState(key, Date.now()));
      return (
        <RevokeKey
          apiKey={key}
          made={made}
          onClose={close}
          onRotate={canRotate ? () => onAct({ kind: "rotate", key }) : undefined}
        />
      );
    }
  }
}

/** Ends a rotation early, after showing the last use of the old key. */
function EndOverlap({
  apiKey: key,
  successor,
  onClose,
}: {
  apiKey: ApiKey;
  successor: ApiKey | undefined;
  onClose: () => void;
}) {
  const change = useChangeKey(key);
  return (
    <ActionDialog
      title="End the overlap now?"
      act="End overlap"
      acting="Ending overlap"
      refused="The overlap did not end"
      run={() => change({ expires_at: new Date().toISOString() })}
      onClose={onClose}
      onDone={() =>
        toast("Overlap ended", successor ? `Only …${successor.last4} works now.` : `…${key.last4} no longer works.`)
      }
    >
      <p>
        The old secret <code>…{key.last4}</code> of “{key.name}” stops on its next request. <KeyUse apiKey={key} />
        {key.last_used_at && " That caller gets 401 until it has the new secret."}
      </p>
      {successor && (
        <p className="mt-2">
          The new one <code>…{successor.last4}</code>{" "}
          {successor.last_used_at ? (
            "is in use already."
          ) : (
            <>
              was <b>never used yet</b>.
            </>
          )}
        </p>
      )}
    </ActionDialog>
  );
}

/** Revokes a key, after showing what that breaks. In live mode its name must be typed. */
function RevokeKey({
  apiKey: key,
  made,
  onClose,
  onRotate,
}: {
  apiKey: ApiKey;
  /** Number of usable keys that were created with it. */
  made: number;
  onClose: () => void;
  /** Absent if the key cannot be rotated. */
  onRotate?: () => void;
}) {
  const at = useWorkspace();
  return (
    <ActionDialog
      title={`Revoke “${key.name}”?`}
      act="Revoke key"
      acting="Revoking key"
      typed={at.mode === "live" ? key.name : undefined}
      refused="The key was not revoked"
      run={() => keyApi.remove(at, key.id)}
      stale={[keyApi.all(at)]}
      onClose={onClose}
      onDone={() => toast("Key revoked", key.name)}
    >
      <p className="mb-4">
        Its next request gets 401, and its open streams close within a second. This cannot be undone. Runs that it
        started continue.
      </p>
      <Callout tone={key.last_used_at ? "bad" : "info"}>
        <KeyUse apiKey={key} />
        {made > 0 && ` ${plural(made, "key")} that it created ${made === 1 ? "continues" : "continue"} to work.`}
        {key.last_used_at && onRotate && (
          <>
            {" "}
            <button type="button" className="text-accent underline" onClick={onRotate}>
              Rotate instead
            </button>{" "}
            to swap it without an outage.
          </>
        )}
      </Callout>
    </ActionDialog>
  );
}

/** Changes how long the old key of a rotation stays valid beside the new one. */
function ChangeOverlap({ apiKey: key, onClose }: { apiKey: ApiKey; onClose: () => void }) {
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
