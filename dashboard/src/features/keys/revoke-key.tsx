import { useMutation, useQueryClient } from "@tanstack/react-query";
import { type FormEvent, useState } from "react";
import type { ApiKey } from "../../../../server/wire/key.ts";
import { keyApi } from "../../entities/key/key-api.ts";
import { plural } from "../../lib/format.ts";
import { useWorkspace } from "../../lib/workspace.ts";
import { ConfirmDialog } from "../../ui/dialog.tsx";
import { ErrorNote } from "../../ui/error-note.tsx";
import { Field } from "../../ui/field.tsx";
import { Note } from "../../ui/note.tsx";
import { toast } from "../../ui/toast.ts";
import { KeyUse } from "./key-use.tsx";

/** Ends a key for good, after saying what that breaks. In live its name is typed. */
export function RevokeKey({
  apiKey: key,
  made,
  onClose,
  onRotate,
}: {
  apiKey: ApiKey;
  /** How many usable keys were made with it. */
  made: number;
  onClose: () => void;
  /** Absent where the key cannot be rotated. */
  onRotate?: () => void;
}) {
  const at = useWorkspace();
  const client = useQueryClient();
  const [typed, setTyped] = useState("");
  const revocation = useMutation({
    mutationFn: () => keyApi.remove(at, key.id),
    onSuccess: async () => {
      await client.invalidateQueries(keyApi.all(at));
      toast("Key revoked", key.name);
      onClose();
    },
  });
  const isSure = (at.mode === "test" || typed.trim() === key.name.trim()) && !revocation.isPending;
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (isSure) revocation.mutate();
  };
  return (
    <ConfirmDialog
      open
      onOpenChange={(open) => !open && onClose()}
      title={`Revoke “${key.name}”?`}
      act={revocation.isPending ? "Revoking key" : "Revoke key"}
      keep="Cancel"
      busy={!isSure}
      onConfirm={() => revocation.mutate()}
    >
      <form onSubmit={submit} className="flex flex-col gap-4">
        <p>
          Its next request gets 401, and its open streams close within a second. This cannot be undone. Runs that it
          started go on.
        </p>
        <Note tone={key.last_used_at ? "bad" : "info"}>
          <KeyUse apiKey={key} />
          {made > 0 && ` ${plural(made, "key")} that it made ${made === 1 ? "goes" : "go"} on working.`}
          {key.last_used_at && onRotate && (
            <>
              {" "}
              <button type="button" className="text-accent underline" onClick={onRotate}>
                Rotate instead
              </button>{" "}
              to swap it without an outage.
            </>
          )}
        </Note>
        {at.mode === "live" && (
          <Field
            label={`Type ${key.name} to go on`}
            value={typed}
            onChange={(event) => setTyped(event.target.value)}
            autoComplete="off"
            spellCheck={false}
          />
        )}
        {revocation.error && <ErrorNote title="The key was not revoked" error={revocation.error} />}
      </form>
    </ConfirmDialog>
  );
}
