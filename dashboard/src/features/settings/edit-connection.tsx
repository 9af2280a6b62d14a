import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useRef, useState } from "react";
import type { Connection } from "../../../../server/domain/api-types/console.ts";
import { modelQueries } from "../../entities/model/model-api.ts";
import { changeConnection, connectionsQuery, pricesQuery } from "../../entities/server/server-api.ts";
import { useForm } from "../../hooks/use-form.ts";
import { ApiError } from "../../lib/api.ts";
import { FormDialog } from "../../ui/dialogs/form-dialog.tsx";
import { ConflictNote } from "../../ui/feedback/conflict-note.tsx";
import { toast } from "../../ui/feedback/toast.ts";
import { changedFields, differingFields, draftOf, faultsOf, isOwnServer, toChange } from "./connection-draft.ts";
import { ConnectionFields } from "./connection-fields.tsx";

interface EditConnectionProps {
  connection: Connection;
  onClose: () => void;
}

const isConflict = (error: Error | null): boolean => error instanceof ApiError && error.code === "version_conflict";

/** Changes a stored connection: its address, its key and its limits. Its name stays. */
export function EditConnection({ connection, onClose }: EditConnectionProps) {
  const client = useQueryClient();
  // The list may be refetched meanwhile: the draft stays based on this version.
  const [base, setBase] = useState(connection);
  const expected = useRef(connection.version ?? undefined);
  const { data: list = [] } = useQuery(connectionsQuery);
  const latest = list.find(({ name, source }) => name === base.name && source === "stored");
  const form = useForm({
    first: () => draftOf(base),
    check: faultsOf,
    send: (draft) =>
      changeConnection(base.name, toChange(draft, base, expected.current)).catch(async (error) => {
        // Shows what the other person changed.
        if (isConflict(error)) await client.refetchQueries(connectionsQuery);
        throw error;
      }),
    onSent: async ({ version }) => {
      onClose();
      toast(version === base.version ? "Nothing was changed" : "Connection changed", base.name);
      await Promise.all([connectionsQuery, pricesQuery, modelQueries].map((stale) => client.invalidateQueries(stale)));
    },
  });
  const { draft } = form;
  const hasConflict = isConflict(form.failure) && latest !== undefined;
  return (
    <FormDialog
      form={hasConflict ? { ...form, error: null } : form}
      onClose={onClose}
      title={`Edit connection ${base.name}`}
      about="Running calls end with the old address and key; the next ones use the new ones."
      act="Save changes"
      acting="Saving changes"
      failed="The connection was not changed"
      ready={!hasConflict}
    >
      {hasConflict && (
        <ConflictNote
          title="Someone changed this connection meanwhile"
          theirs={differingFields(base, latest)}
          mine={changedFields(toChange(draft, base))}
          mineAct="Save mine"
          theirsAct="Discard mine"
          busy={form.isPending}
          onMine={() => {
            expected.current = latest.version ?? undefined;
            form.submit();
          }}
          onTheirs={() => {
            expected.current = latest.version ?? undefined;
            setBase(latest);
            form.set(draftOf(latest));
          }}
        />
      )}
      <ConnectionFields
        fields={form}
        keepsKey
        keepsSecret={base.auth !== null}
        keyHint={
          base.has_key && base.auth === null
            ? "Empty: the stored key stays. Keys are never shown again."
            : "The connection has no key."
        }
      />
      {base.has_key && base.auth === null && isOwnServer(base.provider) && (
        <label className="flex items-center gap-2">
          <input
            type="checkbox"
            checked={draft.remove_key}
            onChange={(event) => form.set({ remove_key: event.target.checked })}
          />
          Remove the stored key
        </label>
      )}
    </FormDialog>
  );
}
