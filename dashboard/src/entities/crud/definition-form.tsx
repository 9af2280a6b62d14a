import { useMutation, useQueryClient } from "@tanstack/react-query";
import type { ReactNode } from "react";
import { useDraft } from "../../hooks/use-draft.ts";
import { type Fields, fieldsOf } from "../../hooks/use-form.ts";
import type { FieldErrors } from "../../lib/field-errors.ts";
import { useWorkspace } from "../../lib/workspace.ts";
import { SheetForm, SheetFormActs } from "../../ui/dialogs/sheet-form.tsx";
import { ConflictNote } from "../../ui/feedback/conflict-note.tsx";
import { ErrorNote } from "../../ui/feedback/error-note.tsx";
import { toast } from "../../ui/feedback/toast.ts";
import { Button } from "../../ui/forms/button.tsx";
import { usePermission } from "../session/use-may.ts";
import type { resource, WorkspaceKey } from "./resource.ts";

type Changes = Record<string, unknown>;

/** Configuration of a definition form for one resource type. */
export interface DefinitionKind<Thing extends { id: string; name: string }, Draft extends object> {
  /** Singular name: “Agent”. */
  noun: string;
  api: Pick<ReturnType<typeof resource<Thing>>, "one" | "of" | "all">;
  draftOf: (thing: Thing) => Draft;
  changesOf: (draft: Draft, base: Thing) => Changes;
  /** Returns errors of fields that cannot be parsed. */
  faultsOf: (draft: Draft, thing: Thing) => FieldErrors<Draft>;
  /** Assigns a validation error to the form's fields. */
  assignErrors: (error: Error | null, draft: Draft) => { faults: FieldErrors<Draft>; rest: string[] };
  /** Saves changes to `from`, the version that was read. */
  save: (at: WorkspaceKey, from: Thing, changes: Changes) => Promise<Thing>;
  /** Returns the newer version if the save failed with a conflict, otherwise null. */
  newerOf: (at: WorkspaceKey, error: Error, id: string) => Promise<Thing | null>;
  isNewer: (thing: Thing, base: Thing) => boolean;
  /** Names the changed fields. */
  fieldLabels: (changes: Changes) => string[];
  /** Returns the API request that saves the changes. */
  request: (base: Thing, changes: Changes) => { path: string; body: object };
  messages: {
    act: (base: Thing) => string;
    saved: (thing: Thing) => string;
    state: (mine: readonly string[], isFaulty: boolean) => string;
    conflict: (newer: Thing, base: Thing) => { title: string; mineAct: string; theirsAct: string };
  };
}

/** Form that shows and edits an object. On a conflict with another person's save it asks which version to keep. */
export function DefinitionForm<Thing extends { id: string; name: string }, Draft extends object>({
  kind,
  thing,
  above,
  children,
}: {
  kind: DefinitionKind<Thing, Draft>;
  thing: Thing;
  above?: ReactNode;
  children: (fields: Fields<Draft>) => ReactNode;
}) {
  const { api, messages } = kind;
  const at = useWorkspace();
  const client = useQueryClient();
  const may = usePermission("member");
  const edited = useDraft(thing, kind.draftOf, kind.changesOf);
  const { base, draft, changes, isDirty, newer, reset } = edited;
  const save = useMutation({
    mutationFn: ({ from, said }: { from: Thing; said: Changes }) => kind.save(at, from, said),
    onSuccess: (saved) => {
      client.setQueryData(api.one(at, saved.id).queryKey, saved);
      reset(saved);
      toast(`${kind.noun} saved`, messages.saved(saved));
      void client.invalidateQueries(api.of(at, saved.id));
      void client.invalidateQueries(api.all(at));
    },
    onError: async (error) => edited.setNewer(await kind.newerOf(at, error, thing.id)),
  });
  const serverErrors = kind.assignErrors(save.error, draft);
  const found = kind.faultsOf(draft, base);
  const faults: FieldErrors<Draft> = { ...serverErrors.faults, ...(edited.hasTriedToSave ? found : {}) };
  const isPlaced = serverErrors.rest.length === 0 && Object.keys(serverErrors.faults).length > 0;
  const submit = () => {
    edited.setTried(true);
    if (Object.keys(found).length > 0) return false;
    if (isDirty && !save.isPending) save.mutate({ from: base, said: changes });
    return true;
  };
  const begin = (saved: Thing) => {
    save.reset();
    reset(saved);
  };
  const set = (change: Partial<Draft>) => {
    edited.edit(change);
    if (save.isError && !newer) save.reset();
  };
  // Another person may have saved: show the new values unless this form has unsaved changes.
  if (kind.isNewer(thing, base) && !isDirty && !save.isPending) reset(thing);
  return (
    <SheetForm
      legend={`Definition of ${base.name}`}
      disabled={!may}
      form={{ ...save, isUnsaved: isDirty && !save.isPending, failure: save.error, submit }}
      above={above}
      request={{ method: "PATCH", ...kind.request(base, changes) }}
      foot={may && (isDirty || save.error) ? foot() : null}
    >
      {children(fieldsOf(draft, faults, set))}
    </SheetForm>
  );

  function foot() {
    const mine = kind.fieldLabels(changes);
    if (newer)
      return (
        <ConflictNote
          {...messages.conflict(newer, base)}
          theirs={kind.fieldLabels(kind.changesOf(kind.draftOf(newer), base))}
          mine={mine}
          busy={save.isPending}
          onMine={() => save.mutate({ from: newer, said: edited.rebase(newer) })}
          onTheirs={() => {
            client.setQueryData(api.one(at, newer.id).queryKey, newer);
            begin(newer);
          }}
        />
      );
    return (
      <>
        {save.error && !isPlaced && <ErrorNote title="Not saved" error={save.error} />}
        <SheetFormActs>
          <Button type="submit" kind="primary" disabled={!isDirty || save.isPending}>
            {save.isPending ? "Saving" : messages.act(base)}
          </Button>
          <Button kind="ghost" onClick={() => begin(base)}>
            Discard
          </Button>
          <span className="text-xs text-muted" role="status">
            {messages.state(mine, Object.keys(faults).length > 0)}
          </span>
        </SheetFormActs>
      </>
    );
  }
}
