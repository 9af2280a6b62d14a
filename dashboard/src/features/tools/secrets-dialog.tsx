import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { usePermission } from "../../entities/session/use-may.ts";
import { secretApi, setSecret } from "../../entities/tool/tool-api.ts";
import { useForm } from "../../hooks/use-form.ts";
import { matchesQuery } from "../../lib/matches-query.ts";
import { useWorkspace } from "../../lib/workspace.ts";
import { Time } from "../../ui/data/time.tsx";
import { FormDialog } from "../../ui/dialogs/form-dialog.tsx";
import { ErrorNote } from "../../ui/feedback/error-note.tsx";
import { toast } from "../../ui/feedback/toast.ts";
import { Button } from "../../ui/forms/button.tsx";
import { Field } from "../../ui/forms/field.tsx";
import { SearchField } from "../../ui/forms/search-field.tsx";

const searchFrom = 8;

/** Names of secrets, with setting and deleting. Values are never shown. */
export function SecretsDialog({ onClose }: { onClose: () => void }) {
  const at = useWorkspace();
  const may = usePermission("member");
  const client = useQueryClient();
  const secrets = useQuery({ ...secretApi.every(at), refetchOnMount: "always" });
  const changed = () => void client.invalidateQueries(secretApi.all(at));
  const form = useForm({
    first: { name: "", value: "" },
    check: ({ name, value }) => ({
      name: /^[A-Za-z_]\w{0,63}$/.test(name.trim()) ? null : "A letter or _ first, then letters, digits and _.",
      value: value === "" ? "Enter a value." : null,
    }),
    send: ({ name, value }) => setSecret(at, name.trim(), value),
    onSent: (_, { name }) => {
      toast("Secret set", name.trim());
      form.restart();
      changed();
    },
  });
  const deletion = useMutation({
    mutationFn: (secretName: string) => secretApi.remove(at, secretName),
    onSuccess: (_, gone) => toast("Secret deleted", gone),
    onSettled: changed,
  });
  const [q, setQ] = useState("");
  const shown = secrets.data?.filter(({ name }) => matchesQuery(name, q));
  const isThere = secrets.data?.some((secret) => secret.name === form.draft.name.trim());
  return (
    <FormDialog
      form={form}
      onClose={onClose}
      title="Secrets"
      keep="Close"
      about="Use them in tool headers as {{secret.NAME}}. Values cannot be shown again."
      act={isThere ? "Replace value" : "Set secret"}
      acting="Setting secret"
      ready={may}
      failed="The secret was not set"
    >
      {may && (
        <div className="grid gap-4 rail:grid-cols-2">
          <Field label="Name" placeholder="CRM_KEY" autoComplete="off" spellCheck={false} {...form.text("name")} />
          <Field label="Value" type="password" autoComplete="new-password" {...form.text("value")} />
        </div>
      )}
      <ErrorNote title="The secrets cannot be shown" error={secrets.error} />
      {secrets.data && secrets.data.length >= searchFrom && (
        <SearchField label="Search secrets by name" placeholder="Name" value={q} onSearch={setQ} />
      )}
      {secrets.data?.length === 0 && <p className="text-muted">No secrets yet.</p>}
      {secrets.data && secrets.data.length > 0 && (
        <ul aria-label="Secrets" className="max-h-60 overflow-y-auto rounded-md border border-line">
          {shown?.length === 0 && <li className="px-3 py-2 text-muted">No results.</li>}
          {shown?.map((secret) => (
            <li
              key={secret.name}
              className="flex min-h-9 items-center gap-3 border-b border-line-soft px-3 py-1 last:border-b-0"
            >
              <code className="min-w-0 flex-1 wrap-anywhere">{secret.name}</code>
              <span className="text-xs text-muted">
                <Time at={secret.updated_at} />
              </span>
              {may && (
                <ConfirmedDelete
                  name={secret.name}
                  busy={deletion.isPending}
                  onDelete={() => deletion.mutate(secret.name)}
                />
              )}
            </li>
          ))}
        </ul>
      )}
    </FormDialog>
  );
}

/** Confirms by a second click, because a dialog on top of a dialog would be too much. */
function ConfirmedDelete({ name, busy, onDelete }: { name: string; busy: boolean; onDelete: () => void }) {
  const [sure, setSure] = useState(false);
  return (
    <Button
      kind={sure ? "danger" : "ghost"}
      size="sm"
      disabled={busy}
      aria-label={sure ? undefined : `Delete ${name}`}
      onBlur={() => setSure(false)}
      onClick={() => (sure ? onDelete() : setSure(true))}
    >
      {sure ? "Calls that name it fail: delete" : "Delete"}
    </Button>
  );
}
