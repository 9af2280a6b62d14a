import { useMutation, useQueryClient } from "@tanstack/react-query";
import { type FormEvent, useState } from "react";
import { limits } from "../../../../server/core/limits.ts";
import type { Memory as Store } from "../../../../server/wire/memory.ts";
import { storeApi } from "../../entities/memory/memory-api.ts";
import { useMay } from "../../entities/session/use-may.ts";
import { ApiError } from "../../lib/api.ts";
import { formatCount } from "../../lib/format.ts";
import { useEdited } from "../../lib/use-edited.ts";
import { useUnsaved } from "../../lib/use-unsaved.ts";
import { useWorkspace } from "../../lib/workspace.ts";
import { Button } from "../../ui/button.tsx";
import { ConflictNote } from "../../ui/conflict-note.tsx";
import { DeleteDialog } from "../../ui/delete-dialog.tsx";
import { ErrorNote } from "../../ui/error-note.tsx";
import { Field } from "../../ui/field.tsx";
import { FormSection } from "../../ui/form-section.tsx";
import { Note } from "../../ui/note.tsx";
import { Progress } from "../../ui/progress.tsx";
import { SuggestField } from "../../ui/suggest-field.tsx";
import { toast } from "../../ui/toast.ts";
import { basicsChanges, basicsOf, basicsWords } from "./basics.ts";
import { embeddingDraft } from "./embedding-draft.ts";
import { embeddingModels } from "./embedding-models.ts";
import { embeddingWords, lifetimeWords, readSeconds, sizeWords } from "./memory-words.ts";

/** Name, lifetime and embedding of a store, and its end. */
export function StoreSettings({ store, onDeleted }: { store: Store; onDeleted: () => void }) {
  const may = useMay("member");
  return (
    <div className="relative min-h-0 flex-1 overflow-y-auto px-4 rail:px-5">
      <fieldset disabled={!may} className="min-w-0 max-w-280">
        <legend className="sr-only">Settings of {store.name}</legend>
        <FormSection title="Store" about="What does not expire is kept for ever.">
          <BasicsForm store={store} />
        </FormSection>
        {store.kind === "vector" && (
          <FormSection
            title="Embedding"
            about="What makes vectors of text. Another one indexes the store anew; until that is done, searches go on with this one."
          >
            <EmbeddingForm store={store} />
          </FormSection>
        )}
        {may && (
          <FormSection title="Delete" about="The store is gone at once, with all that it holds.">
            <DeleteStore store={store} onDeleted={onDeleted} />
          </FormSection>
        )}
      </fieldset>
    </div>
  );
}

/** Changes a store, and makes every page that shows it read it anew. */
function useChange(store: Store, done: string) {
  const at = useWorkspace();
  const client = useQueryClient();
  return useMutation({
    mutationFn: (change: object) => storeApi.change(at, store.id, change),
    onSuccess: (saved) => {
      toast(done, saved.name);
      client.setQueryData(storeApi.one(at, saved.id).queryKey, saved);
      void client.invalidateQueries(storeApi.all(at));
    },
  });
}

