import { Dialog as Base } from "@base-ui/react/dialog";
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import type { List } from "../../../../server/domain/api-types/schema.ts";
import type { CatalogItem } from "../../../../server/resources/tools/catalog/schema.ts";
import type { Tool } from "../../../../server/resources/tools/schema.ts";
import { addFromCatalog, catalogQuery, toolApi } from "../../entities/tool/tool-api.ts";
import { useForm } from "../../hooks/use-form.ts";
import { ApiError } from "../../lib/api.ts";
import { serverFieldErrors } from "../../lib/field-errors.ts";
import { plural } from "../../lib/format.ts";
import { useWorkspace } from "../../lib/workspace.ts";
import { DialogFoot, DialogShell } from "../../ui/dialogs/dialog-shell.tsx";
import { FormDialog } from "../../ui/dialogs/form-dialog.tsx";
import { ErrorNote } from "../../ui/feedback/error-note.tsx";
import { toast } from "../../ui/feedback/toast.ts";
import { Button, buttonClass } from "../../ui/forms/button.tsx";
import { Field } from "../../ui/forms/field.tsx";

/** The catalogue of ready tools. An entry without settings is added at once; the others ask for theirs first. */
export function CatalogDialog({ onClose }: { onClose: () => void }) {
  const at = useWorkspace();
  const catalog = useQuery(catalogQuery(at));
  const [chosen, setChosen] = useState<CatalogItem | null>(null);
  const onAdded = useAdded(onClose);
  const adding = useMutation({
    mutationFn: (entry: CatalogItem) => addFromCatalog(at, entry.name, {}),
    onSuccess: ({ data }) => onAdded(data),
  });
  if (chosen) return <SettingsDialog entry={chosen} onAdded={onAdded} onClose={() => setChosen(null)} />;
  return (
    <Base.Root open onOpenChange={(open) => !open && onClose()}>
      <DialogShell wide>
        <Base.Title className="px-5 pt-5 text-lg">Catalogue</Base.Title>
        <Base.Description className="px-5 pt-0.5 text-muted">
          Ready tools. An agent has only those that you attach to it.
        </Base.Description>
        <div className="flex min-h-0 flex-col gap-3 overflow-y-auto px-5 pt-4 pb-5">
          <ErrorNote title="The catalogue cannot be shown" error={catalog.error} />
          <ErrorNote title="The tools were not added" error={adding.error} />
          <ul aria-label="Catalogue" className="flex flex-col">
            {catalog.data?.data.map((entry) => (
              <li
                key={entry.name}
                className="flex flex-wrap items-start gap-x-4 gap-y-2 border-b border-line-soft py-3 first:pt-0 last:border-b-0 last:pb-0"
              >
                <div className="min-w-0 flex-1 basis-60">
                  <h3 className="font-strong">{entry.title}</h3>
                  <p className="text-muted">{entry.description}</p>
                  <p className="pt-0.5 font-mono text-xs text-muted wrap-anywhere">
                    {entry.tools.map(({ name }) => name).join(", ")}
                  </p>
                </div>
                <Button
                  size="sm"
                  disabled={adding.isPending}
                  aria-label={`Add ${entry.title}`}
                  onClick={() => (needsSettings(entry) ? setChosen(entry) : adding.mutate(entry))}
                >
                  Add
                </Button>
              </li>
            ))}
          </ul>
        </div>
        <DialogFoot>
          <Base.Close className={buttonClass()}>Close</Base.Close>
        </DialogFoot>
      </DialogShell>
    </Base.Root>
  );
}

const needsSettings = ({ settings }: CatalogItem): boolean => settings.some(({ default: usual }) => usual === null);

function useAdded(onClose: () => void): (tools: readonly Tool[]) => void {
  const at = useWorkspace();
  const client = useQueryClient();
  return (tools) => {
    toast(`${plural(tools.length, "tool")} added`, tools.map(({ name }) => name).join(", "));
    void client.invalidateQueries(toolApi.all(at));
    onClose();
  };
}

function SettingsDialog({
  entry,
  onAdded,
  onClose,
}: {
  entry: CatalogItem;
  onAdded: (tools: readonly Tool[]) => void;
  onClose: () => void;
}) {
  const at = useWorkspace();
  const form = useForm<Record<string, string>, List<Tool>>({
    first: () => Object.fromEntries([...entry.settings.map(({ name }) => [name, ""]), [prefix, ""]]),
    check: (draft) =>
      Object.fromEntries(
        entry.settings
          .filter(({ name, required }) => required && draft[name]?.trim() === "")
          .map(({ name, title }) => [name, `${title} is missing.`]),
      ),
    blame: (error, draft) =>
      serverFieldErrors(error, draft, (param) => (param.startsWith("settings.") ? param.split(/[.[]/)[1] : param)),
    send: ({ [prefix]: names = "", ...settings }) =>
      addFromCatalog(at, entry.name, {
        settings: Object.fromEntries(Object.entries(settings).filter(([, value]) => value.trim() !== "")),
        ...(names.trim() !== "" && { prefix: names.trim() }),
      }),
    onSent: ({ data }) => onAdded(data),
  });
  const isTaken = form.failure instanceof ApiError && form.failure.code === "name_taken";
  return (
    <FormDialog
      form={form}
      onClose={onClose}
      title={entry.title}
      about={entry.description}
      keep="Back"
      act="Add"
      acting="Adding"
      failed="The tools were not added"
    >
      {entry.settings.map(({ name, title, description, write_only, required, default: usual }) => (
        <Field
          key={name}
          label={required ? title : `${title} (optional)`}
          hint={write_only ? `${description} Or {{secret.NAME}}.` : description}
          {...(usual !== null && { placeholder: usual })}
          {...(write_only && { type: "password", autoComplete: "new-password" })}
          {...(!write_only && { autoComplete: "off", spellCheck: false })}
          {...form.text(name)}
        />
      ))}
      {isTaken && (
        <Field
          label="Prefix of the names"
          placeholder="work-"
          hint="Put before each name, to tell them from those that are there."
          autoComplete="off"
          spellCheck={false}
          {...form.text(prefix)}
        />
      )}
    </FormDialog>
  );
}

const prefix = "prefix";
