import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import type { MemoryScope } from "../../../../server/core/agent-snapshot.ts";
import { memoryScopes } from "../../../../server/core/agent-snapshot.ts";
import { storeApi } from "../../entities/memory/memory-api.ts";
import type { MemoryKind } from "../../entities/memory/memory-search.ts";
import { ApiError } from "../../lib/api.ts";
import { useChanged } from "../../lib/use-changed.ts";
import { useWorkspace } from "../../lib/workspace.ts";
import { ChoiceCards } from "../../ui/choice-cards.tsx";
import { ErrorNote } from "../../ui/error-note.tsx";
import { Field } from "../../ui/field.tsx";
import { FormDialog } from "../../ui/form-dialog.tsx";
import { Select } from "../../ui/select.tsx";
import { FoldedCode } from "../../ui/show-code.tsx";
import { SuggestField } from "../../ui/suggest-field.tsx";
import { toast } from "../../ui/toast.ts";
import { builtInModel, embeddingModels } from "./embedding-models.ts";
import { readSeconds, scopeWords } from "./memory-words.ts";

const kinds = [
  { value: "vector", label: "Passages", hint: "Texts and files, found by what a question means and by its words." },
  { value: "kv", label: "Keys", hint: "JSON values by their keys: notes, profiles, counters." },
] as const;

/** Makes a store. */
export function CreateStore({ onClose, onCreated }: { onClose: () => void; onCreated: (id: string) => void }) {
  const at = useWorkspace();
  const client = useQueryClient();
  const [name, setName] = useState("");
  const [kind, setKind] = useState<MemoryKind>("vector");
  const [scope, setScope] = useState<MemoryScope>("project");
  const [model, setModel] = useState(builtInModel);
  const [ttl, setTtl] = useState("");
  const [tried, setTried] = useState(false);
  const lifetime = readSeconds(ttl);
  const body = {
    name: name.trim(),
    kind,
    ...(scope !== "project" && { scope }),
    ...(kind === "vector" && model.trim() !== builtInModel && { embedding: { model: model.trim() } }),
    ...(lifetime.seconds !== null && { ttl_seconds: lifetime.seconds }),
  };
  const creation = useMutation({
    mutationFn: () => storeApi.create(at, body),
    onSuccess: (store) => {
      toast("Store created", store.name);
      void client.invalidateQueries(storeApi.all(at));
      onCreated(store.id);
    },
  });
  const faults = creation.error instanceof ApiError ? creation.error.faults : [];
  const faultOf = (field: string) => faults.find(({ param }) => param?.startsWith(field))?.message ?? null;
  const modelFault =
    faultOf("embedding") ??
    (creation.error instanceof ApiError && creation.error.code === "model_not_available"
      ? creation.error.message
      : null);
  const nameFault = tried && body.name === "" ? "Give the store a name." : faultOf("name");
  const submit = () => {
    setTried(true);
    if (body.name !== "" && !lifetime.fault) creation.mutate();
  };
  const unsaved = useChanged(body) && !creation.isPending;
  return (
    <FormDialog
      open
      unsaved={unsaved}
      onOpenChange={(open) => {
        if (!open) onClose();
      }}
      title="Create store"
      act={creation.isPending ? "Creating store" : "Create store"}
      busy={creation.isPending}
      onSubmit={submit}
    >
      <Field
        label="Name"
        value={name}
        maxLength={128}
        autoComplete="off"
        error={nameFault}
        hint="Models read it, too."
        onChange={(event) => setName(event.target.value)}
      />
      <ChoiceCards label="What does it keep" choices={kinds} chosen={kind} onChoose={setKind} />
      <Select
        label="Belongs to"
        value={scope}
        choices={memoryScopes.map((value) => ({ value, label: scopeWords[value] }))}
        hint={
          scope === "project"
            ? "All runs that use it see all of it."
            : `A run sees the part of its own ${scope}, and needs a ${scope} id.`
        }
        onChoose={setScope}
      />
      {kind === "vector" && (
        <SuggestField
          label="Embedding model"
          value={model}
          error={modelFault}
          hint="The one inside knows English and needs no network."
          items={embeddingModels}
          onValue={setModel}
        />
      )}
      <Field
        label="Kept for, seconds"
        inputMode="numeric"
        placeholder="For ever"
        value={ttl}
        error={lifetime.fault ?? faultOf("ttl_seconds")}
        onChange={(event) => setTtl(event.target.value)}
      />
      {creation.error && !faultOf("name") && !modelFault && !faultOf("ttl_seconds") && (
        <ErrorNote title="The store was not created" error={creation.error} />
      )}
      <FoldedCode name="store" request={{ method: "POST", path: "/v1/memory", body }} />
    </FormDialog>
  );
}