function BasicsForm({ store }: { store: Store }) {
  const edited = useEdited(store, basicsOf, basicsChanges);
  const { base, draft, changes, isDirty, edit, take, rebase } = edited;
  const change = useChange(store, "Store saved");
  const lifetime = readSeconds(draft.ttl);
  const theirs = basicsChanges(basicsOf(store), base);
  const isBehind = Object.keys(theirs).length > 0 && !change.isPending;
  const isSame = Object.keys(basicsChanges(draft, store)).length === 0;
  // Somebody else may save meanwhile: the form shows their values as long as it has no unsaved changes.
  if (isBehind && (isSame || !isDirty)) take(store);
  const save = (said: object) => change.mutate(said, { onSuccess: take });
  useUnsaved(isDirty && !change.isPending);
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (isDirty && !isBehind && !lifetime.fault && !change.isPending) save(changes);
  };
  return (
    <form onSubmit={submit} noValidate className="flex flex-col gap-4">
      <div className="grid gap-4 rail:grid-cols-2">
        <Field
          label="Name"
          value={draft.name}
          maxLength={limits.name_length}
          onChange={(event) => edit({ name: event.target.value })}
        />
        <Field
          label="Kept for, seconds"
          inputMode="numeric"
          placeholder="For ever"
          value={draft.ttl}
          error={lifetime.fault}
          hint={`${lifetimeWords(lifetime.seconds)}. It holds for what is written from now on.`}
          onChange={(event) => edit({ ttl: event.target.value })}
        />
      </div>
      <ErrorNote title="Not saved" error={change.error} />
      {isBehind && isDirty && (
        <ConflictNote
          title="Somebody changed this store meanwhile"
          theirs={basicsWords(theirs)}
          mine={basicsWords(changes)}
          mineAct="Save mine"
          theirsAct="Take theirs"
          busy={lifetime.fault !== null}
          onMine={() => save(rebase(store))}
          onTheirs={() => take(store)}
        />
      )}
      <div>
        <Button type="submit" disabled={!isDirty || isBehind || change.isPending}>
          {change.isPending ? "Saving" : "Save store"}
        </Button>
      </div>
    </form>
  );
}

function EmbeddingForm({ store }: { store: Store }) {
  const [typed, setTyped] = useState<string | null>(null);
  const change = useChange(store, "Embedding changed");
  const { indexing } = store;
  const { shown, model, isChanged: dirty } = embeddingDraft(typed, store);
  const embed = (embedding: object) => change.mutate({ embedding }, { onSuccess: () => setTyped(null) });
  useUnsaved(dirty && !change.isPending);
  const isModel = change.error instanceof ApiError && change.error.code === "model_not_available";
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (dirty && !change.isPending) embed({ model });
  };
  return (
    <form onSubmit={submit} noValidate className="flex flex-col gap-4">
      <p>
        Now: <code className="wrap-anywhere">{embeddingWords(store)}</code>
      </p>
      {indexing && (
        <Note tone={indexing.error ? "warn" : "info"} role="status">
          <b>
            Indexing with {indexing.model}: {formatCount(indexing.processed)} of {formatCount(indexing.total)}
          </b>
          <div className="my-1.5">
            <Progress
              label={`Indexing of ${store.name}`}
              share={indexing.total ? indexing.processed / indexing.total : null}
            />
          </div>
          {indexing.error && <p>It does not go on: {indexing.error.message}</p>}
          {store.embedding && (
            <Button
              size="sm"
              className="mt-1"
              disabled={change.isPending}
              onClick={() => store.embedding && embed(store.embedding)}
            >
              Stay with {store.embedding.model}
            </Button>
          )}
        </Note>
      )}
      <SuggestField
        label="Embedding model"
        value={shown}
        items={embeddingModels}
        error={isModel ? (change.error?.message ?? null) : null}
        hint={`${sizeWords(store)} would be indexed anew.`}
        onValue={setTyped}
      />
      {change.error && !isModel && <ErrorNote title="The embedding was not changed" error={change.error} />}
      <div>
        <Button type="submit" disabled={!dirty || change.isPending}>
          {change.isPending ? "Asking the model" : "Change embedding"}
        </Button>
      </div>
    </form>
  );
}

function DeleteStore({ store, onDeleted }: { store: Store; onDeleted: () => void }) {
  const at = useWorkspace();
  const [open, setOpen] = useState(false);
  const holds = (store.entries ?? store.keys ?? 0) > 0;
  return (
    <div>
      <Button kind="danger-quiet" onClick={() => setOpen(true)}>
        Delete store
      </Button>
      {open && (
        <DeleteDialog
          noun="store"
          name={store.name}
          typed={at.mode === "live" && holds}
          remove={() => storeApi.remove(at, store.id)}
          gone={storeApi.of(at, store.id)}
          stale={[storeApi.all(at)]}
          onClose={() => setOpen(false)}
          onDeleted={onDeleted}
        >
          <p>
            {holds ? `What it holds is gone with it: ${sizeWords(store)}.` : "It is empty."} Agents that name it go on
            without it, and their models are told. Files stay.
          </p>
        </DeleteDialog>
      )}
    </div>
  );
}
