import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import type { Memory as Store } from "../../../../server/domain/api-types/memory.ts";
import { limits } from "../../../../server/domain/limits.ts";
import { storeApi } from "../../entities/memory/memory-api.ts";
import { usePermission } from "../../entities/session/use-may.ts";
import { useDraft } from "../../hooks/use-draft.ts";
import { fieldsOf, useForm } from "../../hooks/use-form.ts";
import { ApiError } from "../../lib/api.ts";
import { formatCount } from "../../lib/format.ts";
import { useWorkspace } from "../../lib/workspace.ts";
import { DeleteDialog } from "../../ui/dialogs/delete-dialog.tsx";
import { Callout } from "../../ui/feedback/callout.tsx";
import { ConflictNote } from "../../ui/feedback/conflict-note.tsx";
import { ErrorNote } from "../../ui/feedback/error-note.tsx";
import { Progress } from "../../ui/feedback/progress.tsx";
import { toast } from "../../ui/feedback/toast.ts";
import { Button } from "../../ui/forms/button.tsx";
import { Combobox } from "../../ui/forms/combobox.tsx";
import { Field } from "../../ui/forms/field.tsx";
import { Form } from "../../ui/forms/form.tsx";
import { FormSection } from "../../ui/forms/form-section.tsx";
import { basicsChanges, basicsOf, basicsWords } from "./basics.ts";
import { embeddingDraft } from "./embedding-draft.ts";
import { useEmbeddingModels } from "./embedding-models.ts";
import { embeddingWords, lifetimeWords, readSeconds, sizeWords } from "./memory-words.ts";

/** Name, expiry and embedding of a store, and its deletion. */
export function StoreSettings({ store, onDeleted }: { store: Store; onDeleted: () => void }) {
  const may = usePermission("member");
  return (
    <div className="relative min-h-0 flex-1 overflow-y-auto px-4 rail:px-5">
      <fieldset disabled={!may} className="min-w-0 max-w-280">
        <legend className="sr-only">Settings of {store.name}</legend>
        <FormSection title="Store" about="Leave empty to keep entries indefinitely.">
          <BasicsForm store={store} />
        </FormSection>
        {store.kind === "vector" && (
          <FormSection
            title="Embedding"
            about="The model that embeds text. Changing it reindexes the store. Until that is done, searches use the current model."
          >
            <EmbeddingForm store={store} />
          </FormSection>
        )}
        {may && (
          <FormSection title="Delete" about="The store and its entries are deleted at once.">
            <DeleteStore store={store} onDeleted={onDeleted} />
          </FormSection>
        )}
      </fieldset>
    </div>
  );
}

/** Returns a function that changes a store and invalidates the queries that contain it. */
function useChange(store: Store, successTitle: string) {
  const at = useWorkspace();
  const client = useQueryClient();
  return async (change: object): Promise<Store> => {
    const saved = await storeApi.change(at, store.id, change);
    toast(successTitle, saved.name);
    client.setQueryData(storeApi.one(at, saved.id).queryKey, saved);
    void client.invalidateQueries(storeApi.all(at));
    return saved;
  };
}

function BasicsForm({ store }: { store: Store }) {
  const edited = useDraft(store, basicsOf, basicsChanges);
  const { base, draft, changes, isDirty, edit, reset, rebase } = edited;
  const change = useMutation({ mutationFn: useChange(store, "Store saved"), onSuccess: reset });
  const save = change.mutate;
  const lifetime = readSeconds(draft.ttl);
  const newerChanges = basicsChanges(basicsOf(store), base);
  const isBehind = Object.keys(newerChanges).length > 0 && !change.isPending;
  const isSame = Object.keys(basicsChanges(draft, store)).length === 0;
  // If another person saved meanwhile, take their values, unless the form has unsaved changes that differ from them.
  if (isBehind && (isSame || !isDirty)) reset(store);
  const { text } = fieldsOf(draft, { ttl: lifetime.fault }, edit);
  const submit = () => {
    if (!lifetime.fault) save(changes);
    return !lifetime.fault;
  };
  return (
    <Form
      form={{ isPending: change.isPending, isUnsaved: isDirty && !change.isPending, submit }}
      ready={isDirty && !isBehind}
    >
      <div className="grid gap-4 rail:grid-cols-2">
        <Field label="Name" maxLength={limits.name_length} {...text("name")} />
        <Field
          label="Expires after, seconds"
          inputMode="numeric"
          placeholder="Keep indefinitely"
          hint={`${lifetimeWords(lifetime.seconds)}. Applies to entries written from now on.`}
          {...text("ttl")}
        />
      </div>
      <ErrorNote title="Not saved" error={change.error} />
      {isBehind && isDirty && (
        <ConflictNote
          title="Someone changed this store meanwhile"
          theirs={basicsWords(newerChanges)}
          mine={basicsWords(changes)}
          mineAct="Save mine"
          theirsAct="Discard mine"
          busy={lifetime.fault !== null}
          onMine={() => save(rebase(store))}
          onTheirs={() => reset(store)}
        />
      )}
      <div>
        <Button type="submit" disabled={!isDirty || isBehind || change.isPending}>
          {change.isPending ? "Saving" : "Save store"}
        </Button>
      </div>
    </Form>
  );
}

function EmbeddingForm({ store }: { store: Store }) {
  const change = useChange(store, "Embedding changed");
  const { indexing } = store;
  const { items } = useEmbeddingModels();
  const form = useForm({
    first: { model: null as string | null },
    blame: (error) => ({
      faults: error instanceof ApiError && error.code === "model_not_available" ? { model: error.message } : {},
      rest: [],
    }),
    send: ({ model }) => change({ embedding: { model: embeddingDraft(model, store).model } }),
    onSent: () => {
      form.restart();
    },
  });
  const { shown, isChanged } = embeddingDraft(form.draft.model, store);
  const stay = useMutation({ mutationFn: change, onSuccess: form.restart });
  const isPending = form.isPending || stay.isPending;
  return (
    <Form form={{ ...form, isPending, isUnsaved: isChanged && !isPending }} ready={isChanged}>
      <p>
        Current: <code className="wrap-anywhere">{embeddingWords(store)}</code>
      </p>
      {indexing && (
        <Callout tone={indexing.error ? "warn" : "info"} role="status">
          <b>
            Indexing with {indexing.model}: {formatCount(indexing.processed)} of {formatCount(indexing.total)}
          </b>
          <div className="my-1.5">
            <Progress
              label={`Indexing of ${store.name}`}
              share={indexing.total ? indexing.processed / indexing.total : null}
            />
          </div>
          {indexing.error && <p>Indexing has stopped: {indexing.error.message}</p>}
          {store.embedding && (
            <Button
              size="sm"
              className="mt-1"
              disabled={isPending}
              onClick={() => stay.mutate({ embedding: store.embedding })}
            >
              Keep {store.embedding.model}
            </Button>
          )}
        </Callout>
      )}
      <Combobox
        label="Embedding model"
        items={items}
        hint={`${sizeWords(store)} would be reindexed.`}
        {...form.suggest("model")}
        value={shown}
      />
      <ErrorNote title="The embedding was not changed" error={form.error ?? stay.error} />
      <div>
        <Button type="submit" disabled={!isChanged || isPending}>
          {isPending ? "Testing the model" : "Change embedding"}
        </Button>
      </div>
    </Form>
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
            {holds ? `Its content is deleted: ${sizeWords(store)}.` : "It is empty."} Agents that use it continue
            without it. Files are kept.
          </p>
        </DeleteDialog>
      )}
    </div>
  );
}
