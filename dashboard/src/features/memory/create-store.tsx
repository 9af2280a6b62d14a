import { useQueryClient } from "@tanstack/react-query";
import { type MemoryKindName, type MemoryScope, memoryScopes } from "../../../../server/domain/agent-snapshot.ts";
import { limits } from "../../../../server/domain/limits.ts";
import { storeApi } from "../../entities/memory/memory-api.ts";
import { scopeWords } from "../../entities/memory/store-words.ts";
import { useForm } from "../../hooks/use-form.ts";
import { ApiError } from "../../lib/api.ts";
import { type FieldErrors, serverFieldErrors } from "../../lib/field-errors.ts";
import { useWorkspace } from "../../lib/workspace.ts";
import { FormDialog } from "../../ui/dialogs/form-dialog.tsx";
import { toast } from "../../ui/feedback/toast.ts";
import { Combobox } from "../../ui/forms/combobox.tsx";
import { Field } from "../../ui/forms/field.tsx";
import { RadioCards } from "../../ui/forms/radio-cards.tsx";
import { Select } from "../../ui/forms/select.tsx";
import { useEmbeddingModels } from "./embedding-models.ts";
import { readSeconds } from "./memory-words.ts";

const kinds = [
  { value: "vector", label: "Passages", hint: "Texts and files, found by meaning and by keywords." },
  { value: "kv", label: "Keys", hint: "JSON values by their keys: notes, profiles, counters." },
] as const;

const first = {
  name: "",
  kind: "vector" as MemoryKindName,
  scope: "project" as MemoryScope,
  /** Embedding model; empty: the server's default. */
  embedding: "",
  ttl_seconds: "",
};

function bodyOf({ name, kind, scope, embedding, ttl_seconds }: typeof first) {
  const { seconds } = readSeconds(ttl_seconds);
  return {
    name: name.trim(),
    kind,
    ...(scope !== "project" && { scope }),
    ...(kind === "vector" && embedding.trim() !== "" && { embedding: { model: embedding.trim() } }),
    ...(seconds !== null && { ttl_seconds: seconds }),
  };
}

/** The form that creates a store. */
export function CreateStore({ onClose, onCreated }: { onClose: () => void; onCreated: (id: string) => void }) {
  const at = useWorkspace();
  const client = useQueryClient();
  const form = useForm({
    first,
    check: ({ name, ttl_seconds }) => ({
      name: name.trim() === "" ? "Enter a name." : null,
      ttl_seconds: readSeconds(ttl_seconds).fault,
    }),
    blame: blameModel,
    send: (draft) => storeApi.create(at, bodyOf(draft)),
    onSent: (store) => {
      toast("Store created", store.name);
      void client.invalidateQueries(storeApi.all(at));
      onCreated(store.id);
    },
  });
  const { kind, scope, ttl_seconds } = form.draft;
  const models = useEmbeddingModels();
  return (
    <FormDialog
      form={form}
      onClose={onClose}
      title="Create store"
      act="Create store"
      acting="Creating store"
      failed="The store was not created"
      request={{ method: "POST", path: "/v1/memory", body: bodyOf(form.draft) }}
    >
      <Field
        label="Name"
        maxLength={limits.name_length}
        autoComplete="off"
        hint="Models see the name."
        {...form.text("name")}
      />
      <RadioCards label="Kind" choices={kinds} {...form.choose("kind")} />
      <Select
        label="Scope"
        choices={memoryScopes.map((value) => ({ value, label: scopeWords[value] }))}
        hint={
          scope === "project"
            ? "All runs share the content."
            : `Each run sees only the content of its ${scope}, and needs a ${scope} id.`
        }
        {...form.pick("scope")}
      />
      {kind === "vector" && (
        <Combobox
          label="Embedding model"
          placeholder={models.byDefault}
          hint="The built-in models work offline and are trained on English."
          items={models.items}
          {...form.suggest("embedding")}
        />
      )}
      <Field
        label="Expires after, seconds"
        inputMode="numeric"
        placeholder="Keep indefinitely"
        {...form.text("ttl_seconds")}
        error={readSeconds(ttl_seconds).fault ?? form.fieldErrors.ttl_seconds}
      />
    </FormDialog>
  );
}

/** Assigns the server's errors to fields. An unavailable model names no field, so it is assigned to `embedding`. */
function blameModel<Draft extends { embedding: string }>(
  error: Error,
  draft: Draft,
): { faults: FieldErrors<Draft>; rest: string[] } {
  const isModel = error instanceof ApiError && error.code === "model_not_available";
  return isModel
    ? { faults: { embedding: error.message } as FieldErrors<Draft>, rest: [] }
    : serverFieldErrors(error, draft);
}
